# SPDX-License-Identifier: GPL-2.0-or-later
"""Live TCP connections are taken over and given back, and no byte is wrong. All tests share one
overlay; the long ones are in tests/accel."""
import signal
import socket
import struct
import time

import pytest

from accel import CONFIG, ENDLESS, MB, Transfer, both_ways, far_apart
from lab import merged, wait_for

RTT_MS = 100
CAP_NET_ADMIN = 1 << 12


@pytest.fixture
def small_windows(far):
    """Hosts as in the paper: 64 KiB a round trip."""
    for host in far.host.values():
        host.namespace.sysctl('ipv4/tcp_window_scaling', 0)
    yield
    for host in far.host.values():
        host.namespace.sysctl('ipv4/tcp_window_scaling', 1)


def test_one_capability_is_enough(far):
    """As in its unit; all tests here are with it."""
    with open(f'/proc/{far.accel["a"].process.pid}/status', encoding='ascii') as f:
        status = dict(line.rstrip('\n').split(':\t', 1) for line in f)
    assert status['Name'] == 'leon-accel'
    assert int(status['CapEff'], 16) == int(status['CapBnd'], 16) == CAP_NET_ADMIN
    assert status['NoNewPrivs'] == '1'


def test_one_way(far, ends, small_windows):
    """While it is taken, windows of 64 KiB are no bound: they are 0.64 MB a second here."""
    a, b = ends
    t = Transfer(a, b, b.ip4, down=ENDLESS)
    far.wait_taken()

    def fast():
        before, began = t.count['client'], time.monotonic()
        time.sleep(.5)
        return t.count['client'] - before > 1.3 * MB * (time.monotonic() - began)
    wait_for(fast, 60, 'twice as fast as the windows permit')
    t.finish(120).assert_whole()
    far.assert_no_resets()
    wait_for(lambda: far.taken() == [0, 0], 10, 'it ends')


@pytest.mark.parametrize('family', ['ip4', 'ip6'])
def test_cycles(far, ends, family):
    """Taken, given back and taken again while both ends send."""
    t = both_ways(ends, family)
    far.cycle(t, 2)
    t.finish(60).assert_whole()
    far.assert_no_resets()
    assert far.count('a', 'returned') >= 2


def test_connection_that_was_there_before(far, ends):
    """Nobody saw its SYN: how its windows are scaled is unknown."""
    for a in far.accel.values():
        a.stop()
    t = both_ways(ends)
    t.wait_more(MB)
    far.ready()
    far.cycle(t, 1)
    t.finish(60).assert_whole()
    far.assert_no_resets()


def test_reset_by_a_host(far, ends):
    """RST at one end is RST at the other."""
    t = both_ways(ends)
    far.wait_taken()
    t.client.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack('ii', 1, 0))
    t.client.shutdown(socket.SHUT_RD)
    t.enough.set()
    t.client.close()
    wait_for(lambda: 'server' in t.error or 'server' in t.got, 20, 'the server hears of it')
    wait_for(lambda: far.taken() == [0, 0], 20, 'it is over')


@pytest.mark.parametrize('who', ['a', 'b'])
def test_orderly_stop_gives_back(far, ends, who):
    """Of the one that leads (a) or of the other."""
    other = {'a': 'b', 'b': 'a'}[who]
    t = both_ways(ends)
    far.wait_taken()
    assert far.accel[who].stop() == 0
    wait_for(lambda: far.accel[other].show()['connections_taken'] == 0, 20, 'returned')
    t.wait_more(MB)
    t.finish(60).assert_whole()
    assert far.count(other, 'reset') == 0


@pytest.mark.parametrize('who', ['a', 'b'])
def test_switched_off_gives_back(far, ends, who):
    """By a reload; and on again by another, without a restart of leond."""
    t = both_ways(ends)
    far.wait_taken()
    node = far.node[who]
    assert node.reload(acceleration=None)['verdict'] == 'applied'
    far.wait_returned()

    def nothing_is_diverted():
        before = node.statistics()['counters']['accel_in']
        t.wait_more(MB)
        return node.statistics()['counters']['accel_in'] == before
    wait_for(nothing_is_diverted, 20)
    far.assert_no_resets()
    assert node.reload(acceleration=CONFIG['acceleration'])['verdict'] == 'applied'
    far.wait_taken()
    t.finish(60).assert_whole()
    far.assert_no_resets()


