# SPDX-License-Identifier: GPL-2.0-or-later
"""Sealed frames on the Internet and at relays are unreadable. Forged, repeated and redirected
datagrams fail. A change of keys or cipher loses no frame (design.md 7)."""
import os

import pytest

from lab import PAPER, PATIENT, line_up, merged, wait_for
from test_strangers import LINK_VALUE, SEALED, TRIANGLE, Attack, node_id, udp_payload
from traffic import Tap, ethernet, mac_bytes

TEST_TYPE = 0x88b6
DISABLED = {'encryption': {'disable': True}}
PROBLEMS = ('bad_link_value', 'not_sealed', 'seal_unknown_key', 'seal_not_authentic',
            'seal_replayed', 'no_key')


@pytest.fixture
def attack(lab):
    made = []

    def make(topology=TRIANGLE):
        net = lab(topology).joined()
        net.wait_path('fujisawa', 'seoul', ['inagi', 'seoul'])
        net.wait_path('seoul', 'fujisawa', ['inagi', 'fujisawa'])
        net.settle_hosts('fujisawa', 'seoul')
        made.append(Attack(net))
        return made[-1]
    yield make
    for attack_ in made:
        attack_.port.close()


def data(frame):
    """The LEON datagram of a frame on the Internet, for data only."""
    payload = udp_payload(frame)
    return payload if payload and payload[0] & 15 < 4 else None


def header_len(datagram):
    return 10 + 4 * (datagram[2] >> 4)


def link_value(datagram):
    at = header_len(datagram)
    return datagram[at:at + 8] if datagram[1] & LINK_VALUE else None


def epoch(datagram):
    return datagram[header_len(datagram) + (8 if datagram[1] & LINK_VALUE else 0)] >> 4


def problems(net):
    return {(name, reason): count for name, node in net.node.items()
            for reason, count in node.drops().items() if reason in PROBLEMS and count}


class Ears:
    """Captures the Internet side of the nodes while a frame travels from host to host."""

    def __init__(self, net, *names):
        self.tap = {n: Tap(net.node[n].namespace, 'wan0', outgoing=True) for n in names}

    def datagrams(self, name, within=0.4):
        return [d for d in map(data, self.tap[name].frames(within=within, until=100_000)) if d]


