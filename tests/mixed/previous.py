# SPDX-License-Identifier: GPL-2.0-or-later
"""Builds leond and leon-accel of the previous release from the history of this tree, for `make
check-mixed` without RELEASE. The result is in the build directory and is built once.
"""
import re
import shutil
import subprocess
import tarfile
from pathlib import Path

TOP = Path(__file__).resolve().parents[2]
CHANGELOG = 'packaging/debian/changelog'
ENTRY = re.compile(r'^leon \(([^)]*)\) (\w+);', re.M)
PROGRAMS = ('vyos-1x-leon/dataplane/leond', 'vyos-1x-leon/leon-accel/leon-accel')
HINT = 'name a package: make check-mixed RELEASE=leond_VERSION_amd64.deb'


class Missing(Exception):
    """This tree has no previous release, or git has no commit of it."""


def git(*words):
    done = subprocess.run(['git', '-c', f'safe.directory={TOP}', '-C', TOP, *words],
                          capture_output=True, text=True, check=False)
    return done.stdout.strip() if done.returncode == 0 else ''


def previous_version():
    """The newest released entry below the first entry."""
    entries = ENTRY.findall((TOP / CHANGELOG).read_text())
    released = [version for version, suite in entries[1:] if suite != 'UNRELEASED']
    if not released:
        raise Missing(f'{CHANGELOG} has no earlier release; {HINT}')
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
    raise Missing(f'git has no commit of release {version}: clone with the whole history, or {HINT}')


def build(folder):
    """Path of leond. leon-accel is in the same directory. Raises Missing."""
    version = previous_version()
    target = folder / version
    if not (target / 'leon-accel').exists():
        shutil.rmtree(target, ignore_errors=True)
        source = target / 'source'
        source.mkdir(parents=True)
        commit = commit_of(version)
        subprocess.run(['git', '-c', f'safe.directory={TOP}', '-C', TOP, 'archive',
                        f'--output={target}/source.tar', commit], check=True)
        with tarfile.open(target / 'source.tar') as archive:
            archive.extractall(source)
        subprocess.run(['meson', 'setup', '-Dtests=false', source / 'build', source], check=True,
                       stdout=subprocess.DEVNULL)
        subprocess.run(['ninja', '-C', source / 'build', *PROGRAMS], check=True,
                       stdout=subprocess.DEVNULL)
        for program in PROGRAMS:
            (source / 'build' / program).rename(target / Path(program).name)
    return str(target / 'leond')
