# SPDX-License-Identifier: GPL-2.0-or-later
"""Critical frames travel along two paths, and one copy replaces a lost copy."""
import re
import time

import pytest

from lab import PATIENT, wait_for
from test_answers import check
from traffic import Stream

WITHIN = 60
PORT = 40000
# A busy machine makes a path slow or silent for a moment and may lose single frames, which this
# test ignores.
DUPLICATE = {'maximum-extra-delay': 10000}
POLICY = {'critical': {'protocol': {'udp': {'port': [str(PORT)]}}, 'duplicate': DUPLICATE}}
MESH = {'sites': {'a': {}, 'r': {}, 'b': {}},
        'rtt_ms': {('a', 'b'): 10, ('a', 'r'): 8, ('r', 'b'): 8},
        'timing': 'production', 'config': {**PATIENT, 'policy': POLICY}}
CLEAR = {'secret': None, 'seeds': ['a', 'r', 'b']}
UNSEALED = {'config': {**PATIENT, 'policy': POLICY, 'encryption': {'disable': True}}}


def twice(net, a, b):
    """Waits until critical frames from a to b travel along two paths."""
    flow = stream(net, a, b)
    before = net.node[a].counter('critical_duplicated')
    wait_for(lambda: net.node[a].counter('critical_duplicated') > before + 20, WITHIN, 'two copies')
    flow.stop()


def stream(net, a, b, port=PORT, **keys):
    return Stream(net.host[a].namespace, net.host[b].namespace, net.host[b].ip4, port=port,
                  **keys).start()


def built(lab, **more):
    net = lab({**MESH, **more}).joined(WITHIN)
    net.settle_hosts('a', 'b')
    twice(net, 'a', 'b')
    return net


def policy(net, a):
    shown = net.node[a].ctl('show', 'policy')
    check('show policy', shown)
    return shown


def pair(net, a, b):
    """The answer about the two paths from a to b."""
    (found,) = [p for p in policy(net, a)['pairs'] if p['destination'] == net.node[b].node_id]
    return found


def copies_in_metrics(net, a, b):
    line = (rf'^leon_critical_paths{{interface="leon0",node_id="{net.node[b].node_id}",name=".*?"}} '
            r'(\d)$')
    return int(re.search(line, net.node[a].ctl('metrics')['text'], re.M)[1])


def passed(flow, n):
    flow.arrived(n, within=WITHIN)
    flow.stop(linger=2)
    assert sorted(flow.order) == sorted(set(flow.order)), 'a frame came twice'
    return flow


@pytest.mark.parametrize('more', [{}, CLEAR, UNSEALED], ids=['sealed', 'no-secret', 'unsealed'])
def test_loss_on_one_path_costs_nothing(lab, more):
    net = built(lab, **more)
    drops = net.node['b'].drops()
    for one, other in ((('a', 'b'), ('r', 'b')), (('r', 'b'), ('a', 'b'))):
        net.wan.link(*one, loss_permille=50)
        net.wan.link(*other, loss_permille=0)
        flow = passed(stream(net, 'a', 'b'), 800)
        assert flow.lost == 0
    b = net.node['b']
    assert b.counter('copy_first') >= 1600 and b.counter('copy_second') > 1000
    found = {}

    def travels_twice():
        """Frames travel along two paths of similar latency, except on a stalled machine."""
        found.update(pair(net, 'a', 'b'))
        return found['state'] == 'duplicated' and found['difference_us'] < 30000
    wait_for(travels_twice, WITHIN, 'twice, with little between')
    assert not found['reason'] and found['first']['latency_us'] > 0
    ways = {tuple(found[way]['hops']) for way in ('first', 'second')}
    assert ways == {(b.node_id,), (net.node['r'].node_id, b.node_id)}
    sent, received = policy(net, 'a')['sent'], policy(net, 'b')['received']
    assert sent['frames'] >= sent['duplicated'] >= 1600 and sent['bytes'] > 60 * sent['frames']
    assert received['first'] >= 1600 and received['second_dropped'] > 1000
    wait_for(lambda: copies_in_metrics(net, 'a', 'b') == 2, WITHIN, 'the metrics say so')
    # The second copy caused no flooding, no reassembly and no learning.
    assert {name for name, n in b.drops().items() if n != drops[name]} <= {'link_local_control'}


