# SPDX-License-Identifier: GPL-2.0-or-later
"""On VyOS the configuration creates the device and leond attaches to the device (decision 008).
Settings of a commit survive every restart of leond."""
import json
import sys
from pathlib import Path

from lab import line_up, wait_for
from node import Node

TOP = Path(__file__).resolve().parents[2]
sys.path[:0] = [str(TOP / 'vyos-1x-leon/python'), str(TOP / 'tests/python/fake_vyos')]

import fake_host  # noqa: E402
import vyos_leon_hook  # noqa: E402, F401
from vyos.ifconfig import LeonIf  # noqa: E402


def make_device(namespace):
    """Executes the commands of LeonIf. Namespaces of tests have no user leon."""
    fake_host.reset()
    LeonIf('leon0')
    (command,) = [what for verb, what in fake_host.host.journal if verb == 'run']
    assert ' user leon ' in command
    namespace.run(*command.replace(' user leon ', ' ').split())
    made = link(namespace)['linkinfo']['info_data']
    assert made['type'] == 'tap' and made['persist'] and made['multi_queue'] and made['vnet_hdr']


def link(namespace):
    (found,) = json.loads(namespace.run('ip', '-j', '-d', 'addr', 'show', 'leon0').stdout)
    return found


def kept(namespace):
    """Properties that a restart must not change."""
    found = link(namespace)
    addresses = [a['local'] for a in found['addr_info'] if a['scope'] == 'global']
    return found['ifindex'], found['address'], found.get('master'), addresses


def has_carrier(namespace):
    return 'LOWER_UP' in link(namespace)['flags']


def test_address_stays_over_a_restart(lab):
    net = lab(line_up(2, hosts=False), start=False)
    for number, node in enumerate(net.node.values()):
        make_device(node.namespace)
        node.start()
        node.namespace.ip(f'addr add 10.99.0.{number + 1}/24 dev leon0')
    net.joined()
    first = net.node['n0']
    before = kept(first.namespace)
    wait_for(lambda: has_carrier(first.namespace), 5, 'a device with leond has a carrier')
    assert before[3] == ['10.99.0.1']

    first.stop()
    assert kept(first.namespace) == before
    wait_for(lambda: not has_carrier(first.namespace), 5, 'a device without leond has no carrier')

    first.start()
    net.joined()
    assert kept(first.namespace) == before
    wait_for(lambda: first.namespace.run('ping', '-c', '1', '-W', '1', '10.99.0.2',
                                         check=False).returncode == 0, 10, 'the overlay carries')


def test_bridge_stays_when_leond_dies(lab):
    net = lab(line_up(2), start=False)
    for node in net.node.values():
        make_device(node.namespace)
    net.start()
    net.joined()
    net.settle_hosts('n0', 'n1')
    node = net.node['n0']
    before = kept(node.namespace)
    assert before[2] == 'br0'

    node.kill()
    assert kept(node.namespace) == before
    node.start()
    assert kept(node.namespace) == before
    net.joined()
    net.settle_hosts('n0', 'n1')


def test_two_interfaces_of_a_node_have_two_addresses(lab, tmp_path):
    """Two interfaces with one node-id and VNI: two segments, or two ports of one bridge."""
    net = lab(line_up(2, hosts=False))
    first = net.node['n0']
    second = Node('second', first.namespace, {
        **first.config, 'interface': 'leon1', 'port': 5377, 'peer': {},
        'identity-file': str(tmp_path / 'second.identity'), 'system': {}}, str(tmp_path))
    second.start()
    seen = {}
    for name in ('leon0', 'leon1'):
        (found,) = json.loads(first.namespace.run('ip', '-j', 'link', 'show', name).stdout)
        seen[name] = found['address']
    assert seen['leon0'] != seen['leon1']
    second.stop()
    second.start()
    (found,) = json.loads(first.namespace.run('ip', '-j', 'link', 'show', 'leon1').stdout)
    assert found['address'] == seen['leon1']
    second.stop()
