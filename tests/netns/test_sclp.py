# SPDX-License-Identifier: GPL-2.0-or-later
"""leon-sclp: VXLAN over native SCLP between two namespaces, and with handmade segments."""
import ctypes
import json
import os
import random
import shutil
import socket
import struct
import subprocess
import time

import pytest

import ns
import sclp
from node import find_program, wait_for
from traffic import Tap, ethernet

TEST_TYPE = 0x88b6
PIDFD_GETFD = 438
SO_ATTACH_FILTER, SO_DETACH_FILTER = 26, 27
BROADCAST = 'ff:ff:ff:ff:ff:ff'
pytestmark = pytest.mark.skipif(ns.host_uid != 0, reason='a raw socket of the lab wants root')


@pytest.fixture
def pair():
    made = []

    def make(*args, **keys):
        made.append(sclp.Pair(*args, **keys))
        return made[-1]
    yield make
    for one in made:
        one.close()


@pytest.mark.parametrize('family', [4, 6])
def test_iperf(pair, family):
    if not shutil.which('iperf3'):
        pytest.skip('no iperf3')
    net = pair(family)
    wait_for(lambda: net.a.ping(net.b.ip4) and net.a.ping(net.b.ip6), 20, 'they reach each other')
    server = net.b.namespace.start('iperf3', '-s', '-1', stdout=subprocess.PIPE)
    wait_for(lambda: net.b.namespace.run('ss', '-Hltn', 'sport', '=', ':5201').stdout, 10)
    report = json.loads(net.a.namespace.run('iperf3', '-J', '-c', net.b.ip4, '-n', '50M').stdout)
    server.wait(20)
    # The last bytes of the client may be in flight at the end.
    assert report['end']['sum_sent']['bytes'] >= 50_000_000
    assert report['end']['sum_received']['bytes'] >= 40_000_000
    sent, received = net.a.stop(), net.b.stop()
    # TCP passed super-frames to the TAP: one payload and many segments for each.
    assert sent['tx_segments'] > 5 * sent['tx_payloads']
    assert received['rx_bad'] == received['contradictory'] == 0
    assert received['rx_runs'] < received['rx_segments']
    print(f'{report["end"]["sum_received"]["bits_per_second"] / 1e6:.0f} Mbit/s')


@pytest.mark.parametrize('family', [4, 6])
@pytest.mark.parametrize('mtu', [1500, 1300])
def test_payload_sweep(pair, family, mtu):
    """50 to 1500 bytes of UDP and beyond, in both directions: no size is a boundary."""
    net = pair(family, mtu)
    wait_for(lambda: net.a.ping(net.b.ip4), 20, 'they reach each other')
    sizes = [*range(50, 1501, 50), *range(mtu - 110, mtu - 20), 2000, 9000, 30000, 65000]
    echo = ('import socket\ns=socket.socket(socket.AF_INET,socket.SOCK_DGRAM)\n'
            's.setsockopt(1,33,1<<20)\ns.bind(("",5000))\nprint("ready",flush=True)\n'
            'while True:\n d,a=s.recvfrom(65536)\n s.sendto(d,a)\n')
    server = net.b.namespace.start('/usr/bin/python3', '-c', echo, stdout=subprocess.PIPE)
    server.stdout.readline()
    client = ('import os,socket,sys\ns=socket.socket(socket.AF_INET,socket.SOCK_DGRAM)\n'
              f's.settimeout(2)\ns.connect(("{net.b.ip4}",5000))\n'
              'for n in map(int,sys.argv[1:]):\n d=os.urandom(n)\n'
              ' for i in range(5):\n'
              '  s.send(d)\n'
              '  try:\n'
              '   while s.recv(65536)!=d: pass\n'
              '   break\n'
              '  except TimeoutError: pass\n'
              ' else: sys.exit(f"{n} bytes did not come back")\n')
    result = net.a.namespace.run('/usr/bin/python3', '-c', client, *sizes, timeout=120, check=False)
    assert result.returncode == 0, result.stderr
    assert net.b.counters()['rx_bad'] == 0


