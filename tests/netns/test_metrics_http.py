# SPDX-License-Identifier: GPL-2.0-or-later
"""Metrics over HTTP for Prometheus. A hostile client cannot affect the daemon and can hardly
affect later clients."""
import http.client
import re
import resource
import socket
import threading
import time

import pytest

from lab import line_up, wait_for
from node import cpu_seconds, leonctl_program

PORT = 5366
CLIENTS_MAX = 32  # serve.c
SAMPLE = re.compile(r'[a-zA-Z_:][a-zA-Z0-9_:]*\{([a-z_]+="(\\.|[^"\\])*",?)+\} [0-9.e+-]+')


class Server:
    def __init__(self, node, path=None):
        self.node = node
        self.process = node.namespace.start(leonctl_program(), '--socket', path or node.socket,
                                            'metrics', '--listen', '127.0.0.1')
        wait_for(self.is_up, 20, 'somebody listens')

    def is_up(self):
        try:
            self.connect().close()
        except ConnectionRefusedError:
            assert self.process.poll() is None
            return False
        return True

    def connect(self):
        with self.node.namespace:
            s = socket.socket()
        s.settimeout(30)
        s.connect(('127.0.0.1', PORT))
        return s

    def say(self, request):
        """The whole answer to the given bytes."""
        with self.connect() as s:
            try:
                s.sendall(request)
                return read_all(s)
            except ConnectionError:
                return b''

    def get(self, path='/metrics', method='GET'):
        """(status, head, text)"""
        head, _, text = self.say(f'{method} {path} HTTP/1.1\r\nHost: x\r\n\r\n'.encode()).partition(b'\r\n\r\n')
        # None: closed in favour of other clients.
        return int(head.split()[1]) if head else None, head.decode(), text.decode()


def read_all(s):
    parts = []
    while True:
        part = s.recv(65536)
        if not part:
            return b''.join(parts)
        parts.append(part)


@pytest.fixture(scope='module')
def server(module_lab):
    return Server(module_lab(line_up(2, hosts=False)).joined().node['n0'])


def test_what_prometheus_gets(server):
    status, head, text = server.get()
    assert status == 200 and 'Content-Type: text/plain; version=0.0.4' in head
    assert f'Content-Length: {len(text.encode())}' in head and 'Connection: close' in head
    lines = [line for line in text.splitlines() if not line.startswith('#')]
    assert len(lines) > 100 and all(SAMPLE.fullmatch(line) for line in lines)
    assert re.search(r'^leon_node_reachable\{interface="leon0",node_id="\S+",name="n1"\} 1$', text, re.M)
    with server.node.namespace:  # an independent, strict library
        client = http.client.HTTPConnection('127.0.0.1', PORT, timeout=30)
        client.connect()
    client.request('GET', '/metrics')
    answer = client.getresponse()
    assert answer.status == 200 and answer.read().startswith(b'# HELP leon_')


def test_nothing_else_is_there(server):
    assert server.get('/')[0] == 200
    for path in ('/show', '/metrics/x', '//metrics', '/%2e%2e/etc/passwd'):
        assert server.get(path)[0] == 404, path
    for method in ('POST', 'PUT', 'DELETE', 'OPTIONS', 'CONNECT'):
        status, head, _ = server.get(method=method)
        assert status == 405 and 'Allow: GET, HEAD' in head
    status, head, text = server.get(method='HEAD')
    assert status == 200 and text == '' and 'Content-Length: 0' not in head


@pytest.mark.parametrize('garbage', [b'\0' * 5000, b'A' * 100_000, b'\x16\x03\x01\x02\0\x01' + b'\r\n\r\n', b'\r\n\r\n',
                                     b'GET /metrics SPDY\r\n\r\n', b'GET ' + b'/' * 6000 + b' HTTP/1.1\r\n\r\n'])
def test_garbage(server, garbage):
    # b'': reset, because unread data existed
    assert server.say(garbage)[:12] in (b'HTTP/1.1 400', b'')
    assert server.get()[0] == 200


