# SPDX-License-Identifier: GPL-2.0-or-later
from fake_host import host


def interface_exists(interface):
    return interface in host.devices


def get_interface_address(interface):
    if interface not in host.devices:
        return None
    return {'ifname': interface, 'addr_info': host.devices[interface]}


def is_addr_assigned(ip_address, vrf=None):
    return any(ip_address == a['local'] for infos in host.devices.values() for a in infos)


def get_vrf_members(vrf):
    if vrf not in host.devices:
        raise ValueError(f'VRF "{vrf}" does not exist!')
    return list(host.vrf_members.get(vrf, []))


def get_interface_config(interface):
    return host.hardware.get(interface)
