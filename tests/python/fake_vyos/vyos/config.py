# SPDX-License-Identifier: GPL-2.0-or-later
from fake_host import host


TAG_NODES = (
    'leon', 'peer', 'ike-group', 'esp-group', 'proposal', 'ca', 'certificate',
    'locator', 'map-server', 'proxy-etr', 'site', 'node',
)  # fmt: skip


# Of the groups of `vpn ipsec`, as in vpn_ipsec.xml.in of VyOS.
GROUP_DEFAULTS = {
    'ike-group': {'lifetime': '28800', 'dead-peer-detection': {'interval': '30'}},
    'esp-group': {'lifetime': '3600', 'mode': 'tunnel', 'pfs': 'enable'},
}
PROPOSAL_DEFAULTS = {
    'ike-group': {'encryption': 'aes128', 'hash': 'sha1', 'dh-group': '2'},
    'esp-group': {'encryption': 'aes128', 'hash': 'sha1'},
}


def with_defaults(vpn):
    found = dict(vpn)
    for kind, defaults in GROUP_DEFAULTS.items():
        for name, group in vpn.get(kind, {}).items():
            proposals = {
                number: {**PROPOSAL_DEFAULTS[kind], **proposal}
                for number, proposal in group.get('proposal', {}).items()
            }
            merged = {**defaults, **group, **({'proposal': proposals} if proposals else {})}
            found[kind] = {**found[kind], name: merged}
    return found


def mangle(tree, path=()):
    """Hyphens of nodes become underscores, except in tag values (peer NAME)."""
    if not isinstance(tree, dict):
        return tree
    is_tag = path and path[-1] in TAG_NODES
    return {
        key if is_tag else key.replace('-', '_'): mangle(value, (*path, key))
        for key, value in tree.items()
    }


class Config:
    def exists(self, path):
        tree = host.config
        for word in path:
            if not isinstance(tree, dict) or word not in tree:
                return False
            tree = tree[word]
        return True

    def set_level(self, path):
        assert path == []

    def get_config_dict(
        self,
        path,
        key_mangling=None,
        get_first_key=False,
        no_tag_node_value_mangle=False,
        effective=False,
        with_recursive_defaults=False,
    ):
        assert get_first_key and no_tag_node_value_mangle
        tree = host.running if effective else host.config
        for word in path:
            tree = tree.get(word, {})
        if with_recursive_defaults:
            assert path == ['vpn', 'ipsec']
            tree = with_defaults(tree)
        return mangle(tree, tuple(path)) if key_mangling else tree

    def list_nodes(self, path):
        return list(self.get_config_dict(path, ('-', '_'), True, True))
