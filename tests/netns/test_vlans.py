# SPDX-License-Identifier: GPL-2.0-or-later
"""Bridges with VLAN filtering, as `bridge br0 enable-vlan` of VyOS: leon0 is a trunk port, hosts
are on access ports and behind VLAN interfaces. Skipped without kernel support (make check-vm has a
suitable kernel)."""
import pytest

import ns
from host import Host
from lab import line_up, wait_for
from test_forwarders import cable
from test_offload import everything
from traffic import Tap, ethernet


def kernel_can(space, *command):
    return space.run('ip', 'link', 'add', *command, check=False).returncode == 0


def skip_without_vlans():
    space = ns.Namespace('probe')
    try:
        if not kernel_can(space, 'br0', 'type', 'bridge', 'vlan_filtering', '1'):
            pytest.skip('no VLAN filtering in this kernel')
        if not kernel_can(space, 'link', 'br0', 'name', 'v7', 'type', 'vlan', 'id', '7'):
            pytest.skip('no VLAN devices in this kernel')
    finally:
        space.close()


@pytest.fixture(autouse=True, scope='module')
def need_vlans():
    skip_without_vlans()


def bridge_vlan(node, *lines):
    node.namespace.run('bridge', '-batch', '-', input='\n'.join(f'vlan {x}' for x in lines) + '\n')


def access(node, port, vlan):
    bridge_vlan(node, f'del dev {port} vid 1', f'add dev {port} vid {vlan} pvid untagged')


def trunk(node, port, *vlans):
    bridge_vlan(node, f'del dev {port} vid 1', *(f'add dev {port} vid {v}' for v in vlans))


def make_trunks(net, *vlans):
    for node in net.node.values():
        node.namespace.ip('link set br0 type bridge vlan_filtering 1 vlan_default_pvid 1')
        trunk(node, 'leon0', *vlans)


def vlan_device(host, vlan, number):
    """Turns the host into a router on a trunk, with traffic in the given VLAN."""
    host.ip4, host.ip6 = f'10.77.{vlan}.{number}', f'fd00:77:{vlan}::{number}'
    host.namespace.ip(f'link add link eth0 name v{vlan} type vlan id {vlan}',
                      f'link set v{vlan} up', f'addr add {host.ip4}/24 dev v{vlan}',
                      f'addr add {host.ip6}/64 dev v{vlan} nodad')


def test_trunk_between_vlan_aware_bridges(lab):
    """Access ports in VLAN 10 and 20 at both sites: each VLAN is a separate segment."""
    net = lab(line_up(2))
    make_trunks(net, 10, 20)
    ten = list(net.host.values())
    twenty = []
    for number, (name, node) in enumerate(net.node.items(), 101):
        twenty.append(Host(f'second-{name}', node.namespace, number, port='h1'))
        net.host[f'second-{name}'] = twenty[-1]   # the lab closes the host
        access(node, 'h0', 10)
        access(node, 'h1', 20)
    net.joined()
    for pair in (ten, twenty):
        wait_for(lambda p=pair: p[0].ping(p[1].ip4), 10, 'the VLAN is open')
        assert pair[0].ping(pair[1].ip4, size=1472, forbid_fragments=True)
        everything(net, *(name for name, host in net.host.items() if host in pair))
    fdb = net.node['n0'].fdb()
    assert (10, ten[1].mac) in fdb and (20, twenty[1].mac) in fdb
    assert not [vlan for vlan, mac in fdb if mac in (ten[1].mac, twenty[1].mac)
                and vlan not in (10, 20)]
    # Both VLANs have the same network, without a path from one VLAN to the other.
    assert not ten[0].ping(twenty[1].ip4, within=0.5)
    assert not ten[0].ping(twenty[0].ip4, within=0.5)
    # A frame dropped by the bridge does not enter the overlay, because leon0 is not in the VLAN.
    access(net.node['n0'], 'h0', 30)
    access(net.node['n1'], 'h0', 30)
    ten[0].forget_neighbors()
    assert not ten[0].ping(ten[1].ip4, within=0.5)
    for node in net.node.values():
        bridge_vlan(node, 'add dev leon0 vid 30')
    wait_for(lambda: ten[0].ping(ten[1].ip4), 10, 'VLAN 30 is open')


