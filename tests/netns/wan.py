# SPDX-License-Identifier: GPL-2.0-or-later
"""The Internet of a test: one wanem process (wanem.c) and the addresses of the sites. Site number
i (from 0) is 198.18.0.<i+1>/16 and 2001:db8:0:1::<i+1>/64 on the interface `wan0` of the
namespace. Neighbor entries are permanent. A silent link therefore causes no "no route to host" of
the kernel, as on the Internet.
"""
import json
import os
import subprocess
import tempfile

import ns

HERE = os.path.dirname(os.path.abspath(__file__))
MS = 1000


def program():
    """wanem of the build directory, or a binary compiled on demand."""
    built = os.path.join(os.environ.get('LEON_BUILD') or os.path.join(HERE, '../../build'),
                         'tests/netns/wanem')
    source = os.path.join(HERE, 'wanem.c')
    if os.path.exists(built) and os.path.getmtime(built) >= os.path.getmtime(source):
        return os.path.abspath(built)
    own = os.path.join(tempfile.gettempdir(), f'leon-wanem-{ns.host_uid}')
    os.makedirs(own, mode=0o700, exist_ok=True)
    if os.stat(own).st_uid != os.getuid():
        raise RuntimeError(f'{own} belongs to somebody else')
    binary = os.path.join(own, 'wanem')
    if not os.path.exists(binary) or os.path.getmtime(binary) < os.path.getmtime(source):
        # Two test runs may compile at the same time.
        fresh = f'{binary}.{os.getpid()}'
        subprocess.run([os.environ.get('CC', 'cc'), '-std=gnu11', '-D_GNU_SOURCE', '-O2', '-g',
                        '-Wall', '-Wextra', source, '-o', fresh], check=True)
        os.rename(fresh, binary)
    return binary


def ip4(index):
    return f'198.18.{(index + 1) >> 8}.{(index + 1) & 255}'


def ip6(index):
    return f'2001:db8:0:1::{index + 1:x}'


def mac(index):
    return f'02:4c:00:00:00:{index:02x}'


def block_udp(node):
    """The network of the node passes no UDP, in either direction and without a report."""
    node.namespace.run('nft', '-f', '-', input='''
        table netdev no-udp {
            chain from { type filter hook ingress device "wan0" priority 0; meta l4proto udp drop; }
            chain to { type filter hook egress device "wan0" priority 0; meta l4proto udp drop; }
        }''')


def pass_udp(node):
    node.namespace.run('nft', 'delete', 'table', 'netdev', 'no-udp')


class Wan:
    def __init__(self, seed=1):
        self.namespace = ns.Namespace('wan')
        self.sites = []
        self.process = self.namespace.start(
            program(), '--fifo', f'--seed={seed}', stdin=subprocess.PIPE, stdout=subprocess.PIPE,
            text=True, bufsize=1)

    def command(self, *words):
        self.process.stdin.write(' '.join(str(w) for w in words) + '\n')
        self.process.stdin.flush()
        answer = self.process.stdout.readline().strip()
        if answer != 'ok' and not answer.startswith('ok '):
            raise RuntimeError(f'wanem: {" ".join(map(str, words))}: {answer or "no answer"}')
        return answer[3:]

    def add_site(self, name, namespace, ifname='wan0', v4=True, v6=False, mtu=1500):
        """Connects the namespace to the Internet and returns the number of the site."""
        index = len(self.sites)
        self.command('site', name, namespace.path, ifname, mtu)
        self.sites.append((name, namespace, ifname))
        lines = []
        if v4:
            lines.append(f'addr add {ip4(index)}/16 dev {ifname}')
        if v6:
            lines.append(f'addr add {ip6(index)}/64 dev {ifname} nodad')
        if lines:
            namespace.ip(*lines)
        return index

    def set_neighbors(self, extra=()):
        """Gives every site the MACs of all other sites. extra: (address, site index) pairs, for
        addresses moved by a test."""
        known = [(ip4(i), i) for i in range(len(self.sites))]
        known += [(ip6(i), i) for i in range(len(self.sites))]
        known += list(extra)
        for index, (_, namespace, ifname) in enumerate(self.sites):
            namespace.ip(*(f'neigh replace {address} lladdr {mac(i)} dev {ifname} nud permanent'
                           for address, i in known if i != index))

    def link(self, a, b, **keys):
        """Changes the link from a to b ("*" means every site); keys as in wanem.c."""
        self.command('link', a, b, *(part for item in keys.items() for part in
                                     (item[0], int(item[1]) if isinstance(item[1], bool) else item[1])))

    def both(self, a, b, **keys):
        self.link(a, b, **keys)
        self.link(b, a, **keys)

    def rtt(self, a, b, us):
        """Round-trip time of the pair, half in each direction."""
        self.both(a, b, delay_us=us / 2)

    def isolate(self, name, up=False):
        """Disconnects or reconnects a site without a notification."""
        self.both(name, '*', up=up)

    def partition(self, group, up=False):
        """Cuts the links between the sites of the group and all other sites."""
        others = [name for name, _, _ in self.sites if name not in group]
        for a in group:
            for b in others:
                self.both(a, b, up=up)

    def count(self, a, b):
        return json.loads(self.command('count', a, b))

    def late_us(self):
        """The maximum lateness of a frame since the last call, which is the delay of the machine.
        """
        return int(self.command('late'))

    def close(self):
        if self.process.poll() is None:
            self.process.stdin.close()
            try:
                self.process.wait(5)
            except subprocess.TimeoutExpired:
                self.process.kill()
        self.namespace.close()
