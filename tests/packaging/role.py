# SPDX-License-Identifier: GPL-2.0-or-later
"""Two temporary Debian roots with a link between them, and the role of packaging/ansible on both.
tests/packaging/systemctl is the substitute of systemd. Callers: test_ansible.py here, and
tests/release/test_role.py.
"""
import json
import os
import re
import shlex
import shutil
import subprocess
import sys
import time
from pathlib import Path

HERE = Path(__file__).resolve().parent
ROLE = HERE.parents[1] / 'packaging/ansible'
CONFIG = '/etc/leon/leon0.json'
TUNNEL = {'first': '10.99.0.1', 'second': '10.99.0.2'}
ENVIRONMENT = ['env', '-i', 'HOME=/root', 'PATH=/usr/local/sbin:/usr/sbin:/usr/bin:/sbin:/bin',
               'LC_ALL=C.UTF-8', 'DEBIAN_FRONTEND=noninteractive']


class Site:
    """A node of the inventory in a root (conftest.py) of a Debian release."""

    def __init__(self, name, root):
        self.name, self.root, self.extra = name, root, {}
        self.run = root.run
        root.put(HERE / 'systemctl', '/usr/local/sbin/systemctl')
        self.run('chmod', '755', '/usr/local/sbin/systemctl')
        # leonctl and maintainer scripts see a booted systemd.
        self.run('mkdir', '-p', '/run/systemd/system')
        self.run('rm', '-f', '/usr/sbin/policy-rc.d', '/var/lib/man-db/auto-update')

    def config(self):
        return json.loads(self.run('cat', CONFIG).stdout)

    def pid(self):
        return self.run('cat', '/run/units/leon0.pid').stdout

    def variables(self):
        return {'ansible_connection': 'root', 'ansible_python_interpreter': '/usr/bin/python3',
                'root_enter': shlex.join([*map(str, self.root.enter), *ENVIRONMENT]),
                'leon_name': self.name, 'leon_address': [f'{TUNNEL[self.name]}/24'], **self.extra}


class Sites:
    """Two roots, and Ansible on the machine of the test. `variables`: of the group."""

    def __init__(self, folder, **variables):
        self.folder, self.variables = folder, variables
        self.of = {}

    def start(self, make_root):
        """make_root(name, folder) makes the root of a site."""
        for name in TUNNEL:
            base = self.folder / name
            base.mkdir()
            self.of[name] = Site(name, make_root(name, base))
        first, second = (site.root for site in self.of.values())
        subprocess.run(['nsenter', f'--target={first.init}', '--net', 'ip', 'link', 'add', 'wan', 'type', 'veth',
                        'peer', 'name', 'wan', 'netns', second.init], check=True)
        for number, site in enumerate(self.of.values(), 1):
            for link in ('lo', 'wan'):
                site.run('ip', 'link', 'set', link, 'up')
            site.run('ip', 'address', 'add', f'192.0.2.{number}/24', 'dev', 'wan')

    def close(self):
        for site in self.of.values():
            site.root.close()

    def play_one(self, name, *words, **keys):
        """Runs the playbook for one host with a package."""
        text, changed = self.play('--limit', name, '--skip-tags', 'package', *words, **keys)
        return text, changed[name]

    def play(self, *words, fails=()):
        """Runs the playbook. Returns the output and the number of changes of each host."""
        inventory = self.folder / 'inventory.json'
        inventory.write_text(json.dumps({'leon': {
            'vars': {**self.variables, 'leon_wait': 60, 'ansible_become': False},
            'hosts': {name: site.variables() for name, site in self.of.items()}}}))
        done = subprocess.run(
            [sys.executable, shutil.which('ansible-playbook'), '-i', inventory, *words, ROLE / 'site.yml'],
            capture_output=True, text=True, timeout=600, check=False, stdin=subprocess.DEVNULL,
            env={**os.environ, 'ANSIBLE_CONNECTION_PLUGINS': str(HERE / 'connection_plugins'),
                 'ANSIBLE_PIPELINING': '1', 'ANSIBLE_HOME': str(self.folder / 'ansible'), 'LC_ALL': 'C.UTF-8',
                 'ANSIBLE_LOCAL_TEMP': str(self.folder / 'ansible/tmp'), 'ANSIBLE_NOCOLOR': '1'})
        text = done.stdout + done.stderr
        recap = re.findall(r'^(\w+) +: ok=\d+ +changed=(\d+) +unreachable=0 +failed=(\d)', text, re.M)
        assert recap and {name for name, _, failed in recap if failed != '0'} == set(fails), text
        assert bool(fails) == (done.returncode != 0), text
        return text, {name: int(changed) for name, changed, _ in recap}


def ping(site, address):
    deadline = time.monotonic() + 60
    while site.run('ping', '-c', '1', '-W', '1', address, check=False).returncode != 0:
        assert time.monotonic() < deadline, site.run('leonctl', 'status', check=False).stdout