@pytest.mark.parametrize('family', [4, 6])
def test_what_is_sent_is_what_was_published(pair, family):
    net = pair(family)
    wire = sclp.Wire(net.b, net.a)
    tap = Tap(net.a.namespace, 'sclp0')
    mss = 1500 - (20 if family == 4 else 40) - 12
    # No frame of the MTU of the TAP fits a segment, because of the VXLAN and Ethernet headers.
    frame = ethernet(BROADCAST, net.a.mac, TEST_TYPE, os.urandom(1486))
    payload = sclp.vxlan(frame)
    tap.send(frame)
    seen = []
    while sum(len(s.payload) for s in seen) < len(payload):
        segment = sclp.decode(wire.receive())
        if not seen and not (segment.first and frame[:14] in segment.payload):
            continue  # neighbor discovery
        if seen and segment.identification != seen[0].identification:
            continue
        seen.append(segment)
    assert seen == sclp.cut(payload, mss, seen[0].identification, seen[0].source)
    assert seen[0].dest == 4789 and seen[0].source >= 49152
    assert [s.remaining for s in seen] == [len(payload) - mss, 0]
    tap.close()
    wire.close()


def test_any_order_is_delivered_and_damage_is_not(pair):
    net = pair()
    wire, tap = sclp.Wire(net.a, net.b), Tap(net.b.namespace, 'sclp0')
    rng = random.Random(1)

    def arrives(segments, frame):
        for segment in segments:
            wire.send(segment)
        return tap.frames(lambda f: f == frame, within=10)
    for turn in range(20):
        frame = ethernet(BROADCAST, '02:5c:00:00:00:77', TEST_TYPE, rng.randbytes(1400))
        segments = [sclp.encode(s) for s in sclp.cut(sclp.vxlan(frame), 400, 2 * turn)]
        rng.shuffle(segments)
        assert arrives(segments, frame), turn
    # The kernel trims padding after the packet. leon-sclp must detect damage.
    frame = ethernet(BROADCAST, '02:5c:00:00:00:77', TEST_TYPE, rng.randbytes(1400))
    before = net.b.counters()
    for turn in range(20):
        segments = [bytearray(sclp.encode(s)) for s in
                    sclp.cut(sclp.vxlan(frame), 400, 1000 + 2 * turn)]
        victim = rng.choice(segments)
        victim[rng.randrange(len(victim))] ^= 1 << rng.randrange(8)
        for segment in segments:
            wire.send(segment)
    wait_for(lambda: net.b.counters()['rx_bad'] == before['rx_bad'] + 20, 10, 'damage is counted')
    # rx_frames would also count frames that the kernel of the other end sends.
    assert not tap.frames(lambda f: len(f) > 1000, within=0.5)
    # Another VNI, another port.
    wire.send(sclp.encode(sclp.cut(sclp.vxlan(frame, 8), 1468, 5000)[0]))
    wire.send(sclp.encode(sclp.cut(sclp.vxlan(frame), 1468, 5002)[0]._replace(dest=8472)))
    wait_for(lambda: net.b.counters()['rx_other_port'] == 1
             and net.b.counters()['rx_other_vni'] == 1, 10)
    tap.close()
    wire.close()


def test_half_open_payloads_cost_little_and_die(pair):
    net = pair()
    wait_for(lambda: net.a.ping(net.b.ip4), 20, 'they reach each other')
    resident = net.b.resident()
    wire = sclp.Wire(net.a, net.b)
    segment = sclp.Segment(50000, sclp.PORT, 0, False, 1000, bytes(64))
    begin = time.monotonic()
    for i in range(65536):
        wire.send(sclp.encode(segment._replace(identification=2 * i)))
        if i % 8192 == 0:
            # The ping waits behind the segments or meets a full buffer.
            wait_for(lambda: net.a.ping(net.b.ip4), 10, 'what is whole passes meanwhile')
    assert net.b.resident() - resident < 16 << 20
    counters = net.b.counters()
    assert counters['waiting'] + counters['expired'] + counters['evicted'] > 1000
    wait_for(lambda: net.b.counters()['waiting'] == 0, 10, 'all are gone')
    print(f'{time.monotonic() - begin:.1f} s, {net.b.resident() - resident} bytes')
    wire.close()


def test_the_path_mtu_is_followed(pair):
    """The route gets a smaller MTU while frames pass, and the old one: no option, no restart."""
    net = pair()
    wait_for(lambda: net.a.ping(net.b.ip4, size=1472), 20, 'large frames pass')
    net.a.namespace.run('ip', 'route', 'replace', '192.0.2.0/24', 'dev', 'eth0', 'mtu', 1280)
    wait_for(lambda: net.a.ping(net.b.ip4, size=1472), 20, 'large frames pass again')

    def longest():
        wire = sclp.Wire(net.b, net.a)
        net.a.ping(net.b.ip4, size=1472)
        found = len(wire.receive())
        wire.close()
        return found
    assert longest() <= 1280 - 20
    net.a.namespace.run('ip', 'route', 'replace', '192.0.2.0/24', 'dev', 'eth0')
    wait_for(lambda: longest() == 1500 - 20, 20, 'segments are as long as before')