def test_request_in_pieces(server):
    with server.connect() as s:
        for byte in b'GET /metrics HTTP/1.1\r\n\r\n':
            s.sendall(bytes([byte]))
        assert read_all(s).startswith(b'HTTP/1.1 200 OK')


def test_those_who_say_nothing_keep_nobody_out(server):
    silent = [server.connect() for _ in range(3 * CLIENTS_MAX)]
    assert server.get()[0] == 200
    # The server closes silent connections, for new clients or after a timeout.
    for s in silent:
        try:
            assert s.recv(1) == b''
        except ConnectionResetError:
            pass
        s.close()


def test_those_who_read_nothing_keep_nobody_out(server):
    slow = []
    for _ in range(2 * CLIENTS_MAX):
        s = server.connect()
        s.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 2048)
        s.sendall(b'GET /metrics HTTP/1.1\r\n\r\n')
        slow.append(s)
    assert server.get()[0] == 200
    for s in slow:
        s.close()


def counting(node, path, asked):
    """A socket that forwards each request to the daemon and counts."""
    listener = socket.socket(socket.AF_UNIX)
    listener.bind(path)
    listener.listen()

    def serve():
        while True:
            client, _ = listener.accept()
            asked.append(time.monotonic())
            with client, client.makefile() as request:
                client.sendall(node.request(request.readline().rstrip('\n')).encode())
    threading.Thread(target=serve, daemon=True).start()


def test_many_who_ask_are_one_question_for_the_daemon(lab, tmp_path):
    """The control thread gets one query a second for any number of scrapes."""
    node = lab(line_up(1, hosts=False)).node['n0']
    asked = []
    path = str(tmp_path / 'counting.sock')
    counting(node, path, asked)
    server = Server(node, path)
    began = time.monotonic()
    texts = [server.get()[2] for _ in range(300)]
    assert all(text.startswith('# HELP leon_') for text in texts)
    assert 1 <= len(asked) <= time.monotonic() - began + 2, asked
    assert len(set(texts)) <= len(asked)


def test_the_daemon_is_gone_and_comes_back(lab):
    node = lab(line_up(1, hosts=False)).node['n0']
    server = Server(node)
    assert server.get()[0] == 200
    node.stop()
    wait_for(lambda: server.get()[0] == 503, 20, 'no metrics of a daemon that is gone')
    assert 'leond is not running' in server.get()[2]
    node.start()
    wait_for(lambda: server.get()[0] == 200, 20, 'metrics again')


def test_no_cpu_time_without_a_descriptor(server):
    # poll() needs the limit of its list. A silent client has 5 s.
    resource.prlimit(server.process.pid, resource.RLIMIT_NOFILE, (1 + CLIENTS_MAX, 4096))
    waiting = [server.connect() for _ in range(1 + CLIENTS_MAX)]
    before = cpu_seconds(server.process)
    time.sleep(2)
    assert cpu_seconds(server.process) - before < .5
    resource.prlimit(server.process.pid, resource.RLIMIT_NOFILE, (4096, 4096))
    assert server.get()[0] == 200
    for s in waiting:
        s.close()


def test_where_it_cannot_listen(server):
    def run(where):
        return server.node.namespace.run(leonctl_program(), '--socket', server.node.socket, 'metrics',
                                         '--listen', where, check=False, timeout=20)
    for where in ('', 'localhost', '127.0.0.1:0', '127.0.0.1:99999', 'fe80::1', ':5366'):
        result = run(where)
        assert result.returncode == 2 and 'needs an IP address of this host' in result.stderr
    taken = run('127.0.0.1')
    assert taken.returncode == 1 and taken.stderr == \
        'leonctl: cannot listen at 127.0.0.1:5366: Address already in use\n'


def test_interface_with_a_quote(lab):
    node = lab(line_up(1, hosts=False, config={'interface': 'a"b\\'})).node['n0']
    lines = [line for line in node.ctl('metrics')['text'].splitlines() if not line.startswith('#')]
    assert lines and all(SAMPLE.fullmatch(line) and r'{interface="a\"b\\"' in line for line in lines)
