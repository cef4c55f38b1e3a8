# SPDX-License-Identifier: GPL-2.0-or-later
"""Real round-trip times: sub-matrices of the PlanetLab measurements in tests/latency, and a
second, independent computation of the best path."""
import heapq
import os
import random

DIRECTORY = os.path.join(os.path.dirname(os.path.abspath(__file__)), '../latency')


def planetlab(n, time_slice=1, seed=3):
    """n x n round-trip times in ms of sites between 3 and 400 ms apart."""
    with open(os.path.join(DIRECTORY, f'planetlab_{time_slice}.txt'), encoding='ascii') as f:
        rtt = [[float(value) for value in line.split()] for line in f]
    order = list(range(len(rtt)))
    random.Random(seed).shuffle(order)
    chosen = []
    for site in order:
        if all(3 <= rtt[site][other] <= 400 for other in chosen):
            chosen.append(site)
        if len(chosen) == n:
            return [[rtt[a][b] for b in chosen] for a in chosen]
    raise RuntimeError(f'no {n} such sites')


def best_costs(rtt, source, relay_cost=0.5, max_relays=3):
    """Lowest cost from source to each site: Dijkstra over (site, links used)."""
    best = {}
    heap = [(0.0, source, 0)]
    done = set()
    while heap:
        cost, site, links = heapq.heappop(heap)
        if (site, links) in done:
            continue
        done.add((site, links))
        if site not in best:
            best[site] = cost
        if links == max_relays + 1:
            continue
        for other, ms in enumerate(rtt[site]):
            if other != site:
                step = ms + (relay_cost if links else 0)
                heapq.heappush(heap, (cost + step, other, links + 1))
    return best


def cost_of(rtt, source, hops, relay_cost=0.5):
    """Cost of a path given as a list of sites, destination last."""
    stops = [source, *hops]
    return sum(rtt[a][b] for a, b in zip(stops, stops[1:])) + relay_cost * (len(hops) - 1)
