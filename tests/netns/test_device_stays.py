# SPDX-License-Identifier: GPL-2.0-or-later
"""A device that outlives leond, as on VyOS. The configuration owns the device."""
import json
import os
import re
import socket

from lab import line_up
from node import TOP, leond_program

NEIGHBOR = '192.0.2.99'


def test_neighbors_survive_a_restart(lab):
    """The kernel deletes the neighbor entries of a device if its MAC address is set, and vyos.conf
    keeps them while the carrier is absent. Otherwise packets wait for ARP after each upgrade."""
    with open(os.path.join(TOP, 'packaging/systemd/vyos.conf'), encoding='ascii') as f:
        (before_start,) = re.findall(r"^ExecStartPre=-\+/bin/sh -c '(.*)'$", f.read(), re.M)
    net = lab(line_up(1, hosts=False), start=False)
    node = net.node['n0']
    node.namespace.ip('tuntap add leon0 mode tap multi_queue vnet_hdr')
    node.namespace.run('sh', '-c', before_start.replace('$$', '$').replace('%i', 'leon0'))
    net.start()
    node.namespace.ip(f'neigh replace {NEIGHBOR} lladdr 02:00:00:00:00:99 nud stale dev leon0')
    node.stop()
    node.start()
    assert NEIGHBOR in node.namespace.run('ip', 'neigh', 'show', 'dev', 'leon0').stdout


def test_the_mac_is_set_before_the_sockets(lab):
    """udev replaces the MAC of a new interface without a configured address. leond ends at its port
    here.
    """
    net = lab(line_up(1, hosts=False), start=False)
    node = net.node['n0']
    node.config.update(mac='02:00:00:00:00:77', port=5366)
    node.namespace.ip('tuntap add leon0 mode tap multi_queue vnet_hdr')
    with node.namespace, socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as other:
        other.bind(('198.18.0.1', 5366))
        node.write_config()
        ended = node.namespace.run(leond_program(), '--config', node.config_file, check=False)
    assert 'Address already in use' in ended.stderr
    (link,) = json.loads(node.namespace.run('ip', '-j', 'link', 'show', 'leon0').stdout)
    assert link['address'] == node.config['mac']
