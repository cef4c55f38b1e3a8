# SPDX-License-Identifier: GPL-2.0-or-later
"""Events at hosts, links and processes with intercepted connections. No byte is wrong, and nothing
hangs. `make eval-accel` runs the tests."""
import hashlib
import os
import random
import selectors
import socket
import struct
import time

import pytest

from accel import CONFIG, ENDLESS, MB, Transfer, both_ways
from lab import merged, wait_for
from traffic import Tagger

TCP_MD5SIG, IPPROTO_MPTCP = 14, 262
RTT_MS = 60


def is_idle(far):
    """No data arrived for a second."""
    before = far.accel['a'].counters()['bytes_in'], far.accel['b'].counters()['bytes_in']
    time.sleep(1)
    return before == (far.accel['a'].counters()['bytes_in'], far.accel['b'].counters()['bytes_in'])


# --- death of leond; tests/netns has a death with a quick restart ---

@pytest.mark.parametrize('who', ['a', 'b'])
def test_leond_killed_for_long(far, ends, who):
    """The host at the other node receives RST within 10 s, and the near host after the return of
    leond."""
    t = both_ways(ends)
    far.wait_intercepted()
    far.node[who].kill()
    near = {'a': 'server', 'b': 'client'}[who]
    wait_for(lambda: near in t.error, 30, 'the host at the other node is reset')
    far.lab.start(who)
    wait_for(lambda: set(t.error) == {'client', 'server'}, 90, 'both ends are reset')
    t.enough.set()


# --- the ends of connections ---

def test_fin_at_any_moment(far, ends):
    """Transfers that end during drain, interception or release."""
    a, b = ends
    dice = random.Random(1)
    for i in range(40):
        up, down = dice.randrange(1, 200000), dice.randrange(1, 200000)
        t = Transfer(a, b, b.ip4, up=up, down=down, pause=dice.choice([0, .02]))
        if i % 3 == 0:
            far.accel[dice.choice('ab')].ask('reset acceleration')
        t.wait(60).assert_whole()
        t.close()
    far.assert_no_resets()


def test_rst_at_any_moment(far, ends):
    """A host resets its connection, and the other host receives RST."""
    dice = random.Random(2)
    for i in range(20):
        t = both_ways(ends)
        time.sleep(dice.random() * .4)
        if i % 3 == 0:
            far.accel[dice.choice('ab')].ask('reset acceleration')
        one, other = dice.sample(['client', 'server'], 2)
        s = getattr(t, one)
        s.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack('ii', 1, 0))
        t.enough.set()
        s.shutdown(socket.SHUT_RD)
        s.close()
        wait_for(lambda t=t, other=other: other in t.error or other in t.got, 30,
                 f'{i}: the {other} hears of it')


def test_half_closed(far, ends):
    """One direction ends during the interception. The connection is released and intercepted again
    half-closed."""
    a, b = ends
    t = Transfer(a, b, b.ip4, up=MB, down=ENDLESS, pause=0.02)
    far.wait_intercepted()
    wait_for(lambda: 'server' in t.got, 60, 'the client is done')
    far.cycle(t, 2)
    t.finish(60).assert_whole()
    far.assert_no_resets()


# --- waiting hosts ---

def test_zero_window(far, ends):
    """A host does not read. An interception or a release in this state loses no data."""
    t = both_ways(ends)
    t.reading.clear()
    far.wait_intercepted()
    wait_for(lambda: is_idle(far), 60, 'all windows are full')
    t.reading.set()
    t.wait_more(MB)
    t.reading.clear()
    wait_for(lambda: is_idle(far), 60, 'all windows are full')
    far.accel['a'].ask('reset acceleration')
    time.sleep(3)
    t.reading.set()
    t.wait_more(MB)
    far.wait_returned()
    t.finish(120).assert_whole()
    far.assert_no_resets()


def test_idle_with_keepalives(far, ends):
    """Hosts send keepalives every second and give up after three."""
    def prepare(s, _):
        s.setsockopt(socket.SOL_SOCKET, socket.SO_KEEPALIVE, 1)
        for option, value in ((socket.TCP_KEEPIDLE, 1), (socket.TCP_KEEPINTVL, 1),
                              (socket.TCP_KEEPCNT, 3)):
            s.setsockopt(socket.IPPROTO_TCP, option, value)
    t = both_ways(ends, prepare=prepare)
    far.wait_intercepted()
    t.pause = 8
    wait_for(lambda: is_idle(far), 30, 'it is idle')
    time.sleep(5)
    assert not t.error and far.taken() == [1, 1]
    far.accel['b'].ask('reset acceleration')
    far.wait_returned()
    time.sleep(5)
    assert not t.error
    t.pause = 0.05
    t.finish(60).assert_whole()
    far.assert_no_resets()


