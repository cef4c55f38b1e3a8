#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""Interruption of traffic at a site with two routers. The forwarding router dies, loses the LAN,
hands over as planned, or restarts. A host of a third site sends numbered packets every millisecond
to a silent host of the LAN. Rounds are interleaved. Targets: killed 500 ms (95 of 100), LAN link
down 200 ms, planned 20 ms and no duplicate.

    LEON_BUILD=build tests/bench/bench_forwarder.py [--runs 20] [--only killed] [--json FILE]

Results of earlier runs in FILE count too.
"""
import argparse
import os
import sys
import time

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), '../netns'))

import gaps  # noqa: E402
import ns  # noqa: E402
from lab import Lab, line_up, wait_for  # noqa: E402
from test_trunk import plug  # noqa: E402


def preferred(net, name, preference=200):
    """The answering host is behind the bridge of the other router, so the host survives the
    router."""
    net.node[name].reload(loop_guard={'preference': preference})
    wait_for(lambda: state(net, name) == 'shared', 60, f'{name} forwards')


def state(net, name):
    rows = net.node[name].show('segments')['segments']
    return next(s['state'] for s in rows if s['vlan'] == 0)


def failures(net):
    """{title: (target, fail, mend)}; n1 forwards when each begins."""
    n1 = net.node['n1']

    def link(up):
        n1.namespace.ip(f'link set h0 {up}', f'link set x1 {up}')

    def revive():
        net.start('n1')
        net.joined(60)
    return {
        'forwarder killed': (500, n1.kill, revive),
        'its LAN link goes down': (200, lambda: link('down'), lambda: link('up')),
        'planned: another preference': (
            20, lambda: n1.reload(loop_guard={'preference': 1}), lambda: None),
        'planned: stopped': (20, n1.stop, revive),
    }


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument('--runs', type=int, default=20)
    parser.add_argument('--interval-ms', type=float, default=2, help='between two packets')
    parser.add_argument('--pause', type=float, default=3, help='seconds before each failure')
    parser.add_argument('--only', default='', help='failures with this in their title')
    parser.add_argument('--json', help='a file that runs are added to')
    arguments = parser.parse_args()
    ns.enter_lab()
    net = Lab(line_up(3, timing='production'))
    results = {}
    targets = {}
    try:
        net.joined(60)
        plug(net)
        for _ in range(arguments.runs):
            for title, (target, fail, mend) in failures(net).items():
                if arguments.only not in title:
                    continue
                targets[title] = target
                preferred(net, 'n1')
                time.sleep(arguments.pause)
                results.setdefault(title, []).append(
                    gaps.one_run(net, 'n2', 'n0', fail, arguments.interval_ms / 1000,
                                 packets=300, within=60))
                mend()
        kept = gaps.add_to(arguments.json, results)
        for title, target in targets.items():
            gaps.report(title, target, kept[title])
    except BaseException:
        net.close(check=False)
        raise
    net.close()


if __name__ == '__main__':
    main()
