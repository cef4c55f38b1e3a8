# SPDX-License-Identifier: GPL-2.0-or-later
"""Makes the conftest.py of tests/netns available to other directories with a conftest.py. pytest
finds fixtures and hooks by name, so an assignment is enough."""
import importlib.util
from pathlib import Path

_spec = importlib.util.spec_from_file_location('netns_conftest', Path(__file__).with_name('conftest.py'))
netns = importlib.util.module_from_spec(_spec)
_spec.loader.exec_module(netns)
