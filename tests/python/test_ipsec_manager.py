# SPDX-License-Identifier: GPL-2.0-or-later
"""The IPsec manager with dictionaries as charon and leond: differences between desired and present
state, and the loss of each part."""

import logging

import pytest

from leon_ipsec import connections as want
from leon_ipsec import settings
from leon_ipsec.control import ControlError
from leon_ipsec.guard import GuardError
from leon_ipsec.manager import FORGET_AFTER_S, Manager
from leon_ipsec.vici import Refused, ViciError

SECRET = 'not to be seen anywhere'
DAEMON = {'version': 1, 'interface': 'leon0', 'source-address': ['192.0.2.1']}
IPSEC = {
    'version': 1,
    'authentication': {'mode': 'pre-shared-secret', 'pre-shared-secret': SECRET},
}


def endpoint(address, node_id=None, port=5366):
    return {
        'address': address,
        'port': port,
        'node_id': node_id,
        'name': None,
        'protected': 'no',
    }


def sa(address, state='ESTABLISHED', child='INSTALLED', unique_id='1'):
    return {
        'uniqueid': unique_id,
        'remote-host': address,
        'state': state,
        'child-sas': {'x-1': {'state': child}} if child else {},
    }


class FakeCharon:
    """The state of a charon. The state survives connections but not a crash."""

    def __init__(self):
        self.conns, self.shared, self.keys = {}, {}, {}
        self.sas = []  # [(name, sa)]
        self.calls = []
        self.broken = self.refuses = None
        self.told = []

    def drain(self):
        told, self.told = self.told, []
        return told

    def close(self):
        pass

    def call(self, command, message=None):
        self.calls.append((command, message))
        if self.broken:
            raise ViciError(self.broken)
        if self.refuses == command:
            raise Refused(f'{command}: no')
        answer = getattr(self, command.replace('-', '_'))(message)
        return answer if answer is not None else {'success': 'yes'}

    def stream(self, command, event, message=None):
        if self.broken:
            raise ViciError(self.broken)
        return [{name: sa} for name, sa in self.sas]

    def get_conns(self, _):
        return {'conns': list(self.conns)}

    def get_shared(self, _):
        return {'keys': list(self.shared)}

    def load_shared(self, message):
        self.shared[message['id']] = message

    def unload_shared(self, message):
        del self.shared[message['id']]

    def load_key(self, message):
        name = message['data'].hex()
        self.keys[name] = message
        return {'success': 'yes', 'id': name}

    def get_keys(self, _):
        return {'keys': list(self.keys)}

    def load_conn(self, message):
        self.conns.update(message)

    def unload_conn(self, message):
        del self.conns[message['name']]

    def terminate(self, message):
        self.sas = [s for s in self.sas if s[1]['uniqueid'] != message['ike-id']]

    def count(self, command):
        return sum(c == command for c, _ in self.calls)


class World:
    """The environment of a manager, with a clock under control of the test."""

    def __init__(self, ipsec=None, daemon=None):
        self.now = 100.0
        self.charon = FakeCharon()
        self.endpoints = [endpoint('192.0.2.2')]
        self.uses = {'port': 5366, 'source_addresses': ['192.0.2.1']}
        self.leond_down = None
        self.reports = []
        self.stale_removed = 0
        self.guards = []
        self.charon_started = 0
        self.guard_fails = False
        self.guard_there = True
        self.manager = Manager(
            settings.parse(daemon or DAEMON, ipsec or IPSEC), self, lambda: self.now
        )

    def ask_daemon(self, command, arguments):
        if self.leond_down:
            raise ControlError(self.leond_down)
        if command == 'report ipsec':
            self.reports.append(arguments['protected'])
            self.problems = arguments['problems']
            return {'count': 1}
        assert command == 'show ipsec'
        return {'node_id': '10.0.0.5', 'endpoints': self.endpoints, **self.uses}

    def connect(self):
        if self.charon is None or self.charon.broken:
            raise ViciError('charon does not listen')
        return self.charon

    def listen(self):
        return self.charon

    def remove_stale(self, port, sources):
        assert (port, sources) == (5366, ('192.0.2.1',))
        self.stale_removed += 1
        return 2

    def install_guard(self, changed, uses):
        if self.guard_fails:
            raise GuardError('nft refuses the guard')
        self.guards.append((changed.port, uses.port))
        self.guard_there = True

    def has_guard(self, interface):
        assert interface == 'leon0'
        if self.guard_there is None:
            raise GuardError('nft cannot be run')
        return self.guard_there

    def start_charon(self):
        self.charon_started += 1

    def restart_manager(self, changed=None):
        self.manager = Manager(changed or self.manager.settings, self, lambda: self.now)
        return self

    def tick(self, seconds=1.0):
        self.now += seconds
        self.manager.tick()
        return self


