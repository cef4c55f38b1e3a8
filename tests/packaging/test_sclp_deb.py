# SPDX-License-Identifier: GPL-2.0-or-later
"""The Debian package leon-sclp: contents, and operation with and without leond."""
import re
import subprocess

import pytest
from deb import contents, field, make_joined_package, status

FILES = {
    '/usr/sbin/leon-sclp',
    '/usr/share/bash-completion/completions/leon-sclp.bash',
    '/usr/share/fish/vendor_completions.d/leon-sclp.fish',
    '/usr/share/man/man8/leon-sclp.8',
    *(f'/usr/share/doc/leon-sclp/{name}' for name in ('sclp.md', 'changelog', 'copyright')),
}


@pytest.fixture
def ready(root, sclp_deb):
    """A root with the files of leond and leon-sclp, not yet installed."""
    root.put(sclp_deb, '/tmp/leon-sclp.deb')
    return root


def test_contents(sclp_deb, deb, tmp_path):
    found = contents(sclp_deb, tmp_path)
    assert {name.removesuffix('.gz') for name in found} == FILES
    elf = subprocess.run(['readelf', '--wide', '--file-header', '--dyn-syms', found['/usr/sbin/leon-sclp']],
                         check=True, capture_output=True, text=True, timeout=60).stdout
    assert re.search(r'Type:\s+DYN', elf) and '__stack_chk_fail' in elf
    assert 'leond' not in field(sclp_deb, 'Depends')
    assert 'leon-sclp' not in field(deb, 'Depends') + field(deb, 'Recommends')


def test_alone(ready):
    ready.run('dpkg', '--install', '/tmp/leon-sclp.deb')
    assert '--peer' in ready.run('leon-sclp', '--help').stdout
    ready.run('dpkg', '--purge', 'leon-sclp')
    assert ready.run('find', '/usr', '-xdev', '-name', '*leon-sclp*', check=False).stdout == ''


@pytest.mark.parametrize('order', [('leond', 'leon-sclp'), ('leon-sclp', 'leond')], ids=','.join)
def test_upgrade_from_one_package_to_two(ready, order):
    make_joined_package(ready, 'leon-sclp', '0.2.0')
    ready.run('dpkg', '--install', '/tmp/before.deb')
    ready.run('dpkg', '--auto-deconfigure', '--install', *(f'/tmp/{name}.deb' for name in order))
    assert [status(ready, name) for name in order] == ['ii', 'ii']
    assert ready.run('dpkg', '-S', '/usr/sbin/leon-sclp').stdout.startswith('leon-sclp:')


def test_upgrade_of_leond_alone(ready):
    make_joined_package(ready, 'leon-sclp', '0.2.0')
    ready.run('dpkg', '--install', '/tmp/before.deb')
    ready.run('dpkg', '--install', '/tmp/leond.deb')
    assert ready.run('test', '-e', '/usr/sbin/leon-sclp', check=False).returncode != 0
