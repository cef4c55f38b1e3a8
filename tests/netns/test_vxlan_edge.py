# SPDX-License-Identifier: GPL-2.0-or-later
"""VXLAN at the edge: a VLAN-aware bridge with a VXLAN device of many VNIs (external mode) and
leon0 as trunk, as `interfaces vxlan vxlan0 parameters external` of VyOS. Each VLAN of the bridge
maps to a VNI of the site and to a segment of the overlay. Skipped without VLAN filtering (make
check-vm has a suitable kernel), except for one VNI in a bridge without VLANs.
"""
import contextlib
import os

import pytest

import ns
from lab import PATIENT, line_up, merged, wait_for
from test_segments import segment, served
from test_trunk import BROADCAST, FAST, TEST_TYPE, Wire
from test_vlans import access, bridge_vlan, skip_without_vlans, trunk
from traffic import Tap, ethernet

# Each site has different VNIs, and the third VNI also has a different VLAN.
VNIS = {'n0': {10: 11, 20: 12, 30: 13}, 'n1': {10: 21, 20: 22, 31: 23}}
STORAGE = 70030
UNDER_MTU = 1600


class Machine:
    """A machine in a VNI with a VXLAN device as interface. The device is created in the namespace
    of the VTEP, which sends the datagrams, and then moved."""

    def __init__(self, vtep, name, mac, address, *vxlan):
        self.namespace = ns.Namespace(name)
        self.mac, self.ip4 = mac, address
        vtep.run('ip', 'link', 'add', 'name', 'eth0', 'address', mac, 'mtu', 1500, 'netns',
                 self.namespace.path, 'type', 'vxlan', 'dstport', 4789, *vxlan)
        self.namespace.ip('link set eth0 up', f'addr add {address}/24 dev eth0')
        self.tap = Tap(self.namespace, 'eth0')

    def close(self):
        self.tap.close()
        self.namespace.close()


class Fabric:
    """The VXLAN of a site: a VTEP in addition to the node, with a machine in each VNI."""

    def __init__(self, node, number, vnis):
        self.node, self.vnis = node, vnis
        self.vtep = ns.Namespace(f'vtep-{node.name}')
        ns.connect(node.namespace, 'under0', self.vtep, 'under0')
        self.near, self.far = f'172.16.{number}.1', f'172.16.{number}.2'
        node.namespace.ip(f'link set under0 mtu {UNDER_MTU}', f'addr add {self.near}/24 dev under0')
        self.vtep.ip(f'link set under0 mtu {UNDER_MTU}', f'addr add {self.far}/24 dev under0')
        if list(vnis) == [0]:
            self.join_one()
        else:
            self.join()
        self.machine = [
            Machine(self.vtep, f'vm{vni}', f'02:bb:00:00:00:{vni:02x}', f'10.77.{n}.{number}',
                    'id', vni, 'local', self.far, 'remote', self.near)
            for n, vni in enumerate(self.vnis.values())]

    def join_one(self):
        self.node.namespace.ip(
            f'link add vxlan0 type vxlan id {self.vnis[0]} dstport 4789 local {self.near} '
            f'remote {self.far}', 'link set vxlan0 mtu 1500 master br0', 'link set vxlan0 up')

    def join(self):
        """The commands of doc/segments.md, "VXLAN at the edge"."""
        space = self.node.namespace
        space.ip('link set br0 type bridge vlan_filtering 1',
                 f'link add vxlan0 type vxlan external vnifilter dstport 4789 local {self.near} '
                 f'remote {self.far}',
                 'link set vxlan0 mtu 1500 master br0', 'link set vxlan0 up')
        space.run('bridge', 'link', 'set', 'dev', 'vxlan0', 'vlan_tunnel', 'on')
        trunk(self.node, 'vxlan0', *self.vnis)
        bridge_vlan(self.node, *(f'add dev vxlan0 vid {vlan} tunnel_info id {vni}'
                                 for vlan, vni in self.vnis.items()))
        space.run('bridge', '-batch', '-', input=''.join(
            f'vni add dev vxlan0 vni {vni}\n' for vni in self.vnis.values()))
        trunk(self.node, 'leon0', *self.vnis)

    def fragments(self):
        """IP fragments sent by the node and the VTEP so far."""
        made = 0
        for space in (self.node.namespace, self.vtep):
            names, values = [line.split() for line in space.run(
                'cat', '/proc/thread-self/net/snmp').stdout.splitlines() if line[:3] == 'Ip:']
            made += int(values[names.index('FragCreates')])
        return made

    def close(self):
        for machine in self.machine:
            machine.close()
        self.vtep.close()


@contextlib.contextmanager
def with_fabrics(net, vnis):
    net.fabric = {}
    try:
        for number, (name, node) in enumerate(net.node.items(), 1):
            net.fabric[name] = Fabric(node, number, vnis[name])
        yield net.joined()
    finally:
        for fabric in net.fabric.values():
            fabric.close()


@pytest.fixture
def edge(lab):
    """Two sites with a VXLAN each, and a host without, in VLAN 10."""
    skip_without_vlans()
    net = lab({'sites': {'n0': {'config': segment(storage=(30, STORAGE))},
                         'n1': {'config': segment(storage=(31, STORAGE))}}, 'config': merged(FAST, PATIENT)})
    with with_fabrics(net, VNIS):
        for node in net.node.values():
            access(node, 'h0', 10)
        yield net


