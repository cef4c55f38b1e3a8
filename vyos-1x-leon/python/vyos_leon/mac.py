# SPDX-License-Identifier: GPL-2.0-or-later
"""The MAC address of a LEON interface without a configured address.

The address must exist before the interface gets an IP address. leond may start much later, for
example after a DHCP lease of the source-interface. So the configuration script computes the address
and passes the address to leond. The address is equal after each boot and in each image. Other
interfaces of the router, and a clone of the machine with other network cards, have other addresses.
"""

import hashlib
import os

DEVICES = '/sys/class/net'
MACHINE_ID = '/etc/machine-id'


def first_card(permanent):
    """The permanent address of the first hardware network card, or None. `permanent(name)` returns
    the address independently of the configured address."""
    names = [n for n in os.listdir(DEVICES) if os.path.exists(f'{DEVICES}/{n}/device')]
    for name in sorted(names, key=lambda name: (len(name), name)):
        address = permanent(name)
        if address:
            return address
    return None


def _machine():
    """The fallback for a container."""
    try:
        with open(MACHINE_ID, encoding='ascii') as file:
            return file.read().strip()
    except OSError:
        return ''


def derive(ifname, permanent, sources=()):
    """Locally administered, unicast."""
    seed = first_card(permanent) or ' '.join([_machine(), *sorted(sources)])
    octets = bytearray(hashlib.sha256(f'leon {ifname} {seed}'.encode()).digest()[:6])
    octets[0] = octets[0] & 0xFC | 0x02
    return octets.hex(':')
