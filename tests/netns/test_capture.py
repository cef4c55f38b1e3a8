# SPDX-License-Identifier: GPL-2.0-or-later
"""Capture of a flow at all nodes on its path (`leonctl capture`). tshark and a reader of this file
read the pcapng."""
import json
import re
import shutil
import signal
import socket
import struct
import subprocess
import time

import pytest

from lab import PATIENT, line_up, wait_for
from node import leonctl_program
from test_answers import check

ALL = {'capture': {'permit': ['all']}}
CONFIG = {**PATIENT, **ALL, 'path': {'variation-margin': 0}}
# One-way delay: 10 ms to the relay, 15 ms after the relay. The direct path is long, so all frames
# are relayed also on a busy machine.
TRIANGLE = {('a', 'b'): 200, ('a', 'r'): 20, ('r', 'b'): 30}
PORT = 40777
MARK = b'plaintext of the flow under capture '


def options(block, at, order):
    """{code: value} of the options in a block."""
    found = {}
    while at + 4 <= len(block) - 4:
        code, n = struct.unpack_from(order + 'HH', block, at)
        if code == 0:
            break
        found[code] = block[at + 4:at + 4 + n]
        at += 4 + (n + 3) // 4 * 4
    return found


def read_pcapng(data):
    """(interfaces {name: description}, packets, {node: received frames})"""
    names, interfaces, packets, received, at = [], {}, [], {}, 0
    assert data[:4] == bytes.fromhex('0a0d0d0a')
    order = '<' if data[8:12] == bytes.fromhex('4d3c2b1a') else '>'
    while at < len(data):
        kind, n = struct.unpack_from(order + 'II', data, at)
        block = data[at:at + n]
        assert n % 4 == 0 and len(block) == n
        assert struct.unpack_from(order + 'I', block, n - 4)[0] == n
        at += n
        if kind == 1:
            given = options(block, 16, order)
            assert struct.unpack_from(order + 'H', block, 8)[0] == 1 and given[9] == b'\x06'
            names.append(given[2].decode())
            interfaces[names[-1]] = given[3].decode()
        elif kind == 6:
            i, high, low, have, length = struct.unpack_from(order + 'IIIII', block, 8)
            given = options(block, 28 + (have + 3) // 4 * 4, order)
            packets.append({'us': high << 32 | low, 'node': names[i], 'length': length,
                            'frame': block[28:28 + have], 'comment': given[1].decode()})
        elif kind == 5:
            given = options(block, 20, order)
            name = names[struct.unpack_from(order + 'I', block, 8)[0]]
            received[name] = struct.unpack(order + 'Q', given[4])[0]
        else:
            assert kind == 0x0a0d0d0a
    return interfaces, packets, received


class Capture:
    """A running `leonctl capture` on a node."""

    def __init__(self, node, path, *words):
        self.path = path
        self.process = node.namespace.start(
            leonctl_program(), '--socket', node.socket, 'capture', '-w', path, *map(str, words),
            stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        self.errors = None

    def end(self, number=None, within=90):
        """(interfaces, packets, received) after the end, or after this signal."""
        if number:
            self.process.send_signal(number)
        _, self.errors = self.process.communicate(timeout=within)
        with open(self.path, 'rb') as f:
            return read_pcapng(f.read())

    def close(self):
        self.process.kill()
        self.process.communicate()


def refusal(node, *words):
    """Status and text of a capture that fails."""
    done = subprocess.run([leonctl_program(), '--socket', node.socket, 'capture', *words], timeout=90,
                          capture_output=True, text=True, check=False)
    return done.returncode, done.stderr


def capturing(*nodes, times=1):
    """Waits until each node logs the start of its capture for this time."""
    wait_for(lambda: all(node.log().count('captures a flow') == times for node in nodes), 20,
             f'start {times} of a capture on {" ".join(node.name for node in nodes)}')


class Datagrams:
    """Numbered UDP datagrams from the host of a to the host of b."""

    def __init__(self, net, source='a', target='b'):
        self.to = (net.host[target].ip4, PORT)
        with net.host[source].namespace:
            self.socket = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
        with net.host[target].namespace:
            self.sink = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
        self.sink.bind(self.to)
        self.sink.settimeout(10)

    def send(self, n, size=200, every=0.01):
        for i in range(n):
            self.socket.sendto((MARK + b'%06d' % i).ljust(size, b'.'), self.to)
            time.sleep(every)

    def receive(self, n):
        return [self.sink.recv(4096) for _ in range(n)]

    def close(self):
        self.socket.close()
        self.sink.close()


def by_number(packets):
    """{number of the datagram: [(place, node, us)] in the order of the file}"""
    found = {}
    for p in packets:
        at = p['frame'].find(MARK)
        if at >= 0:
            number = int(p['frame'][at + len(MARK):at + len(MARK) + 6])
            found.setdefault(number, []).append((p['comment'].split(' ')[0].rstrip(','), p['node'], p['us']))
    return found


WAY = [('from-tap', 'a'), ('sent', 'a'), ('relayed', 'r'), ('to-tap', 'b')]


def relayed(lab, **keys):
    net = lab({'sites': dict.fromkeys('arb', {}), 'rtt_ms': TRIANGLE, 'config': CONFIG, **keys}).joined()
    net.wait_path('a', 'b', ['r', 'b'])
    net.wait_path('b', 'a', ['r', 'a'])
    net.settle_hosts('a', 'b')
    return net


@pytest.fixture
def capture(keep, tmp_path):
    numbers = iter(range(100))

    def begin(node, *words):
        return keep(Capture(node, str(tmp_path / f'{next(numbers)}.pcapng'), *words))
    return begin


@pytest.fixture
def flow(keep):
    return lambda net: keep(Datagrams(net))


def check_delays(seen):
    """The smallest difference of many frames is the emulated delay: a busy machine only adds."""
    at = [{(place, node): us for place, node, us in way} for way in seen.values()]
    first = min(t['relayed', 'r'] - t['sent', 'a'] for t in at)
    second = min(t['to-tap', 'b'] - t['relayed', 'r'] for t in at)
    assert abs(first - 10000) < 1000 and abs(second - 15000) < 1000


def test_three_nodes_in_one_file(lab, capture, flow):
    """Every datagram is at every hop, in order, at aligned times, and in clear on no wire."""
    net = relayed(lab)
    wire = net.node['r'].namespace.start('tcpdump', '-i', 'wan0', '-w', '-', '-U', stdout=subprocess.PIPE,
                                         stderr=subprocess.DEVNULL)
    one = capture(net.node['a'], '--seconds', '60', 'host', net.host['b'].ip4, 'proto', 'udp', 'port', PORT)
    capturing(*net.node.values())
    stream = flow(net)
    stream.send(60)
    stream.receive(60)
    interfaces, packets, received = one.end(signal.SIGINT)
    wire.terminate()
    on_wire = wire.communicate(timeout=30)[0]
    seen = by_number(packets)
    assert len(seen) == 60
    assert all([step[:2] for step in way] == WAY for way in seen.values())
    check_delays(seen)
    assert set(interfaces) == set('arb')
    assert all('clock aligned, error at most' in text for text in interfaces.values())
    assert received == {'a': 120, 'r': 60, 'b': 60}
    assert {p['length'] for p in packets} == {242} and {len(p['frame']) for p in packets} == {128}
    assert 'relayed to b, path r b, sealed' in {p['comment'] for p in packets}
    assert len(on_wire) > 60 * 200 and MARK not in on_wire


def test_tshark_reads_the_file(lab, capture, flow):
    if not shutil.which('tshark'):
        pytest.skip('tshark is not installed')
    net = relayed(lab)
    one = capture(net.node['b'], '--seconds', '60', 'host', net.host['a'].ip4, 'port', PORT)
    capturing(*net.node.values())
    stream = flow(net)
    stream.send(10)
    stream.receive(10)
    one.end(signal.SIGINT)
    text = subprocess.run(['tshark', '-r', one.path, '-T', 'fields', '-e', 'frame.interface_name', '-e',
                           'udp.dstport', '-e', 'frame.comment'], check=True, capture_output=True, text=True,
                          timeout=60).stdout
    rows = [line.split('\t') for line in text.splitlines()]
    assert len(rows) == 40 and {row[1] for row in rows} == {str(PORT)}
    assert {row[0] for row in rows} == set('arb')
    assert {row[2] for row in rows if row[0] == 'r'} == {'relayed to b, path r b, sealed'}


def test_clocks_that_differ(lab, capture, flow):
    """The clock of the relay is 1000 s ahead, and that of b 3000 s."""
    if subprocess.run(['unshare', '--time', '--monotonic', '5', 'true'], check=False,
                      capture_output=True).returncode:
        pytest.skip('no time namespaces')
    net = lab({'sites': dict.fromkeys('arb', {}), 'rtt_ms': TRIANGLE, 'config': CONFIG}, start=False)
    for name, ahead in (('r', 1000), ('b', 3000)):
        net.node[name].wrapper = ['unshare', '--time', '--monotonic', str(ahead), '--boottime', str(ahead)]
    net.start()
    net.joined()
    net.wait_path('a', 'b', ['r', 'b'])
    net.settle_hosts('a', 'b')
    one = capture(net.node['a'], '--seconds', '60', 'port', PORT)
    capturing(*net.node.values())
    stream = flow(net)
    stream.send(60)
    stream.receive(60)
    _, packets, _ = one.end(signal.SIGINT)
    seen = by_number(packets)
    assert len(seen) == 60
    check_delays(seen)


def test_a_lossy_network_loses_no_record(lab, capture, flow):
    net = relayed(lab)
    one = capture(net.node['a'], '--seconds', '10', '--snap', '300', 'port', PORT)
    capturing(*net.node.values())
    stream = flow(net)
    stream.send(100, size=400, every=0.005)
    stream.receive(100)
    for pair in TRIANGLE:
        net.wan.both(*pair, loss_permille=200)
    _, packets, _ = one.end()
    assert [len(way) for way in by_number(packets).values()] == [4] * 100


def test_frames_in_clear(lab, capture, flow):
    """A relay can read unsealed frames."""
    net = relayed(lab, config={**CONFIG, 'encryption': {'disable': True}})
    one = capture(net.node['a'], '--seconds', '60', 'port', PORT)
    capturing(*net.node.values())
    stream = flow(net)
    stream.send(20)
    stream.receive(20)
    _, packets, _ = one.end(signal.SIGINT)
    seen = by_number(packets)
    assert len(seen) == 20 and all([step[:2] for step in way] == WAY for way in seen.values())
    assert 'relayed to b, path r b' in {p['comment'] for p in packets}


def test_refusals(lab, capture, flow):
    """No capture starts without permission, and each refusal names the node."""
    net = lab({'sites': {'a': {'config': {'capture': {'permit': ['198.18.0.2']}}}, 'r': {'config': ALL}, 'b': {}},
               'config': PATIENT}).joined()
    net.settle_hosts('a', 'b')
    status, text = refusal(net.node['b'], '--seconds', '1', '--node', 'a', '--node', 'b', 'port', '80')
    assert status == 1 and 'a (198.18.0.1) refuses' in text and 'b (198.18.0.3) refuses' in text
    # a permits r by node-id, and does not permit itself.
    one = capture(net.node['r'], '--seconds', '60', 'port', PORT)
    capturing(net.node['a'], net.node['r'])
    status, text = refusal(net.node['r'], 'port', '80')
    assert status == 1 and 'under way' in text
    status, text = refusal(net.node['b'], '--seconds', '1', '--node', 'r', 'port', '80')
    assert status == 1 and 'r (198.18.0.2) is busy with a capture of r' in text
    stream = flow(net)
    stream.send(20)
    stream.receive(20)
    _, packets, _ = one.end(signal.SIGINT)
    assert {p['node'] for p in packets} == {'a'} and len(by_number(packets)) == 20
    assert 'b (198.18.0.3) refuses: its "capture permit" does not list this node' in one.errors
    # The end of a permission ends the capture.
    one = capture(net.node['r'], '--seconds', '60', '--node', 'a', 'port', PORT)
    capturing(net.node['a'], times=2)
    net.node['a'].reload(capture=None)
    one.end()
    assert 'a (198.18.0.1)' in one.errors
    for words, problem in ((['host', 'b'], '"b" is no IP address'), (['vlan'], 'has no value'),
                           (['--seconds', '61', 'vlan', '1'], 'from 1 to 60'),
                           (['--bytes', '5000000', 'vlan', '1'], 'from 4096 to 4194304'),
                           (['--node', 'x', 'vlan', '1'], 'no node is known as "x"')):
        status, text = refusal(net.node['r'], *words)
        assert status == 1 and problem in text


def test_bounds_and_restarts(lab, capture, flow):
    """The file of each node has a size limit. A restart of a node ends its part, and the end of
    leonctl ends the whole capture."""
    net = lab({'sites': dict.fromkeys('ab', {}), 'config': {**PATIENT, **ALL}}).joined()
    net.settle_hosts('a', 'b')
    stream = flow(net)
    one = capture(net.node['a'], '--seconds', '60', '--bytes', '8192', '--snap', '1000', 'port', PORT)
    capturing(*net.node.values())
    stream.send(60, size=1200, every=0.002)
    _, packets, _ = one.end()
    for name in 'ab':
        size = sum(len(p['frame']) for p in packets if p['node'] == name)
        assert 6000 < size <= 8192
    one = capture(net.node['a'], '--seconds', '60', 'port', PORT)
    capturing(net.node['b'], times=2)
    stream.send(10)
    net.restart('b')
    net.joined()
    one.end(signal.SIGINT)
    assert re.search(r'b \(198\.18\.0\.2\) (ended the capture early|does not answer)', one.errors)
    one = capture(net.node['a'], '--seconds', '60', 'port', PORT)
    capturing(net.node['b'], times=3)
    one.close()
    wait_for(lambda: refusal(net.node['b'], '--seconds', '1', '--node', 'a', 'port', '80')[0] == 0, 30,
             'a is free after the end of leonctl', every=1)


def test_a_second_capture_waits_until_the_first_one_is_read(lab):
    node = lab({'sites': {'n0': {}}, 'config': CONFIG}).node['n0']
    start = ('capture start', {'filter': 'proto icmp', 'seconds': 1})

    def ask(command, arguments=()):
        return json.loads(node.request(json.dumps(
            {'version': 1, 'command': command, 'arguments': dict(arguments)})))
    assert 'error' not in ask(*start)
    end = time.monotonic() + 2.5
    while time.monotonic() < end:
        assert 'under way' in ask(*start).get('error', '')
        time.sleep(0.1)
    wait_for(lambda: ask('capture read')['over'], 10, 'the end is read')
    assert 'error' not in ask(*start)


def test_answers_have_the_documented_shape(lab):
    net = lab(line_up(2, config=CONFIG)).joined()
    net.settle_hosts('n0', 'n1')

    def ask(command, **arguments):
        return json.loads(net.node['n0'].request(json.dumps(
            {'version': 1, 'command': command, 'arguments': arguments})))
    check('capture start', ask('capture start', filter='proto icmp', seconds=60))

    def records():
        net.settle_hosts('n0', 'n1')
        answer = ask('capture read')
        check('capture read', answer)
        return answer['records']
    wait_for(records, 20, 'records of a ping')
    check('capture stop', ask('capture stop'))
