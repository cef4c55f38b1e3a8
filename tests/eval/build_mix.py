# SPDX-License-Identifier: GPL-2.0-or-later
"""Arithmetic and counters of eval_build.py, without side effects.

A build takes C + k x RTT. C is the time at a round-trip time of 0 ms, and k the number of
operations of the NFS server. Table 5 and the round-trip times of Table 4 give k and C of the paper.
"""
import re
import statistics

PAPER_MINUTES = {'direct': 78.9, 'leon': 58.8}
PAPER_RTT_MS = {'direct': 21.7, 'leon': 7.6}
PAPER_RATIO = PAPER_MINUTES['leon'] / PAPER_MINUTES['direct']
RATIO_MARGIN = 0.03
SHARE, SHARE_MARGIN = 0.64, 0.05
MARGIN = 0.03  # of a prediction, and of LEON against the ideal relay


def law_of(minutes, rtt_ms):
    """(C in minutes, k) from the times and round-trip times of the two paths of the paper."""
    per_ms = (minutes['direct'] - minutes['leon']) / (rtt_ms['direct'] - rtt_ms['leon'])
    return minutes['direct'] - per_ms * rtt_ms['direct'], per_ms * 60_000


def predicted(compute_s, operations, rtt_ms):
    return compute_s + operations * rtt_ms / 1000


def share(compute_s, operations, rtt_ms):
    """Waiting time relative to computing time, k x RTT / C."""
    return operations * rtt_ms / 1000 / compute_s


def compute_more(compute_s, operations, rtt_ms):
    """Percentage by which the computing time must grow for a share of SHARE. Negative if the mix
    needs more operations."""
    return round(100 * (share(compute_s, operations, rtt_ms) / SHARE - 1))


def server_operations(text):
    """Operations by NFSv3 in the answer of ganesha to GetGlobalOPS, as dbus-send prints it. Its
    GetTotalOPS counts no reads and writes."""
    found = re.search(r'string "NFSv3"\s+uint64 (\d+)', text)
    if not found:
        raise ValueError(f'nfs-ganesha counts no operations: {text.strip()[:300]}')
    return int(found[1])


def client_operations(text):
    """{operation: (number, mean round-trip time in ms)} of the NFS mount in /proc/self/mountstats.
    Operations without a call are absent."""
    _, nfs, rest = text.partition('per-op statistics')
    if not nfs:
        raise ValueError('mountstats names no NFS mount')
    result = {}
    for line in rest.splitlines()[1:]:
        found = re.fullmatch(r'\s+([A-Z]+): ((?:\d+ ?)+)', line)
        if not found:
            break
        numbers = [int(word) for word in found[2].split()]
        if numbers[0] and found[1] != 'NULL':
            result[found[1]] = (numbers[0], numbers[6] / numbers[0])
    return result


def medians(runs, key):
    """{path: median} of one figure of all runs."""
    return {path: statistics.median(run[key] for run in runs if run['path'] == path)
            for path in {run['path'] for run in runs}}


def verdict(runs):
    """[(figure, value, target, margin, holds)] of the bars. Each run has path (zero, direct,
    ideal, leon), seconds, operations and rtt_ms."""
    time, count, rtt = (medians(runs, key) for key in ('seconds', 'operations', 'rtt_ms'))
    compute = time['zero'] - count['zero'] * rtt['zero'] / 1000
    rows = [('k x RTT / C, direct', share(compute, count['direct'], rtt['direct']),
             SHARE, SHARE_MARGIN),
            ('LEON / direct', time['leon'] / time['direct'], PAPER_RATIO, RATIO_MARGIN),
            ('LEON / ideal relay', time['leon'] / time['ideal'], 1, MARGIN)]
    rows += [(f'measured / predicted, {path}',
              time[path] / predicted(compute, count[path], rtt[path]), 1, MARGIN)
             for path in ('direct', 'ideal', 'leon')]
    return [(*row, abs(row[1] - row[2]) <= row[3]) for row in rows]
