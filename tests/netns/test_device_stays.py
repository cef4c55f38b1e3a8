# SPDX-License-Identifier: GPL-2.0-or-later
"""A device that outlives leond, as on VyOS, where the configuration owns it."""
import os
import re

from lab import line_up
from node import TOP

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
