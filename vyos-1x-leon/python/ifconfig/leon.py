# SPDX-License-Identifier: GPL-2.0-or-later
"""LEON interfaces for vyos.ifconfig. Installed as vyos/ifconfig/leon.py and imported by
vyos_leon_hook, because vyos.ifconfig has a fixed list of classes.

The device is a persistent TAP that VyOS creates and removes. leond attaches to it, so addresses,
bridge and VRF stay when the daemon restarts: doc/decisions/008-tap-owner.md.
"""

from vyos.ifconfig.interface import Interface


@Interface.register
class LeonIf(Interface):
    iftype = 'tun'
    definition = {
        **Interface.definition,
        'section': 'leon',
        'prefixes': ['leon'],
        'bridgeable': True,
    }

    def _create(self):
        # The number of queues and the vnet header of the device must match when leond attaches.
        # Without a daemon the device has no carrier.
        command = (
            f'ip tuntap add dev {self.ifname} mode tap user leon multi_queue vnet_hdr'
        )
        # VyOS of 2026 takes a list, earlier versions a line.
        if hasattr(self, '_cmdl'):
            self._cmdl(command.split())
        else:
            self._cmd(command)
