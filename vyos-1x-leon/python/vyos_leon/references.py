# SPDX-License-Identifier: GPL-2.0-or-later
"""Parts of the configuration that name an interface. Without the interface, VyOS refuses the part
at a commit, and a boot loses the complete part. So a commit refuses to delete a LEON interface that
is named in such a part. Used by conf_mode/interfaces_leon.py; pure."""

# '*' stands for every name. The list is that of verify_interface_exists(),
# verify_mirror_redirect(), verify_source_interface() and interface_exists() in vyos-1x.
_OF_INTERFACES = ('mirror', 'redirect', 'source-interface')
_VLANS = ((), ('vif', '*'), ('vif-s', '*'), ('vif-s', '*', 'vif-c', '*'))
_OF_PROTOCOLS = (
    'igmp-proxy', 'isis', 'mpls', 'openfabric', 'ospf', 'ospfv3', 'pim', 'pim6',
)  # fmt: skip
PARTS = (
    *(('interfaces', '*', '*', *vlan, word) for vlan in _VLANS for word in _OF_INTERFACES),
    *(('protocols', protocol) for protocol in _OF_PROTOCOLS),
    *(('vrf', 'name', '*', 'protocols', protocol) for protocol in _OF_PROTOCOLS),
    ('firewall', 'flowtable'),
    ('policy', 'local-route'),
    ('policy', 'local-route6'),
    ('service', 'broadcast-relay'),
    ('service', 'conntrack-sync'),
    ('service', 'dhcp-server', 'listen-interface'),
    ('service', 'dns', 'dynamic'),
    ('service', 'mdns'),
    ('service', 'ndp-proxy'),
    ('service', 'ntp'),
    ('service', 'salt-minion'),
    ('system', 'option', 'http-client'),
    ('system', 'option', 'ssh-client'),
    ('vpn', 'ipsec', 'interface'),
)


def _below(tree, part, path=()):
    """The subtrees of a part with their paths."""
    if not part:
        yield tree, path
    elif isinstance(tree, dict):
        for word in tree if part[0] == '*' else part[:1]:
            if word in tree:
                yield from _below(tree[word], part[1:], (*path, word))


def _named(tree, ifname, path):
    """Paths of the nodes and values with this name."""
    if not isinstance(tree, dict):
        if ifname in (tree if isinstance(tree, list) else [tree]):
            yield (*path, ifname)
        return
    for word, child in tree.items():
        if word == ifname:
            yield (*path, word)
        elif word != 'description':
            yield from _named(child, ifname, (*path, word))


def of(config, ifname):
    """Paths that name the interface, in the order of PARTS."""
    found = []
    for part in PARTS:
        for tree, path in _below(config, part):
            found += [' '.join(names) for names in _named(tree, ifname, path)]
    return found
