# SPDX-License-Identifier: GPL-2.0-or-later
"""Client of the control socket of leond: one line of JSON there, one line of JSON back.

Used by the op-mode script, by the configuration script (reload) and by tests. Blocking,
with one deadline for the whole exchange. Every failure is a ClientError whose text is
one sentence for the operator.
"""

import json
import socket
import time

RUN_DIR = '/run/leon'
VERSION = 1
# A ping of 100 packets takes 20 s, and the last one may be lost.
TIMEOUT_S = 30.0
ANSWER_MAX = 64 << 20


class ClientError(Exception):
    """No answer."""


class NotRunning(ClientError):
    """Nobody listens at the socket."""


class NotPermitted(ClientError):
    """The socket is for root and the group leon."""


class Refused(ClientError):
    """The daemon answered that it will not; the text is the daemon's."""


def socket_path(interface):
    return f'{RUN_DIR}/{interface}.sock'


def _remaining(deadline):
    left = deadline - time.monotonic()
    if left <= 0:
        raise TimeoutError
    return left


def _read_line(sock, deadline):
    chunks = []
    size = 0
    while True:
        sock.settimeout(_remaining(deadline))
        chunk = sock.recv(1 << 16)
        if not chunk:
            raise ConnectionResetError
        chunks.append(chunk)
        size += len(chunk)
        if chunk.endswith(b'\n'):
            return b''.join(chunks)
        if size > ANSWER_MAX:
            raise ClientError(f'leond sent more than {ANSWER_MAX} bytes')


def _exchange(path, line, timeout):
    deadline = time.monotonic() + timeout
    with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as sock:
        sock.settimeout(_remaining(deadline))
        sock.connect(path)
        sock.settimeout(_remaining(deadline))
        sock.sendall(line)
        return _read_line(sock, deadline)


def _ask(path, line, timeout):
    try:
        return _exchange(path, line, timeout)
    except (FileNotFoundError, ConnectionRefusedError):
        raise NotRunning(f'leond is not running (nobody listens at {path})') from None
    except PermissionError:
        raise NotPermitted(f'{path} is for root and the group leon') from None
    except TimeoutError:
        raise ClientError(f'leond did not answer within {timeout:g} s') from None
    except (ConnectionResetError, BrokenPipeError):
        raise ClientError('leond closed the connection without an answer') from None


def request(interface, command, arguments=None, timeout=TIMEOUT_S, path=None):
    """The daemon's answer as a dictionary, unchanged."""
    message = {'version': VERSION, 'command': command, 'arguments': arguments or {}}
    line = json.dumps(message).encode() + b'\n'
    text = _ask(path or socket_path(interface), line, timeout)
    try:
        answer = json.loads(text)
    except ValueError:
        answer = None
    if not isinstance(answer, dict):
        raise ClientError('leond sent an answer that is not JSON')
    if 'error' in answer:
        raise Refused(answer['error'])
    return answer
