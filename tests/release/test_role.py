# SPDX-License-Identifier: GPL-2.0-or-later
"""The role of packaging/ansible with the package of a release. A host with Debian 13 and a host
with Debian 12 install leond from the signed `apt` repository, and form an overlay. mmdebstrap makes
the roots from packages of Debian. `make check-release` is the caller.
"""
import os
import platform
import re
import subprocess

import pytest
import roots
from conftest import TOP, Root
from role import CONFIG, TUNNEL, Sites, ping

SUITES = {'first': ('13', 'trixie'), 'second': ('12', 'bookworm')}
REPOSITORY = '/var/local/apt'
PACKAGES = ('python3', 'python3-apt', 'iproute2', 'iputils-ping')


def needs(leond):
    """Names of the packages that leond needs, of an alternative the first one."""
    text = subprocess.run(['dpkg-deb', '-f', leond, 'Depends'], check=True, capture_output=True, text=True).stdout
    return {re.match(r'[\w.+-]+', term.split('|')[0].strip())[0] for term in text.split(',')}


def tree(suite, packages, folder):
    """A Debian root in a directory. Its list of sources is empty."""
    debs = TOP / 'build/release-roots' / suite
    archive = folder / f'{suite}.tar'
    roots.Mirror(debs, suite=suite).root(archive, 'amd64', sorted(packages), 0)
    root = folder / suite
    root.mkdir()
    subprocess.run(['tar', '-C', root, '-xf', archive], check=True, timeout=600)
    archive.unlink()
    (root / 'etc/apt/sources.list').write_text('')
    return root


@pytest.fixture(scope='module')
def sites(debs, out, tmp_path_factory):
    if os.geteuid() != 0:
        pytest.skip('installing a package needs several user ids: run as root')
    if platform.machine() != 'x86_64':
        pytest.skip('the roots are of amd64')
    (leond,) = debs[0].glob('leond_*.deb')
    packages = {*PACKAGES, *needs(leond)}
    folder = tmp_path_factory.mktemp('role')
    archive = folder / 'apt.tar'
    subprocess.run(['tar', '-C', out, '-cf', archive, 'apt'], check=True)

    def make_root(name, base):
        root = Root(base, tree(SUITES[name][1], packages, folder))
        root.put(archive, '/tmp/apt.tar')
        root.run('tar', '-C', '/var/local', '-xf', '/tmp/apt.tar')
        root.run('chmod', '-R', 'go+rX', REPOSITORY)
        return root
    made = Sites(folder, leon_apt_url=f'file:{REPOSITORY}', leon_apt_key=str(out / 'apt/leon.gpg'))
    try:
        made.start(make_root)
        yield made
    finally:
        made.close()


def test_two_releases_become_an_overlay(sites):
    assert all(sites.play()[1].values())
    for name, (number, _) in SUITES.items():
        site = sites.of[name]
        assert site.run('cat', '/etc/debian_version').stdout.startswith(f'{number}.')
        assert f'file:{REPOSITORY}' in site.run('apt-cache', 'policy', 'leond').stdout
        assert site.run('stat', '-c', '%U:%G %a', CONFIG).stdout == 'root:leon 640\n'
    ping(sites.of['second'], TUNNEL['first'])
    ping(sites.of['first'], TUNNEL['second'])


def test_second_run_changes_nothing(sites):
    assert sites.play()[1] == {'first': 0, 'second': 0}
    assert sites.play('-e', 'leon_package_state=latest')[1] == {'first': 0, 'second': 0}


def test_a_node_leaves(sites):
    sites.of['second'].extra = {'leon_state': 'left'}
    sites.play()
    assert sites.of['second'].run('ls', CONFIG, check=False).returncode != 0
