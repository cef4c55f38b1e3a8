# SPDX-License-Identifier: GPL-2.0-or-later
"""leon-accel on a node, and TCP transfers with a check of every byte."""
import contextlib
import hashlib
import itertools
import json
import os
import re
import signal
import socket
import struct
import subprocess
import threading
import time

import ns
from lab import PATIENT, merged, wait_for
from node import EMULATED, LeonctlError, PATIENCE, SANITIZERS, TROUBLE, find_program, log_text

# `always`: interception starts at once, without a benefit test.
CONFIG = merged(PATIENT, {'acceleration': {'mode': 'always', 'minimum-segments': 4}})
MB = 1 << 20
# The privileges of a process of leon-accel@.service.
ITS_UNIT = ('setpriv', '--bounding-set=-all,+net_admin', '--inh-caps=-all,+net_admin',
            '--ambient-caps=-all,+net_admin', '--no-new-privs', '--')


def program():
    return find_program('leon-accel', 'leon-accel')


class Accelerator:
    """The leon-accel of one node, in a private network namespace as in the unit."""

    file_option = '--intercepted'

    def __init__(self, node):
        self.node = node
        self.program = program()
        self.namespace = ns.Namespace('accel-' + node.name)
        self.log_file = node.log_file.replace('.log', '.accel.log')
        self.control = node.socket.replace('.sock', '.accel.sock')
        self.process = None

    def ask(self, command):
        with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as s:
            s.settimeout(30 * PATIENCE)
            try:
                s.connect(self.control)
            except OSError as e:
                raise LeonctlError(f'{self.node.name}: {e}') from e
            s.sendall(json.dumps({'version': 1, 'command': command}).encode() + b'\n')
            with s.makefile() as answer:
                return json.loads(answer.readline())

    def show(self):
        return self.ask('show acceleration')

    def connections(self):
        """The first page of the tracked connections."""
        return self.ask('show acceleration connections')['connections']

    def counters(self):
        return self.show()['counters']

    def carriers(self):
        return [n['carrier'] for n in self.show()['nodes']]

    def runs(self):
        return self.process is not None and self.process.poll() is None

    def start(self):
        with open(self.log_file, 'a', encoding='utf-8') as log:
            self.process = self.namespace.start(
                *ITS_UNIT, self.program, '--socket', self.node.socket.replace('.sock', '.accel'), '--control', self.control,
                self.file_option, self.control.replace('.accel.sock', '.intercepted'),
                stdin=subprocess.DEVNULL, stdout=log, stderr=log, env={**os.environ, **SANITIZERS})
        return self

    def stop(self, within=20 * PATIENCE):
        if self.process.poll() is None:
            self.process.send_signal(signal.SIGTERM)
        return self.process.wait(within)

    def kill(self):
        self.process.kill()
        self.process.wait()

    def log(self):
        return log_text(self.log_file)


ENDLESS = 1 << 60
# Bytes between two pauses of 50 ms. Hosts leave capacity on the link and on the CPU.
BLOCK = 1 << (12 if EMULATED else 18)
_ports = itertools.count(5001)


