# SPDX-License-Identifier: GPL-2.0-or-later
"""What an operator can get wrong in `vlan`: which VLANs a node serves. Rules are as those of
verify.py, which runs them. Pure.
"""

from vyos_leon.leaves import limits
from vyos_leon.routes import listed

VLANS_MAX = limits('vlan')[1]


def vlan_ranges_run_upwards(config, _):
    for vlan in listed(config.get('vlan', [])):
        first, _, last = vlan.partition('-')
        if last and int(first) > int(last):
            yield f'VLANs "{vlan}" run downwards: set "vlan {last}-{first}".'


def vlans_are_few_entries(config, _):
    count = len(listed(config.get('vlan', [])))
    if count > VLANS_MAX:
        yield (
            f'There are {count} entries in "vlan" and at most {VLANS_MAX} are possible: '
            f'set ranges such as "vlan 20-29".'
        )


ERRORS = (vlan_ranges_run_upwards, vlans_are_few_entries)
