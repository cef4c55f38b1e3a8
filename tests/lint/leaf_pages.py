# SPDX-License-Identifier: GPL-2.0-or-later
"""Writes the leaves of the configuration as a table of reference.md for gen_tables.py."""

import os
import sys

import tree

sys.path.insert(0, os.path.join(tree.TOP, 'vyos-1x-leon/tools'))
from leaf_text import accepted, default, leaves  # noqa: E402


def leaf_table():
    lines = ['| key | default | range, unit | meaning |', '|---|---|---|---|',
             '| `version` | required | 1 | Version of this format. |']
    for leaf in leaves.LEAVES.values():
        restart = ' R' if leaf.restarts else ''
        lines.append(f'| `{leaf.path}`{restart} | {default(leaf)} | {accepted(leaf)} | '
                     f'{leaf.of["text"]} |')
    return '\n'.join(lines)
