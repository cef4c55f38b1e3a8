# SPDX-License-Identifier: GPL-2.0-or-later
"""Intercepted connections lose their place. The old site of a host has no LAN any more, or a LAN
fails temporarily or permanently. Or a host moves to the site of its peer. Nothing hangs, and no
byte is wrong. `make eval-accel` runs the tests."""
import signal
import time

import pytest

from accel import BLOCK, CONFIG, ENDLESS, MB, Machine, Transfer, far_apart, moves_together, settled
from lab import wait_for


@pytest.fixture
def apart(lab):
    """Three sites, each far from the others."""
    with far_apart(lab({'sites': {'a': {}, 'b': {}, 'c': {}}, 'rtt_ms_default': 60,
                        'config': CONFIG})) as made:
        yield made


def endless(far):
    a, b = far.host['a'], far.host['b']
    return Transfer(a, b, b.ip4, up=ENDLESS, down=ENDLESS, pause=0.05)


def is_reset(t):
    """Both ends, as far as is known yet."""
    assert all(isinstance(e, ConnectionError) for e in t.error.values()), t.error
    return set(t.error) == {'client', 'server'}


def wait_intercepted(far, t, *names):
    wait_for(lambda: not t.error and all(
        far.accel[n].show()['connections_intercepted'] == (n in names) for n in far.accel), 90,
        f'it is taken at {names}')


def test_away_from_a_site_without_a_lan(apart):
    """The old site receives nothing from the host. The connection continues at the new site, or
    both ends receive RST."""
    machine = Machine(apart.lab, 'b', 'c', stays=False)
    t = endless(apart)
    wait_intercepted(apart, t, 'a', 'b')
    t.wait_more(MB)
    machine.move('eth1', 'eth0', apart.host['a'])
    before = sum(t.count.values())
    wait_for(lambda: is_reset(t) or (not t.error and sum(t.count.values()) > before + 2 * MB), 90,
             'it flows, or both ends are reset')
    if t.error:
        t.enough.set()
    else:
        wait_intercepted(apart, t, 'a', 'c')
        t.finish(120).assert_whole()


@pytest.mark.parametrize('hangs', [False, True])
def test_away_from_there_to_where_nothing_is_accelerated(apart, hangs):
    """The connection was removed with the old LAN. At the other site, the connection is new and
    not migrated, but known. The same holds for a leon-accel that leond had given up."""
    apart.node['c'].reload(acceleration=None)
    machine = Machine(apart.lab, 'b', 'c', stays=False)
    t = endless(apart)
    wait_intercepted(apart, t, 'a', 'b')
    t.wait_more(MB)
    hung = apart.accel['a'].process
    if hangs:
        # The process has bytes that the hosts do not have.
        hung.send_signal(signal.SIGSTOP)
        wait_for(lambda: apart.node['a'].events('accelerator-gone'), 60, 'leond has given it up')
    else:
        t.block = 1 << 12
        t.wait_more(10 * t.block)
    machine.move('eth1', 'eth0', apart.host['a'])
    hung.send_signal(signal.SIGCONT)
    t.block = BLOCK
    if settled(t) == 'reset':
        t.enough.set()
    else:
        t.finish(120).assert_whole()
    wait_for(lambda: apart.accel['a'].show()['connections_intercepted'] == 0, 60, 'nothing is taken')


def test_others_where_leond_is_killed(apart):
    """Connections between other nodes continue, and so do plain connections. After the return of
    leond, plain connections are intercepted."""
    excluded = {**CONFIG['acceleration'], 'exclude': {'port': ['7001']}}
    for node in apart.node.values():
        node.reload(acceleration=excluded)
    a, b, c = (apart.host[name] for name in 'abc')
    plain = Transfer(a, b, b.ip4, up=ENDLESS, down=ENDLESS, pause=0.05, port=7001)
    other = Transfer(b, c, c.ip4, up=ENDLESS, down=ENDLESS, pause=0.05)
    wait_intercepted(apart, other, 'b', 'c')
    plain.wait_more(MB)
    apart.node['a'].kill()
    other.wait_more(4 * MB)
    apart.lab.start('a')
    for t in (plain, other):
        t.wait_more(4 * MB, 90)
    for node in apart.node.values():
        node.reload(acceleration=CONFIG['acceleration'])
    wait_for(lambda: not plain.error and apart.taken() == [1, 2, 1], 90, 'the plain one is taken')
    for t in (plain, other):
        t.wait_more(4 * MB, 90)
        t.finish(60).assert_whole()
    apart.assert_no_resets()


