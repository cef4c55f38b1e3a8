#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""Smoketest in the form of VyOS: run by the runner of VyOS, or as a program, in a running system.

Every option of `protocols lisp` reaches Open Overlay Router. A restart follows only after a change
of its configuration. Wrong configurations are refused, and a deletion leaves no state.
"""

import json
import subprocess
import unittest

from base_vyostest_shim import VyOSUnitTestSHIM

from vyos.configsession import ConfigSessionError
from vyos.utils.process import process_named_running

base_path = ['protocols', 'lisp']
dummy = ['interfaces', 'dummy', 'dum7711']
leon = ['interfaces', 'leon', 'leon77']
LOCATOR = '192.0.2.77'


def cmd(command):
    """VyOS of August 2026 has no such function for a string."""
    return subprocess.check_output(command.split(), text=True).strip()


def oor():
    """Process id; waits for the start."""
    return process_named_running('oor', timeout=20)


def told():
    return cmd('sudo cat /run/leon-lisp/oor.conf')


def rules():
    return cmd('ip rule') + cmd('ip -6 rule')


class TestProtocolsLISP(VyOSUnitTestSHIM.TestCase):
    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        cls.cli_delete(cls, base_path)
        cls.cli_set(cls, dummy + ['address', f'{LOCATOR}/32'])
        cls.cli_commit(cls)
        cls.rules = rules()

    @classmethod
    def tearDownClass(cls):
        cls.cli_delete(cls, dummy)
        cls.cli_commit(cls)
        super().tearDownClass()

    def tearDown(self):
        self.cli_delete(base_path)
        self.cli_delete(leon)
        self.cli_commit()
        self.assertFalse(process_named_running('oor'))
        self.assertEqual(rules(), self.rules)

    def set_site(self, name='tokyo', prefix='10.77.0.0/16'):
        site = base_path + ['site', name]
        self.cli_set(site + ['prefix', prefix])
        self.cli_set(site + ['authentication-key', 'sesame'])
        self.cli_set(base_path + ['locator', LOCATOR])
        self.cli_set(base_path + ['map-server', '198.51.100.1'])
        return site

    def test_lisp_every_option(self):
        site = self.set_site()
        self.cli_set(base_path + ['encapsulation', 'vxlan-gpe'])
        self.cli_set(base_path + ['instance-id', '7'])
        self.cli_set(base_path + ['role', 'xtr'])
        self.cli_set(base_path + ['locator', LOCATOR, 'priority', '3'])
        self.cli_set(base_path + ['locator', LOCATOR, 'weight', '50'])
        self.cli_set(base_path + ['map-server', '198.51.100.1', 'proxy-reply'])
        self.cli_set(base_path + ['map-resolver', '198.51.100.2'])
        self.cli_set(base_path + ['proxy-etr', '198.51.100.3', 'priority', '2'])
        self.cli_set(base_path + ['proxy-etr', '198.51.100.3', 'weight', '9'])
        self.cli_commit()
        self.assertTrue(oor())
        config = told()
        for line in (
            'encapsulation = "vxlan-gpe"',
            'map-resolver = { "198.51.100.2" }',
            'proxy-reply = on',
            'key = "sesame"',
            'eid-prefix = "10.77.0.0/16"',
            'iid = 7',
            f'address = "{LOCATOR}"',
            'priority = 3',
            'weight = 50',
            'weight = 9',
        ):
            self.assertIn(line, config)
        self.assertIn(f'from {LOCATOR} lookup main suppress_prefixlength 0', rules())
        self.cli_set(site + ['accept-more-specifics'])
        with self.assertRaises(ConfigSessionError):
            self.cli_commit()
        self.cli_delete(site + ['accept-more-specifics'])

    def test_lisp_restart_only_for_a_change(self):
        self.set_site()
        self.cli_commit()
        first = oor()
        # A change of the configuration without an effect on Open Overlay Router.
        self.cli_set(base_path + ['map-resolver', '198.51.100.1'])
        self.cli_commit()
        self.assertEqual(oor(), first)
        self.cli_set(base_path + ['locator', LOCATOR, 'weight', '50'])
        self.cli_commit()
        self.assertNotEqual(oor(), first)

    def test_lisp_map_server(self):
        site = self.set_site()
        self.cli_set(base_path + ['role', 'map-server'])
        with self.assertRaises(ConfigSessionError):
            self.cli_commit()
        self.cli_delete(base_path + ['map-server'])
        self.cli_set(site + ['accept-more-specifics'])
        self.cli_commit()
        self.assertTrue(oor())
        self.assertIn('accept-more-specifics = true', told())

    def test_lisp_prefixes_of_leon(self):
        self.cli_set(leon + ['node-id', '10.77.0.1'])
        self.cli_set(leon + ['address', '10.99.77.1/32'])
        self.cli_set(leon + ['export', 'prefix', '10.78.0.0/16'])
        self.cli_set(leon + ['export', 'unconditional'])
        site = self.set_site()
        self.cli_delete(site + ['prefix'])
        other = site + ['redistribute', 'leon', 'leon77', 'node', '10.77.0.2']
        self.cli_set(other)
        with self.assertRaises(ConfigSessionError):
            self.cli_commit()
        self.cli_set(other + ['locator', '192.0.2.78'])
        self.cli_commit()
        self.assertTrue(oor())
        self.assertIn('eid-prefix = "10.78.0.0/16"', told())

    def test_lisp_op_mode(self):
        self.set_site()
        self.cli_commit()
        self.assertTrue(oor())
        script = 'sudo /usr/libexec/vyos/op_mode/leon_lisp.py'
        state = json.loads(cmd(f'{script} show_state --raw'))
        self.assertEqual(state['state'], 'running')
        self.assertIn('10.77.0.0/16', cmd(f'{script} show_mappings'))
        for function in ('show_map_cache', 'show_registrations', 'show_state'):
            self.assertTrue(cmd(f'{script} {function}'))


if __name__ == '__main__':
    unittest.main(verbosity=2)
