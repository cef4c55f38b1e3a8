# SPDX-License-Identifier: GPL-2.0-or-later
"""From the configuration dictionary of VyOS to the document that leond reads.

The words of the CLI are those of the document (vyos-1x-leon/dataplane/state/conf.h);
what changes is the form: VyOS has strings where the document has numbers, empty
dictionaries where it has true, and underscores where it has hyphens. Called by the
configuration script; templates/leon/ leond.json.j2 writes what build() returns.
"""

from vyos_leon import keyfile
from vyos_leon import routes
from vyos_leon.routes import listed


def flag(_):
    """A valueless node is there or not."""
    return True


def nested(nodes):
    """A node with nodes below it; there or not is a value of its own."""
    return lambda config: _convert(nodes, config)


def mapped(nodes):
    """A tag node: whatever the names are, the same nodes below each."""
    return lambda config: {n: _convert(nodes, config[n]) for n in sorted(config)}


# Nodes with a value, in the order they are written.
VALUES = {
    'mac': str,
    'mtu': int,
    'source-address': listed,
    'source-interface': str,
    'port': int,
    'vni': int,
    'node-id': str,
    'node-name': str,
    'overlay-address': listed,
    'fwmark': int,
}

NEXT_HOP = {'threshold': int, 'threshold-minimum': int, 'interval': int}
IMPORT_PREFIX = {'ge': int, 'le': int, 'node': listed}

IP = {'tos': int, 'ttl': int, 'df': str}
IPV6 = {'tclass': int, 'hoplimit': int}

SECTIONS = {
    'parameters': {'ip': nested(IP), 'ipv6': nested(IPV6)},
    'transit': {'disable': flag},
    'measurement': {'interval': int, 'fast-interval': int, 'dead-multiplier': int, 'lasting-time': int},
    'path': {
        'threshold': int,
        'threshold-minimum': int,
        'noise-margin': int,
        'lasting-threshold': int,
        'hold-time': int,
        'maximum-relays': int,
        'relay-cost': int,
    },
    'fdb': {'aging': int, 'maximum': int},
    'storm-control': {'broadcast': int, 'multicast': int, 'unknown-unicast': int},
    'suppression': {'arp': flag, 'nd': flag},
    'mss-clamp': {'disable': flag},
    'loop-guard': {'disable': flag, 'interval': int},
    'authentication': {
        'pre-shared-secret': str,
        'accept-secret': listed,
        'trusted-identity': listed,
    },
    'encryption': {'rekey-time': int, 'cipher': str, 'disable': flag},
    'export': {
        'next-hop': nested(NEXT_HOP),
        'prefix': listed,
        'unconditional': nested({}),
    },
    'import': {'distance': int, 'address': listed, 'prefix': mapped(IMPORT_PREFIX)},
    'member': {'maximum': int, 'forget-time': int},
    'system': {'workers': int, 'busy-poll': int, 'log-level': str},
}

PEER = {'address': str, 'port': int, 'disable': flag, 'description': str}


def mangled(word):
    """How VyOS's get_config_dict(key_mangling=('-', '_')) spells a node."""
    return word.replace('-', '_')


def _convert(nodes, config):
    return {
        word: convert(config[mangled(word)])
        for word, convert in nodes.items()
        if mangled(word) in config
    }


def build(config):
    """{'interface', 'values', 'sections', 'peers'} for the template; empty sections are
    left out, so that the daemon's defaults hold."""
    sections = {
        name: _convert(nodes, config.get(mangled(name), {}))
        for name, nodes in SECTIONS.items()
    }
    peers = config.get('peer', {})
    overlay = routes.overlay_addresses(config)
    if overlay:
        config = {**config, 'overlay_address': overlay}
    return {
        'interface': config['ifname'],
        'values': {
            **_convert(VALUES, config),
            'identity-file': keyfile.path(config['ifname']),
        },
        'sections': {name: nodes for name, nodes in sections.items() if nodes},
        'peers': {name: _convert(PEER, peers[name]) for name in sorted(peers)},
    }
