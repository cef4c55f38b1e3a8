# SPDX-License-Identifier: GPL-2.0-or-later
"""From the dictionary of VyOS to the file for leond: the model, the template, the golden files.

After a change: LEON_WRITE_GOLDEN=1 python3 -m pytest tests/python/test_templates.py, and read the
difference before the commit.
"""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest
from vyos.template import render_to_string
from vyos_leon import model

TOP = Path(__file__).resolve().parents[2]
GOLDEN = Path(__file__).parent / 'golden'
LEOND = (
    Path(os.environ.get('LEON_BUILD', TOP / 'build')) / 'vyos-1x-leon/dataplane/leond'
)
sys.path.insert(0, str(TOP / 'vyos-1x-leon/tools'))

from leon_cli import source  # noqa: E402

# As from get_interface_dict() of VyOS, with foreign keys too.
CONFIGS = {
    'minimal': {'ifname': 'leon0', 'node_id': '10.0.0.1', 'authentication': {'disable': {}}},
    'site': {
        'ifname': 'leon0',
        'address': ['10.99.0.1/24'],
        'description': 'all sites',
        'source_address': ['192.0.2.1', '2001:db8::1'],
        'port': '5366',
        'vni': '1',
        'node_name': 'fujisawa',
        'peer': {
            'seoul': {'address': '203.0.113.1', 'port': '5366'},
            'inagi': {'address': 'inagi.example.com', 'port': '5400'},
        },
        'measurement': {
            'interval': '1000',
            'fast_interval': '100',
            'dead_multiplier': '3',
        },
        'path': {
            'threshold': '10',
            'threshold_minimum': '2000',
            'hold_time': '10',
            'maximum_relays': '3',
            'relay_cost': '500',
        },
        'fdb': {'aging': '300', 'maximum': '16384'},
        'storm_control': {
            'broadcast': '1000',
            'multicast': '5000',
            'unknown_unicast': '1000',
        },
        'loop_guard': {'interval': '1000', 'preference': '128'},
        'member': {'maximum': '1024', 'forget_time': '3600'},
        'authentication': {'pre_shared_secret': 'correct-horse-battery'},
        'encryption': {'cipher': 'auto'},
        'system': {'log_level': 'info'},
        'is_bridge_member': {'br0': {}},
        'other_interfaces': {},
    },
    'everything': {
        'ifname': 'leon12',
        'mac': '02:00:00:00:00:01',
        'mtu': '1400',
        'source_interface': 'eth0',
        'port': '5367',
        'vni': '16777215',
        'node_id': '10.0.0.1',
        'node_name': 'a',
        'transit': {'disable': {}},
        'fwmark': '4294967295',
        'dscp': {'copy': {}, 'control': 'cs6'},
        'ecn': {'disable': {}},
        'parameters': {
            'ip': {'df': 'unset', 'tos': '184', 'ttl': '255'},
            'ipv6': {'hoplimit': '255', 'tclass': '184'},
        },
        'peer': {
            'spare': {
                'address': '203.0.113.9',
                'port': '5366',
                'disable': {},
                'description': 'Büro "2", \\ not yet',
            },
        },
        'measurement': {
            'interval': '60000',
            'fast_interval': '20',
            'dead_multiplier': '20',
        },
        'path': {
            'threshold': '0',
            'threshold_minimum': '0',
            'hold_time': '0',
            'maximum_relays': '0',
            'relay_cost': '0',
        },
        'fdb': {'aging': '10', 'maximum': '16', 'maximum_per_vlan': '8'},
        'vlan': ['10', '20-29'],
        'acceleration': {
            'mode': 'always',
            'threshold': '2000',
            'minimum_segments': '100000',
            'maximum_connections': '1',
            'compression': {'disable': {}, 'cache_size': '128'},
            'include': {'prefix': ['10.0.0.0/8', '2001:db8::/32'], 'port': ['2049']},
            'exclude': {'prefix': '10.1.0.0/16', 'port': ['443', '8000-8080']},
        },
        'storm_control': {
            'per_vlan': '50',
            'broadcast': '0',
            'multicast': '0',
            'unknown_unicast': '4294967295',
        },
        'suppression': {'arp': {}, 'nd': {}},
        'multicast': {'snooping': {}, 'querier': {}},
        'mss_clamp': {'disable': {}},
        'shaper': {
            'automatic': {},
            'egress': '47500kbit',
            'per_peer': '10mbit',
            'ingress': '95mbit',
            'peer': {'192.0.2.7': {'rate': '0'}, '192.0.2.6': {'rate': '1500000bit'}},
        },
        'loop_guard': {'disable': {}, 'interval': '100', 'preference': '200'},
        'authentication': {
            'pre_shared_secret': 'x' * 128,
            'accept_secret': ['y' * 8, 'z' * 128],
            'trusted_identity': ['1' * 64, '2' * 64],
        },
        'encryption': {
            'rekey_time': '1',
            'cipher': 'chacha20poly1305',
            'disable': {},
        },
        'member': {'maximum': '2', 'forget_time': '1'},
        'address': ['10.99.0.9/32'],
        'overlay_address': ['10.99.0.1', 'fd00:99::1'],
        'export': {
            'next_hop': {
                'threshold': '0',
                'threshold_minimum': '0',
                'interval': '60000',
            },
            'prefix': ['10.1.0.0/16', 'fd00:1::/48'],
            'unconditional': {},
        },
        'import': {
            'address': ['10.99.0.0/24'],
            'prefix': {
                '10.0.0.0/8': {'ge': '16', 'le': '24', 'node': ['0123456789abcdef' * 4, '10.0.0.2']},
                'fd00::/8': {'le': '64'},
                '10.5.0.0/16': {},
            },
        },
        'policy': {
            'critical': {
                'dscp': ['ef', '40'],
                'vlan': ['1', '4094'],
                'mac': ['02:00:00:00:00:07'],
                'ethertype': ['0x88b8', '0x88BA'],
                'protocol': {'udp': {'port': ['5060', '65535']}, 'vrrp': {}, '89': {}},
                'duplicate': {
                    'budget': '100000000',
                    'maximum_extra_delay': '0',
                    'loss': '100',
                    'jitter': '10000',
                },
            },
        },
        'system': {'workers': '8', 'busy_poll': '50', 'log_level': 'debug'},
    },
    # The presence of an empty object has a meaning.
    'critical': {
        'ifname': 'leon0',
        'node_id': '10.0.0.1',
        'authentication': {'pre_shared_secret': 'correct-horse-battery'},
        'policy': {'critical': {'dscp': 'ef', 'duplicate': {}}},
    },
    'parity': {
        'ifname': 'leon0',
        'node_id': '10.0.0.1',
        'authentication': {'pre_shared_secret': 'correct-horse-battery'},
        'policy': {'critical': {'dscp': 'ef', 'parity': {
            'budget': '5mbit', 'maximum_extra_delay': '10', 'loss': '2', 'jitter': '20',
        }}},
    },
    # Not together with acceleration.
    'segments': {
        'ifname': 'leon0',
        'node_id': '10.0.0.1',
        'authentication': {'pre_shared_secret': 'correct-horse-battery'},
        'segment': {
            'storage': {'vlan': '10', 'id': '16777215'},
            'a.b-c_d': {'vlan': '0', 'id': '1'},
        },
    },
    # Not together with source-address.
    'lines': {
        'ifname': 'leon0',
        'node_id': '10.0.0.1',
        'authentication': {'pre_shared_secret': 'correct-horse-battery'},
        'line': {'lte': {'interface': 'wwan0'}, 'a.b-c_d': {'address': '2001:db8::1'}},
    },
    # Addresses of the interface are announced if an export is configured.
    'exporting': {
        'ifname': 'leon0',
        'address': ['10.99.0.1/32', 'fe80::1/64', 'dhcp'],
        'node_id': '10.0.0.1',
        'authentication': {'pre_shared_secret': 'correct-horse-battery'},
        'export': {'next_hop': {}},
    },
    # No text of an operator may end a string, a comment or the template.
    'hostile': {
        'ifname': 'leon0',
        'source_address': '192.0.2.1',
        'node_name': '"},{"',
        'peer': {'a.b-c_d': {'address': '203.0.113.1', 'port': '1'}},
        'authentication': {'pre_shared_secret': '"\\{{ 1 }}{% x %}<&>\'/*'},
    },
}


