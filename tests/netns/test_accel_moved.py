# SPDX-License-Identifier: GPL-2.0-or-later
"""A host moves to a distant site with open connections: `mode moved`."""
import signal

import pytest

from accel import BLOCK, CONFIG, ENDLESS, MB, Machine, Transfer, far_apart, moves_together, settled
from lab import merged, wait_for

MOVED = merged(CONFIG, {'acceleration': {'mode': 'moved', 'threshold': 20}})


@pytest.fixture
def three(lab):
    """A client at a, a near site and a distant site."""
    with far_apart(lab({'sites': {'a': {}, 'b': {}, 'c': {}}, 'rtt_ms': {('a', 'b'): 2},
                        'rtt_ms_default': 100, 'config': MOVED}).joined(), start=False) as made:
        for a in made.accel.values():
            a.start()
        wait_for(lambda: 'up' in made.accel['a'].carriers(), 30, 'a carrier to the far site is up')
        yield made


def test_taken_where_it_moved_and_is_far(three):
    """Only the connection of the migrated host is intercepted. Connections of the near host and of
    an always distant host are not."""
    a, b, c = (three.host[name] for name in 'abc')
    machine = Machine(three.lab, 'b', 'c')
    t = Transfer(a, b, b.ip4, up=ENDLESS, down=ENDLESS, pause=0.05)
    always_far = Transfer(a, c, c.ip4, up=ENDLESS, down=ENDLESS, pause=0.05)
    t.wait_more(MB)
    always_far.wait_more(MB)
    assert three.taken() == [0, 0, 0]
    machine.move('eth1', 'eth0', a)
    wait_for(lambda: three.taken() == [1, 0, 1], 60, 'it is taken at both ends')
    taken = [x for x in three.accel['a'].connections() if x['state'] == 'intercepted']
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
    """The host moves to a third site and back. The connection is released and intercepted at the
    new site, without a wrong byte. Either the leader (a) or the follower has the host."""
    a, b = apart.host['a'], apart.host['b']
    stays = {'a': 'b', 'b': 'a'}[who]
    machine = Machine(apart.lab, who, 'c')
    t = Transfer(a, b, b.ip4, up=ENDLESS, down=ENDLESS, pause=0.05)

    def taken_at(*names):
        return lambda: not t.error and all(
            apart.accel[n].show()['connections_intercepted'] == (n in names) for n in apart.accel)
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


# In an emulated machine, both sizes are equal.
BLOCKS = sorted({1 << 12, BLOCK})


def taken_of_a_machine(apart, block):
    """An intercepted transfer between a and b, and the host at b, which may move to c. Node c has
    no acceleration. The block size determines the backlog: small blocks leave none."""
    machine = Machine(apart.lab, 'b', 'c')
    apart.node['c'].reload(acceleration=None)
    t = Transfer(apart.host['a'], apart.host['b'], apart.host['b'].ip4, up=ENDLESS, down=ENDLESS, pause=0.05)
    t.block = block
    wait_for(lambda: all(apart.accel[name].show()['connections_intercepted'] == 1 for name in 'ab'), 60, 'it is taken')
    t.wait_more(MB)
    return t, machine


@pytest.mark.parametrize('block', BLOCKS)
def test_moves_to_a_site_without_acceleration(apart, block):
    """Node a receives data of the host from its new site and releases the connection. Data that
    passed earlier may be missing. Both ends then receive RST and do not hang."""
    t, machine = taken_of_a_machine(apart, block)
    machine.move('eth1', 'eth0', apart.host['a'])
    if settled(t) == 'flows':
        t.finish(120).assert_whole()
        apart.assert_no_resets()
    wait_for(lambda: apart.accel['a'].show()['connections_intercepted'] == 0, 20, 'nothing is taken')


@pytest.mark.parametrize('block', BLOCKS)
def test_moves_there_from_an_accelerator_that_hangs(apart, block):
    """The connection cannot be released. Both ends receive RST although the hosts still exchange
    data."""
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


def frames_of_lan(node):
    return node.show('statistics')['counters']['tap_rx_frames']


@pytest.mark.parametrize('who', ['a', 'b'])
@pytest.mark.parametrize('taken', [True, False], ids=['taken', 'plain'])
def test_frames_from_before_the_move(apart, who, taken):
    """The queue of a late leon-accel has frames of the host from before its move. leond and
    leon-accel do not assign the host to the old site because of these frames."""
    a, b = apart.host['a'], apart.host['b']
    stays = {'a': 'b', 'b': 'a'}[who]
    machine = Machine(apart.lab, who, 'c')
    if not taken:
        for node in apart.node.values():
            node.reload(acceleration={**CONFIG['acceleration'], 'minimum-segments': 60000})
    t = Transfer(a, b, b.ip4, up=ENDLESS, down=ENDLESS, pause=0.05)
    if taken:
        wait_for(lambda: apart.taken() == [1, 1, 0], 60, 'it is taken')
    t.wait_more(MB)
    late, node = apart.accel[who].process, apart.node[who]
    late.send_signal(signal.SIGSTOP)
    try:
        before = frames_of_lan(node)
        wait_for(lambda: frames_of_lan(node) > before + 3, 20, 'frames are in the queue')
        machine.move('eth1', 'eth0', apart.host[stays])
        moved = (0, machine.host.mac)
        wait_for(lambda: all(n.fdb()[moved]['name'] == 'c' for n in apart.node.values()), 20,
                 'all nodes know the new site')
        moves = {n.name: n.fdb()[moved]['moves'] for n in apart.node.values()}
    finally:
        late.send_signal(signal.SIGCONT)
    assert settled(t) == 'flows'
    t.finish(120).assert_whole()
    assert {n.name: n.fdb()[moved]['moves'] for n in apart.node.values()} == moves
    apart.assert_no_resets()


def test_another_mac_address_of_the_interface(apart):
    """leon-accel gets the address with the queues, and keeps its connections."""
    a, b = apart.host['a'], apart.host['b']
    t = Transfer(a, b, b.ip4, up=ENDLESS, down=ENDLESS, pause=0.05)
    wait_for(lambda: apart.taken() == [1, 1, 0], 60, 'it is taken')
    apart.node['a'].reload(mac='02:00:00:00:00:77')
    t.wait_more(4 * MB)
    assert apart.taken() == [1, 1, 0]
    t.finish(60).assert_whole()
    apart.assert_no_resets()


def test_moves_onto_the_lan_of_its_peer(apart):
    """The hosts communicate without leond, and the proxy sockets have data of both. The connection
    is released."""
    t, _ = moves_together(apart, 'b', 'a')
    assert settled(t) == 'flows'
    t.finish(60).assert_whole()
    apart.wait_returned(20)
    apart.assert_no_resets()
