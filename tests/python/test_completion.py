# SPDX-License-Identifier: GPL-2.0-or-later
"""The completion helper for NODE, with a simulated leonctl that answers from files."""

import json

import pytest

NODES = [
    {'node_id': '192.0.2.1', 'name': 'fujisawa', 'state': 'self'},
    {'node_id': '192.0.2.2', 'name': 'inagi', 'state': 'reachable'},
    {'node_id': '192.0.2.3', 'name': None, 'state': 'unreachable'},
    {'node_id': '192.0.2.4', 'name': 'tokyo', 'state': 'left'},
]


@pytest.fixture
def complete(load_script, tmp_path, monkeypatch, capsys):
    """Runs the helper with the given answers, interface -> text. Returns the printed words."""

    def run(answers, *arguments):
        for ifname, text in answers.items():
            (tmp_path / f'{ifname}.sock').touch()
            (tmp_path / f'{ifname}.answer').write_text(text)
        leonctl = tmp_path / 'leonctl'
        leonctl.write_text(
            '#!/bin/sh\n[ "$1 $3 $4 $5" = "-i --json show nodes" ] || exit 2\n'
            f'exec cat {tmp_path}/"$2".answer\n'
        )
        leonctl.chmod(0o755)
        monkeypatch.setenv('PATH', f'{tmp_path}:/usr/bin:/bin')
        module = load_script('vyos-1x-leon/completion/list_leon_nodes.py')
        monkeypatch.setattr(module, 'RUN', str(tmp_path))
        monkeypatch.setattr(module.sys, 'argv', ['list_leon_nodes.py', *arguments])
        module.main()
        return capsys.readouterr().out.split()

    return run


def test_names_and_node_ids(complete):
    answer = json.dumps({'version': 1, 'nodes': NODES})
    assert complete({'leon0': answer}) == ['192.0.2.3', 'inagi']


def test_no_names_for_the_shell(complete):
    names = ['$(id)', 'x;reboot', '-x', 'a\nb']
    answer = {'nodes': [{'node_id': f'10.0.0.{i}', 'name': name} for i, name in enumerate(names)]}
    assert complete({'leon0': json.dumps(answer)}) == [f'10.0.0.{i}' for i in range(4)]


def test_no_names_where_something_is_granted(complete):
    nodes = [{**node, 'identity': None} for node in NODES]
    nodes[1]['identity'] = 'a1' * 32
    answer = json.dumps({'version': 1, 'nodes': nodes})
    assert complete({'leon0': answer}, '--authority') == ['192.0.2.2', '192.0.2.3', 'a1' * 32]


def test_node_ids_alone(complete):
    answer = json.dumps({'version': 1, 'nodes': [{**n, 'identity': 'a1' * 32} for n in NODES]})
    assert complete({'leon0': answer}, '--ids') == ['192.0.2.2', '192.0.2.3']


def test_all_interfaces(complete):
    other = {'version': 1, 'nodes': [{'node_id': '10.0.0.1', 'name': 'b', 'state': 'known'}]}
    answer = json.dumps({'version': 1, 'nodes': NODES})
    assert complete({'leon0': answer, 'leon1': json.dumps(other)}) == ['192.0.2.3', 'b', 'inagi']


@pytest.mark.parametrize('answer', ['', 'no JSON', '{}', '{"version": 1, "error": "no"}'])
def test_silence_where_a_daemon_does_not_answer(complete, answer):
    good = json.dumps({'version': 1, 'nodes': NODES})
    assert complete({'leon0': answer, 'leon1': good}) == ['192.0.2.3', 'inagi']


def test_nothing_runs(complete):
    assert complete({}) == []
