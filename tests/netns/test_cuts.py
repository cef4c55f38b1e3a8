# SPDX-License-Identifier: GPL-2.0-or-later
"""Cuts and heals of a LAN with two and three routers and of their ways through the Internet, a few
of them; `make check-cuts` does a hundred. CUTS_SEED repeats one."""
import os
import random

import pytest

from cuts import COPIES, accept, refuse, trial
from lab import wait_for


# What others run beside it holds everything up for seconds.
SLACK_S = 4


def seed():
    return int(os.environ.get('CUTS_SEED') or random.SystemRandom().randrange(10**6))


@pytest.mark.parametrize('routers', [2, 3])
def test_a_few_cuts_and_heals(routers):
    with trial(routers, seed(), slack_s=SLACK_S) as made:
        made.run(4)
        print(made.summary())


def worst(made, since):
    return max(len(times) for (number, _), times in list(made.wire.copies.items())
               if number >= since)


def test_lans_that_are_joined_unseen():
    """Three, first in one direction, which moves no host. No link of a router comes up, and its
    next guard is a minute away: that broadcasts come round tells it to ask, and ends them."""
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
