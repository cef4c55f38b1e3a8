#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""Fairness of accelerated connections on one inter-proxy connection, in comparison to plain TCP.

    LEON_BUILD=build tests/bench/bench_fair.py [--rounds 3] [--seconds 28] [--mbits 50]
        [--rtt-ms 100]

Four bulk uploads and two steady uploads (60 kB/s each) from a to b, plain and accelerated
alternately. Prints Jain's index of the bulk uploads, and the longest silence of a bulk and of a
steady upload, the interception included. Bars: Jain's index 0.95 or more, silences of at most 1 s
(bulk) and of at most the silence of plain TCP (steady).
"""
import argparse
import contextlib
import io
import os
import statistics
import sys
import time

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), '../netns'))

import ns  # noqa: E402
from accel import ENDLESS, Transfer, far_apart, jain  # noqa: E402
from lab import PATIENT, Lab, merged  # noqa: E402

ACCELERATED = merged(PATIENT, {'acceleration': {'mode': 'always', 'minimum-segments': 4}})
BULK, STEADY = 4, 2
STEADY_BLOCK, STEADY_PAUSE_S = 1200, .02
QUEUE_US = 100_000
COLUMNS = ('Jain', 'bulk s', 'steady s', 'bulk MB', 'steady MB')


def steady(a, b):
    t = Transfer(a, b, b.ip4, up=ENDLESS, pause=STEADY_PAUSE_S)
    t.block = STEADY_BLOCK
    return t


def share(host, seconds, ready):
    """One row of COLUMNS."""
    a, b = host['a'], host['b']
    streams = [Transfer(a, b, b.ip4, up=ENDLESS) for _ in range(BULK)]
    streams += [steady(a, b) for _ in range(STEADY)]
    ready(len(streams))
    before = [t.count['server'] for t in streams]
    for t in streams:
        t.silence['server'] = 0.0
    time.sleep(seconds)
    got = [t.count['server'] - n for t, n in zip(streams, before)]
    silent = [t.silence['server'] for t in streams]
    for t in streams:
        t.abort()
    return (jain(got[:BULK]), max(silent[:BULK]), max(silent[BULK:]), sum(got[:BULK]) / 1e6,
            min(got[BULK:]) / 1e6)


def measure(args, plain):
    net = Lab({'sites': {'a': {}, 'b': {}}, 'rtt_ms_default': args.rtt_ms,
               'config': PATIENT if plain else ACCELERATED})
    net.wan.both('a', 'b', delay_us=args.rtt_ms * 500, rate_kbit=args.mbits * 1000, queue_us=QUEUE_US)
    try:
        if plain:
            return share(net.joined(60).host, args.seconds, lambda n: None)
        with contextlib.redirect_stdout(io.StringIO()), far_apart(net) as far:
            return share(net.host, args.seconds, far.wait_intercepted)
    finally:
        net.close(check=False)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument('--rounds', type=int, default=3)
    parser.add_argument('--seconds', type=int, default=28)
    parser.add_argument('--mbits', type=int, default=50)
    parser.add_argument('--rtt-ms', type=int, default=100)
    args = parser.parse_args()
    ns.enter_lab()
    rows = {'plain': [], 'accelerated': []}
    print(f'{"":12}', *(f'{c:>10}' for c in COLUMNS))
    for _ in range(args.rounds):
        for name, row in rows.items():
            row.append(measure(args, name == 'plain'))
            print(f'{name:12}', *(f'{v:10.2f}' for v in row[-1]), flush=True)
    for name, row in rows.items():
        print(f'{name + " median":12}', *(f'{statistics.median(c):.2f}' for c in zip(*row)))


if __name__ == '__main__':
    main()
