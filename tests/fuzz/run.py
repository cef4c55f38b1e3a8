#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""Runs every libFuzzer program for some time, starting from the committed corpus. New inputs stay
in build-fuzz/; `--keep` merges those that reach new code into tests/fuzz/corpus. A crash ends the
run with exit code 1 and leaves its input in build-fuzz/.
"""

import argparse
import glob
import os
import subprocess
import sys

TOP = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
BUILD = os.path.join(TOP, 'build-fuzz')
CORPUS = os.path.join(TOP, 'tests/fuzz/corpus')


def build():
    if not os.path.exists(os.path.join(BUILD, 'build.ninja')):
        subprocess.run(['meson', 'setup', BUILD, TOP, '-Dfuzzers=true', '-Db_lundef=false',
                        '-Db_sanitize=address,undefined'],
                       env=dict(os.environ, CC='clang-14'), check=True)
    subprocess.run(['ninja', '-C', BUILD], check=True)


def targets():
    """Names of the fuzz targets: tests/fuzz/fuzz_<name>.c."""
    sources = glob.glob(os.path.join(TOP, 'tests/fuzz/fuzz_*.c'))
    return sorted(os.path.basename(path)[len('fuzz_'):-len('.c')] for path in sources)


def fuzz(name, seconds, keep):
    """True where nothing was found."""
    fresh = os.path.join(BUILD, 'found', name)
    seeds = os.path.join(CORPUS, name)
    program = os.path.join(BUILD, 'tests/fuzz', f'fuzz_{name}')
    os.makedirs(fresh, exist_ok=True)
    code = subprocess.run([program, f'-max_total_time={seconds}', '-print_final_stats=1',
                           '-timeout=10', '-rss_limit_mb=2048',
                           f'-artifact_prefix={BUILD}/{name}-', fresh, seeds],
                          check=False).returncode
    if code == 0 and keep:
        subprocess.run([program, '-merge=1', seeds, fresh], check=True)
    print(f'fuzz {name}: {"nothing found" if code == 0 else "FAILED"}', flush=True)
    return code == 0


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument('--seconds', type=int, default=60)
    parser.add_argument('--keep', action='store_true')
    parser.add_argument('names', nargs='*', help='targets; all without')
    options = parser.parse_args()
    build()
    names = options.names or targets()
    failed = [name for name in names if not fuzz(name, options.seconds, options.keep)]
    print(f'{len(names) - len(failed)} passed, {len(failed)} failed')
    return 1 if failed or not names else 0


if __name__ == '__main__':
    sys.exit(main())
