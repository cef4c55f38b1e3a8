# SPDX-License-Identifier: GPL-2.0-or-later
"""A machine outside the overlay causes no action and gets no answer. Malicious members cause no
action either (design.md 7). The attacker is on the Internet and may forge every address."""
import os
import random
import socket
import struct

import pytest

import wan
from lab import merged, PAPER, PATIENT, wait_for
from traffic import Tap, ethernet, mac_bytes

PORT = 5366
SEALED, LINK_VALUE = 2, 4  # flags
MALLORY = 3  # site number, behind the three of the paper
# The direct path is long and links are tolerant. Inagi therefore relays all frames, also on a busy
# machine.
TRIANGLE = merged(PAPER, {'strangers': ['mallory'], 'config': PATIENT,
                          'rtt_ms': {('fujisawa', 'seoul'): 200}})


def node_id(text):
    return socket.inet_aton(text)


def header(source, hops, at=0, kind=1, flags=0, vni=1, version=1):
    return bytes([version << 4 | kind, flags, len(hops) << 4 | at]) + vni.to_bytes(3, 'big') + \
        node_id(source) + b''.join(map(node_id, hops))


def checksum(data):
    total = sum(struct.unpack(f'!{len(data) // 2}H', data))
    while total >> 16:
        total = (total & 0xffff) + (total >> 16)
    return ~total & 0xffff


def datagram(payload, source, destination, to_site, source_port=PORT):
    """A frame on the Internet with the given addresses; UDP without a checksum."""
    udp = struct.pack('!HHHH', source_port, PORT, 8 + len(payload), 0) + payload
    ip = struct.pack('!BBHHHBBH4s4s', 0x45, 0, 20 + len(udp), 0, 0x4000, 64, 17, 0,
                     socket.inet_aton(source), socket.inet_aton(destination))
    ip = ip[:10] + struct.pack('!H', checksum(ip)) + ip[12:]
    return mac_bytes(wan.mac(to_site)) + mac_bytes(wan.mac(MALLORY)) + b'\x08\x00' + ip + udp


def udp_payload(frame):
    """Payload of a datagram with the LEON port, or None."""
    if frame[12:14] != b'\x08\x00' or frame[23] != 17:
        return None
    start = 14 + (frame[14] & 15) * 4
    ports = struct.unpack('!HH', frame[start:start + 4])
    length = struct.unpack('!H', frame[start + 4:start + 6])[0]
    return frame[start + 8:start + length] if PORT in ports else None


class Attack:
    """The triangle, an attacker, and captures at both."""

    def __init__(self, net):
        self.net = net
        self.victim, self.relay, self.far = (net.node[n] for n in ('fujisawa', 'inagi', 'seoul'))
        self.port = Tap(net.stranger['mallory'], 'wan0')
        self.address = [wan.ip4(i) for i in range(4)]

    def send(self, payload, source=None, to=0, **keys):
        self.port.send(datagram(payload, source or self.address[MALLORY], self.address[to], to,
                                **keys))

    def answers(self, within=0.5):
        """Answers to the attacker: UDP or ICMP, without neighbor discovery."""
        def unwanted(frame):
            return frame[12:14] == b'\x08\x00' and frame[23] in (1, 17)
        return self.port.frames(unwanted, until=10_000, within=within)

    def counted(self, reason, act, node=None, times=1):
        """The datagrams of `act` are dropped for the given reason."""
        node = node or self.victim
        before = node.drops(reason)
        act()
        wait_for(lambda: node.drops(reason) >= before + times, 5, f'drops {reason}')


@pytest.fixture
def attack(lab):
    net = lab(TRIANGLE).joined()
    net.wait_path('fujisawa', 'seoul', ['inagi', 'seoul'])
    net.settle_hosts('fujisawa', 'seoul')
    attack_ = Attack(net)
    yield attack_
    # After all attacks, all nodes run, all nodes reach each other, and no node knows Mallory.
    assert all(node.alive() for node in net.node.values())
    assert net.full_mesh()
    assert net.host['fujisawa'].ping(net.host['seoul'].ip4, within=10)
    for node in net.node.values():
        assert len(node.nodes()) == 3
    attack_.port.close()


def test_strangers_get_no_answer(attack):
    ids = [n.node_id for n in attack.net.node.values()]
    probes = [b'', b'\0', b'GET / HTTP/1.0\r\n\r\n', b'\x10' * 1400]
    for kind in range(16):
        for claimed in ('203.0.113.1', ids[1]):
            probes.append(header(claimed, [ids[0]], kind=kind) + os.urandom(200))
    probes += [header('203.0.113.1', [ids[0]], kind=4, flags=f) + b'\0' * 8 + os.urandom(80)
               for f in (0, 2)]
    for probe in probes:
        attack.send(probe, source_port=40000)
        attack.send(probe)
    assert not attack.answers()
    assert attack.victim.drops('bad_version') > 0


