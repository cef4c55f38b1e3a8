#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""Round trips of a sparse flow (a ping every few milliseconds) during bulk TCP streams.

    LEON_BUILD=build tests/bench/bench_load.py [--rounds 3] [--seconds 3] [--streams 0 1 4]
                [--lines [--rates 10 50 200] [--rtts 20 80]
                         [--shaper 95 | --ingress 95 | --automatic] [--backwards]]
                [--variants leon vxlan...] [--peers NAME...] [--before LEOND]
                [--congestion cubic] [--json FILE]

The bench uses the fast wire of bench_fwd.py. With --lines, links have the given rates in Mbit/s
and round-trip times, and a tail-drop buffer of 200 ms. Variants are LEON with and without seals,
kernel VXLAN and no encapsulation. --peers adds other overlays (peers.py, `.ci/deps bench`), and
--before adds another leond, for example of the last commit. Rounds are interleaved, and the first
variant alternates. --variants selects variants. Jain's index of the bulk streams is 1 for equal
rates. All programs share the cores of this machine. The ratios to the same idle variant and to
other variants of the run count.
"""
import argparse
import json
import os
import re
import shutil
import statistics
import subprocess
import sys
import tempfile
import time

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), '../netns'))

import ns  # noqa: E402
import peers  # noqa: E402
from bench_fwd import cpu_seconds, machine, number, wire  # noqa: E402
from node import Node, wait_for  # noqa: E402
from wan import Wan, ip4  # noqa: E402

PORT = 9000
SETTLE_S = 1.0      # of bulk, before the first ping
FINDING_S = 5.0     # the same, but leond must find the rate first
WAY_S = 3           # seconds for PINGs to measure a changed link
EVERY_S = {'fast': 0.005, 'line': 0.01}
BUFFER_US = 200000  # of a link, in each direction
SECRET = {'authentication': {'pre-shared-secret': 'a secret for the bench'}}
CLEAR = {'encryption': {'disable': True}, 'authentication': {'disable': True}}
# Variants of LEON: configuration, and True for the leond of --before.
LEON = {'leon': (CLEAR, False), 'leon-sealed': (SECRET, False),
        'before': (CLEAR, True), 'before-sealed': (SECRET, True)}
NAMES = {'none': 'no encapsulation', 'vxlan': 'kernel VXLAN', 'leon': 'LEON',
         'leon-sealed': 'LEON sealed', 'before': 'LEON before', 'before-sealed': 'before, sealed',
         **{name: name for name in peers.PEERS}}


class Net:
    """Namespaces a and b, and the overlays between both; underlay() connects the namespaces."""

    def __init__(self, arguments):
        self.directory = tempfile.mkdtemp(prefix='leon-bench-')
        self.a, self.b = (ns.Namespace(name) for name in 'ab')
        # A host with cached TCP metrics of earlier rounds would start with the worst window.
        for space in (self.a, self.b):
            space.sysctl('ipv4/tcp_no_metrics_save', 1)
        self.nodes, self.address, self.node = [], {}, {}
        self.congestion = arguments.congestion
        self.settle_s = FINDING_S if arguments.automatic else SETTLE_S
        self.source = self.underlay()
        self.address['none'] = self.source[1]
        self._vxlan()
        for i, (variant, (extra, is_before)) in enumerate(LEON.items()):
            if variant in (arguments.variants or LEON) and (not is_before or arguments.before):
                self._leon(variant, i, extra, arguments.before if is_before else None)
        for i, name in enumerate(arguments.peers):
            self._peer(name, i)

    def _vxlan(self):
        ends = ((self.a, *self.source), (self.b, *self.source[::-1]))
        for i, (space, here, there) in enumerate(ends, 1):
            space.ip(f'link add vxlan0 type vxlan id 10 local {here} remote {there} '
                     f'dstport 4789 dev {self.device}',
                     f'addr add 10.6.0.{i}/24 dev vxlan0', 'link set vxlan0 up')
        self.address['vxlan'] = '10.6.0.2'

    def _leon(self, variant, i, extra, program):
        pair = []
        for end, (space, here, there) in enumerate(
                ((self.a, *self.source), (self.b, *self.source[::-1])), 1):
            node = Node(f'{space.name}{i}', space, {
                'version': 1, 'interface': f'leon{i}', 'source-address': [here],
                'node-name': space.name, 'port': 5366 + i, 'vni': 1 + i,
                'peer': {'other': {'address': there, 'port': 5366 + i}}, **self.shaping, **extra,
            }, self.directory)
            node.program = program
            node.start()
            space.ip(f'addr add 10.7.{i}.{end}/24 dev leon{i}', f'link set leon{i} up')
            pair.append(node)
        self.nodes += pair
        self.node[variant] = pair
        self.address[variant] = f'10.7.{i}.2'

    def _peer(self, name, i):
        inner = (f'10.8.{i}.1', f'10.8.{i}.2')
        runs, why = peers.start(self, name, self.directory, inner, self.source)
        if not runs:
            raise RuntimeError(f'{name}: {why}')
        self.address[name] = inner[1]

    def settle(self):
        for variant, (one, other) in self.node.items():
            def there(one=one, other=other):
                path = one.paths().get(other.node_id)
                return path and (path['mtu'] or 0) > 1400
            wait_for(there, 60, f'path of {variant} and its MTU')
        for address in self.address.values():
            wait_for(lambda a=address: self.a.run('ping', '-c1', '-W1', a,
                                                  check=False).returncode == 0,
                     30, f'{address} answers')

    def close(self):
        for node in self.nodes:
            node.stop()
        for space in (self.a, self.b):
            space.close()
        shutil.rmtree(self.directory)


class Fast(Net):
    device, kind, shaping = 'eth0', 'fast', {}

    def underlay(self):
        wire(self.a, 'eth0', self.b, 'eth0')
        for end, space in ((1, self.a), (2, self.b)):
            space.ip(f'addr add 10.5.0.{end}/24 dev eth0')
        return '10.5.0.1', '10.5.0.2'


class Line(Net):
    device, kind, shaping = 'wan0', 'line', {}

    def underlay(self):
        self.wan = Wan()
        for name, space in (('a', self.a), ('b', self.b)):
            self.wan.add_site(name, space)
        self.wan.set_neighbors()
        return ip4(0), ip4(1)

    def set(self, mbits, rtt_ms):
        self.wan.both('a', 'b', rate_kbit=mbits * 1000, delay_us=rtt_ms * 500, queue_us=BUFFER_US)

    def shape(self, shaper, ends=slice(None)):
        """The shaper of LEON at the given ends, except for the leond of --before."""
        for variant, pair in self.node.items():
            for node in pair[ends] if not LEON[variant][1] else ():
                answer = node.reload(shaper=shaper)
                if answer['verdict'] not in ('applied', 'unchanged'):
                    raise RuntimeError(f'{node.name}: {answer}')

    def close(self):
        super().close()
        self.wan.close()


# --- measuring ---

def start_bulk(net, address, streams, seconds, backwards):
    server = net.b.start('iperf3', '-s', '-1', '-p', PORT, '--forceflush', stdout=subprocess.PIPE,
                         stderr=subprocess.DEVNULL, text=True)
    while 'listening' not in server.stdout.readline():
        if server.poll() is not None:
            raise RuntimeError('iperf3 -s does not start')
    client = net.a.start('iperf3', '-c', address, '-p', PORT, '-t', seconds, '-P', streams, '-J',
                         '-C', net.congestion, *(['-R'] if backwards else []), stdout=subprocess.PIPE, text=True)
    return server, client


def pings(net, address, seconds):
    """Sorted round-trip times in us, and the lost share."""
    every = EVERY_S[net.kind]
    count = int(seconds / every)
    out = net.a.run('ping', '-n', '-i', every, '-c', count, '-W', '1', address,
                    check=False, timeout=10 * seconds + 60).stdout
    times = sorted(float(t) * 1000 for t in re.findall(r'time=([\d.]+) ms', out))
    if not times:
        raise RuntimeError(f'nothing came back from {address}')
    return times, 1 - len(times) / count


def jain(streams):
    """Jain's index of fairness, RFC 5166."""
    rates = [s['receiver']['bits_per_second'] for s in streams]
    squares = sum(r * r for r in rates)
    return sum(rates) ** 2 / (len(rates) * squares) if squares else 0.0


