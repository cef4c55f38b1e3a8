# SPDX-License-Identifier: GPL-2.0-or-later
"""conf_mode/interfaces_leon.py, driven through its four functions on a simulated router."""

import inspect
import json
import stat
import subprocess
from pathlib import Path

import pytest
from conftest import BUILD
from vyos import ConfigError
from vyos_leon import keyfile, mac, metrics

LEOND = BUILD / 'vyos-1x-leon/dataplane/leond'
LEON0 = {
    'address': ['10.99.0.1/24'],
    'source-address': ['192.0.2.1'],
    'port': '5366',
    'peer': {'seoul-2': {'address': '203.0.113.1', 'port': '5366'}},
    'authentication': {'pre-shared-secret': 'correct-horse-battery'},
}
APPLIED = {'version': 1, 'verdict': 'applied', 'restart_keys': [], 'changes': ['peers']}
KEY = 64 * 'a' + '\n'
UNIT = 'leond@leon0.service'
RESTART = f'timeout 20 systemctl restart {UNIT}'


@pytest.fixture(scope='module')
def script(load_script):
    return load_script('vyos-1x-leon/conf_mode/interfaces_leon.py')


@pytest.fixture
def commit(script, host, run_dir):
    """commit(leon0=..., ...) sets the configuration and runs the script as VyOS
    does."""

    def run(others=None, **interfaces):
        host.config = {**(others or {})}
        host.config['interfaces'] = {**host.config.get('interfaces', {}), 'leon': interfaces}
        host.journal.clear()
        leon = script.get_config()
        script.verify(leon)
        script.generate(leon)
        script.apply(leon)
        return host.journal

    return run


def test_four_functions_as_vyos_calls_them(script):
    for name in ('get_config', 'verify', 'generate', 'apply'):
        (parameter,) = inspect.signature(getattr(script, name)).parameters.values()
        assert (parameter.default is None) == (name == 'get_config')


def runs(journal, words):
    return [what for verb, what in journal if verb == 'run' and what.startswith(words)]


def test_first_commit(commit, host, run_dir):
    journal = commit(leon0=LEON0)
    steps = [what for verb, what in journal if verb in ('run', 'update')]
    assert [step for step in steps[1:] if not step.startswith('systemctl show')] == [
        'ip tuntap add dev leon0 mode tap user leon multi_queue vnet_hdr',
        RESTART,
        'leon0',
    ]
    assert steps[0].startswith(
        f'/usr/sbin/leond --check --config {run_dir}/.leon0.json.'
    )
    document = json.loads((run_dir / 'leon0.json').read_text())
    assert document['peer'] == {'seoul-2': {'address': '203.0.113.1', 'port': 5366}}
    assert document['source-address'] == ['192.0.2.1']


def test_metrics_are_served_where_asked_for(commit, host):
    """The unit starts, moves and stops with the configuration only. The default of the port alone,
    which VyOS adds to every interface, starts nothing."""
    host.defaults = {'metrics': {'port': '5366'}}
    unit = 'leon-metrics@leon0.service'
    file = Path(metrics.path('leon0'))

    def served(**leaves):
        journal = commit(leon0={**LEON0, **({'metrics': leaves} if leaves else {})})
        return [what for what in runs(journal, 'systemctl') if unit in what]

    assert served() == [] and not file.exists()
    here = {'listen-address': '127.0.0.1', 'port': '5366'}
    assert served(**here) == [f'systemctl restart {unit}']
    assert file.read_text() == 'LISTEN=127.0.0.1:5366\n'
    assert served(**here) == []
    there = {'listen-address': '2001:db8::1', 'port': '9366'}
    assert served(**there) == [f'systemctl restart {unit}']
    assert file.read_text() == 'LISTEN=[2001:db8::1]:9366\n'
    commit(leon0={**LEON0, 'metrics': there, 'disable': {}})
    assert runs(host.journal, 'systemctl')[-1] == f'systemctl stop {unit}'
    assert not file.exists()
    assert served(**there) == [f'systemctl restart {unit}']
    commit()
    assert f'systemctl stop {unit}' in runs(host.journal, 'systemctl')
    assert not file.exists()


@pytest.fixture
def accelerator(tmp_path, monkeypatch):
    """leon-accel is installed."""
    program = tmp_path / 'leon-accel'
    program.touch()
    monkeypatch.setattr('vyos_leon.acceleration.PROGRAM', str(program))
    return program


