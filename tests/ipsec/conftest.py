# SPDX-License-Identifier: GPL-2.0-or-later
"""pytest glue: private namespaces before the first test."""
import os
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path[:0] = [HERE, os.path.join(HERE, '../netns')]

import pytest  # noqa: E402

import ns  # noqa: E402

FAILED = pytest.StashKey()


def pytest_configure(config):
    ns.enter_lab()


@pytest.hookimpl(hookwrapper=True)
def pytest_runtest_makereport(item, call):
    report = (yield).get_result()
    item.stash[FAILED] = item.stash.get(FAILED, False) or report.failed
    if report.failed:
        print(report.longreprtext)  # at once, because the machine may end before the summary
