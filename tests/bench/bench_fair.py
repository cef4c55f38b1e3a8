#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""Fairness of accelerated connections on one inter-proxy connection.

    LEON_BUILD=build tests/bench/bench_fair.py [--seconds 28] [--mbits 50] [--rtt-ms 100] [--plain]

Four bulk uploads and two steady uploads (60 kB/s each) from a to b. Prints the bytes and the
longest silence of each, and Jain's index of the bulk uploads. --plain: without acceleration. Bars:
Jain's index 0.95 or more, silences of at most 1 s (bulk) and 0.3 s (steady).
"""
import argparse
import os
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


def steady(a, b):
    t = Transfer(a, b, b.ip4, up=ENDLESS, pause=STEADY_PAUSE_S)
    t.block = STEADY_BLOCK
    return t


def share(host, seconds, ready):
    a, b = host['a'], host['b']
    streams = [Transfer(a, b, b.ip4, up=ENDLESS) for _ in range(BULK)]
    streams += [steady(a, b) for _ in range(STEADY)]
    ready(len(streams))
    before = [t.count['server'] for t in streams]
    for t in streams:
        t.silence['server'] = 0.0
    time.sleep(seconds)
    got = [t.count['server'] - n for t, n in zip(streams, before)]
    for i, (t, n) in enumerate(zip(streams, got)):
        kind = 'bulk' if i < BULK else 'steady'
        print(f'{kind:7} {n / 1e6:8.2f} MB  longest silence {t.silence["server"]:.2f} s')
    print(f'Jain\'s index of the bulk uploads: {jain(got[:BULK]):.3f}')
    for t in streams:
        t.abort()


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument('--seconds', type=int, default=28)
    parser.add_argument('--mbits', type=int, default=50)
    parser.add_argument('--rtt-ms', type=int, default=100)
    parser.add_argument('--plain', action='store_true')
    args = parser.parse_args()
    ns.enter_lab()
    net = Lab({'sites': {'a': {}, 'b': {}}, 'rtt_ms_default': args.rtt_ms,
               'config': PATIENT if args.plain else ACCELERATED})
    net.wan.both('a', 'b', delay_us=args.rtt_ms * 500, rate_kbit=args.mbits * 1000, queue_us=QUEUE_US)
    try:
        if args.plain:
            share(net.joined(60).host, args.seconds, lambda n: None)
            return
        with far_apart(net) as far:
            share(net.host, args.seconds, far.wait_intercepted)
    finally:
        net.close(check=False)


if __name__ == '__main__':
    main()
