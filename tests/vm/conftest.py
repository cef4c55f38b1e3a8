# SPDX-License-Identifier: GPL-2.0-or-later
"""Tests that change the machine that they run in: only in one that
tests/vm/run.py or tests/vm/container.py has made. The labs are those of tests/netns."""
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
