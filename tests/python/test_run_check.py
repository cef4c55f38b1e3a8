# SPDX-License-Identifier: GPL-2.0-or-later
"""The numbers of `make check`."""

import sys
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

import run_check  # noqa: E402

PASSES = 'def test_passes():\n    pass\n'
FAILS = 'def test_fails():\n    assert False\n'
SKIPPED = 'import pytest\ndef test_skipped():\n    pytest.skip("no history")\n'


@pytest.mark.parametrize(
    'text, want',
    [
        (PASSES + SKIPPED, '1 passed, 0 failed, 1 skipped'),
        (FAILS + SKIPPED, '0 passed, 1 failed, 1 skipped'),
        (SKIPPED, '0 passed, 1 failed, 1 skipped'),
        ('', '0 passed, 1 failed'),
    ],
    ids=['passed', 'failed', 'skipped', 'none'],
)
def test_a_folder_without_a_passed_test_fails(tmp_path, monkeypatch, text, want):
    folder = tmp_path / 'tests/mixed'
    folder.mkdir(parents=True)
    (folder / 'test_it.py').write_text(text)
    monkeypatch.setattr(run_check, 'TOP', str(tmp_path))
    assert str(run_check.pytest('mixed', [])) == want
