# SPDX-License-Identifier: GPL-2.0-or-later
"""strongSwan and the IPsec manager at each site of a Lab, and a capture on every wire.

All files of a site are in the directory of the Lab: configuration, socket and log of charon. No
file of the machine is used.
"""
import json
import os
import signal
import subprocess
import sys
import time

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(HERE, '../netns'))
MANAGER = os.path.join(HERE, '../../vyos-1x-leon/ipsec/leon-ipsec')
sys.path.insert(0, os.path.dirname(MANAGER))

from leon_ipsec import vici  # noqa: E402
from node import log_text, wait_for  # noqa: E402

CHARON = '/usr/sbin/charon-systemd'
PLUGINS = ('random nonce openssl pem pkcs1 pkcs8 x509 pubkey constraints revocation gcm hmac sha1 '
           'sha2 aes kdf curve25519 {kernel} socket-default vici')
SECRET = 'a secret of IKE and nothing else'


class Charon:
    def __init__(self, node, directory, kernel='kernel-netlink', extra=''):
        self.namespace = node.namespace
        self.socket = os.path.join(directory, f'{node.name}.vici')
        self.log_file = os.path.join(directory, f'{node.name}.charon.log')
        self.config = os.path.join(directory, f'{node.name}.strongswan.conf')
        with open(self.config, 'w', encoding='ascii') as f:
            f.write('charon-systemd {\n'
                    f'load = {PLUGINS.format(kernel=kernel)}\n'
                    'install_routes = no\nretransmit_tries = 3\nretransmit_timeout = 1\n'
                    'retransmit_base = 1.5\n'
                    f'filelog {{ x {{ path = {self.log_file}\n default = 1\n append = yes\n'
                    'flush_line = yes\n time_format = %T\n } }\n'
                    f'plugins {{ vici {{ socket = unix://{self.socket} }} {extra} }}\n}}\n')
        self.process = None

    def start(self):
        self.process = self.namespace.start(
            CHARON, env={**os.environ, 'STRONGSWAN_CONF': self.config}, stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)

        def answers():
            assert self.process.poll() is None, self.log()[-3000:]
            try:
                self.ask().close()
            except vici.ViciError:
                return False
            return True
        wait_for(answers, 60, 'charon answers')

    def ask(self):
        return vici.Vici(self.socket, 30)

    def end(self, number, within=60):
        if self.process and self.process.poll() is None:
            self.process.send_signal(number)
            self.process.wait(within)

    def stop(self):
        self.end(signal.SIGTERM)

    def crash(self):
        self.end(signal.SIGKILL)

    def sas(self):
        connection = self.ask()
        try:
            return [(name, sa) for event in connection.stream('list-sas', 'list-sa')
                    for name, sa in event.items()]
        finally:
            connection.close()

    def children(self, state='INSTALLED'):
        return [child for _, sa in self.sas() for child in sa.get('child-sas', {}).values()
                if child.get('state') == state]

    def log(self):
        return log_text(self.log_file)


class Protection:
    """IPsec of a site: the document, charon, the manager."""

    def __init__(self, node, directory, document=None, kernel='kernel-netlink', extra=''):
        self.node = node
        self.directory = directory
        self.document = os.path.join(directory, f'{node.name}.ipsec.json')
        self.values = document or {'version': 1, 'authentication': {
            'mode': 'pre-shared-secret', 'pre-shared-secret': SECRET}}
        self.charon = Charon(node, directory, kernel, extra)
        self.manager = None
        self.manager_log = os.path.join(directory, f'{node.name}.manager.log')

    def command(self, action):
        return [sys.executable, MANAGER, '--config', self.node.config_file, '--ipsec',
                self.document, '--vici', self.charon.socket, action]

    def write(self):
        self.node.write_config()
        with open(self.document, 'w', encoding='utf-8') as f:
            os.fchmod(f.fileno(), 0o600)
            json.dump(self.values, f)

    def guard(self):
        self.write()
        self.node.namespace.run(*self.command('guard'))

    def start_manager(self, command=None):
        self.write()
        with open(self.manager_log, 'a', encoding='utf-8') as log:
            self.manager = self.node.namespace.start(
                *(command or self.command('run')), stdin=subprocess.DEVNULL, stdout=log, stderr=log)

    def stop_manager(self, number=signal.SIGTERM):
        if self.manager and self.manager.poll() is None:
            self.manager.send_signal(number)
            self.manager.wait(30)

    def table(self):
        return self.node.namespace.run('nft', 'list', 'ruleset').stdout

    def dropped(self, rule):
        """Packets dropped by the first rule of the guard with the given text."""
        line = next(x for x in self.table().splitlines() if rule in x)
        return int(line.split('packets ')[1].split()[0])

    def protected(self):
        """Node-ids of nodes reached inside IPsec, as leond reports."""
        return {n['node_id'] for n in self.node.show('nodes')['nodes'] if n['protected'] == 'ipsec'}

    def close(self):
        self.stop_manager()
        self.charon.crash()

    def dump(self):
        parts = [f'--- {name}\n' + log_text(name)[-5000:]
                 for name in (self.manager_log, self.charon.log_file)]
        for words in (('xfrm', 'policy'), ('xfrm', 'state')):
            parts.append(f'--- {words}\n' + self.node.namespace.run('ip', *words).stdout[-4000:])
        parts.append(self.table())
        return '\n'.join(parts)


class Ear:
    """Captures packets that leave a site: LEON in the clear, ICMP errors with a quoted LEON
    datagram, and ESP."""

    def __init__(self, node, directory, interface='wan0'):
        self.namespace = node.namespace
        self.file = os.path.join(directory, f'{node.name}-{time.monotonic_ns()}.pcap')
        self.process = node.namespace.start(
            'tcpdump', '-Z', 'root', '-n', '-i', interface, '-Q', 'out', '-U', '--immediate-mode', '-B', '16384',
            '-s', '128', '-w', self.file, 'ip or ip6', stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)
        # The capture reports its start.
        assert 'listening' in self.process.stderr.readline()

    def _read(self, condition):
        text = self.namespace.run('tcpdump', '-n', '-r', self.file, condition).stdout
        return [line for line in text.splitlines() if line]

    def plaintext(self, port=5366):
        return self._read(f'udp port {port}')

    def quotes(self, port=5366):
        """ICMP errors about a LEON datagram, with a part of the datagram inside."""
        return self._read(
            f'(icmp[0] != 0 and icmp[0] != 8 and icmp[17] = 17 and '
            f'(icmp[28:2] = {port} or icmp[30:2] = {port})) or '
            f'(icmp6 and ip6[40] < 128 and ip6[54] = 17 and '
            f'(ip6[88:2] = {port} or ip6[90:2] = {port}))')

    def esp(self):
        return self._read('esp or (udp port 4500) or (ip6 proto 50)')

    def stop(self):
        if self.process.poll() is None:
            self.process.terminate()
            self.process.wait(10)
        self.process.stderr.close()
