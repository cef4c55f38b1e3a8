# SPDX-License-Identifier: GPL-2.0-or-later
"""Tests that change the machine that they run in: only in one that
tests/vm/run.py or tests/vm/container.py has made. The labs are those of tests/netns."""
import importlib.util
import os
import sys
from pathlib import Path

import pytest

NETNS = Path(__file__).resolve().parents[1] / 'netns'
sys.path.insert(0, str(NETNS))
_spec = importlib.util.spec_from_file_location('netns_conftest', NETNS / 'conftest.py')
_netns = importlib.util.module_from_spec(_spec)
_spec.loader.exec_module(_netns)
far, ends = _netns.far, _netns.ends
pytest_runtest_makereport = _netns.pytest_runtest_makereport


def pytest_configure(config):
    if 'LEON_GUEST' not in os.environ:
        pytest.exit('these tests install packages and start units: see `make check-units`', 2)
    _netns.pytest_configure(config)