def test_acceleration_comes_and_goes(commit, host, run_dir, accelerator):
    """The process starts after the update of leond and stops with its configuration. Defaults
    alone, which VyOS adds to every interface, start nothing."""
    host.defaults = {'acceleration': {'mode': 'moved', 'threshold': '50'}}
    unit = 'leon-accel@leon0.service'
    start = f'timeout 20 systemctl start {unit}'

    def told(**leaves):
        commit(leon0={**LEON0, **leaves})
        return [what for verb, what in host.journal if verb == 'run' and unit in what]

    stop = f'systemctl stop {unit}'
    assert told() == [stop]
    assert 'acceleration' not in json.loads((run_dir / 'leon0.json').read_text())
    assert told(acceleration={'mode': 'latency'}) == [start]
    document = json.loads((run_dir / 'leon0.json').read_text())
    assert document['acceleration']['mode'] == 'latency'
    assert told() == [stop]
    assert told(acceleration={}) == [start]
    told(acceleration={}, disable={})
    stops = runs(host.journal, 'systemctl stop')
    assert stops.index(stop) < stops.index('systemctl stop leond@leon0.service')


def test_a_failed_commit_is_repeated_whole(commit, script, host, accelerator, monkeypatch):
    """The steps after the failure run in the next commit."""
    units = ('leon-accel@leon0.service', 'leon-metrics@leon0.service')
    served = {'metrics': {'listen-address': '127.0.0.1', 'port': '5366'}}
    commit(leon0={**LEON0, 'acceleration': {}, **served})
    with monkeypatch.context() as fails:
        fails.setattr(script.LeonIf, 'set_mac', lambda self, mac: 1 / 0)
        with pytest.raises(ZeroDivisionError):
            commit(leon0=LEON0)
    journal = commit(leon0=LEON0)
    assert runs(journal, 'systemctl stop') == [f'systemctl stop {unit}' for unit in units]
    with monkeypatch.context() as fails:
        fails.setattr(script.LeonIf, 'update', lambda self, config: 1 / 0)
        with pytest.raises(ZeroDivisionError):
            commit(leon0={**LEON0, **served})
    assert f'systemctl restart {units[1]}' in runs(commit(leon0={**LEON0, **served}), 'systemctl')


def test_a_boot_that_cannot_be_arranged_is_a_warning(commit, script, host, monkeypatch):
    def hangs():
        raise subprocess.TimeoutExpired('dpkg-deb', 60)

    monkeypatch.setattr(script.boot, 'arrange', hangs)
    journal = commit(leon0=LEON0)
    (text,) = [what for verb, what in journal if verb == 'warning']
    assert 'A boot of an image without LEON would lose' in text


def test_acceleration_without_its_package_is_a_warning(commit, host, accelerator):
    accelerator.unlink()
    commit(leon0={**LEON0, 'acceleration': {'mode': 'always'}})
    warnings = [what for verb, what in host.journal if verb == 'warning']
    assert any('leon-accel is not installed: install the package leon-accel' in what for what in warnings)
    assert not [what for verb, what in host.journal if verb == 'run' and 'leon-accel' in what]


def test_acceleration_that_does_not_start_is_no_error(commit, host, accelerator):
    host.programs['timeout 20 systemctl start leon-accel@leon0.service'] = (1, '')
    commit(leon0={**LEON0, 'acceleration': {'mode': 'always'}})
    assert any('leon-accel does not run' in what for verb, what in host.journal if verb == 'warning')


def test_metrics_at_an_address_of_nobody_warn(commit, host):
    """All addresses, and those of an interface, are silent."""
    def told(address):
        journal = commit(leon0={**LEON0, 'metrics': {'listen-address': address, 'port': '5366'}})
        return [entry[1] for entry in journal if entry[0] == 'warning' and entry[1].startswith('Nobody')]

    host.devices['eth1'] = [{'local': '198.51.100.7', 'scope': 'global'}]
    assert told('198.51.100.7') == told('::') == []
    (text,) = told('203.0.113.9')
    assert text.endswith('no interface of this router has the address 203.0.113.9')


def test_metrics_without_an_address_are_refused(commit):
    with pytest.raises(ConfigError, match='Metrics have no address'):
        commit(leon0={**LEON0, 'metrics': {'port': '5366'}})


CARDS = {'eth0': {'address': '02:00:00:00:00:99', 'permaddr': '00:11:22:33:44:55'}}


