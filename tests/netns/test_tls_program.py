# SPDX-License-Identifier: GPL-2.0-or-later
"""leond and leon-tls, if leon-tls hangs, is missing, is busy or has no descriptor."""
import os
import resource
import signal
import socket
import ssl
import threading

import wan
from lab import wait_for
from node import tls_program
from test_tls import SERVER, TLS_PORT, client, pair, tls_pid, tls_state, transport
from wan import block_udp


def limit_files(pid, n):
    resource.prlimit(pid, resource.RLIMIT_NOFILE, (n, 4096))


def tls_reason(node, name):
    return {p['name']: p for p in node.show('peers')['peers']}[name]['tls_reason']


def test_the_program_hangs(lab):
    net = pair(lab)
    block_udp(net.node['n1'])
    net.start()
    net.joined()
    os.kill(tls_pid(net.node['n1']), signal.SIGSTOP)
    wait_for(lambda: 'leon-tls has not answered for 15 s' in net.node['n1'].log(), 30, 'noticed')
    wait_for(lambda: transport(net.node['n1'], 'n0') == 'tls', 30, 'connected again')
    net.settle_hosts('n0', 'n1')


def test_the_read_of_the_certificate_hangs(lab, tmp_path):
    fifo = str(tmp_path / 'site.pem')
    os.mkfifo(fifo)
    tls = {**SERVER['transport']['tls'], 'certificate': fifo, 'private-key': fifo}
    net = pair(lab, {**SERVER, 'transport': {'tls': tls}}, hosts=False)
    block_udp(net.node['n1'])
    net.start()
    wait_for(lambda: transport(net.node['n1'], 'n0') == 'tls', 60, 'connected with an own certificate')


def test_the_program_is_missing_for_a_moment(lab, tmp_path, monkeypatch):
    """As during an upgrade of the package."""
    program = tmp_path / 'leon-tls'
    monkeypatch.setattr('node.tls_program', lambda: program)
    net = pair(lab, hosts=False)
    block_udp(net.node['n1'])
    net.start()
    for node in net.node.values():
        wait_for(lambda n=node: 'leon-tls cannot be started: No such file' in n.log(), 10, 'it is missing')
    program.symlink_to(tls_program())
    wait_for(lambda: transport(net.node['n1'], 'n0') == 'tls', 15, 'connected')


def test_no_descriptor_for_a_connection(lab):
    net = pair(lab, hosts=False)
    n1 = net.node['n1']
    block_udp(n1)
    net.start()
    net.joined()
    pid = tls_pid(n1)
    limit_files(pid, 3)
    os.kill(tls_pid(net.node['n0']), signal.SIGKILL)
    wait_for(lambda: tls_reason(n1, 'n0') == 'no file descriptor is left', 30, 'the reason')
    limit_files(pid, 4096)
    wait_for(lambda: transport(n1, 'n0') == 'tls', 60, 'connected again')
    assert tls_pid(n1) == pid


def test_no_descriptor_for_a_listening_socket(lab, tmp_path, monkeypatch):
    limit, program = tmp_path / 'limit', tmp_path / 'leon-tls'
    program.write_text(f'#!/bin/sh\nulimit -Sn $(cat {limit})\nexec {tls_program()}\n')
    program.chmod(0o755)
    limit.write_text('1024')
    monkeypatch.setattr('node.tls_program', lambda: program)
    net = lab({'sites': {'n0': {'config': {'transport': {'tls': {}}}}, 'n1': {'config': client('n0')}},
               'seeds': ['n0'], 'hosts': False}, start=False)
    net.start('n0')
    files = f'/proc/{tls_pid(net.node["n0"])}/fd'

    def is_set_up():
        return any('timerfd' in os.readlink(f'{files}/{fd}') for fd in os.listdir(files))
    wait_for(is_set_up, 10, 'leon-tls is set up')
    limit.write_text(str(len(os.listdir(files))))
    net.node['n0'].reload(**SERVER)
    wait_for(lambda: 'no file descriptor is left for a listening socket' in net.node['n0'].log(), 10, 'logged')
    limit.write_text('1024')
    block_udp(net.node['n1'])
    net.start('n1')
    wait_for(lambda: transport(net.node['n1'], 'n0') == 'tls', 60, 'connected')


class Sink:
    """A TLS server that reads everything and counts its open connections."""

    def __init__(self, namespace, directory):
        files = directory / 'tls.crt', directory / 'tls.key'
        namespace.run('openssl', 'req', '-x509', '-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:P-256', '-nodes',
                      '-subj', '/CN=sink', '-keyout', files[1], '-out', files[0], '-days', '2')
        self.context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        self.context.load_cert_chain(*files)
        self.open, self.lock = 0, threading.Lock()
        with namespace:
            self.listener = socket.create_server(('0.0.0.0', TLS_PORT), backlog=1000)
        threading.Thread(target=self.serve, daemon=True).start()

    def serve(self):
        while True:
            raw, _ = self.listener.accept()
            threading.Thread(target=self.hold, args=(raw,), daemon=True).start()

    def hold(self, raw):
        with self.lock:
            self.open += 1
        try:
            with self.context.wrap_socket(raw, server_side=True) as link:
                while link.recv(1 << 16):
                    pass
        except OSError:
            pass
        with self.lock:
            self.open -= 1


def test_many_peers_are_removed_at_once(lab, tmp_path):
    """leon-tls is busy and reads the orders later."""
    peers = {f'p{i}': {'address': wan.ip4(1), 'port': 6000 + i, 'tls-port': TLS_PORT} for i in range(150)}
    net = lab({'sites': {'n0': {'config': {'transport': {'tls': {}}, 'peer': peers}}}, 'strangers': ['sink'],
               'hosts': False}, start=False)
    sink, node = Sink(net.stranger['sink'], tmp_path), net.node['n0']
    net.start()
    wait_for(lambda: all(tls_state(node, name) == 'connected' for name in peers), 60, 'all are connected', every=1)
    pid = tls_pid(node)
    os.kill(pid, signal.SIGSTOP)
    try:
        node.reload(peer={})
    finally:
        os.kill(pid, signal.SIGCONT)
    wait_for(lambda: sink.open == 0, 10, 'all connections are closed')
    assert tls_pid(node) == pid
