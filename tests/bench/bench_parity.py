#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""Parity of critical frames in comparison to single and duplicated frames: loss, bytes and delay,
in interleaved rounds.

Three nodes, as in bench_copies.py: the direct path has 12 ms, the relayed path 13 ms. Both paths
lose 5 % of the packets, independently of each other: single losses, or bursts (Gilbert).

    LEON_BUILD=build tests/bench/bench_parity.py [--rounds 3] [--rate 10000] [--seconds 10]

- loss: lost frames of the class.
- bytes: IP bytes on the wire from the sender, divided by those of the round without a policy.
- p99: 99th percentile of the delay, less that of the round without a policy.
- without loss: parities sent, and the three figures.

A block lasts 100 frames or 10 ms, so the resistance to bursts depends on the rate. On a busy
machine its queues lose frames, which the bench counts separately. Exits with 1 if a bar is missed.
"""
import argparse
import json
import os
import statistics
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), '../netns'))

import bench_copies  # noqa: E402
import ns  # noqa: E402
from bench_copies import PORT, WITHIN  # noqa: E402
from bench_fwd import machine  # noqa: E402
from lab import Lab, wait_for  # noqa: E402

CLASS = {'protocol': {'udp': {'port': [str(PORT)]}}}
TREATMENT = {'single': None,
             'duplicate': {'duplicate': {'budget': 100000000}},
             'parity': {'parity': {'budget': 100000000}}}
STATE = {'duplicate': ['duplicated'], 'parity': ['parity']}
TOPOLOGY = {'sites': {'a': {}, 'r': {}, 'b': {}},
            'rtt_ms': {('a', 'b'): 12, ('a', 'r'): 4, ('r', 'b'): 9}, 'timing': 'production'}
LOSS_BAR, BYTES_BAR, P99_BAR_MS = 0.3, 1.25, 10
LOSSY = [('a', 'b'), ('r', 'b')]


class Bench(bench_copies.Bench):
    def __init__(self, arguments):
        self.arguments = arguments
        self.net = Lab(TOPOLOGY).joined(WITHIN)
        self.net.settle_hosts('a', 'b')

    def treat(self, treatment):
        a, words = self.net.node['a'], TREATMENT[treatment]
        policy = {'critical': {**CLASS, **words}} if words else {}
        assert a.reload(policy=policy)['verdict'] == 'applied'

    def state(self):
        a, b = self.net.node['a'], self.net.node['b']
        return [p['state'] for p in a.show('policy')['pairs'] if p['destination'] == b.node_id]

    def lose(self, permille, burst=1):
        for link in LOSSY:
            self.net.wan.link(*link, loss_permille=permille, burst=burst)

    def warm(self, treatment, lossy):
        """Data until the loss is measured and the treatment is in force."""
        if treatment == 'single':
            self.flow(self.arguments.rate, self.arguments.rate, self.arguments.size)
            return
        wanted = STATE[treatment] if lossy or treatment == 'duplicate' else ['path-is-good']

        def in_force():
            self.flow(self.arguments.rate, self.arguments.rate, self.arguments.size)
            return self.state() == wanted
        wait_for(in_force, WITHIN, f'{treatment} is in force')

    def measure(self, treatment, lossy):
        self.treat(treatment)
        self.warm(treatment, lossy)
        links = (('a', 'r'), ('a', 'b'))
        before = sum(map(self.on_the_wire, links))
        parities = self.net.node['a'].counter('parity_tx')
        n = self.arguments.seconds * self.arguments.rate
        got = self.flow(n, self.arguments.rate, self.arguments.size)
        return {'loss': got['lost_percent'], 'p50': got['p50_us'] / 1000, 'p99': got['p99_us'] / 1000,
                'again': got['again'], 'bytes': sum(map(self.on_the_wire, links)) - before,
                'parities': self.net.node['a'].counter('parity_tx') - parities}

    def on_the_wire(self, link):
        """Bytes of IP packets that entered the link, lost packets included."""
        n = self.net.wan.count(*link)
        mean = n['bytes'] / max(1, n['delivered'])
        return n['bytes'] + n['lost'] * mean - bench_copies.ETHERNET * (n['delivered'] + n['lost'])


def run_case(bench, name, permille, burst, fails):
    seen = {treatment: [] for treatment in TREATMENT}
    bench.lose(permille, burst)
    for _ in range(bench.arguments.rounds):
        for treatment, found in seen.items():
            found.append(bench.measure(treatment, permille > 0))
    median = {t: {key: statistics.median(r[key] for r in rounds) for key in rounds[0]}
              for t, rounds in seen.items()}
    print(f'{name}')
    for treatment, m in median.items():
        added, ratio = m['p99'] - median['single']['p99'], m['bytes'] / median['single']['bytes']
        bars = treatment == 'parity'
        missed = bars and (m['loss'] > LOSS_BAR or ratio > BYTES_BAR or added > P99_BAR_MS or
                           (not permille and m['parities']) or m['again'])
        print(f'  {treatment:10} lost {m["loss"]:.3f} %, bytes {ratio:.3f}, p50 {m["p50"]:.2f} ms, '
              f'p99 {m["p99"]:.2f} ms (added {added:+.2f}), parities {m["parities"]:.0f}'
              f'{"   MISSED" if missed else ""}', flush=True)
        if missed:
            fails.append(name)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument('--rounds', type=int, default=3)
    parser.add_argument('--rate', type=int, default=10000, help='frames a second')
    parser.add_argument('--size', type=int, default=700, help='bytes of payload')
    parser.add_argument('--seconds', type=int, default=10)
    parser.add_argument('--burst', type=float, action='append', help='mean lengths of bursts')
    arguments = parser.parse_args()
    ns.enter_lab()
    about, fails = machine(), []
    print(f'{about["cpu"]}, {about["cores"]} cores, Linux {about["kernel"]}, {about["commit"]}, '
          f'load {os.getloadavg()[0]:.1f}; {json.dumps(vars(arguments))}')
    bench = Bench(arguments)
    try:
        run_case(bench, 'no loss', 0, 1, fails)
        run_case(bench, '5 % of single losses', 50, 1, fails)
        for burst in arguments.burst or (2, 3):
            run_case(bench, f'5 % in bursts of {burst:g} (Gilbert)', 50, burst, fails)
    except BaseException:
        bench.net.close(check=False)
        raise
    bench.net.close()
    return 1 if fails else 0


if __name__ == '__main__':
    sys.exit(main())
