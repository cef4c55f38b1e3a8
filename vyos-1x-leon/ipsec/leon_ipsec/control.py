# SPDX-License-Identifier: GPL-2.0-or-later
"""The control socket of leond: a request and an answer, each a line of JSON. Every failure is a
ControlError of one sentence."""
import json
import socket
import time

VERSION = 1
TIMEOUT_S = 5.0
ANSWER_MAX = 64 << 20


class ControlError(Exception):
    """leond does not run or refused the request."""


def _exchange(path, line, timeout):
    deadline = time.monotonic() + timeout
    with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as sock:
        sock.settimeout(timeout)
        sock.connect(path)
        sock.sendall(line)
        chunks, size = [], 0
        while not chunks or not chunks[-1].endswith(b'\n'):
            sock.settimeout(max(0.001, deadline - time.monotonic()))
            chunk = sock.recv(1 << 16)
            size += len(chunk)
            if not chunk or size > ANSWER_MAX:
                raise ControlError('leond sent half an answer')
            chunks.append(chunk)
    return b''.join(chunks)


def request(path, command, arguments=None, timeout=TIMEOUT_S):
    message = {'version': VERSION, 'command': command, 'arguments': arguments or {}}
    try:
        answer = json.loads(_exchange(path, json.dumps(message).encode() + b'\n', timeout))
    except OSError as e:
        raise ControlError(f'leond does not answer at {path}: {e.strerror or e}') from None
    except ValueError:
        raise ControlError('leond sent an answer that is not JSON') from None
    if not isinstance(answer, dict):
        raise ControlError('leond sent an answer that is not an object')
    if 'error' in answer:
        raise ControlError(f'leond refuses {command}: {answer["error"]}')
    return answer
