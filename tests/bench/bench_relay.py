#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""Forwarding rate of a relay on one dedicated core, in frames of 64 bytes and in full packets. The
relay is leond, the smallest user-space program (ceiling.c), or the kernel.

a ---- r ---- b, wires as in bench_fwd.py. The first core serves only the relay. The kernel thread
for the wire of a (threaded NAPI) runs there, with reception, GRO and kernel forwarding. So does the
relaying process with one worker. The second core serves everything else: the generator, and the
kernel thread for arrivals at b. nftables drops data there, so the leond of b receives only control
datagrams. The generator sends datagrams of the leond of a at full speed, many of one length with
one call, as a leond does. The bench counts all frames sent by the relay, because the wire to b may
have no space. A veth holds 256 packets, and b has no CPU during the run.

    LEON_BUILD=build tests/bench/bench_relay.py [--rounds 5] [--seconds 2] [--json FILE]

`a core`: frames forwarded in a second of CPU time of the kernel thread and the process together. A
dedicated core forwards at least the same number, because batches grow with the load. The figure
needs no faster generator and hardly depends on other load. `passed` is the rate of the run.
"""
import argparse
import json
import os
import socket
import statistics
import sys
import tempfile
import time
from dataclasses import dataclass

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), '../netns'))

import bench_fwd  # noqa: E402
import ns  # noqa: E402
from bench_fwd import CEILING, SMALL, TRIES, WIRELOAD, cpu_seconds, machine  # noqa: E402
from node import Node, wait_for  # noqa: E402

RELAY_CORE, OTHER_CORE = 0, 1
A, R, B = '10.9.0.1', '10.9.0.3', '10.9.0.2'
FRAME = 60  # 64 with the frame check sequence
LEON_PORT, CEILING_PORT = 5366, 5300
VNI = 1
LEON_FRAME, LEON_BUNDLE = 1, 3
# A bundle of 23 frames, each with a length of two bytes, fills an MTU of 1500.
LEON_HEADER, BUNDLED = 18, 23
FULL = 1500 - 28


@dataclass
class Case:
    """Kinds of traffic: UDP payload of each datagram, first bytes, frames per datagram."""
    title: str
    source: tuple
    to: tuple
    size: int
    frames: int = 1
    begins: str = '00'
    against: str = 'forwarding'


def leon_header(kind):
    """The header of a datagram from a through r to b, before r."""
    return (bytes([1 << 4 | kind, 0, 2 << 4]) + VNI.to_bytes(3, 'big') +
            b''.join(socket.inet_aton(node) for node in (A, R, B))).hex()


CASES = {
    'forwarding': Case('kernel IP forwarding', (A, 9), (B, 9), SMALL),
    'ceiling': Case('ceiling', (A, CEILING_PORT), (R, CEILING_PORT), 2 + FRAME),
    'leon': Case('LEON, a frame a datagram', (A, LEON_PORT), (R, LEON_PORT), LEON_HEADER + FRAME,
                 1, leon_header(LEON_FRAME)),
    'leon-bundles': Case('LEON, bundles', (A, LEON_PORT), (R, LEON_PORT),
                         LEON_HEADER + BUNDLED * (2 + FRAME), BUNDLED, leon_header(LEON_BUNDLE)),
    'forwarding-full': Case('kernel IP forwarding, full', (A, 9), (B, 9), FULL),
    'ceiling-full': Case('ceiling, full packets', (A, CEILING_PORT), (R, CEILING_PORT), FULL,
                         against='forwarding-full'),
    'leon-full': Case('LEON, full packets', (A, LEON_PORT), (R, LEON_PORT), FULL, 1,
                      leon_header(LEON_FRAME), 'forwarding-full'),
}
# A run with fewer frames is not a measurement.
MINIMUM = 1000
# Required ratio to kernel forwarding (design.md section 9).
TARGET = 0.85


# --- cores and kernel threads ---

@dataclass
class Thread:
    """A kernel thread, for cpu_seconds()."""
    pid: int


def napi_thread(space, interface):
    """Gives the interface a kernel thread, and returns the thread."""
    space.run('unshare', '-m', 'sh', '-c', 'mount -t sysfs sysfs /sys && echo 1 > '
              f'/sys/class/net/{interface}/threaded')

    def found():
        for pid in filter(str.isdigit, os.listdir('/proc')):
            try:
                with open(f'/proc/{pid}/comm', encoding='utf-8') as f:
                    if f.read().startswith(f'napi/{interface}-'):
                        return Thread(int(pid))
            except OSError:
                pass
        return None
    return wait_for(found, 5, f'NAPI thread of {interface}')


def pin(process, core):
    """All threads of a process."""
    for thread in os.listdir(f'/proc/{process.pid}/task'):
        os.sched_setaffinity(int(thread), {core})


def idle_seconds():
    """Of the relay's core."""
    with open('/proc/stat', encoding='utf-8') as f:
        words = next(line for line in f if line.startswith(f'cpu{RELAY_CORE} ')).split()
    return (int(words[4]) + int(words[5])) / os.sysconf('SC_CLK_TCK')


