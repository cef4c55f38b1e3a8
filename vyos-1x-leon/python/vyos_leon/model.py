# SPDX-License-Identifier: GPL-2.0-or-later
"""From the configuration dictionary of VyOS to the document that leond reads.

The words of the CLI are those of the document (leaves.py has them); what changes is the
form: VyOS has strings where the document has numbers, empty dictionaries where it has
true, and underscores where it has hyphens. Called by the configuration script;
templates/leon/ leond.json.j2 writes what build() returns.
"""

from vyos_leon import keyfile
from vyos_leon import leaves
from vyos_leon import rates
from vyos_leon import routes
from vyos_leon.routes import listed

# What the package says by itself, or leaves to leond.
NOT_AT_CLI = {'interface', 'identity-file', 'system control-socket'}


def _flag(_):
    """A valueless node is there or not."""
    return True


# Each kind of leaf, from the value that VyOS has.
CONVERT = {
    'NUMBER': int, 'ITEM': int, 'FLAG': _flag, 'ITEM_FLAG': _flag, 'CHOICE': str,
    'TEXT': str, 'ADDRESS': str, 'LIST': listed,
}  # fmt: skip
# Objects that are there or not, and those with names below them.
OBJECTS = {'OBJECT', 'TABLE'}


def _converter(leaf):
    return rates.kbits if rates.is_rate(leaf) else CONVERT[leaf.kind]


def _tree():
    """Word -> how its value is converted, or the same for the words below it."""
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


def mangled(word):
    """How VyOS's get_config_dict(key_mangling=('-', '_')) spells a node."""
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
    """{'interface', 'values', 'sections', 'peers'} for the template; empty sections are
    left out, so that the daemon's defaults hold."""
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
