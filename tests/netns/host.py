# SPDX-License-Identifier: GPL-2.0-or-later
"""A host behind a node: a namespace and a veth to the bridge br0 of the node. leon0 is a port of
br0. All hosts share one Layer 2 network, 10.10.0.0/16 and fd00:10::/64."""
import re

import ns


class Host:
    def __init__(self, name, node_namespace, number, port='h0', bridge='br0', mtu=1500):
        self.name = name
        self.node_namespace = node_namespace
        self.port = port
        self.namespace = ns.Namespace(name)
        self.set_number(number)
        ns.connect(node_namespace, port, self.namespace, 'eth0')
        node_namespace.ip(f'link set {port} mtu {mtu} master {bridge}')
        self.namespace.ip(f'link set eth0 address {self.mac} mtu {mtu}',
                          f'addr add {self.ip4}/16 dev eth0', f'addr add {self.ip6}/64 dev eth0 nodad')

    def set_number(self, number):
        self.ip4 = f'10.10.{number >> 8}.{number & 255}'
        self.ip6 = f'fd00:10::{number:x}'
        self.mac = f'02:aa:00:00:{number >> 8:02x}:{number & 255:02x}'

    def ping(self, address, count=1, interval=0.02, within=1.0, size=56, forbid_fragments=False):
        """Round-trip times of the answered requests in ms."""
        words = ['ping', '-n', '-c', count, '-i', interval, '-W', within, '-s', size]
        if forbid_fragments:
            words += ['-M', 'do']
        text = self.namespace.run(*words, address, check=False).stdout
        return [float(ms) for ms in re.findall(r'time=([\d.]+) ms', text)]

    def neighbors(self):
        """{address: MAC} of resolved neighbors."""
        text = self.namespace.run('ip', 'neigh').stdout
        return dict(re.findall(r'^(\S+) dev \S+ lladdr (\S+)', text, re.M))

    def forget_neighbors(self):
        self.namespace.run('ip', 'neigh', 'flush', 'all', check=False)
        self.namespace.run('ip', 'neigh', 'flush', 'nud', 'permanent', check=False)

    def close(self):
        self.namespace.close()
