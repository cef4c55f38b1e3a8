# SPDX-License-Identifier: GPL-2.0-or-later
"""Builds the packages under test. Usage: packages.py FOLDER"""
import os
import re
import subprocess
import sys
from pathlib import Path

TOP = Path(__file__).resolve().parents[2]


def build_packages(out: Path, timeout: int | None = None) -> None:
    out.mkdir(parents=True, exist_ok=True)
    # `make check` runs the unit tests separately.
    done = subprocess.run(
        [TOP / 'packaging/build-deb.sh', out],
        env={**os.environ, 'DEB_BUILD_OPTIONS': 'nocheck parallel=2'},
        capture_output=True, text=True, timeout=timeout,
    )
    assert done.returncode == 0, done.stderr
    # A build of minutes shows its progress.
    assert re.search(r'^   dh_auto_build .*\n(   compiled \d+ of \d+\n){3,}   dh_', done.stdout, re.M), done.stdout


if __name__ == '__main__':
    build_packages(Path(sys.argv[1]))
