# SPDX-License-Identifier: GPL-2.0-or-later
"""A node under systemd, as in the package, in the network namespace of the virtual machine. The
other nodes of a lab are in namespaces, as in other tests."""
import os
import pwd
import subprocess

import ns
from accel import Accelerator, Far
from lab import Lab
from node import Node

UNIT_SITE = 'a'


def systemctl(*words, check=True, timeout=600):
    done = subprocess.run(['systemctl', *words], capture_output=True, text=True, check=False,
                          timeout=timeout)
    assert not check or done.returncode == 0, f'systemctl {" ".join(words)}: {done.stderr}'
    return done.stdout.strip()


class Unit:
    def __init__(self, name):
        self.name = name

    def property(self, key):
        return systemctl('show', '--value', '-p', key, self.name)

    def is_active(self):
        return self.property('ActiveState') == 'active'

    def pid(self):
        return int(self.property('MainPID'))

    def restarts(self):
        """The number of automatic restarts by systemd."""
        return int(self.property('NRestarts'))

    def stop(self):
        """Works with and without an installed unit."""
        if systemctl('is-active', self.name, check=False) != 'inactive':
            systemctl('stop', self.name)

    def log(self):
        return subprocess.run(['journalctl', '-q', '-b', '-o', 'short-precise', '-u', self.name], check=True,
                              capture_output=True, text=True).stdout


class Process:
    """The /proc data of a process."""

    def __init__(self, pid):
        self.path = f'/proc/{pid}'
        with open(f'{self.path}/status', encoding='ascii') as f:
            self.status = dict(line.rstrip('\n').split(':\t', 1) for line in f)

    def user(self):
        """The user of the process, or None for several users."""
        uids = set(self.status['Uid'].split())
        return pwd.getpwuid(int(uids.pop())).pw_name if len(uids) == 1 else None

    def capabilities(self):
        """{set: bits}"""
        return {key: int(self.status[key], 16) for key in ('CapPrm', 'CapEff', 'CapBnd', 'CapAmb')}

    def namespace(self, kind):
        return os.stat(f'{self.path}/ns/{kind}').st_ino

    def limit(self, name):
        with open(f'{self.path}/limits', encoding='ascii') as f:
            line = next(line for line in f if line.startswith(name))
        return int(line[len(name):].split()[1])

    def is_read_only(self, path):
        return bool(os.statvfs(f'{self.path}/root{path}').f_flag & os.ST_RDONLY)


class GuestNamespace(ns.Namespace):
    """The namespace of systemd, which the test process has left."""

    def __init__(self):
        self.name = 'guest'
        self.fd = os.open('/proc/1/ns/net', os.O_RDONLY | os.O_CLOEXEC)
        self._adopt()


class UnitNode(Node):
    """leond@leon0.service."""

    def __init__(self, name, namespace, config, directory):
        super().__init__(name, namespace, config, directory)
        self.unit = Unit('leond@leon0.service')
        self.socket = '/run/leon/leon0.sock'
        self.config_file = '/etc/leon/leon0.json'
        self.config_owner = 'leon'
        # The paths of the package.
        del config['system']['control-socket'], config['identity-file']

    def launch(self):
        self.write_config()
        systemctl('start', self.unit.name)

    def start(self, within=10):
        self.launch()
        return self

    def stop(self, within=10):
        self.unit.stop()

    def kill(self):
        systemctl('kill', '-s', 'KILL', self.unit.name)

    def alive(self):
        return self.unit.is_active()

    def log(self):
        return self.unit.log()


class UnitAccelerator(Accelerator):
    """leon-accel@leon0.service."""

    def __init__(self, node):
        self.node = node
        self.unit = Unit('leon-accel@leon0.service')
        self.control = '/run/leon-accel/leon0.sock'
        self.process = self.unit

    def runs(self):
        return self.unit.is_active()

    def start(self):
        systemctl('start', self.unit.name)
        return self

    def stop(self, within=20):
        self.unit.stop()
        return int(self.unit.property('ExecMainStatus'))

    def kill(self):
        systemctl('kill', '-s', 'KILL', self.unit.name)

    def log(self):
        return self.unit.log()


class UnitLab(Lab):
    def new_namespace(self, name):
        return GuestNamespace() if name == UNIT_SITE else super().new_namespace(name)

    def new_node(self, name, namespace, config):
        if name == UNIT_SITE:
            return UnitNode(name, namespace, config, self.directory)
        return super().new_node(name, namespace, config)


class UnitFar(Far):
    def new_accelerator(self, node):
        return UnitAccelerator(node) if node.name == UNIT_SITE else super().new_accelerator(node)