# --- the network ---

class Net:
    def __init__(self):
        self.directory = tempfile.mkdtemp(prefix='leon-relay-')
        self.a, self.r, self.b = (ns.Namespace(name) for name in 'arb')
        # Unique names of the run, for the search of kernel threads.
        self.at_r, self.at_b = f'r{os.getpid()}', f'b{os.getpid()}'
        bench_fwd.wire(self.a, 'eth1', self.r, self.at_r)
        bench_fwd.wire(self.r, 'eth2', self.b, self.at_b)
        self._addresses()
        self._drop()
        self.nodes = [self._leon(self.r, R, [A, B]), self._leon(self.a, A, [R]),
                      self._leon(self.b, B, [R])]
        self.ceiling = self.r.start(CEILING, 'relay', R, A, B, CEILING_PORT)
        leond = self.nodes[0].process
        self.relays = {'forwarding': None, 'forwarding-full': None, 'ceiling': self.ceiling,
                       'ceiling-full': self.ceiling, 'leon': leond, 'leon-bundles': leond, 'leon-full': leond}
        self.napi = napi_thread(self.r, self.at_r)
        pin(napi_thread(self.b, self.at_b), OTHER_CORE)
        for process in (self.napi, self.ceiling, leond):
            pin(process, RELAY_CORE)

    def _addresses(self):
        for space, own, wire, end, router in ((self.a, A, 'eth1', '10.2.1.1/24', '10.2.1.3'),
                                              (self.b, B, self.at_b, '10.2.2.1/24', '10.2.2.3')):
            space.ip(f'addr add {end} dev {wire}', f'addr add {own}/32 dev lo',
                     f'route add 10.9.0.0/24 via {router} src {own}')
        self.r.ip(f'addr add 10.2.1.3/24 dev {self.at_r}', 'addr add 10.2.2.3/24 dev eth2',
                  f'addr add {R}/32 dev lo', f'route add {A}/32 via 10.2.1.1 src {R}',
                  f'route add {B}/32 via 10.2.2.1 src {R}')
        self.r.sysctl('ipv4/ip_forward', 1)

    def _drop(self):
        """b drops unassigned frames, frames of the ceiling, and all LEON datagrams except control
        datagrams."""
        self.b.run('nft', '-f', '-', input='\n'.join((
            'table ip bench {', 'chain unwanted {',
            'type filter hook prerouting priority raw; policy accept;',
            f'udp dport {{ 9, {CEILING_PORT} }} drop',
            f'udp dport {LEON_PORT} @th,64,8 != 0x14 drop', '}', '}', '')))

    def _leon(self, space, address, others):
        node = Node(space.name, space, {
            'version': 1, 'interface': 'leon0', 'source-address': [address], 'vni': VNI,
            'node-name': space.name, 'port': LEON_PORT, 'system': {'workers': 1},
            'peer': {f'peer{i}': {'address': other} for i, other in enumerate(others)},
        }, self.directory)
        return node.start()

    def settle(self):
        """The relay has both nodes as neighbors. The path choice of a does not matter."""
        r, a, b = self.nodes

        def there():
            paths = r.paths()
            return all(n.node_id in paths and paths[n.node_id]['hops'] == [n.node_id]
                       for n in (a, b))
        wait_for(there, 60, 'the relay reaches a and b')
        assert self.a.run('ping', '-c1', '-W5', B).returncode == 0

    def passed(self):
        """Packets sent by the relay to b so far."""
        link = json.loads(self.r.run('ip', '-s', '-j', 'link', 'show', 'eth2').stdout)
        sent = link[0]['stats64']['tx']
        return sent['packets'] + sent['dropped']

    def close(self):
        bench_fwd.end(self.nodes, (self.a, self.r, self.b), self.directory)