class Transfer:
    """Random bytes over one TCP connection, from one end or from both ends at once, with threads
    for each end.

      up, down   bytes from the client and from the server; ENDLESS sends until finish().
      prepare    prepare(socket, is_client) is called for each new socket.
      source     the address from which the client connects"""

    def __init__(self, client, server, address, up=0, down=0, prepare=None, pause=0.0, port=0,
                 source=None, protocol=0):
        self.port = port = port or next(_ports)
        family = socket.AF_INET6 if ':' in address else socket.AF_INET
        with server.namespace:
            self.listener = socket.socket(family, socket.SOCK_STREAM, protocol)
        with client.namespace:
            self.client = socket.socket(family, socket.SOCK_STREAM, protocol)
        if prepare:
            prepare(self.listener, False)
            prepare(self.client, True)
        self.listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        self.listener.bind((address, port))
        self.listener.listen(1)
        if source:
            self.client.bind(source)
        self.client.settimeout(60)
        self.client.connect((address, port))
        self.server, _ = self.listener.accept()
        self.pause = pause
        self.block = BLOCK if pause else 1 << 18
        self.enough = threading.Event()
        self.reading = threading.Event()
        self.reading.set()
        self.sent = {}
        self.got = {}
        self.error = {}
        self.count = {'client': 0, 'server': 0}
        # the longest time between two arrivals in seconds
        self.silence = {'client': 0.0, 'server': 0.0}
        self.began = time.monotonic()
        self.ended = None
        self.threads = []
        for name, s, n in (('client', self.client, up), ('server', self.server, down)):
            s.settimeout(120)
            self.threads += [threading.Thread(target=self._send, args=(name, s, n), daemon=True),
                             threading.Thread(target=self._receive, args=(name, s), daemon=True)]
        for t in self.threads:
            t.start()

    def _send(self, name, s, n):
        digest = hashlib.sha256()
        try:
            while n > 0 and not self.enough.is_set():
                block = os.urandom(min(n, self.block))
                s.sendall(block)
                digest.update(block)
                n -= len(block)
                if self.pause:
                    time.sleep(self.pause)
            s.shutdown(socket.SHUT_WR)
        except OSError as e:
            self.error[name] = e
        self.sent[name] = digest.hexdigest()

    def _receive(self, name, s):
        digest = hashlib.sha256()
        last = None
        try:
            while True:
                self.reading.wait()
                block = s.recv(1 << 18)
                if not block:
                    break
                now = time.monotonic()
                self.silence[name] = max(self.silence[name], now - (last or now))
                last = now
                digest.update(block)
                self.count[name] += len(block)
        except OSError as e:
            self.error.setdefault(name, e)
        self.got[name] = digest.hexdigest()

    def wait_more(self, n, within=60):
        """Waits for n further bytes, of both directions together."""
        enough = sum(self.count.values()) + n
        wait_for(lambda: sum(self.count.values()) >= enough or self.error, within, 'it flows')
        assert not self.error, self.error

    def finish(self, within):
        """Stops the senders and waits for all sent bytes."""
        self.enough.set()
        return self.wait(within)

    def wait(self, within):
        within *= PATIENCE
        end = time.monotonic() + within
        for t in self.threads:
            t.join(max(0.0, end - time.monotonic()))
        assert not any(t.is_alive() for t in self.threads), f'not within {within} s: {self.count}'
        self.ended = time.monotonic()
        return self

    @property
    def seconds(self):
        return self.ended - self.began

    def assert_whole(self):
        assert not self.error, self.error
        assert self.sent['client'] == self.got['server'], self.count
        assert self.sent['server'] == self.got['client'], self.count

    def close(self):
        for s in (self.client, self.server, self.listener):
            s.close()

    def abort(self):
        """Sends RST to both ends at any state of the transfer."""
        self.enough.set()
        for s in (self.client, self.server):
            with contextlib.suppress(OSError):
                s.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack('ii', 1, 0))
                s.shutdown(socket.SHUT_RD)  # wakes the reading thread, which close() does not do
        for t in self.threads:
            t.join(1)
        self.close()


def both_ways(ends, address=None, **keys):
    """Two hosts send to each other without an end and below the capacity of the link."""
    client, server = ends
    return Transfer(client, server, address or server.ip4, up=ENDLESS, down=ENDLESS, pause=0.05,
                    **keys)


def receive(s, n):
    """Exactly n bytes. MSG_WAITALL does not wait: a Python socket with a timeout never blocks."""
    data = b''
    while len(data) < n:
        block = s.recv(n - len(data))
        assert block, 'closed'
        data += block
    return data


def jain(values):
    """Jain's index of fairness: 1 for equal values, 1/n if a single value has everything."""
    return sum(values) ** 2 / max(1, len(values) * sum(v * v for v in values))


class Machine:
    """The host of a site, which can move to another site with MAC, addresses and sockets. The host
    `stays` does not move."""

    def __init__(self, lab, home, other, stays=True):
        self.host = lab.host[home]
        self.namespace = self.host.namespace
        self.port = 'eth0'
        ns.connect(lab.node[other].namespace, 'h1', self.namespace, 'eth1')
        lab.node[other].namespace.ip('link set h1 master br0')
        self.namespace.ip('link set eth1 down', f'link set eth1 address {self.host.mac}')
        if not stays:
            return
        # A node forgets the hosts of a LAN without links.
        self.namespace.sysctl('ipv4/conf/all/arp_ignore', 1)  # does not answer for the moved host
        ns.connect(lab.node[home].namespace, 'h2', self.namespace, 'eth2')
        lab.node[home].namespace.ip('link set h2 master br0')

    def renew(self, number):
        """Another machine at home, with a MAC and addresses that are new to all nodes. A node
        freezes a MAC that has moved six times in 180 s (decision 029)."""
        self.host.set_number(number)
        self.namespace.ip('link set eth0 down', f'link set eth1 address {self.host.mac}',
                          'addr flush dev eth0', f'link set eth0 address {self.host.mac}')
        self._appear('eth0')

    def _appear(self, port):
        self.namespace.ip(f'addr add {self.host.ip4}/16 dev {port}', f'link set {port} up',
                          f'addr add {self.host.ip6}/64 dev {port} nodad')

    def go_home(self):
        if self.port != 'eth0':
            self.move('eth0', self.port)

    def move(self, port, old, to=None):
        """to: a host that the moved host must reach afterwards, if there is one."""
        self.port = port
        # The kernel announces the moved host, as a hypervisor does.
        self.namespace.sysctl(f'ipv4/conf/{port}/arp_notify', 1)
        self.namespace.ip(f'link set {old} down', f'addr flush dev {old}')
        self._appear(port)
        if to:
            wait_for(lambda: self.host.ping(to.ip4), 30, 'it is reached at its new site')