def listened(node):
    """{VLAN: state} of the loop guard."""
    return {v['vlan']: v['state'] for v in node.statistics()['loop_guard']['vlans']}


def test_the_vlans_of_the_bridge_are_known(lab):
    """VLANs are known before the first frame, while leon0 is a member."""
    net = lab(line_up(2)).joined()
    n0 = net.node['n0']
    assert 0 in listened(n0)
    make_trunks(net, 10, '20-22')
    wait_for(lambda: listened(n0) == dict.fromkeys((10, 20, 21, 22), 'clear'), 20,
             'the VLANs are listened to')
    assert any('10, 20 to 22' in e['text'] for e in n0.events('vlans'))
    bridge_vlan(n0, 'del dev leon0 vid 20-21', 'add dev leon0 vid 30', 'add dev leon0 vid 1 pvid')
    wait_for(lambda: listened(n0) == dict.fromkeys((0, 1, 10, 22, 30), 'clear'), 20,
             'those that were taken off are forgotten')
    # Frames in a VLAN that n0 does not serve are not sent to n0.
    trunk(net.node['n1'], 'h0', 77)
    bridge_vlan(net.node['n1'], 'add dev leon0 vid 77')
    out = Tap(net.host['n1'].namespace, 'eth0')
    try:
        def spared():
            out.send(ethernet('ff:ff:ff:ff:ff:ff', net.host['n1'].mac, 0x88b6, b'leon' * 20, 77))
            return net.node['n1'].drops('vlan_no_node')
        wait_for(spared, 20, 'a frame of a VLAN that n0 does not serve stays here')
    finally:
        out.close()
    assert 77 not in listened(n0)
    n0.namespace.ip('link set br0 type bridge vlan_filtering 0')
    wait_for(lambda: any('all VLANs' in e['text'] for e in n0.events('vlans')), 20,
             'a bridge that does not look at VLANs carries all')


def test_a_tag_of_another_protocol_leads_into_no_vlan(lab):
    """To the bridge, a frame with an 802.1ad tag is an untagged frame."""
    net = lab(line_up(2)).joined()
    n0, host = net.node['n0'], net.host['n0']
    n0.namespace.ip('link set br0 type bridge vlan_filtering 1 vlan_default_pvid 1')
    bridge_vlan(n0, 'add dev leon0 vid 20')
    wait_for(lambda: listened(n0) == dict.fromkeys((0, 20), 'clear'), 20, 'VLAN 20 is open')
    out = Tap(host.namespace, 'eth0')
    try:
        def dropped():
            out.send(ethernet('ff:ff:ff:ff:ff:ff', host.mac, 0x88a8, b'\0\x14\x88\xb6' + b'leon' * 20))
            return n0.drops('foreign_tag')
        wait_for(dropped, 10, 'the frame is dropped')
    finally:
        out.close()
    assert (20, host.mac) not in n0.fdb()


def test_two_routers_behind_bridges_of_8021ad_vlans(lab):
    """The guards pass in the VLAN of the bridges, which take 802.1Q tags for payload."""
    net = lab(line_up(3)).joined()
    routers = [net.node[n] for n in ('n0', 'n1')]
    cable(net, 'n0', 'n1')
    for node, port in zip(routers, ('to-n1', 'to-n0')):
        node.namespace.ip('link set br0 type bridge vlan_filtering 1 vlan_protocol 802.1ad '
                          'vlan_default_pvid 0')
        bridge_vlan(node, 'add dev leon0 vid 20', f'add dev {port} vid 20')
    wait_for(lambda: {listened(node).get(20) for node in routers} == {'shared', 'blocked'}, 20,
             'one router forwards')


