# SPDX-License-Identifier: GPL-2.0-or-later
"""The output of `make release`: reproducible packages, a repository for apt, lists and checksums.
The test builds the packages twice: `make check-release` is the caller, `make check` is not.
"""
import json
import os
import subprocess
import tarfile

import pytest
import release
from conftest import TOP, Root, built

# Settings that differ between builders.
OTHERS = {'TZ': 'Asia/Tokyo', 'LANG': 'C', 'LC_ALL': 'C', 'HOME': '/nonexistent', 'USER': 'somebody'}


def test_packages_are_the_same_bytes_twice(debs, tmp_path):
    """In another directory, time zone, language and umask."""
    first = debs[1]
    assert len(first) >= 4
    assert built(tmp_path / 'somewhere/else', '027', **OTHERS) == first


def test_apt_installs_from_the_repository(out, tmp_path):
    """apt accepts the signature of the repository, and refuses another key."""
    if os.geteuid() != 0:
        pytest.skip('installing a package needs several user ids: run as root')
    root = Root(tmp_path)
    try:
        subprocess.run(['tar', '-C', out, '-cf', tmp_path / 'apt.tar', 'apt'], check=True)
        root.put(tmp_path / 'apt.tar', '/tmp/apt.tar')
        root.run('rm', '-f', '/usr/sbin/policy-rc.d', '/var/lib/man-db/auto-update')
        root.run('tar', '-C', '/var/local', '-xf', '/tmp/apt.tar')
        root.run('chmod', '-R', 'go+rX', '/var/local/apt')
        line = 'deb [signed-by=/var/local/apt/{}] file:/var/local/apt leon main'
        options = ('-o', 'Dir::Etc::sourcelist=/var/local/leon.list', '-o', 'Dir::Etc::sourceparts=-',
                   '-o', 'APT::Sandbox::User=root')

        def update(file):
            root.run('sh', '-c', f'echo "{line.format(file)}" >/var/local/leon.list')
            return root.run('apt-get', *options, '-o', 'APT::Update::Error-Mode=any', 'update',
                            check=False)

        root.run('sh', '-c', 'head -c 300 /dev/zero >/var/local/apt/other.gpg')
        assert update('other.gpg').returncode != 0
        done = update('leon.gpg')
        assert done.returncode == 0, done.stdout + done.stderr
        root.run('apt-get', *options, 'install', '-y', '--no-install-recommends', 'leond')
        assert root.run('leond', '--version').stdout == f'leond {release.tree_version()}\n'
        policy = root.run('apt-cache', *options, 'policy', 'leond', 'leon-accel', 'leon-cloud', 'vyos-1x-leon')
        assert policy.stdout.count('file:/var/local/apt') >= 3
    finally:
        root.close()


def test_checksums_and_signature(out):
    done = subprocess.run(['sha256sum', '--quiet', '--check', 'SHA256SUMS'], cwd=out, check=False)
    assert done.returncode == 0
    subprocess.run(['gpg', '--verify', out / 'SHA256SUMS.asc', out / 'SHA256SUMS'], check=True,
                   capture_output=True)
    named = {line.split('  ')[1] for line in (out / 'SHA256SUMS').read_text().splitlines()}
    files = {str(path.relative_to(out)) for path in out.rglob('*') if path.is_file()}
    assert files - named == {'SHA256SUMS', 'SHA256SUMS.asc'}


def test_what_is_in_it(out):
    """Both lists name our packages and the dependencies, with versions."""
    version = release.tree_version()
    cdx = json.loads((out / f'leon-{version}.cdx.json').read_text())
    spdx = json.loads((out / f'leon-{version}.spdx.json').read_text())
    assert cdx['bomFormat'] == 'CycloneDX' and spdx['spdxVersion'].startswith('SPDX-2')
    for names in ({part['name']: part['version'] for part in cdx['components']},
                  {part['name']: part.get('versionInfo') for part in spdx['packages']}):
        assert names['leond'] == names['vyos-1x-leon'] == version
        assert {'libjson-c5', 'libc6', 'libmnl0'} <= set(names)


def test_source_is_what_a_clone_has(out):
    version = release.tree_version()
    with tarfile.open(out / f'leon-{version}.tar.gz') as archive:
        names = set(archive.getnames())
    known = subprocess.run(['git', '-C', TOP, 'ls-files'], check=True, capture_output=True,
                           text=True).stdout.split()
    assert f'leon-{version}/packaging/release/release.py' in names
    assert len(names) >= len(known)
    assert (out / 'NOTES').read_text().startswith('## [')