@pytest.fixture
def cards(host, tmp_path, monkeypatch):
    def have(**found):
        host.hardware = found
        for name in found:
            (tmp_path / f'net/{name}/device').mkdir(parents=True, exist_ok=True)
        (tmp_path / 'net/lo').mkdir(parents=True, exist_ok=True)
        monkeypatch.setattr(mac, 'DEVICES', str(tmp_path / 'net'))

    return have


def test_mac_is_there_before_any_address(commit, host, run_dir, cards):
    """The MAC is set even if leond cannot start. The kernel would choose a random MAC, and its
    link-local address would remain."""
    cards(**CARDS)
    host.programs[RESTART] = (1, '')
    journal = commit(leon0=LEON0)
    (told,) = [what for verb, what in journal if verb == 'mac']
    document = json.loads((run_dir / 'leon0.json').read_text())
    assert document['mac'] == told
    assert journal.index(('mac', told)) < journal.index(('run', RESTART))
    assert journal.index(('mac', told)) < journal.index(('update', 'leon0'))
    assert int(told[:2], 16) & 3 == 2


def test_mac_is_of_this_machine_and_this_interface(commit, host, cards, monkeypatch):
    def of(name, **change):
        monkeypatch.setenv('VYOS_TAGNODE_VALUE', name)
        journal = commit(**{name: {**LEON0, **change}})
        return [what for verb, what in journal if verb == 'mac'][0]

    cards(**CARDS)
    first = of('leon0')
    # For any MAC of the card and of the overlay.
    host.hardware['eth0']['address'] = '02:00:00:00:00:77'
    assert of('leon0', vni='7', **{'source-address': ['192.0.2.9']}) == first
    assert of('leon1') != first
    cards(eth0={'address': '00:11:22:33:44:56'})
    assert of('leon0') != first
    assert of('leon0', mac='02:00:00:00:00:01') == '02:00:00:00:00:01'


def test_vyos_is_asked_for_its_own_rules(commit, host):
    journal = commit(leon0=LEON0)
    asked = {what for verb, what in journal if verb == 'verify'}
    assert asked == {
        'mtu_ipv6',
        'address',
        'vrf',
        'bond_bridge_member',
        'mirror_redirect',
    }


def test_secret_is_for_root_and_the_daemon(commit, run_dir):
    commit(leon0=LEON0)
    assert stat.S_IMODE((run_dir / 'leon0.json').stat().st_mode) == 0o640
    assert [path.name for path in run_dir.iterdir()] == ['leon0.json']


def test_secret_was_never_open_to_others(commit, host, run_dir):
    seen = []

    def check():
        (candidate,) = run_dir.glob('.leon0.json.*')
        seen.append(stat.S_IMODE(candidate.stat().st_mode))
        return 0, ''

    host.programs['/usr/sbin/leond --check'] = check
    commit(leon0=LEON0)
    assert seen == [0o640]


def test_a_link_leads_nowhere(commit, run_dir):
    """The directory belongs to the daemon, so root must not follow links."""
    target = run_dir / 'precious'
    target.write_text('precious')
    (run_dir / 'leon0.json').symlink_to(target)
    commit(leon0=LEON0)
    assert target.read_text() == 'precious'
    assert not (run_dir / 'leon0.json').is_symlink()


def mode(path):
    return stat.S_IMODE(path.stat().st_mode)


def test_identity_is_kept_in_config(commit, run_dir):
    """Files of an image installer, or of a restore by hand."""
    folder = Path(keyfile.DIRECTORY)
    commit(leon0=LEON0)
    document = json.loads((run_dir / 'leon0.json').read_text())
    assert document['identity-file'] == f'{folder}/leon0.identity'
    assert mode(folder) == 0o700
    file = folder / 'leon0.identity'
    file.write_text(KEY)
    file.chmod(0o664)
    folder.chmod(0o2775)
    commit(leon0=LEON0)
    assert (mode(folder), mode(file), file.read_text()) == (0o700, 0o600, KEY)
    commit(leon0={**LEON0, 'disable': {}})
    assert file.read_text() == KEY


def test_invitations_are_kept_in_config(commit, run_dir):
    file = Path(keyfile.DIRECTORY) / 'leon0.invitations'
    commit(leon0=LEON0)
    file.write_text('{"version":1,"vni":1,"invitations":[{"value":"' + 100 * 'a' + '"}]}')
    file.chmod(0o664)
    commit(leon0=LEON0)
    assert mode(file) == 0o600