def render(config):
    return render_to_string('leon/leond.json.j2', model.build(config))


@pytest.mark.parametrize('name', CONFIGS)
def test_golden(name):
    path = GOLDEN / f'leond-{name}.json'
    text = render(CONFIGS[name])
    if os.environ.get('LEON_WRITE_GOLDEN'):
        path.write_text(text)
    assert text == path.read_text()


@pytest.mark.parametrize('name', CONFIGS)
def test_is_json_with_the_values_that_were_set(name):
    config = CONFIGS[name]
    document = json.loads(render(config))
    assert document['version'] == 1 and document['interface'] == config['ifname']
    secret = config.get('authentication', {}).get('pre_shared_secret')
    assert document.get('authentication', {}).get('pre-shared-secret') == secret
    assert document.get('node-name') == config.get('node_name')
    assert document['peer'].keys() == config.get('peer', {}).keys()


@pytest.mark.skipif(not LEOND.exists(), reason='leond is not built')
@pytest.mark.parametrize('name', CONFIGS)
def test_leond_takes_it(name):
    done = subprocess.run(
        [LEOND, '--check', '--config', GOLDEN / f'leond-{name}.json'],
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr


def model_words(nodes=None, above=()):
    """'path threshold', 'peer NAME address', ... of the model."""
    for word, below in (model.NODES if nodes is None else nodes).items():
        here = (*above, 'NAME' if word.isupper() else word)
        if callable(below) or not below:
            yield ' '.join(here)
        else:
            yield from model_words(below, here)


# Keys that VyOS handles. leond also receives mac and mtu. IPsec has a separate document
# (test_ipsec_cli.py), and so do metrics (test_conf_mode.py).
OF_VYOS = {'address', 'description', 'disable', 'redirect', 'vrf', 'ipsec', 'metrics'}


def test_model_has_the_nodes_of_the_command_line():
    folder = TOP / 'vyos-1x-leon/interface-definitions'
    root = source.read(folder / 'interfaces_leon.xml.in').root
    found = set()

    def walk(children, path):
        for node in children:
            if not isinstance(node.tag, str):
                continue
            here = [*path, node.get('name')]
            if node.tag == 'leafNode':
                found.add(' '.join(here))
            else:
                here += ['NAME'] if node.tag == 'tagNode' else []
                walk(node.find('children'), here)

    leon = root.find('.//tagNode[@name="leon"]')
    walk(leon.find('children'), [])
    ours = {w for w in found if w.split()[0] not in OF_VYOS | {'ip', 'ipv6', 'mirror'}}
    assert ours == set(model_words())
