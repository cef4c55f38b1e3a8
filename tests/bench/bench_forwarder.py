#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""How long traffic of a site stops when the one of its two routers that forwards dies, loses its
LAN, hands over as planned, or is restarted: a host of a third site sends numbered packets each
millisecond or so to a host of the LAN, which says nothing. Rounds are interleaved. Targets: killed
500 ms (95 of 100), LAN link down 200 ms, planned 20 ms and no packet twice.

    LEON_BUILD=build tests/bench/bench_forwarder.py [--runs 20]
"""
import argparse
import os
import statistics
import sys
import time

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), '../netns'))

import ns  # noqa: E402
from lab import Lab, line_up, wait_for  # noqa: E402
from test_trunk import plug  # noqa: E402
from traffic import Stream  # noqa: E402


def preferred(net, name, preference=200):
    """The host that answers is behind the other router's bridge: it lives on when this one dies."""
    net.node[name].reload(loop_guard={'preference': preference})
    wait_for(lambda: state(net, name) == 'shared', 60, f'{name} forwards')


def state(net, name):
    rows = net.node[name].show('segments')['segments']
    return next(s['state'] for s in rows if s['vlan'] == 0)


def one_run(net, fail, interval):
    net.settle_hosts('n2', 'n0', within=60)
    host = net.host['n0']
    flow = Stream(net.host['n2'].namespace, host.namespace, host.ip4, interval=interval)
    flow.start()
    flow.arrived(300)
    net.late_ms()
    fail()
    flow.arrived(300, within=60)
    flow.stop()
    seconds, lost = flow.gap()
    return 1000 * seconds, lost, max(1000 * flow.stall, net.late_ms())


def report(title, target_ms, runs):
    gaps = sorted(gap for gap, _, _ in runs)
    p95 = gaps[max(0, -(-95 * len(gaps) // 100) - 1)]
    print(f'\n{title} (target {target_ms} ms)')
    print('  gap ms    ' + ' '.join(f'{g:.0f}' for g in gaps))
    print(f'  median {statistics.median(gaps):.0f}  p95 {p95:.0f}  worst {gaps[-1]:.0f}  '
          f'lost packets median {statistics.median(r[1] for r in runs):.0f}')
    print(f'  this machine held packets up for at worst {max(r[2] for r in runs):.0f} ms, '
          f'load {os.getloadavg()[0]:.1f}')
    print(f'  within the target: {sum(g <= target_ms for g in gaps)} of {len(gaps)}', flush=True)


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
    parser.add_argument('--pause', type=float, default=20, help='seconds before each failure')
    arguments = parser.parse_args()
    ns.enter_lab()
    net = Lab(line_up(3, timing='production'))
    results = {}
    try:
        net.joined(60)
        plug(net)
        for _ in range(arguments.runs):
            for title, (target, fail, mend) in failures(net).items():
                preferred(net, 'n1')
                # Other nodes take a site's word that its hosts moved once in 10 s.
                time.sleep(arguments.pause)
                result = one_run(net, fail, arguments.interval_ms / 1000)
                results.setdefault((title, target), []).append(result)
                mend()
        for (title, target), runs in results.items():
            report(title, target, runs)
    except BaseException:
        net.close(check=False)
        raise
    net.close()


if __name__ == '__main__':
    main()