def measure(net, variant, streams, seconds, backwards=False):
    """p50 and p99 in us; Mbit/s of bulk, CPU of both leonds for a GB of bulk; lost pings."""
    address = net.address[variant]
    programs = [node.process for node in net.node.get(variant, ())]
    bulk, used = None, cpu_seconds(programs)
    if streams:
        bulk = start_bulk(net, address, streams, seconds + net.settle_s + SETTLE_S, backwards)
        time.sleep(net.settle_s)
    times, lost = pings(net, address, seconds)
    mbits = cpu = None
    if bulk:
        server, client = bulk
        result = json.loads(client.communicate(timeout=60 + seconds)[0])
        server.communicate(timeout=60)
        received = result['end']['sum_received']
        mbits = received['bits_per_second'] / 1e6
        cpu = (cpu_seconds(programs) - used) / received['bytes'] * 1e9 if programs else None
    return {'jain': jain(result['end']['streams']) if bulk else None,
            'p50': times[len(times) // 2], 'p99': times[len(times) * 99 // 100],
            'mbits': mbits, 'cpu': cpu, 'lost': 100 * lost}


def one_round(net, arguments, place, samples, turn):
    variants = [v for v in net.address
                if not arguments.variants or v in arguments.variants + arguments.peers]
    variants = variants[turn % len(variants):] + variants[:turn % len(variants)]
    for streams in arguments.streams:
        for variant in variants:
            for _ in range(3):
                try:
                    seen = measure(net, variant, streams, arguments.seconds, arguments.backwards)
                    break
                except (RuntimeError, KeyError, ValueError) as e:
                    print(f'again: {variant}: {e}', file=sys.stderr)
            else:
                raise RuntimeError(f'{variant} cannot be measured')
            samples.setdefault((place, streams, variant), []).append(seen)
    print('.', end='', file=sys.stderr, flush=True)


# --- reporting ---

def figure(values, key):
    known = [v[key] for v in values if v[key] is not None]
    if not known:
        return f'{"":9} {"":17}'
    return (f'{number(statistics.median(known)):>9} '
            f'{number(min(known)) + " - " + number(max(known)):>17}')


def table(samples):
    print(f'{"":26} {"streams":>7} {"":16} {"p50 us":>9} {"min - max":>17} {"p99 us":>9} '
          f'{"min - max":>17} {"Mbit/s":>9} {"min - max":>17} {"CPU s/GB":>9} {"min - max":>17} '
          f'{"lost %":>7} {"Jain":>6}')
    for (place, streams, variant), values in samples.items():
        lost = statistics.median(v['lost'] for v in values)
        fair = statistics.median(v['jain'] for v in values) if streams else 1.0
        print(f'{place:26} {streams:>7} {NAMES[variant]:16} {figure(values, "p50")} '
              f'{figure(values, "p99")} {figure(values, "mbits")} {figure(values, "cpu")} '
              f'{lost:>7.1f} {fair:>6.3f}')


def run_fast(arguments, samples, about):
    net = Fast(arguments)
    try:
        net.settle()
        for turn in range(arguments.rounds):
            one_round(net, arguments, 'fast wire', samples, turn)
            about['load_rounds'].append(os.getloadavg()[0])
        about['statistics'] = {node.name: node.statistics() for node in net.nodes}
    finally:
        net.close()


def run_lines(arguments, samples, about):
    net = Line(arguments)
    try:
        net.settle()
        for turn in range(arguments.rounds):
            for mbits in arguments.rates:
                for rtt in arguments.rtts:
                    net.set(mbits, rtt)
                    if arguments.automatic:
                        time.sleep(WAY_S)
                        net.shape(None)  # clears the estimate of the last link
                        net.shape({'automatic': True})
                    elif arguments.ingress:
                        # The receiver of the bulk announces the rate of its link, and the other end
                        # receives the share.
                        net.shape({'ingress': mbits * 10 * arguments.ingress},
                                  slice(0, 1) if arguments.backwards else slice(1, 2))
                    elif arguments.shaper:
                        net.shape({'egress': mbits * 10 * arguments.shaper})
                    one_round(net, arguments, f'{mbits} Mbit/s, {rtt} ms', samples, turn)
            about['load_rounds'].append(os.getloadavg()[0])
    finally:
        net.close()


def main():
    parser = argparse.ArgumentParser(description=__doc__.partition('\n\n')[0])
    parser.add_argument('--rounds', type=int, default=3)
    parser.add_argument('--seconds', type=int, default=3, help='of each measurement')
    parser.add_argument('--streams', type=int, nargs='+', default=[0, 1, 4])
    parser.add_argument('--lines', action='store_true', help='slow lines, not the fast wire')
    parser.add_argument('--rates', type=int, nargs='+', default=[10, 50, 200], help='Mbit/s')
    parser.add_argument('--rtts', type=int, nargs='+', default=[20, 80], help='ms')
    parser.add_argument('--shaper', type=int, help="of LEON, in percent of the line's rate")
    parser.add_argument('--ingress', type=int,
                        help="the same as the rate inwards, of the end that gets the bulk alone")
    parser.add_argument('--automatic', action='store_true', help='LEON finds the rate by itself')
    parser.add_argument('--backwards', action='store_true', help='bulk comes from the other end')
    parser.add_argument('--variants', nargs='+', choices=NAMES, help='these only')
    parser.add_argument('--peers', nargs='+', default=[], choices=peers.PEERS,
                        help='other overlays to take along')
    parser.add_argument('--before', help='another leond to take along')
    parser.add_argument('--congestion', default='cubic', help="TCP's, of the bulk streams")
    parser.add_argument('--json', help='file for all figures')
    arguments = parser.parse_args()
    if arguments.rounds < 1 or arguments.seconds < 1:
        parser.error('at least one round, and one second')
    if bool(arguments.shaper) + bool(arguments.ingress) + arguments.automatic > 1:
        parser.error('--shaper, --ingress or --automatic')
    if arguments.ingress and not arguments.lines:
        parser.error('--ingress is for --lines')
    about = {**machine(), 'arguments': vars(arguments), 'load_before': os.getloadavg()[0],
             'load_rounds': []}
    ns.enter_lab()
    samples, begin = {}, time.monotonic()
    (run_lines if arguments.lines else run_fast)(arguments, samples, about)
    print(f'\n{about["cpu"]}, {about["cores"]} cores, Linux {about["kernel"]}, commit '
          f'{about["commit"]}, {about["date"]}\n{arguments.rounds} rounds of {arguments.seconds} s, '
          f'{time.monotonic() - begin:.0f} s in all; load {about["load_before"]:.1f} before, '
          + ' '.join(f'{value:.1f}' for value in about['load_rounds']) + ' after each round')
    table(samples)
    if arguments.json:
        with open(arguments.json, 'w', encoding='utf-8') as f:
            json.dump({'about': about, 'figures': [
                {'place': place, 'streams': streams, 'variant': variant, 'rounds': values}
                for (place, streams, variant), values in samples.items()]}, f, indent=1)


if __name__ == '__main__':
    main()
