# SPDX-License-Identifier: GPL-2.0-or-later
"""Cuts and heals of a LAN with two and three routers and of their ways through the Internet, a few
of them; `make check-cuts` does a hundred. CUTS_SEED repeats one."""
import os
import random

import pytest

from cuts import accept, refuse, trial
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


def test_lans_that_are_joined_unseen():
    """No link of a router comes up, and its next guard is a minute away: that hosts come round
    tells it to ask."""
    with trial(2, 1) as made:
        switch, nodes = made.site.switch, made.site.net.node
        refuse(switch, 'r0', 'ingress', 'egress')
        wait_for(made.all_once, 20, 'the halves are joined by the overlay')
        for name in ('r0', 'r1'):
            nodes[name].reload(loop_guard={'interval': 60000})
        accept(switch, 'r0')
        wait_for(made.all_once, 20, 'each broadcast arrives once')
