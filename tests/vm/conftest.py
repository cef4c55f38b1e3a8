# SPDX-License-Identifier: GPL-2.0-or-later
"""Tests that change the machine. They run only inside a machine of tests/vm/run.py or
tests/vm/container.py, with the labs of tests/netns."""
import os
import sys
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / 'netns'))

from borrowed import netns as _netns  # noqa: E402

far, ends = _netns.far, _netns.ends
pytest_runtest_makereport = _netns.pytest_runtest_makereport


def pytest_configure(config):
    if 'LEON_GUEST' not in os.environ:
        pytest.exit('these tests install packages and start units: see `make check-units`', 2)
    _netns.pytest_configure(config)
