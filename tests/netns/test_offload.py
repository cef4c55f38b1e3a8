# SPDX-License-Identifier: GPL-2.0-or-later
"""Receivers get exactly the bytes that senders sent, regardless of kernels and network. The tests
run with all offloads and without each single offload. The network loses, duplicates and reorders,
and sizes and headers include special cases of offloads."""
import fcntl
import hashlib
import json
import os
import struct
import subprocess
import time

import pytest

import ns
from lab import PATIENT, line_up, wait_for

BULK = 3_000_000
# Payloads around the limits of offloads: empty, one byte, odd sizes, a full frame, splits.
SIZES = (0, 1, 2, 17, 100, 101, 575, 576, 699, 700, 701, 1000, 1371, 1372, 1373, 1471, 1472)

# Both programs print the SHA-256 of the sent or received bytes, in the order of the stream.
SERVE = '''
import hashlib, os, socket, sys
family, address, size, tos = int(sys.argv[1]), sys.argv[2], int(sys.argv[3]), int(sys.argv[4])
s = socket.create_server((address, 5000), family=family)
print("ready", flush=True)
c, _ = s.accept()
if tos and family == socket.AF_INET:
    c.setsockopt(socket.IPPROTO_IP, socket.IP_TOS, tos)
h, sent = hashlib.sha256(), 0
while sent < size:
    # Writes of any length, so that segments are not all full.
    data = os.urandom(1 + int.from_bytes(os.urandom(2), "big"))[:size - sent]
    c.sendall(data); h.update(data); sent += len(data)
c.close()
print(h.hexdigest())
'''
FETCH = '''
import hashlib, socket, sys
s = socket.create_connection((sys.argv[1], 5000), timeout=60)
h = hashlib.sha256()
while True:
    data = s.recv(65536)
    if not data:
        break
    h.update(data)
print(h.hexdigest())
'''
# Numbered datagrams with predictable bytes. The sender repeats all datagrams until each has
# arrived, because the network may lose some.
SINK = '''
import json, random, socket, sys
family, sizes = int(sys.argv[1]), json.loads(sys.argv[2])
s = socket.socket(family, socket.SOCK_DGRAM)
s.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4 << 20)
s.bind(("", 5001))
s.settimeout(60)
print("ready", flush=True)
missing, wrong = set(range(len(sizes))), 0
while missing:
    data, peer = s.recvfrom(70000)
    i = data[0]
    if data == bytes([i]) + random.Random(i).randbytes(sizes[i]):
        missing.discard(i)
    else:
        wrong += 1
    if not missing:
        s.sendto(b"done", peer)
print(wrong)
'''
SPRAY = '''
import json, random, socket, sys
family, address, sizes = int(sys.argv[1]), sys.argv[2], json.loads(sys.argv[3])
s = socket.socket(family, socket.SOCK_DGRAM)
s.connect((address, 5001))
s.settimeout(0.2)
for attempt in range(300):
    # A lost answer and a closed sink: ICMP reports the port at any later call.
    try:
        for i, n in enumerate(sizes):
            s.send(bytes([i]) + random.Random(i).randbytes(n))
        s.recv(10)
        break
    except (TimeoutError, ConnectionRefusedError):
        pass
'''
PYTHON = ('/usr/bin/python3', '-c')
AF = {4: 2, 6: 10}
TUNSETIFF, TUNSETOFFLOAD = 0x400454ca, 0x400454d0
IFF_TAP_NO_PI_VNET_HDR = 0x0002 | 0x1000 | 0x4000
TUN_F_CSUM, TUN_F_USO4_6 = 0x01, 0x60


def address(host, version):
    return host.ip4 if version == 4 else host.ip6


def stream(net, source, sink, version, size=BULK, tos=0):
    """A TCP connection. Both ends report the same digest."""
    host, far = net.host[source], net.host[sink]
    server = host.namespace.start(*PYTHON, SERVE, AF[version], '' if version == 4 else '::', size,
                                  tos, stdout=subprocess.PIPE, text=True)
    assert server.stdout.readline() == 'ready\n'
    got = far.namespace.run(*PYTHON, FETCH, address(host, version), timeout=120).stdout
    assert len(got.strip()) == len(hashlib.sha256().hexdigest())
    assert server.stdout.read() == got
    server.wait(60)


