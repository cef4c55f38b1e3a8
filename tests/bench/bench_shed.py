#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""Connections of small segments through accelerators that get too little processor time.

    LEON_BUILD=build tests/bench/bench_shed.py [--connections 1000] [--rate 10] [--seconds 60]
                [--busy 3] [--mode always] [--rtt-ms 100] [--nice -10] [--json FILE]

Two nodes with accelerators and endless loops share one core. The hosts have the other cores.
Each connection sends `--rate` segments of 80 bytes per second in both directions. A connection has
died if one of its ends meets an error. A connection is plain if no accelerator ever had a proxy
socket for it. The result contains the dead connections, plain and intercepted, the drops of the
nodes, and the share of the bytes that arrived. The exit code is 1 if a plain connection has
died.
"""
import argparse
import contextlib
import json
import os
import select
import signal
import socket
import subprocess
import sys
import time

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), '../netns'))

import ns  # noqa: E402
from accel import Far  # noqa: E402
from lab import Lab, wait_for  # noqa: E402
from node import LeonctlError  # noqa: E402

PORT = 7000
SEGMENT = b'x' * 80
CONNECTING_S = 120


class End:
    """One end of all connections in a separate process. Prints its result as JSON."""

    def __init__(self, space, address, arguments):
        self.address, self.arguments = address, arguments
        self.sockets, self.dead, self.received, self.sent = {}, {}, 0, 0
        self.poll = select.epoll()
        with space:
            self.open()

    def add(self, s, port):
        s.setblocking(False)
        s.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        self.sockets[s.fileno()] = (s, port)
        self.poll.register(s.fileno(), select.EPOLLIN)

    def lost(self, fd, error):
        s, port = self.sockets.pop(fd)
        self.dead[port] = str(error)
        s.close()

    def receive(self, until):
        while True:
            left = until - time.monotonic()
            for fd, _ in self.poll.poll(max(0.0, left)):
                if fd not in self.sockets:
                    continue
                try:
                    data = self.sockets[fd][0].recv(1 << 16)
                    self.received += len(data)
                    if not data:
                        self.lost(fd, 'closed')
                except BlockingIOError:
                    continue
                except OSError as e:
                    self.lost(fd, e)
            if left <= 0:
                return

    def send(self, fd):
        try:
            self.sent += self.sockets[fd][0].send(SEGMENT)
        except BlockingIOError:
            pass  # the window is full
        except OSError as e:
            self.lost(fd, e)

    def run(self):
        """The connections take turns, so the segments are spread over time."""
        end = time.monotonic() + self.arguments.seconds
        turn, steps = 0, 10
        while time.monotonic() < end:
            step_end = time.monotonic() + 1 / self.arguments.rate / steps
            for fd in [fd for fd in self.sockets if fd % steps == turn]:
                self.send(fd)
            turn = (turn + 1) % steps
            self.receive(step_end)
        return {'dead': self.dead, 'received': self.received, 'sent': self.sent}


class Server(End):
    def open(self):
        self.listener = socket.create_server((self.address, PORT),
                                             backlog=self.arguments.connections)

    def accept(self):
        self.listener.settimeout(CONNECTING_S)
        for _ in range(self.arguments.connections):
            s, (_, port) = self.listener.accept()
            self.add(s, port)


class Client(End):
    def open(self):
        for _ in range(self.arguments.connections):
            s = socket.create_connection((self.address, PORT), CONNECTING_S)
            self.add(s, s.getsockname()[1])

    def accept(self):
        pass


def apart(kind, *arguments):
    """Runs the end in a child process, which prints its result; returns the process id and pipe."""
    reader, writer = os.pipe()
    pid = os.fork()
    if pid:
        os.close(writer)
        return pid, os.fdopen(reader)
    try:
        end = kind(*arguments)
        os.write(writer, b'open\n')
        end.accept()
        os.write(writer, b'connected\n')
        text = json.dumps(end.run()).encode() + b'\n'
        while text:
            text = text[os.write(writer, text):]
        signal.pause()  # an exit would reset the connections of the other end
    finally:
        os._exit(0)


def ever_intercepted(far):
    """The client ports of the present connections with a proxy socket."""
    found = set()
    for a in far.accel.values():
        with contextlib.suppress(LeonctlError, OSError, ValueError):
            for c in a.connections():
                if c['state'] not in ('plain', 'closed'):
                    found |= {int(c[end].rsplit(':', 1)[1]) for end in ('near', 'far')}
    return found - {PORT}


def drops(node):
    return {k: v for k, v in node.show('statistics')['drops'].items() if v and 'accel' in k}


def busy_loops(n):
    code = 'while True: pass'
    return [subprocess.Popen([sys.executable, '-c', code]) for _ in range(n)]


def measure(far, arguments):
    core = {0}
    everything = os.sched_getaffinity(0)
    ends = [apart(Server, far.host['b'].namespace, far.host['b'].ip4, arguments)]
    assert ends[0][1].readline() == 'open\n'
    ends.append(apart(Client, far.host['a'].namespace, far.host['b'].ip4, arguments))
    assert ends[1][1].readline() == 'open\n'
    for _, pipe in ends:
        assert pipe.readline() == 'connected\n'
    for process in [n.process for n in far.node.values()] + [a.process for a in far.accel.values()]:
        for task in os.listdir(f'/proc/{process.pid}/task'):
            os.sched_setaffinity(int(task), core)
    for a in far.accel.values():
        os.setpriority(os.PRIO_PROCESS, a.process.pid, arguments.nice)
    os.sched_setaffinity(0, core)
    loops = busy_loops(arguments.busy)
    os.sched_setaffinity(0, everything - core or everything)
    intercepted = set()
    try:
        end = time.monotonic() + arguments.seconds
        while time.monotonic() < end:
            intercepted |= ever_intercepted(far)
            time.sleep(1)
        results = [json.loads(pipe.readline()) for _, pipe in ends]
        counters = {name: a.counters() for name, a in far.accel.items()}
    finally:
        for loop in loops:
            loop.kill()
            loop.wait()
        for pid, _ in ends:
            with contextlib.suppress(ProcessLookupError):
                os.kill(pid, signal.SIGKILL)
            os.waitpid(pid, 0)
    dead = {int(port): why for r in results for port, why in r['dead'].items()}
    asked = 2 * arguments.connections * arguments.rate * arguments.seconds * len(SEGMENT)
    wait_for(lambda: all(n.show('nodes') for n in far.node.values()), 30, 'the nodes answer')
    return {
        'connections': arguments.connections, 'intercepted': len(intercepted),
        'dead_plain': len(set(dead) - intercepted), 'dead_intercepted': len(set(dead) & intercepted),
        'errors': sorted(set(dead.values())),
        'arrived': round(sum(r['received'] for r in results) / asked, 3),
        'counters': {name: {k: v for k, v in c.items() if v} for name, c in counters.items()},
        'silent': sum(a.log().count('inter-proxy connection is down: silent') for a in far.accel.values()),
        'gone': sum(n.log().count('leon-accel has not answered') for n in far.node.values()),
        'drops': {name: drops(n) for name, n in far.node.items()},
        'load': os.getloadavg()[0],
    }


def main():
    p = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    p.add_argument('--connections', type=int, default=1000)
    p.add_argument('--rate', type=float, default=10)
    p.add_argument('--seconds', type=int, default=60)
    p.add_argument('--busy', type=int, default=3)
    p.add_argument('--mode', default='always')
    p.add_argument('--nice', type=int, default=-10)
    p.add_argument('--rtt-ms', type=float, default=100)
    p.add_argument('--json')
    arguments = p.parse_args()
    ns.enter_lab()
    config = {'acceleration': {'mode': arguments.mode, 'threshold': 50}}
    lab = Lab({'sites': {'a': {}, 'b': {}}, 'config': config, 'timing': 'production',
               'rtt_ms_default': arguments.rtt_ms})
    try:
        far = Far(lab).ready()
        found = measure(far, arguments)
        for a in far.accel.values():
            a.kill()
    finally:
        lab.close()
    print(json.dumps(found, indent=1))
    if arguments.json:
        with open(arguments.json, 'w', encoding='utf-8') as f:
            json.dump(found, f)
    return 1 if found['dead_plain'] else 0


if __name__ == '__main__':
    sys.exit(main())
