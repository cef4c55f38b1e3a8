# SPDX-License-Identifier: GPL-2.0-or-later
"""op-mode/leon.py and the built leonctl, with simulated daemons."""

import functools
import inspect
import json
import os
import re
import shlex
import typing
from pathlib import Path

import pytest
import vyos.opmode
from vyos_leon import client

RENDER = Path(__file__).resolve().parents[1] / 'unit/render'


@pytest.fixture(scope='module')
def script(load_script):
    return load_script('op-mode/leon.py')


@pytest.fixture
def leon(host, run_dir):
    """leon('leon0', ...) configures interfaces."""

    def configure(*names, **nodes):
        tree = {name: {} for name in names} | nodes
        host.config = {'interfaces': {'leon': tree}} if tree else {}

    return configure


def answer(name):
    return json.loads((RENDER / f'{name}.json').read_text())


COMMANDS = {
    'show_nodes': ('nodes', 'show nodes', {}),
    'show_peers': ('peers', 'show peers', {}),
    'show_lines': ('lines', 'show lines', {}),
    'show_paths': ('paths', 'show paths', {}),
    'show_policy': ('policy', 'show policy', {}),
    'show_ipsec': ('ipsec', 'show ipsec', {}),
    'show_routes': ('routes', 'show routes', {}),
    'show_latency': ('latency', 'show latency', {}),
    'show_fdb': ('fdb', 'show fdb', {}),
    'show_segments': ('segments', 'show segments', {}),
    'show_multicast': ('multicast', 'show multicast', {}),
    'show_queues': ('queues', 'show queues', {}),
    'show_acceleration': ('acceleration', 'show acceleration', {}),
    'show_acceleration_connections':
        ('acceleration_connections', 'show acceleration connections', {}),
    'show_explain_connection': (
        'explain_connection',
        'explain connection',
        {'first': '10.9.0.1:40112', 'second': '[2001:db8::2]:443'},
    ),
    'show_statistics': ('statistics', 'show statistics', {}),
    'show_events': ('events', 'show events', {}),
    'show_identity': ('identity', 'show identity', {}),
    'show_invitations': ('invitations', 'show invitations', {}),
    'show_explain': ('explain', 'explain path', {'node': 'seoul'}),
    'show_trace': ('trace', 'trace', {'node': 'seoul'}),
    'show_ping': ('ping', 'ping', {'node': 'seoul'}),
}


@pytest.mark.parametrize('function, case', COMMANDS.items(), ids=COMMANDS)
def test_show(script, leon, daemon, function, case):
    name, command, arguments = case
    leon('leon0')
    served = daemon(answer(name))
    show = getattr(script, function)
    assert show(raw=True, interface='leon0', **arguments) == answer(name)
    assert show(raw=True, interface=None, **arguments) == [answer(name)]
    text = show(raw=False, interface=None, **arguments)
    assert text + '\n' == (RENDER / f'{name}.txt').read_text()
    assert served.requests == 3 * [
        {'version': 1, 'command': command, 'arguments': arguments}
    ]


GOLDEN = sorted(
    path.stem
    for path in RENDER.glob('*.json')
    # Commands that only leonctl shows.
    if not path.stem.startswith('reload')
)


def function_of(name):
    """In the name of a golden file, the case follows the name of the command."""
    return max((f for f in COMMANDS if f'show_{name}'.startswith(f)), key=len, default=None)


@pytest.mark.parametrize('name', GOLDEN)
def test_text_is_leonctls(script, leon, daemon, name):
    leon('leon0')
    daemon(answer(name))
    function = function_of(name)
    _, _, arguments = COMMANDS[function]
    text = getattr(script, function)(raw=False, interface='leon0', **arguments)
    assert text + '\n' == (RENDER / f'{name}.txt').read_text()


def test_every_command_has_a_golden_file():
    assert {function_of(name) for name in GOLDEN} == set(COMMANDS)


