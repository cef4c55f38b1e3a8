# SPDX-License-Identifier: GPL-2.0-or-later
"""The previous release of `make check-mixed`: a tag, else the history, else a reason to skip."""
import subprocess
import sys
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / 'mixed'))

import previous  # noqa: E402

RELEASED = 'leon (0.2.0) unstable; urgency=medium\n'
NEXT = 'leon (0.3.0) UNRELEASED; urgency=medium\n\n' + RELEASED


def git(tree, *words):
    done = subprocess.run(['git', '-C', tree, '-c', 'user.name=x', '-c', 'user.email=x@example.net', *words],
                          check=True, capture_output=True, text=True)
    return done.stdout.strip()


def commit(tree, changelog):
    (tree / previous.CHANGELOG).parent.mkdir(parents=True, exist_ok=True)
    (tree / previous.CHANGELOG).write_text(changelog)
    git(tree, 'add', '.')
    git(tree, 'commit', '-q', '--allow-empty', '-m', 'x')
    return git(tree, 'rev-parse', 'HEAD')


@pytest.fixture
def tree(tmp_path, monkeypatch):
    """A repository with a release, one more commit of it, and the next release in work."""
    made = tmp_path / 'tree'
    git(tmp_path, 'init', '-q', made)
    commit(made, RELEASED)
    monkeypatch.setattr(previous, 'TOP', made)
    return made


def test_without_a_tag_it_is_the_last_commit_with_the_version(tree):
    last = commit(tree, RELEASED)
    commit(tree, NEXT)
    assert previous.previous_version() == '0.2.0'
    assert previous.commit_of('0.2.0') == last


def test_a_tag_has_priority(tree):
    git(tree, 'tag', 'v0.2.0')
    tagged = git(tree, 'rev-parse', 'HEAD')
    commit(tree, RELEASED)
    commit(tree, NEXT)
    assert previous.commit_of('0.2.0') == tagged


def test_a_shallow_clone_is_a_reason_to_skip(tree, tmp_path, monkeypatch):
    commit(tree, NEXT)
    git(tmp_path, 'clone', '-q', '--depth=1', f'file://{tree}', 'shallow')
    monkeypatch.setattr(previous, 'TOP', tmp_path / 'shallow')
    with pytest.raises(previous.Missing, match='0.2.0: clone with the whole history'):
        previous.build(tmp_path / 'build')
    assert not (tmp_path / 'build/0.2.0/leond').exists()


def test_no_release_before_is_a_reason_to_skip(tree):
    with pytest.raises(previous.Missing, match='no earlier release'):
        previous.previous_version()