def socket_of(process, family, proto):
    """A socket of another process."""
    pidfd = os.pidfd_open(process.pid)
    for name in os.listdir(f'/proc/{process.pid}/fd'):
        if os.readlink(f'/proc/{process.pid}/fd/{name}').startswith('socket:'):
            number = ctypes.CDLL(None).syscall(PIDFD_GETFD, pidfd, int(name), 0)
            found = socket.socket(fileno=number)
            if (found.family, found.proto) == (family, proto):
                os.close(pidfd)
                return found
            found.close()
    raise AssertionError('no such socket')


def test_the_path_mtu_is_known_after_a_moment_without_route(pair):
    net = pair(mtu=1400)
    wait_for(lambda: net.a.ping(net.b.ip4, size=1472), 20, 'large frames pass')
    raw = socket_of(net.a.process, socket.AF_INET, sclp.PROTOCOL)
    net.a.namespace.ip('link set eth0 down')
    # Each release of the locked socket searches for a route. Before Linux 6.7, so does IP_MTU.
    raw.setsockopt(socket.SOL_SOCKET, socket.SO_BROADCAST, 1)
    raw.close()
    time.sleep(1.5)
    net.a.namespace.ip('link set eth0 up')
    wait_for(lambda: net.a.ping(net.b.ip4, size=1472), 20, 'large frames pass again')


def test_a_deleted_interface_ends_the_tunnel(pair):
    net = pair()
    process = net.a.process
    netlink = socket_of(process, socket.AF_NETLINK, socket.NETLINK_ROUTE)
    # A BPF program that accepts no byte: each request to the kernel fails after 2 s.
    refuse = ctypes.create_string_buffer(struct.pack('HBBI', 6, 0, 0, 0))
    netlink.setsockopt(socket.SOL_SOCKET, SO_ATTACH_FILTER, struct.pack('HL', 1, ctypes.addressof(refuse)))
    with pytest.raises(subprocess.TimeoutExpired):
        process.wait(5)
    netlink.setsockopt(socket.SOL_SOCKET, SO_DETACH_FILTER, 0)
    netlink.close()
    wait_for(lambda: net.a.ping(net.b.ip4), 20, 'frames pass')
    net.a.namespace.ip('link del sclp0')
    assert process.wait(20) == 1


@pytest.mark.parametrize('words, text', [
    ([], 'give --local and --peer'),
    (['--local', '192.0.2.1', '--peer', '2001:db8::1'], 'of one family'),
    (['--local', 'x', '--peer', '192.0.2.1'], '--local cannot be "x"'),
    (['--local', '192.0.2.1', '--peer', '192.0.2.2', '--vni', '16777216'], '--vni cannot be'),
    (['--local', '192.0.2.1', '--peer', '192.0.2.2', '--mtu', '67'], '--mtu cannot be'),
    (['--local', '192.0.2.1', '--peer', '192.0.2.2', 'more'], 'unexpected argument "more"'),
])
def test_wrong_words(words, text):
    done = subprocess.run([find_program('leon-sclp', 'leon-sclp'), *words], capture_output=True,
                          text=True, timeout=20, check=False)
    assert done.returncode == 2 and text in done.stderr


def capture():
    """The exchange of doc/sclp.md, as hex: an echo of 200 bytes with an MTU of 128. Not a test."""
    net = sclp.Pair(more=('--mtu', 128))
    net.a.namespace.ip(f'neigh replace {net.b.ip4} lladdr {net.b.mac} dev sclp0')
    net.b.namespace.ip(f'neigh replace {net.a.ip4} lladdr {net.a.mac} dev sclp0')
    with net.b.namespace:
        ear = socket.socket(socket.AF_INET, socket.SOCK_RAW, sclp.PROTOCOL)
    ear.settimeout(5)
    net.a.ping(net.b.ip4, size=200)
    seen = []
    while len(seen) < 3:
        packet = ear.recv(4096)
        size = struct.unpack('!H', packet[2:4])[0]
        if size in (128, 90):
            seen.append(packet.hex())
    net.close()
    return seen
