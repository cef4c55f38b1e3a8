# SPDX-License-Identifier: GPL-2.0-or-later
"""The labs of tests/netns, and leond of another release."""
import os
import subprocess
import sys
import urllib.request
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / 'netns'))

import previous  # noqa: E402
from borrowed import netns as _netns  # noqa: E402

lab = _netns.lab
pytest_runtest_makereport = _netns.pytest_runtest_makereport


def pytest_configure(config):
    # The package is fetched first, because the namespaces of the lab have no network. With xdist,
    # the main process is here before all others.
    config.released = config.missing = None
    try:
        config.released = fetched(os.environ.get('RELEASE'))
    except previous.Missing as e:
        config.missing = str(e)
    _netns.pytest_configure(config)


def fetched(release):
    """Path of leond in a package given as a file or an address, else of the previous release."""
    folder = Path(os.environ['LEON_BUILD'], 'mixed').resolve()
    folder.mkdir(parents=True, exist_ok=True)
    if not release:
        return previous.build(folder)
    package = Path(release)
    if '://' in release:
        package = folder / 'leond.deb'
        with urllib.request.urlopen(release, timeout=60) as answer:
            package.write_bytes(answer.read())
    # The package leon-accel is in the directory of the package leond.
    for part in (package, package.with_name(package.name.replace('leond_', 'leon-accel_'))):
        if part.exists():
            subprocess.run(['dpkg-deb', '-x', part, folder / 'root'], check=True)
    return str(folder / 'root/usr/sbin/leond')


@pytest.fixture
def released(request):
    """Path of the other release's leond."""
    if request.config.missing:
        pytest.skip(request.config.missing)
    return request.config.released


@pytest.fixture
def released_accel(released):
    """Path of leon-accel, if the other release has the program."""
    path = Path(released).with_name('leon-accel')
    if not path.exists():
        pytest.skip('that release has no leon-accel')
    return str(path)
