# SPDX-License-Identifier: GPL-2.0-or-later
"""Nodes detect loss of data while PINGs pass, identify the affected link and move the traffic
(decision 021). wanem drops data of LEON and passes control messages."""
import re
import time

from lab import PAPER, PATIENT, wait_for

MESH = {'sites': {'a': {}, 'r': {}, 'b': {}},
        'rtt_ms': {('a', 'b'): 10, ('a', 'r'): 20, ('r', 'b'): 20}}
WITHIN = 30
TARGET_S = 3.0


def stream(net, a, b, **keys):
    flow = net.stream(a, b, **keys)
    flow.arrived(100, within=30)
    return flow


def losses(net, name):
    return [(e['node_id'], e['other']) for e in net.node[name].events('data-loss')]


def said_loss(net, at, origin, to):
    """The entry of the link to `to` in the row of `origin` at node `at`."""
    rows = net.node[at].show('latency')['rows']
    return max((e['loss_permille'] for r in rows if r['origin'] == net.node[origin].node_id
                for e in r['entries'] if e['node'] == net.node[to].node_id), default=0)


def assert_gap(net, flow):
    """A stall of the machine does not count as loss."""
    stall = max(flow.stall, net.late_ms() / 1000)
    gap = flow.gap()[0]
    print(f'gap {1000 * gap:.0f} ms, stall {1000 * stall:.0f} ms')
    assert gap - 3 * stall <= TARGET_S


def test_a_direct_link_that_drops_data_is_left(lab):
    net = lab({**MESH, 'timing': 'production'}).joined(60)
    net.wait_path('a', 'b', ['b'], within=60)
    flow = stream(net, 'a', 'b')
    net.wan.link('a', 'b', drops_data=True)
    wait_for(lambda: losses(net, 'a'), WITHIN, 'the event')
    net.wait_path('a', 'b', ['r', 'b'], within=WITHIN)
    flow.arrived(100, within=WITHIN)
    flow.stop()
    assert_gap(net, flow)
    b = net.node['b'].node_id
    assert [node for node, _ in losses(net, 'a')] == [b]
    assert losses(net, 'b') == losses(net, 'r') == []
    # The link is up for PINGs, and for data in the return direction.
    net.wait_path('b', 'a', ['a'], within=WITHIN)
    link = net.node['a'].nodes()[b]
    assert link['link'] == 'up' and link['data_loss_permille'] >= 100 and link['data_lost'] > 0
    wait_for(lambda: said_loss(net, 'r', 'a', 'b') >= 100, WITHIN, 'the others to know')
    assert said_loss(net, 'r', 'b', 'a') < 100
    metrics = net.node['a'].leonctl('metrics', json_output=False)
    assert 'leon_link_data_lost_total' in metrics
    assert re.search(r'^leon_link_data_loss_ratio\{.*name="b".* 0\.[1-9]', metrics, re.M)
    assert 'loses data' in net.node['a'].leonctl('show', 'nodes', json_output=False)


def test_the_link_behind_a_relay_is_blamed(lab):
    net = lab({**PAPER, 'timing': 'production'}).joined(60)
    net.wait_path('fujisawa', 'seoul', ['inagi', 'seoul'], within=60)
    flow = stream(net, 'fujisawa', 'seoul')
    net.wan.link('inagi', 'seoul', drops_data=True)
    # The flow continues until the event, because a busy machine may leave the path for another
    # reason.
    wait_for(lambda: losses(net, 'inagi'), WITHIN, 'the event')
    net.wait_path('fujisawa', 'seoul', ['seoul'], within=WITHIN)
    flow.arrived(100, within=WITHIN)
    flow.stop()
    assert_gap(net, flow)
    assert [node for node, _ in losses(net, 'inagi')] == [net.node['seoul'].node_id]
    assert losses(net, 'fujisawa') == []


def candidates(net):
    """Costs of the candidates to Seoul by hops."""
    found = net.node['fujisawa'].ctl('explain', 'path', 'seoul')
    return {tuple(net.names(c['hops'])): c['cost_us'] for c in found['candidates']}


def test_explain_has_the_cost_of_an_avoided_relay(lab):
    net = lab({**PAPER, 'config': PATIENT}).joined()
    net.wait_path('fujisawa', 'seoul', ['inagi', 'seoul'])
    flow = stream(net, 'fujisawa', 'seoul', size=500)
    # The kernel of the relay refuses the datagrams, so the link to Seoul counts no loss.
    net.node['inagi'].namespace.run('nft', '-f', '-', input=f'''
        table ip loss {{
            chain out {{ type filter hook output priority 0;
                         ip daddr {net.node['seoul'].node_id} udp length 500-700 drop; }}
        }}''')
    wait_for(lambda: losses(net, 'fujisawa'), WITHIN, 'the event')
    net.wait_path('fujisawa', 'seoul', ['seoul'])
    flow.stop()
    assert set(candidates(net)) == {('seoul',)}
    net.wan.both('fujisawa', 'seoul', up=False)
    net.wait_path('fujisawa', 'seoul', ['inagi', 'seoul'])
    assert candidates(net)['inagi', 'seoul'] > 20_000_000


def test_data_goes_on_where_there_is_no_other_way(lab):
    net = lab({'sites': {'a': {}, 'b': {}}, 'config': PATIENT}).joined()
    flow = stream(net, 'a', 'b')
    net.wan.link('a', 'b', drops_data=True)
    wait_for(lambda: losses(net, 'a'), WITHIN, 'the event')
    assert net.hops('a', 'b') == ['b']
    assert net.node['a'].state_of(net.node['b']) == 'reachable'
    net.wan.link('a', 'b', drops_data=False)
    wait_for(lambda: net.node['a'].events('data-loss-over'), WITHIN, 'it to pass again')
    flow.arrived(100)
    # Data must pass, because without data no comparison replaces the last value.
    wait_for(lambda: net.node['a'].nodes()[net.node['b'].node_id]['data_loss_permille'] == 0, WITHIN,
             'nothing is lost any more')
    flow.stop()


def test_no_alarm_where_nothing_is_wrong(lab):
    """A fast stream, a slow stream in the return direction, and a restart of the far end with new
    counters. Frames lost during the restart do not count as loss of data."""
    net = lab(MESH).joined()
    net.wait_path('a', 'b', ['b'])
    there, back = stream(net, 'a', 'b', interval=0.001), stream(net, 'b', 'a', port=40001)
    b = net.node['b'].node_id
    wait_for(lambda: net.node['a'].nodes()[b]['data_compared'] > 0, WITHIN, 'a comparison')
    net.restart('b')
    net.wait_path('a', 'b', ['b'], within=60)
    there.arrived(2000, within=60)
    end = time.monotonic() + 5
    # The comparison covers earlier data.
    wait_for(lambda: time.monotonic() > end and net.node['a'].nodes()[b]['data_compared'] > 1000,
             WITHIN, 'some time, and a comparison')
    there.stop()
    back.stop()
    for name in ('a', 'b', 'r'):
        assert losses(net, name) == []
