#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""Throughput and latency of LEON, kernel VXLAN, no encapsulation, the smallest possible user-space
program (ceiling.c) and installed other overlays (peers.py). Two nodes exchange data directly, and
through one relay. The wire acts like a network card, a veth of MTU 1500. The sender cuts to the MTU
(no TSO, no UDP segmentation), and the receiver has GRO. Rounds are interleaved, so other load has
the same effect on all variants. Figures are medians. The ratios to VXLAN and to the ceiling of the
same run count. All programs share the cores of this machine, so a pair of machines reaches other
figures. The CPU time of an overlay for a GB (all ends, and the relay) depends least on other load.

    LEON_BUILD=build tests/bench/bench_fwd.py [--rounds 5] [--seconds 2] [--json FILE]
        [--peers nebula] [--data both|sealed|clear] [--meters tcp4 trains]
"""
import argparse
import datetime
import json
import os
import platform
import shutil
import statistics
import subprocess
import sys
import tempfile
import time

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), '../netns'))

import ns  # noqa: E402
import peers  # noqa: E402
from node import TOP, Node, build_dir, wait_for  # noqa: E402

WIRELOAD = os.path.join(build_dir(), 'tests/bench/wireload')
CEILING = os.path.join(build_dir(), 'tests/bench/ceiling')
# Ethernet, the ceiling's own header and IPv4 with UDP in a wire's 1500.
CEILING_MTU = 1500 - 14 - 2 - 28
# A UDP frame of 64 bytes with the frame check sequence, which virtual wires lack.
SMALL = 64 - 4 - 14 - 20 - 8
PORT = 9000
TRAIN_BYTES = 1200  # payload of a datagram, the least maximum of QUIC (RFC 9000 section 14)
TRIES = 3
REALTIME = ('chrt', '--fifo', '50')  # above leond
# Required ratios to VXLAN (design.md section 9).
TARGETS = {
    ('direct', 'tcp1'): 1.15, ('direct', 'tcp4'): 1.0, ('direct', 'small'): 2.0,
    ('relay', 'tcp1'): 1.15, ('relay', 'small'): 3.0,
}
METERS = {
    'tcp1': ('TCP x1', 'Mbit/s'), 'tcp4': ('TCP x4', 'Mbit/s'), 'small': ('64 B UDP', 'kpps'),
    'tcp1cpu': ('TCP x1, CPU', 's/GB'), 'tcp4cpu': ('TCP x4, CPU', 's/GB'),
    'tcp1retr': ('TCP x1, resent', '/GB'), 'tcp4retr': ('TCP x4, resent', '/GB'),
    'trains': ('UDP trains', 'Mbit/s'), 'trainslost': ('UDP trains, lost', '/GB'),
    'rtt': ('RTT p50', 'us'), 'rtt99': ('RTT p99', 'us'),
    'loaded1': ('RTT p50 beside TCP x1', 'us'), 'loaded1p99': ('RTT p99 beside TCP x1', 'us'),
    'loaded4': ('RTT p50 beside TCP x4', 'us'), 'loaded4p99': ('RTT p99 beside TCP x4', 'us'),
}
# Measurements and their figures.
PLANS = {
    'direct': {'tcp1': ('tcp1', 'tcp1cpu', 'tcp1retr'), 'tcp4': ('tcp4', 'tcp4cpu', 'tcp4retr'),
               'trains': ('trains', 'trainslost'), 'small': ('small',), 'rtt': ('rtt', 'rtt99'),
               'loaded1': ('loaded1', 'loaded1p99'), 'loaded4': ('loaded4', 'loaded4p99')},
    'relay': {'tcp1': ('tcp1', 'tcp1cpu', 'tcp1retr'), 'small': ('small',), 'rtt': ('rtt', 'rtt99')},
}
OWN = ('none', 'vxlan', 'ceiling', 'ceiling-once', 'leon', 'leon-sealed', 'leon-flows')
# Figures without meaning for a ceiling, which sends small frames one by one and takes no trains.
SKIPPED = {'ceiling': ('small', 'trains'),
           'ceiling-once': ('small', 'trains', 'rtt', 'loaded1', 'loaded4')}
# Measured variants of LEON.
DATA = {'both': ('leon', 'leon-sealed'), 'sealed': ('leon-sealed',), 'clear': ('leon',),
        'flows': ('leon', 'leon-flows')}
CONFIG = {'leon': {}, 'leon-flows': {'flow-export': {'collector': '127.0.0.1'}},
          'leon-sealed': {'authentication': {'pre-shared-secret': 'a secret for the bench'}}}
NAMES = {
    ('direct', 'none'): 'no encapsulation', ('direct', 'vxlan'): 'kernel VXLAN',
    ('direct', 'leon'): 'LEON', ('direct', 'leon-sealed'): 'LEON, AES-256-GCM',
    ('direct', 'leon-flows'): 'LEON, export of flows',
    ('relay', 'leon-flows'): 'LEON, export of flows',
    ('direct', 'ceiling'): 'ceiling', ('direct', 'ceiling-once'): 'ceiling, headers once',
    ('relay', 'ceiling'): 'ceiling', ('relay', 'ceiling-once'): 'ceiling, headers once',
    ('relay', 'none'): 'kernel IP forwarding', ('relay', 'vxlan'): 'VXLAN - bridge - VXLAN',
    ('relay', 'leon'): 'LEON', ('relay', 'leon-sealed'): 'LEON, AES-256-GCM',
    **{('direct', name): title for name, (title, _, _) in peers.PEERS.items()},
}


# --- the network ---


def end(nodes, spaces, directory):
    for node in nodes:
        node.stop()
    for space in spaces:
        space.close()
    shutil.rmtree(directory)


def wire(a, name_a, b, name_b):
    """A veth pair that acts like a cable between two network cards."""
    ns.connect(a, name_a, b, name_b)
    for space, name in ((a, name_a), (b, name_b)):
        space.run('ethtool', '-K', name, 'tso', 'off', 'tx-udp-segmentation', 'off',
                  'gso', 'on', 'sg', 'on', 'tx', 'on', 'gro', 'on')
        # Some kernels lack these two features.
        for feature in ('tx-udp_tnl-segmentation', 'tx-udp_tnl-csum-segmentation'):
            space.run('ethtool', '-K', name, feature, 'off', check=False)


class Net:
    """Namespaces a, r, b. A wire joins a and b, and two further wires join a and b with r.
    `address` has the address of b by (place, variant)."""

    def __init__(self, workers, others=(), data='both'):
        self.directory = tempfile.mkdtemp(prefix='leon-bench-')
        self.a, self.r, self.b = (ns.Namespace(name) for name in 'arb')
        self.workers = workers
        self.nodes = []
        self.programs = {}  # user-space programs of an overlay, by (place, variant)
        own = [v for v in OWN if not v.startswith('leon') or v in DATA[data]]
        self.variants = {place: list(own) for place in PLANS}
        self.left_out = {}
        wire(self.a, 'eth0', self.b, 'eth0')
        wire(self.a, 'eth1', self.r, 'eth1')
        wire(self.b, 'eth1', self.r, 'eth2')
        self.address = {(place, variant): f'10.{1 + i}.{1 + k}.2'
                        for i, place in enumerate(('direct', 'relay'))
                        for k, variant in enumerate(OWN) if variant in own}
        self._direct()
        self._relay()
        for i, mode in enumerate(('whole', 'once')):
            self._ceiling('ceiling-once' if i else 'ceiling', mode, 2 * i)
        for n, variant in enumerate(DATA[data]):
            self._leon(variant, 2 * n, CONFIG[variant])
        self._peers(others)

    def _direct(self):
        for end, other, space in ((1, 2, self.a), (2, 1, self.b)):
            space.ip(f'addr add 10.1.1.{end}/24 dev eth0',
                     f'link add vxlan0 type vxlan id 10 local 10.1.1.{end} remote 10.1.1.{other} '
                     'dstport 4789 dev eth0',
                     f'addr add 10.1.2.{end}/24 dev vxlan0', 'link set vxlan0 up')

    def _relay(self):
        """a and b are in different networks: 10.2.1 and, for b, a part of the same network."""
        self.a.ip('addr add 10.2.1.1/25 dev eth1', 'route add 10.2.1.128/25 via 10.2.1.3')
        self.b.ip('addr add 10.2.1.130/25 dev eth1', 'route add 10.2.1.0/25 via 10.2.1.131')
        self.r.ip('addr add 10.2.1.3/25 dev eth1', 'addr add 10.2.1.131/25 dev eth2',
                  'link add br0 type bridge stp_state 0 forward_delay 0', 'link set br0 up')
        self.r.sysctl('ipv4/ip_forward', 1)
        self.address['relay', 'none'] = '10.2.1.130'
        for end, space, vni, here, there, port in ((1, self.a, 11, '10.2.1.1', '10.2.1.3', 'eth1'),
                                                   (2, self.b, 12, '10.2.1.130', '10.2.1.131',
                                                    'eth2')):
            space.ip(f'link add vxlan1 type vxlan id {vni} local {here} remote {there} '
                     'dstport 4789 dev eth1',
                     f'addr add 10.2.2.{end}/24 dev vxlan1', 'link set vxlan1 up')
            self.r.ip(f'link add vx{vni} type vxlan id {vni} local {there} remote {here} '
                      f'dstport 4789 dev {port}', f'link set vx{vni} master br0 up')
        self._relay_addresses()

    def _relay_addresses(self):
        """Addresses of the overlays. The only routes between these addresses lead to the relay."""
        for end, space, via in ((1, self.a, '10.2.1.3'), (2, self.b, '10.2.1.131')):
            space.ip(f'addr add 10.9.0.{end}/32 dev lo',
                     f'route add 10.9.0.3/32 via {via} src 10.9.0.{end}')
        self.r.ip('addr add 10.9.0.3/32 dev lo',
                  'route add 10.9.0.1/32 via 10.2.1.1 src 10.9.0.3',
                  'route add 10.9.0.2/32 via 10.2.1.130 src 10.9.0.3')

    def _ceiling(self, variant, mode, first):
        """The same with the smallest program (ceiling.c). Ports and TAPs are numbered from
        `first`."""
        ends = {'direct': (('10.1.1.1', '10.1.1.2'), ('10.1.1.2', '10.1.1.1')),
                'relay': (('10.9.0.1', '10.9.0.3'), ('10.9.0.2', '10.9.0.3'))}
        for number, (place, addresses) in enumerate(ends.items(), first):
            programs = self.programs[place, variant] = []
            network = self.address[place, variant].rpartition('.')[0]
            for end, (space, (local, remote)) in enumerate(zip((self.a, self.b), addresses), 1):
                tap = f'ceiling{number}'
                programs.append(space.start(CEILING, 'node', mode, tap, local, remote,
                                            5300 + number, stdout=subprocess.PIPE, text=True))
                if programs[-1].stdout.readline().strip() != 'ready':
                    raise RuntimeError(f'{tap} does not start')
                space.ip(f'link set {tap} mtu {CEILING_MTU}',
                         f'addr add {network}.{end}/24 dev {tap}', f'link set {tap} up')
            if place == 'relay':
                programs.append(self.r.start(CEILING, 'relay', '10.9.0.3', '10.9.0.1', '10.9.0.2',
                                             5300 + number))

    def _leon_node(self, space, interface, source, others, extra):
        index = int(interface[-1])
        node = Node(f'{space.name}{index}', space, {
            'version': 1, 'interface': interface, 'source-address': [source],
            'node-name': space.name, 'port': 5366 + index, 'vni': 1 + index,
            'peer': {f'peer{i}': {'address': address, 'port': 5366 + index}
                     for i, address in enumerate(others)},
            'system': {'workers': self.workers} if self.workers else {}, **extra,
        }, self.directory)
        node.start()
        self.nodes.append(node)
        return node

    def _leon(self, variant, first, extra):
        """Two overlays with the configuration, between two nodes and through a relay."""
        i, k = f'leon{first}', f'leon{first + 1}'
        a0 = self._leon_node(self.a, i, '10.1.1.1', ['10.1.1.2'], extra)
        b0 = self._leon_node(self.b, i, '10.1.1.2', ['10.1.1.1'], extra)
        r1 = self._leon_node(self.r, k, '10.9.0.3', ['10.9.0.1', '10.9.0.2'], extra)
        a1 = self._leon_node(self.a, k, '10.9.0.1', ['10.9.0.3'], extra)
        b1 = self._leon_node(self.b, k, '10.9.0.2', ['10.9.0.3'], extra)
        for place, nodes in (('direct', (a0, b0)), ('relay', (a1, b1, r1))):
            network = self.address[place, variant].rpartition('.')[0]
            self.programs[place, variant] = [node.process for node in nodes]
            for end, node in enumerate(nodes, 1):
                node.namespace.ip(f'addr add {network}.{end}/24 dev {node.interface}',
                                  f'link set {node.interface} up')
        for node, other, hops in ((a0, b0, [b0]), (b0, a0, [a0]), (a1, b1, [r1, b1]),
                                  (b1, a1, [r1, a1])):
            self._wait_path(node, other, [n.node_id for n in hops])

    def _wait_path(self, node, other, hops):
        """Waits for the path and its MTU, because a stream that starts earlier keeps small
        segments."""
        def there():
            path = node.paths().get(other.node_id)
            return path and path['hops'] == hops and (path['mtu'] or 0) > 1400
        wait_for(there, 60, f'path of {node.name} to {other.name} is {hops} and its MTU known')

    def _peers(self, names):
        for i, name in enumerate(names):
            inner = (f'10.3.{i}.1', f'10.3.{i}.2')
            runs, why = peers.start(self, name, self.directory, inner)
            if runs:
                self.address['direct', name] = inner[1]
                self.variants['direct'].append(name)
            else:
                self.left_out[name] = why

    def settle(self):
        """Every path works and every table has learned. A peer without a path is left out."""
        for (place, variant), address in list(self.address.items()):
            def answers(a=address):
                return self.a.run('ping', '-c1', '-W1', a, check=False).returncode == 0
            try:
                wait_for(answers, 30 if variant in OWN else 15, f'{address} answers')
            except AssertionError as e:
                if variant in OWN:
                    raise
                self.left_out[variant] = str(e)
                self.variants[place].remove(variant)

    def close(self):
        end(self.nodes, (self.a, self.r, self.b), self.directory)


# --- measuring ---

def answer(process, within):
    """The JSON object that a program prints at the end."""
    out, err = process.communicate(timeout=within)
    if process.returncode != 0:
        raise RuntimeError(f'{process.args}: status {process.returncode}: {err}')
    return json.loads(out)


def start_receiver(net, *words, ahead=()):
    process = net.b.start(*ahead, WIRELOAD, *words, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                          text=True)
    if process.stdout.readline().strip() != 'ready':
        raise RuntimeError(f'wireload does not start: {process.communicate()[1]}')
    return process


def tcp_server(net):
    server = net.b.start('iperf3', '-s', '-1', '-p', PORT, '--forceflush', stdout=subprocess.PIPE,
                         stderr=subprocess.DEVNULL, text=True)
    # The first lines report the listening socket.
    while 'listening' not in server.stdout.readline():
        if server.poll() is not None:
            raise RuntimeError('iperf3 -s does not start')
    return server


def cpu_seconds(programs):
    """CPU time of all threads of the processes so far."""
    total = 0
    for process in programs:
        for thread in os.listdir(f'/proc/{process.pid}/task'):
            with open(f'/proc/{process.pid}/task/{thread}/schedstat', encoding='utf-8') as f:
                total += int(f.read().split()[0])
    return total / 1e9


def tcp(net, place, variant, seconds, streams):
    """Throughput, the CPU time for a GB if the programs of the overlay are known, and the resent
    segments for a GB."""
    server = tcp_server(net)
    programs = net.programs.get((place, variant), ())
    before = cpu_seconds(programs)
    result = net.a.run('iperf3', '-c', net.address[place, variant], '-p', PORT, '-t', seconds,
                       '-P', streams, '-J', timeout=seconds + 30)
    server.communicate(timeout=10)
    used = cpu_seconds(programs) - before
    totals = json.loads(result.stdout)['end']
    received = totals['sum_received']
    if not received['bytes']:
        raise RuntimeError(f'nothing arrived over {variant}')
    return (received['bits_per_second'] / 1e6, used / received['bytes'] * 1e9 if programs else None,
            totals['sum_sent']['retransmits'] / received['bytes'] * 1e9)


def received(net, address, size, seconds, receiver, *sender):
    """The report of the receiver about the time of the sender."""
    receiver = start_receiver(net, receiver, PORT, size, seconds + 2)
    net.a.run(WIRELOAD, *sender, timeout=seconds + 30)
    got = answer(receiver, seconds + 30)
    if not got['seconds']:
        raise RuntimeError(f'nothing arrived at {address}')
    return got


def trains(net, address, seconds):
    """Bulk of a QUIC sender: many datagrams in one call, within a window. Mbit/s, and the lost
    datagrams for a GB."""
    got = received(net, address, TRAIN_BYTES, seconds, 'drain',
                   'stream', address, PORT, TRAIN_BYTES, seconds)
    return (got['datagrams'] / got['seconds'] * TRAIN_BYTES * 8 / 1e6,
            got['missing'] / (got['datagrams'] * TRAIN_BYTES) * 1e9)


def small(net, address, seconds):
    """Thousands of small datagrams per second."""
    got = received(net, address, SMALL, seconds, 'sink',
                   'blast', address, PORT, SMALL, seconds)
    return got['datagrams'] / got['seconds'] / 1e3,


def rtt(net, address, seconds, port=PORT, ahead=()):
    receiver = start_receiver(net, 'echo', port, 3, ahead=ahead)
    result = net.a.run(*ahead, WIRELOAD, 'pingpong', address, port, SMALL, seconds, timeout=seconds + 30)
    receiver.kill()
    receiver.communicate(timeout=10)
    result = json.loads(result.stdout)
    if not result['round_trips']:
        raise RuntimeError(f'nothing came back from {address}')
    return result['p50_us'], result['p99_us']


def loaded(net, address, seconds, streams):
    """Round trips during a TCP transfer at full speed. The measuring programs do not wait for a
    core, or the figure would be a time slice of the scheduler."""
    server = tcp_server(net)
    bulk = net.a.start('iperf3', '-c', address, '-p', PORT, '-t', seconds + 1, '-P', streams,
                       stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    try:
        return rtt(net, address, seconds, PORT + 1, REALTIME)
    finally:
        bulk.wait(seconds + 30)
        server.communicate(timeout=10)


def measure(net, meter, place, variant, seconds):
    """The figures of a measurement, a tuple as named in PLANS, or None."""
    address = net.address[place, variant]
    if meter.startswith('tcp'):
        return tcp(net, place, variant, seconds, int(meter[3:]))
    if meter == 'rtt':
        # A round-trip time needs no long run.
        return rtt(net, address, seconds / 2)
    if meter.startswith('loaded'):
        return loaded(net, address, seconds, int(meter[6:]))
    return {'small': small, 'trains': trains}[meter](net, address, seconds)


def load():
    return os.getloadavg()[0]


def measure_again(net, meter, place, variant, seconds, failed):
    """On a crowded machine a program may have no CPU for a whole measurement. A measurement
    without a result is repeated and reported."""
    for _ in range(TRIES - 1):
        try:
            return measure(net, meter, place, variant, seconds)
        except RuntimeError as e:
            failed.append(f'{meter}: {e}')
    return measure(net, meter, place, variant, seconds)


def one_round(net, meters, seconds, samples, failed, backwards):
    for place, plan in PLANS.items():
        for meter in filter(meters.__contains__, plan):
            figures = plan[meter]
            # The first variant finds a rested machine, so the order alternates.
            for variant in net.variants[place][::-1 if backwards else 1]:
                if meter in SKIPPED.get(variant, ()):
                    continue
                try:
                    values = measure_again(net, meter, place, variant, seconds, failed)
                except RuntimeError as e:
                    if variant in OWN:
                        raise
                    failed.append(f'{variant} given up: {e}')
                    continue
                for figure, value in zip(figures, values):
                    if value is not None:
                        samples.setdefault((place, variant, figure), []).append(value)


# --- reporting ---

def output(*command):
    result = subprocess.run(command, capture_output=True, text=True, check=False, cwd=TOP)
    return result.stdout.strip()


def machine():
    with open('/proc/cpuinfo', encoding='utf-8') as f:
        model = [line.partition(':')[2].strip() for line in f if line.startswith('model name')]
    return {'cpu': model[0] if model else platform.machine(), 'cores': os.cpu_count(),
            'kernel': platform.release(),
            'commit': output('git', 'describe', '--always', '--dirty'),
            'date': datetime.datetime.now(datetime.timezone.utc).isoformat(timespec='seconds')}


def summary(samples):
    """An entry for each figure: median, spread, ratios of medians within the run."""
    entries = []
    for (place, variant, meter), values in samples.items():
        median = statistics.median(values)
        ratios = {}
        for other in ('vxlan', 'none', 'ceiling'):
            others = samples.get((place, other, meter))
            ratios[f'ratio_to_{other}'] = (median / statistics.median(others)
                                           if others and statistics.median(others) else None)
        entries.append({'place': place, 'variant': variant, 'meter': meter,
                        'unit': METERS[meter][1], 'median': median, 'minimum': min(values),
                        'maximum': max(values), 'values': values, **ratios,
                        'target_ratio_to_vxlan': TARGETS.get((place, meter))
                        if variant.startswith('leon') else None})
    return entries


def number(value):
    return f'{value:.1f}' if value >= 10 else f'{value:.2f}'


def table(entries):
    for place, plan in PLANS.items():
        print(f'\n{"Between two nodes" if place == "direct" else "Through one relay"}')
        print(f'  {"":24} {"":18} {"median":>9} {"min - max":>17} {"to VXLAN":>9} {"to none":>8}'
              f' {"to ceiling":>10} {"target":>7}')
        for meter in (figure for figures in plan.values() for figure in figures):
            for e in entries:
                if (e['place'], e['meter']) != (place, meter):
                    continue
                spread = f'{number(e["minimum"])} - {number(e["maximum"])}'
                ratios = [f'{r:.2f}' if r is not None else '' for r in
                          (e['ratio_to_vxlan'], e['ratio_to_none'], e['ratio_to_ceiling'],
                           e['target_ratio_to_vxlan'])]
                print(f'  {NAMES[place, e["variant"]]:24} {METERS[meter][0]:18} '
                      f'{number(e["median"]):>9} {spread:>17} {ratios[0]:>9} {ratios[1]:>8} '
                      f'{ratios[2]:>10} {ratios[3]:>7} {e["unit"]}')


def main():
    parser = argparse.ArgumentParser(description=__doc__.partition('\n\n')[0])
    parser.add_argument('--rounds', type=int, default=5)
    parser.add_argument('--seconds', type=int, default=2, help='of each measurement')
    parser.add_argument('--workers', type=int, default=0, help='of each leond; 0 as shipped')
    parser.add_argument('--data', choices=list(DATA), default='both',
                        help='frames of LEON sealed, in clear, both in turn, or in clear without and '
                        'with export of flows in turn')
    parser.add_argument('--meters', nargs='+', choices=list(PLANS['direct']),
                        default=list(PLANS['direct']), help='only these measurements')
    parser.add_argument('--peers', nargs='*', choices=list(peers.PEERS), default=list(peers.PEERS),
                        help='other overlays; without a name: none')
    parser.add_argument('--json', help='file for all figures')
    arguments = parser.parse_args()
    if arguments.rounds < 1 or arguments.seconds < 1:
        parser.error('at least one round, and one second')
    about = {**machine(), 'rounds': arguments.rounds, 'seconds': arguments.seconds,
             'workers': arguments.workers, 'data': arguments.data, 'load_before': load(),
             'load_rounds': [], 'failed': []}
    ns.enter_lab()
    begin = time.monotonic()
    net = Net(arguments.workers, arguments.peers, arguments.data)
    samples = {}
    try:
        net.settle()
        for number in range(arguments.rounds):
            one_round(net, arguments.meters, arguments.seconds, samples, about['failed'],
                      number % 2)
            about['load_rounds'].append(load())
            print('.', end='', file=sys.stderr, flush=True)
        about['left_out'] = net.left_out
        about['statistics'] = {node.name: node.statistics() for node in net.nodes}
    finally:
        net.close()
    entries = summary(samples)
    print(f'\n{about["cpu"]}, {about["cores"]} cores, Linux {about["kernel"]}, commit '
          f'{about["commit"]}, {about["date"]}\n{arguments.rounds} rounds of {arguments.seconds} s,'
          f' {time.monotonic() - begin:.0f} s in all; load {about["load_before"]:.1f} before, '
          + ' '.join(f'{value:.1f}' for value in about['load_rounds']) + ' after each round')
    for name, why in about['left_out'].items():
        print(f'left out: {name}: {why}')
    for text in about['failed']:
        print(f'repeated: {text.partition(chr(10))[0]}')
    table(entries)
    if arguments.json:
        with open(arguments.json, 'w', encoding='utf-8') as f:
            json.dump({'about': about, 'figures': entries}, f, indent=1)


if __name__ == '__main__':
    main()
