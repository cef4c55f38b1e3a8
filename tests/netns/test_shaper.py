# SPDX-License-Identifier: GPL-2.0-or-later
"""A link with a rate limit: traffic stays below the rate, sparse frames pass, and a reload removes
the limit. A busy machine only reduces speed, so the assertions have one direction."""
import re
import socket
import time

import pytest

from accel import CONFIG, ENDLESS, MB, Transfer, far_apart
from lab import PATIENT, line_up, wait_for
from traffic import Stream

RATE_KBITS = 4000
SIZE = 1200


def flood(net, seconds):
    """Offers 12 Mbit/s and returns the received bytes per second."""
    hosts = net.host
    stream = Stream(hosts['n0'].namespace, hosts['n1'].namespace, hosts['n1'].ip4, interval=0.0008,
                    size=SIZE).start()
    time.sleep(seconds)
    stream.stop()
    assert stream.received, f'none of {len(stream.sent)} arrived'
    # The time since the first frame. A stall of the machine increases the duration only.
    return len(stream.received) * SIZE / (max(stream.received.values()) - stream.sent[0])


def test_shaper_keeps_the_rate_and_ends_with_a_reload(lab):
    net = lab(line_up(2, config={**PATIENT, 'shaper': {'egress': RATE_KBITS}})).joined()
    net.settle_hosts('n0', 'n1')
    n0 = net.node['n0']
    assert n0.show('queues')['shaper_egress_kbits'] == RATE_KBITS

    def too_much():
        # The payload is smaller than the shaped packets.
        assert flood(net, 2) * 8 < RATE_KBITS * 1000
        return n0.drops('queue_late') + n0.drops('queue_full')
    wait_for(too_much, 30, 'more is offered than the line takes')
    queue = n0.show('queues')['queues']
    assert sum(q['frames'] for q in queue) > 100
    assert n0.reload(shaper=None)['verdict'] == 'applied'
    assert n0.show('queues')['shaper_egress_kbits'] is None
    before = sum(q['frames'] for q in queue)
    wait_for(lambda: sum(q['backlog_frames'] for q in n0.show('queues')['queues']) == 0, 10,
             'nothing waits any more')
    wait_for(lambda: flood(net, 1) * 8 > RATE_KBITS * 1000, 30, 'more than the rate')
    assert sum(q['frames'] for q in n0.show('queues')['queues']) >= before


def test_tiers_have_their_shares(lab):
    """Voice within its share passes. Unlimited traffic in three other tiers starves no tier."""
    net = lab(line_up(2, config={**PATIENT, 'shaper': {'egress': RATE_KBITS}})).joined()
    net.settle_hosts('n0', 'n1')
    n0, hosts = net.node['n0'], net.host
    offered = {'voice': (46, 0.04, 200), 'video': (34, 0.0016, SIZE), 'best-effort': (0, 0.0016, SIZE),
               'bulk': (8, 0.0016, SIZE)}
    streams = []
    for port, (dscp, interval, size) in enumerate(offered.values(), 40000):
        stream = Stream(hosts['n0'].namespace, hosts['n1'].namespace, hosts['n1'].ip4,
                        interval=interval, size=size, port=port)
        stream.sender.setsockopt(socket.IPPROTO_IP, socket.IP_TOS, dscp << 2)
        streams.append(stream.start())

    def tiers():
        return {t['tier']: t for t in n0.show('queues')['tiers']}

    def shares():
        """Frames of 500 turns of best-effort. None if a busy sender leaves its tier empty."""
        before = after = tiers()
        while after['best-effort']['frames'] <= before['best-effort']['frames'] + 500:
            time.sleep(0.02)
            after = tiers()
            if not all(after[name]['backlog_frames'] for name in ('video', 'best-effort', 'bulk')):
                return None
        return after, {name: after[name]['frames'] - before[name]['frames'] for name in after}

    try:
        wait_for(lambda: all(t['frames'] > 100 for t in tiers().values()), 60, 'all have their turn')
        # The three tiers alternate. The bulk tier has the smallest part.
        after, sent = wait_for(shares, 120, 'three tiers with a backlog')
    finally:
        for stream in streams:
            stream.stop()
    assert sent['best-effort'] > 3 * sent['bulk'] > 0 and sent['video'] > 3 * sent['bulk'], sent
    assert after['voice']['dropped_late'] == after['voice']['dropped_full'] == 0
    assert after['voice']['wait_p99_us'] < after['bulk']['wait_p50_us']


