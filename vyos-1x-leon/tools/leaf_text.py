# SPDX-License-Identifier: GPL-2.0-or-later
"""The leaves of the configuration in words: accepted values, default, and the entry of a leaf in
leond.json(5). Used by conf_manual.py at build time and by the checks in tests/lint."""

import re
import sys
import textwrap
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1] / 'python'))

from vyos_leon import leaves, rates  # noqa: E402


def accepted(leaf):
    """The accepted values of a leaf, in words."""
    if leaf.kind in leaves.NUMBERS:
        written = ', or "50mbit"' if rates.is_rate(leaf) else ''
        return f'{leaf.of["low"]} to {leaf.of["high"]} {leaf.of["unit"]}'.rstrip() + written
    if leaf.kind in leaves.FLAGS:
        return 'boolean'
    if leaf.kind == 'OBJECT':
        return 'object'
    if leaf.kind == 'CHOICE':
        return ', '.join(leaf.of['names'].split())
    return leaf.of['range']


def default(leaf):
    if leaf.kind in leaves.FLAGS:
        return 'false'
    if leaf.kind == 'OBJECT':
        return 'off'
    return leaf.of.get('shown') or str(leaf.of['default'])


def in_manual(text):
    """Markdown as scdoc has it: `path hold-time` is _path.hold-time_, a link names its page."""
    def code(match):
        word = match[1]
        return '_' + (word.replace(' ', '.') if word in leaves.LEAVES else word) + '_'

    text = re.sub(r'\[([^]]+)\]\((\w+\.md)[^)]*\)', r'"\1" in \2', text)
    return re.sub(r'`([^`]+)`', code, text)


def leaf_entry(leaf):
    form = accepted(leaf)
    first = f'{form[0].upper()}{form[1:]}. Default: {in_manual(default(leaf))}.'
    if default(leaf) == 'required':
        first = first.replace('Default: required', 'Required')
    lines = [f'_{leaf.path.replace(" ", ".")}_ ({"restart" if leaf.restarts else "live"})']
    for text in (first, in_manual(leaf.of['text'])):
        lines += ['\t' + line for line in textwrap.wrap(text, 92, break_on_hyphens=False)]
    return '\n'.join(lines)


def leaf_entries():
    """The sections of leond.json(5), one for each group of leaves."""
    return '\n\n'.join(f'# {title.upper()}\n\n' + '\n\n'.join(map(leaf_entry, group))
                       for title, group in leaves.GROUPS)
