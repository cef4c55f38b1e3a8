# SPDX-License-Identifier: GPL-2.0-or-later
"""The Debian package leon-accel: contents, operation with leond, and inaccessible secrets."""
import json
import re
import subprocess

import pytest
from deb import field, make_joined_package, status
from test_deb import wait_until

NEEDS = {'libc6', 'libjson-c5', 'libmnl0', 'libsystemd0', 'libzstd1', 'leond'}
CONFIG = {'version': 1, 'interface': 'leon0', 'source-address': ['127.0.0.1'], 'acceleration': {},
          'authentication': {'pre-shared-secret': 'a secret that leon-accel cannot read'}}


@pytest.fixture
def both(root, accel_deb):
    """A root with leond installed and the file of leon-accel."""
    root.put(accel_deb, '/tmp/leon-accel.deb')
    root.run('dpkg', '--install', '/tmp/leond.deb')
    return root


def test_file_list(accel_deb, units, tmp_path):
    subprocess.run(['dpkg-deb', '-x', accel_deb, tmp_path], check=True, timeout=300)
    found = {'/' + str(path.relative_to(tmp_path)) for path in tmp_path.rglob('*') if path.is_file()}
    assert {name.removesuffix('.gz') for name in found} == {
        f'{units}/leon-accel@.service',
        '/usr/sbin/leon-accel',
        '/usr/share/bash-completion/completions/leon-accel.bash',
        '/usr/share/fish/vendor_completions.d/leon-accel.fish',
        *(f'/usr/share/doc/leon-accel/{name}' for name in ('acceleration.md', 'changelog', 'copyright')),
        '/usr/share/man/man8/leon-accel.8',
    }


def test_dependencies(accel_deb, deb, vyos_deb):
    version = field(deb, 'Version')
    depends = field(accel_deb, 'Depends').split(', ')
    assert f'leond (= {version})' in depends
    assert {entry.split()[0].removesuffix('t64') for entry in depends} == NEEDS
    assert 'leon-accel' in field(deb, 'Suggests').split(', ')
    assert field(vyos_deb, 'Recommends') == f'leon-accel (>= {version})'


def test_upgrade_from_one_package_to_two(both):
    """An upgrade in either order, with the real dpkg."""
    # The state before the package leon-accel existed.
    make_joined_package(both, 'leon-accel', '0.1.0')
    for order in (('leond', 'leon-accel'), ('leon-accel', 'leond')):
        both.run('dpkg', '--purge', 'leon-accel', 'leond')
        both.run('dpkg', '--install', '/tmp/before.deb')
        both.run('dpkg', '--auto-deconfigure', '--install', *(f'/tmp/{name}.deb' for name in order))
        assert [status(both, name) for name in order] == ['ii', 'ii']
        assert both.run('dpkg', '-S', '/usr/sbin/leon-accel').stdout.startswith('leon-accel:')
    # An upgrade of leond alone removes the program.
    both.run('dpkg', '--purge', 'leon-accel', 'leond')
    both.run('dpkg', '--install', '/tmp/before.deb')
    both.run('dpkg', '--install', '/tmp/leond.deb')
    assert both.run('test', '-e', '/usr/sbin/leon-accel', check=False).returncode != 0


def test_removal_and_purge(both):
    link = '/etc/systemd/system/multi-user.target.wants/leon-accel@leon0.service'
    both.run('dpkg', '--install', '/tmp/leon-accel.deb')
    both.run('mkdir', '-p', link.rpartition('/')[0])
    both.run('ln', '-s', '/lib/systemd/system/leon-accel@.service', link)
    assert both.run('dpkg', '--remove', 'leond', check=False).returncode != 0
    both.run('dpkg', '--remove', 'leon-accel')
    assert both.run('test', '-L', link, check=False).returncode == 0
    both.run('dpkg', '--purge', 'leon-accel')
    assert both.run('test', '-L', link, check=False).returncode != 0
    left = both.run('sh', '-c', 'find /etc /usr /lib /var/lib/dpkg/info -xdev -name "leon-accel*"')
    assert left.stdout == ''
    assert status(both, 'leond')[1] == 'i'


def test_what_systemd_is_told(both, tmp_path):
    """The first installation restarts too: an older package may have left an instance."""
    recorder = tmp_path / 'systemctl'
    recorder.write_text('#!/bin/sh\necho "$@" >>/tmp/told\n')
    both.put(recorder, '/usr/local/sbin/systemctl')
    both.run('chmod', '0755', '/usr/local/sbin/systemctl')
    both.run('mkdir', '-p', '/run/systemd/system')

    def told_by(*dpkg):
        both.run('sh', '-c', ': >/tmp/told')
        both.run('dpkg', *dpkg)
        return [line for line in both.run('cat', '/tmp/told').stdout.splitlines() if 'leon' in line]

    assert told_by('--install', '/tmp/leon-accel.deb') == ['try-restart leon-accel@*.service']
    # The package leond stops leon-accel only if the program is missing.
    assert 'stop leon-accel@*.service' not in told_by('--install', '/tmp/leond.deb')
    assert told_by('--remove', 'leon-accel') == ['stop leon-accel@*.service']


