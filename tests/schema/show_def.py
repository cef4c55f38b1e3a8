# SPDX-License-Identifier: GPL-2.0-or-later
"""Reads leonctl/show/show.def, which documents its rows and types, and programs.def. Makes the JSON
schema of each answer, and the tables of keys for reference.md."""

import ast
import re
from dataclasses import dataclass, field
from pathlib import Path

TOP = Path(__file__).resolve().parents[2]
SHOW_DEF = TOP / 'vyos-1x-leon/leonctl/show/show.def'
PROGRAMS_DEF = TOP / 'tests/schema/programs.def'
EVENT_DEF = TOP / 'vyos-1x-leon/dataplane/state/event.def'
STRING = r'"(?:[^"\\]|\\.)*"'
# Kind -> number of arguments before the meaning.
KEYS = {'KEY': 2, 'COLUMN': 3, 'CELL': 4}
NUMBERS = {'number': '0-', 'us': '0-', 'seconds': '0-', 'bytes': '0-', 'permille': '0-1000', 'ordinal': '0-',
           'port': '1-65535', 'vlan': '0-4095', 'segment': '0-16777215'}
TEXTS = {'text': '', 'id': r'^\d{1,3}(\.\d{1,3}){3}$', 'mac': '^[0-9a-f]{2}(:[0-9a-f]{2}){5}$',
         'key': '^[0-9a-f]{64}$', 'handle': '^[0-9a-f]{16}$', 'prefix': r'^[0-9a-f.:]+/\d+$',
         'time': r'^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$'}


@dataclass
class Row:
    """Keys of the type `of`; `rows` are the rows of the object, or of the objects of the list."""
    kind: str
    keys: list
    of: str = ''
    meaning: str = ''
    rows: list = field(default_factory=list)


def calls(text):
    """[(name, arguments)] of the rows, in order."""
    text = re.sub(r'/\*.*?\*/', '', text, flags=re.S).replace('\\\n', ' ')
    macros = dict(re.findall(r'^#define (\w+) (.*)$', text, re.M))
    text = re.sub(r'^#.*$', '', text, flags=re.M)
    # A macro may contain another macro.
    for _ in range(2):
        text = re.sub(rf'\b(?:{"|".join(macros)})\b', lambda found: macros[found[0]], text)
    for name, arguments in re.findall(rf'(\w+)(?:\(((?:{STRING}|[^()"])*)\))?', text):
        found = re.findall(rf'(?:\s*{STRING})+|\w+', arguments)
        yield name, [ast.literal_eval(f'({one})') if '"' in one else one for one in found]


def answers(file=SHOW_DEF):
    """{command: rows}"""
    found, open_rows = {}, []
    for name, arguments in calls(file.read_text()):
        if name == 'ANSWER':
            assert len(open_rows) <= 1, f'an END is missing before {arguments}'
            open_rows = [found.setdefault(*arguments, [])]
        elif name == 'END':
            open_rows.pop()
        elif name in ('LIST', 'ROWS', 'OBJECT'):
            row = Row(name, arguments[:1], meaning=''.join(arguments[1:]))
            open_rows[-1].append(row)
            open_rows.append(row.rows)
        elif name in KEYS:
            keys = re.split(r'[ |]', arguments[1])
            open_rows[-1].append(Row(name, keys, arguments[0], ''.join(arguments[KEYS[name]:])))
        else:
            assert name in ('NOTE', 'EMPTY'), f'unknown row {name}'
    return found


def or_null(schema, nullable):
    return {'anyOf': [schema, {'type': 'null'}]} if nullable else schema


def of_type(name):
    word, _, limits = name.partition(' ')
    if name.endswith('?'):
        return or_null(of_type(name[:-1]), True)
    if name in ('bool', 'real'):
        return {'type': {'bool': 'boolean', 'real': 'number'}[name]}
    if name == 'hops':
        return of_type('[text]')
    if name == 'event':
        return {'enum': re.findall(r'^EVENT\(\w+, "([a-z-]+)"', EVENT_DEF.read_text(), re.M)}
    if name[0] == '[':
        return {'type': 'array', 'items': of_type(name[1:-1])}
    if name[0] == '{':
        return {'type': 'object', 'additionalProperties': of_type(name[1:-1])}
    if name[0] == '/':
        return {'type': 'string', 'pattern': name[1:-1]}
    if word in NUMBERS:
        low, high = (limits or NUMBERS[word]).split('-')
        return {'type': 'integer', 'minimum': int(low), **({'maximum': int(high)} if high else {})}
    if word in TEXTS:
        return {'type': 'string', 'pattern': TEXTS[word]}
    assert '|' in name, f'unknown type {name}'
    return {'enum': name.split('|')}


def of_rows(rows):
    """An object with exactly these keys."""
    keys, required = {}, []
    for row, name in [(row, name) for row in rows for name in row.keys]:
        key = name.rstrip('?*')
        assert key not in keys, f'{key} is twice in an object'
        schema = of_rows(row.rows) if row.rows else of_type(row.of)
        if row.kind in ('LIST', 'ROWS'):
            schema = {'type': 'array', 'items': schema}
        keys[key] = or_null(schema, name.endswith('?'))
        required += [] if name.endswith('*') else [key]
    return {'type': 'object', 'properties': keys, 'required': required, 'additionalProperties': False}


def schema_of(command):
    head = [Row('KEY', ['version'], 'number 1-1'), Row('KEY', ['interface'], 'text')]
    return of_rows([*head, *answers()[command]])


def schema_of_program(command):
    return of_rows(answers(PROGRAMS_DEF)[command])


def meanings(rows, inside=''):
    """[(keys, list or object, meaning)] of the rows with a meaning, each once."""
    found = []
    for row in rows:
        keys = ', '.join(f'`{key.rstrip("?")}`' for key in row.keys)
        found += [(keys, inside, row.meaning)] if row.meaning else []
        found += meanings(row.rows, keys)
    first = {}
    for keys, of, meaning in found:
        first.setdefault((keys, meaning), (keys, of, meaning))
    return list(first.values())


def table_of(rows):
    """The Markdown table of the keys of an answer. A key with two meanings names its list."""
    found = meanings(rows)
    all_keys = [keys for keys, _, _ in found]
    lines = ['| key | meaning |', '|---|---|']
    for keys, inside, meaning in found:
        of = f' of {inside}' if inside and all_keys.count(keys) > 1 else ''
        lines.append(f'| {keys}{of} | {meaning} |')
    return '\n'.join(lines)
