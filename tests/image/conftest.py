# SPDX-License-Identifier: GPL-2.0-or-later
"""Private namespaces before the first test; the consoles in the report of a failure."""
import sys
from pathlib import Path

import pytest

HERE = Path(__file__).resolve().parent
sys.path[:0] = [str(HERE), str(HERE.parent / 'netns')]

import ns  # noqa: E402
from machine import Machine  # noqa: E402


def pytest_configure(config):
    ns.enter_lab()


@pytest.hookimpl(hookwrapper=True)
def pytest_runtest_makereport(item, call):
    outcome = yield
    report = outcome.get_result()
    if report.failed:
        for machine in Machine.live:
            report.sections.append((f'console of {machine.name}', machine.console()[-6000:]))
