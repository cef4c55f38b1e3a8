# SPDX-License-Identifier: GPL-2.0-or-later
"""LEON interfaces for vyos.ifconfig; installed as vyos/ifconfig/leon.py and imported by
vyos_leon_hook, since vyos.ifconfig has its classes in a fixed list.

The device is a persistent TAP that VyOS creates and removes. leond attaches to it, so
addresses, bridge and VRF stay when the daemon restarts: doc/decisions/008-tap-owner.md.
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
        # Queues and vnet headers are properties of the device that must fit when leond
        # attaches; without a daemon the device has no carrier.
        self._cmd(
            f'ip tuntap add dev {self.ifname} mode tap user leon multi_queue vnet_hdr'
        )
