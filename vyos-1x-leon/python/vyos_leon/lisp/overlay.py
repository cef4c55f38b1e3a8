# SPDX-License-Identifier: GPL-2.0-or-later
"""The nodes that announce a prefix in LEON, and their distance.

LEON does not measure the latency to LISP sites. The distance of a node is a mean of round-trip
times from the latency database, which is equal at all nodes. The mean covers the best paths to
nodes that do not announce the prefix. The nearest node and all nodes within a tenth and 1 ms of it
have equal ranks, and likewise the rest. All nodes compute equal ranks without communication,
because a map server keeps only the last registration and all nodes must register the same mapping.
"""

import heapq

# Limits of a rank, relative to the nearest node: a share, and a number of microseconds.
SAME_SHARE, SAME_US = 0.1, 1000
# Limits of lat_is_asymmetric() in latdb.h.
ASYMMETRY_FACTOR, ASYMMETRY_US = 2, 8000


def announced(routes):
    """Prefixes that the local node announces, from the answer to `show routes`."""
    return {p['prefix'] for p in routes['prefixes'] if p['announced']}


def announcers(nodes):
    """prefix -> node-ids of other reachable nodes that announce the prefix, from the answer to
    `show nodes`."""
    found = {}
    for node in nodes['nodes']:
        if node['state'] == 'reachable':
            for prefix in node['prefixes']:
                found.setdefault(prefix, set()).add(node['node_id'])
    return found


def _links(latency):
    """{node: {neighbour: microseconds}}, as in path.c: both ends report the link up. The
    measurement of the node counts, or the larger one if the two contradict (decision 020)."""
    told = {}
    for row in latency['rows']:
        for entry in row['entries']:
            rtt = entry['long_term_rtt_us'] or entry['rtt_us']
            if entry['up'] and rtt:
                told[row['origin'], entry['node']] = rtt
    links = {}
    for (a, b), rtt in told.items():
        other = told.get((b, a))
        if other is not None:
            contradicts = other > ASYMMETRY_FACTOR * rtt + ASYMMETRY_US
            links.setdefault(a, {})[b] = other if contradicts else rtt
    return links


def _distances(links, closed, start):
    """Lengths of the best paths from a node. Nodes in `closed` do not relay."""
    best, queue = {}, [(0, start)]
    while queue:
        distance, node = heapq.heappop(queue)
        if node in best:
            continue
        best[node] = distance
        if node == start or node not in closed:
            for other, rtt in links.get(node, {}).items():
                heapq.heappush(queue, (distance + rtt, other))
    return best


def nearness(latency, candidates):
    """{candidate: mean microseconds} to the other nodes that all candidates reach; empty without
    such nodes."""
    links = _links(latency)
    closed = {n['node_id'] for n in latency['nodes'] if n['transit_disabled']}
    alive = {n['node_id'] for n in latency['nodes'] if not n['unreceived']}
    best = {c: _distances(links, closed, c) for c in candidates}
    others = alive - set(candidates)
    others = [n for n in others if all(n in best[c] for c in candidates)]
    if not others:
        return {}
    return {c: sum(best[c][n] for n in others) / len(others) for c in candidates}


def ranks(near, candidates):
    """{candidate: 0 for the nearest, 1 for the next, ...}. Equal distances have equal ranks."""
    if not near:
        return {c: 0 for c in candidates}
    found, rank, first = {}, -1, None
    for candidate in sorted(near, key=lambda c: (near[c], c)):
        if first is None or near[candidate] > first * (1 + SAME_SHARE) + SAME_US:
            first = near[candidate]
            rank += 1
        found[candidate] = rank
    return found


def judge(routes, nodes, latency, siblings):
    """prefix -> {None for the local node, or an announcing node of `siblings`: rank}."""
    own, others = latency['source'], announcers(nodes)
    found = {}
    for prefix in announced(routes):
        candidates = [own, *sorted(set(siblings) & others.get(prefix, set()) - {own})]
        if len(candidates) == 1:
            found[prefix] = {None: 0}
            continue
        rank_of = ranks(nearness(latency, candidates), candidates)
        found[prefix] = {(None if c == own else c): rank_of[c] for c in candidates}
    return found


class Damper:
    """Decides when a change of LEON prefixes reaches OOR, because a change needs a restart. New
    and lost prefixes and nodes count at once, ranks only after a hold time."""

    def __init__(self, stand_s=60, apart_s=300):
        self.stand_s, self.apart_s = stand_s, apart_s
        self.told = None
        self.told_at = None
        self.seen = None
        self.seen_at = None

    def take(self, found, now):
        """The new state of OOR: `found`, or its present state."""
        if found != self.seen:
            self.seen, self.seen_at = found, now
        if self.told is None or _shape(found) != _shape(self.told):
            self._tell(found, now)
        elif found != self.told:
            stood = now - self.seen_at >= self.stand_s
            apart = now - self.told_at >= self.apart_s
            if stood and apart:
                self._tell(found, now)
        return self.told

    def _tell(self, found, now):
        self.told, self.told_at = found, now


def _shape(found):
    return {
        interface: {prefix: set(rank_of) for prefix, rank_of in by_prefix.items()}
        for interface, by_prefix in found.items()
    }
