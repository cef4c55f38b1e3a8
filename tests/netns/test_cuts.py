# SPDX-License-Identifier: GPL-2.0-or-later
"""A few cuts and repairs of a LAN and of the Internet paths, with two and three routers. `make
check-cuts` runs a hundred, at random. CUTS_SEED selects others here."""
import os

import pytest

from cuts import COPIES, accept, refuse, trial
from lab import wait_for


# Other work on the machine delays everything by seconds.
SLACK_S = 4
# The same for every change.
SEED = int(os.environ.get('CUTS_SEED') or 1)


@pytest.mark.parametrize('routers', [2, 3])
def test_a_few_cuts_and_heals(routers):
    with trial(routers, SEED, slack_s=SLACK_S) as made:
        made.run(4)
        print(made.summary())


def worst(made, since):
    return max(len(times) for (number, _), times in list(made.wire.copies.items())
               if number >= since)


def test_lans_that_are_joined_unseen():
    """Three LANs are joined, first in one direction, so no host moves. No link of a router comes
    up, and the next guard frame is a minute away. A looped broadcast triggers a query of the loop
    guard, and the loop ends."""
    with trial(3, 1) as made:
        switch, nodes = made.site.switch, made.site.net.node
        for name in ('r1', 'r2'):
            refuse(switch, name, 'ingress', 'egress')
        wait_for(made.all_once, 20, 'the parts are joined by the overlay')
        for node in nodes.values():
            node.reload(loop_guard={'interval': 60000})
        since = len(made.wire.sent)
        for name in ('r1', 'r2'):
            refuse(switch, name, 'egress', again=True)
        wait_for(lambda: nodes['r0'].statistics()['loop_guard']['state'] == 'blocked', 20,
                 'r0 hears the others')
        for name in ('r1', 'r2'):
            accept(switch, name)
        wait_for(made.all_once, 20, 'each broadcast arrives once')
        assert worst(made, since) <= COPIES * 3