# --- measuring ---

def measure(net, name, seconds):
    """Thousands of frames: forwarded per CPU second of the relay, forwarded and offered per
    second. Also the used and the idle share of the core of the relay."""
    case = CASES[name]
    at_work = [p for p in (net.napi, net.relays[name]) if p]
    begin, passed, used, idle = time.monotonic(), net.passed(), cpu_seconds(at_work), idle_seconds()
    sent = json.loads(net.a.run(WIRELOAD, 'flood', *case.source, *case.to, case.size, seconds,
                                case.begins, timeout=seconds + 30).stdout)
    idle, used = idle_seconds() - idle, cpu_seconds(at_work) - used
    frames, took = (net.passed() - passed) * case.frames, time.monotonic() - begin
    if frames < MINIMUM:
        raise RuntimeError(f'{name}: {frames} frames passed')
    return {'kfps_core': frames / used / 1e3, 'kfps': frames / sent['seconds'] / 1e3,
            'kfps_offered': sent['datagrams'] * case.frames / sent['seconds'] / 1e3,
            'own_share': used / took, 'idle_share': idle / took}


def measure_again(net, name, seconds):
    """On a crowded machine a leond may lose links because of a long wait for the CPU."""
    for _ in range(TRIES - 1):
        try:
            return measure(net, name, seconds)
        except RuntimeError:
            net.settle()
    return measure(net, name, seconds)


def run(net, rounds, seconds):
    samples = {name: [] for name in CASES}
    for number in range(rounds):
        for name in list(CASES)[::-1 if number % 2 else 1]:
            samples[name].append(measure_again(net, name, seconds))
        print('.', end='', file=sys.stderr, flush=True)
    return samples


def summary(samples):
    entries = []
    for name, taken in samples.items():
        entry = {'relay': name}
        for key in taken[0]:
            values = [sample[key] for sample in taken]
            entry[key] = statistics.median(values)
            entry[key + '_values'] = values
        entries.append(entry)
    rate = {entry['relay']: entry['kfps_core'] for entry in entries}
    for entry in entries:
        entry['ratio_to_forwarding'] = entry['kfps_core'] / rate[CASES[entry['relay']].against]
        entry['target'] = TARGET if entry['relay'].startswith('leon') else None
    return entries


def table(entries):
    print(f'  {"thousands of frames a second":29} {"a core":>8} {"min - max":>17} {"to kernel":>9} '
          f'{"target":>6} {"passed":>8} {"offered":>8} {"own":>5} {"idle":>5}')
    for e in entries:
        spread = f'{min(e["kfps_core_values"]):.0f} - {max(e["kfps_core_values"]):.0f}'
        print(f'  {CASES[e["relay"]].title:29} {e["kfps_core"]:8.0f} {spread:>17} '
              f'{e["ratio_to_forwarding"]:9.2f} {e["target"] or "":>6} {e["kfps"]:8.0f} '
              f'{e["kfps_offered"]:8.0f} {e["own_share"]:5.0%} {e["idle_share"]:5.0%}')


def main():
    parser = argparse.ArgumentParser(description=__doc__.partition('\n\n')[0])
    parser.add_argument('--rounds', type=int, default=5)
    parser.add_argument('--seconds', type=int, default=2, help='of each measurement')
    parser.add_argument('--json', help='file for all figures')
    arguments = parser.parse_args()
    if os.cpu_count() < 2:
        sys.exit('bench_relay: one core for the relay and one for the rest')
    about = {**machine(), 'rounds': arguments.rounds, 'seconds': arguments.seconds}
    ns.enter_lab()
    os.sched_setaffinity(0, {OTHER_CORE})
    net = Net()
    try:
        net.settle()
        samples = run(net, arguments.rounds, arguments.seconds)
        about['statistics'] = {node.name: node.statistics() for node in net.nodes}
    finally:
        net.close()
    entries = summary(samples)
    print(f'\nA relay alone on a core; load {os.getloadavg()[0]:.1f}')
    table(entries)
    if arguments.json:
        with open(arguments.json, 'w', encoding='utf-8') as f:
            json.dump({'about': about, 'figures': entries}, f, indent=1)


if __name__ == '__main__':
    main()
