#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""Refuses C functions over 100 lines, source files over 600 (500 in leon-accel, 800 in tests), and
folders of product code over 15 objects or 3,000 lines. Bounds the fields of struct leond, and the
objects of the product that a change of leond.h compiles again. The objects are those that ninja
prints. With --report, prints the figures. Function bounds come from universal-ctags.
"""

import collections
import json
import os
import re
import statistics
import subprocess
import sys

import tree

FUNCTION_MAX = 100
FILE_MAX = 800
FOLDER_OBJECTS_MAX, FOLDER_LINES_MAX = 15, 3000
LEOND_H = f'{tree.DATAPLANE}/daemon/leond.h'
LEOND_FIELDS_MAX, LEOND_OBJECTS_MAX = 20, 63
# Folder -> the limit of its files and folders, the first that matches.
FILE_MAX_IN = {'vyos-1x-leon/leon-accel/': 500, 'vyos-1x-leon/': 600}


def functions(paths):
    """(path, name, lines) of every C function."""
    run = subprocess.run(
        ['ctags', '--languages=C', '--kinds-C=f', '--fields=+ne', '--langmap=C:.c.h',
         '--output-format=json', '-f', '-', '-L', '-'],
        input='\n'.join(paths), cwd=tree.TOP, text=True, stdout=subprocess.PIPE, check=True)
    for line in run.stdout.splitlines():
        tag = json.loads(line)
        if tag.get('_type') == 'tag' and 'end' in tag:
            yield tag['path'], tag['name'], tag['end'] - tag['line'] + 1


def limit(path):
    return next((n for folder, n in FILE_MAX_IN.items() if path.startswith(folder)), FILE_MAX)


def folders(lines):
    """Problems of the folders of product code."""
    inside = collections.defaultdict(list)
    for path, n in lines.items():
        if path.startswith('vyos-1x-leon/') and path.endswith('.c'):
            inside[os.path.dirname(path)].append(n)
    return [f'{folder}: {len(files)} objects of {sum(files)} lines, the limits are {FOLDER_OBJECTS_MAX} '
            f'and {FOLDER_LINES_MAX}' for folder, files in inside.items()
            if len(files) > FOLDER_OBJECTS_MAX or sum(files) > FOLDER_LINES_MAX]


def leond_fields():
    """The number of fields of struct leond."""
    body = re.search(r'^struct leond \{\n(.*?)^\};', tree.read(LEOND_H), re.M | re.S).group(1)
    return re.sub(r'/\*.*?\*/', '', body, flags=re.S).count(';')


def leond_objects():
    """Objects of the product that include leond.h."""
    build = os.environ.get('LEON_BUILD', os.path.join(tree.TOP, 'build'))
    deps = subprocess.run(['ninja', '-C', build, '-t', 'deps'], text=True, check=False,
                          stdout=subprocess.PIPE).stdout
    return sum(deps_of.startswith('vyos-1x-leon/') and '/daemon/leond.h\n' in deps_of
               for deps_of in deps.split('\n\n'))


def main():
    sources = tree.files('.c', '.h')
    found = list(functions(sources))
    if not found:
        return tree.report(['ctags found no function: is this universal-ctags?'])
    lines = {path: tree.read(path).count('\n') for path in sources + tree.files('.py')}
    problems = [f'{path}: {name}() has {n} lines, the limit is {FUNCTION_MAX}'
                for path, name, n in found if n > FUNCTION_MAX]
    problems += [f'{path}: {n} lines, the limit is {limit(path)}'
                 for path, n in lines.items() if n > limit(path)]
    problems += folders(lines)
    fields, objects = leond_fields(), leond_objects()
    if fields > LEOND_FIELDS_MAX:
        problems.append(f'struct leond: {fields} fields, the limit is {LEOND_FIELDS_MAX}')
    if not 0 < objects <= LEOND_OBJECTS_MAX:
        problems.append(f'{LEOND_H}: {objects} objects include it, the limit is {LEOND_OBJECTS_MAX}; '
                        '0: run make first')
    if '--report' in sys.argv[1:]:
        lengths = sorted(n for path, _, n in found if not path.startswith('tests' + os.sep))
        files = [n for path, n in lines.items() if path.startswith(tree.DATAPLANE)]
        print(f'functions: {len(lengths)}, median {statistics.median(lengths):.0f}, '
              f'p90 {lengths[len(lengths) * 9 // 10]}, longest {lengths[-1]}; '
              f'files: {len(files)}, median {statistics.median(files):.0f}, longest {max(files)}')
        print(f'struct leond: {fields} fields; objects with leond.h: {objects}')
    return tree.report(problems)


if __name__ == '__main__':
    sys.exit(main())