def test_the_vlans_of_interfaces_on_leon0(lab):
    net = lab(line_up(2, hosts=False)).joined()
    n0 = net.node['n0']
    n0.namespace.ip('link add link leon0 name leon0.7 type vlan id 7', 'link set leon0.7 up')
    wait_for(lambda: set(listened(n0)) == {0, 7}, 20, 'VLAN 7 is known')
    # leond cannot see an interface in another namespace. Frames reveal the VLAN.
    n0.namespace.ip('link add link leon0 name leon0.8 type vlan id 8')
    wait_for(lambda: set(listened(n0)) == {0, 7, 8}, 20, 'VLAN 8 is known')
    n0.namespace.ip('link del leon0.8')
    wait_for(lambda: set(listened(n0)) == {0, 7}, 20, 'VLAN 8 is forgotten')
    out = Tap(n0.namespace, 'leon0')
    try:
        def everything_again():
            out.send(ethernet('ff:ff:ff:ff:ff:ff', '02:00:00:00:00:09', 0x88b6, b'leon' * 20, 9))
            return any('all VLANs' in e['text'] for e in n0.events('vlans'))
        wait_for(everything_again, 20, 'a frame of VLAN 9 passes')
    finally:
        out.close()


def test_trunk_to_tagged_hosts(lab):
    """Tagged at one end, untagged at the other end, and a native VLAN."""
    net = lab(line_up(2))
    make_trunks(net, 10)
    n0, n1 = net.node.values()
    access(n0, 'h0', 10)
    trunk(n1, 'h0', 10)
    vlan_device(net.host['n1'], 10, 2)
    net.host['n0'].ip4, net.host['n0'].ip6 = '10.77.10.1', 'fd00:77:10::1'
    net.host['n0'].namespace.ip('addr add 10.77.10.1/24 dev eth0',
                                'addr add fd00:77:10::1/64 dev eth0 nodad')
    net.joined()
    wait_for(lambda: net.host['n0'].ping(net.host['n1'].ip4), 10, 'VLAN 10 is open')
    everything(net)
    everything(net, 'n1', 'n0')
    # Raw frames: the trunk has a single tag with the priority.
    tap = Tap(net.host['n1'].namespace, 'eth0')
    try:
        out = Tap(net.host['n0'].namespace, 'eth0')
        out.send(ethernet('ff:ff:ff:ff:ff:ff', net.host['n0'].mac, 0x88b5, b'leon' * 20))
        out.close()
        (frame,) = tap.frames(lambda f: b'leonleon' in f, within=10)
        assert frame[12:18] == bytes.fromhex('8100000a88b5')
    finally:
        tap.close()


def test_router_in_a_vlan_of_the_bridge(lab):
    """`bridge br0 vif 10 address ...`: hosts of the VLAN reach the address over the overlay. The
    address is not a locator of the node."""
    net = lab(line_up(2), start=False)
    n0, n1 = net.node.values()
    del n0.config['source-address']
    n0.config['node-id'] = '198.18.0.1'
    n0.namespace.ip('link set br0 type bridge vlan_filtering 1',
                    'link add link br0 name br0.10 type vlan id 10', 'link set br0.10 up',
                    'addr add 10.77.10.1/24 dev br0.10')
    bridge_vlan(n0, 'add dev br0 vid 10 self')
    net.start()
    make_trunks(net, 10)
    access(n1, 'h0', 10)
    net.host['n1'].namespace.ip('addr add 10.77.10.2/24 dev eth0')
    net.joined()
    wait_for(lambda: net.host['n1'].ping('10.77.10.1'), 10, 'the router answers')
    assert net.host['n1'].ping('10.77.10.1', size=1472, forbid_fragments=True)
    assert n1.nodes()[n0.node_id]['locators'] == ['198.18.0.1:5366']


def test_vlan_on_leon0_itself(lab):
    net = lab(line_up(2, hosts=False), start=False)
    net.start()
    n0, n1 = net.node.values()
    for number, node in enumerate((n0, n1), 1):
        node.namespace.ip('link add link leon0 name leon0.7 type vlan id 7', 'link set leon0.7 up',
                          f'addr add 10.77.7.{number}/24 dev leon0.7')
    net.joined()
    wait_for(lambda: n0.namespace.run('ping', '-c1', '-W1', '10.77.7.2',
                                      check=False).returncode == 0, 10, 'VLAN 7 is open')
    assert {vlan for vlan, _ in n0.fdb()} >= {7}