def done_and_not_read(far, ends):
    """Both hosts are done, and the server has not read all."""
    def prepare(s, is_client):
        if not is_client:
            s.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 1 << 15)
    client, server = ends
    t = Transfer(client, server, server.ip4, up=ENDLESS, down=1 << 12, prepare=prepare, pause=0.05)
    t.block = 1 << 12
    far.wait_intercepted()
    t.reading.clear()
    time.sleep(1)
    before = far.accel['a'].counters()['bytes_out']
    wait_for(lambda: far.accel['a'].counters()['bytes_out'] > before + (1 << 18), 60, 'it waits there')
    t.enough.set()
    wait_for(lambda: 'intercepted' not in states(far, 'a', t), 60, 'the client is done')
    assert states(far, 'b', t) == ['intercepted']
    return t


def test_both_done_and_one_does_not_read(far, ends):
    """Unread data stays with an owned proxy socket until the host reads."""
    t = done_and_not_read(far, ends)
    t.reading.set()
    t.wait(60).assert_whole()
    wait_for(lambda: states(far, 'b', t) == ['closed'], 30, 'it ends')
    far.assert_no_resets()


def test_both_done_and_one_is_gone(far, ends):
    """The host never reads the rest and answers with RST, as for a closed socket. No state of the
    connection remains."""
    t = done_and_not_read(far, ends)
    t.server.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack('ii', 1, 0))
    t.server.shutdown(socket.SHUT_RD)
    t.server.close()
    t.reading.set()
    wait_for(lambda: states(far, 'b', t) == ['closed'], 30, 'it ends')
    assert far.accel['b'].show()['connections_intercepted'] == 0


def states(far, name, t):
    return [c['state'] for c in far.accel[name].connections()
            if f':{t.port}' in c['near'] + ' ' + c['far']]


# --- VLANs ---

@pytest.fixture
def vlans(far):
    """Interfaces of both hosts in two VLANs, with the same addresses in both."""
    taggers = []
    for name, host in far.host.items():
        # Frames tagged by the test need complete checksums.
        far.node[name].namespace.run('ethtool', '-K', 'h0', 'tx', 'off')
        host.namespace.run('ethtool', '-K', 'eth0', 'gro', 'off')
        taggers.append(Tagger(host.namespace, 'eth0', (10, 20)))
        for vlan in (10, 20):
            host.namespace.ip(f'addr add 192.0.2.{ord(name)}/24 dev v{vlan}', f'link set v{vlan} up')
    yield {name: f'192.0.2.{ord(name)}' for name in far.host}
    for t in taggers:
        t.close()
    for name, host in far.host.items():
        far.node[name].namespace.run('ethtool', '-K', 'h0', 'tx', 'on')
        host.namespace.run('ethtool', '-K', 'eth0', 'gro', 'on')


def test_same_connection_in_two_vlans(far, ends, vlans):
    """Addresses and ports are the same, the bytes are not."""
    a, b = ends

    def of(vlan):
        return Transfer(a, b, vlans['b'], up=ENDLESS, down=ENDLESS, pause=0.05, port=4999,
                        source=(vlans['a'], 4998),
                        prepare=lambda s, _: (s.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1),
                                              s.setsockopt(socket.SOL_SOCKET, socket.SO_BINDTODEVICE,
                                                           f'v{vlan}'.encode())))
    both = [of(10), of(20)]
    for _ in range(2):
        far.wait_intercepted(2)
        for t in both:
            t.wait_more(MB)
        far.accel['a'].ask('reset acceleration')
        far.wait_returned()
    for t in both:
        t.finish(60).assert_whole()
        t.close()
    far.assert_no_resets()


# --- connections that a proxy must not intercept ---

def md5(address):
    """struct tcp_md5sig for connections with the address."""
    sockaddr = struct.pack('=HH4s120x', socket.AF_INET, 0, socket.inet_aton(address))
    return sockaddr + struct.pack('=BBHI80s', 0, 0, 4, 0, b'word')


def fast_open(s, is_client):
    if is_client:
        s.setsockopt(socket.IPPROTO_TCP, 30, 1)  # TCP_FASTOPEN_CONNECT
    else:
        s.setsockopt(socket.IPPROTO_TCP, socket.TCP_FASTOPEN, 5)


