# SPDX-License-Identifier: GPL-2.0-or-later
"""A line with a rate: what leaves is no faster, sparse frames pass, and a reload ends it. A busy
machine makes everything slower, never faster: only that is asserted."""
import socket
import time

from lab import line_up, wait_for
from traffic import Stream

RATE_KBITS = 4000
SIZE = 1200


def flood(net, seconds):
    """Offers 12 Mbit/s; bytes a second that arrive."""
    hosts = net.host
    stream = Stream(hosts['n0'].namespace, hosts['n1'].namespace, hosts['n1'].ip4, interval=0.0008,
                    size=SIZE).start()
    time.sleep(seconds)
    stream.stop()
    # From the first that was sent: a machine that has no time makes this longer, never shorter.
    return len(stream.received) * SIZE / (max(stream.received.values()) - stream.sent[0])


def test_shaper_keeps_the_rate_and_ends_with_a_reload(lab):
    net = lab(line_up(2, config={'shaper': {'egress': RATE_KBITS}})).joined()
    net.settle_hosts('n0', 'n1')
    n0 = net.node['n0']
    assert n0.show('queues')['shaper_egress_kbits'] == RATE_KBITS

    def too_much():
        # Payload alone is less than the packets that are shaped.
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
    """Voice within its share passes; what is offered without end in three other tiers does not
    starve one of them."""
    net = lab(line_up(2, config={'shaper': {'egress': RATE_KBITS}})).joined()
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
    try:
        wait_for(lambda: all(t['frames'] > 100 for t in tiers().values()), 60, 'all have their turn')
        # The three take turns all the time: bulk has least of it.
        wait_for(lambda: all(tiers()[name]['backlog_frames'] for name in ('video', 'best-effort', 'bulk')),
                 30, 'all three stand')
        before = tiers()
        wait_for(lambda: tiers()['best-effort']['frames'] > before['best-effort']['frames'] + 500, 60,
                 'a while of it')
        after = tiers()
    finally:
        for stream in streams:
            stream.stop()
    sent = {name: after[name]['frames'] - before[name]['frames'] for name in after}
    assert sent['best-effort'] > 3 * sent['bulk'] > 0 and sent['video'] > 3 * sent['bulk'], sent
    assert after['voice']['dropped_late'] == after['voice']['dropped_full'] == 0
    assert after['voice']['wait_p99_us'] < after['bulk']['wait_p50_us']
