# SPDX-License-Identifier: GPL-2.0-or-later
"""An access link shared by several senders (shaper ingress). The receiving node assigns a share to
each sender, so the backlog stays at the sources. test_shares.c tests convergence and ten
simultaneous senders on virtual time."""
import re
import statistics
import time

from lab import PATIENT, line_up, merged, wait_for
from traffic import Bulk

LINE_KBITS = 11000
RATE_KBITS = 10000
QUEUE_US = 500000


def queue_us(net):
    """Backlog in front of the access link, median of half a second."""
    seen = []
    for _ in range(20):
        seen.append(net.wan.count('n1', 'n0')['waits_us'])
        time.sleep(0.025)
    return statistics.median(seen)


def bulk(net, name, port):
    hosts = net.host
    return Bulk(hosts[name].namespace, hosts['n0'].namespace, hosts['n0'].ip4, streams=2, port=port)


def senders(node):
    return {sender['name']: sender for sender in node.show('queues')['senders']}


def of_sender(node, name, key):
    """0 without a value or without knowledge of the sender."""
    return senders(node).get(name, {}).get(key) or 0


def requested_kbits(node, receiver):
    return [hop['requested_kbits'] for hop in node.show('queues')['next_hops']
            if hop['node_id'] == receiver.node_id]


def test_senders_share_the_line_of_who_receives(lab):
    # Before the shares, the queue of the full line would make one sender the relay of another
    # sender.
    config = merged(PATIENT, {'path': {'maximum-relays': 0}})
    net = lab(line_up(4, config=config, rtt_ms_default=20)).joined()
    for name in ('n1', 'n2', 'n3'):
        net.settle_hosts('n0', name)
    n0, n1, n2 = (net.node[name] for name in ('n0', 'n1', 'n2'))
    net.wan.link('*', 'n0', rate_kbit=LINE_KBITS, queue_us=QUEUE_US, shares_line=True)
    assert senders(n0) == {} and requested_kbits(n1, n0) == []
    first, second = bulk(net, 'n1', 40101), bulk(net, 'n2', 40102)
    sparse = net.stream('n3', 'n0', interval=0.02)
    try:
        # Without shares, the standing queue is before the access link.
        wait_for(lambda: queue_us(net) > 40000, 60, 'a full line')
        without_us = queue_us(net)
        assert n0.reload(shaper={'ingress': f'{RATE_KBITS}kbit'})['verdict'] == 'applied'
        wait_for(lambda: requested_kbits(n1, n0) and requested_kbits(n2, n0), 10, 'both are asked')

        def shared():
            got = {name: sender['received_kbits'] for name, sender in senders(n0).items()}
            return (0.85 * RATE_KBITS < sum(got.values()) < 1.05 * RATE_KBITS and
                    min(got.get('n1', 0), got.get('n2', 0)) > 0.35 * RATE_KBITS)
        wait_for(shared, 60, 'the rate is used and shared')
        wait_for(lambda: queue_us(net) < without_us / 4, 30, 'a short queue')
        # A sender with little traffic can increase its rate without a loss for the others.
        wait_for(lambda: 0 < of_sender(n0, 'n3', 'share_kbits') < RATE_KBITS / 4, 30, 'n3 takes nothing')
        assert sparse.gap()[1] < len(sparse.sent) / 10

        def told_kbits():
            line = rf'leon_next_hop_requested_bytes_per_second{{.*node_id="{n0.node_id}".*}} (\d+)\n'
            found = re.findall(line, n1.leonctl('metrics', json_output=False))
            return int(found[0]) / 125 if found else 0
        wait_for(lambda: 0.2 * RATE_KBITS < told_kbits() < RATE_KBITS, 30, 'a share in the metrics')
        assert f'leon_shaper_ingress_bytes_per_second{{interface="leon0"}} {RATE_KBITS * 125}\n' in \
            n0.leonctl('metrics', json_output=False)
        first.stop()
        wait_for(lambda: of_sender(n0, 'n2', 'received_kbits') > 0.8 * RATE_KBITS, 30,
                 'the other has what the one left')
        assert n0.reload(shaper=None)['verdict'] == 'applied'
        wait_for(lambda: requested_kbits(n2, n0) == [], 10, 'nobody is asked any more')
    finally:
        second.stop()
        sparse.stop()