def test_a_relay_is_no_reflector(attack):
    fujisawa, inagi, seoul = (n.node_id for n in attack.net.node.values())
    before = attack.relay.counter('relayed_datagrams')
    ear = Tap(attack.net.node['seoul'].namespace, 'wan0')
    payload = b'please carry this' * 4
    # From the address of Mallory, with a foreign and with a private node-id.
    attack.counted('unknown_sender', node=attack.relay, act=lambda: attack.send(
        header(fujisawa, [inagi, seoul]) + payload, to=1))
    attack.counted('unknown_source', node=attack.relay, act=lambda: attack.send(
        header('203.0.113.9', [inagi, seoul]) + payload, to=1))
    # With a forged sender address. Only members know the value of a link.
    for hops in ([inagi, seoul], [inagi, '203.0.113.9']):
        for flags, value in ((0, b''), (SEALED, b''), (LINK_VALUE, bytes(8)),
                             (SEALED | LINK_VALUE, os.urandom(8))):
            for kind in (1, 4):
                attack.counted('bad_link_value', node=attack.relay,
                               act=lambda h=hops, f=flags, v=value, k=kind: attack.send(
                                   header(fujisawa, h, kind=k, flags=f) + v + payload,
                                   attack.address[0], to=1))
    assert attack.relay.counter('relayed_datagrams') - before < 20
    assert not ear.frames(lambda f: payload in f, within=0.3)
    assert not attack.answers(0.2)


@pytest.mark.parametrize('hops, at, reason', [
    (['F', 'S', 'F'], 0, 'path_loop'),
    (['S', 'F', 'S'], 1, 'path_loop'),
    (['I', 'F'], 1, 'path_loop'),
    (['S', 'F'], 0, 'not_next_hop'),
    (['F', 'S'], 1, 'not_next_hop'),
    (['S'], 0, 'not_next_hop'),
    (['F', '0.0.0.0'], 0, 'bad_header'),
    ([], 0, 'bad_header'),
    (['F'], 1, 'bad_header'),
    (['F', '1.1.1.1', '2.2.2.2', '3.3.3.3', '4.4.4.4'], 0, 'bad_header'),
])
def test_a_relay_that_lies_about_the_path_is_found_out(attack, hops, at, reason):
    """All datagrams seem to come from Inagi."""
    fujisawa, inagi, seoul = (n.node_id for n in attack.net.node.values())
    names = {'F': fujisawa, 'I': inagi, 'S': seoul}
    frame = ethernet('ff:ff:ff:ff:ff:ff', '02:ee:00:00:00:01', 0x88b6, b'forged')
    lie = header(inagi, [names.get(h, h) for h in hops], at=at) + frame
    ear = Tap(attack.net.host['fujisawa'].namespace, 'eth0')
    attack.counted(reason, lambda: attack.send(lie, attack.address[1]))
    assert not ear.frames(lambda f: b'forged' in f, within=0.2)


@pytest.mark.parametrize('change, reason', [
    (lambda d: bytes([0x21]) + d[1:], 'bad_version'),
    (lambda d: bytes([d[0]]) + b'\x80' + d[2:], 'bad_header'),
    (lambda d: d[:3] + b'\0\0\x09' + d[6:], 'wrong_vni'),
    # The address belongs to a member; the rest cannot be forged.
    (lambda d: d[:14] + b'short', 'bad_link_value'),
    (lambda d: bytes([d[0], SEALED]) + d[2:14] + b'short', 'seal_unknown_key'),
    (lambda d: bytes([d[0], LINK_VALUE]) + d[2:14] + bytes(7), 'truncated'),
    (lambda d: bytes([0x12]) + d[1:14] + b'\0\0\0\1\xff\xff\0\x10piece', 'bad_link_value'),
])
def test_malformed_datagrams_of_a_member_are_dropped(attack, change, reason):
    fujisawa, inagi, _ = (n.node_id for n in attack.net.node.values())
    frame = ethernet('ff:ff:ff:ff:ff:ff', '02:ee:00:00:00:01', 0x88b6, b'forged')
    datagram_ = change(header(inagi, [fujisawa]) + frame)
    before = attack.victim.drops()
    attack.send(datagram_, attack.address[1])

    def dropped():
        after = attack.victim.drops()
        return {k: after[k] - before[k] for k in after if after[k] > before[k]}
    assert reason in wait_for(dropped, 5)


def capture(attack, kind, n, site='inagi'):
    """Real datagrams of one kind between members, with sender and receiver."""
    ear = Tap(attack.net.node[site].namespace, 'wan0', outgoing=True)
    frames = ear.frames(lambda f: (udp_payload(f) or b'\0')[0] & 15 == kind, until=n, within=60)
    ear.close()
    assert len(frames) >= n
    return [(socket.inet_ntoa(f[26:30]), socket.inet_ntoa(f[30:34]), udp_payload(f)) for f in frames]


