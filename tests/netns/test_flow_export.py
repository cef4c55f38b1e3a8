# SPDX-License-Identifier: GPL-2.0-or-later
"""Export of flows by IPFIX: known traffic between hosts, read by two independent collectors, nfcapd
and nfacctd. A missing program skips its test."""
import csv
import io
import json
import re
import shutil
import signal
import socket
import struct
import subprocess
import time

import pytest

import ns
from lab import PATIENT, line_up, wait_for

PORT = 40123
SIZE = 400                   # payload of a datagram
IP_UDP = 28
IP_TCP = 52                  # with the time stamp option
MEGABYTES = 8


def need(*programs):
    for name in programs:
        if not shutil.which(name):
            pytest.skip(f'{name} is not installed')


class Collector:
    """A program that writes its flows to files."""

    def __init__(self, node, *command):
        self.node = node
        self.process = node.namespace.start(*command, stdin=subprocess.DEVNULL,
                                            stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        wait_for(self.socket, 20, 'the collector listens')

    def socket(self):
        """The words of ss on the socket, or None: state, bytes to read, and others."""
        lines = self.node.namespace.run('ss', '-nlu').stdout.splitlines()
        return next((line.split() for line in lines if ':4739 ' in line), None)

    def close(self):
        """Ends the program after it has read all messages."""
        if self.process.poll() is None:
            wait_for(lambda: self.socket()[1] == '0', 20, 'the collector has read all messages')
            self.process.send_signal(signal.SIGINT)
            self.process.wait(timeout=30)


def export(net, name='a', **keys):
    """Configures the export, after the collector has started."""
    net.node[name].reload(flow_export={'collector': '127.0.0.1', **keys})


def end_export(net, name='a'):
    """All flows are exported, the last ones too."""
    net.node[name].reload(flow_export=None)


def datagrams(net, n, port=PORT, every=0.004, burst=40):
    """Sends n datagrams from the host of a to the host of b, with pauses. Returns the number that
    reached leond: on a busy machine, the kernel may drop some."""
    source, target = net.host['a'], net.host['b']
    with source.namespace:
        s = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
    s.connect((target.ip4, port))
    dropped = tx_dropped(net)
    with target.namespace:
        sink = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
    sink.bind((target.ip4, port))
    for at in range(0, n, burst):
        for _ in range(min(burst, n - at)):
            s.send(bytes(SIZE))
        time.sleep(every)
    s.close()
    sink.close()
    return n - (tx_dropped(net) - dropped)


def tx_dropped(net):
    text = net.node['a'].namespace.run('ip', '-j', '-s', 'link', 'show', 'leon0').stdout
    return json.loads(text)[0]['stats64']['tx']['dropped']


def totals(rows, port=PORT):
    """Packets, bytes of the rows to the port."""
    mine = [row for row in rows if row['dp'] == str(port)]
    return sum(int(row['ipkt']) for row in mine), sum(int(row['ibyt']) for row in mine)


def nfdump(directory):
    text = subprocess.run(['nfdump', '-R', directory, '-o', 'csv', '-N'], check=True, timeout=60,
                          capture_output=True, text=True).stdout
    head, _, rest = text.partition('\n')
    return list(csv.DictReader(io.StringIO(head + '\n' + rest.partition('Summary')[0])))


def packets_of(rows):
    return sum(row['packets'] for row in rows)


def flows_of(path, n):
    """The flows to the port as nfacctd wrote them, once they have nearly n packets."""
    text = path.read_text() if path.exists() else ''
    rows = [json.loads(line) for line in text.splitlines() if line.endswith('}')]
    rows = [row for row in rows if row['port_dst'] == PORT]
    return rows if packets_of(rows) >= n * 0.99 else None


@pytest.fixture
def two(lab):
    need('nfcapd', 'nfdump')
    net = lab({'sites': dict.fromkeys('ab', {}), 'config': PATIENT}).joined()
    net.node['a'].namespace.ip('link set lo up')
    net.settle_hosts('a', 'b')
    return net


@pytest.fixture
def nfcapd(two, tmp_path, keep):
    return keep(Collector(two.node['a'], 'nfcapd', '-p', '4739', '-b', '127.0.0.1', '-w', str(tmp_path), '-t', '3600'))


def test_every_frame_is_counted(two, nfcapd, tmp_path):
    export(two, sampling=1)
    first, second = datagrams(two, 5000), datagrams(two, 1000, PORT + 1)
    end_export(two)
    nfcapd.close()
    rows = nfdump(tmp_path)
    assert totals(rows) == (first, first * (SIZE + IP_UDP))
    assert totals(rows, PORT + 1) == (second, second * (SIZE + IP_UDP))
    assert two.node['a'].counter('flow_samples_lost') == 0


def test_one_of_a_hundred_is_right_to_one_percent(two, nfcapd, tmp_path):
    export(two)
    n = datagrams(two, 40000)
    end_export(two)
    nfcapd.close()
    packets, octets = totals(nfdump(tmp_path))
    assert packets == pytest.approx(n, rel=0.01)
    assert octets == pytest.approx(n * (SIZE + IP_UDP), rel=0.01)


def test_a_stream_of_super_frames(two, nfcapd, tmp_path):
    """A super-frame counts as its segments."""
    export(two, sampling=1)
    source, target = two.host['a'], two.host['b']
    with target.namespace:
        listener = socket.create_server(('0.0.0.0', PORT))
    with source.namespace:
        sender = socket.create_connection((target.ip4, PORT), timeout=20)
    receiver = listener.accept()[0]
    received = 0
    receiver.settimeout(30)
    for sent in range(1 << 16, (MEGABYTES << 20) + 1, 1 << 16):
        sender.sendall(bytes(1 << 16))
        while received < sent:
            received += len(receiver.recv(1 << 20))
    super_frames = two.node['a'].counter('tap_rx_super')
    for s in (sender, receiver, listener):
        s.close()
    end_export(two)
    nfcapd.close()
    packets, octets = totals(nfdump(tmp_path))
    assert super_frames > 0
    # Retransmitted segments count too.
    assert MEGABYTES << 20 <= octets - packets * IP_TCP < (MEGABYTES << 20) * 1.01
    assert packets >= (MEGABYTES << 20) / 1448


def test_a_second_collector_reads_the_path(lab, tmp_path, keep):
    """nfacctd multiplies, and its own fields have path, delay and rule."""
    need('nfacctd')
    net = lab({'sites': dict.fromkeys('arb', {}), 'config': {**PATIENT, 'path': {'variation-margin': 0}},
               'rtt_ms': {('a', 'b'): 200, ('a', 'r'): 10, ('r', 'b'): 10}}).joined()
    net.node['a'].namespace.ip('link set lo up')
    net.wait_path('a', 'b', ['r', 'b'])
    net.settle_hosts('a', 'b')
    (tmp_path / 'own').write_text('name=path field_type=83 len=96 semantics=str\n'
                                  'name=delay field_type=530 len=4 semantics=u_int\n')
    (tmp_path / 'conf').write_text(f'''
        daemonize: false
        nfacctd_ip: 127.0.0.1
        nfacctd_port: 4739
        nfacctd_renormalize: true
        aggregate_primitives: {tmp_path}/own
        plugins: print
        aggregate: src_host, dst_host, dst_port, path, delay
        print_output: json
        print_output_file: {tmp_path}/flows
        print_output_file_append: true
        print_refresh_time: 1
        '''.replace('        ', ''))
    keep(Collector(net.node['a'], 'nfacctd', '-f', f'{tmp_path}/conf'))
    export(net, sampling=10)
    n = datagrams(net, 4000)
    end_export(net)
    rows = wait_for(lambda: flows_of(tmp_path / 'flows', n), 30, 'nfacctd has written all flows')
    assert rows and {row['ip_dst'] for row in rows} == {net.host['b'].ip4}
    assert packets_of(rows) == pytest.approx(n, rel=0.01)
    path = ','.join(net.node[name].node_id for name in 'rb')
    for row in rows:
        assert re.fullmatch(rf'path={path} loss=0\.\d{{3}} rule=[a-z-]+', row['path'])
        # Both links take 5 ms one way, and the direct one 100 ms. A busy machine adds some.
        assert 9000 <= int(row['delay']) < 90000


# --- address of the exporter ---

TEMPLATES_S = 10             # time between two messages with templates
OLD, NEW, AT = '192.0.2.1', '192.0.2.2', '192.0.2.9'
OLD6, NEW6, AT6 = '2001:db8:9::1', '2001:db8:9::2', '2001:db8:9::9'
ADDRESS_GOES = [f'addr del {OLD}/24 dev up0', f'addr add {NEW}/24 dev up0']
ADDRESS6_GOES = [f'addr del {OLD6}/64 dev up0', f'addr add {NEW6}/64 dev up0 nodad']
# The old address stays, as that of another line.
ROUTE_CHANGES = [f'addr add {NEW}/32 dev up0', f'route add {AT}/32 dev up0 src {NEW}']


class Listener:
    """A collector in another network, which reads the source and the first set of messages."""

    def __init__(self, node):
        self.namespace = ns.Namespace('collector')
        node.namespace.ip(
            f'link add up0 type veth peer name up1 netns {self.namespace.path}', 'link set up0 up',
            f'addr add {OLD}/24 dev up0', f'addr add {OLD6}/64 dev up0 nodad')
        self.namespace.ip('link set up1 up', f'addr add {AT}/24 dev up1',
                          f'addr add {AT6}/64 dev up1 nodad')
        with self.namespace:
            self.socket = socket.socket(socket.AF_INET6, socket.SOCK_DGRAM)
        self.socket.bind(('::', 4739))

    def templates(self, seconds):
        """Waits for a message with templates. Returns its source address and port."""
        deadline = time.monotonic() + seconds
        while (left := deadline - time.monotonic()) > 0:
            self.socket.settimeout(left)
            message, source = self.socket.recvfrom(2000)
            if struct.unpack_from('!H', message, 16) == (2,):
                return source[0].removeprefix('::ffff:'), source[1]
        raise TimeoutError('no templates')

    def close(self):
        self.socket.close()
        self.namespace.close()


@pytest.mark.parametrize('collector, old, new, change', [
    (AT, OLD, NEW, ADDRESS_GOES), (AT6, OLD6, NEW6, ADDRESS6_GOES), (AT, OLD, NEW, ROUTE_CHANGES)],
    ids=['ipv4', 'ipv6', 'route'])
def test_a_new_address_of_the_exporter(lab, keep, collector, old, new, change):
    """A collector knows an exporter by its address, so the new one sends the templates at once."""
    node = lab(line_up(1, hosts=False)).node['n0']
    listener = keep(Listener(node))
    node.reload(flow_export={'collector': collector})
    first = listener.templates(5)
    assert first[0] == old
    # The same address keeps its port.
    assert listener.templates(2 * TEMPLATES_S) == first
    node.namespace.ip(*change)
    second = listener.templates(TEMPLATES_S - 3)
    assert second[0] == new
    assert listener.templates(2 * TEMPLATES_S) == second


def test_a_firewall_of_the_collector(lab, keep):
    """Each message is sent, although the kernel reports a rejection of the message before."""
    node = lab(line_up(1, hosts=False)).node['n0']
    listener = keep(Listener(node))
    listener.namespace.run('nft', '-f', '-', input='''
        table inet firewall {
            chain in { type filter hook input priority 0;
                       udp dport 4739 counter reject with icmpx admin-prohibited; }
        }''')
    node.reload(flow_export={'collector': AT})
    wait_for(lambda: ' packets 2 ' in listener.namespace.run('nft', 'list', 'ruleset').stdout,
             3 * TEMPLATES_S, 'the firewall rejects two messages')
    assert 'flows cannot be sent' not in node.log()