@pytest.mark.parametrize(
    'function, reply, want',
    [
        ('show_nodes', {'nodes': []}, 'No node is known.'),
        ('show_paths', {'paths': []}, 'No other node is known.'),
        ('show_events', {'events': []}, 'No event is recorded.'),
        # Both notes of an entry, with a comma between.
        (
            'show_fdb',
            {'entries': [{'local': True, 'frozen': True}], 'count': 1, 'maximum': 2},
            'MAC  VLAN  NODE-ID  NAME  AGE  MOVES  NOTES\n'
            '-       -  -        -       -      -  local, frozen\n\n'
            '1 of at most 2 entries',
        ),
    ],
)
def test_short_answers(script, leon, daemon, function, reply, want):
    leon('leon0')
    daemon(reply)
    assert getattr(script, function)(raw=False, interface='leon0') == want


@pytest.mark.parametrize(
    'seconds, want',
    [
        (0, '0 s'),
        (59, '59 s'),
        (60, '1 min 0 s'),
        (3599, '59 min 59 s'),
        (3600, '1 h 0 min'),
        (86399, '23 h 59 min'),
        (86400, '1 d 0 h'),
        (None, '-'),
    ],
)
def test_ages(script, leon, daemon, seconds, want):
    leon('leon0')
    daemon({'events': [{'at': 'now', 'age_seconds': seconds, 'event': 'path', 'text': 'x'}]})
    row = script.show_events(raw=False, interface='leon0').splitlines()[1]
    assert row.removeprefix('now').removesuffix('path   x').strip() == want


def test_functions_are_as_vyos_wants_them(script):
    """The shape of standardized op-mode functions, from which options are made."""
    functions = {
        name: typing.get_type_hints(function)
        for name, function in inspect.getmembers(script, inspect.isfunction)
        if not name.startswith('_') and function.__module__ == script.__name__
    }
    assert set(functions) == {
        *COMMANDS, 'generate_identity', 'generate_invite', 'generate_join', 'generate_secret',
        'show_boot', 'show_status', 'execute_capture',
        'reset_acceleration', 'reset_fdb', 'reset_statistics', 'reset_invitation',
        'reset_node', 'restart_leon',
    }  # fmt: skip
    for name, hints in functions.items():
        # A boot concerns all interfaces, a secret no interface, and an identity a single interface.
        assert hints.get('interface') == {
            'show_boot': None, 'generate_secret': None, 'generate_identity': str,
            'generate_join': str, 'execute_capture': str,
        }.get(name, typing.Optional[str])  # fmt: skip
        assert ('raw' in hints) == name.startswith(('show_', 'generate_'))
        if 'raw' in hints:
            assert next(iter(hints)) == 'raw' and hints['raw'] is bool


def test_ipsec_that_is_configured_and_silent(script, leon, daemon):
    daemon(answer('ipsec_none'))
    leon('leon0')
    unused = 'IPsec is not in use: leon-ipsec has not reported.'
    assert script.show_ipsec(raw=False, interface='leon0') == unused
    leon(leon0={'ipsec': {'ike-group': 'X'}})
    assert script.show_ipsec(raw=False, interface='leon0') == (
        f'{unused}\n\nIPsec is configured on leon0: where leon-ipsec has not reported, '
        '"show log leon" has the reason.'
    )


def test_several_interfaces(script, leon, daemon):
    leon('leon10', 'leon2')
    daemon({'interface': 'leon2', 'paths': []}, interface='leon2')
    daemon({'interface': 'leon10', 'paths': []}, interface='leon10')
    assert script.show_paths(raw=False, interface=None) == (
        'leon2:\nNo other node is known.\n\nleon10:\nNo other node is known.'
    )
    assert [a['interface'] for a in script.show_paths(raw=True, interface=None)] == [
        'leon2',
        'leon10',
    ]


def test_one_of_several_is_down(script, leon, daemon, run_dir):
    leon('leon0', 'leon1')
    daemon({'interface': 'leon0', 'paths': []})
    assert script.show_paths(raw=False, interface=None) == (
        'leon0:\nNo other node is known.\n\n'
        f'leon1: leond is not running (no process listens on {run_dir}/leon1.sock)'
    )


