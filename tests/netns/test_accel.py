# SPDX-License-Identifier: GPL-2.0-or-later
"""Live TCP connections are taken over and given back, and no byte is wrong."""
import socket
import struct

import pytest

from accel import ENDLESS, Accelerator, Transfer, describe
from lab import PATIENT, merged, wait_for

CONFIG = merged(PATIENT, {'acceleration': {'threshold': 20, 'minimum-segments': 4}})
MB = 1 << 20


@pytest.fixture
def far(lab):
    """Two sites far from each other, with accelerators whose carrier is up."""
    made = lab({'sites': {'a': {}, 'b': {}}, 'rtt_ms_default': 100, 'config': CONFIG})
    made.accel = {name: Accelerator(node).start() for name, node in made.node.items()}
    for a in made.accel.values():
        wait_for(lambda a=a: 'carrier is up' in a.log(), 30, 'carrier is up')
    try:
        yield made
    finally:
        print(describe(made))
    for a in made.accel.values():
        assert a.stop() in (0, -9), a.log()


def small_windows(lab):
    for host in lab.host.values():
        host.namespace.sysctl('ipv4/tcp_window_scaling', 0)


def taken(lab):
    return [a.show()['connections_taken'] for a in lab.accel.values()]


def test_one_way(far):
    small_windows(far)
    a, b = far.host['a'], far.host['b']
    t = Transfer(a, b, b.ip4, down=20 * MB).wait(60)
    t.assert_whole()
    # 64 KiB a round trip would be 32 s.
    assert t.seconds < 15
    assert [x.counters()['taken'] for x in far.accel.values()] == [1, 1]
    wait_for(lambda: taken(far) == [0, 0], 10, 'it ends')


def cycle(lab, t, n):
    """n times: taken, and given back."""
    for _ in range(n):
        wait_for(lambda: taken(lab) == [1, 1], 60, 'taken')
        far_enough = t.count['client'] + t.count['server'] + MB
        wait_for(lambda: t.count['client'] + t.count['server'] > far_enough, 60, 'it flows')
        lab.accel['a'].ask('reset acceleration')
        wait_for(lambda: taken(lab) == [0, 0], 60, 'returned')


def assert_no_resets(lab):
    for a in lab.accel.values():
        assert a.counters()['reset'] == 0


HOSTS = {
    'modern': {},
    'no timestamps': {'ipv4/tcp_timestamps': 0},
    'no SACK': {'ipv4/tcp_sack': 0},
    'no scaling': {'ipv4/tcp_window_scaling': 0},
}


@pytest.mark.parametrize('family', ['ip4', 'ip6'])
@pytest.mark.parametrize('kind', HOSTS)
def test_cycles(far, family, kind):
    """Taken, given back and taken again while both ends send."""
    for host in far.host.values():
        for key, value in HOSTS[kind].items():
            host.namespace.sysctl(key, value)
    a, b = far.host['a'], far.host['b']
    t = Transfer(a, b, getattr(b, family), up=ENDLESS, down=ENDLESS, pause=0.05)
    cycle(far, t, 3)
    t.finish(60).assert_whole()
    assert_no_resets(far)
    assert far.accel['a'].counters()['returned'] >= 3


@pytest.mark.parametrize('trouble', [{'loss_permille': 5}, {'reorder_permille': 20}])
def test_cycles_over_a_bad_line(far, trouble):
    far.wan.link('a', 'b', delay_us=50000, **trouble)
    far.wan.link('b', 'a', delay_us=50000, **trouble)
    a, b = far.host['a'], far.host['b']
    t = Transfer(a, b, b.ip4, up=ENDLESS, down=ENDLESS, pause=0.05)
    cycle(far, t, 3)
    t.finish(120).assert_whole()
    assert_no_resets(far)


def test_connection_that_was_there_before(lab):
    """Nobody saw its SYN: how its windows are scaled is unknown."""
    made = lab({'sites': {'a': {}, 'b': {}}, 'rtt_ms_default': 100, 'config': CONFIG})
    a, b = made.host['a'], made.host['b']
    t = Transfer(a, b, b.ip4, up=ENDLESS, down=ENDLESS, pause=0.05)
    wait_for(lambda: min(t.count.values()) > MB, 60, 'it flows')
    made.accel = {name: Accelerator(node).start() for name, node in made.node.items()}
    try:
        cycle(made, t, 2)
        t.finish(60).assert_whole()
        assert_no_resets(made)
    finally:
        print(describe(made))
        for x in made.accel.values():
            x.stop()


def test_one_end_is_done(far):
    """Half-closed: taken and given back all the same."""
    a, b = far.host['a'], far.host['b']
    t = Transfer(a, b, b.ip4, down=ENDLESS, pause=0.05)
    cycle(far, t, 2)
    t.finish(60).assert_whole()
    assert_no_resets(far)


def test_reset_by_a_host(far):
    """RST at one end is RST at the other."""
    a, b = far.host['a'], far.host['b']
    t = Transfer(a, b, b.ip4, up=ENDLESS, down=ENDLESS, pause=0.05)
    wait_for(lambda: taken(far) == [1, 1], 30, 'taken')
    t.client.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack('ii', 1, 0))
    t.client.shutdown(socket.SHUT_RD)
    t.enough.set()
    t.client.close()
    wait_for(lambda: 'server' in t.error or 'server' in t.got, 20, 'the server hears of it')
    wait_for(lambda: taken(far) == [0, 0], 20, 'it is over')


def test_orderly_stop_gives_back(far):
    a, b = far.host['a'], far.host['b']
    t = Transfer(a, b, b.ip4, up=ENDLESS, down=ENDLESS, pause=0.05)
    wait_for(lambda: taken(far) == [1, 1], 30, 'taken')
    assert far.accel['b'].stop() == 0
    wait_for(lambda: far.accel['a'].show()['connections_taken'] == 0, 20, 'returned')
    before = dict(t.count)
    wait_for(lambda: all(t.count[k] > before[k] + MB for k in before), 60, 'it goes on')
    t.finish(60).assert_whole()
    assert far.accel['a'].counters()['reset'] == 0


@pytest.mark.parametrize('who', ['a', 'b'])
def test_accelerator_dies(far, who):
    """Both ends hear of it at once: what was acknowledged and not delivered is lost."""
    a, b = far.host['a'], far.host['b']
    t = Transfer(a, b, b.ip4, up=ENDLESS, down=ENDLESS, pause=0.05)
    wait_for(lambda: taken(far) == [1, 1], 30, 'taken')
    far.accel[who].kill()
    wait_for(lambda: set(t.error) == {'client', 'server'}, 20, 'both ends are reset')
    t.enough.set()
    far.accel[who].start()
    u = Transfer(a, b, b.ip4, up=MB, down=MB, port=5002).wait(60)
    u.assert_whole()
    wait_for(lambda: far.accel[who].log().count('carrier is up') == 2, 30, 'carrier is up')