def test_relayed_datagrams_leave_a_part(lab):
    """r relays four times its rate, and the relayed traffic does not wait. The frames of its host
    do not starve."""
    net = lab({'sites': {'a': {}, 'r': {}, 'b': {}},
               'config': {**PATIENT, 'path': {'variation-margin': 0}},
               'rtt_ms': {('a', 'b'): 80, ('a', 'r'): 10, ('r', 'b'): 10}}).joined()
    net.wait_path('a', 'b', ['r', 'b'])
    r, b = net.host['r'], net.host['b']
    net.settle_hosts('r', 'b')
    relayed = net.stream('a', 'b', interval=0.0006, size=SIZE)
    try:
        assert net.node['r'].reload(shaper={'egress': RATE_KBITS})['verdict'] == 'applied'
        time.sleep(0.5)
        wait_for(lambda: all(r.ping(b.ip4, within=3) for _ in range(10)), 60, 'the own frames')
    finally:
        relayed.stop()
    assert net.hops('a', 'b') == ['r', 'b']


@pytest.mark.parametrize('shaper', [{'n0': {'egress': RATE_KBITS}}, {'n0': {'per-peer': RATE_KBITS}},
                                    {'n1': {'ingress': RATE_KBITS}}], ids=str)
def test_accelerated_transfers_wait_for_the_rate(lab, shaper):
    """The line takes more than the limit. Voice within its share passes the transfer, which fills
    the line."""
    net = lab(line_up(2, config=CONFIG, rtt_ms_default=20))
    net.wan.link('n0', 'n1', rate_kbit=RATE_KBITS * 11 // 10, queue_us=500_000)
    with far_apart(net) as far:
        transfer = Transfer(net.host['n0'], net.host['n1'], net.host['n1'].ip4, up=ENDLESS)
        far.wait_intercepted()
        for name, limit in shaper.items():
            assert net.node[name].reload(shaper=limit)['verdict'] == 'applied'
        transfer.wait_more(MB)
        voice = stream(net, 'n0', 'n1', interval=0.004, size=200)
        voice.sender.setsockopt(socket.IPPROTO_IP, socket.IP_TOS, 46 << 2)
        voice.start()
        try:
            transfer.wait_more(3 * MB)
        finally:
            voice.stop()
        tier = {t['tier']: t for t in net.node['n0'].show('queues')['tiers']}
        assert len(voice.received) > 0.95 * len(voice.sent)
        assert tier['voice']['wait_p99_us'] < tier['best-effort']['wait_p99_us']
        transfer.abort()


# --- rates to single nodes ---

SLOW_KBITS = 2000


def next_hops(node):
    return {hop['name'] or hop['node_id']: hop for hop in node.show('queues')['next_hops']}


def stream(net, source, destination, **options):
    hosts = net.host
    return Stream(hosts[source].namespace, hosts[destination].namespace, hosts[destination].ip4, **options)


def rate_kbits(run):
    """Payload rate of a stopped stream, from the first sent frame as in flood()."""
    return len(run.received) * SIZE * 8 / 1000 / (max(run.received.values()) - run.sent[0])


def test_a_slow_node_does_not_slow_down_another(lab):
    """n0 sends more than the limit of n1, and the same amount to n2 without a limit. A sparse flow
    to n1 does not wait for the backlog."""
    net = lab(line_up(3, config=PATIENT)).joined()
    net.settle_hosts('n0', 'n1')
    net.settle_hosts('n0', 'n2')
    n0 = net.node['n0']
    n1 = net.node['n1'].node_id
    assert n0.show('queues')['next_hops'] == []
    assert n0.reload(shaper={'peer': {n1: {'rate': f'{SLOW_KBITS}kbit'}}})['verdict'] == 'applied'
    (hop,) = next_hops(n0).values()
    assert hop['node_id'] == n1 and hop['limit_kbits'] == SLOW_KBITS
    assert re.search(rf'leon_next_hop_limit_bytes_per_second{{.*node_id="{n1}".*}} {SLOW_KBITS * 125}\n',
                     n0.leonctl('metrics', json_output=False))
    offered = {'slow': stream(net, 'n0', 'n1', interval=0.002, size=SIZE),
               'other': stream(net, 'n0', 'n2', interval=0.002, size=SIZE, port=40001),
               'sparse': stream(net, 'n0', 'n1', interval=0.1, port=40002)}
    for run in offered.values():
        run.start()
    try:
        def hop_of_n1():
            (hop,) = next_hops(n0).values()
            return hop
        wait_for(lambda: hop_of_n1()['frames'] > 500 and hop_of_n1()['dropped_late'] +
                 hop_of_n1()['dropped_full'] > 20 and len(offered['sparse'].received) > 20, 60,
                 'more is offered than the node takes')
    finally:
        for run in offered.values():
            run.stop()
    hop = hop_of_n1()
    assert hop['wait_p50_us'] > 5000
    # The payload rate is below the limited packet rate, and near the maximum.
    assert rate_kbits(offered['slow']) < SLOW_KBITS
    # All frames to n2 arrived, so the backlog for n1 has no effect on n2.
    assert len(offered['other'].received) > 0.97 * len(offered['other'].sent)
    assert len(offered['sparse'].received) > 0.9 * len(offered['sparse'].sent)

    def median_ms(run):
        times = sorted(run.received[i] - run.sent[i] for i in run.received)
        return 1000 * times[len(times) // 2]
    # The delay of the backlog, on the same machine at the same time, is the reference.
    assert median_ms(offered['sparse']) < median_ms(offered['slow']) / 2
    assert n0.reload(shaper=None)['verdict'] == 'applied'
    assert n0.show('queues')['next_hops'] == []


def test_the_rate_to_each_node_is_used(lab):
    """Two nodes reach their rates at the same time, by counted datagrams."""
    net = lab(line_up(3, config={**PATIENT, 'shaper': {'per-peer': f'{SLOW_KBITS * 1000}bit'}})).joined()
    net.settle_hosts('n0', 'n1')
    net.settle_hosts('n0', 'n2')
    n0 = net.node['n0']
    assert n0.show('queues')['shaper_per_peer_kbits'] == SLOW_KBITS
    streams = [stream(net, 'n0', name, interval=0.002, size=SIZE, port=40000 + i).start()
               for i, name in enumerate(('n1', 'n2'))]

    def both_full():
        hops = next_hops(n0)
        return len(hops) == 2 and all(hop['backlog_frames'] > 5 for hop in hops.values())
    try:
        wait_for(both_full, 30, 'both have something waiting')
        # A stalled machine reaches less, so the best of several seconds counts.
        best = [0, 0]

        def near():
            before = [len(run.received) for run in streams], time.monotonic()
            time.sleep(2)
            seconds = time.monotonic() - before[1]
            for i, run in enumerate(streams):
                best[i] = max(best[i], (len(run.received) - before[0][i]) * (SIZE + 90) * 8 / 1000 / seconds)
            return min(best) > 0.93 * SLOW_KBITS
        wait_for(near, 60, 'the rate is used')
    finally:
        for run in streams:
            run.stop()
    # The whole duration counts, because frames after a stall arrive together and raise the rate of
    # two seconds.
    sent = [rate_kbits(run) for run in streams]
    assert max(sent) < SLOW_KBITS, sent
