# SPDX-License-Identifier: GPL-2.0-or-later
"""Tests that change the machine that they run in: only in one that
tests/vm/run.py or tests/vm/container.py has made."""
import os
import sys
from pathlib import Path

import pytest

sys.path[:0] = [str(Path(__file__).resolve().parent.parent / 'netns')]

import ns  # noqa: E402
from lab import Lab  # noqa: E402


def pytest_configure(config):
    if 'LEON_GUEST' not in os.environ:
        pytest.exit('these tests install packages and start units: see `make check-units`', 2)
    ns.enter_lab()


@pytest.hookimpl(hookwrapper=True)
def pytest_runtest_makereport(item, call):
    outcome = yield
    report = outcome.get_result()
    if report.failed:
        for lab in Lab.live:
            report.sections += [(f'node {name}', text) for name, text in lab.dump()]
