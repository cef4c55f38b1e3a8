# SPDX-License-Identifier: GPL-2.0-or-later
"""`address` and `bridge` of the configuration: start, reload, removal of the key and restart. The
addresses also return after events in which the kernel drops them."""
import json
import os
import pathlib

import pytest

from lab import LeonctlError, line_up, wait_for
from node import deafened
from test_vyos_device import make_device

BOTH = ['10.99.0.1/24', 'fd00:99::1/64']


def interface(node):
    (found,) = json.loads(node.namespace.run('ip', '-j', 'addr', 'show', 'leon0').stdout)
    return found


def addresses(node):
    return {f'{a["local"]}/{a["prefixlen"]}' for a in interface(node)['addr_info']
            if a['scope'] == 'global'}


def has(node, *wanted):
    wait_for(lambda: addresses(node) == set(wanted), 10, f'the addresses are {wanted}')


def single(lab, **config):
    net = lab(line_up(1, hosts=False), start=False)
    node = net.node['n0']
    node.config.update(config)
    return node


def answers(node, address):
    return node.namespace.run('ping', '-c', '1', '-W', '1', address, check=False).returncode == 0


def test_the_nodes_reach_each_other_by_configured_addresses(lab):
    net = lab(line_up(2, hosts=False), start=False)
    for i, node in enumerate(net.node.values(), 1):
        node.config['address'] = [f'10.99.0.{i}/24', f'fd00:99::{i}/64']
    net.start()
    net.joined()
    first = net.node['n0']
    for address in ('10.99.0.2', 'fd00:99::2'):
        wait_for(lambda a=address: answers(first, a), 10, f'{address} answers')
    assert set(first.statistics()['interface_addresses']) == set(BOTH)
    assert 'addresses       10.99.0.1/24 fd00:99::1/64' in first.leonctl('show', 'statistics',
                                                                         json_output=False)
    for node in net.node.values():
        node.kill()
        node.start()
    net.joined()
    wait_for(lambda: answers(first, 'fd00:99::2'), 10, 'the address answers after a restart')


def test_a_reload_adds_and_removes(lab):
    node = single(lab, address=BOTH).start()
    has(node, *BOTH)
    # The second address of a network is lost in the kernel if the first one is removed.
    node.reload(address=[*BOTH, '10.99.0.9/24'])
    has(node, *BOTH, '10.99.0.9/24')
    node.reload(address=['10.99.0.9/24', 'fd00:99::1/48'])
    has(node, '10.99.0.9/24', 'fd00:99::1/48')
    node.reload(address=None)
    has(node)


def test_a_reload_without_a_change_restores_addresses(lab):
    node = single(lab, address=BOTH).start()
    node.namespace.ip('addr flush dev leon0 scope global')
    has(node)
    node.reload()
    has(node, *BOTH)


def test_addresses_of_other_programs_stay(lab):
    node = single(lab, address=BOTH).start()
    node.namespace.ip('addr add 192.0.2.77/24 dev leon0')
    node.reload(address=['10.99.0.2/24'])
    has(node, '10.99.0.2/24', '192.0.2.77/24')


def test_a_refused_reload_changes_nothing(lab):
    node = single(lab, address=BOTH).start()
    with pytest.raises(LeonctlError, match='address: 10.99.0.7 has no prefix length'):
        node.reload(address=['10.99.0.7'])
    assert addresses(node) == set(BOTH)


def test_ipv6_returns_when_the_interface_is_up_again(lab):
    node = single(lab, address=BOTH).start()
    node.namespace.ip('link set leon0 down')
    has(node, '10.99.0.1/24')
    node.namespace.ip('link set leon0 up')
    has(node, *BOTH)


def test_ipv6_returns_with_the_mtu(lab):
    """The kernel has no IPv6 on an interface with an MTU below 1280."""
    node = single(lab, address=BOTH, mtu=1200).start()
    has(node, '10.99.0.1/24')
    node.reload(mtu=1400)
    has(node, *BOTH)
    for mtu, wanted in ((1279, BOTH[:1]), (1280, BOTH)):
        node.namespace.ip(f'link set leon0 mtu {mtu}')
        has(node, *wanted)


def test_ipv6_returns_after_lost_notifications(lab):
    node = single(lab, address=BOTH).start()
    deafened(node, 'link set leon0 down', 'link set leon0 up')
    has(node, *BOTH)


def test_an_address_that_the_kernel_refuses_is_an_event(lab):
    node = single(lab, address=BOTH)
    node.namespace.sysctl('ipv6/conf/default/disable_ipv6', 1)
    node.start()
    has(node, '10.99.0.1/24')
    (event,) = node.events('address-failed')
    assert event['text'].startswith('address fd00:99::1/64 cannot be set: ')


def test_an_interface_that_outlives_leond_loses_a_removed_address(lab):
    """On VyOS leond attaches to a persistent interface."""
    node = single(lab, address=BOTH)
    make_device(node.namespace)
    node.start()
    node.namespace.ip('addr add 192.0.2.77/24 dev leon0')
    node.stop()
    assert '10.99.0.1/24' in addresses(node)
    node.config['address'] = ['10.99.0.2/24']
    node.start()
    has(node, '10.99.0.2/24', '192.0.2.77/24')


def master(node):
    return interface(node).get('master')


def in_bridge(node, name):
    wait_for(lambda: master(node) == name, 10, f'leon0 is a port of {name}')


def add_bridge(node, name):
    node.namespace.ip(f'link add {name} type bridge')


