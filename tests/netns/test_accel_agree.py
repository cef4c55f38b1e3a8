# SPDX-License-Identifier: GPL-2.0-or-later
"""Two accelerators agree on a connection or leave the connection plain."""
import contextlib
import fcntl
import os
import resource
import socket
import struct
import termios
import time

import pytest

from accel import CONFIG, MB, both_ways, far_apart, metric, receive
from lab import wait_for
from node import cpu_seconds


@pytest.fixture
def far(lab):
    with far_apart(lab({'sites': {'a': {}, 'b': {}}, 'rtt_ms_default': 100, 'config': CONFIG})) as made:
        yield made


def retransmissions(s):
    """tcpi_total_retrans."""
    return struct.unpack('<I', s.getsockopt(socket.IPPROTO_TCP, socket.TCP_INFO, 104)[100:])[0]


class HalfClosed:
    """A client sent FIN, and the server continues to send."""

    def __init__(self, client, server, port=5999):
        with server.namespace:
            listener = socket.create_server((server.ip4, port))
        with client.namespace:
            self.client = socket.create_connection((server.ip4, port), 60)
        self.server, _ = listener.accept()
        listener.close()
        self.client.settimeout(20)
        self.client.shutdown(socket.SHUT_WR)
        assert self.server.recv(1) == b''

    def flows(self, n):
        """n blocks arrive in order."""
        for i in range(n):
            block = bytes([i % 256]) * 1000
            self.server.sendall(block)
            got = b''
            while len(got) < len(block):
                more = self.client.recv(len(block) - len(got))
                assert more, 'ended'
                got += more
            assert got == block


@pytest.mark.parametrize('who', ['a', 'b'])
def test_half_closed_over_an_orderly_restart(far, who):
    """The restarted accelerator has no record of the FIN, but the other accelerator does."""
    c = HalfClosed(far.host['a'], far.host['b'])
    c.flows(20)
    far.wait_intercepted()
    assert far.accel[who].stop() == 0
    c.flows(5)
    far.accel[who].start()
    wait_for(lambda: all(set(x.carriers()) == {'up'} for x in far.accel.values()), 30, 'carriers are up')
    other = {'a': 'b', 'b': 'a'}[who]

    def is_refused():
        c.flows(5)
        return far.accel[other].counters()['fin_differs'] > 0
    wait_for(is_refused, 30, 'the two nodes differ')
    c.flows(20)
    c.server.close()
    assert c.client.recv(1) == b''


def test_held_frames_are_delivered_after_a_fin(far):
    """The held frames acknowledge the FIN of the other host. A proxy socket that had not sent the
    FIN would discard the frames, and the host would retransmit them after its timeout."""
    b = far.host['b'].namespace
    b.sysctl('ipv4/tcp_early_retrans', 0)
    b.ip('route replace 10.10.0.0/16 dev eth0 rto_min 60s')
    c = HalfClosed(far.host['a'], far.host['b'])

    def is_intercepted():
        c.flows(1)
        return far.taken() == [1, 1]
    wait_for(is_intercepted, 60, 'intercepted')
    c.flows(5)
    assert retransmissions(c.server) == 0


def test_no_cpu_time_without_credit(far):
    """Both hosts sent FIN, and the client reads nothing. The proxy socket of the server has data
    without credit."""
    c = HalfClosed(far.host['a'], far.host['b'])
    c.flows(20)
    far.wait_intercepted()
    c.server.setsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF, 1 << 14)
    c.server.settimeout(2)
    sent = got = 0
    with contextlib.suppress(TimeoutError):
        while True:
            sent += c.server.send(bytes(1 << 14))
    c.server.shutdown(socket.SHUT_WR)
    # The FIN of the server reaches the proxy socket.
    while fcntl.ioctl(c.server, termios.TIOCOUTQ, bytes(4)) != bytes(4):
        got += len(c.client.recv(1 << 16))
        time.sleep(.5)
    process = far.accel['b'].process
    before = cpu_seconds(process)
    time.sleep(5)
    assert cpu_seconds(process) - before < .5
    receive(c.client, sent - got)
    assert c.client.recv(1) == b''
    far.assert_no_resets()


