#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""A clone is complete: no file names a path of a single machine or a path above the top of the
tree. No file comes from the build of another project.
"""

import os
import re
import sys

import tree

# Directories with different content on each machine.
OF_A_MACHINE = re.compile(r'(?<![\w})./-])/(?:home|Users|work|root|srv|mnt|media)/[\w.]')
# Tests with a private root file system.
OWN_ROOT = ('tests/vm/', 'tests/fresh/')
# A path upwards from the top, in the forms of C and Python.
OVER_THE_TOP = re.compile(r'(?:SOURCE_ROOT|\bTOP\b|%s|@0@)[}"\', )+]*/?\.\./')
UPWARDS = re.compile(r'(?<![\w.])(?:\.\./)*\.\.(?=[/\'"\s)])')
LARGEST = 256 * 1024
CODE = ('.c', '.h', '.py', '.sh', 'meson.build', 'Makefile')


def leaves_the_tree(path, line):
    """A relative path in a program means: relative to the program's own directory."""
    if OVER_THE_TOP.search(line):
        return True
    return path.endswith(CODE) and any(up.count('..') > path.count('/')
                                       for up in UPWARDS.findall(line))


def problems_of(path, text):
    for number, line in enumerate(text.splitlines(), 1):
        if OF_A_MACHINE.search(line) and not path.startswith(OWN_ROOT):
            yield f'{path}:{number}: path of a machine: {line.strip()}'
        if leaves_the_tree(path, line):
            yield f'{path}:{number}: reaches outside of the tree: {line.strip()}'


def main():
    problems = []
    for path in tree.files(''):
        size = os.path.getsize(os.path.join(tree.TOP, path))
        if size > LARGEST:
            problems.append(f'{path}: {size} bytes, larger than any source')
        try:
            text = tree.read(path)
        except UnicodeDecodeError:
            continue  # an input of a fuzz target
        # How git marks a worktree.
        if path != '.git':
            problems += problems_of(path, text)
    return tree.report(problems)


if __name__ == '__main__':
    sys.exit(main())
