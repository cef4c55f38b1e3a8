# SPDX-License-Identifier: GPL-2.0-or-later
"""Builds the packages under test. Usage: packages.py FOLDER"""
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

TOP = Path(__file__).resolve().parents[2]


def compiler_cache() -> dict:
    """Debhelper gives the build another home directory, which has no cache. The objects name no
    directory of the machine, so another folder has the same ones."""
    if not shutil.which('ccache') or 'CCACHE_DIR' in os.environ:
        return {}
    done = subprocess.run(['ccache', '--get-config', 'cache_dir'], check=True, capture_output=True, text=True)
    return {'CCACHE_DIR': done.stdout.strip()}


def build_packages(out: Path, timeout: int | None = None) -> None:
    out.mkdir(parents=True, exist_ok=True)
    # `make check` runs the unit tests separately.
    done = subprocess.run(
        [TOP / 'packaging/build-deb.sh', out],
        env={**os.environ, **compiler_cache(), 'CCACHE_BASEDIR': str(out.resolve()),
             'DEB_BUILD_OPTIONS': 'nocheck parallel=2'},
        capture_output=True, text=True, timeout=timeout,
    )
    assert done.returncode == 0, done.stderr
    # A build of minutes shows its progress.
    assert re.search(r'^   dh_auto_build .*\n(   compiled \d+ of \d+\n){3,}   dh_', done.stdout, re.M), done.stdout


if __name__ == '__main__':
    build_packages(Path(sys.argv[1]))