@pytest.mark.parametrize('kind', ['identity', 'invitations'])
def test_what_is_no_key_is_not_given_to_the_daemon(commit, run_dir, kind):
    """`add system image` follows links. A link of the daemon to a file of root would become a copy
    in the next image."""
    folder = Path(keyfile.DIRECTORY)
    commit(leon0=LEON0)
    for text in ('root:$6$secret:19000::::::\n', KEY + KEY, '', '{"version":1}'):
        file = folder / f'leon0.{kind}'
        file.write_text(text)
        file.chmod(0o640)
        commit(leon0=LEON0)
        assert mode(file) == 0o640


def test_no_link_is_followed_to_a_key(commit, run_dir, tmp_path):
    folder = Path(keyfile.DIRECTORY)
    target = tmp_path / 'precious'
    target.write_text('precious')
    target.chmod(0o644)
    commit(leon0=LEON0)
    (folder / 'leon0.identity').symlink_to(target)
    commit(leon0=LEON0)
    assert mode(target) == 0o644
    (folder / 'leon0.identity').unlink()
    (folder / 'leon0.identity').hardlink_to(target)
    commit(leon0=LEON0)
    assert mode(target) == 0o644


def test_no_place_for_a_key_is_a_warning(commit, host, run_dir, tmp_path, monkeypatch):
    (tmp_path / 'file').touch()
    monkeypatch.setattr(keyfile, 'DIRECTORY', f'{tmp_path}/file/leon')
    journal = commit(leon0=LEON0)
    assert runs(journal, 'timeout') == [RESTART]
    (text,) = [what for verb, what in journal if verb == 'warning']
    assert text.startswith(f'The identity of leon0 cannot be kept in {tmp_path}/file/leon,')


def test_change_is_applied_live(commit, daemon, host):
    host.devices['leon0'] = []
    served = daemon(APPLIED)
    journal = commit(leon0={**LEON0, 'node-name': 'fujisawa'})
    assert [r['command'] for r in served.requests] == ['reload']
    assert not runs(journal, 'timeout') and not runs(journal, 'ip tuntap')
    assert journal[-1] == ('update', 'leon0')


def test_restart_where_the_daemon_asks_for_it(commit, daemon, host, capsys):
    host.devices['leon0'] = []
    daemon(
        {
            'version': 1,
            'verdict': 'restart needed: port, system.workers',
            'restart_keys': ['port', 'system.workers'],
        }
    )
    journal = commit(leon0=LEON0)
    assert runs(journal, 'timeout') == [RESTART]
    assert capsys.readouterr().out == (
        'leon0 restarts, no frame passes until it has joined again: port, system workers\n'
    )


def test_daemon_refuses_a_reload(commit, daemon, host):
    host.devices['leon0'] = []
    daemon({'version': 1, 'error': 'configuration refused, the previous configuration stays active: x'})
    with pytest.raises(ConfigError, match='the previous configuration stays active: x'):
        commit(leon0=LEON0)


def test_daemon_refuses_the_document(commit, host, run_dir):
    (run_dir / 'leon0.json').write_text('old')
    host.programs['/usr/sbin/leond --check'] = lambda: (
        1, f'{host.journal[-1][1].split()[-1]}: mtu: must be 68 to 9000'
    )  # fmt: skip
    with pytest.raises(
        ConfigError, match='leond refuses the configuration: mtu: must be'
    ):
        commit(leon0=LEON0)
    assert (run_dir / 'leon0.json').read_text() == 'old'
    assert len(list(run_dir.iterdir())) == 1
    assert not runs(host.journal, 'timeout')


@pytest.mark.skipif(not LEOND.exists(), reason='leond is not built')
@pytest.mark.parametrize('secret', ['OUTPUT OF leonctl generate secret', 'ChangeMe'])
def test_obvious_secret_is_refused_at_commit(commit, host, run_dir, secret):
    def check():
        (candidate,) = run_dir.glob('.leon0.json.*')
        done = subprocess.run([LEOND, '--check', '--config', candidate], stderr=subprocess.STDOUT,
                              stdout=subprocess.PIPE, text=True, timeout=60, check=False)
        return done.returncode, done.stdout

    host.programs['/usr/sbin/leond --check'] = check
    with pytest.raises(ConfigError, match='is a placeholder or an obvious secret'):
        commit(leon0={**LEON0, 'authentication': {'pre-shared-secret': secret}})
    assert list(run_dir.iterdir()) == []


