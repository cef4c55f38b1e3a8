# SPDX-License-Identifier: GPL-2.0-or-later
"""Text of answers: the same golden files as leonctl's (tests/unit/render), so that both
look alike."""

import json
from pathlib import Path

import pytest
from vyos_leon import format

RENDER = Path(__file__).resolve().parents[1] / 'unit/render'
COMMANDS = {'explain': 'explain path', 'trace': 'trace', 'ping': 'ping'}
# What only leonctl shows.
OTHERS = {'reload', 'reload_warned'}
NAMES = sorted(path.stem for path in RENDER.glob('*.json') if path.stem not in OTHERS)


def command_of(name):
    word = name.split('_')[0]
    return COMMANDS.get(word, f'show {word}')


@pytest.mark.parametrize('name', NAMES)
def test_as_leonctl(name):
    answer = json.loads((RENDER / f'{name}.json').read_text())
    assert (
        format.text(command_of(name), answer) + '\n'
        == (RENDER / f'{name}.txt').read_text()
    )


def test_every_show_command_has_a_golden_file():
    covered = {command_of(name) for name in NAMES}
    assert covered == {c for c in format.FORMATTERS if not c.startswith('reset')}


@pytest.mark.parametrize(
    'command, answer, want',
    [
        (
            'reset fdb',
            {'interface': 'leon0', 'removed': 3},
            'leon0: 3 FDB entries removed',
        ),
        (
            'reset statistics',
            {'interface': 'leon0'},
            'leon0: statistics count from now on',
        ),
        (
            'reset node',
            {'interface': 'leon0', 'removed': 0, 'node_id': '10.0.0.3', 'name': None},
            'leon0: 0 FDB entries of 10.0.0.3 removed, its link is probed',
        ),
        ('show nodes', {'nodes': []}, 'No node is known.'),
        ('show paths', {'paths': []}, 'No other node is known.'),
        ('show events', {'events': []}, 'Nothing has happened yet.'),
    ],
)
def test_short_answers(command, answer, want):
    assert format.text(command, answer) == want


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
def test_ages(seconds, want):
    entry = {'at': 'now', 'age_seconds': seconds, 'event': 'path', 'text': 'x'}
    row = format.text('show events', {'events': [entry]}).splitlines()[1]
    assert row.removeprefix('now').removesuffix('path   x').strip() == want
