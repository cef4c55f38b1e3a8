#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""Prints the JSON schema (draft 7) of leond's configuration, generated from conf.def.

For editors and for programs that write such files. `leond --check` is stricter: it also checks the
forms of addresses and the rules between two leaves.
"""

import json
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1] / 'python'))

from vyos_leon import leaves, rates  # noqa: E402


def _closed(words=None):
    return {'type': 'object', 'properties': words or {}, 'additionalProperties': False}


def _form(leaf):
    of = leaf.of
    if leaf.kind in leaves.NUMBERS:
        form = {'type': 'integer', 'minimum': of['low'], 'maximum': of['high']}
        if rates.is_rate(leaf):
            form = {'anyOf': [form, {'type': 'string', 'pattern': f'^{rates.FORM}$'}]}
    elif leaf.kind in leaves.FLAGS:
        form = {'type': 'boolean'}
    elif leaf.kind == 'OBJECT':
        form = _closed()
    elif leaf.kind == 'CHOICE':
        form = {'enum': of['names'].split()}
    elif leaf.kind == 'LIST':
        form = {'type': 'array', 'items': {'type': 'string'}, 'maxItems': of['high']}
    elif leaf.kind == 'TABLE':
        form = {'type': 'object', 'maxProperties': of['high'], 'additionalProperties': _closed()}
    elif leaf.kind == 'TEXT':
        # The schema counts characters and conf.def bytes, so the upper limit is not repeated here.
        form = {'type': 'string', 'minLength': min(of['low'], 1)}
    else:
        form = {'type': 'string'}
    return {**form, 'description': of['text']}


def _place(root, words):
    """The schema of the object below the given words."""
    for word in words:
        if word.isupper():
            root = root['additionalProperties']
        else:
            root = root['properties'].setdefault(word, _closed())
    return root


def _require(leaf, place):
    if leaf.of.get('shown') == 'required':
        place.setdefault('required', []).append(leaf.words[-1])


def schema():
    root = {
        '$schema': 'http://json-schema.org/draft-07/schema#',
        'title': 'Configuration of a LEON overlay interface',
        **_closed({'version': {'const': 1}}),
        'required': ['version'],
    }
    for leaf in leaves.LEAVES.values():
        place = _place(root, leaf.words[:-1])
        place['properties'][leaf.words[-1]] = _form(leaf)
        _require(leaf, place)
    return root


if __name__ == '__main__':
    print(json.dumps(schema(), indent=2))