def names(world):
    return set(world.charon.conns)


def test_a_configured_peer_and_whoever_begins():
    world = World().tick()
    assert names(world) == {'leon0-any', 'leon0-192.0.2.2'}
    starting = world.charon.conns['leon0-192.0.2.2']
    child = starting['children']['leon0-192.0.2.2']
    assert child['mode'] == 'transport'
    assert child['start_action'] == 'trap'
    assert child['local_ts'] == ['dynamic[udp/5366]']
    assert child['remote_ts'] == ['dynamic[udp/5366]']
    assert starting['local'] == {'auth': 'psk', 'id': '10.0.0.5@vni1.leon'}
    assert starting['remote'] == {'auth': 'psk', 'id': '*@vni1.leon'}
    assert starting['local_addrs'] == ['192.0.2.1']
    answering = world.charon.conns['leon0-any']
    assert answering['remote_addrs'] == ['%any']
    assert answering['children']['leon0-any']['start_action'] == 'none'
    # Only for identities of the segment: no other connection of the host may use the secret.
    assert world.charon.shared['leon0-ike']['owners'] == ['*@vni1.leon']


def about(world):
    return {p.get('address'): p['text'] for p in world.problems}


def log(name, text):
    return {'group': 'IKE', 'level': '1', 'ikesa-name': name, 'msg': text}


def test_why_an_address_is_not_protected():
    world = World()
    world.endpoints += [endpoint('192.0.2.9', '10.0.0.9'), endpoint('192.0.2.3', '10.0.0.3')]
    world.tick()
    assert 'nothing was sent to it' in about(world)['192.0.2.9']
    assert 'the other node is to begin' in about(world)['192.0.2.3']
    world.charon.sas = [('leon0-192.0.2.9', sa('192.0.2.9', 'CONNECTING', None))]
    world.tick()
    assert about(world)['192.0.2.9'] == 'it does not answer to IKE (UDP ports 500 and 4500)'
    # An error of charon is better than a derived reason, and stays during retries.
    world.charon.told = [
        log('leon0-192.0.2.9', 'received AUTHENTICATION_FAILED notify error'),
        log('leon0-192.0.2.9', 'initiating IKE_SA leon0-192.0.2.9[7] to 192.0.2.9'),
        log('leon0-192.0.2.2', 'authentication of x with pre-shared key successful'),
        log('', 'no IKE config found for 192.0.2.1...192.0.2.3, sending NO_PROPOSAL_CHOSEN'),
        log('other', 'received AUTHENTICATION_FAILED notify error'),
        log('leon0-any', "tried 1 shared key for 'a' - 'b', but MAC mismatched"),
        {'msg': ['x']},
        {**log('leon0-any', 'generating IKE_AUTH response 1 [ N(AUTH_FAILED) ]'), 'group': 'ENC'},
    ]
    world.tick()
    assert about(world)['192.0.2.9'] == 'received AUTHENTICATION_FAILED notify error'
    assert 'no IKE config found' in about(world)['192.0.2.3']
    assert 'notify' not in about(world)['192.0.2.2']
    assert 'MAC mismatched' in about(world)[None]
    world.charon.sas = [('leon0-192.0.2.9', sa('192.0.2.9'))]
    world.tick()
    assert '192.0.2.9' not in about(world)
    world.charon.sas = []
    world.tick()
    assert 'AUTHENTICATION_FAILED' not in about(world)['192.0.2.9']


def test_what_fails_for_all_is_reported():
    world = World()
    world.charon.refuses = 'load-conn'
    world.tick()
    assert {'text': 'charon refuses load-conn: no'} in world.problems
    world.charon.refuses = None
    world.tick()
    assert [p for p in world.problems if 'address' not in p] == []
    world.charon.broken = 'charon closed the connection'
    world.tick()
    assert 'charon closed the connection' in about(world)[None]


def test_nothing_is_done_twice():
    world = World().tick().tick().tick()
    assert world.charon.count('load-conn') == 2
    assert world.charon.count('load-shared') == 1