@pytest.mark.parametrize('code', [1, 124])
def test_daemon_that_does_not_start_is_a_warning(commit, host, capfd, code):
    """One warning in our words, for a failure and for a timeout (124). The messages of systemctl
    are not for the operator of VyOS."""
    host.programs[RESTART] = (code, 'Job for leond@leon0.service failed because ...')
    journal = commit(leon0=LEON0)
    assert [what for verb, what in journal if verb == 'warning'] == [
        'leond does not run for leon0 yet, and is started until it does: '
        'see "show log leon"'
    ]
    assert journal[-1] == ('update', 'leon0')
    assert capfd.readouterr() == ('', '')


def test_delete(commit, host, run_dir):
    commit(leon0=LEON0)
    (run_dir / 'leon0.members').write_text('{}')
    journal = commit()
    assert journal == [
        ('verify', 'bridge_delete'),
        ('run', f'systemctl stop {UNIT}'),
        ('remove', 'leon0'),
    ]
    assert list(run_dir.iterdir()) == [] and host.devices == {}


@pytest.mark.parametrize('others, named', [
    ({'protocols': {'ospf': {'interface': {'leon0': {'area': '0'}}}}}, 'protocols ospf interface leon0'),
    ({'vrf': {'name': {'a_b': {'protocols': {'ospfv3': {'interface': {'leon0': {}}}}}}}},
     'vrf name a_b protocols ospfv3 interface leon0'),
    ({'firewall': {'flowtable': {'F': {'interface': ['eth0', 'leon0']}}},
      'service': {'ntp': {'interface': 'leon0'}}},
     'firewall flowtable F interface leon0, service ntp interface leon0'),
    ({'policy': {'local-route': {'rule': {'5': {'inbound-interface': 'leon0'}}}}},
     'policy local-route rule 5 inbound-interface leon0'),
])  # fmt: skip
def test_delete_while_others_name_it(commit, host, others, named):
    """VyOS refuses these parts without the interface, and a boot would lose them."""
    commit(leon0=LEON0)
    with pytest.raises(ConfigError, match=f'cannot be deleted while .* names it: delete {named}$'):
        commit(others)
    assert ('remove', 'leon0') not in host.journal


def test_delete_beside_other_names(commit, host):
    """A missing interface is no error in these parts, and other names are no reason."""
    commit(leon0=LEON0)
    commit({
        'protocols': {'ospf': {'interface': {'leon01': {}}, 'description': 'leon0'},
                      'static': {'route': {'10.0.0.0/8': {'interface': {'leon0': {}}}}}},
        'firewall': {'ipv4': {'forward': {'filter': {'rule': {'1': {'inbound-interface': {'name': 'leon0'}}}}}}},
    })  # fmt: skip
    assert ('remove', 'leon0') in host.journal


def test_delete_what_never_came_up(commit, host):
    assert ('remove', 'leon0') not in commit()


def test_disable_leaves_the_overlay_and_keeps_the_device(commit, host, run_dir):
    commit(leon0=LEON0)
    journal = commit(leon0={**LEON0, 'disable': {}})
    assert runs(journal, 'systemctl') == [f'systemctl stop {UNIT}']
    assert journal[-1] == ('update', 'leon0')
    assert list(run_dir.iterdir()) == [] and 'leon0' in host.devices


def test_enable_again(commit, host):
    commit(leon0={**LEON0, 'disable': {}})
    assert runs(commit(leon0=LEON0), 'timeout') == [RESTART]


def test_wrong_configuration_changes_nothing(commit, host, run_dir):
    with pytest.raises(ConfigError) as error:
        commit(leon0={**LEON0, 'node-id': '0.0.0.0', 'peer': {'inagi': {}}})
    assert str(error.value) == (
        '0.0.0.0 is no node-id: set "node-id" to another number. '
        'Peer "inagi" has no address: set "peer inagi address" to its IP address or domain '
        'name.'
    )
    assert host.journal == [] and list(run_dir.iterdir()) == []


def test_warnings_are_shown(commit):
    journal = commit(leon0={**LEON0, 'authentication': {'disable': {}}})
    warnings = [what for verb, what in journal if verb == 'warning']
    assert len(warnings) == 1 and warnings[0].startswith('With "authentication disable"')


def test_no_secret_is_refused(commit):
    with pytest.raises(ConfigError, match='There is no secret: set "authentication'):
        commit(leon0={k: v for k, v in LEON0.items() if k != 'authentication'})