@pytest.mark.parametrize('when', ['before', 'meanwhile', 'behind'])
def test_to_a_site_without_acceleration_where_leond_is_killed(apart, when):
    """A restarted leond knows neither migrated hosts nor, at first, intercepted connections. The
    connection continues, or both ends receive RST."""
    apart.node['c'].reload(acceleration=None)
    machine = Machine(apart.lab, 'b', 'c')
    t = endless(apart)
    wait_intercepted(apart, t, 'a', 'b')
    t.wait_more(MB)
    # With little data in flight, a host ignores the RST of a node that has seen less data.
    t.block = 1 << 12
    t.wait_more(10 * t.block)
    if when == 'before':
        machine.move('eth1', 'eth0', apart.host['a'])
    apart.node['a'].kill()
    if when == 'meanwhile':
        machine.move('eth1', 'eth0')
    apart.lab.start('a')
    if when == 'behind':
        machine.move('eth1', 'eth0', apart.host['a'])
    t.block = BLOCK
    if settled(t) == 'reset':
        t.enough.set()
    else:
        t.finish(120).assert_whole()
    assert apart.accel['a'].show()['connections_intercepted'] == 0


def test_a_lan_that_comes_back(apart):
    """As without acceleration, the hosts retransmit."""
    t = endless(apart)
    wait_intercepted(apart, t, 'a', 'b')
    t.wait_more(MB)
    lan = apart.node['b'].namespace
    lan.ip('link set h0 down')
    wait_for(lambda: is_still(apart), 60, 'nothing flows')
    lan.ip('link set h0 up')
    t.wait_more(MB, 90)
    t.finish(120).assert_whole()
    apart.assert_no_resets()


def is_still(far):
    before = far.accel['b'].counters()['bytes_out']
    time.sleep(1)
    return far.accel['b'].counters()['bytes_out'] == before


def test_given_back_without_a_lan(apart):
    """A stopping process does not wait for a lost host. The other host receives RST."""
    t = endless(apart)
    wait_intercepted(apart, t, 'a', 'b')
    t.wait_more(MB)
    apart.node['b'].namespace.ip('link set h0 down')
    apart.accel['b'].stop(40)
    wait_for(lambda: 'client' in t.error, 60, 'the far host is reset')
    t.enough.set()
    apart.node['b'].namespace.ip('link set h0 up')
    wait_for(lambda: 'server' in t.error, 120, 'and the other one, when it is back')


def test_onto_the_lan_of_the_one_that_leads_not(apart):
    """tests/netns has the case with the roles swapped."""
    t, _ = moves_together(apart, 'a', 'b')
    assert settled(t) == 'flows'
    t.finish(60).assert_whole()
    apart.assert_no_resets()


def test_together_and_away_again(apart):
    """Before and after the release, the connection continues at any site."""
    t, machine = moves_together(apart, 'b', 'a')
    machine.move('eth0', 'eth1', apart.host['a'])
    wait_intercepted(apart, t, 'a', 'b')
    t.wait_more(MB)
    t.finish(120).assert_whole()
    apart.assert_no_resets()


def test_together_without_the_other_accelerator(apart):
    """The data in the lost accelerator is lost. The hosts communicate without leond, and both
    receive RST."""
    other = apart.accel['b']
    t, _ = moves_together(apart, 'b', 'a', lambda: other.process.send_signal(signal.SIGSTOP))
    try:
        assert settled(t) == 'reset'
    finally:
        t.enough.set()
        other.kill()
