# SPDX-License-Identifier: GPL-2.0-or-later
"""Queries leond by leonctl, so the texts in VyOS and in leonctl are equal.

The op-mode script and the configuration script (reload) use the module. Every failure is a
ClientError with one sentence of leonctl for the operator.
"""

import json
import subprocess

LEONCTL = '/usr/bin/leonctl'
RUN_DIR = '/run/leon'
# leonctl(8), EXIT STATUS.
NO_ANSWER, NOT_PERMITTED = 3, 4


class ClientError(Exception):
    """No answer."""


class NotPermitted(ClientError):
    """Only root and the group leon may use the socket."""


class Refused(ClientError):
    """The daemon refused the request; the text is the daemon's."""


ERRORS = {NO_ANSWER: ClientError, NOT_PERMITTED: NotPermitted}


def _leonctl(interface, *words, options=()):
    """The output of leonctl, with a newline. Status 1 with a text is also an answer: no reply to a
    ping."""
    socket = f'{RUN_DIR}/{interface}.sock'
    command = [LEONCTL, '--socket', socket, *options, '--', *words]
    try:
        done = subprocess.run(command, capture_output=True, text=True)
    except OSError as e:
        raise ClientError(f'{LEONCTL} cannot be run: {e.strerror}') from None
    error = ERRORS.get(done.returncode)
    if error is None and done.stdout:
        return done.stdout
    raise (error or Refused)(_reason(done))


def _reason(done):
    """The error of leonctl: an object on stdout with --json, else a line on stderr."""
    if done.stdout.startswith('{'):
        return json.loads(done.stdout)['error']
    return done.stderr.strip().removeprefix('leonctl: ')


def request(interface, *words, options=()):
    """The daemon's answer as a dictionary, unchanged."""
    answer = json.loads(_leonctl(interface, *words, options=['--json', *options]))
    if 'error' in answer:
        raise Refused(answer['error'])
    return answer


def text(interface, *words, options=()):
    """The output of leonctl without a newline at the end."""
    return _leonctl(interface, *words, options=options).rstrip('\n')
