# SPDX-License-Identifier: GPL-2.0-or-later
"""Interruption of a stream of numbered packets by a failure: a single failure, and the
distribution over many. bench_failover.py and bench_forwarder.py use the module.

A run is (gap in ms, packets lost, longest delay caused by the machine in ms, duplicates)."""
import json
import os
import statistics

from traffic import Stream


def one_run(net, source, target, fail, interval, packets=100, within=30):
    """The host of `source` sends to the host of `target`; `packets` arrive before and after the
    failure."""
    net.settle_hosts(source, target, within=60)
    host = net.host[target]
    flow = Stream(net.host[source].namespace, host.namespace, host.ip4, interval=interval)
    flow.start()
    flow.arrived(packets)
    net.late_ms()
    fail()
    flow.arrived(packets, within=within)
    flow.stop()
    seconds, lost = flow.gap()
    return (1000 * seconds, lost, max(1000 * flow.stall, net.late_ms()),
            len(flow.order) - len(flow.received))


def percentile(gaps, share):
    """The smallest of the sorted gaps that at least `share` of 100 gaps do not exceed."""
    return gaps[max(0, -(-share * len(gaps) // 100) - 1)]


def report(title, target_ms, runs):
    gaps = sorted(run[0] for run in runs)
    print(f'\n{title} (target {target_ms} ms)')
    print('  gap ms    ' + ' '.join(f'{g:.0f}' for g in gaps))
    print(f'  median {statistics.median(gaps):.0f}  p90 {percentile(gaps, 90):.0f}  '
          f'p95 {percentile(gaps, 95):.0f}  worst {gaps[-1]:.0f}  '
          f'lost packets median {statistics.median(r[1] for r in runs):.0f}, twice '
          f'{sum(sum(r[3:]) for r in runs)} in all')
    print(f'  this machine held packets up for at worst {max(r[2] for r in runs):.0f} ms, '
          f'load {os.getloadavg()[0]:.1f}')
    print(f'  within the target: {sum(g <= target_ms for g in gaps)} of {len(gaps)}', flush=True)


def add_to(path, results):
    """Adds runs to the file, {title: [run, ...]}, and returns all runs."""
    kept = {}
    if path and os.path.exists(path):
        with open(path, encoding='utf-8') as f:
            kept = json.load(f)
    for title, runs in results.items():
        kept[title] = kept.get(title, []) + runs
    if path:
        with open(path, 'w', encoding='utf-8') as f:
            json.dump(kept, f)
    return kept
