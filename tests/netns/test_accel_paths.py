# SPDX-License-Identifier: GPL-2.0-or-later
"""Packets of inter-proxy connections use the whole path MTU, also after a change during a
transfer."""
import pytest

from accel import CONFIG, ENDLESS, MB, Transfer, far_apart, segment_bytes
from lab import wait_for
from wan import MS

# Overhead of a datagram: LEON header and tag, Ethernet, IPv6, TCP with timestamps.
HEADERS = 14 + 16 + 8 + 14 + 40 + 32


@pytest.fixture
def far(lab):
    with far_apart(lab({'sites': {'a': {}, 'b': {}}, 'config': CONFIG, 'rtt_ms_default': 60})) as made:
        yield made


def fills(far, name, peer):
    """Checks that packets use the whole path MTU."""
    return segment_bytes(far, name, peer) == far.node[name].paths()[far.node[peer].node_id]['mtu'] - HEADERS


def wait_filled(far, a='a', b='b'):
    wait_for(lambda: fills(far, a, b) and fills(far, b, a), 40, 'carriers send what the path takes')


def taken(far):
    a, b = far.host['a'], far.host['b']
    t = Transfer(a, b, b.ip4, up=ENDLESS, down=ENDLESS, pause=.05)
    wait_for(lambda: far.accel['a'].show()['connections_intercepted'] == 1, 60, 'it is taken')
    t.wait_more(MB)
    return t


def test_as_large_as_the_path(far):
    """Packets are large from the start. A SYN sent before the path MTU was known limited segments
    to 1208 bytes."""
    wait_filled(far)
    wait_for(lambda: segment_bytes(far, 'a', 'b') > 1300, 40, 'more than the smallest path takes')


@pytest.mark.parametrize('mtu', [1400, 1300])
def test_a_path_that_takes_less(far, mtu):
    """Large packets are lost silently until leond detects the change. No intercepted connection
    fails. 1300 bytes minus the overhead of LEON are below the minimum of IPv6, so no new
    inter-proxy connection starts."""
    t = taken(far)
    wait_filled(far)
    far.wan.both('a', 'b', mtu=mtu)
    t.wait_more(1)
    t.wait_more(4 * MB)
    wait_for(lambda: all(0 < segment_bytes(far, *way) <= mtu - 28 - HEADERS for way in ('ab', 'ba')), 40,
             'carriers send less')
    t.finish(60).assert_whole()
    far.assert_no_resets()


def test_a_path_that_takes_more(lab):
    """The same inter-proxy connection, after a change of the path."""
    net = lab({'sites': {'a': {}, 'b': {}, 'r': {}}, 'config': CONFIG, 'rtt_ms_default': 30},
              start=False)
    net.wan.both('a', 'b', delay_us=10 * MS, mtu=1400)
    net.start()
    net.joined()
    with far_apart(net, start=False) as far:
        for name in 'ab':
            far.accel[name].start()
        wait_for(lambda: all(a.runs() and 'up' in a.carriers() for n, a in far.accel.items() if n != 'r'),
                 30, 'carriers are up')
        t = taken(far)
        wait_filled(far)
        before = segment_bytes(far, 'a', 'b')
        assert before <= 1372 - HEADERS
        far.wan.both('a', 'b', delay_us=100 * MS)
        wait_for(lambda: all(segment_bytes(far, *way) > before + 50 for way in ('ab', 'ba')), 60,
                 'carriers send more')
        t.finish(60).assert_whole()
        assert not any(far.accel[name].counters()['reset'] for name in 'ab')
