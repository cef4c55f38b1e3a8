# SPDX-License-Identifier: GPL-2.0-or-later
"""The MAC address of a LEON interface where none is configured.

It has to be there before the interface gets its first address, and leond may start much
later (a source-interface that waits for its lease), so it is decided here and leond is
told. The same after each boot and in each image, other than that of other interfaces of
this router, and of a clone of this machine, which has other network cards. Called by
the configuration script.
"""

import hashlib
import os

DEVICES = '/sys/class/net'
MACHINE_ID = '/etc/machine-id'


def first_card(permanent):
    """The permanent address of the first network card of hardware; None without one.
    `permanent(name)` knows it, whatever the card is set to."""
    names = [n for n in os.listdir(DEVICES) if os.path.exists(f'{DEVICES}/{n}/device')]
    for name in sorted(names, key=lambda name: (len(name), name)):
        address = permanent(name)
        if address:
            return address
    return None


def _machine():
    """What is left to a container."""
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
