# SPDX-License-Identifier: GPL-2.0-or-later
"""The arithmetic of eval_web.py: reads the output of hey and the log of PostgreSQL, and makes
medians, spread and the table. All times are in ms.
"""
import csv
import io
import math
import re
import statistics

# Round trips before the first statement of a connection: TCP, the question for TLS, the start-up
# message, and two of SCRAM.
CONNECTION = 5
# MediaWiki sends the page to the browser before this call. Later statements delay no page.
AFTER_PAGE = 'restInPeace'
PATHS = {'local': 'database local', 'direct': 'Internet, direct', 'leon': 'LEON, relayed',
         'ideal': 'ideal relay'}
LOG_PREFIX = '%p '  # log_line_prefix of PostgreSQL
_EVENT = re.compile(r'^(\d+) LOG:  (connection authorized|statement: .*)')


def response_times(text):
    """The page times of `hey -o csv`. Raises ValueError for a page without status 200."""
    rows = list(csv.DictReader(io.StringIO(text)))
    for row in rows:
        if row['status-code'] != '200':
            raise ValueError(f'a page has status {row["status-code"]}, not 200')
    return [round(1000 * float(row['response-time']), 1) for row in rows]


def percentile(values, share):
    """The nearest-rank percentile: the smallest value that at least this share does not exceed."""
    return sorted(values)[max(0, math.ceil(share * len(values)) - 1)]


def round_trips(log):
    """Round trips to the database before the page was sent, in a log with connections and
    statements: {'connections', 'statements', 'round_trips'}. A process of PostgreSQL serves one
    connection. The number of the process may return."""
    connections, statements, unsent = 0, 0, set()
    for line in log.splitlines():
        event = _EVENT.match(line)
        if not event:
            continue
        process, what = event.groups()
        if what == 'connection authorized':
            connections += 1
            unsent.add(process)
        elif AFTER_PAGE in what:
            unsent.discard(process)
        elif process in unsent:
            statements += 1
    return {'connections': connections, 'statements': statements,
            'round_trips': CONNECTION * connections + statements}


def of_rounds(values):
    return {'median': statistics.median(values), 'least': min(values), 'most': max(values)}


def summary(pages, rounds, rtt_ms):
    """A row for each page and path. rounds: [{page: {path: {'ms': [...], 'round_trips': n for a
    page}}}]. `arithmetic` is the local page time and the round trips with the measured RTT of the
    path, without the RTT of the local path."""
    rows = []
    for page in pages:
        local = statistics.median(percentile(r[page]['local']['ms'], 0.5) for r in rounds)
        for path in PATHS:
            runs = [r[page][path] for r in rounds]
            p50 = [percentile(run['ms'], 0.5) for run in runs]
            direct = [percentile(r[page]['direct']['ms'], 0.5) for r in rounds]
            trips = statistics.mean(run['round_trips'] for run in runs)
            rows.append({
                'page': page, 'path': path, 'rtt_ms': rtt_ms[path], 'round_trips': trips,
                'p50': of_rounds(p50), 'p95': of_rounds([percentile(run['ms'], 0.95) for run in runs]),
                'ratio': of_rounds([a / b for a, b in zip(p50, direct)]),
                'arithmetic': local + trips * (rtt_ms[path] - rtt_ms['local'])})
    return rows


def cell(values, digits=0):
    return f'{values["median"]:.{digits}f} ({values["least"]:.{digits}f}-{values["most"]:.{digits}f})'


def table(rows):
    lines = [f'{"page":<9} {"database":<17} {"RTT, ms":>7} {"trips":>6} {"p50, ms":>16} {"C + k x RTT":>11}'
             f' {"p95, ms":>16} {"p50 to direct":>17}']
    for row in rows:
        lines.append(f'{row["page"]:<9} {PATHS[row["path"]]:<17} {row["rtt_ms"]:>7.1f} {row["round_trips"]:>6.1f}'
                     f' {cell(row["p50"]):>16} {row["arithmetic"]:>11.0f} {cell(row["p95"]):>16}'
                     f' {cell(row["ratio"], 2):>17}')
    return '\n'.join(lines)