def test_node_of_one_of_several(script, leon, daemon):
    leon('leon0', 'leon1')
    daemon({'error': 'no node is known as "seoul"'})
    daemon(answer('explain'), interface='leon1')
    assert script.show_explain(raw=True, node='seoul', interface=None) == [
        answer('explain')
    ]


def test_disabled_ones_are_left_out(script, leon, daemon):
    leon('leon0', leon1={'disable': {}})
    daemon({'interface': 'leon0', 'paths': []})
    assert script.show_paths(raw=False, interface=None) == 'No other node is known.'


def expect(error, text, call, **arguments):
    with pytest.raises(error) as caught:
        call(**arguments)
    assert type(caught.value) is error and str(caught.value) == text


def test_errors(script, leon, daemon, monkeypatch, run_dir):
    show = script.show_paths
    leon()
    expect(
        vyos.opmode.UnconfiguredSubsystem, 'No LEON interface is configured',
        show, raw=True, interface=None,
    )  # fmt: skip
    leon('leon0', leon1={'disable': {}})
    expect(
        vyos.opmode.UnconfiguredObject, 'Interface leon7 is not configured',
        show, raw=True, interface='leon7',
    )  # fmt: skip
    expect(
        vyos.opmode.UnconfiguredObject, 'leon1: disabled',
        show, raw=True, interface='leon1',
    )  # fmt: skip
    expect(
        vyos.opmode.DataUnavailable,
        f'leon0: leond is not running (no process listens on {run_dir}/leon0.sock)',
        show, raw=True, interface='leon0',
    )  # fmt: skip
    daemon({'error': 'no node is known as "x": see `show nodes`'})
    expect(
        vyos.opmode.IncorrectValue,
        'leon0: no node is known as "x": see `show leon nodes`',
        script.show_trace, raw=False, node='x', interface='leon0',
    )  # fmt: skip

    def refuse(*_, **__):
        raise client.NotPermitted('not for you')

    monkeypatch.setattr(client, 'request', refuse)
    expect(
        vyos.opmode.PermissionDenied,
        'leon0: not for you',
        show,
        raw=True,
        interface='leon0',
    )


@pytest.mark.parametrize(
    'function, arguments, reply, want',
    [
        ('reset_fdb', {}, {'removed': 2}, 'leon0: 2 FDB entries removed\n'),
        ('reset_statistics', {}, {}, 'leon0: all statistics set to zero\n'),
        (
            'reset_invitation',
            {'invitation': '5ab6c3ad1c9b2f70'},
            {'invitation': '5ab6c3ad1c9b2f70', 'uses_left': 1},
            'leon0: invitation 5ab6c3ad1c9b2f70 has ended, with 1 use left\n',
        ),
        (
            'reset_node',
            {'node': 'seoul'},
            {'removed': 1, 'node_id': '10.0.0.3', 'name': 'seoul'},
            'leon0: 1 FDB entries of seoul (10.0.0.3) removed, link probe started\n',
        ),
        (
            'reset_node',
            {'node': '10.0.0.3'},
            {'removed': 0, 'node_id': '10.0.0.3', 'name': None},
            'leon0: 0 FDB entries of 10.0.0.3 removed, link probe started\n',
        ),
    ],
)
def test_reset(script, leon, daemon, capsys, function, arguments, reply, want):
    leon('leon0')
    served = daemon({'interface': 'leon0', **reply})
    getattr(script, function)(interface='leon0', **arguments)
    assert capsys.readouterr().out == want
    assert served.requests[0]['command'] == function.replace('_', ' ')
    assert served.requests[0]['arguments'] == arguments


def test_restart(script, leon, host, capsys):
    leon('leon0', 'leon1', leon2={'disable': {}})
    script.restart_leon(interface=None)
    assert [what for _, what in host.journal] == [
        'systemctl restart leond@leon0.service',
        'systemctl restart leond@leon1.service',
    ]
    host.programs['systemctl restart'] = (1, 'Job for leond@leon0.service failed ...')
    expect(
        vyos.opmode.DataUnavailable, 'leond of leon0 does not start: see "show log leon"',
        script.restart_leon, interface='leon0',
    )  # fmt: skip
    assert capsys.readouterr().out == ''


