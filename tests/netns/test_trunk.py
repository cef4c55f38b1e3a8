# SPDX-License-Identifier: GPL-2.0-or-later
"""Two LEON routers at one site, on a LAN with VLANs. Every broadcast reaches each host once, for
any filter of the LAN. Receivers count numbered frames, so the kernel needs no VLAN support
(test_vlans.py has filtering bridges)."""
import os

import pytest

import ns
from lab import PATIENT, line_up, merged, wait_for
from traffic import Tap, ethernet

BROADCAST = 'ff:ff:ff:ff:ff:ff'
TEST_TYPE = 0x88b6
# An emulated machine stalls for half a second at times. With intervals of 200 ms, routers would
# repeat the listening phase, as designed.
FAST = {'loop-guard': {'interval': 1500 if os.environ.get('LEON_EMULATED') else 200}}


def drop_untagged(space, device):
    """Drops untagged frames like a port without a native VLAN."""
    space.run('nft', '-f', '-', input=f'''
        table netdev trunk {{
            chain in {{
                type filter hook ingress device "{device}" priority 0; policy drop
                vlan id 1-4094 accept
            }}
        }}''')


def plug(net, tagged_only=False):
    """A cable between the bridges of n0 and n1: one LAN with two routers."""
    left, right = net.node['n0'].namespace, net.node['n1'].namespace
    ns.connect(left, 'x0', right, 'x1')
    if tagged_only:
        drop_untagged(left, 'x0')
        drop_untagged(right, 'x1')
    left.ip('link set x0 master br0')
    right.ip('link set x1 master br0')


class Wire:
    """The hosts of all sites, and the received copies of each numbered frame."""

    def __init__(self, net):
        self.net = net
        self.tap = {name: Tap(host.namespace, 'eth0') for name, host in net.host.items()}
        self.copies = {}  # (frame, host): number of copies

    def send(self, source, vlan=None):
        number = os.urandom(16)
        self.tap[source].send(ethernet(BROADCAST, self.net.host[source].mac, TEST_TYPE, number,
                                       vlan or None))
        return number

    def take(self, within=0.2):
        """Counts received frames until a quiet period."""
        for name, tap in self.tap.items():
            for frame in tap.frames(lambda f: b'\x88\xb6' in f[12:18], until=10**9, within=within):
                at = 18 if frame[12:14] == b'\x81\x00' else 14
                key = frame[at:at + 16], name
                self.copies[key] = self.copies.get(key, 0) + 1

    def counts(self, number, source, within=0.3):
        """{host: copies} of a frame at all hosts except the sender."""
        self.take(within)
        return {n: self.copies.get((number, n), 0) for n in self.tap if n != source}

    def once(self, source, vlan=None):
        number = self.send(source, vlan)
        return set(self.counts(number, source).values()) == {1}

    def each_once(self, source, vlans):
        """One broadcast in each VLAN, all at the same time."""
        numbers = [self.send(source, vlan) for vlan in vlans]
        self.take(0.3)
        return all(self.copies.get((number, name)) == 1
                   for number in numbers for name in self.tap if name != source)


@pytest.mark.parametrize('tagged_only', [False, True], ids=['trunk', 'no native VLAN'])
def test_a_tagged_broadcast_does_not_loop(lab, tagged_only):
    """The routers detect each other also on a LAN without untagged frames."""
    net = lab(line_up(3, config=merged(FAST, PATIENT))).joined()
    plug(net, tagged_only)
    wire = Wire(net)
    first = wire.send('n2', vlan=10)
    wire.take(3)
    assert max(wire.copies.values(), default=0) <= 2, f'{first.hex()} goes round'
    wait_for(lambda: wire.once('n2', 10), 20, 'a broadcast arrives once')
    wait_for(lambda: wire.once('n0', 10) and wire.once('n1', 10), 20, 'from the shared LAN too')
    # After a stall or during a handover, a frame may be lost or arrive twice, but not more often.
    for source in ('n2', 'n0', 'n1') * 3:
        wait_for(lambda s=source: wire.once(s, 10), 20, f'a broadcast of {source} arrives once')
    assert max(wire.copies.values()) <= 2
