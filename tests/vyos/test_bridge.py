# SPDX-License-Identifier: GPL-2.0-or-later
"""leon0 in a bridge with `enable-vlan`, made by the Python library of vyos-1x. Needs a kernel with
VLAN filtering, a checkout of vyos-1x and the Python modules that it imports. Command:

    VM_SUITE=trixie LEON_BUILD=$PWD/build /usr/bin/python3 tests/vm/run.py \
        env VYOS_1X=/path/to/vyos-1x /usr/bin/python3 -m pytest -p no:cacheprovider \
        tests/vyos/test_bridge.py
"""
import os
from pathlib import Path

import pytest

from lab import line_up, wait_for
from test_vlans import access, listened, skip_without_vlans, trunk

SCRIPT = Path(__file__).with_name('bridge.py')


def test_a_trunk_in_a_bridge_of_vyos(lab):
    """VyOS makes device and bridge before leond starts. leond reads the VLANs that VyOS has set,
    and frames of an access port arrive at the other site."""
    if 'VYOS_1X' not in os.environ:
        pytest.skip('set VYOS_1X to a checkout of vyos-1x')
    skip_without_vlans()
    net = lab(line_up(2), start=False)
    n0, n1 = net.node.values()
    n0.namespace.sysctl('ipv6/conf/br0/disable_ipv6', 0)
    # The library looks for interfaces in /sys, which has those of the namespace after a mount.
    n0.namespace.run('unshare', '--mount', 'sh', '-ec',
                     'mount -t sysfs sys /sys; exec /usr/bin/python3 -B "$1"', 'sh', SCRIPT)
    net.start()
    n1.namespace.ip('link set br0 type bridge vlan_filtering 1')
    trunk(n1, 'leon0', 10, '20-22')
    access(n1, 'h0', 10)
    net.joined()
    wait_for(lambda: listened(n0) == dict.fromkeys((10, 20, 21, 22), 'clear'), 20,
             'the VLANs of VyOS are listened to')
    assert n0.show('segments')['source'] == 'bridge'
    wait_for(lambda: net.host['n0'].ping(net.host['n1'].ip4), 20, 'VLAN 10 is open')
