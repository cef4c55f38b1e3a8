# SPDX-License-Identifier: GPL-2.0-or-later
"""leon-cloud fetches from servers that redirect, answer slowly, or provide no metadata. All
servers are on the loopback interface.
"""
import http.server
import sys
import threading
import time
from pathlib import Path

import pytest

TOP = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(TOP / 'packaging/image/cloud'))

from leon_cloud import apply, fetch  # noqa: E402

HEADERS = {'Authorization': 'Bearer of all'}
FOR_EVER_S = 60


class Server:
    """Answers each GET by a function of the request handler; `seen` has (path, Authorization)."""

    def __init__(self, answer):
        self.seen = []
        seen = self.seen

        class Handler(http.server.BaseHTTPRequestHandler):
            def do_GET(self):  # noqa: N802
                seen.append((self.path, self.headers.get('Authorization')))
                try:
                    answer(self)
                except OSError:
                    pass  # the other end has closed the connection

            def log_message(self, *_):
                pass

        self.server = http.server.ThreadingHTTPServer(('127.0.0.1', 0), Handler)
        self.server.daemon_threads = True
        self.url = f'http://127.0.0.1:{self.server.server_address[1]}'
        threading.Thread(target=self.server.serve_forever, daemon=True).start()

    def close(self):
        self.server.shutdown()
        self.server.server_close()


@pytest.fixture
def serve(monkeypatch):
    """Creates servers. The loopback address is the address of a metadata service."""
    monkeypatch.setattr(fetch, 'METADATA', ('127.0.0.1',))
    made = []

    def start(answer):
        made.append(Server(answer))
        return made[-1]

    yield start
    for server in made:
        server.close()


def page(text, status=200, **headers):
    def answer(handler):
        handler.send_response(status)
        for name, value in headers.items():
            handler.send_header(name, value)
        handler.end_headers()
        handler.wfile.write(text)
    return answer


def drip(head):
    """A server that sends one byte at a time without end, in the header or in the body."""
    def answer(handler):
        handler.wfile.write(head)
        end = time.monotonic() + FOR_EVER_S
        while time.monotonic() < end:
            handler.wfile.write(b'x')
            handler.wfile.flush()
            time.sleep(.05)
    return answer


def get(url, seconds=10):
    return apply.Machine().fetch(url, HEADERS, seconds)


def test_page_with_the_headers_that_were_given(serve):
    server = serve(page(b'a secret\n'))
    assert get(f'{server.url}/secret?version=2') == b'a secret\n'
    assert server.seen == [('/secret?version=2', HEADERS['Authorization'])]


def test_long_page_is_not_read_whole(serve):
    assert len(get(serve(page(b'x' * 100000)).url)) == apply.SECRET_BYTES + 1


@pytest.mark.parametrize('status', [301, 302, 303, 307, 308])
def test_redirect_is_not_followed(serve, status):
    """Redirects to another server, which would receive the header, and to the same server are
    refused."""
    other = serve(page(b'not yours'))
    for where in (other.url, '/elsewhere', 'ftp://127.0.0.1/', 'file:///etc/hostname'):
        server = serve(page(b'', status, Location=where))
        with pytest.raises(fetch.Refused, match='redirect'):
            get(server.url)
        assert len(server.seen) == 1
    assert other.seen == []


def test_address_of_plain_http_is_judged_when_connected(serve, monkeypatch):
    """A metadata name resolves to another machine. leon-cloud sends nothing."""
    server = serve(page(b'not yours'))
    monkeypatch.setattr(fetch, 'METADATA', ('169.254.169.254',))
    with pytest.raises(fetch.Refused, match='no metadata service'):
        get(server.url.replace('127.0.0.1', 'localhost'))
    assert server.seen == []


@pytest.mark.parametrize('head', [b'HTTP/1.1 200 OK\r\nX: ', b'HTTP/1.1 200 OK\r\n\r\n'],
                         ids=['header', 'body'])
def test_dripping_server_ends_at_the_deadline(serve, head):
    """Each byte arrives within the time limit of the socket, and the whole answer never."""
    server = serve(drip(head))
    began = time.monotonic()
    with pytest.raises(OSError, match='no whole answer within 1 s'):
        get(server.url, 1)
    assert time.monotonic() - began < FOR_EVER_S / 2


def test_garbage_is_an_error_as_any_other(serve):
    with pytest.raises(OSError, match='no HTTP'):
        get(serve(lambda handler: handler.wfile.write(b'SSH-2.0-dropbear\r\n\r\n')).url)


def test_other_schemes_are_refused():
    with pytest.raises(ValueError, match='only https'):
        get('ftp://127.0.0.1/secret')


def test_file(tmp_path):
    (tmp_path / 'a secret').write_bytes(b'from a disk')
    assert get(f'file://{tmp_path}/a%20secret') == b'from a disk'
    with pytest.raises(OSError):
        get('file:///nowhere')