def test_nodes_come_and_go():
    world = World().tick()
    world.endpoints = [endpoint('192.0.2.2'), endpoint('192.0.2.9', '10.0.0.9')]
    world.tick()
    assert names(world) == {'leon0-any', 'leon0-192.0.2.2', 'leon0-192.0.2.9'}
    world.charon.sas = [('leon0-192.0.2.9', sa('192.0.2.9'))]
    world.endpoints = [endpoint('192.0.2.2')]
    # A restarted leond knows only its peers at first.
    world.tick(FORGET_AFTER_S - 1)
    assert 'leon0-192.0.2.9' in names(world)
    assert world.charon.sas
    world.tick()
    assert names(world) == {'leon0-any', 'leon0-192.0.2.2'}
    assert world.charon.sas == []


def test_the_lower_node_id_starts():
    world = World()
    world.endpoints = [endpoint('192.0.2.9', '10.0.0.9'), endpoint('192.0.2.3', '10.0.0.3')]
    world.tick()
    assert names(world) == {'leon0-any', 'leon0-192.0.2.9'}
    world.tick(want.SECOND_STARTS_AFTER_S - 1)
    assert 'leon0-192.0.2.3' not in names(world)
    world.tick(1.1)
    assert 'leon0-192.0.2.3' in names(world)


def test_a_peer_that_gets_its_node_id_keeps_its_connection():
    world = World().tick()
    world.endpoints = [endpoint('192.0.2.2', '10.0.0.2')]
    world.tick()
    assert 'leon0-192.0.2.2' in names(world)
    assert world.charon.count('unload-conn') == 0


def test_node_ids_are_numbers_not_text():
    remote = want.Remote('192.0.2.1', (5366,), '10.0.0.100')
    assert want.goes_first('10.0.0.9', remote)
    assert not want.goes_first('10.0.0.101', remote)


def test_ports_of_one_address_are_gathered():
    world = World()
    world.endpoints = [endpoint('192.0.2.2'), endpoint('192.0.2.2', port=40000)]
    world.tick()
    child = world.charon.conns['leon0-192.0.2.2']['children']['leon0-192.0.2.2']
    assert child['remote_ts'] == ['dynamic[udp/5366]', 'dynamic[udp/40000]']


def test_addresses_of_a_family_that_we_do_not_have_are_left_out():
    world = World()
    world.endpoints = [endpoint('192.0.2.2'), endpoint('2001:db8::2')]
    assert names(world.tick()) == {'leon0-any', 'leon0-192.0.2.2'}


def test_a_changed_port_is_loaded():
    world = World().tick()
    world.endpoints = [endpoint('192.0.2.2', port=7000)]
    world.tick()
    child = world.charon.conns['leon0-192.0.2.2']['children']['leon0-192.0.2.2']
    assert child['remote_ts'] == ['dynamic[udp/7000]']


def test_connections_of_others_are_left_alone():
    world = World()
    others = {'site-to-site', 'leon01-192.0.2.2', 'leon', 'leon0-b-192.0.2.2', 'leon0-b-any'}
    world.charon.conns = {name: {} for name in others}
    world.charon.sas = [('site-to-site', sa('192.0.2.77', unique_id='7')),
                        ('leon0-b-192.0.2.2', sa('192.0.2.2', unique_id='8'))]
    world.endpoints = []
    world.tick()
    assert names(world) == {*others, 'leon0-any'}
    assert len(world.charon.sas) == 2
    assert world.reports == [[]]


def test_what_somebody_unloaded_is_loaded_again():
    """`swanctl --load-all` of VyOS."""
    world = World().tick()
    world.charon.conns.clear()
    world.charon.shared.clear()
    world.tick()
    assert names(world) == {'leon0-any', 'leon0-192.0.2.2'}
    assert 'leon0-ike' in world.charon.shared


def test_a_crash_of_charon():
    world = World().tick()
    assert world.stale_removed == 1
    world.charon.broken = 'charon did not answer'
    world.tick()
    assert world.charon_started == 1
    world.tick()
    assert world.charon_started == 1, 'not again at once'
    world.tick(20)
    assert world.charon_started == 2
    world.charon = FakeCharon()
    world.tick()
    assert names(world) == {'leon0-any', 'leon0-192.0.2.2'}
    assert world.stale_removed == 2
    assert world.reports[-1] == []


def test_a_restarted_manager_keeps_the_sas_it_finds():
    world = World()
    world.charon.sas = [('leon0-192.0.2.2', sa('192.0.2.2'))]
    world.tick()
    assert world.stale_removed == 0
    assert world.charon.sas
    assert world.reports == [['192.0.2.2']]


def test_a_restarted_manager_keeps_the_traps_of_a_living_charon():
    """charon installs no trap again if it knows an equal connection."""
    world = World().tick()
    assert world.restart_manager().tick().stale_removed == 1


