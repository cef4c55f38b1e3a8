# SPDX-License-Identifier: GPL-2.0-or-later
"""Tests of the WAN emulator. Upper bounds are loose, because a busy machine adds to every delay."""
import re
import statistics

import pytest

import ns
import wan
from lab import wait_for
from traffic import Stream, Tap, ethernet


@pytest.fixture
def net():
    emulator = wan.Wan()
    site = {}
    try:
        for name in ('a', 'b', 'c'):
            site[name] = ns.Namespace(name)
            emulator.add_site(name, site[name], v6=True)
        emulator.set_neighbors()
        yield emulator, site
    finally:
        emulator.close()
        for namespace in site.values():
            namespace.close()


def rtts(namespace, address, count=15, size=56):
    text = namespace.run('ping', '-c', count, '-i', '0.02', '-W', '1', '-s', size, address,
                         check=False).stdout
    return [float(ms) for ms in re.findall(r'time=([\d.]+) ms', text)]


@pytest.mark.parametrize('asked_ms', [4, 32, 100])
def test_rtt_is_what_was_asked(net, asked_ms):
    emulator, site = net
    emulator.rtt('a', 'b', asked_ms * wan.MS)
    for address in (wan.ip4(1), wan.ip6(1)):
        def right():
            seen = rtts(site['a'], address)
            # A busy machine adds delay and never removes delay.
            assert min(seen, default=asked_ms) >= asked_ms
            return len(seen) == 15 and min(seen) < 1.5 * asked_ms
        wait_for(right, 10, f'{asked_ms} ms to {address}')


def test_each_direction_and_pair_has_its_own_delay(net):
    emulator, site = net
    emulator.link('a', 'b', delay_us=30 * wan.MS)
    emulator.both('a', 'c', delay_us=5 * wan.MS)
    one_way = {}
    for source, number, sink in (('a', 1, 'b'), ('b', 0, 'a'), ('a', 2, 'c')):
        stream = Stream(site[source], site[sink], wan.ip4(number)).start()
        stream.arrived(10)
        one_way[source + sink] = statistics.median(stream.stop().latency())
    assert one_way['ab'] >= 0.030
    assert one_way['ba'] < 0.015
    assert 0.005 <= one_way['ac'] < 0.030


def test_loss_is_counted_and_about_what_was_asked(net):
    emulator, site = net
    emulator.link('a', 'b', loss_permille=100)
    stream = Stream(site['a'], site['b'], wan.ip4(1), interval=0.0005).start()
    wait_for(lambda: len(stream.sent) >= 1500, 20)
    stream.stop(1.5)
    counted = emulator.count('a', 'b')
    # The kernel sends frames too (multicast listener reports).
    assert stream.lost <= counted['lost'] <= stream.lost + 10
    assert 0.05 < stream.lost / len(stream.sent) < 0.15


def test_losses_come_in_bursts(net):
    emulator, site = net
    emulator.link('a', 'b', loss_permille=100, burst=5)
    stream = Stream(site['a'], site['b'], wan.ip4(1), interval=0.0005).start()
    wait_for(lambda: len(stream.sent) >= 4000, 20)
    stream.stop(1.5)
    lost = [number not in stream.received for number in range(len(stream.sent))]
    bursts = sum(now and not before for before, now in zip([False, *lost], lost))
    assert 0.05 < sum(lost) / len(lost) < 0.15
    assert 3 < sum(lost) / bursts < 8


def test_mtu_is_a_black_hole(net):
    emulator, site = net
    emulator.link('a', 'b', mtu=1400)
    assert len(rtts(site['a'], wan.ip4(1), 3, 1400 - 28)) == 3
    assert not rtts(site['a'], wan.ip4(1), 2, 1400 - 27)
    assert emulator.count('a', 'b')['too_big'] == 2


def test_links_change_while_traffic_runs(net):
    emulator, site = net
    stream = Stream(site['a'], site['b'], wan.ip4(1)).start()
    stream.arrived(10)
    emulator.both('a', 'b', up=False)
    sent = len(stream.sent)
    wait_for(lambda: len(stream.sent) > sent + 20, 5)
    emulator.both('a', 'b', up=True, delay_us=20 * wan.MS)
    stream.arrived(20)
    stream.stop()
    assert 18 <= stream.lost <= len(stream.sent) - 30
    assert stream.latency()[-1] >= 0.020
    assert emulator.count('a', 'b')['down'] >= 18


