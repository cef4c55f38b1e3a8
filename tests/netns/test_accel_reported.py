# SPDX-License-Identifier: GPL-2.0-or-later
"""Reports of a simulated leon-accel to leond. leond requests one each second, and survives every
answer and every death."""
import contextlib
import json
import os
import socket
import threading

import pytest

from accel import CONFIG
from lab import wait_for
from node import LeonctlError

HERE, VERSION = 1, 7
GONE = 'accelerator-gone'
# leond takes a leon-accel without a report for five seconds as hung.
HUNG_S = 30
REPORT = {'version': 1, 'connections_tracked': 12, 'connections_intercepted': 3,
          'counters': {'reset': 9, 'stray_frames': 4}, 'plain': {'later': 7}}
CONN = {'vlan': 7, 'near': '192.0.2.1:1', 'far': '[2001:db8::1]:2', 'node': '10.0.0.9',
        'state': 'plain', 'reason': 'later', 'times_intercepted': 1}


@pytest.fixture
def one(lab):
    net = lab({'sites': {'a': {}}, 'config': {'acceleration': CONFIG['acceleration']}})
    return net.node['a']


class Simulated:
    """A leon-accel that answers each request with answer(request): bytes, or None for silence."""

    def __init__(self, node, answer):
        self.answer, self.requests, self.open = answer, [], []
        self.leond = socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        self.control = socket.socket(socket.AF_UNIX)
        self.path = node.socket.replace('.sock', '.accel.sock')
        self.control.bind(self.path)
        self.control.listen(8)
        self.threads = [threading.Thread(target=self.serve, daemon=True)]
        self.threads[0].start()
        self.leond.connect(node.socket.replace('.sock', '.accel'))
        self.leond.send(bytes([HERE, VERSION]))

    def serve(self):
        with contextlib.suppress(OSError):
            while True:
                s = self.control.accept()[0]
                request = json.loads(s.makefile().readline())
                self.requests.append(request)
                answer = self.answer(request)
                if answer is None:
                    self.open.append(s)
                    continue
                # leond may close before the end.
                with contextlib.suppress(OSError):
                    s.sendall(answer)
                s.close()

    def close(self):
        self.control.shutdown(socket.SHUT_RDWR)
        for s in (self.control, self.leond, *self.open):
            s.close()
        os.unlink(self.path)


@contextlib.contextmanager
def simulated(node, answer):
    accel = Simulated(node, answer)
    try:
        yield accel
    finally:
        accel.close()


def line(document):
    return json.dumps(document).encode() + b'\n'


def report(nodes=(), **more):
    return line({**REPORT, 'nodes': list(nodes), **more})


def state(node):
    return node.show('acceleration')['state']


def kinds(node):
    return [e['event'] for e in node.events()]


def test_report(one):
    """All values arrive. A missing number is 0, and a node without an id is left out."""
    def answer(_):
        return report([{'node': '0.0.0.0'}, {'node': '10.0.0.9', 'reached': True, 'reset': 1}])

    with simulated(one, answer) as accel:
        wait_for(lambda: state(one) == 'running', HUNG_S, 'the report is there')
        shown = one.show('acceleration')
        assert (shown['tracked'], shown['connections'], shown['held_bytes']) == (12, 3, 0)
        assert (shown['counted']['reset'], shown['counted']['stray_frames']) == (9, 4)
        assert shown['plain']['later'] == 7
        wait_for(lambda: len(accel.requests) > 3, HUNG_S, 'reports are requested again')
        assert {r['command'] for r in accel.requests} == {'show acceleration'}
    wait_for(lambda: state(one) == 'absent', HUNG_S, 'its end is noticed')
    gone = one.events(GONE)[-1]
    assert '3 intercepted connections are lost' in gone['text']


INVALID = {
    'nothing': b'',
    'half': b'{"version":1,',
    'garbage': b'garbage\n',
    'zero': b'\0\n',
    'array': b'[]\n',
    'error': line({'version': 1, 'error': 'unknown command'}),
    'nodes': line({**REPORT, 'nodes': 7}),
    'number': line({**REPORT, 'counters': {'reset': 'many'}, 'nodes': []}),
    'long': b' ' * (2 << 20),
    'silence': None,
}


@pytest.mark.parametrize('kind', INVALID)
def test_invalid_report(one, kind):
    """leond answers during all this, and takes leon-accel as hung after five seconds."""
    with simulated(one, lambda _: INVALID[kind]):
        wait_for(lambda: GONE in kinds(one), HUNG_S, 'it counts as hung')
        assert state(one) == 'absent'
    with simulated(one, lambda _: report()):
        wait_for(lambda: state(one) == 'running', HUNG_S, 'the next one is heard')


def test_pages(one):
    """leond requests pages until the last one, or to its limit."""
    def answer(request):
        if request['command'] == 'show acceleration':
            return report()
        behind = request['arguments']['behind']
        return line({'connections': [{**CONN, 'serial': behind + 1}], 'after': max(0, 2 - behind)})

    with simulated(one, answer):
        wait_for(lambda: state(one) == 'running', HUNG_S, 'the report is there')
        shown = one.ctl('show', 'acceleration', 'connections')
    assert shown['omitted'] == 0 and len(shown['connections']) == 3
    conn = shown['connections'][0]
    assert {k: conn[k] for k in ('vlan', 'near', 'far', 'state', 'reason', 'node_id')} == {
        'vlan': 7, 'near': '192.0.2.1:1', 'far': '[2001:db8::1]:2', 'state': 'released',
        'reason': 'later', 'node_id': '10.0.0.9'}


@pytest.mark.parametrize('page', [
    {'connections': [], 'after': 1}, {'connections': [{**CONN, 'serial': 1}], 'after': 1},
    {'connections': [{'serial': 1}], 'after': 0}, {'connections': 1, 'after': 0},
    {'connections': []}, {}])
def test_pages_that_never_end(one, page):
    """Pages that repeat or lack connections end in a refusal."""
    def answer(request):
        return report() if request['command'] == 'show acceleration' else line(page)

    with simulated(one, answer):
        wait_for(lambda: state(one) == 'running', HUNG_S, 'the report is there')
        with pytest.raises(LeonctlError, match='does not answer'):
            one.ctl('show', 'acceleration', 'connections')
        assert state(one) == 'running'
