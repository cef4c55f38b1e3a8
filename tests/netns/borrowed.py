# SPDX-License-Identifier: GPL-2.0-or-later
"""conftest.py of this directory for the tests of others, whose own has the same name: its fixtures
and hooks are theirs by assignment, as pytest finds them by name."""
import importlib.util
from pathlib import Path

_spec = importlib.util.spec_from_file_location('netns_conftest', Path(__file__).with_name('conftest.py'))
netns = importlib.util.module_from_spec(_spec)
_spec.loader.exec_module(netns)
