# SPDX-License-Identifier: GPL-2.0-or-later
"""The version of a tree: packaging/version.sh between releases, at a release and without git, and
`--version` of each program."""
import re
import shutil
import subprocess
import tarfile

import pytest

from conftest import BUILD, TOP

PROGRAMS = ('dataplane/leond', 'leonctl/leonctl', 'leon-accel/leon-accel', 'leon-sclp/leon-sclp',
            'leonsim/leonsim')
BETWEEN = r'0\.3\.0~git\d{8}\.[0-9a-f]{7}'


def said(*command, cwd=None):
    return subprocess.run([str(word) for word in command], cwd=cwd, check=True, capture_output=True,
                          text=True, timeout=60).stdout


def git(tree, *words):
    return said('git', '-c', 'user.name=a', '-c', 'user.email=a@example.net', '-C', tree, *words)


@pytest.fixture
def tree(tmp_path):
    """A tree with a changelog that is not released yet."""
    made = tmp_path / 'leon'
    (made / 'packaging/debian').mkdir(parents=True)
    shutil.copy(TOP / 'packaging/version.sh', made / 'packaging')
    shutil.copy(TOP / '.gitattributes', made)
    entry(made, 'UNRELEASED')
    return made


def entry(tree, distribution):
    (tree / 'packaging/debian/changelog').write_text(f'leon (0.3.0) {distribution}; urgency=medium\n')


def version(tree):
    return said(tree / 'packaging/version.sh').strip()


def test_a_release_has_its_number(tree):
    entry(tree, 'unstable')
    assert version(tree) == '0.3.0'


def test_between_releases_the_commit_is_named(tree):
    git(tree, 'init', '-q')
    git(tree, 'add', '.')
    git(tree, 'commit', '-q', '-m', 'a')
    found = version(tree)
    assert re.fullmatch(BETWEEN, found)
    assert found.endswith(git(tree, 'rev-parse', 'HEAD')[:7])
    for older, newer in (('0.2.0', found), (found, '0.3.0')):
        subprocess.run(['dpkg', '--compare-versions', older, 'lt', newer], check=True, timeout=60)
    archive = tree.parent / 'leon.tar'
    git(tree, 'archive', '--prefix=tarball/', '-o', archive, 'HEAD')
    with tarfile.open(archive) as tar:
        tar.extractall(tree.parent)
    assert version(tree.parent / 'tarball') == found


def test_a_copy_without_git_has_a_version(tree):
    assert version(tree) == '0.3.0~git'


def test_programs_agree():
    """Only the last build knows its commit, so the programs are compared with each other."""
    found = {said(BUILD / 'vyos-1x-leon' / program, '--version') for program in PROGRAMS}
    names = {line.split()[0] for line in found}
    assert names == {program.rpartition('/')[2] for program in PROGRAMS}
    (one,) = {line.split()[1] for line in found}
    assert one.startswith(version(TOP).partition('~')[0])
