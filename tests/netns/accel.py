# SPDX-License-Identifier: GPL-2.0-or-later
"""leon-accel beside a node, and TCP transfers whose every byte is accounted for."""
import hashlib
import json
import os
import signal
import socket
import subprocess
import threading
import time

import ns
from node import LeonctlError, SANITIZERS, find_program, log_text


def program():
    return find_program('leon-accel', 'leon-accel')


class Accelerator:
    """leon-accel of one node, in a namespace of its own as its unit gives it."""

    def __init__(self, node):
        self.node = node
        self.namespace = ns.Namespace('accel-' + node.name)
        self.log_file = node.log_file.replace('.log', '.accel.log')
        self.control = node.socket.replace('.sock', '.accel.sock')
        self.process = None

    def ask(self, command):
        with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as s:
            s.settimeout(30)
            try:
                s.connect(self.control)
            except OSError as e:
                raise LeonctlError(f'{self.node.name}: {e}') from e
            s.sendall(json.dumps({'version': 1, 'command': command}).encode() + b'\n')
            with s.makefile() as answer:
                return json.loads(answer.readline())

    def show(self):
        return self.ask('show acceleration')

    def counters(self):
        return self.show()['counters']

    def start(self):
        with open(self.log_file, 'a', encoding='utf-8') as log:
            self.process = self.namespace.start(
                program(), '--socket', self.node.socket.replace('.sock', '.accel'), '--control', self.control,
                stdin=subprocess.DEVNULL, stdout=log, stderr=log, env={**os.environ, **SANITIZERS})
        return self

    def stop(self, within=20):
        if self.process.poll() is None:
            self.process.send_signal(signal.SIGTERM)
        return self.process.wait(within)

    def kill(self):
        self.process.kill()
        self.process.wait()

    def log(self):
        return log_text(self.log_file)


ENDLESS = 1 << 60
BLOCK = 1 << 18


class Transfer:
    """Random bytes over one TCP connection, from either end or both at once, each with its threads.
    up and down: bytes from client and server; ENDLESS: until finish()."""

    def __init__(self, client, server, address, up=0, down=0, port=5001, prepare=None, pause=0.0):
        family = socket.AF_INET6 if ':' in address else socket.AF_INET
        with server.namespace:
            self.listener = socket.socket(family, socket.SOCK_STREAM)
        self.listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        self.listener.bind((address, port))
        self.listener.listen(1)
        with client.namespace:
            self.client = socket.socket(family, socket.SOCK_STREAM)
        for s in (self.listener, self.client):
            if prepare:
                prepare(s)
        self.client.settimeout(60)
        self.client.connect((address, port))
        self.server, _ = self.listener.accept()
        self.pause = pause
        self.enough = threading.Event()
        self.sent = {}
        self.got = {}
        self.error = {}
        self.count = {'client': 0, 'server': 0}
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
                block = os.urandom(min(n, BLOCK))
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
        try:
            while True:
                block = s.recv(1 << 18)
                if not block:
                    break
                digest.update(block)
                self.count[name] += len(block)
        except OSError as e:
            self.error.setdefault(name, e)
        self.got[name] = digest.hexdigest()

    def finish(self, within):
        """No more is sent; all that was arrives."""
        self.enough.set()
        return self.wait(within)

    def wait(self, within):
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


def describe(lab):
    """For a person: what both accelerators say."""
    text = []
    for name, a in lab.accel.items():
        try:
            text.append(f'{name}: {json.dumps(a.show())}')
        except LeonctlError as e:
            text.append(str(e))
        text.append(a.log())
    return '\n'.join(text)
