# SPDX-License-Identifier: GPL-2.0-or-later
"""Files for systemd-networkd and the kernel: addresses of the interface, a bridge with local ports.

Pure. leond makes its interface at its start. networkd assigns an address or a bridge each time the
interface appears. A file named 05- precedes the files that netplan makes of the cloud's network
data, which would request an address on a local port.
"""
import hashlib
import json

FOLDER = '/etc/systemd/network'


def unit(*sections):
    """Text of a file of systemd: ('Match', [('Name', 'leon0')]), ..."""
    blocks = ('[{}]\n{}'.format(name, ''.join(f'{key}={value}\n' for key, value in pairs))
              for name, pairs in sections)
    return '# Made of the section leon: of user-data.\n' + '\n'.join(blocks)


def matching(port):
    return ('Match', [('PermanentMACAddress' if ':' in port else 'Name', port)])


def bridge_mac(plan):
    """The setting of the MAC address: locally administered, unicast, from the node-id like that of
    leon0. systemd would use the machine-id, which a copied disk shares with its original."""
    node = plan.document.get('node-id') or plan.document.get('source-address')
    if not node:
        return []
    octets = bytearray(hashlib.sha256(json.dumps([plan.bridge, node]).encode()).digest()[:6])
    octets[0] = octets[0] & 0xFC | 0x02
    return [('MACAddress', octets.hex(':'))]


def files(plan):
    """{path: text} for a plan of section.py."""
    # Units that wait for the network do not wait for the overlay.
    idle = ('Link', [('RequiredForOnline', 'no')])
    addresses = [('Address', address) for address in plan.addresses]
    made = {}
    if plan.ports:
        made[f'{FOLDER}/05-leon-{plan.bridge}.netdev'] = unit(
            ('NetDev', [('Name', plan.bridge), ('Kind', 'bridge'), *bridge_mac(plan)]))
        made[f'{FOLDER}/05-leon-{plan.bridge}.network'] = unit(
            matching(plan.bridge), idle,
            ('Network', [*addresses, ('ConfigureWithoutCarrier', 'yes')]))
        inside = [('Bridge', plan.bridge), ('LinkLocalAddressing', 'no')]
        for port in plan.ports:
            made[f'{FOLDER}/05-leon-port-{port.replace(":", "")}.network'] = unit(
                matching(port), idle, ('Network', inside))
    else:
        inside = addresses
    # A file for the interface would remove the interface from the bridge that leond joins.
    if plan.ports or not plan.bridge:
        made[f'{FOLDER}/05-leon-{plan.interface}.network'] = unit(
            matching(plan.interface), idle, ('Network', inside))
    if plan.routes:
        made['/etc/sysctl.d/60-leon-routes.conf'] = (
            '# This node routes prefixes: section leon: of user-data.\n'
            'net.ipv4.ip_forward = 1\nnet.ipv6.conf.all.forwarding = 1\n')
    return made
