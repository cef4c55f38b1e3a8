# SPDX-License-Identifier: GPL-2.0-or-later
"""Scripts with the real leonctl and an absent or misbehaving daemon."""

import os
import shutil
import tempfile
from pathlib import Path

import pytest
from conftest import LEONCTL
from vyos_leon import client


def test_request_and_answer_are_one_line_each(daemon):
    served = daemon({'version': 1, 'paths': []})
    assert client.request('leon0', 'show', 'paths') == {'version': 1, 'paths': []}
    assert served.requests == [{'version': 1, 'command': 'show paths', 'arguments': {}}]


def test_text_is_what_leonctl_prints(daemon):
    served = daemon({'version': 1, 'paths': []})
    assert client.text('leon0', 'show', 'paths') == 'No other node is known.'
    assert served.requests == [{'version': 1, 'command': 'show paths', 'arguments': {}}]


def test_arguments_are_passed_on(daemon):
    served = daemon({'version': 1})
    for node in ('seoul', '-h', '--json', 'a b', "'$(id)"):
        client.request('leon0', 'explain', 'path', node)
        assert served.requests.pop()['arguments'] == {'node': node}


def test_large_answers_arrive_whole(daemon):
    entries = [{'mac': f'02:00:00:00:{i >> 8:02x}:{i & 255:02x}'} for i in range(20000)]
    daemon({'version': 1, 'entries': entries})
    assert client.request('leon0', 'show', 'fdb')['entries'] == entries


def test_a_great_fdb_is_shown(daemon):
    """More than leonctl reads of a configuration: 16 MiB are some 100,000 hosts."""
    n = 130000
    entry = {'vlan': 0, 'node_id': '10.0.0.1', 'name': 'fujisawa', 'local': True, 'age_seconds': 2,
             'moves': 0, 'frozen': False}
    entries = [{'mac': f'02:00:00:{i >> 16:02x}:{i >> 8 & 255:02x}:{i & 255:02x}', **entry}
               for i in range(n)]
    daemon({'version': 1, 'interface': 'leon0', 'entries': entries, 'count': n, 'maximum': n})
    text = client.text('leon0', 'show', 'fdb')
    assert text.count('fujisawa') == n and entries[-1]['mac'] in text


@pytest.fixture(params=[client.request, client.text], ids=['request', 'text'])
def ask(request):
    return request.param


def expect(error, match, ask, *words):
    """Exactly the given class, and no derived class."""
    with pytest.raises(client.ClientError, match=match) as caught:
        ask('leon0', *words)
    assert type(caught.value) is error
    assert '\n' not in str(caught.value)


def test_refusal_is_the_daemons_sentence(daemon, ask):
    daemon({'version': 1, 'error': 'no node is known as "x": see `show nodes`'})
    expect(client.Refused, '^no node is known as "x"', ask, 'explain', 'path', 'x')


def test_wrong_words_are_refused(daemon, ask):
    assert daemon({'version': 1}).requests == []
    expect(client.Refused, '^explain path: missing node', ask, 'explain', 'path')


def test_nobody_who_answers_a_ping_is_an_answer(daemon):
    daemon({'destination': '10.0.0.3', 'sent': 5, 'received': 0, 'replies': []})
    assert '5 sent, 0 received' in client.text('leon0', 'ping', 'seoul')


def test_no_socket(run_dir, ask):
    expect(client.ClientError, '^leond is not running', ask, 'show', 'paths')


def test_socket_of_a_dead_daemon(daemon, ask):
    daemon({}).close()
    expect(client.ClientError, '^leond is not running', ask, 'show', 'paths')


def test_socket_of_somebody_else(daemon, run_dir, ask, monkeypatch):
    daemon({'version': 1, 'paths': []})
    os.chmod(run_dir / 'leon0.sock', 0)
    with tempfile.TemporaryDirectory() as folder:
        if os.getuid() == 0:
            # Root may use every socket.
            os.chmod(folder, 0o755)
            os.chmod(run_dir, 0o755)
            shutil.copy(LEONCTL, f'{folder}/program')
            nobody = Path(folder, 'leonctl')
            nobody.write_text(
                '#!/bin/sh\nexec setpriv --reuid 65534 --regid 65534 --clear-groups '
                f'{folder}/program "$@"\n'
            )
            nobody.chmod(0o755)
            monkeypatch.setattr(client, 'LEONCTL', str(nobody))
        expect(client.NotPermitted, 'member of the socket.s group', ask, 'show', 'paths')


@pytest.mark.parametrize(
    'answer, text',
    [
        (None, 'closed the connection without an answer'),
        (b'{"version": 1', 'closed the connection without an answer'),
        (b'not json\n', 'invalid answer of leond'),
        (b'[1]\n', 'invalid answer of leond'),
    ],
)
def test_broken_answers(daemon, ask, answer, text):
    daemon(answer)
    expect(client.ClientError, text, ask, 'show', 'paths')


def test_an_answer_with_a_fault_in_it(daemon):
    """leonctl prints the text before the error, and the result is not an answer."""
    daemon({'version': 1, 'nodes': [{'node_id': 1}]})
    expect(client.ClientError, 'invalid answer of leond', client.text, 'show', 'nodes')


def test_silence_ends_at_the_deadline(run_dir, ask, tmp_path, monkeypatch):
    """tests/unit/test_ctlsock.c tests the deadline of leonctl. Here: the status and the message."""
    program = tmp_path / 'leonctl'
    program.write_text('#!/bin/sh\necho "leonctl: leond did not answer in time" >&2; exit 3\n')
    program.chmod(0o755)
    monkeypatch.setattr(client, 'LEONCTL', str(program))
    expect(client.ClientError, '^leond did not answer in time$', ask, 'show', 'paths')


def test_no_leonctl(run_dir, ask, monkeypatch):
    monkeypatch.setattr(client, 'LEONCTL', f'{run_dir}/leonctl')
    expect(client.ClientError, 'leonctl cannot be run: No such file', ask, 'show', 'paths')
