# SPDX-License-Identifier: GPL-2.0-or-later
"""A node refuses requests of the other node. Each request costs a connection one round trip, so
requests are rare."""
import time

import pytest

import accel
from accel import ENDLESS, MB, Transfer, far_apart
from lab import merged, wait_for
from ns import kernel_count

RTT_MS = 100
EXCLUDED_PORT = 4999
AGAIN = 10  # seconds between two requests to a full node
AGAIN_EXCLUDED = 60


@pytest.fixture
def far(lab):
    """Node a leads, accepts one connection, and excludes a port. The exclusion is unknown to b."""
    narrow = merged(accel.CONFIG, {'acceleration': {'maximum-connections': 1,
                                                    'exclude': {'port': [str(EXCLUDED_PORT)]}}})
    with far_apart(lab({'sites': {'a': {'config': narrow}, 'b': {'config': accel.CONFIG}},
                        'rtt_ms_default': RTT_MS})) as made:
        yield made


def sent_by_b(far, port=0):
    """Node b receives the first data and starts the interception."""
    a, b = far.host['a'], far.host['b']
    return Transfer(a, b, b.ip4, down=ENDLESS, pause=.05, port=port)


def refused(far):
    """The number of refusals that b received."""
    return sum(n['refused'] for n in far.node['b'].show('acceleration')['nodes'])


def test_a_node_without_a_place_is_left_alone(far):
    """One connection is refused, and no other connection causes a request."""
    transfers = [sent_by_b(far)]
    far.wait_intercepted()
    transfers.append(sent_by_b(far))
    wait_for(lambda: refused(far), 30, 'there is no place for the second')
    began, before = time.monotonic(), refused(far)
    for _ in range(5):
        transfers.append(sent_by_b(far))
        transfers[-1].wait_more(MB)
    # One refusal before the count, and one refusal every ten seconds.
    assert refused(far) - before <= 2 + (time.monotonic() - began) / AGAIN
    # The interception follows when a place is free.
    transfers[0].finish(60).assert_whole()
    far.wait_intercepted()
    for t in transfers[1:]:
        t.finish(60).assert_whole()
    far.assert_no_resets()


def test_a_refusal_makes_no_data_old(far):
    """b holds data and forwards its acknowledgements. After the refusal, the kernel of the receiver
    accepts the timestamps of the data (PAWS)."""
    for _ in range(3):
        before = refused(far)
        t = sent_by_b(far, EXCLUDED_PORT)
        wait_for(lambda n=before: refused(far) > n, 30, 'it is refused')
        t.wait_more(MB)
        t.finish(60).assert_whole()
        t.close()
    assert kernel_count(far.host['a'].namespace, 'PAWSEstab') == 0


def test_what_is_excluded_there_is_left_alone(far):
    """Other connections of the node are intercepted."""
    t = sent_by_b(far, EXCLUDED_PORT)
    wait_for(lambda: refused(far), 30, 'it is refused')
    began = time.monotonic()
    while time.monotonic() - began < 8:
        t.wait_more(MB // 4)
    assert refused(far) <= 1 + (time.monotonic() - began) / AGAIN_EXCLUDED
    other = sent_by_b(far)
    far.wait_intercepted()
    for one in (t, other):
        one.finish(60).assert_whole()
    far.assert_no_resets()
