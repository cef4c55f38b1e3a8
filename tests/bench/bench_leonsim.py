#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""Run time and memory of leonsim for an overlay of many nodes. The trace has hosts on a plane. The
latency of each pair exceeds the straight distance by a random factor, as on the Internet, and
varies slightly between slices. Another trace can be given.

    LEON_BUILD=$PWD/build tests/bench/bench_leonsim.py [--hosts 490] [--slices 4] [--slice 30]
                                                       [--warm-up 20] [--reading hold]
                                                       [--trace FILE]
"""
import argparse
import json
import math
import os
import pathlib
import random
import resource
import subprocess
import tempfile
import time

TOP = pathlib.Path(__file__).resolve().parents[2]
LEONSIM = pathlib.Path(os.environ.get('LEON_BUILD', TOP / 'build')) / 'vyos-1x-leon/leonsim/leonsim'
ACROSS_MS = 150  # from corner to corner on the straight path


def write_trace(file, hosts, slices, seed=1):
    """Matrices in ms, in the format of leonsim(1)."""
    rng = random.Random(seed)
    place = [(rng.random(), rng.random()) for _ in range(hosts)]
    detour = {(a, b): rng.lognormvariate(0.4, 0.3) for a in range(hosts) for b in range(a)}
    for _ in range(slices):
        rtt = [[0.0] * hosts for _ in range(hosts)]
        for (a, b), factor in detour.items():
            ms = 1 + math.dist(place[a], place[b]) * ACROSS_MS / math.sqrt(2) * factor
            rtt[a][b] = rtt[b][a] = ms * rng.uniform(0.95, 1.05)
        file.writelines(' '.join(f'{ms:.2f}' for ms in row) + '\n' for row in rtt)
        file.write('\n')
    file.flush()


def run(words):
    """The answer, seconds by the clock and of processor time, MiB resident at most."""
    start = time.monotonic()
    done = subprocess.run([LEONSIM, '--json', *map(str, words)], stdout=subprocess.PIPE, check=True)
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return json.loads(done.stdout), time.monotonic() - start, used.ru_utime + used.ru_stime, used.ru_maxrss / 1024


def main():
    parser = argparse.ArgumentParser(description=__doc__.split('\n', 1)[0])
    parser.add_argument('--hosts', type=int, default=490)
    parser.add_argument('--slices', type=int, default=4)
    parser.add_argument('--slice', type=float, default=30, help='seconds that one lasts')
    parser.add_argument('--warm-up', type=float, default=20, help='seconds on the first slice that do not count')
    parser.add_argument('--reading', choices=('hold', 'noise'), default='hold')
    parser.add_argument('--trace', help='a trace instead of a made-up one')
    args = parser.parse_args()
    with tempfile.NamedTemporaryFile('w', suffix='.txt') as made:
        if not args.trace:
            write_trace(made, args.hosts, args.slices)
        answer, wall, cpu, memory = run(['--trace', args.trace or made.name, '--slice', args.slice,
                                         '--warm-up', args.warm_up, '--reading', args.reading])
    print(f'{answer["nodes"]} nodes, {answer["hours"] * 3600:.0f} s of the trace after {args.warm_up:.0f} s: '
          f'{wall:.0f} s by the clock, {cpu:.0f} s of processor time, {memory:.0f} MiB; paths in use {answer["mean"]:.3f} of direct, '
          f'best {answer["oracle"]["mean"]:.3f}, {answer["changes_per_hour"]:.2f} changes/h')


if __name__ == '__main__':
    main()
