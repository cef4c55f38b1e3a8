# SPDX-License-Identifier: GPL-2.0-or-later
"""`export`, `import` and `overlay-address`: the announced addresses, and the rules. verify.py runs
the rules. Pure.
"""

import ipaddress
import re

from vyos_leon.leaves import limits

OVERLAY_MAX = limits('overlay-address')[1]
PREFIXES_MAX = limits('export prefix')[1]
IMPORTS_MAX = limits('import prefix')[1]
IMPORT_ADDRESSES_MAX = limits('import address')[1]
IMPORT_NODES_MAX = limits('import prefix PREFIX node')[1]


def listed(value):
    """VyOS may represent a multi node with one value as a string."""
    return [value] if isinstance(value, str) else list(value)


def is_exporting(config):
    return bool({'next_hop', 'prefix'} & set(config.get('export', {})))


def _interfaces(config):
    """Addresses of the interface with their prefix lengths. Addresses of DHCP are not known yet."""
    found = []
    for text in listed(config.get('address', [])):
        try:
            found.append(ipaddress.ip_interface(text))
        except ValueError:
            pass
    return [i for i in found if not i.ip.is_link_local]


def overlay_addresses(config):
    """The configured addresses, else the addresses of the interface if something is exported."""
    if 'overlay_address' in config:
        return listed(config['overlay_address'])
    if not is_exporting(config):
        return []
    return [str(i.ip) for i in _interfaces(config)]


def _networks(texts):
    """(text, network or None for an invalid text)"""
    for text in texts:
        try:
            yield text, ipaddress.ip_network(text)
        except ValueError:
            yield text, None


def _exported(config):
    return listed(config.get('export', {}).get('prefix', []))


def _accepted(config):
    return config.get('import', {}).get('prefix', {})


# --- errors ---


def export_has_address(config, _):
    if is_exporting(config) and not overlay_addresses(config):
        yield (
            'What is exported needs an address of this node that others use as '
            'next-hop: set "address" to one such as 10.99.0.1/32, or set '
            '"overlay-address".'
        )


def unconditional_has_prefix(config, _):
    if 'unconditional' in config.get('export', {}) and not _exported(config):
        yield (
            '"export unconditional" is about announced prefixes and there is none: set '
            '"export prefix", or delete it.'
        )


def overlay_addresses_are_few(config, _):
    count = len(overlay_addresses(config))
    if count > OVERLAY_MAX:
        yield (
            f'There are {count} overlay addresses and at most {OVERLAY_MAX} are '
            f'possible: set "overlay-address" to those that others are to use.'
        )


def overlay_addresses_are_usable(config, _):
    for text in overlay_addresses(config):
        ip = ipaddress.ip_address(text)
        if ip.is_unspecified or ip.is_multicast or ip.is_loopback or ip.is_link_local:
            yield (
                f'{text} leads nobody to this node: set "overlay-address" to an '
                f'address of its own inside the overlay.'
            )


def prefixes_are_networks(config, _):
    import_ = config.get('import', {})
    texts = _exported(config) + listed(import_.get('address', [])) + list(_accepted(config))
    for text, network in _networks(texts):
        if network is None:
            yield (
                f'{text} is no prefix, the bits behind its length are not zero: set it '
                f'to the network.'
            )


def exported_prefix_has_address(config, _):
    versions = {ipaddress.ip_address(a).version for a in overlay_addresses(config)}
    for text, network in _networks(_exported(config)):
        if versions and network and network.version not in versions:
            yield (
                f'Others cannot reach {text} without an IPv{network.version} address of '
                f'this node: set "address" or "overlay-address" to one.'
            )


def prefixes_are_few(config, _):
    import_ = config.get('import', {})
    for what, values, most in (
        ('export prefix', _exported(config), PREFIXES_MAX),
        ('import prefix', _accepted(config), IMPORTS_MAX),
        ('import address', listed(import_.get('address', [])), IMPORT_ADDRESSES_MAX),
    ):
        if len(values) > most:
            yield (
                f'There are {len(values)} times "{what}" and at most {most} are '
                f'possible: set shorter prefixes that cover them.'
            )
    for text, rule in _accepted(config).items():
        count = len(listed(rule.get('node', [])))
        if count > IMPORT_NODES_MAX:
            yield (
                f'"import prefix {text}" names {count} nodes and at most '
                f'{IMPORT_NODES_MAX} are possible: delete "node" to accept all.'
            )


def _is_node(text):
    """True for a node-id or an identity key. A name is refused, because any node can choose it."""
    if re.fullmatch('[0-9a-f]{64}', text):
        return True
    try:
        return not ipaddress.IPv4Address(text).is_unspecified
    except ValueError:
        return False


def nodes_are_no_names(config, _):
    for text, rule in _accepted(config).items():
        for node in listed(rule.get('node', [])):
            if not _is_node(node):
                yield (
                    f'"import prefix {text} node {node}" is a name, which a node gives '
                    f'itself: set the identity or node-id of "show leon identity" instead.'
                )


def lengths_are_possible(config, _):
    for text, network in _networks(_accepted(config)):
        if network is None:
            continue
        rule = _accepted(config)[text]
        shortest = int(rule.get('ge', network.prefixlen))
        default = network.max_prefixlen if 'ge' in rule else network.prefixlen
        longest = int(rule.get('le', default))
        if not network.prefixlen <= shortest <= longest <= network.max_prefixlen:
            yield (
                f'"import prefix {text}" accepts nothing: set "ge" and "le" so that '
                f'{network.prefixlen} <= ge <= le <= {network.max_prefixlen}.'
            )


# --- warnings ---


def address_is_a_host_address(config, _):
    """The pitfall of FRR's next-hop tracking, see routing.md."""
    if 'next_hop' not in config.get('export', {}):
        return
    for interface in _interfaces(config):
        if interface.network.prefixlen < interface.max_prefixlen:
            yield (
                f'{interface} makes a connected network of all nodes: BGP resolves the '
                f'next-hop of a failed node through it and prefers that node. Set '
                f'"address" to {interface.ip}/{interface.max_prefixlen}.'
            )


def routes_are_of_no_use_in_a_bridge(config, _):
    routes = 'next_hop' in config.get('export', {}) or _accepted(config)
    for bridge in config.get('is_bridge_member', {}) if routes else ():
        yield (
            f'{config["ifname"]} is a member of {bridge} and gets no routes there: '
            f'delete "export next-hop" and "import prefix", or the membership.'
        )


ERRORS = (
    export_has_address,
    unconditional_has_prefix,
    overlay_addresses_are_few,
    overlay_addresses_are_usable,
    prefixes_are_networks,
    exported_prefix_has_address,
    prefixes_are_few,
    nodes_are_no_names,
    lengths_are_possible,
)
WARNINGS = (
    address_is_a_host_address,
    routes_are_of_no_use_in_a_bridge,
)