def test_no_restart_during_a_commit(script, leon, host):
    leon('leon0')
    host.commit_in_progress = True
    expect(
        vyos.opmode.CommitInProgress, 'Cannot restart LEON while a commit is in progress',
        script.restart_leon, interface=None,
    )  # fmt: skip
    assert host.journal == []


@pytest.fixture
def capture(script, leon, monkeypatch, tmp_path, capfd):
    """Runs a capture in a child, because the command becomes leonctl. The real leonctl finds no
    daemon. The result is the error."""

    def run(**arguments):
        child = os.fork()
        if child == 0:
            try:
                script.execute_capture(**arguments)
            except vyos.opmode.Error as e:
                os.write(2, f'{type(e).__name__}: {e}'.encode())
            finally:
                os._exit(9)
        os.waitpid(child, 0)
        return capfd.readouterr().err

    leon('leon0')
    monkeypatch.setattr(script, 'CAPTURES', str(tmp_path))
    return run


def test_capture(capture, tmp_path):
    """A filter is one word, and never an option."""
    for text in 'host 192.0.2.1 port 443', '--help':
        # The second capture uses the empty file of the first.
        error = capture(interface='leon0', flow=text, save='flow.pcapng')
        assert 'leond is not running' in error
        assert (tmp_path / 'flow.pcapng').read_text() == ''
    assert 'leond is not running' in capture(interface='leon0', flow='port 443')
    assert 'UnconfiguredObject' in capture(interface='leon1', flow='port 443')


def test_capture_writes_to_new_files_only(capture, tmp_path):
    """The command runs as root for an operator."""
    victim = tmp_path / 'passwd'
    victim.write_text('root')
    (tmp_path / 'link').symlink_to(victim)
    for name, reason in (
        ('passwd', 'exists'),
        ('link', 'symbolic links'),
        (str(victim), 'no name for a file'),
        ('../passwd', 'no name for a file'),
    ):
        error = capture(interface='leon0', flow='port 443', save=name)
        assert 'IncorrectValue' in error and reason in error, error
        assert victim.read_text() == 'root'


def test_generate_secret(script):
    """A long secret, different each time, without characters that a CLI or strip-private would
    cut."""
    first, second = (script.generate_secret(raw=False) for _ in range(2))
    assert first != second and re.fullmatch(r'[A-Za-z0-9_-]{44}', first)
    assert set(script.generate_secret(raw=True)) == {'secret'}


def test_generate_identity(script, host, monkeypatch, tmp_path):
    monkeypatch.setattr(script.keyfile, 'DIRECTORY', str(tmp_path / 'leon'))
    monkeypatch.setattr(script.keyfile, '_give', lambda descriptor, mode: None)
    host.programs['runuser'] = (0, 'ab' * 32)
    assert script.generate_identity(raw=False, interface='leon0') == 'ab' * 32
    ((_, asked),) = host.journal
    file = tmp_path / 'leon/leon0.identity'
    assert asked == (
        f'runuser -u leon -- /usr/sbin/leond --generate-identity {file}'
    )
    host.programs['runuser'] = (1, f'{file}: is there already')
    with pytest.raises(vyos.opmode.IncorrectValue, match='is there already'):
        script.generate_identity(raw=False, interface='leon0')


@pytest.mark.parametrize('name', ['leon0;id', '../leon0', 'leon', 'eth0', "leon0'", 'leon0\n'])
def test_generate_takes_names_of_interfaces_only(script, host, run_dir, name):
    """An operator gives the name, and a shell of root gets it."""
    for generate in (
        script.generate_identity,
        functools.partial(script.generate_join, token='leon1.abc'),
    ):
        with pytest.raises(vyos.opmode.IncorrectValue, match='no name of a LEON interface'):
            generate(raw=False, interface=name)
    assert host.journal == []


