#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""Calls the script of VyOS with the same name, which dpkg-divert has renamed, and adds two
features. A commit that removes an ike-group or esp-group of a LEON interface is refused, as VyOS
does for other users of groups. A commit that changes a group also updates the LEON interfaces with
the group.

Errors of the VyOS script stay unchanged. During a boot, no commit is refused, because the router
would lose the whole `vpn ipsec`.
"""

import importlib.util
from sys import exit

from vyos.config import Config
from vyos.configdep import call_dependents
from vyos.configdep import set_dependents
from vyos.utils.boot import boot_configuration_complete
from vyos import ConfigError

from vyos_leon import ipsec as leon_ipsec

# The module has the name of the file, because VyOS finds dependents by the caller's file name.
ORIGINAL = '/usr/libexec/vyos-1x-leon/vyos/vpn_ipsec.py'

# State of the running commit; only one commit runs at a time.
found = {'faults': [], 'changed': False}


def _load():
    spec = importlib.util.spec_from_file_location('vpn_ipsec_of_vyos', ORIGINAL)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


original = _load()


def _read(conf, path, effective):
    return conf.get_config_dict(
        path,
        key_mangling=('-', '_'),
        get_first_key=True,
        no_tag_node_value_mangle=True,
        effective=effective,
    )


def _look(conf):
    """Effects of the commit on the groups of LEON interfaces. During a boot the scripts of the
    interfaces detect missing groups."""
    found['faults'], found['changed'] = [], False
    if not boot_configuration_complete():
        return
    users = leon_ipsec.users(_read(conf, ['interfaces', 'leon'], False))
    old = _read(conf, ['vpn', 'ipsec'], True)
    new = _read(conf, ['vpn', 'ipsec'], False)
    found['faults'] = leon_ipsec.new_group_faults(users, old, new)
    if found['faults']:
        return
    for ifname in leon_ipsec.users_of_changed_groups(users, old, new):
        found['changed'] = True
        set_dependents('leon', conf, ifname)


def get_config(config=None):
    conf = config if config else Config()
    ipsec = original.get_config(conf)
    conf.set_level([])
    _look(conf)
    return ipsec


def verify(ipsec):
    original.verify(ipsec)
    if found['faults']:
        raise ConfigError(' '.join(found['faults']))
    return None


def generate(ipsec):
    return original.generate(ipsec)


def apply(ipsec):
    done = original.apply(ipsec)
    if found['changed']:
        call_dependents()
    return done


if __name__ == '__main__':
    try:
        c = get_config()
        verify(c)
        generate(c)
        apply(c)
    except ConfigError as e:
        print(e)
        exit(1)
