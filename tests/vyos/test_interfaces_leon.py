#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""Smoketest in the form of VyOS: run by the runner of VyOS, or as a program, in a running system.

Every option of `interfaces leon` reaches the daemon. Changes apply to a running daemon if
possible, and wrong configurations are refused. The interface works in the same places as built-in
types. The generic tests of interfaces come from VyOS.
"""

import json
import os
import subprocess
import unittest

from base_interfaces_test import BasicInterfaceTest

from vyos.configsession import ConfigSessionError
from vyos.ifconfig import Section
from vyos.utils.file import read_file
from vyos.utils.network import get_interface_config
from vyos.utils.network import interface_exists
from vyos.utils.process import process_named_running
from vyos.utils.process import rc_cmd

from vyos_leon import leaves

# Keys that each test sets, that tests of VyOS cover, or that belong to routes.
ELSEWHERE = {
    'port', 'vni', 'mtu', 'export next-hop', 'import', 'import prefix PREFIX',
    'policy critical duplicate', 'policy critical parity', 'authentication disable',
}  # fmt: skip


def add_the_rest(wanted):
    """Sets a value other than the default for every number, flag and choice of conf.def that
    `wanted` lacks."""
    for leaf in leaves.LEAVES.values():
        if {leaf.path, leaf.section} & ELSEWHERE or 'NAME' in leaf.words:
            continue
        if leaf.kind == 'NUMBER':
            low, high = leaf.of['low'], leaf.of['high']
            value = low if low != leaf.of['default'] else high
        elif leaf.kind == 'FLAG':
            value = True
        elif leaf.kind == 'CHOICE':
            value = leaf.of['names'].split()[-1]
        else:
            continue
        nodes = wanted
        for word in leaf.words[:-1]:
            nodes = nodes.setdefault(word, {})
        nodes.setdefault(leaf.words[-1], value)


def every_option():
    """A value for every option of the daemon that can be combined with the others."""
    wanted = {
        'node-name': 'smoke-1',
        'measurement': {
            'interval': 2000,
            'fast-interval': 200,
            'dead-multiplier': 5,
            'long-term-time': 900,
        },
        'path': {
            'threshold': 20,
            'threshold-minimum': 3000,
            'variation-margin': 90,
            'long-term-threshold': 7,
            'hold-time': 30,
            'maximum-relays': 1,
            'relay-cost': 700,
        },
        'fdb': {'aging': 60, 'maximum': 512, 'maximum-per-vlan': 100},
        'shaper': {'peer': {'192.0.2.77': {'rate': 20000}}},
        'port-mapping': {'lifetime': 600},
        'capture': {'permit': ['192.0.2.1', '192.0.2.2']},
        'flow-export': {'collector': '192.0.2.9', 'port': 2055, 'sampling': 10},
        'transport': {'tls': {'listen-port': 8443, 'proxy': 'http://192.0.2.8:3128'}},
        'storm-control': {
            'per-vlan': 50,
            'broadcast': 100,
            'multicast': 200,
            'unknown-unicast': 300,
        },
        'suppression': {'arp': True, 'nd': True},
        'mss-clamp': {'disable': True},
        'loop-guard': {'disable': True, 'interval': 500, 'preference': 200},
        'transit': {'disable': True},
        'member': {'maximum': 100, 'forget-time': 60},
        # VyOS has no ipsec-mb.
        'system': {
            'workers': 1,
            'busy-poll': 50,
            'log-level': 'debug',
            'cipher-library': 'libcrypto',
        },
        'mac': '02:00:00:00:47:11',
        'fwmark': 4711,
        'dscp': {'copy': True, 'control': 'cs6'},
        'ecn': {'disable': True},
        'parameters': {
            'ip': {'tos': 184, 'ttl': 64, 'df': 'unset'},
            'ipv6': {'tclass': 184, 'hoplimit': 64},
        },
        'authentication': {'pre-shared-secret': 'smoketest'},
        'encryption': {
            'rekey-time': 600,
            'cipher': 'chacha20poly1305',
            'disable': True,
        },
        'peer': {
            'other': {'address': '198.51.100.1', 'port': 15366},
            'later': {
                'address': '198.51.100.2',
                'port': 5366,
                'tls-port': 443,
                'description': 'not built yet',
                'disable': True,
            },
        },
    }
    add_the_rest(wanted)
    return wanted


# The commit refuses lines together with source-address, and segments with acceleration.
LINE = {
    'fibre': {'interface': 'eth0'},
    'lte': {'address': '192.0.2.1', 'interface': 'eth1'},
}
SEGMENT = {'storage': {'vlan': 10, 'id': 70010}}


def cmd(command):
    """VyOS of August 2026 has no such function for a string."""
    return subprocess.check_output(command.split(), text=True).strip()


def document(interface):
    return json.loads(cmd(f'sudo cat /run/leon/{interface}.json'))


def daemon(interface):
    """Process id of the daemon of an interface; waits for the start."""
    return process_named_running('leond', f'/run/leon/{interface}.json', timeout=10)


def kernel_has(kind, option, file=''):
    """The kernel of VyOS has VRFs and bridges with VLAN filtering; the kernel of a container may
    not. Makes a device of the kind and looks for the file in sysfs."""
    device = 'leon-probe'
    rc, _ = rc_cmd(f'sudo ip link add name {device} type {kind} {option}')
    if rc != 0:
        return False
    found = os.path.exists(f'/sys/class/net/{device}/{file}')
    cmd(f'sudo ip link delete dev {device}')
    return found


class LeonInterfaceTest(BasicInterfaceTest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls._base_path = ['interfaces', 'leon']
        secret = 'authentication pre-shared-secret smoketest'
        # As in the tests of VyOS: the first port of the machine under any name.
        port = Section.interfaces('ethernet', vlan=False)[0]
        cls._options = {
            'leon0': [secret, 'node-id 192.0.2.10', 'port 15366'],
            'leon1': [secret, 'node-id 192.0.2.11', 'port 15367', 'vni 4711'],
            'leon2': [
                secret,
                f'source-interface {port}',
                'node-id 192.0.2.12',
                'port 15368',
            ],
        }
        cls._interfaces = list(cls._options)
        super().setUpClass()

    def setUp(self):
        super().setUp()
        self.foreign_paths = []

    def tearDown(self):
        # References to the interface must be deleted too, because otherwise the deletion and all
        # later tests would fail.
        for path in self.foreign_paths:
            self.cli_delete(path)
        super().tearDown()

    def set_options(self, interface):
        for option in self._options[interface]:
            self.cli_set(self._base_path + [interface] + option.split())

    def set_all(self, nodes, path):
        for name, value in nodes.items():
            if isinstance(value, dict):
                self.set_all(value, path + [name])
            elif value is True:
                self.cli_set(path + [name])
            else:
                self.cli_set(path + [name, str(value)])

    def assert_refused(self, text):
        with self.assertRaises(ConfigSessionError) as refused:
            self.cli_commit()
        # VyOS breaks the sentence into lines.
        self.assertIn(text, ' '.join(str(refused.exception).split()))

    def test_move_interface_between_vrf_instances(self):
        if not kernel_has('vrf', 'table 64999'):
            self.skipTest('this kernel has no VRFs')
        super().test_move_interface_between_vrf_instances()

    def test_leon_every_option_reaches_the_daemon(self):
        interface = 'leon0'
        path = self._base_path + [interface]
        wanted = every_option()

        self.set_options(interface)
        self.set_all(wanted, path)
        self.cli_set(path + ['authentication', 'accept-secret', 'the secret before'])
        for vlan in ('10', '20-29'):
            self.cli_set(path + ['vlan', vlan])
        self.cli_commit()

        found = document(interface)
        self.assertEqual(
            found['authentication'].pop('accept-secret'), ['the secret before']
        )
        self.assertEqual(found['vlan'], ['10', '20-29'])
        for word, value in wanted.items():
            self.assertEqual(found[word], value, word)
        self.assertEqual(found['interface'], interface)
        self.assertEqual(found['port'], 15366)
        self.assertTrue(daemon(interface))
        # The file holds the secret.
        mode = cmd(f'sudo stat -c %a /run/leon/{interface}.json')
        self.assertEqual(mode[-1], '0')

        self.cli_delete(path + ['acceleration'])
        self.set_all({'segment': SEGMENT}, path)
        self.cli_commit()
        self.assertEqual(document(interface)['segment'], SEGMENT)

    def test_leon_lines(self):
        interface = 'leon0'
        path = self._base_path + [interface]
        self.set_options(interface)
        self.set_all({'line': LINE}, path)
        self.cli_commit()
        self.assertEqual(document(interface)['line'], LINE)
        self.assertTrue(daemon(interface))

    def test_leon_export(self):
        interface = 'leon0'
        path = self._base_path + [interface]
        next_hop = {'threshold': 5, 'threshold-minimum': 700, 'interval': 2000}
        self.set_options(interface)
        self.cli_set(path + ['export', 'next-hop'])
        self.assert_refused('What is exported needs an address of this node')
        self.cli_set(path + ['address', '10.99.0.1/32'])
        self.cli_set(path + ['export', 'prefix', '10.1.0.0/16'])
        rule = path + ['import', 'prefix', '10.0.0.0/8']
        self.cli_set(rule + ['ge', '24'])
        self.cli_set(rule + ['le', '16'])
        self.assert_refused('accepts nothing')
        self.cli_delete(rule + ['ge'])
        self.cli_set(path + ['export', 'unconditional'])
        # The number or the key identifies a node. A name is only a claim of the node.
        with self.assertRaises(ConfigSessionError):
            self.cli_set(rule + ['node', 'seoul'])
        self.cli_set(rule + ['node', '10.99.0.2'])
        for word, value in next_hop.items():
            self.cli_set(path + ['export', 'next-hop', word, str(value)])
        self.cli_set(path + ['import', 'distance', '200'])
        self.cli_set(path + ['import', 'address', '10.99.0.0/24'])
        self.cli_commit()

        found = document(interface)
        self.assertEqual(found['overlay-address'], ['10.99.0.1'])
        self.assertEqual(
            found['export'],
            {'next-hop': next_hop, 'prefix': ['10.1.0.0/16'], 'unconditional': {}},
        )
        self.assertEqual(
            found['import'],
            {
                'distance': 200,
                'address': ['10.99.0.0/24'],
                'prefix': {'10.0.0.0/8': {'le': 16, 'node': ['10.99.0.2']}},
            },
        )
        self.assertTrue(daemon(interface))
        script = 'sudo /usr/libexec/vyos/op_mode/leon.py'
        answer = json.loads(cmd(f'{script} show_routes --raw --interface {interface}'))
        self.assertTrue(answer['exporting'])
        self.assertTrue(answer['prefixes'][0]['announced'])

        # A prefix without a route is not announced.
        self.cli_delete(path + ['export', 'unconditional'])
        self.cli_commit()
        self.assertNotIn('unconditional', document(interface)['export'])
        answer = json.loads(cmd(f'{script} show_routes --raw --interface {interface}'))
        self.assertFalse(answer['prefixes'][0]['announced'])

    def test_leon_acceleration(self):
        interface = 'leon0'
        unit = f'leon-accel@{interface}.service'
        path = self._base_path + [interface, 'acceleration']
        self.set_options(interface)
        self.cli_delete(path)
        self.cli_commit()
        before = daemon(interface)
        self.assertTrue(before)
        self.assertEqual(rc_cmd(f'systemctl is-active {unit}')[0], 3)

        self.cli_set(path + ['exclude', 'port', '8080-8000'])
        self.assert_refused('run downwards')
        self.cli_delete(path + ['exclude'])
        self.cli_set(path + ['mode', 'latency'])
        self.cli_set(path + ['include', 'prefix', '10.0.0.0/8'])
        self.cli_set(path + ['include', 'port', '2049'])
        self.cli_set(path + ['exclude', 'prefix', '10.1.0.0/16'])
        self.cli_set(path + ['exclude', 'port', '443'])
        self.cli_set(path + ['exclude', 'port', '8000-8080'])
        self.cli_commit()
        found = document(interface)['acceleration']
        self.assertEqual(found['mode'], 'latency')
        self.assertEqual(found['include'], {'prefix': ['10.0.0.0/8'], 'port': ['2049']})
        self.assertEqual(sorted(found['exclude']['port']), ['443', '8000-8080'])
        # The daemon did not restart.
        self.assertEqual(daemon(interface), before)
        self.assertEqual(rc_cmd(f'systemctl is-active {unit}')[0], 0)
        script = 'sudo /usr/libexec/vyos/op_mode/leon.py'
        for what in ('show_acceleration', 'show_acceleration_connections'):
            answer = json.loads(cmd(f'{script} {what} --raw --interface {interface}'))
            self.assertIn(answer['state'], ('absent', 'running'))

        self.cli_delete(path)
        self.cli_commit()
        self.assertNotIn('acceleration', document(interface))
        self.assertEqual(rc_cmd(f'systemctl is-active {unit}')[0], 3)
        self.assertEqual(daemon(interface), before)

    def test_leon_policy(self):
        interface = 'leon0'
        critical = self._base_path + [interface, 'policy', 'critical']
        twice = {'budget': 5000, 'maximum-extra-delay': 20, 'loss': 1, 'jitter': 15}
        self.set_options(interface)
        self.cli_commit()
        before = daemon(interface)
        self.assertTrue(before)

        self.cli_set(critical + ['duplicate'])
        self.assert_refused('nothing says which they are')
        for word, bad in (
            ('dscp', '64'),
            ('vlan', '4095'),
            ('mac', 'seoul'),
            ('ethertype', '0x05ff'),
            ('protocol', 'http'),
        ):
            with self.assertRaises(ConfigSessionError):
                self.cli_set(critical + [word, bad])
        self.cli_set(critical + ['protocol', 'gre', 'port', '7'])
        self.assert_refused('Protocol gre has no ports')
        self.cli_delete(critical + ['protocol', 'gre', 'port'])
        wanted = {
            'dscp': ['40', 'ef'],
            'vlan': ['7'],
            'mac': ['02:00:00:00:47:11'],
            'ethertype': ['0x88b8'],
        }
        for word, values in wanted.items():
            for value in values:
                self.cli_set(critical + [word, value])
        self.cli_set(critical + ['protocol', 'udp', 'port', '5060'])
        self.cli_commit()
        # The presence of the node enables the copies, with the default budget of the daemon.
        self.assertEqual(document(interface)['policy']['critical']['duplicate'], {})

        for word, value in twice.items():
            self.cli_set(critical + ['duplicate', word, str(value)])
        self.cli_commit()
        found = document(interface)['policy']['critical']
        for word, values in wanted.items():
            self.assertEqual(sorted(found[word]), values, word)
        self.assertEqual(found['protocol'], {'gre': {}, 'udp': {'port': ['5060']}})
        self.assertEqual(found['duplicate'], twice)
        self.cli_set(critical + ['parity', 'budget', '5mbit'])
        self.assert_refused('exclude each other')
        self.cli_delete(critical + ['duplicate'])
        self.cli_commit()
        self.assertEqual(document(interface)['policy']['critical']['parity'], {'budget': '5mbit'})
        # The daemon did not restart.
        self.assertEqual(daemon(interface), before)
        self.cli_delete(self._base_path + [interface, 'policy'])
        self.cli_commit()
        self.assertNotIn('policy', document(interface))
        self.assertEqual(daemon(interface), before)

    def test_leon_trusted_identity(self):
        interface = 'leon0'
        path = self._base_path + [interface]
        self.set_options(interface)
        self.cli_commit()
        before = daemon(interface)
        self.assertTrue(before)

        def shown():
            script = 'sudo /usr/libexec/vyos/op_mode/leon.py'
            return json.loads(
                cmd(f'{script} show_identity --raw --interface {interface}')
            )

        # In the directory that VyOS copies to a new image.
        self.assertEqual(shown()['file'], f'/config/leon/{interface}.identity')
        self.assertFalse(shown()['restricted'])
        identity = shown()['identity']
        other = '1' * 64
        trusted = path + ['authentication', 'trusted-identity']
        for bad in ('seoul', other + '1', 'A' * 64):
            with self.assertRaises(ConfigSessionError):
                self.cli_set(trusted + [bad])
        self.cli_set(trusted + [identity])
        self.cli_set(trusted + [other])
        self.cli_commit()
        self.assertEqual(daemon(interface), before)
        found = document(interface)['authentication']['trusted-identity']
        self.assertEqual(sorted(found), sorted([identity, other]))
        self.assertTrue(shown()['restricted'])
        self.assertEqual(
            {i['identity']: i['listed'] for i in shown()['identities']},
            {identity: True, other: True},
        )
        self.cli_delete(path + ['authentication', 'pre-shared-secret'])
        self.assert_refused('Without a secret a list of identities keeps nobody out')
        self.set_options(interface)
        self.cli_delete(trusted)
        self.cli_commit()
        self.assertFalse(shown()['restricted'])

        # After deletion and creation, the node is the same.
        self.cli_delete(path)
        self.cli_commit()
        self.set_options(interface)
        self.cli_commit()
        self.assertTrue(daemon(interface))
        self.assertEqual(shown()['identity'], identity)

    def test_leon_defaults(self):
        self.set_options('leon0')
        self.cli_commit()
        found = document('leon0')
        self.assertEqual(found['vni'], 1)
        self.assertEqual(found['path']['threshold'], 10)
        self.assertEqual(found['measurement']['interval'], 1000)
        self.assertNotIn('mtu', found)
        self.assertFalse({'acceleration', 'port-mapping'} & set(found))

    def test_leon_ipsec(self):
        interface = 'leon0'
        path = self._base_path + [interface, 'ipsec']
        self.foreign_paths.append(['vpn', 'ipsec'])
        self.set_options(interface)
        for kind in ('ike-group', 'esp-group'):
            proposal = ['vpn', 'ipsec', kind, 'LEON', 'proposal', '1']
            self.cli_set(proposal + ['encryption', 'aes256gcm128'])
            self.cli_set(proposal + ['hash', 'sha384'])
            self.cli_set(path + [kind, 'LEON'])
        self.cli_set(path + ['authentication', 'pre-shared-secret', 'a-secret-of-ike'])
        self.cli_commit()
        self.assertNotIn('port-mapping', document(interface))
        # leond does not start without the firewall.
        self.assertTrue(daemon(interface))
        # Only root reads the secret.
        mode = cmd(f'sudo stat -c %a /run/leon-ipsec/{interface}.json')
        self.assertEqual(mode, '600')
        self.cli_delete(path)
        self.cli_commit()
        self.assertEqual(rc_cmd(f'sudo stat /run/leon-ipsec/{interface}.json')[0], 1)

    def test_leon_live_change_and_restart(self):
        interface = 'leon0'
        path = self._base_path + [interface]
        self.set_options(interface)
        self.cli_commit()
        before = daemon(interface)
        self.assertTrue(before)
        index = read_file(f'/sys/class/net/{interface}/ifindex')

        self.cli_set(path + ['path', 'threshold', '30'])
        self.cli_set(path + ['peer', 'late', 'address', '198.51.100.2'])
        self.cli_commit()
        self.assertEqual(daemon(interface), before)
        self.assertEqual(document(interface)['path']['threshold'], 30)

        # The VNI cannot be changed in a running daemon. The device and its neighbors stay.
        neighbor = f'192.0.2.99 dev {interface}'
        cmd(f'sudo ip neigh replace {neighbor} lladdr 02:00:00:00:00:99 nud stale')
        self.cli_set(path + ['vni', '7'])
        self.cli_commit()
        self.assertIn('02:00:00:00:00:99', cmd(f'ip neigh show {neighbor}'))
        self.assertNotEqual(daemon(interface), before)
        self.assertEqual(read_file(f'/sys/class/net/{interface}/ifindex'), index)

    def test_leon_refused(self):
        path = self._base_path + ['leon0']
        self.cli_set(path + ['authentication', 'pre-shared-secret', 'smoketest'])
        self.assert_refused('set "source-address", "source-interface" or "node-id"')
        self.cli_set(path + ['node-id', '192.0.2.10'])

        self.cli_set(path + ['peer', 'other'])
        self.assert_refused('Peer "other" has no address')
        self.cli_set(path + ['peer', 'other', 'address', '198.51.100.1'])

        self.cli_set(path + ['measurement', 'fast-interval', '5000'])
        self.assert_refused('set it to 1000 or less')
        self.cli_delete(path + ['measurement'])

        # The same port twice
        self.set_options('leon1')
        self.cli_set(self._base_path + ['leon1', 'port', '5366'])
        self.assert_refused('set "port" to another')
        self.cli_set(self._base_path + ['leon1', 'port', '15367'])
        self.cli_commit()

        # An overlay over an overlay
        self.cli_set(self._base_path + ['leon1', 'source-interface', 'leon0'])
        self.assert_refused('The overlay cannot run over leon0')
        self.cli_delete(self._base_path + ['leon1', 'source-interface'])

    def test_leon_that_others_name_is_not_deleted(self):
        self.set_options('leon0')
        self.cli_set(['protocols', 'ospf', 'interface', 'leon0', 'area', '0'])
        self.cli_commit()
        self.cli_delete(self._base_path + ['leon0'])
        self.assert_refused('delete protocols ospf interface leon0')
        self.cli_delete(['protocols', 'ospf'])
        self.cli_commit()
        self.assertFalse(interface_exists('leon0'))

    def test_leon_in_a_bridge(self):
        """The creating commit also adds the interface to a bridge, as for built-in types."""
        # VyOS sets the VLAN filter of every bridge on or off.
        if not kernel_has('bridge', '', 'bridge/vlan_filtering'):
            self.skipTest('bridges of this kernel have no VLAN filtering')
        interface = 'leon0'
        bridge = ['interfaces', 'bridge', 'br4711']
        self.set_options(interface)
        self.cli_set(bridge + ['member', 'interface', interface])
        self.foreign_paths.append(bridge)
        self.cli_commit()
        self.assertEqual(get_interface_config(interface)['master'], bridge[-1])

        # The device stays in the bridge after a restart of the daemon and after a change of the
        # device.
        before = daemon(interface)
        self.cli_set(self._base_path + [interface, 'vni', '7'])
        self.cli_set(self._base_path + [interface, 'mtu', '1400'])
        self.cli_commit()
        self.assertNotEqual(daemon(interface), before)
        self.assertEqual(get_interface_config(interface)['master'], bridge[-1])

        self.cli_delete(self._base_path + [interface])
        with self.assertRaises(ConfigSessionError):
            self.cli_commit()
        self.set_options(interface)
        self.cli_delete(bridge)
        self.cli_commit()
        self.assertNotIn('master', get_interface_config(interface))

    def test_leon_has_routes(self):
        """The creating commit adds an address, a static route, OSPF."""
        interface = 'leon0'
        self.set_options(interface)
        self.cli_set(self._base_path + [interface, 'address', '203.0.113.1/24'])
        route = ['protocols', 'static', 'route', '198.51.100.0/24']
        self.cli_set(route + ['interface', interface])
        ospf = ['protocols', 'ospf']
        self.cli_set(ospf + ['interface', interface, 'area', '0'])
        self.foreign_paths += [route, ospf]
        self.cli_commit()
        self.assertIn(
            f'interface {interface}', self.getFRRconfig(f'interface {interface}')
        )
        self.assertIn(
            f'ip route 198.51.100.0/24 {interface}',
            self.getFRRconfig(),
        )

    def test_leon_two_interfaces_have_two_addresses(self):
        for interface in ('leon0', 'leon1'):
            self.set_options(interface)
        self.cli_commit()
        for interface in ('leon0', 'leon1'):
            self.assertTrue(daemon(interface))
        macs = {
            get_interface_config(interface)['address'] for interface in ('leon0', 'leon1')
        }
        self.assertEqual(len(macs), 2)

    def test_leon_addresses(self):
        """Without a configured number, the source address is the number of the node."""
        interface = 'leon0'
        path = self._base_path + [interface]
        loopback = ['interfaces', 'loopback', 'lo', 'address', '192.0.2.12/32']
        self.cli_set(loopback)
        self.foreign_paths.append(loopback)
        self.cli_set(path + ['authentication', 'pre-shared-secret', 'smoketest'])
        self.cli_set(path + ['source-address', '192.0.2.12'])
        self.cli_set(path + ['overlay-address', '10.99.0.9'])
        self.cli_commit()
        self.assertEqual(document(interface)['source-address'], ['192.0.2.12'])
        self.assertEqual(document(interface)['overlay-address'], ['10.99.0.9'])
        self.assertTrue(daemon(interface))
        script = 'sudo /usr/libexec/vyos/op_mode/leon.py'
        answer = json.loads(cmd(f'{script} show_nodes --raw --interface {interface}'))
        self.assertEqual([n['node_id'] for n in answer['nodes']], ['192.0.2.12'])

    def test_leon_peer_that_does_not_answer_is_shown(self):
        interface = 'leon0'
        path = self._base_path + [interface]
        self.set_options(interface)
        self.cli_set(path + ['peer', 'nobody', 'address', '127.0.0.9'])
        self.cli_set(path + ['peer', 'resting', 'address', '198.51.100.2'])
        self.cli_set(path + ['peer', 'resting', 'disable'])
        self.cli_commit()
        before = daemon(interface)
        self.assertTrue(before)

        def shown():
            script = 'sudo /usr/libexec/vyos/op_mode/leon.py'
            answer = json.loads(cmd(f'{script} show_peers --raw --interface {interface}'))
            return {p['name']: p['state'] for p in answer['peers']}

        self.assertEqual(shown(), {'nobody': 'trying', 'resting': 'disabled'})
        # The same daemon connects to the enabled peer.
        self.cli_delete(path + ['peer', 'resting', 'disable'])
        self.cli_commit()
        self.assertEqual(daemon(interface), before)
        self.assertEqual(shown()['resting'], 'trying')

    def test_leon_metrics(self):
        interface = 'leon0'
        unit = f'leon-metrics@{interface}.service'
        path = self._base_path + [interface, 'metrics']
        self.set_options(interface)
        self.cli_set(path)
        self.assert_refused('Metrics have no address to be fetched at')
        self.cli_set(path + ['listen-address', '127.0.0.1'])
        self.cli_set(path + ['port', '15367'])
        self.cli_commit()

        self.assertTrue(daemon(interface))
        found = cmd(
            'curl --silent --fail --retry 20 --retry-delay 1 --retry-connrefused '
            'http://127.0.0.1:15367/metrics'
        )
        self.assertIn('leon_', found)
        self.cli_set(self._base_path + [interface, 'disable'])
        self.cli_commit()
        self.assertEqual(rc_cmd(f'systemctl is-active {unit}')[0], 3)
        self.cli_delete(self._base_path + [interface, 'disable'])
        self.cli_commit()
        self.assertEqual(rc_cmd(f'systemctl is-active {unit}')[0], 0)
        self.cli_delete(path)
        self.cli_commit()
        self.assertEqual(rc_cmd(f'systemctl is-active {unit}')[0], 3)

    def test_leon_disable(self):
        interface = 'leon0'
        self.set_options(interface)
        self.cli_commit()
        self.assertTrue(daemon(interface))
        self.cli_set(self._base_path + [interface, 'disable'])
        self.cli_commit()
        self.assertFalse(process_named_running('leond', f'/run/leon/{interface}.json'))
        self.assertTrue(interface_exists(interface))

    def test_leon_op_mode(self):
        interface = 'leon0'
        self.set_options(interface)
        self.cli_commit()
        self.assertTrue(daemon(interface))
        script = 'sudo /usr/libexec/vyos/op_mode/leon.py'
        answer = json.loads(cmd(f'{script} show_nodes --raw --interface {interface}'))
        self.assertEqual([n['node_id'] for n in answer['nodes']], ['192.0.2.10'])
        self.assertIn('192.0.2.10', cmd(f'{script} show_nodes --interface {interface}'))
        self.assertIn(
            interface, cmd('/usr/libexec/vyos/op_mode/interfaces.py show_summary')
        )


if __name__ == '__main__':
    unittest.main(verbosity=2)
