# SPDX-License-Identifier: GPL-2.0-or-later
"""FRR of Debian in a namespace: zebra, bgpd and ospfd as real daemons. Sockets, pid files and
configuration are in private directories, so several instances run on one machine."""
import json
import os
import shutil
import signal
import subprocess
import tempfile

import pytest

import ns
from node import wait_for

DAEMONS = '/usr/lib/frr'
# FRR 10 and later configure static routes through mgmtd, at a socket in /run/frr.
MANAGER = 'mgmtd'


def need_frr():
    """Skips the test without FRR."""
    missing = [name for name in ('zebra', 'bgpd', 'ospfd')
               if not os.path.exists(os.path.join(DAEMONS, name))]
    if ns.host_uid != 0:
        pytest.skip('FRR becomes its own user, which takes root')
    if missing or not shutil.which('vtysh'):
        pytest.skip(f'FRR is not installed (Debian package frr): {" ".join(missing) or "vtysh"}')


class Frr:
    """`config` is the content of frr.conf. Each daemon ignores lines of other daemons."""

    def __init__(self, namespace, config, daemons=('zebra', 'bgpd')):
        need_frr()
        self.namespace = namespace
        self.managed = 'staticd' in daemons and os.path.exists(os.path.join(DAEMONS, MANAGER))
        self.daemons = (MANAGER, *daemons) if self.managed else daemons
        self.directory = tempfile.mkdtemp(prefix='leon-frr-')
        self.process = {}
        self.config_file = os.path.join(self.directory, 'frr.conf')
        with open(self.config_file, 'w', encoding='ascii') as f:
            f.write(f'hostname {namespace.name}\n{config}\n')
        # The daemons start as root and change to the user frr, which needs write access here.
        shutil.chown(self.directory, 'frr', 'frr')
        os.chmod(self.config_file, 0o644)
        for name in self.daemons:
            self.launch(name)

    def _own_run(self):
        """Runs in a daemon before the start and mounts a private /run/frr."""
        ns.own_mounts()
        ns.mount('run', '/run', 'tmpfs', 0)
        os.mkdir('/run/frr')
        ns.mount(self.directory, '/run/frr', None, ns.MS_BIND)

    def launch(self, name):
        # Daemons start with an empty configuration. vtysh loads the whole file afterwards.
        empty = os.path.join(self.directory, f'{name}.conf')
        with open(empty, 'w', encoding='ascii') as f:
            f.write('')
        os.chmod(empty, 0o644)
        file = [] if self.managed and name != 'zebra' else ['-f', empty]
        with open(os.path.join(self.directory, f'{name}.log'), 'a', encoding='ascii') as log:
            self.process[name] = self.namespace.start(
                os.path.join(DAEMONS, name), *file,
                '-i', os.path.join(self.directory, f'{name}.pid'),
                '-z', os.path.join(self.directory, 'zserv.api'),
                '--vty_socket', self.directory, '-A', '127.0.0.1', '-P', '0',
                '--log', 'stdout',
                stdin=subprocess.DEVNULL, stdout=log, stderr=log, prepare=self._own_run)
        wait_for(lambda: self._answers(name), 20, f'{name} answers')
        self.vtysh('-d', name, '-f', self.config_file, check=False)

    def _answers(self, name):
        assert self.process[name].poll() is None, f'{name} ended: {self.log(name)[-2000:]}'
        return self.vtysh('-d', name, '-c', 'show version', check=False).returncode == 0

    def log(self, name):
        with open(os.path.join(self.directory, f'{name}.log'), encoding='utf-8',
                  errors='replace') as f:
            return f.read()

    def vtysh(self, *words, **keys):
        return self.namespace.run('vtysh', '--vty_socket', self.directory, *words, **keys)

    def show(self, what):
        """The answer to a show command as Python values."""
        text = self.vtysh('-c', f'show {what} json').stdout
        return json.loads(text or '{}')

    def text(self, what):
        return self.vtysh('-c', f'show {what}').stdout

    def configure(self, *lines):
        self.vtysh('-c', 'configure terminal', *(w for line in lines for w in ('-c', line)))

    def kernel_routes(self, family='ip'):
        """{prefix: metric of the selected kernel route} from zebra."""
        found = {}
        for prefix, entries in self.show(f'{family} route kernel').items():
            for entry in entries:
                if entry.get('protocol') == 'kernel' and entry.get('selected'):
                    found[prefix] = entry['metric']
        return found

    def restart(self, name):
        self.process[name].kill()
        self.process[name].wait()
        self.launch(name)

    def close(self):
        for process in self.process.values():
            if process.poll() is None:
                process.send_signal(signal.SIGKILL)
                process.wait()
        shutil.rmtree(self.directory, ignore_errors=True)
