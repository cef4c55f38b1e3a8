#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""What a node costs when nothing is carried: CPU, memory, descriptors, threads and control traffic
of leond as shipped, alone and with 12 and 100 nodes (all on this machine, so CPU is measured per
process and wall-clock load does not matter much).

    LEON_BUILD=build tests/bench/bench_footprint.py [--nodes 1 12 100] [--seconds 20]
"""
import argparse
import os
import statistics
import sys
import time

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), '../netns'))

import matrix  # noqa: E402
import ns  # noqa: E402
from lab import Lab, line_up  # noqa: E402

TICKS = os.sysconf('SC_CLK_TCK')
GROUP = 10
PAGE = os.sysconf('SC_PAGE_SIZE')


def cpu_seconds(pid):
    with open(f'/proc/{pid}/stat', encoding='ascii') as f:
        fields = f.read().rpartition(')')[2].split()
    return (int(fields[11]) + int(fields[12])) / TICKS


def resident(pid):
    with open(f'/proc/{pid}/statm', encoding='ascii') as f:
        return int(f.read().split()[1]) * PAGE


def control(node):
    statistics_ = node.statistics()['control']
    return statistics_['tx_messages'], statistics_['tx_bytes']


def topology(n):
    rtt = matrix.planetlab(n) if n > 1 else None
    pairs = {(f'n{a}', f'n{b}'): rtt[a][b] for a in range(n) for b in range(a)} if rtt else {}
    return line_up(n, hosts=False, timing='production', rtt_ms=pairs,
                   config={'system': {'workers': 2}})


def measure(n, seconds):
    begin = time.monotonic()
    net = Lab(topology(n), start=False)
    try:
        # A few at a time, as sites are built: all at once would measure how this machine copes.
        names = list(net.node)
        for first in range(0, n, GROUP):
            net.start(*names[first:first + GROUP])
            net.joined(within=300, names=names[:first + GROUP])
        joined = time.monotonic() - begin
        time.sleep(seconds / 2)  # not a wait for something: what is measured is the idle state
        nodes = list(net.node.values())
        cpu = [cpu_seconds(node.process.pid) for node in nodes]
        traffic = [control(node) for node in nodes]
        start = time.monotonic()
        time.sleep(seconds)
        elapsed = time.monotonic() - start
        cpu = [100 * (cpu_seconds(node.process.pid) - before) / elapsed
               for node, before in zip(nodes, cpu)]
        traffic = [[(now - then) / elapsed for now, then in zip(control(node), before)]
                   for node, before in zip(nodes, traffic)]
        memory = [resident(node.process.pid) / 2 ** 20 for node in nodes]
        pid = nodes[0].process.pid
        runs = [node.statistics()['control'] for node in nodes]
        print(f'{n:5} {joined:7.1f} {statistics.median(cpu):7.2f} {max(cpu):7.2f} '
              f'{statistics.median(memory):7.1f} {len(os.listdir(f"/proc/{pid}/fd")):5} '
              f'{len(os.listdir(f"/proc/{pid}/task")):8} '
              f'{statistics.median(t[0] for t in traffic):9.1f} '
              f'{statistics.median(t[1] for t in traffic) * 8 / 1000:9.1f} '
              f'{max(r["path_run_us_max"] for r in runs):9}', flush=True)
    except BaseException:
        net.close(check=False)
        raise
    net.close()


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument('--nodes', type=int, nargs='+', default=[1, 12, 100])
    parser.add_argument('--seconds', type=float, default=20)
    arguments = parser.parse_args()
    ns.enter_lab()
    print('nodes  joined     cpu  max cpu  memory   fds  threads  messages   control  path run')
    print('            s       %       %      MiB                   tx /s   tx kbit/s    us max')
    for n in arguments.nodes:
        measure(n, arguments.seconds)


if __name__ == '__main__':
    main()
