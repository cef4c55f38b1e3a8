#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""Formatting and shell scripts: `style.py c` runs clang-format-14 over all C code (with --write,
formats instead of complaining), `style.py shell` runs shellcheck over all shell scripts.

Other versions of clang-format give other results, so only a machine with version 14 (Debian 12)
checks the format. On other machines the exit status reports a skipped check.
"""

import shutil
import subprocess
import sys

import tree


FORMAT = 'clang-format-14'


def check_c(write):
    if not shutil.which(FORMAT):
        print(f'the format is not checked: there is no {FORMAT} here, Debian 12 has it')
        return 1 if write else tree.SKIPPED_STATUS
    command = [FORMAT, '-i'] if write else [FORMAT, '--dry-run', '-Werror']
    return subprocess.run(command + tree.files('.c', '.h'), cwd=tree.TOP, check=False).returncode


def check_shell():
    scripts = tree.scripts('sh', 'bash', 'dash')
    return subprocess.run(['shellcheck', '-x'] + scripts, cwd=tree.TOP, check=False).returncode


def main():
    if sys.argv[1:] == ['shell']:
        return check_shell()
    if sys.argv[1:] in (['c'], ['c', '--write']):
        return check_c('--write' in sys.argv)
    print(__doc__)
    return 2


if __name__ == '__main__':
    sys.exit(main())
