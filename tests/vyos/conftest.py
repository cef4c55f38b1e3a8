# SPDX-License-Identifier: GPL-2.0-or-later
"""The labs of tests/netns."""
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / 'netns'))

from borrowed import netns as _netns  # noqa: E402

lab = _netns.lab
pytest_configure = _netns.pytest_configure
pytest_runtest_makereport = _netns.pytest_runtest_makereport