def hears(machines, sender):
    """Names of machines that receive exactly one copy of a numbered broadcast."""
    number = os.urandom(16)
    sender.tap.send(ethernet(BROADCAST, sender.mac, TEST_TYPE, number))
    found = {}
    within = 0.5
    for name, machine in machines.items():
        found[name] = len(machine.tap.frames(lambda f: number in f, until=10**9, within=within))
        within = 0.05  # all frames are already in flight
    assert max(found.values()) <= 1, found
    return {name for name, copies in found.items() if copies}


def test_each_vni_is_a_segment(edge):
    """The bridge reports the VLANs at once. Frames of a machine arrive only in the VNI of the
    machine."""
    n0, n1 = edge.node.values()
    for node, other in ((n0, n1), (n1, n0)):
        wait_for(lambda n=node, o=other: served(n).get(o.node_id) ==
                 [{'first': v, 'last': v} for v in (10, 20, STORAGE)], 20, 'the VLANs are announced')
        assert node.show('segments')['source'] == 'bridge'
    machines = {f'{name}-{n}': machine for name, fabric in edge.fabric.items()
                for n, machine in enumerate(fabric.machine)}
    for n in (0, 1, 2):
        here, there = f'n0-{n}', f'n1-{n}'
        wait_for(lambda h=here, t=there: hears(machines, machines[h]) == {t}, 20, 'its VNI hears it')
        wait_for(lambda h=here, t=there: hears(machines, machines[t]) == {h}, 20, 'and back')
    for n, (vlan, there) in enumerate(zip(VNIS['n0'], edge.fabric['n1'].machine)):
        assert n0.fdb()[(vlan, there.mac)]['node_id'] == n1.node_id, f'VNI {n}'
    assert n0.drops('segment_unknown') == n1.drops('segment_unknown') == 0
    # A port of the bridge without VXLAN, too, reaches the VNI at the other site.
    host = edge.host['n0']
    host.namespace.ip('addr add 10.77.0.100/24 dev eth0')
    wait_for(lambda: host.ping(edge.fabric['n1'].machine[0].ip4), 20, 'VLAN 10 is VNI 21')


def ping(machine, address, size, count=20):
    """Round-trip times of all answered requests in ms."""
    text = machine.namespace.run('ping', '-n', '-c', count, '-i', 0.01, '-W', 2, '-s', size, address,
                                 check=False).stdout
    return [float(word[5:]) for word in text.split() if word[:5] == 'time=']


def sweep(net, which):
    """{payload: least round-trip time}. No frame is lost, even if a frame needs two datagrams, and
    IP fragments nothing. The sweep repeats sizes lost by a stalled machine."""
    here, there = [fabric.machine[which] for fabric in net.fabric.values()]
    wait_for(lambda: ping(here, there.ip4, 56, 1), 20, 'the VNIs are joined')
    least = {}
    for size in range(50, 1501, 50):
        for _ in range(3):
            times = ping(here, there.ip4, size)
            if len(times) == 20:
                break
        assert len(times) == 20, f'{20 - len(times)} of 20 lost with {size} bytes, three times'
        least[size] = min(times)
    # LEON split the largest frames, which exceed a datagram.
    assert net.node['n0'].counter('fragmented_frames') > 0
    assert [f.fragments() for f in net.fabric.values()] == [0, 0]
    return least


def test_payloads_of_all_sizes(edge):
    sweep(edge, 2)


def test_payloads_of_one_vni(lab):
    """Without VLANs, on any kernel: frames in two datagrams take no longer."""
    net = lab(line_up(2, config=merged(FAST, PATIENT)))
    with with_fabrics(net, {'n0': {0: 11}, 'n1': {0: 21}}):
        least = sweep(net, 0)
    assert 'LEON_EMULATED' in os.environ or max(least.values()) < 1.5 * min(least.values())


def test_vxlan_joins_the_sites_as_well(edge):
    """An operator connects the VTEPs of two sites. VLAN 10 becomes one LAN with two routers and no
    remote site, and there is no loop. The other VLANs continue."""
    spaces = [node.namespace for node in edge.node.values()]
    ns.connect(spaces[0], 'under1', spaces[1], 'under1')
    for number, space, (near, far) in zip((1, 2), spaces, ((11, 21), (21, 11))):
        space.ip(f'link set under1 mtu {UNDER_MTU}', f'addr add 172.17.0.{number}/24 dev under1')
        space.run('bridge', 'fdb', 'append', '00:00:00:00:00:00', 'dev', 'vxlan0', 'dst',
                  f'172.17.0.{3 - number}', 'src_vni', near, 'vni', far)
    wire = Wire(edge)

    def states(vlan):
        return sorted({s['vlan']: s['state'] for s in node.show('segments')['segments']}[vlan]
                      for node in edge.node.values())
    wait_for(lambda: states(10) == ['blocked', 'blocked'], 20, 'the routers find each other')
    wait_for(lambda: states(20) == ['clear', 'clear'], 20, 'the other VLANs go on')
    for source in ('n0', 'n1') * 3:
        wait_for(lambda s=source: wire.once(s), 20, f'a broadcast of {source} arrives once')
    assert max(wire.copies.values()) <= 2
