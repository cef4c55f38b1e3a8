# SPDX-License-Identifier: GPL-2.0-or-later
"""leon-accel of another release at one end of a connection, and the present leon-accel at the
other end. The connection is intercepted and released without a wrong byte, with either end as
leader. `make check-mixed` is the caller.
"""
import subprocess

import pytest

import accel
from accel import ENDLESS, Accelerator, Transfer, far_apart
from lab import merged, wait_for

RTT_MS = 100
# For the site of the present release: a place for one connection.
NARROW = {'acceleration': {'maximum-connections': 1}}


# Names of 0.2.0, which differ from those of today.
RENAMED = {'connections_taken': 'connections_intercepted'}
RENAMED_OPTION = '--taken'


class Released(Accelerator):
    """leon-accel of the other release, with the present names in its answers."""

    def __init__(self, node, program):
        super().__init__(node)
        self.program = program
        text = subprocess.run([program, '--help'], capture_output=True, text=True, check=False)
        if RENAMED_OPTION in text.stdout + text.stderr:
            self.file_option = RENAMED_OPTION

    def show(self):
        return {RENAMED.get(name, name): value for name, value in super().show().items()}


@pytest.fixture(params=['a', 'b'])
def mixed(request, lab, released, released_accel):
    """The other release is the leader or the follower, with both programs."""
    old = request.param
    made = lab({'sites': {name: {'config': merged(accel.CONFIG, {} if name == old else NARROW)}
                          for name in 'ab'}, 'rtt_ms_default': RTT_MS}, start=False)
    made.node[old].program = released
    made.start()
    made.joined()
    with far_apart(made, start=False) as far:
        far.accel[old] = Released(made.node[old], released_accel)
        far.today = 'a' if old == 'b' else 'b'
        yield far.ready()


def transfer(far, up, down):
    """Less data than the capacity of the link, so an interception is possible at any time."""
    return Transfer(far.host['a'], far.host['b'], far.host['b'].ip4, up=up, down=down, pause=.05)


@pytest.mark.parametrize('up, down', [(ENDLESS, 0), (0, ENDLESS), (ENDLESS, ENDLESS)],
                         ids=['up', 'down', 'both'])
def test_taken_and_given_back(mixed, up, down):
    t = transfer(mixed, up, down)
    mixed.cycle(t, 3)
    t.finish(60).assert_whole()
    wait_for(lambda: mixed.taken() == [0, 0], 60, 'nothing is taken')
    mixed.assert_no_resets()


def test_no_place_there(mixed):
    """The present release has one place and refuses the second connection. Both transfers continue
    without a wrong byte."""
    first = transfer(mixed, 0, ENDLESS)
    mixed.wait_intercepted()
    second = transfer(mixed, 0, ENDLESS)
    # The leader of any release begins; a follower begins only in releases with OFFER and ACCEPT.
    if mixed.today == 'b':
        wait_for(lambda: mixed.count('b', 'refused'), 60, 'there is no place for the second')
    second.wait_more(accel.MB)
    assert mixed.taken() == [1, 1]
    first.finish(60).assert_whole()
    mixed.wait_intercepted()
    second.finish(60).assert_whole()
    mixed.assert_no_resets()
