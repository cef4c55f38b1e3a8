#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""Benefit and cost of two copies of critical frames: rounds with and without copies, alternately.

Three nodes, the direct path 32 ms, the relayed path 21 ms (as in the paper). Sealed, and not.

    LEON_BUILD=build tests/bench/bench_copies.py [--rounds 3] [--frames 1000000] [--rate 5000]

- loss: 5 % on either of the two paths; lost frames of the class, and lost single copies. LEON
  leaves a path with such a loss, so single copies lose less than 5 %.
- relay killed under traffic: frames lost.
- many frames with reordering on both paths: duplicates and missing frames. On a busy machine the
  queue of leon0 may overflow while leond has no CPU. Frames lost there never reached LEON. The
  bench counts such frames separately, and the bar ignores the count.
- budget: IP bytes of second copies on the wire to the relay, divided by the budget for the time.
  The budget may save a quarter of a second.
- CPU: seconds of the leonds of both ends for a GB of payload at a steady rate. Only the ratio
  counts. The figure of the relay follows: all copies without the class, half of the copies with.
Exits with 1 if a bar is missed.
"""
import argparse
import json
import os
import statistics
import subprocess
import sys
import time

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), '../netns'))

import ns  # noqa: E402
from bench_fwd import WIRELOAD, cpu_seconds, machine  # noqa: E402
from lab import Lab, wait_for  # noqa: E402

PORT = 40000
TWICE = {'critical': {'protocol': {'udp': {'port': [str(PORT)]}},
                      'duplicate': {'budget': 100000000}}}
TOPOLOGY = {'sites': {'a': {}, 'r': {}, 'b': {}},
            'rtt_ms': {('a', 'b'): 32, ('a', 'r'): 4, ('r', 'b'): 17}, 'timing': 'production'}
MODES = {'sealed': {}, 'not sealed': {'encryption': {'disable': True}}}
LOSS_BAR, BUDGET_BAR, CPU_BAR = 0.3, 1.02, 2.2
WITHIN = 120
BUDGET_KBITS, SAVED_S = 2000, 0.25
LARGE, VOICE = 1000, 172  # bytes of payload; the latter is 20 ms of G.711 with RTP
ETHERNET = 14


class Bench:
    def __init__(self, mode, arguments):
        self.arguments = arguments
        self.net = Lab({**TOPOLOGY, 'config': MODES[mode]}).joined(WITHIN)
        self.net.settle_hosts('a', 'b')
        self.relayed()

    def relayed(self):
        for one, other in (('a', 'b'), ('b', 'a')):
            self.net.wait_path(one, other, ['r', other], within=WITHIN)

    def policy(self, twice, **duplicate):
        policy = json.loads(json.dumps(TWICE if twice else {}))
        if twice:
            policy['critical']['duplicate'].update(duplicate)
        a = self.net.node['a']
        assert a.reload(policy=policy)['verdict'] == 'applied'
        if twice:
            wait_for(lambda: [p['state'] for p in a.show('policy')['pairs']
                              if p['destination'] == self.net.node['b'].node_id] == ['duplicated'],
                     WITHIN, 'two paths')

    def overrun(self):
        """Frames and datagrams lost at full queues of this machine, before or after LEON."""
        spaces = {**{name: node.namespace for name, node in self.net.node.items()},
                  'host': self.net.host['b'].namespace}
        found = {}
        for name, space in spaces.items():
            rows = [line.split() for line in space.run('cat', '/proc/net/snmp').stdout.splitlines()
                    if line.startswith('Udp:')]
            found[f'{name} socket'] = int(dict(zip(*rows))['RcvbufErrors'])
            for link in json.loads(space.run('ip', '-s', '-j', 'link').stdout):
                stats = link['stats64']
                found[f'{name} {link["ifname"]}'] = stats['tx']['dropped'] + stats['rx']['dropped']
        for a, b in (('a', 'b'), ('a', 'r'), ('r', 'b')):
            found[f'link {a} {b}'] = self.net.wan.count(a, b)['overflow']
        return found

    def flow(self, count, rate, size=LARGE, meanwhile=None):
        """Sends numbered datagrams from host to host. Returns the arrivals."""
        host, before = self.net.host['b'], self.overrun()
        receiver = host.namespace.start(WIRELOAD, 'tally', PORT, size, count, 5,
                                        stdout=subprocess.PIPE, text=True)
        receiver.stdout.readline()
        sender = self.net.host['a'].namespace.start(WIRELOAD, 'paced', host.ip4, PORT, size, count,
                                                    rate, stdout=subprocess.PIPE, text=True)
        if meanwhile:
            time.sleep(count / rate / 2)
            meanwhile()
        sent = json.loads(sender.communicate(timeout=20 * count / rate + 60)[0])
        got = json.loads(receiver.communicate(timeout=60)[0])
        full = {k: n - before.get(k, 0) for k, n in self.overrun().items() if n > before.get(k, 0)}
        if full:
            print(f'    (queues of this machine that were full: {full}; late by '
                  f'{sent["late_ms"]:.0f} ms)')
        return {**got, 'lost_percent': 100 * got['missing'] / count, 'seconds': sent['seconds'],
                'not_taken': full.get('a leon0', 0)}

    # --- measurements ---

    def loss(self, twice, link):
        self.policy(twice)
        self.relayed()
        self.net.wan.link(*link, loss_permille=50)
        lost = self.flow(4 * self.arguments.rate, self.arguments.rate)['lost_percent']
        self.net.wan.link(*link, loss_permille=0)
        return lost

    def killed(self, twice):
        self.policy(twice)
        self.relayed()
        missing = self.flow(4000, 1000, meanwhile=self.net.node['r'].kill)['missing']
        self.net.start('r')
        self.net.joined(WITHIN)
        self.relayed()
        return missing

    def many(self):
        self.policy(True)
        for link in (('a', 'b'), ('a', 'r'), ('r', 'b')):
            self.net.wan.link(*link, reorder_permille=100)
        got = self.flow(self.arguments.frames, self.arguments.rate)
        for link in (('a', 'b'), ('a', 'r'), ('r', 'b')):
            self.net.wan.link(*link, reorder_permille=0)
        return got

    def on_the_wire(self, link):
        """Bytes of IP packets sent along the link."""
        n = self.net.wan.count(*link)
        return n['bytes'] - ETHERNET * n['delivered']

    def took(self, seconds, twice):
        """Bytes of all packets sent by a during a flow of the given duration, and the real
        duration. No two frames of the flow share a datagram."""
        size, rate, links = 800, 1000, (('a', 'r'), ('a', 'b'))
        at, begin = sum(map(self.on_the_wire, links)), time.monotonic()
        if twice is None:
            time.sleep(seconds)
            lasted = seconds
        else:
            lasted = self.flow(seconds * rate, rate, size)['seconds']
        return (sum(map(self.on_the_wire, links)) - at, lasted, time.monotonic() - begin)

    def budget(self):
        """The used part of the budget for second copies. Periods without the class and without
        frames give the share of control datagrams and of the free copy."""
        self.policy(False)
        idle, _, idle_for = self.took(5, None)
        single, _, single_for = self.took(20, False)
        self.policy(True, budget=BUDGET_KBITS)
        double, lasted, double_for = self.took(20, True)
        extra = double - single - idle / idle_for * (double_for - single_for)
        return extra / (BUDGET_KBITS * 125 * (lasted + SAVED_S))

    def cpu(self, twice, size, rate):
        """Of both ends and of the relay, in seconds for a GB of payload."""
        self.policy(twice)
        self.relayed()
        nodes = self.net.node
        ends, relay = [nodes['a'].process, nodes['b'].process], [nodes['r'].process]
        before = cpu_seconds(ends), cpu_seconds(relay)
        got = self.flow(4 * rate, rate, size)
        gigabytes = got['arrived'] * size / 1e9
        return ((cpu_seconds(ends) - before[0]) / gigabytes,
                (cpu_seconds(relay) - before[1]) / gigabytes)


def median_of(rounds):
    return statistics.median(rounds)


def verdict(fails, text, good):
    print(f'  {text}' + ('' if good else '   MISSED'), flush=True)
    if not good:
        fails.append(text)


def run_loss(bench, arguments, fails):
    for name, link in (('direct', ('a', 'b')), ("the relay's", ('r', 'b'))):
        lost = {twice: [] for twice in (False, True)}
        for _ in range(arguments.rounds):
            for twice, seen in lost.items():
                seen.append(bench.loss(twice, link))
        verdict(fails, f'5 % loss on {name} path: class {max(lost[True]):.3f} % at worst '
                f'(single copies {median_of(lost[False]):.2f} %)', max(lost[True]) < LOSS_BAR)


def run_cpu(bench, arguments, fails):
    rate = arguments.rate
    for title, size in (('1000 bytes', LARGE), ('172 bytes', VOICE)):
        ends, relay = {False: [], True: []}, {False: [], True: []}
        for _ in range(arguments.rounds):
            for twice in (False, True):
                at_ends, at_relay = bench.cpu(twice, size, rate)
                ends[twice].append(at_ends)
                relay[twice].append(at_relay)
        one, two = median_of(ends[False]), median_of(ends[True])
        verdict(fails, f'CPU, {title} at {rate} a second: {one:.1f} and {two:.1f} s/GB at both '
                f'ends, ratio {two / one:.2f} (relay {median_of(relay[False]):.1f}, '
                f'{median_of(relay[True]):.1f})', two / one <= CPU_BAR)


def run(mode, arguments, fails):
    print(f'\n{mode}')
    bench = Bench(mode, arguments)
    try:
        run_loss(bench, arguments, fails)
        killed = {twice: [] for twice in (False, True)}
        for _ in range(arguments.rounds):
            for twice, seen in killed.items():
                seen.append(bench.killed(twice))
        verdict(fails, f'relay killed: {max(killed[True])} frames lost at worst (single copies '
                f'{median_of(killed[False]):.0f} of 1000 a second)', max(killed[True]) == 0)
        run_cpu(bench, arguments, fails)
        share = bench.budget()
        verdict(fails, f'budget of {BUDGET_KBITS} kbit/s: second copies took {share:.3f} of it',
                share <= BUDGET_BAR)
        got = bench.many()
        verdict(fails, f'{arguments.frames} frames, 10 % reordered on each link: '
                f'{got["again"]} twice, {got["missing"]} missing ({got["not_taken"]} of them before '
                f'LEON), {got["out_of_order"]} out of order',
                not got['again'] and got['missing'] <= got['not_taken'] and not got['strange'])
    except BaseException:
        bench.net.close(check=False)
        raise
    bench.net.close()


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument('--rounds', type=int, default=3)
    parser.add_argument('--frames', type=int, default=1000000)
    parser.add_argument('--rate', type=int, default=5000, help='frames a second')
    parser.add_argument('--mode', choices=list(MODES), action='append')
    arguments = parser.parse_args()
    ns.enter_lab()
    about, fails = machine(), []
    print(f'{about["cpu"]}, {about["cores"]} cores, Linux {about["kernel"]}, {about["commit"]}, '
          f'load {os.getloadavg()[0]:.1f}')
    for mode in arguments.mode or MODES:
        run(mode, arguments, fails)
    return 1 if fails else 0


if __name__ == '__main__':
    sys.exit(main())
