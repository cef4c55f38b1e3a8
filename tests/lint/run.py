#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""Runs every lint check, or the checks of `run.py NAME...`. Prints the output of failed or skipped
checks, and all figures.
"""

import concurrent.futures
import os
import subprocess
import sys

import tree

HERE = os.path.dirname(os.path.abspath(__file__))

CHECKS = {
    'layers': ['layers.py'],
    'knots': ['knots.py', '--report'],
    'banned': ['banned.sh'],
    'beside': ['beside.py'],
    'sizes': ['sizes.py', '--report'],
    'tables': ['gen_tables.py'],
    'format': ['style.py', 'c'],
    'shell': ['style.py', 'shell'],
    'python': ['python.py'],
    'comments': ['comments.py'],
    'includes': ['includes.py'],
    'names': ['names.py'],
    'language': ['language.py', '--figures'],
}


VERDICTS = {0: 'ok', tree.SKIPPED_STATUS: 'skipped'}


def run(name):
    """True if the check does not fail, and the lines to print."""
    script, *arguments = CHECKS[name]
    path = os.path.join(HERE, script)
    command = ['/bin/sh', path] if script.endswith('.sh') else [sys.executable, '-B', path]
    done = subprocess.run(command + arguments, text=True, stdout=subprocess.PIPE,
                          stderr=subprocess.STDOUT, check=False)
    verdict = VERDICTS.get(done.returncode, 'FAILED')
    lines = [f'lint {name}: {verdict}']
    if done.stdout and (done.returncode != 0 or {'--report', '--figures'} & set(arguments)):
        lines.append(done.stdout.rstrip())
    return verdict != 'FAILED', '\n'.join(lines)


def main():
    names = sys.argv[1:] or list(CHECKS)
    unknown = [name for name in names if name not in CHECKS]
    if unknown:
        print(f'unknown check {unknown[0]}; known: {", ".join(CHECKS)}')
        return 2
    failed = False
    with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
        for good, text in pool.map(run, names):
            print(text, flush=True)
            failed |= not good
    return 1 if failed else 0


if __name__ == '__main__':
    sys.exit(main())