def test_a_restarted_manager_loads_its_secret():
    """The secret may have changed while the manager did not run."""
    world = World().tick()
    secret = {'mode': 'pre-shared-secret', 'pre-shared-secret': 'another one'}
    world.restart_manager(settings.parse(DAEMON, {**IPSEC, 'authentication': secret})).tick().tick()
    assert world.charon.shared['leon0-ike']['data'] == 'another one'
    assert world.charon.count('load-shared') == 2


@pytest.mark.parametrize(
    'state, child, protects',
    [
        ('ESTABLISHED', 'INSTALLED', True),
        ('ESTABLISHED', 'REKEYING', True),
        ('REKEYING', 'INSTALLED', True),
        ('ESTABLISHED', 'INSTALLING', False),
        ('ESTABLISHED', None, False),
        ('CONNECTING', None, False),
    ],
)
def test_what_is_reported(state, child, protects):
    world = World()
    world.charon.sas = [('leon0-any', sa('192.0.2.2', state, child))]
    world.tick()
    assert world.reports == [['192.0.2.2'] if protects else []]


def test_reports_are_repeated_before_leond_forgets_them():
    world = World()
    for _ in range(35):
        world.tick()
    assert 3 <= len(world.reports) <= 4


def test_an_exchange_that_hangs_is_begun_afresh():
    world = World()
    world.charon.sas = [('leon0-192.0.2.2', sa('192.0.2.2', 'CONNECTING', None))]
    for _ in range(9):
        world.tick()
    assert world.charon.sas
    world.tick().tick()
    assert world.charon.sas == []


def test_without_leond_everything_stays():
    world = World().tick()
    world.leond_down = 'leond does not answer'
    world.tick(60)
    assert names(world) == {'leon0-any', 'leon0-192.0.2.2'}
    world.leond_down = None
    world.tick()
    assert world.reports[-1] == []


def test_before_leond_is_there_charon_is_not_bothered():
    world = World()
    world.leond_down = 'leond does not answer'
    world.tick()
    assert world.charon.calls == []


@pytest.mark.parametrize(
    'bad', [[{}], [endpoint('not an address')], [endpoint('192.0.2.2', port='x')], None, 7]
)
def test_answers_of_leond_that_make_no_sense_change_nothing(bad):
    world = World().tick()
    before = names(world)
    world.endpoints = bad
    world.tick()
    assert names(world) == before


def test_a_refusal_is_said_once(caplog):
    world = World()
    world.charon.refuses = 'load-conn'
    with caplog.at_level(logging.INFO):
        world.tick().tick().tick()
    assert [r.message for r in caplog.records].count('charon refuses load-conn: no') == 1
    world.charon.refuses = None
    world.tick()
    assert names(world) == {'leon0-any', 'leon0-192.0.2.2'}


def test_a_new_secret_replaces_the_old_one():
    world = World().tick()
    changed = {
        **IPSEC,
        'authentication': {'mode': 'pre-shared-secret', 'pre-shared-secret': 'another one'},
    }
    world.manager.change(settings.parse(DAEMON, changed))
    world.tick()
    assert world.charon.shared['leon0-ike']['data'] == 'another one'


def test_what_is_missing_is_said_and_nothing_is_loaded(caplog):
    """A boot without the groups, which exist later."""
    world = World()
    complete = world.manager.settings
    world.manager.settings = complete._replace(missing=('There is no ike-group X.',))
    world.tick()
    world.tick()
    assert names(world) == set() and world.reports[-1:] == [[]]
    assert [r.getMessage() for r in caplog.records].count(
        'nothing is sent, as there is no IPsec: There is no ike-group X.') == 1
    world.manager.change(complete)
    world.tick()
    assert names(world) == {'leon0-any', 'leon0-192.0.2.2'}


def test_the_guard_comes_before_another_port():
    world = World().tick()
    world.manager.change(settings.parse({**DAEMON, 'port': 7000}, IPSEC))
    assert world.guards == [(7000, 5366)]
    world.tick()
    child = world.charon.conns['leon0-any']['children']['leon0-any']
    assert child['local_ts'] == ['dynamic[udp/7000]']