def test_loss_on_both_paths_is_multiplied(lab):
    net = built(lab)
    for link in (('a', 'b'), ('r', 'b')):
        net.wan.link(*link, loss_permille=50)
    flow = passed(stream(net, 'a', 'b', interval=0.002), 4000)
    print(f'{flow.lost} of {len(flow.sent)} lost')
    # The expected loss is 0.25 %, and without copies 5 %.
    assert flow.lost / len(flow.sent) < 0.008


def test_a_relay_that_dies_takes_no_frame_with_it(lab):
    net = built(lab)
    flow = stream(net, 'a', 'b')
    flow.arrived(200, within=WITHIN)
    net.node['r'].kill()
    passed(flow, 600)
    assert flow.lost == 0
    # `show policy` and an event report the reason for single frames.
    a = net.node['a']
    wait_for(lambda: a.events('critical-single-path'), WITHIN, 'the event')
    wait_for(lambda: pair(net, 'a', 'b')['state'] == 'no-second-path', WITHIN, 'it is shown')
    wait_for(lambda: copies_in_metrics(net, 'a', 'b') == 1, WITHIN, 'the metrics say so')


def test_a_link_that_fails_takes_no_frame_with_it(lab):
    net = built(lab)
    flow = stream(net, 'a', 'b')
    flow.arrived(200, within=WITHIN)
    net.wan.both('a', 'b', up=False)
    passed(flow, 600)
    assert flow.lost == 0


def test_two_workers(lab):
    """Flows through both workers of each end. Each worker has its own sequence numbers."""
    ports = [str(PORT + i) for i in range(6)]
    several = {'critical': {'protocol': {'udp': {'port': ports}}, 'duplicate': DUPLICATE}}
    net = built(lab, config={**PATIENT, 'policy': several, 'system': {'workers': 2}})
    assert net.node['a'].statistics()['workers'] == 2
    net.wan.link('r', 'b', loss_permille=50)
    flows = [stream(net, 'a', 'b', port=int(port)) for port in ports]
    for flow in flows:
        assert passed(flow, 200).lost == 0
    assert net.node['b'].drops('copy_old') == 0


def test_large_frames(lab):
    net = built(lab)
    net.wan.link('a', 'b', loss_permille=50)
    flow = passed(stream(net, 'a', 'b', size=1472), 600)
    assert flow.lost == 0
    assert net.node['b'].counter('reassembled_frames') > 0


def test_other_frames_travel_once(lab):
    net = built(lab)
    before, start = net.node['a'].counter('critical_frames'), net.node['b'].counter('copy_first')
    passed(stream(net, 'a', 'b', port=PORT + 1), 400)
    assert net.node['a'].counter('critical_frames') == before
    assert net.node['b'].counter('copy_first') == start


def test_the_budget_is_kept(lab):
    net = built(lab)
    limited = {'critical': {**POLICY['critical'], 'duplicate': {**DUPLICATE, 'budget': 200}}}
    assert net.node['a'].reload(policy=limited)['verdict'] == 'applied'
    at, begin = net.node['a'].counter('critical_extra_bytes'), time.monotonic()
    flow = stream(net, 'a', 'b', interval=0.002, size=400)
    time.sleep(8)
    flow.stop(linger=2)
    extra = net.node['a'].counter('critical_extra_bytes') - at
    seconds = time.monotonic() - begin
    # The bucket holds a quarter of a second.
    assert extra <= 200e3 / 8 * (seconds * 1.02 + 0.25)
    assert extra >= 200e3 / 8 * 5
    assert net.node['a'].counter('critical_over_budget') > 0
    assert flow.lost == 0


def test_reload_under_traffic(lab):
    net = built(lab)
    flow = stream(net, 'a', 'b')
    for policy in (None, POLICY, {'critical': {**POLICY['critical'], 'vlan': ['7']}}, None, POLICY):
        flow.arrived(100, within=WITHIN)
        assert net.node['a'].reload(policy=policy)['verdict'] == 'applied'
    before = net.node['a'].counter('critical_duplicated')
    wait_for(lambda: net.node['a'].counter('critical_duplicated') > before + 20, WITHIN, 'two copies')
    passed(flow, 100)
    assert flow.lost == 0


def test_a_restart_of_the_source_loses_nothing_after_it(lab):
    net = built(lab)
    net.restart('a')
    net.joined()
    net.settle_hosts('a', 'b')
    twice(net, 'a', 'b')
    flow = passed(stream(net, 'a', 'b'), 400)
    assert flow.lost == 0
    assert net.node['b'].drops('copy_old') == 0
