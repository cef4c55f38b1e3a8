# SPDX-License-Identifier: GPL-2.0-or-later
"""The distribution of the tests of a folder among processes of pytest-xdist, with --dist loadfile.
A conftest.py imports the hook.

One process runs all tests of a file with a shared fixture, in the order of the file. Any free
process takes the next test of another file.
"""
import re

import pytest

# The tests use a fixture of the module directly, or by `far` and `ends` of tests/netns.
SHARED = re.compile(r"^@pytest\.fixture\(.*scope='module'|^def test_\w+\(.*\b(far|ends)\b", re.M)


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_make_scheduler(config, log):
    if config.getoption('dist') != 'loadfile':
        return None
    from xdist.scheduler import LoadScopeScheduling

    class Scheduling(LoadScopeScheduling):
        """One process runs a scope."""

        def _split_scope(self, nodeid):
            file = nodeid.split('::')[0]
            return file if SHARED.search((config.rootpath / file).read_text()) else nodeid

    return Scheduling(config, log)
