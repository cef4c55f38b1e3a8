# SPDX-License-Identifier: GPL-2.0-or-later
"""Leaf nodes from the daemon's conf.def: numbers, flags and choices.

A line `#leaves <path>` in a definition is replaced by the leaves of the section `path`, and
`#leaves <>` by the leaves at the top. VyOS does not know such lines, so the installed definitions
contain the nodes.
"""

import re
import sys
from pathlib import Path
from xml.sax.saxutils import escape

sys.path.insert(0, str(Path(__file__).parents[2] / 'python'))

from vyos_leon import leaves, rates  # noqa: E402

LINE = re.compile(r'( *)#leaves <(.*)>')
UNITS = {
    '%': 'percent', 's': 'seconds', 'ms': 'milliseconds', 'us': 'microseconds',
    'frames/s': 'frames per second',
}  # fmt: skip


def _value(form, description):
    return [
        '<valueHelp>',
        f'  <format>{form}</format>',
        f'  <description>{escape(description)}</description>',
        '</valueHelp>',
    ]


def _constraint(test, error):
    return [
        '<constraint>',
        f'  {test}',
        '</constraint>',
        f'<constraintErrorMessage>{escape(error)}</constraintErrorMessage>',
    ]


def _rate(of, numeric, error):
    """A rate as a number, or in VyOS's notation of bandwidths."""
    value = _value(f'u32:{of["low"]}-{of["high"]}', of['value'])
    for unit in rates.UNITS:
        value += _value(f'&lt;number&gt;{unit}', f'Rate with its unit, such as 50{unit}')
    error += f', or have a unit ({", ".join(rates.UNITS)})'
    return value + _constraint(f'{numeric}\n  <regex>{rates.FORM}</regex>', error)


def _number(of):
    """The CLI does not offer the value of an absent leaf."""
    low = of['low'] + (of['cli'] == 'NOT_0')
    unit = UNITS.get(of['unit'], of['unit'])
    error = f'{of["what"]} must be between {low} and {of["high"]} {unit}'.rstrip()
    test = f'<validator name="numeric" argument="--range {low}-{of["high"]}"/>'
    if of['unit'] == rates.UNIT:
        return _rate(of, test, error)
    return _value(f'u32:{low}-{of["high"]}', of['value']) + _constraint(test, error)


def _choice(of):
    names = of['names'].split()
    lines = ['<completionHelp>', f'  <list>{of["names"]}</list>', '</completionHelp>']
    for name, description in zip(names, of['values'].split('|'), strict=True):
        lines += _value(name, description)
    error = f'{of["what"]} must be {", ".join(names[:-1])} or {names[-1]}'
    return lines + _constraint(f'<regex>({"|".join(names)})</regex>', error)


def _properties(leaf):
    if leaf.kind in leaves.FLAGS:
        return ['<valueless/>']
    return _choice(leaf.of) if leaf.kind == 'CHOICE' else _number(leaf.of)


def _leaf_node(leaf):
    lines = [f'<leafNode name="{leaf.words[-1]}">', '  <properties>']
    lines.append(f'    <help>{escape(leaf.of["help"])}</help>')
    lines += ['    ' + line for line in _properties(leaf)]
    lines.append('  </properties>')
    if leaf.of.get('cli', 'DEFAULT') == 'DEFAULT' and leaf.kind not in leaves.FLAGS:
        lines.append(f'  <defaultValue>{leaf.of["default"]}</defaultValue>')
    return lines + ['</leafNode>']


def is_generated(leaf):
    return leaf.kind in leaves.NUMBERS | leaves.FLAGS | {'CHOICE'}


def expand(line):
    """The replacement of a line of a definition: None for an ordinary line, [] for an empty
    section."""
    match = LINE.fullmatch(line)
    if not match:
        return None
    indent, section = match.groups()
    found = [x for x in leaves.LEAVES.values() if x.section == section and is_generated(x)]
    return [indent + text for leaf in found for text in _leaf_node(leaf)]
