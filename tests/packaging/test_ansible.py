# SPDX-License-Identifier: GPL-2.0-or-later
"""The role of packaging/ansible on two temporary Debian roots with a link between them. Cases: an
overlay of two nodes, reloads, refusals, and a node that leaves. A second run changes nothing. The
tests build on each other, in the order of the file.
"""
import os
import re
import shutil
import subprocess

import pytest
from conftest import Root
from role import CONFIG, ROLE, TUNNEL, Sites, ping

if not shutil.which('ansible-playbook'):
    pytest.skip('ansible-playbook is not installed (Debian package ansible-core)', allow_module_level=True)


@pytest.fixture(scope='module')
def sites(deb, tmp_path_factory):
    if os.geteuid() != 0:
        pytest.skip('installing a package needs several user ids: run as root')
    made = Sites(tmp_path_factory.mktemp('sites'), leon_deb=str(deb))
    try:
        made.start(lambda _, folder: Root(folder))
        yield made
    finally:
        made.close()


def test_syntax():
    subprocess.run(['ansible-playbook', '--syntax-check', '-i', ROLE / 'inventory.example.yml', ROLE / 'site.yml'],
                   check=True, timeout=300)


def test_yamllint():
    if not shutil.which('yamllint'):
        pytest.skip('yamllint is not installed')
    done = subprocess.run(['yamllint', '--strict', '-d', '{extends: default, rules: {line-length: {max: 110}}}',
                           ROLE], capture_output=True, text=True, check=False, timeout=300)
    assert (done.returncode, done.stdout) == (0, '')


def test_check_mode_of_new_hosts(sites):
    _, changed = sites.play('--check', '--diff')
    assert all(changed.values())
    for site in sites.of.values():
        assert site.run('ls', '/etc/leon', '/usr/sbin/leond', check=False).returncode != 0


def test_two_hosts_become_an_overlay(sites):
    text, changed = sites.play('-vvv', '--diff')
    assert all(changed.values())
    first, second = sites.of.values()
    secret = first.config()['authentication']['pre-shared-secret']
    assert second.config()['authentication']['pre-shared-secret'] == secret
    assert secret not in text and not re.search(r'leon[1-9]\.', text)
    assert [site.config()['node-name'] for site in (first, second)] == ['first', 'second']
    for site in (first, second):
        assert site.run('stat', '-c', '%U:%G %a', CONFIG).stdout == 'root:leon 640\n'
        assert site.run('systemctl', 'is-enabled', 'leond@leon0').stdout == 'enabled\n'
    ping(second, TUNNEL['first'])


def test_second_run_changes_nothing(sites):
    before = {name: (site.config(), site.pid()) for name, site in sites.of.items()}
    assert sites.play()[1] == {'first': 0, 'second': 0}
    assert {name: (site.config(), site.pid()) for name, site in sites.of.items()} == before


def test_a_changed_key_is_reloaded(sites):
    second = sites.of['second']
    pid, seeds = second.pid(), second.config()['peer']
    second.extra = {'leon_address': ['10.99.0.22/24'], 'leon_config': {'fdb': {'maximum': 5000}}}
    text, changed = sites.play_one('second', '-vvv', '--diff')
    assert changed == 2  # the file, and the reload
    assert second.config()['authentication']['pre-shared-secret'] not in text
    assert second.pid() == pid and second.config()['peer'] == seeds
    assert '10.99.0.22/24' in second.run('ip', 'address', 'show', 'dev', 'leon0').stdout


@pytest.mark.parametrize('config, sentence', [
    ({'port': 7000}, 'restart needed: port. The configuration is as before. To permit a restart, set leon_restart to '
     'true.'),
    ({'fbd': {}}, 'fbd: unknown key; did you mean '),
])
def test_a_refused_change_is_undone(sites, config, sentence):
    second = sites.of['second']
    before, pid, usual = second.config(), second.pid(), second.extra
    second.extra = {**usual, 'leon_config': config}
    assert sentence in sites.play_one('second', fails=['second'])[0]
    second.extra = usual
    assert (second.config(), second.pid()) == (before, pid)


def test_a_restart_with_permission(sites):
    second = sites.of['second']
    pid = second.pid()
    second.extra = {'leon_config': {'port': 7000, 'fdb': None}, 'leon_restart': True}
    sites.play_one('second')
    assert second.pid() != pid and second.config()['port'] == 7000 and 'fdb' not in second.config()
    ping(second, TUNNEL['first'])


def test_a_node_leaves_and_another_one_lets_it_in(sites):
    """The first host of the group makes no second overlay."""
    first = sites.of['first']
    first.extra = {'leon_state': 'left'}
    assert sites.play_one('first')[1] == 1
    assert first.run('ls', CONFIG, '/var/lib/leon/leon0.identity', check=False).stdout == ''
    assert first.run('systemctl', 'is-enabled', 'leond@leon0', check=False).returncode != 0
    assert sites.play_one('first')[1] == 0
    first.extra = {}
    text, _ = sites.play_one('first', fails=['first'])
    assert 'To join through it, set leon_first to second.' in text
    sites.play_one('first', '-e', 'leon_first=second')
    ping(first, TUNNEL['second'])
