# SPDX-License-Identifier: GPL-2.0-or-later
"""node.def files of operational mode.

The lines of a node.def: help, allowed, run. A tag node has two files: node.def with the help text,
and node.tag/node.def of the value with all lines. Nodes are sorted by kind and name. A node and a
tag node of equal name share a node.def, and the first node defines the file.
"""

import re

from leon_cli.nodedef import Tree, fill_help

ACTIVE = '/opt/vyatta/config/active'


def _allowed(properties):
    completion = properties.find('completionHelp')
    if completion is None:
        return None
    commands = [f'echo "{e.text}"' for e in completion.findall('list')]
    for path in completion.findall('path'):
        folder = re.sub(r'\s+', '/', path.text)
        commands.append(f'ls {ACTIVE}/{folder} 2>/dev/null')
    commands += [e.text for e in completion.findall('script')]
    return ' && '.join(commands)


# Scripts that need root: the scripts of LEON, and the script that clears counters of interfaces.
OF_ROOT = re.compile(r'(?<!sudo )\$\{vyos_op_scripts_dir\}/(?:leon|interfaces\.py clear)')


def as_root(command):
    """The runner of VyOS before May 2025 is not root. For the present runner, sudo has no
    effect."""
    return OF_ROOT.sub(lambda m: f'sudo {m[0]}', command)


def _run(node):
    command = node.findtext('command')
    return None if command is None else as_root(command)


def node_def(node):
    """Text of the node.def of an element; empty for a parent without properties."""
    properties = node.find('properties')
    if properties is None:
        return ''
    lines = [
        ('help', fill_help(properties.findtext('help'))),
        ('allowed', _allowed(properties)),
        ('run', _run(node)),
    ]
    return ''.join(f'{key}: {text}\n' for key, text in lines if text is not None)


def _in_order(nodes):
    return sorted(nodes, key=lambda node: f'{node.tag}:{node.get("name")}')


def _walk(node, path, tree):
    path = [*path, node.get('name')]
    if node.tag == 'tagNode':
        tree.put(path, f'help: {node.findtext("properties/help")}\n')
        path = [*path, 'node.tag']
    tree.put(path, node_def(node))
    for child in _in_order(node.iterfind('children/*')):
        _walk(child, path, tree)


def templates(definition, tree=None):
    """The Tree of a definition, added to `tree` if given."""
    tree = Tree() if tree is None else tree
    for node in _in_order(definition.root):
        _walk(node, [], tree)
    return tree
