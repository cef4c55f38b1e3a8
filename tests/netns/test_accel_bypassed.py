# SPDX-License-Identifier: GPL-2.0-or-later
"""TCP bypasses leon-accel if no connection qualifies for interception, and is tracked again after
a change."""
import pytest

from accel import ENDLESS, MB, Transfer, far_apart, metric
from lab import PATIENT, merged, wait_for

CONFIG = merged(PATIENT, {'acceleration': {'mode': 'latency', 'threshold': 100, 'minimum-segments': 4}})
ASIDE_WITHIN = 90  # leond decides after twenty seconds


@pytest.fixture
def near(lab):
    with far_apart(lab({'sites': {'a': {}, 'b': {}}, 'config': CONFIG, 'rtt_ms_default': 40}).joined(),
                   start=False) as far:
        for a in far.accel.values():
            a.start()
        yield far


def far_from(far, threshold):
    for node in far.node.values():
        node.reload(acceleration={**CONFIG['acceleration'], 'threshold': threshold})


def is_aside(far, t):
    """Megabytes pass, and leon-accel receives no frame."""
    before = [n.counter('accel_in') for n in far.node.values()]
    t.wait_more(4 * MB)
    return [n.counter('accel_in') for n in far.node.values()] == before


def said(far):
    """The state of TCP with the other node in `show` and in metrics, or None for different
    answers."""
    shown = [(n['tcp'], metric(node, 'accel_bypassed'))
             for node in far.node.values() for n in node.show('acceleration')['nodes']]
    return shown[0] if len(shown) == 2 and len(set(shown)) == 1 else None


def test_aside_and_back(near):
    far = near
    a, b = far.host['a'], far.host['b']
    t = Transfer(a, b, b.ip4, up=ENDLESS, down=ENDLESS, pause=.05)
    wait_for(lambda: is_aside(far, t), ASIDE_WITHIN, 'it goes past')
    wait_for(lambda: said(far) == ('bypassed', 1), 20, 'both say so')
    assert 'bypasses leon-accel' in far.node['a'].leonctl('show', 'acceleration', json_output=False)
    wait_for(lambda: not any(x.show()['connections_tracked'] for x in far.accel.values()), 20,
             'it is forgotten')
    far_from(far, 20)
    far.wait_intercepted(within=90)
    wait_for(lambda: said(far) == ('tracked', 0), 20, 'both say so')
    t.wait_more(4 * MB)
    far_from(far, 100)
    far.wait_returned(within=90)
    wait_for(lambda: is_aside(far, t), ASIDE_WITHIN, 'it goes past again')
    t.finish(60).assert_whole()
    assert not any(x.counters()['reset'] for x in far.accel.values())


def carriers(far):
    return {state for a in far.accel.values() for state in a.carriers()}


def test_a_node_that_is_near_again_frees_its_place(near):
    """The inter-proxy connection ends a minute later, without an alarm, and returns with the
    latency."""
    far = near
    wait_for(lambda: carriers(far) == {'down'}, 30, 'the nodes know each other')
    far_from(far, 20)
    wait_for(lambda: carriers(far) == {'up'}, 30, 'the node is distant')
    far_from(far, 100)
    wait_for(lambda: carriers(far) == {'down'}, 120, 'the place is free')
    wait_for(lambda: not any(n['reached'] for node in far.node.values()
                             for n in node.show('acceleration')['nodes']), 20, 'leond knows')
    far_from(far, 20)
    wait_for(lambda: carriers(far) == {'up'}, 30, 'the node is distant again')
    assert not any(node.events('accelerator-lost') for node in far.node.values())