def test_bridge_at_start_reload_and_restart(lab):
    node = single(lab, bridge='br7')
    add_bridge(node, 'br7')
    add_bridge(node, 'br8')
    node.start()
    assert master(node) == 'br7'
    statistics = node.statistics()
    assert statistics['bridge'] == 'br7' and statistics['bridge_port']
    assert statistics['interface_mtu_source'] == 'bridge-port'
    node.reload(bridge='br8')
    in_bridge(node, 'br8')
    node.kill()
    node.start()
    assert master(node) == 'br8'
    node.reload(bridge=None)
    in_bridge(node, None)
    wait_for(lambda: node.statistics()['interface_mtu_source'] != 'bridge-port', 10, 'the MTU follows')


def test_a_bridge_that_appears_later_is_joined(lab):
    node = single(lab, bridge='br7').start()
    assert master(node) is None and node.statistics()['bridge_missing']
    (event,) = node.events('bridge-missing')
    assert 'leon0 is no port of bridge br7: the bridge does not exist' in event['text']
    add_bridge(node, 'br7')
    in_bridge(node, 'br7')
    node.namespace.ip('link del br7')
    wait_for(lambda: len(node.events('bridge-missing')) == 2, 10, 'the loss is reported')
    add_bridge(node, 'br7')
    in_bridge(node, 'br7')
    assert not node.statistics()['bridge_missing']


def test_a_bridge_that_returns_unnoticed_is_joined(lab):
    """Only the overflow of the notification buffer notifies leond of the new bridge."""
    node = single(lab, bridge='br7')
    add_bridge(node, 'br7')
    node.start()
    deafened(node, 'link del br7', 'link add br7 type bridge')
    in_bridge(node, 'br7')
    assert not node.statistics()['bridge_missing']


def test_a_reload_to_a_missing_bridge_leaves_the_former_one(lab):
    node = single(lab, bridge='br7')
    add_bridge(node, 'br7')
    node.start()
    in_bridge(node, 'br7')
    wait_for(lambda: node.statistics()['bridge_port'], 10, 'leond follows')
    node.reload(bridge='br9')
    in_bridge(node, None)
    add_bridge(node, 'br9')
    in_bridge(node, 'br9')
    wait_for(lambda: node.statistics()['bridge_port'], 10, 'leond follows')
    node.reload(bridge='br8')
    node.reload(bridge=None)
    in_bridge(node, None)


def test_an_interface_that_is_no_bridge_is_not_joined(lab):
    node = single(lab, bridge='dummy7')
    node.namespace.ip('link add dummy7 type veth peer name dummy8')
    node.start()
    assert master(node) is None
    assert 'is no bridge' in node.events('bridge-missing')[0]['text']


def test_a_port_that_an_operator_moved_stays_until_a_reload(lab):
    node = single(lab, bridge='br7')
    add_bridge(node, 'br7')
    node.start()
    node.namespace.ip('link set leon0 nomaster', 'link set br7 up')
    wait_for(lambda: not node.statistics()['bridge_port'], 10, 'leond follows')
    assert master(node) is None
    node.reload()
    in_bridge(node, 'br7')


def test_a_bridge_of_another_program_stays(lab):
    """Without the key the membership belongs to the program that made it."""
    node = single(lab).start()
    add_bridge(node, 'br7')
    node.namespace.ip('link set leon0 master br7')
    node.reload(mtu=1400)
    assert master(node) == 'br7'


@pytest.mark.skipif(not os.path.exists('/proc/sys/net/bridge'), reason='no br_netfilter')
def test_the_log_names_br_netfilter(lab):
    node = single(lab)
    add_bridge(node, 'br7')
    add_bridge(node, 'br8')
    node.namespace.sysctl('bridge/bridge-nf-call-iptables', 0)
    node.start()
    node.reload(bridge='br7')
    in_bridge(node, 'br7')
    assert 'FORWARD' not in node.log()
    node.namespace.sysctl('bridge/bridge-nf-call-iptables', 1)
    node.reload(bridge='br8')
    wait_for(lambda: 'pass the FORWARD chain of the host' in node.log(), 5, 'the log names it')


@pytest.mark.parametrize('name', ['leon9', 'other'])
def test_the_bridge_of_another_overlay_is_no_underlay(lab, name):
    """Its address is not a locator of the node. A free name is recognised by its control socket."""
    net = lab(line_up(2, hosts=False), start=False)
    n0, n1 = net.node.values()
    del n0.config['source-address']
    n0.config['node-id'] = '198.18.0.1'
    pathlib.Path(n0.socket).with_name(f'{name}.sock').touch()
    n0.namespace.ip('link add br9 type bridge', f'tuntap add {name} mode tap',
                    f'link set {name} master br9 up', 'link set br9 up',
                    'addr add 203.0.113.9/24 dev br9')
    net.start()
    net.joined()

    def locators():
        return n1.nodes()[n0.node_id]['locators']
    assert locators() == ['198.18.0.1:5366']
    n0.namespace.ip(f'link set {name} nomaster')
    wait_for(lambda: len(locators()) == 2, 10, 'an address like any other')
    n0.namespace.ip(f'link set {name} master br9')
    wait_for(lambda: locators() == ['198.18.0.1:5366'], 10, 'the port has returned')
    n0.stop()
    n0.config['source-interface'] = 'br9'
    n0.start()
    wait_for(lambda: n0.nodes()[n0.node_id]['locators'] == ['203.0.113.9:5366'], 10, 'br9 is chosen')