def test_other_interfaces_are_seen(commit):
    with pytest.raises(ConfigError, match='leon1 receives at UDP port 5366 already'):
        commit(leon0=LEON0, leon1=LEON0)


def test_the_bridge_of_another_interface_is_seen(commit, host):
    members = {'member': {'interface': {'leon0': {}, 'leon1': {}}}}
    host.defaults = {'is_bridge_member': {'br0': {}}}
    journal = commit(
        leon0=LEON0,
        leon1={**LEON0, 'port': '5367'},
        others={'interfaces': {'bridge': {'br0': members}}},
    )
    assert [what[:22] for verb, what in journal if verb == 'warning'] == ['leon1 and leon0 are me']


@pytest.mark.parametrize(
    'addresses, warned',
    [
        ([{'local': '192.0.2.1', 'scope': 'global'}], False),
        ([{'local': 'fe80::1', 'scope': 'link'}], True),
        ([{'local': '127.0.0.1', 'scope': 'host'}], True),
    ],
)
def test_addresses_of_the_source_interface_are_seen(commit, host, addresses, warned):
    host.devices['eth0'] = addresses
    leon0 = {k: v for k, v in LEON0.items() if k != 'source-address'}
    journal = commit(leon0={**leon0, 'source-interface': 'eth0'})
    assert ('warning' in [verb for verb, _ in journal]) == warned


def test_addresses_of_a_vrf_are_those_of_its_interfaces(commit, script, host):
    """leond takes the node-id from one of the addresses (daemon/identity/node_identity.c)."""
    leon0 = {k: v for k, v in LEON0.items() if k != 'source-address'}
    host.devices['wan'] = [{'local': '127.0.0.1', 'scope': 'host'}]
    host.devices['eth0'] = [{'local': '192.0.2.1', 'scope': 'global'}]
    host.vrf_members['wan'] = ['eth0']
    host.config = {}

    def warned():
        host.config['interfaces'] = {
            'leon': {'leon0': {**leon0, 'source-interface': 'wan'}}
        }
        host.config['vrf'] = {'name': {'wan': {'table': '100'}}}
        host.journal.clear()
        script.verify(script.get_config())
        return [what for verb, what in host.journal if verb == 'warning']

    assert warned() == []
    host.vrf_members['wan'] = []
    assert ['wan has no IPv4 address' in text for text in warned()] == [True]


def test_what_leond_warns_of_is_shown_at_commit(commit, host, run_dir, daemon):
    """For example a secret that no other node has."""
    daemon({**APPLIED, 'warnings': ['2 nodes have none of the secrets']})
    journal = commit(leon0=LEON0)
    warnings = [what for verb, what in journal if verb == 'warning']
    assert warnings == ['leon0: 2 nodes have none of the secrets']


def test_why_leond_does_not_run_is_said(commit, host):
    host.programs[RESTART] = (1, '')
    why = 'config: source-interface: there is no interface eth7'
    host.programs['journalctl'] = (0, why)
    journal = commit(leon0=LEON0)
    (warning,) = [what for verb, what in journal if verb == 'warning']
    assert warning.endswith(why)
    (asked,) = runs(journal, 'journalctl')
    assert '--priority err' in asked and f'--unit {UNIT}' in asked
    host.programs['journalctl'] = (0, '')
    journal = commit(leon0=LEON0)
    (warning,) = [what for verb, what in journal if verb == 'warning']
    assert warning.endswith('see "show log leon"')


def test_missing_source_interface_is_seen(commit):
    leon0 = {k: v for k, v in LEON0.items() if k != 'source-address'}
    with pytest.raises(ConfigError, match='There is no interface or VRF eth9'):
        commit(leon0={**leon0, 'source-interface': 'eth9'})


def test_source_interface_may_come_later_in_a_boot(commit, host):
    """For example macsec with its priority of 461."""
    leon0 = {k: v for k, v in LEON0.items() if k != 'source-address'}
    host.booting = True
    journal = commit(leon0={**leon0, 'source-interface': 'macsec0'})
    assert ('update', 'leon0') in journal and runs(journal, 'timeout') == [RESTART]


def test_run_directory_is_made_before_the_unit_makes_it(commit, run_dir):
    run_dir.rmdir()
    commit(leon0=LEON0)
    assert stat.S_IMODE(run_dir.stat().st_mode) == 0o750
