# SPDX-License-Identifier: GPL-2.0-or-later
"""DSCP and ECN of frames, with real daemons. A marking link slows down a TCP connection without
loss, also through a relay. A code point survives the path."""
import json
import time

from lab import PATIENT, wait_for
from ns import kernel_count
from traffic import Bulk

# The path through r takes a third of the time.
THREE = {'sites': {'a': {}, 'r': {}, 'b': {}}, 'config': PATIENT,
         'rtt_ms': {('a', 'b'): 60, ('a', 'r'): 10, ('r', 'b'): 10}}
EF, CS6 = 46, 48


# A stall of the machine during the join makes links look variable for minutes, by more than the
# gain of the relayed path.
WITHOUT_MARGIN = {'path': {'variation-margin': 0}}


def relayed(lab, **config):
    net = lab({**THREE, 'config': {**PATIENT, **WITHOUT_MARGIN, **config}}).joined()
    net.wait_path('a', 'b', ['r', 'b'])
    net.wait_path('b', 'a', ['r', 'a'])
    net.settle_hosts('a', 'b')
    return net


def settled(count):
    """The counters, after two constant seconds."""
    seen = []

    def stays():
        if not seen or seen[0][0] != count():
            seen[:] = [(count(), time.monotonic())]
        return time.monotonic() - seen[0][1] > 2
    wait_for(stays, 30, 'nothing is under way any more')
    return seen[0][0]


def understand_marks(host):
    with host.namespace, open('/proc/sys/net/ipv4/tcp_ecn', 'w', encoding='ascii') as f:
        f.write('1')


def test_marks_of_a_relayed_path_reach_the_sender(lab):
    net = relayed(lab)
    hosts = net.host['a'], net.host['b']
    for host in hosts:
        understand_marks(host)
    # A queue of 200 ms, with marks above 10 ms.
    net.wan.both('r', 'b', rate_kbit=10000, queue_us=200000, mark_us=10000)
    retransmitted = kernel_count(hosts[0].namespace, 'RetransSegs')
    bulk = Bulk(hosts[0].namespace, hosts[1].namespace, hosts[1].ip4, streams=1)
    try:
        wait_for(lambda: net.wan.count('r', 'b')['marked'] > 20, 60, 'marks')
        wait_for(lambda: net.node['b'].counter('marked_in_transit') > 20, 60, 'marks handed on')
        # Only the sender that received the mark slows down.
        wait_for(lambda: kernel_count(hosts[0].namespace, 'TCPDeliveredCE') > 20, 60, 'told')
        wait_for(lambda: bulk.received > 4 << 20, 60, '4 MB')
    finally:
        bulk.stop()
    assert net.node['b'].drops('ecn_not_capable') == 0
    assert net.wan.count('r', 'b')['overflow'] == 0
    assert kernel_count(hosts[0].namespace, 'RetransSegs') - retransmitted < 20
    # The mark was set before the relay, too.
    net.wan.both('r', 'b', mark_us=0, rate_kbit=0)
    net.wan.both('a', 'r', rate_kbit=10000, queue_us=200000, mark_us=10000)
    bulk = Bulk(hosts[0].namespace, hosts[1].namespace, hosts[1].ip4, streams=1)
    try:
        wait_for(lambda: net.node['r'].counter('relayed_marked') > 20, 60, 'marks relayed')
    finally:
        bulk.stop()
    # A node without ECN gets no marks.
    assert net.node['a'].reload(ecn={'disable': True})['changes'] == ['datagrams']
    # Older packets in the queue may still get a mark.
    before = settled(lambda: net.wan.count('a', 'r')['marked'])
    bulk = Bulk(hosts[0].namespace, hosts[1].namespace, hosts[1].ip4, streams=1)
    try:
        wait_for(lambda: bulk.received > 2 << 20, 60, '2 MB')
    finally:
        bulk.stop()
    assert net.wan.count('a', 'r')['marked'] == before


def watch(node):
    """Counts datagrams to leond by code point."""
    node.namespace.run('nft', '-f', '-', input='''
        table inet look {
            counter ef { }
            counter cs6 { }
            counter cs2 { }
            chain in {
                type filter hook input priority filter
                udp dport 5366 ip dscp ef counter name ef
                udp dport 5366 ip dscp cs6 counter name cs6
                udp dport 5366 ip dscp cs2 counter name cs2
            }
        }''')


def seen(node):
    text = node.namespace.run('nft', '-j', 'list', 'counters').stdout
    return {c['counter']['name']: c['counter']['packets']
            for c in json.loads(text)['nftables'] if 'counter' in c}


def test_a_code_point_survives_its_way(lab):
    net = relayed(lab, dscp={'copy': True, 'control': 'cs6'})
    node, host = net.node, net.host
    for n in node.values():
        watch(n)

    def ping(**words):
        host['a'].namespace.run('ping', '-n', '-c', '10', '-i', '0.05', '-Q', EF << 2, host['b'].ip4,
                                check=False)
        return all(seen(node[name])[word] for name, word in words.items())
    wait_for(lambda: ping(r='ef', b='ef'), 60, 'EF at both hops')
    wait_for(lambda: all(seen(n)['cs6'] for n in node.values()), 30, 'control')
    # Without the option, relays and receivers see no code point.
    for n in node.values():
        assert n.reload(dscp=None)['changes'] == ['datagrams']
    before = settled(lambda: seen(node['b'])['ef'])
    ping()
    assert seen(node['b'])['ef'] == before
    # Each node marks its own transmissions.
    assert node['r'].reload(dscp={'set': 'cs2'})['changes'] == ['datagrams']
    wait_for(lambda: ping(b='cs2'), 60, 'CS2 of the relay')
    assert seen(node['r'])['cs2'] == 0
