# SPDX-License-Identifier: GPL-2.0-or-later
"""The files of the source tree for all lint scripts, with or without version control."""

import os

TOP = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
DATAPLANE = 'vyos-1x-leon/dataplane'
# Exit status of a check that the machine cannot run.
SKIPPED_STATUS = 77
SKIPPED = {'.git', '__pycache__', '.pytest_cache', '.cache'}


def _skipped(folder, name):
    return name in SKIPPED or (folder == '' and name.startswith('build'))


def files(*suffixes, under=''):
    """Sorted paths relative to the top of the regular files with one of the suffixes."""
    found = []
    for root, dirs, names in os.walk(os.path.join(TOP, under)):
        folder = os.path.relpath(root, TOP)
        folder = '' if folder == '.' else folder
        dirs[:] = [d for d in dirs if not _skipped(folder, d)]
        for name in names:
            path = os.path.join(folder, name)
            if name.endswith(suffixes) and not os.path.islink(os.path.join(TOP, path)):
                found.append(path)
    return sorted(found)


def read(path):
    """Text of a file of the tree."""
    with open(os.path.join(TOP, path), encoding='utf-8') as f:
        return f.read()


def scripts(*interpreters):
    """Files that start with the name of one of the interpreters."""
    found = []
    for path in files(''):
        with open(os.path.join(TOP, path), 'rb') as f:
            first = f.readline(64)
        words = first.split(b'/')[-1].split() if first.startswith(b'#!') else []
        if any(word.decode() in interpreters for word in words):
            found.append(path)
    return found


def text_files():
    """Files without a zero byte in their first KiB."""
    found = []
    for path in files(''):
        with open(os.path.join(TOP, path), 'rb') as f:
            if b'\0' not in f.read(1024):
                found.append(path)
    return found


def python_files():
    """Modules, and programs without a suffix."""
    return sorted({*files('.py'), *scripts('python3')})


def report(problems):
    """Prints the problems one per line; returns the exit code."""
    for problem in problems:
        print(problem)
    return 1 if problems else 0
