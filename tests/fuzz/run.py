#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""Runs the libFuzzer programs from the committed corpus, --jobs at a time.

Each target runs for --seconds. With --rotate N only N targets run; the others follow in the next
hours. With --minutes the targets take turns of two minutes. Targets with input from strangers get
a larger share of the CPU.

New inputs stay in build-fuzz/found/; --keep merges inputs that reach new code into
tests/fuzz/corpus. build-fuzz/history.jsonl keeps the time and the runs of each target for
coverage.py. A crash, or an input that takes longer than 10 s, ends the target; the exit code is 1
and the input stays in build-fuzz/.
"""

import argparse
import concurrent.futures
import glob
import json
import os
import re
import shutil
import subprocess
import sys
import threading
import time

TOP = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
BUILD = os.path.join(TOP, 'build-fuzz')
CORPUS = os.path.join(TOP, 'tests/fuzz/corpus')
FOUND = os.path.join(BUILD, 'found')
HISTORY = os.path.join(BUILD, 'history.jsonl')
LLVM = '-19'  # in Debian 12 and 13
TURN_S = 120
# Shares of CPU time. The default is 1.
SHARES = {'from_net': 4, 'overlay': 4, 'open': 3, 'sealed': 3, 'accel_engine': 3, 'flow': 2, 'msg': 2, 'jsonr': 2, 'request': 2,
          'addr': .6, 'leon': .6, 'kernel': .5, 'bundle': .2, 'sclp': .3, 'fragment': .2}
# Undefined behaviour is as bad as a bad access, so the program must stop. The default only prints a
# message.
ENV = dict(os.environ, UBSAN_OPTIONS='halt_on_error=1:print_stacktrace=1')


def build(names):
    if not os.path.exists(os.path.join(BUILD, 'build.ninja')):
        # Meson adds ccache only to a compiler of its own choice.
        cached = 'ccache ' if shutil.which('ccache') else ''
        subprocess.run(['meson', 'setup', BUILD, TOP, '-Dfuzzers=true', '-Dwerror=true',
                        '-Db_lundef=false', '-Db_sanitize=address,undefined'],
                       env=dict(os.environ, CC=cached + 'clang' + LLVM), check=True)
    subprocess.run(['ninja', '-C', BUILD, *(f'tests/fuzz/fuzz_{name}' for name in names)],
                   check=True)


def targets():
    """Names of the fuzz targets: tests/fuzz/fuzz_<name>.c."""
    sources = glob.glob(os.path.join(TOP, 'tests/fuzz/fuzz_*.c'))
    return sorted(os.path.basename(path)[len('fuzz_'):-len('.c')] for path in sources)


def history():
    """{target: sum of all runs}"""
    total = {}
    if os.path.exists(HISTORY):
        with open(HISTORY, encoding='utf-8') as f:
            for line in f:
                r = json.loads(line)
                t = total.setdefault(r['name'], {'cpu_s': 0, 'executions': 0})
                t['cpu_s'] += r['cpu_s']
                t['executions'] += r['executions']
                for key in ('edges', 'features', 'inputs'):
                    t[key] = max(t.get(key, 0), r[key])
    return total


def remember(name, text, cpu_s):
    """Adds a run to the history, from the output of libFuzzer."""
    executions = re.findall(r'number_of_executed_units: +(\d+)', text)
    state = re.findall(r'cov: (\d+) ft: (\d+) corp: (\d+)', text)
    edges, features, inputs = map(int, state[-1]) if state else (0, 0, 0)
    with open(HISTORY, 'a', encoding='utf-8') as f:
        f.write(json.dumps({'name': name, 'cpu_s': round(cpu_s, 1),
                            'executions': int(executions[-1]) if executions else 0,
                            'edges': edges, 'features': features, 'inputs': inputs}) + '\n')


def fuzz(name, seconds, values=True):
    """True without a finding. values: compared values count as coverage, which finds the edges of
    counters in seconds and costs half of the speed."""
    fresh = os.path.join(FOUND, name)
    program = os.path.join(BUILD, 'tests/fuzz', f'fuzz_{name}')
    log = os.path.join(BUILD, f'{name}.log')
    os.makedirs(fresh, exist_ok=True)
    command = [program, f'-max_total_time={seconds}', '-print_final_stats=1', '-timeout=10',
               '-rss_limit_mb=2048', f'-use_value_profile={int(values)}',
               f'-artifact_prefix={BUILD}/{name}-', fresh, os.path.join(CORPUS, name)]
    with open(log, 'w', encoding='utf-8') as f:
        # pylint: disable=consider-using-with # wait4() returns the CPU time
        process = subprocess.Popen(command, stdout=f, stderr=f, env=ENV)
        _, status, used = os.wait4(process.pid, 0)
        process.returncode = os.waitstatus_to_exitcode(status)
    with open(log, encoding='utf-8', errors='replace') as f:
        text = f.read()
    remember(name, text, used.ru_utime + used.ru_stime)
    if process.returncode != 0:
        print(text[-8000:])
    print(f'fuzz {name}: {"nothing found" if process.returncode == 0 else "FAILED"}', flush=True)
    return process.returncode == 0


def this_hour(names, number):
    """Every run of an hour takes the same targets. All targets run within some hours."""
    first = int(time.time() // 3600) * number
    return [names[(first + i) % len(names)] for i in range(min(number, len(names)))]


def take_turns(names, minutes, jobs):
    """Returns failed targets. A failed target gets no further turn."""
    end = time.monotonic() + 60 * minutes
    lock, busy, failed, turns = threading.Lock(), set(), set(), dict.fromkeys(names, 0)

    def worker():
        while (left := int(end - time.monotonic())) > 0:
            with lock:
                spent = history()
                free = [name for name in names if name not in busy | failed]
                if not free:
                    return
                name = min(free, key=lambda n: spent.get(n, {}).get('cpu_s', 0) / SHARES.get(n, 1))
                busy.add(name)
                turns[name] += 1
            good = fuzz(name, min(TURN_S, left), values=turns[name] % 2 == 0)
            with lock:
                busy.discard(name)
                if not good:
                    failed.add(name)

    with concurrent.futures.ThreadPoolExecutor(jobs) as pool:
        for done in [pool.submit(worker) for _ in range(jobs)]:
            done.result()
    return sorted(failed)


def keep(name):
    """Merges inputs with new code into the committed corpus. Inputs with higher counters only and
    large inputs are left out, so the corpus stays small."""
    subprocess.run([os.path.join(BUILD, 'tests/fuzz', f'fuzz_{name}'), '-merge=1',
                    '-use_counters=0', '-max_len=4096',
                    os.path.join(CORPUS, name), os.path.join(FOUND, name)], env=ENV, check=True)


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument('--seconds', type=int, default=60)
    parser.add_argument('--minutes', type=float, help='all together, in turns')
    parser.add_argument('--jobs', type=int, default=1, help='at a time')
    parser.add_argument('--rotate', type=int, metavar='N', help='N of the targets, others each hour')
    parser.add_argument('--keep', action='store_true')
    parser.add_argument('--only-build', action='store_true')
    parser.add_argument('names', nargs='*', help='targets; all without')
    options = parser.parse_args()
    names = options.names or targets()
    if options.rotate:
        names = this_hour(names, options.rotate)
    build(names)
    if options.only_build:
        return 0
    if options.minutes:
        failed = take_turns(names, options.minutes, options.jobs)
    else:
        with concurrent.futures.ThreadPoolExecutor(options.jobs) as pool:
            good = list(pool.map(lambda name: fuzz(name, options.seconds), names))
        failed = [name for name, held in zip(names, good) if not held]
    for name in names if options.keep else []:
        if name not in failed:
            keep(name)
    print(f'{len(names) - len(failed)} passed, {len(failed)} failed')
    return 1 if failed or not names else 0


if __name__ == '__main__':
    sys.exit(main())
