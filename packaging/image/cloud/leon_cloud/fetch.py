# SPDX-License-Identifier: GPL-2.0-or-later
"""Fetches a secret or a token: from https, from a file, or by http from the metadata service.

Called by apply.py. No redirect is followed, so that headers reach no other server. One deadline
covers name resolution, connection, TLS and the whole answer. Plain http goes to addresses of
metadata services only. Uses no proxy and reads no environment.
"""
import http.client
import ssl
import threading
import urllib.error
import urllib.parse

# Link-local or inside the cloud: AWS, Azure, Oracle and others; AWS and Google by IPv6.
METADATA = ('169.254.169.254', 'fd00:ec2::254', 'fd20:ce::254')


class Refused(ValueError):
    """An error that a retry cannot change."""


class PlainConnection(http.client.HTTPConnection):
    """Checks the address of the connection before a request is sent."""

    def connect(self):
        super().connect()
        address = self.sock.getpeername()[0]
        if address not in METADATA:
            self.close()
            raise Refused(f'{self.host} is {address}, which is no metadata service; http:// would '
                          'send the request in the clear')


def _connection(where, seconds):
    if where.scheme == 'http':
        return PlainConnection(where.hostname, where.port, timeout=seconds)
    return http.client.HTTPSConnection(where.hostname, where.port, timeout=seconds,
                                       context=ssl.create_default_context())


def _answer(url, headers, size, seconds):
    where = urllib.parse.urlsplit(url)
    if where.scheme == 'file':
        with open(urllib.parse.unquote(where.path), 'rb') as file:
            return file.read(size)
    if where.scheme not in ('http', 'https'):
        raise Refused('only https://, http:// and file:// are known')
    connection = _connection(where, seconds)
    try:
        target = urllib.parse.urlunsplit(('', '', where.path or '/', where.query, ''))
        connection.request('GET', target, headers=headers)
        answer = connection.getresponse()
        if 300 <= answer.status < 400:
            raise Refused(f'it answers with a redirect ({answer.status}), and none is followed; '
                          'give the address that it leads to')
        if answer.status != 200:
            raise urllib.error.HTTPError(url, answer.status, answer.reason, answer.headers, None)
        return answer.read(size)
    except http.client.HTTPException as error:
        raise OSError(f'the server speaks no HTTP: {error!r}') from error
    finally:
        connection.close()


def fetch(url, headers, size, seconds):
    """Returns at most `size` bytes within `seconds`, or raises OSError or ValueError."""
    outcome = []

    def run():
        try:
            outcome.append((_answer(url, headers, size, seconds), None))
        except (OSError, ValueError) as error:
            outcome.append((None, error))

    # The time limit of a socket restarts with each byte, and name resolution has no limit. A thread
    # beyond the deadline ends with the program.
    thread = threading.Thread(target=run, daemon=True)
    thread.start()
    thread.join(seconds)
    if not outcome:
        raise TimeoutError(f'no whole answer within {seconds:.0f} s')
    data, error = outcome[0]
    if error:
        raise error
    return data
