# SPDX-License-Identifier: GPL-2.0-or-later
"""A machine that moves far away, with its connections: `mode moved`."""
import signal

import pytest

from accel import BLOCK, CONFIG, ENDLESS, MB, Machine, Transfer, far_apart, moves_together, settled
from lab import merged, wait_for

MOVED = merged(CONFIG, {'acceleration': {'mode': 'moved', 'threshold': 20}})


@pytest.fixture
def three(lab):
    """A client at a, a site near it, and one far away."""
    with far_apart(lab({'sites': {'a': {}, 'b': {}, 'c': {}}, 'rtt_ms': {('a', 'b'): 2},
                        'rtt_ms_default': 100, 'config': MOVED}).joined(), start=False) as made:
        for a in made.accel.values():
            a.start()
        wait_for(lambda: 'up' in made.accel['a'].carriers(), 30, 'a carrier to the far site is up')
        yield made


def test_taken_where_it_moved_and_is_far(three):
    """Neither the machine near by nor one that was always far is taken; the one that moved is."""
    a, b, c = (three.host[name] for name in 'abc')
    machine = Machine(three.lab, 'b', 'c')
    t = Transfer(a, b, b.ip4, up=ENDLESS, down=ENDLESS, pause=0.05)
    always_far = Transfer(a, c, c.ip4, up=ENDLESS, down=ENDLESS, pause=0.05)
    t.wait_more(MB)
    always_far.wait_more(MB)
    assert three.taken() == [0, 0, 0]
    machine.move('eth1', 'eth0', a)
    wait_for(lambda: three.taken() == [1, 0, 1], 60, 'it is taken at both ends')
    taken = [x for x in three.accel['a'].show()['connections'] if x['state'] == 'taken']
    assert [x['far'] for x in taken] == [f'{b.ip4}:{t.port}']
    t.wait_more(MB)
    always_far.wait_more(MB)
    for transfer in (t, always_far):
        transfer.finish(120).assert_whole()
    three.base = {name: dict.fromkeys(x.counters(), 0) for name, x in three.accel.items()}
    three.assert_no_resets()


@pytest.fixture
def apart(lab):
    """Three sites, each far from the others."""
    with far_apart(lab({'sites': {'a': {}, 'b': {}, 'c': {}}, 'rtt_ms_default': 60,
                        'config': CONFIG})) as made:
        yield made


@pytest.mark.parametrize('who', ['a', 'b'])
def test_moves_again_while_taken(apart, who):
    """To a third site, and back: given back, taken where it is now, and no byte is wrong. The one
    that moves is behind the node that leads (a), or behind the other."""
    a, b = apart.host['a'], apart.host['b']
    stays = {'a': 'b', 'b': 'a'}[who]
    machine = Machine(apart.lab, who, 'c')
    t = Transfer(a, b, b.ip4, up=ENDLESS, down=ENDLESS, pause=0.05)

    def taken_at(*names):
        return lambda: not t.error and all(
            apart.accel[n].show()['connections_taken'] == (n in names) for n in apart.accel)
    wait_for(taken_at('a', 'b'), 60, 'it is taken')
    t.wait_more(MB)
    machine.move('eth1', 'eth0', apart.host[stays])
    wait_for(taken_at(stays, 'c'), 90, 'it is taken with its new site')
    t.wait_more(MB)
    machine.move('eth0', 'eth1', apart.host[stays])
    wait_for(taken_at('a', 'b'), 90, 'it is taken with its old one')
    t.wait_more(MB)
    t.finish(120).assert_whole()
    apart.assert_no_resets()


# In an emulated machine they are one.
BLOCKS = sorted({1 << 12, BLOCK})


def taken_of_a_machine(apart, block):
    """A transfer between a and b that is taken, and the machine at b, which may go on to c, where
    there is no acceleration. What is under way differs with the blocks: nothing small waits."""
    machine = Machine(apart.lab, 'b', 'c')
    apart.node['c'].reload(acceleration=None)
    t = Transfer(apart.host['a'], apart.host['b'], apart.host['b'].ip4, up=ENDLESS, down=ENDLESS, pause=0.05)
    t.block = block
    wait_for(lambda: all(apart.accel[name].show()['connections_taken'] == 1 for name in 'ab'), 60, 'it is taken')
    t.wait_more(MB)
    return t, machine


@pytest.mark.parametrize('block', BLOCKS)
def test_moves_to_a_site_without_acceleration(apart, block):
    """a has what it says there come by: it is given back. What went past before a knew may be
    lacking; then both ends are told, and wait for nothing."""
    t, machine = taken_of_a_machine(apart, block)
    machine.move('eth1', 'eth0', apart.host['a'])
    if settled(t) == 'flows':
        t.finish(120).assert_whole()
        apart.assert_no_resets()
    wait_for(lambda: apart.accel['a'].show()['connections_taken'] == 0, 20, 'nothing is taken')


@pytest.mark.parametrize('block', BLOCKS)
def test_moves_there_from_an_accelerator_that_hangs(apart, block):
    """It cannot be given back: both ends are told, though they go on speaking to each other."""
    t, machine = taken_of_a_machine(apart, block)
    hung = apart.accel['b'].process
    hung.send_signal(signal.SIGSTOP)
    try:
        machine.move('eth1', 'eth0', apart.host['a'])
        wait_for(lambda: set(t.error) == {'client', 'server'}, 60, 'both ends are reset')
    finally:
        t.enough.set()
        hung.send_signal(signal.SIGCONT)
    assert all(isinstance(e, ConnectionError) for e in t.error.values()), t.error


def test_moves_onto_the_lan_of_its_peer(apart):
    """The hosts speak past leond there, and the stand-ins have bytes of both: it is given back."""
    t, _ = moves_together(apart, 'b', 'a')
    assert settled(t) == 'flows'
    t.finish(60).assert_whole()
    apart.wait_returned(20)
    apart.assert_no_resets()
