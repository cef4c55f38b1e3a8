#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""Bound of path choice on a trace, HOLD: the paths of a chooser that knows the future. Dynamic
programming finds them with a price for each change. One path has up to `--relays` relays, two
copies are the direct path and one relay. Hosts, subsets and figures are those of bench_paths.py. No
rule with as many relays has a lower mean at the same number of changes.

    tests/bench/bench_clairvoyant.py [--tuning] [--relays 1] [--prices 500,1000] [--jobs 2]
"""
import argparse
import concurrent.futures
import itertools
import statistics

from bench_paths import KEPT_ASIDE, SEATTLE, TUNING, bounds, matrices_of, subsets_of

SLICE_S = 15.7
LEAST_MS = 0.05  # as leonsim
PRICES = '1500,3000,4500,6500,10000,17000'  # milliseconds times seconds for a change


def filled(matrices):
    """Numbers as leonsim reads them: the other end, the matrix before, the next one."""
    out = [[[float(v) for v in line.split()] for line in m.split('\n')] for m in matrices]
    for i, m in enumerate(out):
        ends = [[value if value >= 0 else m[b][a] for b, value in enumerate(row)] for a, row in enumerate(m)]
        out[i] = [[max(value, LEAST_MS) if value >= 0 else None for value in row] for row in ends]
    for order in (out, out[::-1]):
        for before, m in itertools.pairwise(order):
            for row_before, row in zip(before, m):
                row[:] = [old if v is None else v for old, v in zip(row_before, row)]
    return out


def round_trips(matrices, hosts):
    """Flat matrices of a subset: the mean of both directions, as a probe sees it."""
    return [[(m[a][b] + m[b][a]) / 2 for a in hosts for b in hosts] for m in matrices]


def paths_of(a, b, n, relays):
    """Tuples of links, as indices of a flat matrix."""
    others = [k for k in range(n) if k not in (a, b)]
    for count in range(relays + 1):
        for via in itertools.permutations(others, count):
            yield tuple(x * n + y for x, y in itertools.pairwise((a, *via, b)))


def cheapest(costs, price):
    """Latency of the path in use in each slice, and the number of changes."""
    total, steps = [0.0] * len(costs[0]), []
    for cost in costs:
        least = min(total)
        steps.append((total, least + price))
        total = [min(t, least + price) + c for t, c in zip(total, cost)]
    at, changes, used = total.index(min(total)), 0, []
    for cost, (before, bar) in zip(reversed(costs), reversed(steps)):
        used.append(cost[at])
        if before[at] > bar:
            at = before.index(min(before))
            changes += 1
    return used, changes


def p99(values):
    return sorted(values)[int(len(values) * .99)]


def of_subset(matrices, n, relays, prices):
    """For each price: changes, mean and 99th percentile, for one path and for two copies. Both
    directions of a pair are alike."""
    pairs = list(itertools.combinations(range(n), 2))
    hours = len(matrices) * SLICE_S / 3600
    direct, found = [], {(price, copies): ([], []) for price in prices for copies in (False, True)}
    for a, b in pairs:
        links = list(paths_of(a, b, n, relays))
        one = [[sum([m[i] for i in path]) for path in links] for m in matrices]
        two = [[min(cost) for cost in zip(row[1:n - 1], itertools.repeat(row[0]))] for row in one]
        direct += [row[0] for row in one]
        for (price, copies), (latencies, changes) in found.items():
            used, count = cheapest(two if copies else one, price / SLICE_S)
            latencies += used
            changes.append(count)
    return {key: (sum(changes) / len(pairs) / hours, sum(used) / sum(direct), p99(used) / p99(direct))
            for key, (used, changes) in found.items()}


def main():
    parser = argparse.ArgumentParser(description=__doc__.split('\n', 1)[0])
    parser.add_argument('--tuning', action='store_true', help='the hosts and the time that rules are tuned on')
    parser.add_argument('--subsets', type=int, default=12)
    parser.add_argument('--size', type=int, default=12)
    parser.add_argument('--relays', type=int, choices=(1, 2, 3), default=1)
    parser.add_argument('--prices', default=PRICES, help='milliseconds times seconds for a change')
    parser.add_argument('--jobs', type=int, default=2)
    args = parser.parse_args()
    part = TUNING if args.tuning else KEPT_ASIDE
    prices = [float(p) for p in args.prices.split(',')]
    matrices = filled(matrices_of(SEATTLE, bounds(part['slices'])))
    subsets = subsets_of(bounds(part['hosts']), args.subsets, args.size, 1)
    with concurrent.futures.ProcessPoolExecutor(args.jobs) as pool:
        jobs = [pool.submit(of_subset, round_trips(matrices, hosts), args.size, args.relays, prices)
                for hosts in subsets]
        found = [job.result() for job in jobs]
    print('   price    one path: changes/h  mean   p99     two copies: changes/h  mean   p99')
    for price in prices:
        one, two = ([statistics.mean(f[price, copies][i] for f in found) for i in range(3)]
                    for copies in (False, True))
        print(f'{price:8.0f}  {one[0]:19.2f}  {one[1]:.3f}  {one[2]:.3f}  {two[0]:22.2f}  {two[1]:.3f}  {two[2]:.3f}')


if __name__ == '__main__':
    main()
