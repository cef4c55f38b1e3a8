#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""Interruption of traffic after the death of a relay or a silent link failure. The bench reports
the distribution over many runs, with the shipped configuration except the hold-down. The path
therefore returns to the relay between runs. Targets (design.md section 4): 500 ms and 1 s.

    LEON_BUILD=build tests/bench/bench_failover.py [--runs 20]
"""
import argparse
import os
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), '../netns'))

import gaps  # noqa: E402
import ns  # noqa: E402
from lab import PAPER, Lab  # noqa: E402


def relayed(net):
    net.wait_path('fujisawa', 'seoul', ['inagi', 'seoul'], within=60)
    net.wait_path('seoul', 'fujisawa', ['inagi', 'fujisawa'], within=60)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument('--runs', type=int, default=20)
    parser.add_argument('--interval-ms', type=float, default=5, help='between two packets')
    arguments = parser.parse_args()
    ns.enter_lab()
    net = Lab({**PAPER, 'timing': 'production', 'config': {'path': {'hold-time': 1}}})
    try:
        net.joined(60)

        def revive():
            net.start('inagi')
            net.joined(60)
        failures = [('relay killed', 500, net.node['inagi'].kill, revive)]
        for pair in (('fujisawa', 'inagi'), ('inagi', 'seoul')):
            failures.append((f'link {pair[0]} - {pair[1]} fails silently', 1000,
                             lambda p=pair: net.wan.both(*p, up=False),
                             lambda p=pair: net.wan.both(*p, up=True)))
        for title, target, fail, mend in failures:
            runs = []
            for _ in range(arguments.runs):
                relayed(net)
                runs.append(gaps.one_run(net, 'fujisawa', 'seoul', fail,
                                         arguments.interval_ms / 1000))
                mend()
            gaps.report(title, target, runs)
    except BaseException:
        net.close(check=False)
        raise
    net.close()


if __name__ == '__main__':
    main()
