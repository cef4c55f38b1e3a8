# SPDX-License-Identifier: GPL-2.0-or-later
"""The labs of tests/netns."""
import importlib.util
import sys
from pathlib import Path

NETNS = Path(__file__).resolve().parents[1] / 'netns'
sys.path.insert(0, str(NETNS))
_spec = importlib.util.spec_from_file_location('netns_conftest', NETNS / 'conftest.py')
_netns = importlib.util.module_from_spec(_spec)
_spec.loader.exec_module(_netns)
lab, module_lab = _netns.lab, _netns.module_lab
far_world, far, ends = _netns.far_world, _netns.far, _netns.ends
pytest_configure = _netns.pytest_configure
pytest_runtest_makereport = _netns.pytest_runtest_makereport
