# SPDX-License-Identifier: GPL-2.0-or-later
"""Conversion of the configuration dictionary of VyOS to the document of leond.

CLI and document use equal words (see leaves.py) in different forms: strings for numbers, empty
dictionaries for true, underscores for hyphens. The configuration script calls build(), and
templates/leon/leond.json.j2 writes the result.
"""

from vyos_leon import keyfile
from vyos_leon import leaves
from vyos_leon import rates
from vyos_leon import routes
from vyos_leon.routes import listed

# Leaves that the package sets, that VyOS applies, or that leond handles alone.
NOT_AT_CLI = {'interface', 'address', 'bridge', 'identity-file', 'system control-socket',
              'transport tls certificate', 'transport tls private-key'}


def _flag(_):
    """A valueless node is present or absent."""
    return True


# Conversion of the VyOS value for each kind of leaf.
CONVERT = {
    'NUMBER': int, 'ITEM': int, 'FLAG': _flag, 'ITEM_FLAG': _flag, 'CHOICE': str,
    'TEXT': str, 'ADDRESS': str, 'LIST': listed,
}  # fmt: skip
# Objects without a value, and objects with named children.
OBJECTS = {'OBJECT', 'TABLE'}


def _converter(leaf):
    return rates.kbits if rates.is_rate(leaf) else CONVERT[leaf.kind]


def _tree():
    """Word -> conversion of the value, or a dictionary for the words below."""
    root = {}
    for leaf in leaves.LEAVES.values():
        if leaf.path in NOT_AT_CLI:
            continue
        nodes = root
        for word in leaf.words[:-1]:
            nodes = nodes.setdefault(word, {})
        nodes[leaf.words[-1]] = {} if leaf.kind in OBJECTS else _converter(leaf)
    return root


NODES = _tree()


def objects():
    """Words of the top level that have an effect by their presence."""
    found = leaves.LEAVES.values()
    return [leaf.path for leaf in found if leaf.kind == 'OBJECT' and not leaf.section]


def mangled(word):
    """The key of a node in VyOS's get_config_dict(key_mangling=('-', '_'))."""
    return word.replace('-', '_')


def _convert(nodes, value):
    if callable(nodes):
        return nodes(value)
    (name,) = [word for word in nodes if word.isupper()] or [None]
    if name:
        return {key: _convert(nodes[name], value[key]) for key in sorted(value)}
    return {
        word: _convert(below, value[mangled(word)])
        for word, below in nodes.items()
        if mangled(word) in value
    }


def build(config):
    """{'interface', 'values', 'sections', 'peers'} for the template. Empty sections are left out,
    so the defaults of the daemon apply."""
    overlay = routes.overlay_addresses(config)
    if overlay:
        config = {**config, 'overlay_address': overlay}
    document = _convert(NODES, config)
    peers = document.pop('peer', {})
    sections = {word for word in document if not callable(NODES[word])}
    return {
        'interface': config['ifname'],
        'values': {
            **{word: document[word] for word in document if word not in sections},
            'identity-file': keyfile.path(config['ifname']),
        },
        'sections': {
            word: nodes for word, nodes in document.items() if word in sections and nodes
        },
        'peers': peers,
    }
