# SPDX-License-Identifier: GPL-2.0-or-later
"""Reads a definition file: `#include <...>`, `#leaves <...>` and `#command <...>` lines replaced,
defaults overridden.

An include occupies its own line and is relative to the directory of the definition, also inside an
included file. A leafNode that repeats an earlier node and has only a defaultValue replaces the
default of that node. For `#leaves <...>` see leaves.py. `#command <show fdb> HELP` is a node `fdb`
of `show leon`. It runs the function show_fdb, for all interfaces or for one.
"""

import re
from dataclasses import dataclass, field
from pathlib import Path

from lxml import etree

from leon_cli import leaves

INCLUDE = re.compile(r' *#include <(.+)>')
COMMAND = re.compile(r' *#command <(\w+) (\w+)> (.+)')
COMMAND_NODE = """\
<node name="{name}">
  <properties>
    <help>{help}</help>
  </properties>
  <command>${{vyos_op_scripts_dir}}/leon.py {verb}_{name}</command>
  <children>
    <tagNode name="interface">
#include <include/interface.xml.i>
      <command>${{vyos_op_scripts_dir}}/leon.py {verb}_{name} --interface "$5"</command>
    </tagNode>
  </children>
</node>"""


class DefinitionError(Exception):
    """The problems of a definition, a list of 'file:line: sentence'."""

    def __init__(self, problems):
        super().__init__('\n'.join(problems))
        self.problems = problems


@dataclass
class Definition:
    """One parsed definition. `origin` has the file and line of each line of the text."""

    root: etree._Element = None
    origin: list = field(default_factory=list)

    def where(self, line):
        """'file:line' of a line of the expanded text."""
        if not self.origin:
            return '?'
        path, number = self.origin[min(max(line, 1), len(self.origin)) - 1]
        return f'{path}:{number}'

    def problem(self, element, sentence):
        return f'{self.where(element.sourceline or 1)}: {sentence}'

    def merged(self):
        """The text of the definition after includes and overrides."""
        root = etree.fromstring(
            etree.tostring(self.root), etree.XMLParser(remove_blank_text=True)
        )
        return etree.tostring(root, encoding='unicode', pretty_print=True)


def expand(line):
    """The lines for a line with `#leaves` or `#command`; [] for a section without leaves."""
    command = COMMAND.fullmatch(line)
    if command:
        return COMMAND_NODE.format(verb=command[1], name=command[2], help=command[3]).splitlines()
    new = leaves.expand(line)
    return [line] if new is None else new


def _lines(path):
    """(number, line) of a file with the lines of expand()."""
    for number, line in enumerate(path.read_text().splitlines(), 1):
        new = expand(line)
        if not new:
            raise DefinitionError([f'{path}:{number}: conf.def has no leaf there'])
        for one in new:
            yield number, one


def _expand(path, base, origin, active):
    """Lines of a file with its includes; also fills `origin`."""
    lines = []
    for number, line in _lines(path):
        include = INCLUDE.fullmatch(line)
        if not include:
            lines.append(line)
            origin.append((path, number))
            continue
        target = base / include[1]
        if not target.is_file():
            raise DefinitionError([f'{path}:{number}: no file {include[1]} in {base}'])
        if target in active:
            raise DefinitionError([f'{path}:{number}: {include[1]} includes itself'])
        lines += _expand(target, base, origin, [*active, target])
    return lines


def _is_override(leaf):
    return [child.tag for child in leaf] == ['defaultValue']


def _override_defaults(root):
    for children in root.iter('children'):
        first = {}
        for leaf in children.findall('leafNode'):
            name = leaf.get('name')
            if name not in first:
                first[name] = leaf
            elif _is_override(leaf):
                for old in first[name].findall('defaultValue'):
                    first[name].remove(old)
                first[name].append(leaf[0])
                children.remove(leaf)


def read(path):
    """The definition in a file. Raises DefinitionError if it is not well-formed XML."""
    path = Path(path)
    definition = Definition()
    lines = _expand(path, path.parent, definition.origin, [path])
    parser = etree.XMLParser(
        remove_comments=True, remove_pis=True, resolve_entities=False, no_network=True
    )
    try:
        definition.root = etree.fromstring('\n'.join(lines).encode(), parser)
    except etree.XMLSyntaxError as error:
        where = definition.where(error.lineno or 1)
        raise DefinitionError([f'{where}: {error.msg}']) from None
    _override_defaults(definition.root)
    return definition
