# SPDX-License-Identifier: GPL-2.0-or-later
"""Makes leon0 and the bridge of a site with the classes of vyos-1x, with VLAN filtering. leon0 is a
trunk port of VLAN 10 and 20 to 22, h0 an access port of VLAN 10. test_bridge.py is the caller.

Usage: VYOS_1X=/path/to/vyos-1x bridge.py, in the network namespace of the site
"""
import os
import subprocess
import sys
from pathlib import Path

TOP = Path(__file__).resolve().parents[2]
sys.path[:0] = [f'{os.environ["VYOS_1X"]}/python', str(TOP / 'vyos-1x-leon/python')]

import vyos.ifconfig  # noqa: E402
import vyos.ifconfig.interface  # noqa: E402

# The package installs the class there. Python must find it by this name.
vyos.ifconfig.__path__.append(str(TOP / 'vyos-1x-leon/python/ifconfig'))

import vyos.ifconfig.leon  # noqa: E402

BRIDGE = {
    'ifname': 'br0', 'aging': '300', 'forwarding_delay': '0', 'hello_time': '2', 'max_age': '20',
    'priority': '32768', 'protocol': '802.1q', 'mtu': '1500', 'enable_vlan': {}, 'vif': {},
    'member': {'interface': {'leon0': {'allowed_vlan': ['10', '20-22']},
                             'h0': {'native_vlan': '10', 'allowed_vlan': ['10']}}}}
# The firewall of VyOS has these chains at a boot.
CHAINS = ('VYOS_TCP_MSS', 'vyos_rpfilter', 'vyos_global_rpfilter')


def without_vyos():
    """Replaces parts of a system that no namespace has: the user leon, services, the firewall."""
    run = vyos.ifconfig.leon.LeonIf._cmd
    vyos.ifconfig.leon.LeonIf._cmd = lambda self, line: run(self, line.replace(' user leon', ''))
    vyos.ifconfig.interface.is_systemd_service_active = lambda _: False
    lines = [line for family in ('ip', 'ip6') for line in (
        f'add table {family} raw', *(f'add chain {family} raw {name}' for name in CHAINS))]
    subprocess.run(['nft', '-f', '-'], input='\n'.join(lines), text=True, check=True)


without_vyos()
vyos.ifconfig.leon.LeonIf('leon0')
vyos.ifconfig.BridgeIf('br0').update(BRIDGE)
