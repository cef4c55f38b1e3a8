# SPDX-License-Identifier: GPL-2.0-or-later
import os

from fake_host import host


def _merge(defaults, found):
    """As in VyOS, a node with a default exists together with all its parents, even without
    configuration."""
    both = {**defaults, **found}
    for word in defaults.keys() & found.keys():
        if isinstance(defaults[word], dict):
            both[word] = _merge(defaults[word], found[word])
    return both


def get_interface_dict(config, base):
    ifname = os.environ['VYOS_TAGNODE_VALUE']
    found = config.get_config_dict(base + [ifname], ('-', '_'), True, True)
    if not config.exists(base + [ifname]):
        found['deleted'] = {}
    else:
        found = _merge(host.defaults, found)
    found['ifname'] = ifname
    return ifname, found
