# SPDX-License-Identifier: GPL-2.0-or-later
"""The control socket's client against a daemon that is not there, or misbehaves."""

import socket

import pytest
from vyos_leon import client


def test_request_and_answer_are_one_line_each(daemon):
    served = daemon({'version': 1, 'paths': []})
    assert client.request('leon0', 'show paths') == {'version': 1, 'paths': []}
    assert served.requests == [{'version': 1, 'command': 'show paths', 'arguments': {}}]


def test_arguments_are_passed_on(daemon):
    served = daemon({'version': 1})
    client.request('leon0', 'explain path', {'node': 'seoul'})
    assert served.requests[0]['arguments'] == {'node': 'seoul'}


def test_large_answers_arrive_whole(daemon):
    entries = [{'mac': f'02:00:00:00:{i >> 8:02x}:{i & 255:02x}'} for i in range(20000)]
    daemon({'version': 1, 'entries': entries})
    assert client.request('leon0', 'show fdb')['entries'] == entries


def test_refusal_is_the_daemons_sentence(daemon):
    daemon({'version': 1, 'error': 'no node is known as "x": see `show nodes`'})
    with pytest.raises(client.Refused, match='no node is known as "x"'):
        client.request('leon0', 'explain path', {'node': 'x'})


def test_no_socket(run_dir):
    with pytest.raises(client.NotRunning, match='leond is not running'):
        client.request('leon0', 'show paths')


def test_socket_of_a_dead_daemon(daemon):
    daemon({}).close()
    with pytest.raises(client.NotRunning, match='leond is not running'):
        client.request('leon0', 'show paths')


def test_socket_of_somebody_else(monkeypatch):
    # Simulated, since root may use every socket.
    def refuse(*_):
        raise PermissionError

    monkeypatch.setattr(client, '_exchange', refuse)
    with pytest.raises(client.NotPermitted, match='root and the group leon'):
        client.request('leon0', 'show paths')


@pytest.mark.parametrize(
    'answer, text',
    [
        (None, 'closed the connection without an answer'),
        (b'{"version": 1', 'closed the connection without an answer'),
        (b'not json\n', 'not JSON'),
        (b'[1]\n', 'not JSON'),
    ],
)
def test_broken_answers(daemon, answer, text):
    daemon(answer)
    with pytest.raises(client.ClientError, match=text):
        client.request('leon0', 'show paths')


def test_silence_ends_at_the_deadline(run_dir):
    with socket.socket(socket.AF_UNIX) as listener:
        listener.bind(str(run_dir / 'leon0.sock'))
        listener.listen()
        with pytest.raises(client.ClientError, match='did not answer within 0.1 s'):
            client.request('leon0', 'show paths', timeout=0.1)


def test_an_endless_answer_is_given_up(daemon, monkeypatch):
    monkeypatch.setattr(client, 'ANSWER_MAX', 1000)
    daemon(b'x' * 200000)
    with pytest.raises(client.ClientError, match='more than 1000 bytes'):
        client.request('leon0', 'show paths')
