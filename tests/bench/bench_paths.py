#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""Benefit of paths on a trace: leonsim over subsets of the hosts, under both readings, with one
path and with two copies. The references are the direct path and the best possible path. Figures
are means over the subsets. Rules and defaults are tuned on hosts 0-24 and the first hour of the
Seattle trace (`--tuning`). Hosts 25-49 are the test set and the default.

    LEON_BUILD=$PWD/build tests/bench/bench_paths.py [--tuning] [--subsets 12] [--size 12]
        [--hosts 25-49] [--slices 0-343] [--trace FILE --slice SECONDS] [--traffic idle|all]
        [--set path.variation-margin=65]... [--jobs 2] [--json FILE]
"""
import argparse
import concurrent.futures
import gzip
import json
import os
import pathlib
import random
import statistics
import subprocess
import tempfile

TOP = pathlib.Path(__file__).resolve().parents[2]
LEONSIM = pathlib.Path(os.environ.get('LEON_BUILD', TOP / 'build')) / 'vyos-1x-leon/leonsim/leonsim'
SEATTLE = TOP / 'tests/latency/seattle_50x344.txt.gz'
TUNING = {'hosts': '0-24', 'slices': '0-228'}
KEPT_ASIDE = {'hosts': '25-49', 'slices': '0-343'}


def bounds(text):
    first, last = text.split('-')
    return range(int(first), int(last) + 1)


def subsets_of(hosts, n, size, seed):
    """The same for the same seed."""
    rng = random.Random(seed)
    return [sorted(rng.sample(list(hosts), size)) for _ in range(n)]


def matrices_of(trace, slices):
    """Texts of the given matrices of a trace."""
    with (gzip.open if trace.suffix == '.gz' else open)(trace, 'rt', encoding='ascii') as f:
        matrices = f.read().strip().split('\n\n')
    return [matrices[i] for i in slices if i < len(matrices)]


def excerpt(trace, slices, file):
    """Writes the given matrices of a trace."""
    file.write('\n\n'.join(matrices_of(trace, slices)) + '\n')
    file.flush()


def replay(trace, hosts, reading, args):
    words = [LEONSIM, '--trace', trace, '--slice', args.slice, '--reading', reading, '--traffic', args.traffic,
             '--nodes', ','.join(map(str, hosts)), '--json']
    for value in args.set:
        words += ['--set', value]
    return json.loads(subprocess.run(list(map(str, words)), stdout=subprocess.PIPE, check=True).stdout)


def mean_of(answers, *keys):
    values = []
    for answer in answers:
        for key in keys:
            answer = answer[key]
        values.append(answer)
    return statistics.mean(values)


def gained(is_at, best):
    """Share of the maximum gain over the direct path."""
    return (1 - is_at) / (1 - best) if best < 1 else float('nan')


def summary(reading, given, answers):
    """The rows of the table for a reading, and the settings."""
    oracle = {'mean': mean_of(answers, 'oracle', 'mean'), 'p99': mean_of(answers, 'oracle', 'p99')}
    rows = [{'path': 'direct', 'changes_per_hour': 0, 'mean': 1, 'p99': 1}, {'path': 'oracle', **oracle}]
    for name, where in (('one path', ()), ('two copies', ('two_copies',))):
        row = {key: mean_of(answers, *where, key) for key in ('changes_per_hour', 'mean', 'p99')}
        row |= {f'share_{key}': gained(row[key], oracle[key]) for key in ('mean', 'p99')}
        rows.append({'path': name, **row})
    rows[2]['most_changes_per_hour'] = max(a['changes_per_hour'] for a in answers)
    return {'reading': reading, 'set': given, 'rows': rows, 'failovers_per_hour': mean_of(answers, 'failovers_per_hour'),
            'link_downs_per_hour': mean_of(answers, 'link_downs_per_hour')}


def print_summary(s):
    print(f'{s["reading"]}: {s["link_downs_per_hour"]:.3f} downs per link and hour, '
          f'{s["failovers_per_hour"]:.2f} failovers per direction and hour, at most '
          f'{s["rows"][2]["most_changes_per_hour"]:.1f} changes/h in a subset')
    print(f'  {"":10s}  changes/h   mean    p99   share of the oracle\'s gain: mean, p99')
    for row in s['rows']:
        changes = f'{row["changes_per_hour"]:9.2f}' if 'changes_per_hour' in row else ' ' * 9
        share = f'  {row["share_mean"]:.2f}  {row["share_p99"]:.2f}' if 'share_mean' in row else ''
        print(f'  {row["path"]:10s}  {changes}  {row["mean"]:.3f}  {row["p99"]:.3f}{share}', flush=True)


def main():
    parser = argparse.ArgumentParser(description=__doc__.split('\n', 1)[0])
    parser.add_argument('--tuning', action='store_true', help='the hosts and the time that rules are tuned on')
    parser.add_argument('--hosts', help='from which subsets are taken')
    parser.add_argument('--slices', help='of the trace')
    parser.add_argument('--subsets', type=int, default=12)
    parser.add_argument('--size', type=int, default=12)
    parser.add_argument('--seed', type=int, default=1)
    parser.add_argument('--trace', type=pathlib.Path, default=SEATTLE)
    parser.add_argument('--slice', type=float, default=15.7, help='seconds that one lasts')
    parser.add_argument('--reading', choices=('hold', 'noise', 'both'), default='both')
    parser.add_argument('--traffic', choices=('idle', 'all'), default='idle')
    parser.add_argument('--set', action='append', default=[], metavar='KEY=VALUE')
    parser.add_argument('--jobs', type=int, default=2)
    parser.add_argument('--json', type=pathlib.Path, help='figures for machines; added to those that are there')
    args = parser.parse_args()
    part = TUNING if args.tuning else KEPT_ASIDE
    subsets = subsets_of(bounds(args.hosts or part['hosts']), args.subsets, args.size, args.seed)
    found = []
    with tempfile.NamedTemporaryFile('w', suffix='.txt') as cut, \
            concurrent.futures.ThreadPoolExecutor(args.jobs) as pool:
        excerpt(args.trace, bounds(args.slices or part['slices']), cut)
        for reading in ('hold', 'noise') if args.reading == 'both' else (args.reading,):
            answers = pool.map(lambda hosts, r=reading: replay(cut.name, hosts, r, args), subsets)
            found.append(summary(reading, args.set, list(answers)))
            print_summary(found[-1])
    if args.json:
        before = json.loads(args.json.read_text(encoding='utf-8')) if args.json.exists() else []
        args.json.write_text(json.dumps(before + found, indent=1) + '\n', encoding='utf-8')


if __name__ == '__main__':
    main()
