# SPDX-License-Identifier: GPL-2.0-or-later
"""Own load on full links: queueing delay is not taken for propagation delay."""
from lab import PATIENT, line_up, wait_for
from traffic import Bulk
from wan import MS

# The idle path through c takes five times as long as the direct path. The full direct path takes
# ten times as long.
THREE = {'sites': {'a': {}, 'b': {}, 'c': {}},
         'rtt_ms': {('a', 'b'): 20, ('a', 'c'): 50, ('c', 'b'): 50}, 'config': PATIENT}
LINE_KBITS = 10000
QUEUE_US = 200000


def test_paths_stay_on_a_line_that_our_own_traffic_fills(lab):
    net = lab(THREE).joined()
    net.wait_path('a', 'b', ['b'])
    net.settle_hosts('a', 'b')
    net.wan.both('a', 'b', rate_kbit=LINE_KBITS, queue_us=QUEUE_US)
    a, b = net.node['a'], net.node['b']

    def changes():
        """Checks the paths between a and b only, because a busy machine affects the paths to c."""
        return [[e['text'] for e in n.events('path') if e['node_id'] == m.node_id]
                for n, m in ((a, b), (b, a))]

    def load():
        links = a.ctl('explain', 'path', 'b')['candidates'][0]['links']
        return links[0]['own_load_us'] or 0

    def fill():
        bulk = Bulk(net.host['a'].namespace, net.host['b'].namespace, net.host['b'].ip4, streams=4)
        try:
            wait_for(lambda: load() > 50000, 30, 'a queue of our own')
            # Traffic of 4 MB, which takes 3.4 s on the link.
            wait_for(lambda: bulk.received > 4 << 20, 60, '4 MB')
        finally:
            bulk.stop()
    for _ in range(3):  # A stall of the machine can look like propagation delay.
        before = changes()
        fill()
        if changes() == before:
            break
    assert changes() == before
    assert net.hops('a', 'b') == ['b'] and net.hops('b', 'a') == ['a']


def test_a_way_that_gets_longer_beside_our_traffic_is_left(lab):
    """The increase is propagation delay and not own load, although both ends send and make every
    increase look like load."""
    net = lab(THREE).joined()
    net.wait_path('a', 'b', ['b'])
    net.settle_hosts('a', 'b')
    a, b = net.host['a'], net.host['b']

    def longer(name, other):
        candidates = net.node[name].ctl('explain', 'path', other)['candidates']
        direct = [c for c in candidates if 'direct' in c['roles']]
        return direct and direct[0]['links'][0]['persistent_us'] or 0
    bulks = [Bulk(near.namespace, far.namespace, far.ip4, streams=2, port=port, kbits=8000)
             for near, far, port in ((a, b, 40100), (b, a, 40101))]
    try:
        for bulk in bulks:
            wait_for(lambda bulk=bulk: bulk.received > 6 << 20, 60, '3 s of traffic')
        net.wan.both('a', 'b', delay_us=100 * MS)
        found = []

        def left():
            # The increase causes the first departure. A node measures an abandoned path less
            # exactly, before the other node departs.
            found.extend(longer(n, 'b' if n == 'a' else 'a') for n in 'ab')
            return net.hops('a', 'b') == ['c', 'b'] and net.hops('b', 'a') == ['c', 'a']
        wait_for(left, 60, 'both leave the way that got longer')
        assert max(found) > 50000
    finally:
        for bulk in bulks:
            bulk.stop()


def test_the_rate_of_a_line_is_found_and_followed(lab):
    """Slower and faster again; test_autorate.c tests the speed of adaptation on virtual time."""
    net = lab(line_up(2, config={**PATIENT, 'shaper': {'automatic': True}}, rtt_ms_default=20))
    net.joined()
    net.settle_hosts('n0', 'n1')
    n0 = net.node['n0']

    def line():
        return n0.show('queues')['bottleneck']
    assert line()['limit_kbits'] is None and line()['state'] == 'open'
    net.wan.both('n0', 'n1', rate_kbit=20000, queue_us=QUEUE_US)
    bulk = Bulk(net.host['n0'].namespace, net.host['n1'].namespace, net.host['n1'].ip4, streams=4)
    try:
        wait_for(lambda: 8000 < (line()['limit_kbits'] or 0) < 22000, 60, 'a limit')
        wait_for(lambda: n0.events('bottleneck-found'), 10, 'it is told of')
        # Without a limit, the delay would be 200 ms.
        wait_for(lambda: line()['queue_us'] is not None and line()['queue_us'] < 30000, 60, 'a short queue')
        net.wan.both('n0', 'n1', rate_kbit=6000)
        wait_for(lambda: (line()['limit_kbits'] or 99999) < 7500, 60, 'a lower limit')
        net.wan.both('n0', 'n1', rate_kbit=24000)
        wait_for(lambda: (line()['limit_kbits'] or 0) > 12000, 60, 'a higher limit')
    finally:
        bulk.stop()
    assert n0.reload(shaper=None)['verdict'] == 'applied'
    assert line()['limit_kbits'] is None and line()['automatic'] is False


def test_a_line_that_falls_to_a_fifth_is_followed(lab):
    """With a known limit, and after a decrease during silence without a known limit."""
    net = lab(line_up(2, config={**PATIENT, 'shaper': {'automatic': True}}, rtt_ms_default=20))
    net.joined()
    net.settle_hosts('n0', 'n1')
    n0 = net.node['n0']

    def set_line(kbits):
        net.wan.both('n0', 'n1', rate_kbit=kbits, queue_us=QUEUE_US)

    def carries(least, most):
        line = n0.show('queues')['bottleneck']
        return (least < (line['limit_kbits'] or 0) < most and
                line['queue_us'] is not None and line['queue_us'] < 40000)

    def bulk():
        return Bulk(net.host['n0'].namespace, net.host['n1'].namespace, net.host['n1'].ip4, streams=4)
    set_line(50000)
    sending = bulk()
    try:
        wait_for(lambda: carries(25000, 55000), 60, 'the limit of a line of 50 Mbit/s')
        set_line(10000)
        wait_for(lambda: carries(6000, 12500), 60, 'that of one of 10, and a short queue')
    finally:
        sending.stop()
    # A link of 50 Mbit/s without a shaper. The link remembers the rate.
    assert n0.reload(shaper=None)['verdict'] == 'applied'
    set_line(50000)
    sending = bulk()
    try:
        wait_for(lambda: sending.received > 10 << 20, 60, '10 MB')
    finally:
        sending.stop()
    set_line(10000)
    assert n0.reload(shaper={'automatic': True})['verdict'] == 'applied'
    sending = bulk()
    try:
        wait_for(lambda: carries(6000, 12500), 60, 'the limit of 10 Mbit/s, found anew')
    finally:
        sending.stop()