def test_the_guard_keeps_the_port_until_leond_restarts():
    world = World().tick()
    other = {'mode': 'pre-shared-secret', 'pre-shared-secret': 'another one'}
    changed = settings.parse({**DAEMON, 'port': 7000}, {**IPSEC, 'authentication': other})
    world.manager.change(changed._replace(esp_lifetime=1000))
    world.manager.change(changed)
    world.tick()
    assert world.guards == [(7000, 5366), (7000, 5366)]
    # An upgrade restarts the manager before leond.
    world.restart_manager().manager.start()
    assert world.guards[-1] == (7000, 5366)
    world.uses['port'] = 7000
    world.guard_fails = True
    world.tick()
    assert about(world)[None] == 'nft refuses the guard'
    world.guard_fails, world.guards = False, []
    world.tick().tick()
    assert world.guards == [(7000, 7000)] and None not in about(world)


def test_a_removed_guard_is_installed_again(caplog):
    """`nft flush ruleset` of another program."""
    world = World().tick()
    assert world.guards == []
    world.guard_there, world.guard_fails = False, True
    world.tick()
    assert about(world)[None] == 'nft refuses the guard'
    world.guard_fails = False
    world.tick().tick()
    assert world.guards == [(5366, 5366)] and None not in about(world)
    assert caplog.text.count('another program removed the guard') == 1
    world.guard_there = None
    assert about(world.tick())[None] == 'nft cannot be run'
    world.guard_there = True
    assert None not in about(world.tick())


def test_the_guard_keeps_the_port_of_an_earlier_leond():
    """The earlier leond does not report its port. An upgrade may keep the earlier leond."""
    world = World()
    world.uses = {}
    world.tick().manager.change(settings.parse({**DAEMON, 'port': 7000}, IPSEC))
    world.tick()
    assert world.guards == [(7000, 5366)]


def test_a_manager_without_leond_installs_the_guard():
    world = World()
    world.leond_down = 'leond does not answer'
    world.manager.start()
    assert world.guards == [(5366, 5366)]


def test_without_its_guard_a_change_is_not_made():
    world = World().tick()
    world.guard_fails = True
    world.manager.change(settings.parse({**DAEMON, 'port': 7000}, IPSEC))
    world.tick()
    child = world.charon.conns['leon0-any']['children']['leon0-any']
    assert child['local_ts'] == ['dynamic[udp/5366]']


def test_withdrawn_everything_of_ours_is_gone():
    world = World().tick()
    world.charon.conns['site-to-site'] = {}
    world.charon.sas = [('leon0-192.0.2.2', sa('192.0.2.2'))]
    world.manager.withdraw()
    assert names(world) == {'site-to-site'}
    assert world.charon.sas == [] and world.charon.shared == {}


def test_no_secret_in_the_log(caplog):
    world = World()
    with caplog.at_level(logging.DEBUG):
        world.tick()
        world.charon.broken = 'gone'
        world.tick()
        world.charon.broken = None
        world.charon.refuses = 'load-shared'
        world.charon.shared.clear()
        world.tick()
    assert SECRET not in caplog.text
    assert SECRET not in repr(world.manager.settings)


def test_certificates(tmp_path):
    for name in ('cert', 'key', 'ca'):
        (tmp_path / name).write_text(f'-----BEGIN {name}')
    world = World(
        {
            'version': 1,
            'force-udp-encapsulation': True,
            'authentication': {
                'mode': 'x509',
                'certificate': str(tmp_path / 'cert'),
                'private-key': '-----BEGIN inline',
                'ca-certificate': [str(tmp_path / 'ca')],
                'remote-id': 'O=LEON, CN=*',
            },
        }
    ).tick()
    found = world.charon.conns['leon0-192.0.2.2']
    assert found['local'] == {'auth': 'pubkey', 'certs': [b'-----BEGIN cert']}
    assert found['remote'] == {
        'auth': 'pubkey',
        'cacerts': [b'-----BEGIN ca'],
        'id': 'O=LEON, CN=*',
    }
    assert found['encap'] == 'yes'
    assert list(world.charon.keys.values()) == [{'type': 'any', 'data': b'-----BEGIN inline'}]
    assert world.charon.shared == {}
    world.charon.conns.clear()
    world.tick()
    assert world.charon.count('load-key') == 2, 'who unloads connections unloads keys as well'
    # `swanctl --load-all` removes the keys before the connections, and a tick may be between.
    world.charon.keys.clear()
    world.tick().tick()
    assert len(world.charon.keys) == 1 and world.charon.count('load-key') == 3


def test_rekeying_starts_before_the_end_at_random():
    world = World({**IPSEC, 'esp-group': {'lifetime': 1000, 'proposal': ['aes256-sha256']}}).tick()
    child = world.charon.conns['leon0-any']['children']['leon0-any']
    assert (child['rekey_time'], child['life_time'], child['rand_time']) == ('800', '1000', '100')
    assert child['esp_proposals'] == ['aes256-sha256']
