# SPDX-License-Identifier: GPL-2.0-or-later
"""vyos_leon.references: parts of the configuration that fail at a boot without the interface."""

import pytest
from vyos_leon import references


@pytest.mark.parametrize(
    'inner, path',
    [
        ({'mirror': {'ingress': 'leon0'}}, 'mirror ingress leon0'),
        ({'redirect': 'leon0'}, 'redirect leon0'),
        ({'source-interface': 'leon0'}, 'source-interface leon0'),
        ({'vif': {'10': {'mirror': {'egress': 'leon0'}}}}, 'vif 10 mirror egress leon0'),
        (
            {'vif-s': {'20': {'vif-c': {'30': {'redirect': 'leon0'}}}}},
            'vif-s 20 vif-c 30 redirect leon0',
        ),
    ],
)
def test_interfaces_that_need_the_interface(inner, path):
    tree = {'interfaces': {'ethernet': {'eth0': inner}}}
    assert references.of(tree, 'leon0') == [f'interfaces ethernet eth0 {path}']
    assert not references.of(tree, 'leon1')


def test_other_parts_of_interfaces():
    tree = {'interfaces': {'ethernet': {'eth0': {'description': 'leon0', 'vif': {'10': {}}}}}}
    assert not references.of(tree, 'leon0')


@pytest.mark.parametrize(
    'tree, path',
    [
        (
            {
                'service': {
                    'dhcp-server': {
                        'listen-interface': ['eth1', 'leon0'],
                        'shared-network-name': {'leon0': {}},
                    }
                }
            },
            'service dhcp-server listen-interface leon0',
        ),
        (
            {'system': {'option': {'http-client': {'source-interface': 'leon0'}}}},
            'system option http-client source-interface leon0',
        ),
    ],
)
def test_services_that_need_the_interface(tree, path):
    assert references.of(tree, 'leon0') == [path]
    assert not references.of(tree, 'leon1')
