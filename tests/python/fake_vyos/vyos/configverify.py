# SPDX-License-Identifier: GPL-2.0-or-later
"""The general rules of VyOS for interfaces. Every call is recorded."""

from fake_host import host


def _rule(name):
    return lambda config: host.journal.append(('verify', name))


verify_address = _rule('address')
verify_bond_bridge_member = _rule('bond_bridge_member')
verify_bridge_delete = _rule('bridge_delete')
verify_mirror_redirect = _rule('mirror_redirect')
verify_mtu_ipv6 = _rule('mtu_ipv6')
verify_vrf = _rule('vrf')
