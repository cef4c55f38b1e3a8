# SPDX-License-Identifier: GPL-2.0-or-later
"""op-mode/leon.py and the built leonctl, with simulated daemons."""

import inspect
import json
import re
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
    'show_paths': ('paths', 'show paths', {}),
    'show_policy': ('policy', 'show policy', {}),
    'show_ipsec': ('ipsec', 'show ipsec', {}),
    'show_routes': ('routes', 'show routes', {}),
    'show_latency': ('latency', 'show latency', {}),
    'show_fdb': ('fdb', 'show fdb', {}),
    'show_segments': ('segments', 'show segments', {}),
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
        *COMMANDS, 'generate_identity', 'generate_secret', 'show_boot',
        'reset_acceleration', 'reset_fdb', 'reset_statistics', 'reset_node', 'restart_leon',
    }  # fmt: skip
    for name, hints in functions.items():
        # A boot concerns all interfaces, a secret no interface, and an identity a single interface.
        assert hints.get('interface') == {
            'show_boot': None, 'generate_secret': None, 'generate_identity': str,
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

    def refuse(*_):
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
