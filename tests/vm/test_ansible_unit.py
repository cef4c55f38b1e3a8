# SPDX-License-Identifier: GPL-2.0-or-later
"""The role of packaging/ansible under a real systemd, with the local connection. Cases: a first
node, a second run without changes, a reload, and the end of the node. `make check-units` runs the
tests. tests/packaging/test_ansible.py has two nodes and the refusals.
"""
import glob
import json
import os
import re
import shutil
import subprocess
from pathlib import Path

import pytest

from node import build_dir
from units import Unit, systemctl

ROLE = Path(__file__).resolve().parents[2] / 'packaging/ansible'
UNIT = 'leond@leon0.service'


@pytest.fixture(scope='module')
def play(tmp_path_factory):
    """Runs the playbook with variables, and returns the number of changes."""
    if not shutil.which('ansible-playbook'):
        pytest.skip('ansible-playbook is not installed (Debian package ansible-core)')
    (deb,) = glob.glob(f'{build_dir()}/deb/leond_*.deb')
    folder = tmp_path_factory.mktemp('ansible')
    subprocess.run(['dpkg', '--no-triggers', '--force-unsafe-io', '--purge', 'leon-cloud', 'leon-accel', 'leond'],
                   check=False)

    def run(**variables):
        inventory = folder / 'inventory.json'
        inventory.write_text(json.dumps({'leon': {'hosts': {'guest': {
            'ansible_connection': 'local', 'ansible_become': False, 'ansible_python_interpreter': '/usr/bin/python3',
            'leon_deb': deb, 'leon_address': ['10.99.0.1/24'], **variables}}}}))
        done = subprocess.run(
            [shutil.which('ansible-playbook'), '-i', inventory, ROLE / 'site.yml'], capture_output=True,
            text=True, check=False, stdin=subprocess.DEVNULL,
            env={**os.environ, 'ANSIBLE_HOME': str(folder), 'HOME': str(folder), 'LC_ALL': 'C.UTF-8'})
        assert done.returncode == 0, done.stdout + done.stderr
        return int(re.search(r'changed=(\d+)', done.stdout)[1])

    return run


def test_first_node(play):
    unit = Unit(UNIT)
    assert play() > 0
    assert unit.is_active() and systemctl('is-enabled', UNIT) == 'enabled'
    pid = unit.pid()
    assert play() == 0
    assert play(leon_config={'fdb': {'maximum': 5000}}) == 2
    assert unit.pid() == pid
    assert play(leon_config={'port': 7000}, leon_restart=True) == 2
    assert unit.is_active() and unit.pid() != pid


def test_stopped_unit_starts(play):
    systemctl('disable', '--now', UNIT)
    assert play() == 1
    assert Unit(UNIT).is_active() and systemctl('is-enabled', UNIT) == 'enabled'


def test_leave(play):
    assert play(leon_state='left') == 1
    assert not Unit(UNIT).is_active() and not os.path.exists('/etc/leon/leon0.json')
    assert play(leon_state='left') == 0
