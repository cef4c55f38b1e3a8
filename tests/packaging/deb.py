# SPDX-License-Identifier: GPL-2.0-or-later
"""The metadata, the contents and the quality of a .deb."""
import shutil
import subprocess
from pathlib import Path

import pytest


def field(deb: Path, name: str) -> str:
    return subprocess.run(
        ['dpkg-deb', '-f', deb, name], check=True, capture_output=True, text=True, timeout=60
    ).stdout.strip()


def contents(deb: Path, out: Path) -> dict:
    """Name in the package -> the unpacked file."""
    subprocess.run(['dpkg-deb', '-x', deb, out], check=True, timeout=300)
    return {'/' + str(p.relative_to(out)): p for p in out.rglob('*') if not p.is_dir()}


def assert_lintian_is_silent(deb: Path) -> None:
    if not shutil.which('lintian'):
        pytest.skip('lintian is not installed')
    done = subprocess.run(
        ['lintian', '--allow-root', '--fail-on', 'error,warning', '--tag-display-limit', '0', deb],
        capture_output=True, text=True, timeout=300,
    )
    assert (done.returncode, done.stdout) == (0, ''), done.stdout + done.stderr