def test_no_cpu_time_without_a_descriptor(far):
    """Node b accepts the inter-proxy connection."""
    process = far.accel['b'].process
    resource.prlimit(process.pid, resource.RLIMIT_NOFILE, (3, 4096))
    far.accel['a'].kill()
    far.accel['a'].start()
    wait_for(lambda: [line for line in far.accel['b'].namespace.run('ss', '-Hltn').stdout.splitlines()
                      if int(line.split()[1])], 30, 'a connection waits')
    before = cpu_seconds(process)
    time.sleep(3)
    assert cpu_seconds(process) - before < .5
    resource.prlimit(process.pid, resource.RLIMIT_NOFILE, (4096, 4096))
    far.ready()


def test_no_descriptor_for_the_queues(far):
    """leon-accel can connect, and gets no queues. Frames without a reader would be lost."""
    node, a = far.node['a'], far.accel['a']
    a.stop()
    node.stop()
    a.start()
    wait_for(a.show, 10, 'it runs')
    # An attempt to connect needs the next descriptor temporarily.
    used = set.intersection(*[{int(fd) for fd in os.listdir(f'/proc/{a.process.pid}/fd')} for _ in range(5)])
    limit = min(set(range(len(used) + 2)) - used) + 1
    resource.prlimit(a.process.pid, resource.RLIMIT_NOFILE, (limit, 4096))
    far.lab.start('a')
    far.lab.joined(60)
    wait_for(lambda: 'no file descriptor is left for the queues of leond: got 0 of ' in a.log(), 30, 'it is named')
    t = both_ways((far.host['a'], far.host['b']))
    t.wait_more(MB)
    resource.prlimit(a.process.pid, resource.RLIMIT_NOFILE, (4096, 4096))
    far.wait_intercepted()
    t.finish(60).assert_whole()


def test_urgent_data_is_not_lost(far):
    """Mark and byte arrive, though the connection was intercepted."""
    a, b = far.host['a'], far.host['b']
    with b.namespace:
        listener = socket.create_server((b.ip4, 5998))
    with a.namespace:
        client = socket.create_connection((b.ip4, 5998), 60)
    server, _ = listener.accept()
    server.setsockopt(socket.SOL_SOCKET, socket.SO_OOBINLINE, 1)
    server.settimeout(60)
    client.settimeout(60)
    for _ in range(20):
        client.sendall(b'x' * 1000)
        server.sendall(b'y')
        assert receive(server, 1000) == b'x' * 1000
        assert client.recv(1) == b'y'
    far.wait_intercepted()
    client.sendall(b'abc')
    client.send(b'!', socket.MSG_OOB)
    client.sendall(b'def')
    # A read ends in front of the mark.
    assert server.recv(100) == b'abc'
    assert receive(server, 4) == b'!def'
    far.wait_returned()
    far.assert_no_resets()


@pytest.mark.parametrize('who', ['a', 'b'])
def test_no_descriptor_is_left(far, who):
    """A node cannot create a proxy socket. The connection stays plain, no matter which node
    started."""
    pid, other = far.accel[who].process.pid, far.accel[{'a': 'b', 'b': 'a'}[who]]
    resource.prlimit(pid, resource.RLIMIT_NOFILE, (3, 4096))
    t = both_ways((far.host['a'], far.host['b']))
    # The control socket of the node has no descriptor either.
    wait_for(lambda: other.counters()['refused'] > 0 or t.error, 30, 'no socket can be made')
    t.wait_more(MB)
    assert other.counters()['intercepted'] == 0
    resource.prlimit(pid, resource.RLIMIT_NOFILE, (4096, 4096))
    far.wait_intercepted()
    failed = far.accel[who].counters()
    assert failed['socket_files'] + failed['socket_memory'] > 0
    assert 'no proxy socket can be made: ' in far.accel[who].log()
    node = far.node[who]
    wait_for(lambda: 'accelerator-fault' in [e['event'] for e in node.show('events')['events']], 30,
             'leond reports it')
    wait_for(lambda: sum(node.show('acceleration')['counted'][kind]
                         for kind in ('socket_files', 'socket_memory')) > 0, 30, 'leonctl counts it')
    assert metric(node, 'accel_fault_total') is not None
    t.finish(60).assert_whole()
    far.assert_no_resets()