def send_marked(net, a, b, n=20, size=300):
    """n frames with a mark, received by the host at b; returns the mark."""
    mark = os.urandom(8)
    ear = Tap(net.host[b].namespace, 'eth0')
    port = Tap(net.host[a].namespace, 'eth0')
    for _ in range(n):
        port.send(ethernet(net.host[b].mac, net.host[a].mac, TEST_TYPE, mark * (size // 8)))
    assert len(ear.frames(lambda f: mark in f, until=n, within=15)) == n
    return mark


@pytest.mark.parametrize('cipher', ['aes256gcm', 'chacha20poly1305'])
def test_nobody_between_reads_frames(attack, cipher):
    net = attack(merged(TRIANGLE, {'config': {'encryption': {'cipher': cipher}}})).net
    ears = Ears(net, 'fujisawa', 'inagi', 'seoul')
    # Small, of full size, and in fragments.
    marks = [send_marked(net, 'fujisawa', 'seoul', size=size) for size in (64, 1200, 1496)]
    secret = marks + [mac_bytes(h.mac) for h in net.host.values()]
    for name in net.node:
        seen = ears.datagrams(name)
        assert len(seen) >= 20
        assert {d[0] & 15 for d in seen} >= {1, 2}
        assert all(d[1] & SEALED for d in seen)
        for datagram in seen:
            assert not any(s in datagram for s in secret)
    assert net.node['inagi'].counter('relayed_datagrams') > 0
    others = [n for n in net.node['fujisawa'].nodes().values() if n['state'] != 'self']
    assert {n['encryption'] for n in others} == {cipher}


def test_disabled_frames_carry_the_value_of_each_link(attack):
    net = attack(merged(TRIANGLE, {'config': DISABLED})).net
    ears = Ears(net, 'fujisawa', 'seoul')
    mark = send_marked(net, 'fujisawa', 'seoul')
    values = {}
    for name in ears.tap:
        carriers = [d for d in ears.datagrams(name) if mark in d]
        assert carriers and not any(d[1] & SEALED for d in carriers)
        values[name] = {link_value(d) for d in carriers}
        # A new session of the link has another value. Datagrams of one session share a value.
        assert len(values[name]) <= 2 and None not in values[name]
    assert not values['fujisawa'] & values['seoul'], 'the relay puts in that of the next link'
    others = [n for n in net.node['fujisawa'].nodes().values() if n['state'] != 'self']
    assert {n['encryption'] for n in others} == {'none'}
    assert not problems(net)


def test_without_a_secret_nothing_is_added(lab):
    net = lab(line_up(2, secret=None, config=PATIENT)).joined()
    net.settle_hosts('n0', 'n1')
    ears = Ears(net, 'n0')
    mark = send_marked(net, 'n0', 'n1')
    carriers = [d for d in ears.datagrams('n0') if mark in d]
    assert carriers and not any(d[1] & (SEALED | LINK_VALUE) for d in carriers)


def captured(attack_, source='inagi', destination='seoul'):
    """A sealed frame with a mark on a direct path, received by the host."""
    net = attack_.net
    net.settle_hosts(source, destination)
    ear = Tap(net.node[destination].namespace, 'wan0')
    mark = os.urandom(8)
    host = Tap(net.host[destination].namespace, 'eth0')
    Tap(net.host[source].namespace, 'eth0').send(
        ethernet(net.host[destination].mac, net.host[source].mac, TEST_TYPE, mark * 9))
    assert host.frames(lambda f: mark in f, within=15)
    length = 14 + 24 + 14 + 72  # header, seal, Ethernet, payload
    found = ear.frames(lambda f: len(data(f) or b'') == length, within=15)
    assert found
    return data(found[0]), host, mark


def test_what_is_repeated_or_damaged_is_dropped(attack):
    attack_ = attack()
    net = attack_.net
    seoul, inagi = net.node['seoul'], attack_.address[1]
    datagram, host, mark = captured(attack_)

    def send(payload):
        attack_.send(payload, inagi, to=2)
    attack_.counted('seal_replayed', lambda: [send(datagram) for _ in range(5)], seoul, times=5)
    start = header_len(datagram)
    for at in (start + 7, start + 8, start + 40, len(datagram) - 1):
        for bit in (1, 128):
            changed = bytearray(datagram)
            changed[at] ^= bit
            before = seoul.drops()
            send(bytes(changed))
            # The replay check precedes the check of the seal.
            wait_for(lambda b=before: sum(seoul.drops(r) - b[r] for r in PROBLEMS) > 0, 5,
                     f'byte {at} changed')
    other_key = bytearray(datagram)
    other_key[start] ^= 0x80
    attack_.counted('seal_unknown_key', lambda: send(bytes(other_key)), seoul)
    in_clear = bytes([datagram[0], 0]) + datagram[2:]
    attack_.counted('bad_link_value', lambda: send(in_clear), seoul)
    # The destination is another node. The path length is the same, and the seal covers the header.
    redirected = datagram[:10] + node_id(net.node['fujisawa'].node_id) + datagram[14:]
    before = net.node['fujisawa'].drops()
    attack_.send(redirected, inagi, to=0)
    wait_for(lambda: sum(net.node['fujisawa'].drops(r) - before[r] for r in PROBLEMS) > 0, 5,
             'a redirected datagram is dropped')
    assert not host.frames(lambda f: mark in f, within=0.3)
    assert seoul.drops('seal_not_authentic') > 0
    assert not attack_.answers(0.2)


def test_a_stranger_cannot_forge_frames_in_clear(attack):
    """With `encryption disable`, from the address of a member."""
    attack_ = attack(merged(TRIANGLE, {'config': DISABLED}))
    net = attack_.net
    ear = Tap(net.host['seoul'].namespace, 'eth0')
    inagi, seoul = (node_id(net.node[n].node_id) for n in ('inagi', 'seoul'))
    frame = ethernet('ff:ff:ff:ff:ff:ff', '02:ee:00:00:00:01', TEST_TYPE, b'forged forged')
    for flags, value in ((0, b''), (LINK_VALUE, bytes(8)), (LINK_VALUE, os.urandom(8))):
        datagram = bytes([0x11, flags, 0x10, 0, 0, 1]) + inagi + seoul + value + frame
        attack_.counted('bad_link_value',
                        lambda d=datagram: attack_.send(d, attack_.address[1], to=2),
                        net.node['seoul'])
    assert not ear.frames(lambda f: b'forged' in f, within=0.3)


@pytest.mark.parametrize('first, second, agreed', [
    ({'disable': True}, {}, {'aes256gcm', 'chacha20poly1305'}),
    ({'disable': True}, {'cipher': 'chacha20poly1305'}, {'chacha20poly1305'}),
    ({}, {'cipher': 'aes256gcm'}, {'aes256gcm'}),
    ({'cipher': 'aes256gcm'}, {'cipher': 'chacha20poly1305'}, {'chacha20poly1305'}),
])
def test_different_configurations_agree(lab, first, second, agreed):
    """One configuration with sealing is enough."""
    topology = line_up(2, config=PATIENT)
    topology['sites'] = {'n0': {'config': {'encryption': first}},
                         'n1': {'config': {'encryption': second}}}
    net = lab(topology).joined()
    net.settle_hosts('n0', 'n1')
    ears = Ears(net, 'n0')
    for a, b in (('n0', 'n1'), ('n1', 'n0')):
        mark = send_marked(net, a, b)
        seen = ears.datagrams('n0')
        assert seen and all(d[1] & SEALED and mark not in d for d in seen)

    def ciphers():
        return {net.node[a].nodes()[net.node[b].node_id]['encryption']
                for a, b in (('n0', 'n1'), ('n1', 'n0'))}
    wait_for(lambda: len(ciphers()) == 1, 10, 'both say the same')
    assert ciphers() <= agreed


def test_new_keys_cost_no_frame(lab):
    net = lab(merged(PAPER, {'config': {**PATIENT, 'encryption': {'rekey-time': 1}}})).joined()
    net.wait_path('fujisawa', 'seoul', ['inagi', 'seoul'])
    ear = Ears(net, 'fujisawa')
    stream = net.stream('fujisawa', 'seoul', interval=0.002)
    epochs = []

    def changed():
        for datagram in ear.datagrams('fujisawa', within=0.2):
            if datagram[6:10] == node_id(net.node['fujisawa'].node_id):
                now = epoch(datagram), datagram[header_len(datagram) - 4:header_len(datagram)]
                if not epochs or epochs[-1] != now:
                    epochs.append(now)
        return len(epochs) >= 5
    wait_for(changed, 60, 'data is seen under five keys')
    stream.stop_whole()
    assert not problems(net)


def test_another_cipher_or_none_costs_no_frame(lab):
    net = lab(line_up(2, config=PATIENT)).joined()
    stream = net.stream('n0', 'n1', interval=0.002)
    n0, n1 = net.node['n0'], net.node['n1']
    for encryption, seen in (({'cipher': 'chacha20poly1305'}, 'chacha20poly1305'),
                             ({'disable': True}, 'none'),
                             ({'cipher': 'aes256gcm'}, 'aes256gcm')):
        for node in (n0, n1):
            assert node.reload(encryption=encryption)['restart_keys'] == []
        wait_for(lambda s=seen: n0.nodes()[n1.node_id]['encryption'] == s and
                 n1.nodes()[n0.node_id]['encryption'] == s, 40, f'both say {seen}')
        stream.arrived(50)
    stream.stop_whole()
    assert not problems(net)