def test_replayed_control_messages_change_nothing(attack):
    caught = capture(attack, kind=4, n=30)
    control = {name: node.statistics()['control'] for name, node in attack.net.node.items()}
    before = {name: node.show('nodes')['nodes'] for name, node in attack.net.node.items()}
    for _ in range(3):
        for source, destination, payload in caught:
            attack.send(payload, source, attack.address.index(destination))

    def rejected():
        return sum(node.statistics()['control'][key] - control[name][key]
                   for name, node in attack.net.node.items()
                   for key in ('rx_replayed', 'rx_no_session')) >= 60
    wait_for(rejected, 5, 'replays are counted')
    assert not attack.answers(0.3)
    for name, node in attack.net.node.items():
        now = {n['node_id']: n for n in node.show('nodes')['nodes']}
        for old in before[name]:
            same = ('endpoint', 'state', 'incarnation')
            assert [now[old['node_id']][k] for k in same] == [old[k] for k in same]


def is_hello(frame):
    """A handshake: control, session 0."""
    payload = udp_payload(frame) or b'\0'
    start = 10 + 4 * (payload[2] >> 4) if len(payload) > 2 else 0
    return payload[0] & 15 == 4 and payload[start:start + 8] == bytes(8)


def test_a_recorded_handshake_opens_nothing_later(attack):
    """All HELLOs from the start of a node, replayed during a session and after the death of the
    node."""
    net, far = attack.net, attack.far
    ear = Tap(attack.net.node['seoul'].namespace, 'wan0', outgoing=True)
    before = net.lives('seoul')
    far.kill()
    far.start()
    caught = [(socket.inet_ntoa(f[26:30]), socket.inet_ntoa(f[30:34]), udp_payload(f))
              for f in ear.frames(is_hello, until=4, within=60)]
    ear.close()
    net.back('seoul', before)

    def replay():
        before = {name: n.statistics()['control'] for name, n in net.node.items() if n.alive()}
        for source, destination, payload in caught * 3:
            attack.send(payload, source, attack.address.index(destination))
            attack.send(payload, to=attack.address.index(destination))
        for name, control in before.items():
            wait_for(lambda n=name, c=control: net.node[n].statistics()['control'][
                'rx_messages'] > c['rx_messages'], 10)
        return before

    before = replay()
    for name, control in before.items():
        assert net.node[name].statistics()['control']['key_exchanges'] == control['key_exchanges']
    assert not attack.answers(0.3)
    incarnation = attack.victim.nodes()[far.node_id]['incarnation']
    far.kill()
    wait_for(lambda: attack.victim.state_of(far) == 'unreachable', 30)
    replay()
    # The answer to a replayed HELLO is not larger than the HELLO and makes no member.
    asked = sum(len(p) for _, _, p in caught) * 3
    answered = sum(len(udp_payload(f) or b'') for f in attack.answers(0.5))
    assert answered <= asked
    assert attack.victim.state_of(far) == 'unreachable'
    assert attack.victim.nodes()[far.node_id]['incarnation'] == incarnation
    far.start()
    net.attach('seoul')
    wait_for(net.full_mesh, 30)
    net.settle_hosts('fujisawa', 'seoul')


def test_captured_datagrams_from_elsewhere_do_not_move_a_node(attack):
    """Mallory replays datagrams from her address. No node may believe that a member moved."""
    for _, destination, payload in capture(attack, kind=4, n=30):
        attack.send(payload, to=attack.address.index(destination))
    assert not attack.answers()
    endpoints = {n['endpoint'] for node in attack.net.node.values() for n in node.nodes().values()}
    assert not any(e and e.startswith(attack.address[MALLORY] + ':') for e in endpoints)


def test_truncated_and_mutated_captures_do_no_harm(attack):
    attack.net.host['fujisawa'].namespace.start('ping', '-q', '-i', '0.05',
                                                attack.net.host['seoul'].ip4, stdout=-3)
    chance = random.Random(7)
    caught = capture(attack, 4, 10) + capture(attack, 1, 10)
    for source, destination, payload in caught:
        to = attack.address.index(destination)
        for length in range(0, len(payload), max(1, len(payload) // 40)):
            attack.send(payload[:length], source, to)
        for _ in range(40):
            mutated = bytearray(payload)
            for _ in range(chance.randint(1, 4)):
                mutated[chance.randrange(len(mutated))] = chance.randrange(256)
            attack.send(bytes(mutated), source, to)
    wait_for(lambda: sum(n.drops('truncated') for n in attack.net.node.values()) > 0, 5)
    assert not attack.answers(0.2)


def test_a_flood_from_strangers_does_not_stop_the_overlay(attack):
    fujisawa, inagi, _ = (n.node_id for n in attack.net.node.values())
    hello = header('203.0.113.1', [fujisawa], kind=4, flags=2) + bytes(8) + os.urandom(90)
    forged = header(inagi, [fujisawa], kind=4, flags=2) + bytes(8) + os.urandom(90)
    for _ in range(5000):
        attack.send(hello)
        attack.send(forged, attack.address[1])
    assert not attack.answers(0.3)
    assert attack.net.full_mesh()