QUESTIONS = ('statistics', 'nodes', 'peers', 'events', 'lines')


def test_status(script, leon, daemon):
    """The findings of leonctl, with commands of the operational mode."""
    leon('leon0')
    served = daemon(*map(answer, QUESTIONS))
    text = script.show_status(raw=False, interface='leon0')
    assert [asked['command'] for asked in served.requests] == [f'show {q}' for q in QUESTIONS]
    assert 'show leon ' in text and 'leonctl' not in text
    daemon(*map(answer, QUESTIONS), interface='leon1')
    leon('leon1')
    raw = script.show_status(raw=True, interface='leon1')
    assert raw['version'] == 1 and raw['problems']


def test_status_of_a_daemon_that_is_down(script, leon):
    leon('leon0')
    with pytest.raises(vyos.opmode.Error, match='leond is not running'):
        script.show_status(raw=False, interface=None)


def test_generate_invite(script, leon, daemon):
    leon('leon0')
    made = {'version': 1, 'token': 'leon1.abc', 'vni': 1, 'seeds': [], 'trusted_identities': 0}
    served = daemon(made)
    text = script.generate_invite(raw=False, interface=None, address='198.51.100.1:7000')
    assert 'leon1.abc' in text
    assert script.generate_invite(raw=True, interface='leon0', address=None) == made
    script.generate_invite(raw=False, interface=None, address=None, uses='3')
    assert [asked['arguments'] for asked in served.requests] == [
        {'seeds': ['198.51.100.1:7000']}, {'seeds': []}, {'seeds': [], 'uses': 3}]  # fmt: skip


def test_generate_join(script, monkeypatch, tmp_path):
    """Commands of every word of the configuration of leond; the token is on no command line."""
    leonctl = tmp_path / 'leonctl'
    leonctl.write_text("""#!/bin/sh
        [ "$*" = "join --print -" ] && [ "$(cat)" = leon1.abc ] || { echo "leonctl: no token" >&2; exit 1; }
        echo '{"version": 1, "interface": "leon0", "vni": 7, "node-id": "240.1.2.3",
            "peer": {"seed-1": {"address": "2001:db8::1", "port": 7000}}, "x": true, "list": [1, 2],
            "authentication": {"pre-shared-secret": "a b"}}'
    """)
    leonctl.chmod(0o755)
    monkeypatch.setattr(script.joining, 'LEONCTL', str(leonctl))
    assert script.generate_join(raw=False, interface='leon4', token='leon1.abc').splitlines() == [
        'set interfaces leon leon4 vni 7',
        'set interfaces leon leon4 node-id 240.1.2.3',
        "set interfaces leon leon4 peer seed-1 address '2001:db8::1'",
        'set interfaces leon leon4 peer seed-1 port 7000',
        'set interfaces leon leon4 x',
        'set interfaces leon leon4 list 1',
        'set interfaces leon leon4 list 2',
        "set interfaces leon leon4 authentication pre-shared-secret 'a b'",
    ]
    for token in ('leon1.wrong', '/etc/shadow'):
        with pytest.raises(vyos.opmode.IncorrectValue, match='token'):
            script.generate_join(raw=False, interface='leon4', token=token)


def test_generate_join_prints_no_shell_code(script, monkeypatch):
    """The operator pastes the commands into a shell, and another site chooses the words."""
    document = {}
    monkeypatch.setattr(script.joining, 'decode', lambda token: document)
    join = functools.partial(script.generate_join, interface='leon4', token='leon3.abc')
    for word in "x';touch /tmp/p;'12345678", 'line\nline2345', '\x1b[2Jabcdefgh', 'p\xe4ssword':
        for document['x'] in word, {word: 'y'}, [word]:
            with pytest.raises(vyos.opmode.IncorrectValue, match='cannot contain') as caught:
                join(raw=False)
            assert word not in str(caught.value)
    for word in 'a b', '!!', '$(id)', '`id`', '"a', 'a\\', '':
        document['x'] = word
        assert shlex.split(join(raw=False))[4:] == ['x', word]
