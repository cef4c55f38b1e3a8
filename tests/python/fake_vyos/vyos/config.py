# SPDX-License-Identifier: GPL-2.0-or-later
from fake_host import host


TAG_NODES = (
    'leon', 'peer', 'ike-group', 'esp-group', 'proposal', 'ca', 'certificate',
    'locator', 'map-server', 'proxy-etr', 'site', 'node',
)  # fmt: skip


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
    ):
        assert get_first_key and no_tag_node_value_mangle
        tree = host.running if effective else host.config
        for word in path:
            tree = tree.get(word, {})
        return mangle(tree, tuple(path)) if key_mangling else tree

    def list_nodes(self, path):
        return list(self.get_config_dict(path, ('-', '_'), True, True))