def test_rate_spaces_packets(net):
    emulator, site = net
    emulator.link('a', 'b', rate_kbit=1000, queue_us=10_000_000)
    # 1208 bytes of UDP payload make frames of 1250 bytes: 10 ms each at 1 Mbit/s.
    stream = Stream(site['a'], site['b'], wan.ip4(1), interval=0.001, size=1208).start()
    wait_for(lambda: len(stream.sent) >= 50, 10)
    stream.stop(5)
    arrivals = [stream.received[n] for n in range(50)]
    assert arrivals[49] - arrivals[0] >= 0.45


def test_full_queue_drops_the_tail(net):
    emulator, site = net
    emulator.link('a', 'b', rate_kbit=1000, queue_us=50_000)
    stream = Stream(site['a'], site['b'], wan.ip4(1), interval=0.001, size=1208).start()
    wait_for(lambda: len(stream.sent) >= 100, 10)
    stream.stop(1.5)
    assert 0 < stream.lost <= emulator.count('a', 'b')['overflow'] <= stream.lost + 10


def test_a_shared_line_is_shared(net):
    """Two links of 1 Mbit/s each, or a shared link: packets of b delay packets of c."""
    emulator, site = net
    emulator.link('*', 'a', rate_kbit=1000, queue_us=10_000_000)

    # A neighbor solicitation of c waits for a millisecond.
    def is_empty():
        return emulator.count('c', 'a')['waits_us'] == 0
    wait_for(is_empty, 10, 'nothing of c waits')
    emulator.link('*', 'a', shares_line=True)
    stream = Stream(site['b'], site['a'], wan.ip4(0), interval=0.001, size=1208).start()
    # Even with a slow sender, the link needs 10 ms for a packet.
    wait_for(lambda: emulator.count('c', 'a')['waits_us'] > 100_000, 10, 'what b sends stands there')
    emulator.link('c', 'a', shares_line=False)
    wait_for(is_empty, 5, 'nothing of c waits on its own line')
    stream.stop(0.1)


def test_duplicates_and_reordering(net):
    emulator, site = net
    emulator.link('a', 'b', duplicate_permille=1000)
    emulator.link('a', 'c', reorder_permille=200)
    twice = Stream(site['a'], site['b'], wan.ip4(1)).start()
    mixed = Stream(site['a'], site['c'], wan.ip4(2), interval=0.001).start()
    twice.arrived(20)
    mixed.arrived(200)
    twice.stop(5, copies=2)
    mixed.stop(5)
    assert len(twice.order) == 2 * len(twice.sent)
    assert mixed.lost == 0 and mixed.order != sorted(mixed.order)


def test_jitter_keeps_the_order(net):
    emulator, site = net
    emulator.link('a', 'b', delay_us=2 * wan.MS, jitter_us=10 * wan.MS)
    stream = Stream(site['a'], site['b'], wan.ip4(1), interval=0.001).start()
    stream.arrived(200)
    stream.stop()
    assert stream.order == sorted(stream.order)
    assert max(stream.latency()) - min(stream.latency()) > 0.002


def test_broadcast_reaches_all_others_once_and_unknown_unicast_nobody(net):
    _, site = net
    taps = {name: Tap(site[name], 'wan0') for name in site}
    for destination, expected in (('ff:ff:ff:ff:ff:ff', 1), ('02:4c:00:00:00:63', 0)):
        taps['a'].send(ethernet(destination, wan.mac(0), 0x88b6, b'hello'))

        def ours(frame):
            return frame[12:14] == b'\x88\xb6'
        assert not taps['a'].frames(ours, within=0.1)
        for name in ('b', 'c'):
            seen = taps[name].frames(ours, until=expected or 2, within=10 if expected else 0.2, linger=0.2)
            assert len(seen) == expected
    for tap in taps.values():
        tap.close()


@pytest.mark.parametrize('line', ['', 'nonsense', 'link a b', 'link a x up 1', 'link a b up',
                                  'link a b speed 3', 'link a b mtu -1', 'link a b mtu 1x',
                                  'count a', 'count a z', 'site a /proc/self/ns/net w 1500',
                                  'site z /nowhere w 1500', 'site z'])
def test_bad_commands_are_refused_and_do_no_harm(net, line):
    emulator, site = net
    with pytest.raises(RuntimeError, match='error'):
        emulator.command(*line.split())
    assert rtts(site['a'], wan.ip4(1), 1)


def test_ends_with_its_input(net):
    emulator, site = net
    emulator.process.stdin.close()
    assert emulator.process.wait(30) == 0
    wait_for(lambda: 'wan0' not in site['a'].run('ip', 'link').stdout, 5)