def configure(root, tmp_path):
    file = tmp_path / 'leon0.json'
    file.write_text(json.dumps(CONFIG))
    root.put(file, '/etc/leon/leon0.json')
    root.run('chown', 'root:leon', '/etc/leon/leon0.json')
    root.run('chmod', '0640', '/etc/leon/leon0.json')


def test_configured_and_not_installed(both, tmp_path):
    configure(both, tmp_path)
    check = ('leond', '--config', '/etc/leon/leon0.json', '--check')
    done = both.run(*check)
    assert done.stdout == 'configuration OK\n'
    assert done.stderr == ('warning: acceleration: leon-accel is not installed, so no TCP connection is '
                           'accelerated; install the package leon-accel\n')
    both.run('dpkg', '--install', '/tmp/leon-accel.deb')
    assert both.run(*check).stderr == ''


def as_user(user, *words, caps='-all'):
    """A program with the group of the user only, as in the unit."""
    return ('setpriv', f'--reuid={user}', f'--regid={user}', '--clear-groups', '--no-new-privs',
            f'--bounding-set={caps}', f'--inh-caps={caps}', f'--ambient-caps={caps}', *words)


def test_reaches_leond_and_no_secret(both, units, tmp_path):
    """As the user of the unit: the queue of leond, and no file or socket with the secret."""
    both.run('dpkg', '--install', '/tmp/leon-accel.deb')
    unit = both.run('cat', f'{units}/leon-accel@.service').stdout
    assert {'User=leon-accel', 'Group=leon-accel'} <= set(unit.splitlines())
    assert 'SupplementaryGroups' not in unit
    assert both.run('id', '-Gn', 'leon-accel').stdout == 'leon-accel\n'
    (hidden,) = re.findall('^InaccessiblePaths=(.*)$', unit, re.M)
    assert set(hidden.replace('-/', '/').split()) == {'/etc/leon', '/var/lib/leon', '/run/leon'}
    (command,) = re.findall('^ExecStart=(.*)$', unit, re.M)
    configure(both, tmp_path)
    for directory, mode in (('/run/leon', '0750'), ('/var/lib/leon', '0700')):
        both.run('install', '-d', '-o', 'leon', '-g', 'leon', '-m', mode, directory)
    both.run('ip', 'link', 'set', 'lo', 'up')
    caps = '-all,+net_admin'
    ask = ('leonctl', '--socket', '/run/leon/leon0.sock')
    leond = both.start(*as_user('leon', 'sh', '-c', 'umask 0077; exec leond --config /etc/leon/leon0.json '
                                '2>/run/leon/log', caps=caps))
    wait_until(lambda: both.run(*ask, 'show', 'nodes', check=False).returncode == 0)
    accel = both.start('unshare', '--net', *as_user(
        'leon-accel', 'sh', '-c', 'umask 0077; exec ' + command.replace('%i', 'leon0') +
        ' 2>/run/leon-accel/log', caps=caps))
    try:
        wait_until(lambda: '"running"' in both.run(*ask, '--json', 'show', 'acceleration').stdout)
        # VyOS has the document in /run, with the group of the daemon.
        both.run('install', '-o', 'root', '-g', 'leon', '-m', '0640', '/etc/leon/leon0.json', '/run/leon/')
        for words in (('cat', '/etc/leon/leon0.json'), ('cat', '/run/leon/leon0.json'), ('ls', '/etc/leon'),
                      ('ls', '/run/leon'), ('ls', '/var/lib/leon'), (*ask, 'show', 'nodes'),
                      (*ask, 'invite')):
            done = both.run(*as_user('leon-accel', *words), check=False)
            assert done.returncode != 0 and CONFIG['authentication']['pre-shared-secret'] not in done.stdout
        # The socket of leond stays in place.
        assert both.run('stat', '-c', '%U:%G %a', '/run/leon-accel/leon0.accel').stdout == (
            'leon:leon-accel 660\n')
        assert both.run(*as_user('leon-accel', 'rm', '-f', '/run/leon-accel/leon0.accel'),
                        check=False).returncode != 0
        # The group with read access to the state of leond has no access to the queues.
        assert both.run('setpriv', '--reuid=nobody', '--regid=nogroup', '--groups=leon', 'ls',
                        '/run/leon-accel', check=False).returncode != 0
    finally:
        print(both.run('cat', '/run/leon/log', '/run/leon-accel/log', check=False).stdout)
        both.run('pkill', '-x', 'leon-accel', check=False)
        accel.wait(timeout=60)
        both.run('pkill', '-x', 'leond', check=False)
        leond.wait(timeout=60)
