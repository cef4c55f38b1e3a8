#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""Runs flake8 (pyflakes and pycodestyle, which Debian 12 and 13 package). Also refuses mutable
default values, and arguments and variables that hide a builtin.

The author judges long lines of code. comments.py checks long comments.
"""

import ast
import builtins
import importlib.util
import subprocess
import sys

import tree

# Line breaks at operators and long lines are matters of taste.
OPTIONS = ['--isolated', '--select', 'E,F,W', '--ignore', 'E501,W503,W504']
HIDDEN = {name for name in dir(builtins) if not name.startswith('_')}
MUTABLE_CALLS = {'list', 'dict', 'set', 'bytearray', 'defaultdict', 'Counter', 'deque'}
FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda)


def is_mutable(value):
    if isinstance(value, ast.Call):
        return isinstance(value.func, ast.Name) and value.func.id in MUTABLE_CALLS
    return isinstance(value, (ast.List, ast.Dict, ast.Set, ast.ListComp, ast.DictComp, ast.SetComp))


def problems_of(node):
    """(line, problem) of a node of the syntax tree."""
    if isinstance(node, FUNCTIONS):
        for value in [*node.args.defaults, *node.args.kw_defaults]:
            if value is not None and is_mutable(value):
                yield value.lineno, 'a default value that all calls share: make it None'
    if isinstance(node, ast.arg) and node.arg in HIDDEN:
        yield node.lineno, f'argument {node.arg} hides the builtin'
    if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store) and node.id in HIDDEN:
        yield node.lineno, f'variable {node.id} hides the builtin'


def own_checks(path):
    found = [problem for node in ast.walk(ast.parse(tree.read(path))) for problem in problems_of(node)]
    return [f'{path}:{line}: {what}' for line, what in sorted(found)]


def main():
    paths = tree.python_files()
    failed = tree.report([problem for path in paths for problem in own_checks(path)])
    if not importlib.util.find_spec('flake8'):
        print('Python is checked in part only: there is no flake8 here')
        return failed or tree.SKIPPED_STATUS
    done = subprocess.run([sys.executable, '-B', '-m', 'flake8', *OPTIONS, *paths], cwd=tree.TOP,
                          check=False)
    return failed or done.returncode


if __name__ == '__main__':
    sys.exit(main())