def datagrams(net, source, sink, version, sizes=SIZES):
    """Each size arrives at least once, and every received datagram was sent."""
    host, far = net.host[source], net.host[sink]
    sizes = json.dumps([max(0, n - 1) for n in sizes])
    receiver = far.namespace.start(*PYTHON, SINK, AF[version], sizes, stdout=subprocess.PIPE,
                                   text=True)
    assert receiver.stdout.readline() == 'ready\n'
    host.namespace.run(*PYTHON, SPRAY, AF[version], address(far, version), sizes, timeout=120)
    assert receiver.stdout.read() == '0\n'
    receiver.wait(60)


def ready(lab, **keys):
    net = lab(line_up(2, config=PATIENT, **keys)).joined()
    net.settle_hosts('n0', 'n1')
    return net


def everything(net, source='n0', sink='n1'):
    for version in (4, 6):
        stream(net, source, sink, version)
        datagrams(net, source, sink, version)


def kernel_has_uso():
    """UDP segmentation by TAP devices: since Linux 6.2."""
    space = ns.Namespace('probe')
    try:
        with space, open('/dev/net/tun', 'rb', buffering=0) as tun:
            fcntl.ioctl(tun, TUNSETIFF, struct.pack('16sH', b'probe0', IFF_TAP_NO_PI_VNET_HDR))
            fcntl.ioctl(tun, TUNSETOFFLOAD, TUN_F_CSUM | TUN_F_USO4_6)
    except OSError:
        return False
    finally:
        space.close()
    return True


def test_offloads_are_those_of_the_kernel(lab):
    """On an older kernel, leond works without the missing offload and logs the fact once."""
    net = ready(lab)
    has_uso = kernel_has_uso()
    everything(net)
    for node in net.node.values():
        granted = node.statistics()['offloads']
        assert granted['tso'] and granted['udp_gso'] and granted['udp_gro']
        assert granted['checksum']
        assert granted['uso'] == has_uso
        assert node.log().count('no UDP segmentation offload for TAP') == (not has_uso)
        # leond counts every refusal of a route and logs a single line.
        wait_for(lambda n=node: n.log().count('refuses UDP segmentation') ==
                 (n.counter('gso_refused') > 0), 30, 'said once')


DISABLED = {
    'udp-segmentation': {'udp_gso'},
    'udp-gro': {'udp_gro'},
    'tap-segmentation': {'tso', 'uso'},
    'tap-checksum': {'tso', 'uso', 'checksum'},
}


def check_offloads(node, offload):
    """The answer, the text and the metrics report the offloads that this configuration leaves."""
    shown = node.statistics()['offloads']
    off = {'uso'} if offload.get('tap-segmentation') == 'tcp-only' else set()
    for key, value in offload.items():
        off |= DISABLED[key] if value == 'disable' else set()
    if not kernel_has_uso():
        assert shown['unused'].pop('uso') == 'kernel'
        off.discard('uso')
    for name, reason in shown['unused'].items():
        assert reason == ('configuration' if name in off else None)
        assert shown[name] is (name not in off)
    text, metrics = (node.leonctl(*words, json_output=False)
                     for words in (('show', 'statistics'), ('metrics',)))
    for name in off:
        assert f' {name} off (configuration)' in text
        assert f'leon_offload_used{{interface="leon0",offload="{name}"}} 0\n' in metrics


@pytest.mark.parametrize('offload', [
    {}, {'tap-segmentation': 'tcp-only'}, *({key: 'disable'} for key in DISABLED),
    dict.fromkeys(DISABLED, 'disable')], ids=str)
def test_bytes_arrive_with_and_without_each_offload(lab, offload):
    net = lab(line_up(2, config={**PATIENT, 'system': {'offload': offload}})).joined()
    net.settle_hosts('n0', 'n1')
    n0, n1 = net.node.values()
    check_offloads(n0, offload)
    everything(net)
    supers = [n0.counter('tap_rx_super'), n1.counter('tap_tx_super')]
    if {'tap-segmentation', 'tap-checksum'} & {k for k, v in offload.items() if v == 'disable'}:
        assert supers == [0, 0]
    else:
        assert supers[0] > 0