@pytest.mark.parametrize('kind', ['md5', 'mptcp', 'fast open'])
def test_not_taken(far, ends, kind):
    """The connection stays plain while another connection is intercepted."""
    a, b = ends
    keys = {}
    if kind == 'md5':
        keys['prepare'] = lambda s, is_client: s.setsockopt(
            socket.IPPROTO_TCP, TCP_MD5SIG, md5(b.ip4 if is_client else a.ip4))
    elif kind == 'mptcp':
        keys['protocol'] = IPPROTO_MPTCP
    else:
        for host in ends:
            host.namespace.sysctl('ipv4/tcp_fastopen', 3)
        keys['prepare'] = fast_open
    try:
        t = both_ways(ends, **keys)
    except OSError as e:
        pytest.skip(f'not in this kernel: {e}')
    other = both_ways(ends)
    far.wait_intercepted()
    t.wait_more(4 * MB)
    assert far.taken() == [1, 1]
    for transfer in (t, other):
        transfer.finish(60).assert_whole()
    far.assert_no_resets()


# --- many ---

class Many:
    """Connections with random bytes in both directions, all on one thread."""

    def __init__(self, ends, n, size):
        client, server = ends
        self.selector = selectors.DefaultSelector()
        self.ends, self.wrong = [], []
        server.namespace.sysctl('core/somaxconn', n)
        with server.namespace:
            listener = socket.socket()
        listener.bind((server.ip4, 4000))
        listener.listen(n)
        listener.settimeout(60)
        clients = {}
        for _ in range(n):
            with client.namespace:
                c = socket.socket()
            c.setblocking(False)
            c.connect_ex((server.ip4, 4000))
            clients[c.getsockname()] = c
        for _ in range(n):
            s, whose = listener.accept()
            data = os.urandom(size), os.urandom(size)
            self.add(clients[whose], *data)
            self.add(s, *reversed(data))
        listener.close()

    def add(self, s, out, expected):
        s.setblocking(False)
        end = {'socket': s, 'out': memoryview(out), 'hash': hashlib.sha256(),
               'expected': hashlib.sha256(expected).digest()}
        self.ends.append(end)
        self.selector.register(s, selectors.EVENT_READ, end)

    def send(self, n):
        """n bytes more of each."""
        for end in self.ends:
            part = end['out'][:n]
            if part:
                end['out'] = end['out'][end['socket'].send(part):]
                if not end['out']:
                    end['socket'].shutdown(socket.SHUT_WR)

    def receive(self, seconds):
        until = time.monotonic() + seconds
        while self.selector.get_map() and time.monotonic() < until:
            for key, _ in self.selector.select(.05):
                block = key.data['socket'].recv(1 << 16)
                if block:
                    key.data['hash'].update(block)
                    continue
                self.selector.unregister(key.data['socket'])
                if key.data['hash'].digest() != key.data['expected']:
                    self.wrong.append(key.data)
                key.data['socket'].close()

    @property
    def left(self):
        return len(self.selector.get_map() or ())


def test_a_thousand(far, ends):
    """All connections are intercepted, some are released and intercepted again, and all data is
    correct."""
    many = Many(ends, 1000, 60000)
    for _ in range(10):
        many.send(4000)
        many.receive(1)
    # An idle connection is not intercepted again.
    wait_for(lambda: (many.send(50), many.receive(.5), min(far.taken()) >= 1000)[2], 120, 'all are taken')
    far.accel['a'].ask('reset acceleration')
    while many.left:
        before = many.left, [len(e['out']) for e in many.ends]
        many.send(4000)
        many.receive(2)
        assert before != (many.left, [len(e['out']) for e in many.ends]) or not many.left
    assert not many.wrong
    far.assert_no_resets()


def test_bound(far, ends):
    """Connections above the maximum stay plain."""
    few = merged(CONFIG, {'acceleration': {'maximum-connections': 2}})['acceleration']
    for node in far.node.values():
        node.reload(acceleration=few)
    try:
        all_ = [both_ways(ends) for _ in range(4)]
        far.wait_intercepted(2)
        for t in all_:
            t.wait_more(MB)
        assert far.taken() == [2, 2]
        for t in all_:
            t.finish(60).assert_whole()
    finally:
        for node in far.node.values():
            node.reload(acceleration=CONFIG['acceleration'])
    far.assert_no_resets()
