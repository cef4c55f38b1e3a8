#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""Runs every lint check and prints the output of those that fail. `run.py NAME...` runs some."""

import os
import subprocess
import sys

HERE = os.path.dirname(os.path.abspath(__file__))

CHECKS = {
    'layers': ['layers.py'],
    'knots': ['knots.py', '--report'],
    'banned': ['banned.sh'],
    'sizes': ['sizes.py', '--report'],
    'tables': ['gen_tables.py'],
    'format': ['style.py', 'c'],
    'shell': ['style.py', 'shell'],
}


def run(name):
    """True where the check passes."""
    script, *arguments = CHECKS[name]
    path = os.path.join(HERE, script)
    command = ['/bin/sh', path] if script.endswith('.sh') else [sys.executable, '-B', path]
    done = subprocess.run(command + arguments, text=True, stdout=subprocess.PIPE,
                          stderr=subprocess.STDOUT, check=False)
    print(f'lint {name}: {"ok" if done.returncode == 0 else "FAILED"}')
    if done.stdout and (done.returncode != 0 or '--report' in arguments):
        print(done.stdout.rstrip())
    sys.stdout.flush()
    return done.returncode == 0


def main():
    names = sys.argv[1:] or list(CHECKS)
    unknown = [name for name in names if name not in CHECKS]
    if unknown:
        print(f'unknown check {unknown[0]}; known: {", ".join(CHECKS)}')
        return 2
    failed = [name for name in names if not run(name)]
    return 1 if failed else 0


if __name__ == '__main__':
    sys.exit(main())
