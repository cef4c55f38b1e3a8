# SPDX-License-Identifier: GPL-2.0-or-later
"""Connections start and end while random events intercept and release them on a varying link. No
byte is wrong, no connection is reset, and nothing remains. Duration: ACCEL_MINUTES (1). `make
soak-accel` uses sanitizers, which report leaks at the end of the processes."""
import os
import random
import time

from accel import CONFIG, Transfer, far_apart
from lab import wait_for

MINUTES = float(os.environ.get('ACCEL_MINUTES', '1'))
LINES = [{}, {'loss_permille': 1}, {'loss_permille': 3}, {'reorder_permille': 10}]
AT_A_TIME = 6


def begin(far, dice):
    """A transfer of any size, in one or both directions, fast or slow, from either side."""
    ends = [far.host['a'], far.host['b']]
    dice.shuffle(ends)
    family = dice.choice(['ip4', 'ip6'])
    return Transfer(*ends, getattr(ends[1], family), up=dice.randrange(1 << dice.randrange(10, 22)),
                    down=dice.randrange(1 << dice.randrange(10, 22)),
                    pause=dice.choice([0, .05, .3]))


def pass_time(far, dice, transfers):
    """A random event, or no event."""
    what = dice.randrange(8)
    if what < 3:
        far.accel[dice.choice('ab')].ask('reset acceleration')
    elif what == 3:
        far.wan.both('a', 'b', delay_us=dice.randrange(20000, 50000), **dice.choice(LINES))
    elif what == 4:
        t = dice.choice(transfers)
        if t.reading.is_set():
            t.reading.clear()
        else:
            t.reading.set()
    time.sleep(dice.random())


def test_cycles_at_random(lab):
    seed = int(os.environ.get('ACCEL_SEED', time.time()))
    print('ACCEL_SEED', seed)
    dice = random.Random(seed)
    until = time.monotonic() + MINUTES * 60
    with far_apart(lab({'sites': {'a': {}, 'b': {}}, 'rtt_ms_default': 60, 'config': CONFIG})) as far:
        transfers = [begin(far, dice)]
        done = 0
        while time.monotonic() < until:
            pass_time(far, dice, transfers)
            over = [t for t in transfers if not any(x.is_alive() for x in t.threads)]
            for t in over:
                t.assert_whole()
                t.close()
                done += 1
            transfers = [t for t in transfers if t not in over]
            while len(transfers) < AT_A_TIME:
                transfers.append(begin(far, dice))
        for t in transfers:
            t.reading.set()
            t.finish(120).assert_whole()
        wait_for(lambda: far.taken() == [0, 0], 60, 'nothing is taken')
        far.assert_no_resets()
        print(done + len(transfers), 'transfers,', far.count('a', 'intercepted'), 'taken,',
              far.count('a', 'released'), 'released')
        assert far.count('a', 'intercepted') > 0