def test_excluded_by_a_reload(far, ends):
    t = both_ways(ends)
    far.wait_taken()
    excluded = {**CONFIG['acceleration'], 'exclude': {'port': [str(t.port)]}}
    far.node['b'].reload(acceleration=excluded)
    far.wait_returned()
    far.node['b'].reload(acceleration=CONFIG['acceleration'])
    t.finish(60).assert_whole()
    far.assert_no_resets()


def test_leond_stops(far, ends):
    """An upgrade: what is taken is given back before leond leaves."""
    t = both_ways(ends)
    far.wait_taken()
    far.node['b'].stop()
    wait_for(lambda: far.accel['a'].show()['connections_taken'] == 0, 20, 'returned')
    assert far.count('a', 'reset') == 0 and far.count('b', 'reset') == 0
    far.lab.start('b')
    t.finish(120).assert_whole()


def test_accelerator_dies(far, ends):
    """Both ends hear of it at once: what was acknowledged and not delivered is lost."""
    t = both_ways(ends)
    far.wait_taken()
    far.accel['b'].kill()
    wait_for(lambda: set(t.error) == {'client', 'server'}, 20, 'both ends are reset')
    t.enough.set()
    far.ready()
    a, b = ends
    Transfer(a, b, b.ip4, up=MB, down=MB).wait(60).assert_whole()


def test_both_accelerators_die(far, ends):
    """Of an idle connection, whose hosts have nothing to send: both are told all the same."""
    t = both_ways(ends)
    far.wait_taken()
    t.pause = 100000
    quiet = far.accel['a'].show
    wait_for(lambda: quiet()['counters']['bytes_in'] == (time.sleep(1), quiet())[1]['counters']['bytes_in'], 30,
             'it is idle')
    resets = {name: len(node.events('tcp-reset')) for name, node in far.node.items()}
    for a in far.accel.values():
        a.kill()
    for a in far.accel.values():
        a.start()
    wait_for(lambda: set(t.error) == {'client', 'server'}, 20, 'both ends are reset')
    for name, node in far.node.items():
        wait_for(lambda n=node, had=resets[name]: len(n.events('tcp-reset')) > had, 20,
                 f'an event at {name} says so')
    far.ready()
    a, b = ends
    Transfer(a, b, b.ip4, up=MB, down=MB).wait(60).assert_whole()


def test_hung_accelerator_is_done_without(far, ends):
    """It keeps what it is given: what it had is reset at both hosts, what is new goes past it."""
    a, b = ends
    had = both_ways(ends)
    far.wait_taken()
    hung = far.accel['a'].process
    hung.send_signal(signal.SIGSTOP)
    try:
        had.wait(60)
        assert set(had.error) == {'client', 'server'}, had.error
        new = Transfer(a, b, b.ip4, up=2 * MB, down=2 * MB)
        new.wait(60).assert_whole()
        new.close()
    finally:
        hung.send_signal(signal.SIGCONT)
    assert 'leon-accel hangs' in far.node['a'].log()
    far.ready()
    t = both_ways(ends)
    far.wait_taken()
    t.finish(60).assert_whole()


def test_far_host_is_not_forgotten(lab):
    """It says nothing by itself while its connection is taken, for longer than entries live."""
    config = merged(CONFIG, {'fdb': {'aging': 10}})
    made = lab({'sites': {'a': {}, 'b': {}}, 'rtt_ms_default': RTT_MS, 'config': config})
    with far_apart(made) as far:
        t = both_ways((made.host['a'], made.host['b']))
        far.wait_taken()
        end = time.monotonic() + 25
        while time.monotonic() < end:
            t.wait_more(MB)
        t.finish(60).assert_whole()
        far.assert_no_resets()


def test_none_at_the_other_node(lab):
    """Nothing of a connection with a node that has no acceleration is diverted, nothing of kind 6
    is sent to it."""
    made = lab({'sites': {'a': {'config': CONFIG}, 'b': {}}, 'rtt_ms_default': 30})
    a, b = made.host['a'], made.host['b']
    with far_apart(made, start=False) as far:
        far.accel['a'].start()
        wait_for(lambda: 'leon-accel is here' in made.node['a'].log(), 30,
                 'leond hands it the queues')
        Transfer(a, b, b.ip4, up=MB, down=MB).wait(60).assert_whole()
        assert made.node['a'].statistics()['counters']['accel_in'] == 0
        assert far.accel['a'].show()['nodes'] == []
    assert made.node['b'].drops('accel_absent') == 0
