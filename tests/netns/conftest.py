# SPDX-License-Identifier: GPL-2.0-or-later
"""pytest glue of the namespace tests: private namespaces before the first test, removal of each
lab, and details in the report of a failure."""
import contextlib
import os
import sys

import pytest

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path[:0] = [HERE, os.path.join(HERE, '../schema'), os.path.join(HERE, '..')]

import ns  # noqa: E402
from accel import CONFIG as ACCELERATED, far_apart  # noqa: E402
from lab import Lab  # noqa: E402
from node import leond_program  # noqa: E402
from spread import pytest_xdist_make_scheduler  # noqa: E402, F401


def pytest_configure(config):
    ns.enter_lab()


# The first ones share a fixture for a minute or longer, or have a test of such a length. They start
# first, so none runs alone at the end.
FIRST = ['test_' + name for name in (
    'accel', 'files', 'accel_agree', 'multicast_programs', 'lisp', 'accel_bypassed', 'multicast', 'accel_show',
    'lines', 'frames', 'accel_moved', 'demo')]


def pytest_collection_modifyitems(items):
    items.sort(key=lambda item: FIRST.index(item.path.stem) if item.path.stem in FIRST else len(FIRST))


def labs():
    """Yields a maker of overlays. The end of the fixture stops and checks every overlay."""
    with contextlib.ExitStack() as stack:
        def make(topology, start=True):
            if not os.path.exists(leond_program()):
                pytest.skip(f'no {leond_program()}')
            made = Lab(topology, start)
            stack.callback(made.close)
            return made
        yield make


@pytest.fixture
def lab():
    """lab(topology): a running overlay, stopped and checked after the test."""
    yield from labs()


@pytest.fixture
def keep():
    """keep(thing) returns the thing and closes it after the test."""
    with contextlib.ExitStack() as stack:
        def keep_open(thing):
            stack.callback(thing.close)
            return thing
        yield keep_open


@pytest.fixture(scope='module')
def module_lab():
    """One running overlay for all read-only tests of a module."""
    yield from labs()


@pytest.fixture(scope='module')
def far_world(request, module_lab):
    """Two sites, RTT_MS of the module apart, with an accelerator each."""
    with far_apart(module_lab({'sites': {'a': {}, 'b': {}}, 'config': ACCELERATED,
                               'rtt_ms_default': request.module.RTT_MS})) as made:
        yield made


@pytest.fixture
def far(far_world):
    """far_world() without intercepted connections and with counters at zero."""
    return far_world.ready()


@pytest.fixture
def ends(far):
    """The two hosts of `far`."""
    return far.host['a'], far.host['b']


@pytest.hookimpl(hookwrapper=True)
def pytest_runtest_makereport(item, call):
    outcome = yield
    report = outcome.get_result()
    if report.failed:
        for number, lab_ in enumerate(Lab.live):
            for name, text in lab_.dump():
                report.sections.append((f'lab {number}, node {name}', text))
