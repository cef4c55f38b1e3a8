# SPDX-License-Identifier: GPL-2.0-or-later
"""Builds leond and leon-accel of the previous release from the history of this tree, for `make
check-mixed` without RELEASE. The result is in the build directory and is built once.
"""
import re
import subprocess
import tarfile
from pathlib import Path

import pytest

TOP = Path(__file__).resolve().parents[2]
CHANGELOG = 'packaging/debian/changelog'
ENTRY = re.compile(r'^leon \(([^)]*)\) (\w+);', re.M)
PROGRAMS = ('dataplane/leond', 'leon-accel/leon-accel')


def git(*words):
    done = subprocess.run(['git', '-c', f'safe.directory={TOP}', '-C', TOP, *words],
                          capture_output=True, text=True, check=False)
    return done.stdout.strip() if done.returncode == 0 else ''


def previous_version():
    """The newest released entry below the first entry."""
    entries = ENTRY.findall((TOP / CHANGELOG).read_text())
    released = [version for version, suite in entries[1:] if suite != 'UNRELEASED']
    if not released:
        raise pytest.UsageError('no earlier release: name a package, RELEASE=leond_VERSION_amd64.deb')
    return released[0]


def commit_of(version):
    """Its tag, or the last commit before the changelog got a newer first entry."""
    tag = git('rev-parse', '--verify', '--quiet', f'v{version}^{{commit}}')
    if tag:
        return tag
    newer = None
    for commit in git('log', '--format=%H', '--', CHANGELOG).splitlines():
        first = ENTRY.match(git('show', f'{commit}:{CHANGELOG}'))
        if newer and first and first[1] == version:
            return git('rev-parse', f'{newer}^')
        newer = commit
    raise pytest.UsageError(f'the history of git has no release {version}: clone with the whole '
                            'history, or name a package, RELEASE=leond_VERSION_amd64.deb')


def build(folder):
    """Path of leond; leon-accel is beside it."""
    version = previous_version()
    target = folder / version
    if not (target / 'leon-accel').exists():
        source = target / 'source'
        source.mkdir(parents=True, exist_ok=True)
        subprocess.run(['git', '-c', f'safe.directory={TOP}', '-C', TOP, 'archive',
                        f'--output={target}/source.tar', commit_of(version)], check=True)
        with tarfile.open(target / 'source.tar') as archive:
            archive.extractall(source)
        subprocess.run(['meson', 'setup', '-Dtests=false', source / 'build', source], check=True,
                       stdout=subprocess.DEVNULL)
        subprocess.run(['ninja', '-C', source / 'build'], check=True, stdout=subprocess.DEVNULL)
        for program in PROGRAMS:
            (source / 'build/vyos-1x-leon' / program).rename(target / Path(program).name)
    return str(target / 'leond')
