# SPDX-License-Identifier: GPL-2.0-or-later
"""The leaves of the configuration, from conf.def of the daemon, which documents its entries.

All other code that depends on leaves uses the module. Users are the form and the limits of the
values of a commit, the command definitions, the manual, the schema, the tests. In the source tree,
conf.def is next to the source of the daemon. The package has a copy.
"""

import re
from pathlib import Path
from typing import NamedTuple

PLACES = (
    Path(__file__).parents[2] / 'dataplane/state/conf/conf.def',
    Path('/usr/share/vyos-1x-leon/conf.def'),
)
TOKEN = re.compile(r'"((?:[^"\\]|\\.)*)"|([^\s,"()][^,"()]*)|([,()])')

# The arguments of each kind of entry in conf.def.
ARGUMENTS = {
    'GROUP': 'title',
    'NUMBER': 'field path type scale low high default unit change cli shown what value '
    'help text',
    'FLAG': 'field path given change help text',
    'OBJECT': 'field path change text',
    'CHOICE': 'field path type first names default change what values help text',
    'ITEM': 'name path low high default unit change cli shown what value help text',
    'ITEM_FLAG': 'path change help text',
    'TEXT': 'name path low high range shown change text',
    'ADDRESS': 'path range shown change text',
    'LIST': 'name path high range shown change text',
    'TABLE': 'name path high range shown change text',
}
NUMBERS = {'NUMBER', 'ITEM'}
FLAGS = {'FLAG', 'ITEM_FLAG'}
INTEGERS = {'low', 'high', 'scale', 'first'}


class Leaf(NamedTuple):
    kind: str
    # The words of the document and of the CLI, separated by blanks. A word in capitals matches any
    # name.
    path: str
    # The other arguments of the entry, by name.
    of: dict

    @property
    def words(self):
        return self.path.split()

    @property
    def section(self):
        """Path of the enclosing object, '' at the top."""
        return ' '.join(self.words[:-1])

    @property
    def restarts(self):
        return self.of['change'] == 'RESTART'


class Fault(Exception):
    """conf.def does not have the expected format."""


def _arguments(text, at):
    """The arguments from `at`, after the opening parenthesis, up to the closing parenthesis.
    Adjacent strings are joined."""
    found, strings, word, depth = [], [], '', 0
    while True:
        token = TOKEN.search(text, at)
        if token is None:
            raise Fault('an entry has no end')
        at = token.end()
        string, plain, mark = token.groups()
        if string is not None:
            strings.append(re.sub(r'\\(.)', r'\1', string))
        elif plain:
            word += plain.strip()
        elif mark == '(':
            depth += 1
        elif mark == ')' and depth:
            depth -= 1
        else:
            found.append(''.join(strings) if strings else word)
            strings, word = [], ''
            if mark == ')':
                return found


def _entries(text):
    text = re.sub(r'/\*.*?\*/', '', text, flags=re.S)
    text = re.sub(r'^#.*$', '', text, flags=re.M)
    for entry in re.finditer(r'^([A-Z_]+)\(', text, re.M):
        kind = entry[1]
        names = ARGUMENTS.get(kind, '').split()
        arguments = _arguments(text, entry.end())
        if len(arguments) != len(names):
            raise Fault(f'{kind}({", ".join(arguments[:2])}, ...) has wrong arguments')
        of = dict(zip(names, arguments))
        of.update({name: int(of[name]) for name in INTEGERS & set(names)})
        if kind in NUMBERS:
            of['default'] = int(of['default'])
        yield kind, of


def read(text):
    """[(title of a group, [Leaf, ...]), ...] in the order of the file."""
    groups = []
    for kind, of in _entries(text):
        if kind == 'GROUP':
            groups.append((of['title'], []))
        else:
            path = of.pop('path')
            groups[-1][1].append(Leaf(kind, path, of))
    return groups


def _load():
    path = next(place for place in PLACES if place.exists())
    return read(path.read_text())


GROUPS = _load()
# path -> Leaf
LEAVES = {leaf.path: leaf for _, leaves in GROUPS for leaf in leaves}


def limits(path):
    """Minimum and maximum: the value of a number, the bytes of a string, or the count of a list or
    of named objects. The count of named objects starts at 0."""
    of = LEAVES[path].of
    return of.get('low', 0), of['high']


def default(path):
    return LEAVES[path].of['default']
