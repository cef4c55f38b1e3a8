# SPDX-License-Identifier: GPL-2.0-or-later
"""Data and pure functions of the smoketest. The module of the smoketest needs VyOS."""
import ast

from conftest import TOP
from vyos_leon import leaves

NAMES = {'ELSEWHERE', 'SEGMENT', 'add_the_rest', 'every_option'}


def _read():
    tree = ast.parse((TOP / 'tests/vyos/test_interfaces_leon.py').read_text())
    tree.body = [
        node for node in tree.body
        if getattr(node, 'name', None) in NAMES
        or isinstance(node, ast.Assign) and node.targets[0].id in NAMES
    ]
    space = {'leaves': leaves}
    exec(compile(tree, 'smoketest', 'exec'), space)
    return space


every_option, SEGMENT = (_read()[name] for name in ('every_option', 'SEGMENT'))
