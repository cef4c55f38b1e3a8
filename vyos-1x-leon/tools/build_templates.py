#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""Checks command definitions and generates VyOS's command templates.

Usage: build_templates.py config|op [--templates DIR] [--merged DIR] [--cache FILE]
    DEFINITION.xml.in...

--templates writes the tree of node.def files. --merged writes the definitions with their includes,
from which VyOS generates its reference tree. --cache writes our part of the caches of VyOS. Without
any of them, the program only checks.
"""

import argparse
import json
import sys
from pathlib import Path

from leon_cli import cache, config, grammar, op, source
from leon_cli.nodedef import Tree

MODES = {'config': config, 'op': op}


def read_all(mode, paths):
    """All definitions. Raises DefinitionError with the problems of all of them."""
    definitions, problems = {}, []
    for path in paths:
        try:
            definitions[path] = source.read(path)
        except source.DefinitionError as error:
            problems += error.problems
        else:
            problems += grammar.check(definitions[path], mode)
    if problems:
        raise source.DefinitionError(problems)
    return definitions


def build(mode, definitions):
    """The Tree of node.def files of all definitions together."""
    tree = Tree()
    for definition in definitions.values():
        MODES[mode].templates(definition, tree)
    return tree


def write_merged(folder, definitions):
    folder.mkdir(parents=True, exist_ok=True)
    for path, definition in definitions.items():
        (folder / path.name.removesuffix('.in')).write_text(definition.merged())


def write_cache(path, mode, definitions):
    path.parent.mkdir(parents=True, exist_ok=True)
    tree = getattr(cache, mode)(definitions.values())
    path.write_text(json.dumps(tree, indent=1) + '\n')


def main():
    parser = argparse.ArgumentParser(usage=__doc__)
    parser.add_argument('mode', choices=list(MODES))
    parser.add_argument('--templates', type=Path)
    parser.add_argument('--merged', type=Path)
    parser.add_argument('--cache', type=Path)
    parser.add_argument('definition', type=Path, nargs='+')
    options = parser.parse_args()
    try:
        definitions = read_all(options.mode, options.definition)
    except source.DefinitionError as error:
        print(error, file=sys.stderr)
        return 1
    if options.templates:
        build(options.mode, definitions).write(options.templates)
    if options.merged:
        write_merged(options.merged, definitions)
    if options.cache:
        write_cache(options.cache, options.mode, definitions)
    return 0


if __name__ == '__main__':
    sys.exit(main())