class Far:
    """Overlays of distant sites, with an accelerator on each node."""

    def __init__(self, lab):
        self.lab, self.node, self.host, self.wan = lab, lab.node, lab.host, lab.wan
        self.accel = {name: self.new_accelerator(node) for name, node in lab.node.items()}
        self.base = {}

    def new_accelerator(self, node):
        return Accelerator(node)

    def ready(self):
        """Hosts reach each other, accelerators run, inter-proxy connections are up and no
        connection is intercepted. Counters start at zero."""
        self.lab.joined(60)
        for a in self.accel.values():
            if not a.runs():
                a.start()
        for a in self.accel.values():
            wait_for(lambda a=a: set(a.carriers()) == {'up'}, 30, 'carriers are up')
            wait_for(lambda a=a: a.show()['connections_intercepted'] == 0, 30, 'nothing is taken')
        self.base = {name: a.counters() for name, a in self.accel.items()}
        return self

    def count(self, name, counter):
        return self.accel[name].counters()[counter] - self.base[name][counter]

    def taken(self):
        return [a.show()['connections_intercepted'] for a in self.accel.values()]

    def wait_intercepted(self, n=1, within=60):
        wait_for(lambda: self.taken() == [n] * len(self.accel), within, f'{n} taken')

    def wait_returned(self, within=60):
        wait_for(lambda: not any(self.taken()), within, 'released')

    def cycle(self, transfer, n):
        """Intercepts and releases the connection n times."""
        for _ in range(n):
            self.wait_intercepted()
            transfer.wait_more(MB)
            self.accel['a'].ask('reset acceleration')
            self.wait_returned()

    def assert_no_resets(self):
        for name in self.accel:
            assert self.count(name, 'reset') == 0, name

    def stop(self):
        """Stops every process and checks the exit status and the log."""
        print(describe(self))
        for a in self.accel.values():
            if a.process is None:
                continue
            assert a.stop() in (0, -signal.SIGKILL), a.log()
            assert not TROUBLE.search(a.log()), a.log()


@contextlib.contextmanager
def far_apart(overlay, start=True):
    """A Far with the overlay. The context stops every process."""
    made = Far(overlay)
    try:
        yield made.ready() if start else made
    finally:
        made.stop()


def metric(node, name):
    """The first metric of this name, or None."""
    for line in node.ctl('metrics')['text'].splitlines():
        if line.startswith(f'leon_{name}{{'):
            return float(line.split()[-1])
    return None


def segment_bytes(far, name, peer):
    """Host bytes in the largest packet of the inter-proxy connection between two nodes; 0 without
    a connection."""
    text = far.accel[name].namespace.run('ss', '-tinH', 'state', 'established').stdout
    to = ''.join(f'{n:02x}' for n in map(int, far.node[peer].node_id.split('.')))
    to = f'fd6c:656f:6e00::{int(to[:4], 16):x}:{int(to[4:], 16):x}'
    ours = [line for line in re.sub(r'\n[ \t]+', ' ', text).splitlines() if f'[{to}]' in line]
    return max((int(re.search(r' mss:(\d+)', line)[1]) for line in ours), default=0)


def describe(far):
    """The state of both accelerators, for the report of a failure."""
    text = []
    for name, a in far.accel.items():
        if a.process is None:
            continue
        try:
            text.append(f'{name}: {json.dumps(a.show())}')
        except LeonctlError as e:
            text.append(str(e))
        text.append(a.log())
    return '\n'.join(text)


def moves_together(far, who, stays, before=lambda: None):
    """An intercepted transfer, one host of which then moved to the LAN of the other host."""
    a, b = far.host['a'], far.host['b']
    machine = Machine(far.lab, who, stays)
    t = Transfer(a, b, b.ip4, up=ENDLESS, down=ENDLESS, pause=0.05)
    wait_for(lambda: far.accel['a'].show()['connections_intercepted'] == 1, 60, 'it is taken')
    t.wait_more(MB)
    before()
    machine.move('eth1', 'eth0', far.host[stays])
    return t, machine


def settled(t):
    """With both hosts on one LAN, data flows in both directions or both ends receive RST. No end
    hangs."""
    before = dict(t.count)

    def is_settled():
        if t.error:
            return set(t.error) == {'client', 'server'}
        return all(n > before[end] + 2 * MB for end, n in t.count.items())
    wait_for(is_settled, 60, 'it flows both ways, or both ends are reset')
    assert all(isinstance(e, ConnectionError) for e in t.error.values()), t.error
    return 'reset' if t.error else 'flows'
