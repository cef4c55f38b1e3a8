#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""A slow link that our own bulk traffic fills for minutes.

    LEON_BUILD=build tests/bench/bench_line.py saturate [--minutes 10] [--mbits 10]
    LEON_BUILD=build tests/bench/bench_line.py follow [--changes 10] [--mbits 50] [--to 25]

saturate: four permanent TCP streams from a to b. The direct link has 20 ms, the rate --mbits and a
buffer of 200 ms; the path through c has 40 ms and no limit. The bench counts path changes between
a and b, with and without `shaper automatic`, at the same time in two overlays.

follow: the rate from a to b decreases and increases every ten seconds. The bench measures the time
until the limit of `shaper automatic` stays within 15 % of the rate for a second, and the queueing
delay after three seconds.
"""
import argparse
import os
import sys
import time

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), '../netns'))

import ns  # noqa: E402
from gaps import percentile  # noqa: E402
from lab import Lab, line_up, wait_for  # noqa: E402
from traffic import Bulk  # noqa: E402

BUFFER_US = 200000
AUTOMATIC = {'shaper': {'automatic': True}}
THREE = {'sites': {'a': {}, 'b': {}, 'c': {}}, 'timing': 'production',
         'rtt_ms': {('a', 'b'): 20, ('a', 'c'): 20, ('c', 'b'): 20}}
EVERY_S = 0.05
OLD_S = 10          # seconds between changes of the rate
FOLLOWED_S = 3
NEAR = 0.15


def bulk(net, source, destination):
    return Bulk(net.host[source].namespace, net.host[destination].namespace,
                net.host[destination].ip4, streams=4)


# --- saturate ---

class Saturated:
    """An overlay of three nodes with a full link from a to b."""

    def __init__(self, title, config, kbits):
        self.title = title
        self.net = Lab({**THREE, 'config': config}).joined(60)
        self.net.wait_path('a', 'b', ['b'], within=60)
        self.net.settle_hosts('a', 'b')
        self.net.wan.both('a', 'b', rate_kbit=kbits, queue_us=BUFFER_US)
        self.bulk = bulk(self.net, 'a', 'b')
        self.before = None
        self.queues, self.received, self.since = [], 0, time.monotonic()

    def changes(self):
        """Of the paths between a and b, in either direction."""
        node = self.net.node
        return sum(e['node_id'] == node[other].node_id for name, other in (('a', 'b'), ('b', 'a'))
                   for e in node[name].events('path'))

    def begin(self):
        self.before = self.changes()

    def look(self):
        self.queues.append(self.net.wan.count('a', 'b')['waits_us'] / 1000)

    def report(self, minute):
        now, received = time.monotonic(), self.bulk.received
        queues = sorted(self.queues)
        mbits = (received - self.received) * 8 / (now - self.since) / 1e6
        print(f'{minute:>3} min {self.title:18} {mbits:6.2f} Mbit/s, queue of the line p50 '
              f'{percentile(queues, 50):5.1f} p99 {percentile(queues, 99):5.1f} ms, '
              f'changes of the path so far: {self.changes() - self.before}', flush=True)
        self.queues, self.received, self.since = [], received, now

    def close(self):
        self.bulk.stop()
        self.net.close()


def saturate(arguments):
    kbits = int(arguments.mbits * 1000)
    runs = []
    try:
        for title, config in (('shaper automatic', AUTOMATIC), ('no shaper', {})):
            runs.append(Saturated(title, config, kbits))
        for run in runs:
            run.begin()
        for minute in range(arguments.minutes):
            end = time.monotonic() + 60
            while time.monotonic() < end:
                time.sleep(EVERY_S)
                for run in runs:
                    run.look()
            for run in runs:
                run.report(minute + 1)
        failed = any(run.changes() != run.before for run in runs)
    finally:
        for run in runs:
            run.close()
    print(f'load at the end {os.getloadavg()[0]:.1f}')
    return failed


# --- follow ---

def one_change(net, kbits):
    """Seconds until the limit is near the rate for a second, or None; sorted queueing delays after
    that in ms."""
    near_since, took, waits = None, None, []
    net.wan.both('n0', 'n1', rate_kbit=kbits)
    begin = time.monotonic()
    while (now := time.monotonic() - begin) < OLD_S:
        limit = net.node['n0'].show('queues')['bottleneck']['limit_kbits'] or 0
        if abs(limit - kbits) > NEAR * kbits:
            near_since = None
        elif near_since is None:
            near_since = now
        if took is None and near_since is not None and now - near_since >= 1:
            took = near_since
        if now > FOLLOWED_S:
            waits.append(net.wan.count('n0', 'n1')['waits_us'] / 1000)
        time.sleep(EVERY_S)
    return took, sorted(waits)


def follow(arguments):
    rates = [int(arguments.to * 1000), int(arguments.mbits * 1000)]
    net = Lab({**line_up(2, config=AUTOMATIC, rtt_ms_default=arguments.rtt),
               'timing': 'production'}).joined(60)
    late = 0
    try:
        net.settle_hosts('n0', 'n1')
        net.wan.both('n0', 'n1', rate_kbit=rates[1], queue_us=BUFFER_US)
        sending = bulk(net, 'n0', 'n1')
        try:
            wait_for(lambda: net.node['n0'].show('queues')['bottleneck']['limit_kbits'], 60, 'a limit')
            time.sleep(OLD_S)
            for _ in range(arguments.changes):
                for kbits in rates:
                    before = sending.received
                    took, waits = one_change(net, kbits)
                    part = (sending.received - before) * 8 / OLD_S / 1000 / kbits
                    late += took is None or took > FOLLOWED_S
                    print(f'to {kbits / 1000:5.1f} Mbit/s: near it after '
                          f'{"more than " + str(OLD_S) if took is None else f"{took:.2f}"} s; from '
                          f'{FOLLOWED_S} s on the queue of the line p50 {percentile(waits, 50):.1f} '
                          f'p99 {percentile(waits, 99):.1f} ms; {part:.2f} of it used in all', flush=True)
        finally:
            sending.stop()
    finally:
        net.close()
    print(f'{late} of {2 * arguments.changes} took more than {FOLLOWED_S} s; load at the end '
          f'{os.getloadavg()[0]:.1f}')
    return late


def main():
    parser = argparse.ArgumentParser(description=__doc__.partition('\n\n')[0])
    commands = parser.add_subparsers(dest='what', required=True)
    one = commands.add_parser('saturate')
    one.add_argument('--minutes', type=int, default=10)
    one.add_argument('--mbits', type=float, default=10)
    one.set_defaults(run=saturate)
    one = commands.add_parser('follow')
    one.add_argument('--changes', type=int, default=10, help='times that it gets slower')
    one.add_argument('--mbits', type=float, default=50)
    one.add_argument('--to', type=float, default=25)
    one.add_argument('--rtt', type=int, default=20, help='ms')
    one.set_defaults(run=follow)
    arguments = parser.parse_args()
    ns.enter_lab()
    sys.exit(bool(arguments.run(arguments)))


if __name__ == '__main__':
    main()