def test_offloads_are_switched_live(lab):
    net = ready(lab)
    n0, n1 = net.node.values()
    for offload in (dict.fromkeys(DISABLED, 'disable'), {}, {'tap-segmentation': 'tcp-only'}, {}):
        for node in (n0, n1):
            answer = node.reload(system={**node.config['system'], 'offload': offload})
            assert answer['changes'] == ['device'] and not answer['restart_keys']
        check_offloads(n0, offload)
        before = n0.counter('tap_rx_super')
        stream(net, 'n0', 'n1', 4, size=BULK // 5)
        stream(net, 'n1', 'n0', 6, size=BULK // 5)
        datagrams(net, 'n0', 'n1', 4)
        assert (n0.counter('tap_rx_super') == before) is ('tap-checksum' in offload)


def test_bytes_arrive_over_a_network_that_loses_doubles_and_reorders(lab):
    net = ready(lab)
    net.wan.both('n0', 'n1', loss_permille=10, duplicate_permille=20, reorder_permille=50)
    for version in (4, 6):
        stream(net, 'n0', 'n1', version, size=BULK // 5)
        datagrams(net, 'n0', 'n1', version)


def test_bytes_arrive_in_vlans_and_with_congestion_marks(lab):
    net = ready(lab)
    if net.host['n0'].namespace.run('ip', 'link', 'add', 'link', 'eth0', 'name', 'v7', 'type',
                                    'vlan', 'id', '7', check=False).returncode:
        pytest.skip('this kernel has no VLAN devices')
    net.host['n1'].namespace.run('ip', 'link', 'add', 'link', 'eth0', 'name', 'v7', 'type', 'vlan',
                                 'id', '7')
    for number, host in enumerate(net.host.values(), 1):
        host.ip4, host.ip6 = f'10.77.0.{number}', f'fd00:77::{number}'
        host.namespace.ip('link set v7 up', f'addr add {host.ip4}/24 dev v7',
                          f'addr add {host.ip6}/64 dev v7 nodad')
    wait_for(lambda: net.host['n0'].ping(net.host['n1'].ip4), 10, 'VLAN 7 is open')
    everything(net)


def test_bytes_arrive_with_ecn(lab):
    net = ready(lab)
    for host in net.host.values():
        host.namespace.sysctl('ipv4/tcp_ecn', 1)
    stream(net, 'n0', 'n1', 4, tos=0xb8)
    stream(net, 'n1', 'n0', 6)


def test_busy_polling_is_live_and_loses_nothing(lab):
    net = ready(lab)
    n0 = net.node['n0']
    assert n0.counter('busy_polls') == 0
    assert not n0.reload(system={**n0.config['system'], 'busy-poll': 1000})['restart_keys']
    stream(net, 'n0', 'n1', 4, size=BULK // 5)
    assert n0.counter('busy_polls') > 0
    n0.reload(system={**n0.config['system'], 'busy-poll': 0})
    net.host['n0'].ping(net.host['n1'].ip4)
    before = n0.counter('busy_polls')
    stream(net, 'n0', 'n1', 4, size=BULK // 5)
    assert n0.counter('busy_polls') == before


def cpu_ms(node):
    """CPU time of all threads of leond so far."""
    times = []
    for task in os.listdir(f'/proc/{node.process.pid}/task'):
        with open(f'/proc/{node.process.pid}/task/{task}/schedstat', encoding='ascii') as f:
            times.append(int(f.read().split()[0]))
    return sum(times) / 1e6


def used_ms(node, seconds=2):
    """CPU time of leond in that many seconds."""
    before, begin = cpu_ms(node), time.monotonic()
    time.sleep(seconds)
    return (cpu_ms(node) - before) * seconds / (time.monotonic() - begin)


def test_busy_polling_costs_nothing_without_frames(lab):
    net = ready(lab)
    n0 = net.node['n0']
    off = min(used_ms(n0) for _ in range(3))
    n0.reload(system={**n0.config['system'], 'busy-poll': 1000})
    stream(net, 'n0', 'n1', 4, size=BULK // 5)
    assert n0.counter('busy_polls') > 0
    # Without adaptation, each probe would be followed by 1 ms of polling, 20 ms in all. Other work
    # on the machine makes each wakeup slower for seconds.
    wait_for(lambda: used_ms(n0) < off + 10, 20, f'as before, {off:.0f} ms')


def test_no_busy_polling_on_a_single_processor(lab):
    net = ready(lab)
    n0 = net.node['n0']
    one = {min(os.sched_getaffinity(0))}
    for task in os.listdir(f'/proc/{n0.process.pid}/task'):
        os.sched_setaffinity(int(task), one)
    n0.reload(system={**n0.config['system'], 'busy-poll': 1000})
    stream(net, 'n0', 'n1', 4, size=BULK // 5)
    assert n0.counter('busy_polls') == 0


def test_queue_of_the_device_is_long_unless_somebody_chose_another(lab):
    net = lab(line_up(2), start=False)

    def queue(node):
        shown = node.namespace.run('ip', '-j', 'link', 'show', 'leon0').stdout
        return json.loads(shown)[0]['txqlen']
    chosen, other = net.node['n0'], net.node['n1']
    chosen.namespace.ip('tuntap add dev leon0 mode tap multi_queue', 'link set leon0 txqueuelen 123')
    net.start()
    assert queue(chosen) == 123
    assert queue(other) == 2000


def test_small_frames_share_datagrams_and_all_arrive(lab):
    net = ready(lab)
    sizes = [1 + os.urandom(1)[0] for _ in range(200)]
    n0, n1 = net.node['n0'], net.node['n1']

    def bundles():
        """A slow sender on a busy machine has one frame in the TAP at a time."""
        datagrams(net, 'n0', 'n1', 4, sizes)
        return n0.counter('bundles_tx')
    wait_for(bundles, 30, 'frames that share a datagram')
    assert n0.counter('bundled_frames_tx') > n0.counter('bundles_tx')
    assert n1.counter('bundles_rx') > 0


# A TCP connection with a segment routing header (RFC 8754): the IP header has the first address of
# the list, and the checksum has the last one.
ROUTED = '''
import socket, sys
first, final, source = (socket.inet_pton(socket.AF_INET6, a) for a in sys.argv[1:4])
s = socket.socket(socket.AF_INET6)
s.bind((sys.argv[3], 0))
s.setsockopt(socket.IPPROTO_IPV6, socket.IPV6_RTHDR, bytes([0, 4, 4, 1, 1, 0, 0, 0]) + final + first)
s.settimeout(60)
s.connect((sys.argv[2], 5000))
s.sendall(bytes(1_000_000))
s.shutdown(socket.SHUT_WR)
print(s.recv(10).decode())
'''
COUNT = '''
import socket
s = socket.create_server(("::", 5000), family=socket.AF_INET6)
print("ready", flush=True)
c, _ = s.accept()
n = 0
while data := c.recv(65536):
    n += len(data)
c.sendall(str(n).encode())
'''


def test_bytes_arrive_behind_a_routing_header(lab):
    net = ready(lab)
    host, far = net.host['n0'], net.host['n1']
    final = 'fd00:99::1'
    far.namespace.ip(f'addr add {final}/128 dev lo')
    for interface in ('all', 'eth0'):
        far.namespace.sysctl(f'ipv6/conf/{interface}/seg6_enabled', 1)
    host.namespace.ip(f'route add {final}/128 via {far.ip6}')
    # n1 completes the checksums, so that the kernel of the far host verifies them.
    n0, n1 = net.node.values()
    n1.reload(system={**n1.config['system'], 'offload': {'tap-checksum': 'disable'}})
    server = far.namespace.start(*PYTHON, COUNT, stdout=subprocess.PIPE, text=True)
    assert server.stdout.readline() == 'ready\n'
    before = n0.counter('tap_rx_super')
    assert host.namespace.run(*PYTHON, ROUTED, far.ip6, final, host.ip6,
                              timeout=120).stdout == '1000000\n'
    assert n0.counter('tap_rx_super') > before
    # TCP would resend the data in single frames.
    assert ns.kernel_count(far.namespace, 'InCsumErrors') == 0
    server.wait(60)
