# SPDX-License-Identifier: GPL-2.0-or-later
"""Several routers at one site share the VLANs and replace each other. Every broadcast arrives.
tests/bench/bench_forwarder.py measures the duration of a change."""
import random
import time

import ns
from held import held
from lab import PATIENT, line_up, merged, wait_for
from test_trunk import Wire

VLANS = range(1, 101)
SHARED = merged(PATIENT, {'vlan': ['1-100'], 'loop-guard': {'interval': 500}})


def cable(net, a, b):
    """Connects the bridges of both nodes to a LAN."""
    left, right = net.node[a].namespace, net.node[b].namespace
    ns.connect(left, f'to-{b}', right, f'to-{a}')
    left.ip(f'link set to-{b} master br0')
    right.ip(f'link set to-{a} master br0')


def forwarded(node):
    """The VLANs that the node reports as forwarded."""
    return {s['vlan'] for s in node.show('segments')['segments']
            if s['state'] in ('shared', 'clear')}


def is_changing(node):
    """True if the node waits for another router to release a VLAN."""
    return any(s['reason'] in ('holding', 'stall') for s in node.show('segments')['segments'])


def shared_out(net, *names):
    """{name: VLANs} if each VLAN has exactly one forwarder, otherwise None."""
    by_name = {n: forwarded(net.node[n]) for n in names}
    every = [v for vlans in by_name.values() for v in vlans]
    return by_name if sorted(every) == list(VLANS) else None


def wait_shared_out(net, *names):
    """Waits for equal shares at two times one second apart, because VLANs move sequentially."""
    last = {}

    def found():
        shares = shared_out(net, *names)
        if (not shares or not all(shares.values()) or shares != last.get('shares') or
                any(is_changing(net.node[n]) for n in names)):
            last.update(shares=shares, since=time.monotonic())
            return None
        return shares if time.monotonic() - last['since'] >= 1 else None
    return wait_for(found, 20, f'{names} share out the VLANs', every=0.2)


def test_two_routers_share_the_vlans_and_only_a_leaver_s_move(lab):
    net = lab(line_up(3, config=SHARED)).joined()
    cable(net, 'n0', 'n1')
    before = wait_shared_out(net, 'n0', 'n1')
    assert 40 <= len(before['n0']) <= 60
    # Both report equal forwarders and reasons.
    for name, other in (('n0', 'n1'), ('n1', 'n0')):
        wait_for(lambda n=name, o=other: all(
            (s['state'], s['reason'], s['forwarder']) ==
            (('shared', 'rank', net.node[n].node_id) if s['vlan'] in before[n] else
             ('blocked', 'rank', net.node[o].node_id))
            for s in net.node[n].show('segments')['segments']), 20, f'{name} says so')
    wire = Wire(net)
    for source in ('n2', 'n0', 'n1'):
        wait_for(lambda s=source: wire.each_once(s, random.sample(VLANS, 50)), 20,
                 f'a broadcast of {source} in each of 50 VLANs arrives once')
    # After the failure of a router the other router forwards all VLANs.
    net.node['n1'].kill()
    wait_for(lambda: forwarded(net.node['n0']) == set(VLANS), 20, 'the other takes over')
    net.start('n1')
    # VLANs move sequentially, so intermediate shares occur.
    wait_for(lambda: shared_out(net, 'n0', 'n1') == before, 20, 'they share as before')
    # Preference takes precedence, and 0 marks a standby router.
    net.node['n0'].reload(loop_guard={'interval': 500, 'preference': 0})
    wait_for(lambda: forwarded(net.node['n1']) == set(VLANS), 20, 'the preferred one has all')
    wait_for(lambda: {(s['state'], s['reason'], s['forwarder'])
                      for s in net.node['n0'].show('segments')['segments']} ==
             {('blocked', 'preference', net.node['n1'].node_id)}, 20, 'the other has none')


def test_three_routers(lab):
    net = lab(line_up(4, config=SHARED)).joined()
    cable(net, 'n0', 'n1')
    cable(net, 'n1', 'n2')
    before = wait_shared_out(net, 'n0', 'n1', 'n2')
    net.node['n2'].kill()
    after = wait_shared_out(net, 'n0', 'n1')
    assert all(before[n] < after[n] for n in ('n0', 'n1'))
    # A router without a path to other sites releases all VLANs to the other router.
    net.wan.isolate('n1')
    wait_for(lambda: forwarded(net.node['n0']) == set(VLANS), 60, 'who has the overlay has all')
    wait_for(lambda: {s['reason'] for s in net.node['n1'].show('segments')['segments']
                      if s['vlan'] in after['n1']} <= {'no-path', 'holding'}
             and not forwarded(net.node['n1']), 20, 'the other has none, and says why')
    net.wan.isolate('n1', up=True)
    wait_for(lambda: shared_out(net, 'n0', 'n1') == after, 60, 'it has them back')


def test_a_lan_without_link_is_told_through_the_overlay(lab):
    net = lab(line_up(3, config=SHARED)).joined()
    cable(net, 'n0', 'n1')
    wait_shared_out(net, 'n0', 'n1')
    n0, n1 = net.node['n0'], net.node['n1']

    def lan_of_n1():
        return net.node['n2'].nodes()[n1.node_id]['lan']
    wait_for(lambda: lan_of_n1() == 'shared', 20, 'the record says that the LAN is shared')
    wire = Wire(net)
    vlan = min(forwarded(n1))

    def behind(node):
        return [e for e in net.node['n2'].fdb().values() if e['node_id'] == node.node_id]

    def is_found():
        wire.send('n0', vlan)
        return behind(n1)
    wait_for(is_found, 20, 'a host of the LAN is behind the forwarder')
    n1.namespace.ip('link set h0 down', 'link set to-n0 down')
    wait_for(lambda: lan_of_n1() == 'down', 20, 'the record says that there is no LAN')
    # Nodes remove the hosts of the LAN behind the isolated router.
    wait_for(lambda: not behind(n1), 20, 'who was behind it is forgotten')
    wait_for(lambda: {s['state'] for s in n0.show('segments')['segments']} == {'clear'}, 20,
             'the other is alone')
    n1.namespace.ip('link set h0 up', 'link set to-n0 up')
    wait_shared_out(net, 'n0', 'n1')
    wait_for(lambda: lan_of_n1() == 'shared', 20, 'as before')


def test_a_lan_that_is_cut_again_and_again_is_believed_at_once(lab):
    """Repeated cuts cause no delay, which the event lan-flapping would report."""
    quick = {'loop-guard': {'interval': 200, 'preference': 128}}
    net = lab(line_up(3, config=merged(PATIENT, quick))).joined()
    n0, n1, n2 = net.node.values()
    cable(net, 'n0', 'n1')
    n1.reload(loop_guard={'interval': 200, 'preference': 200})
    wire = Wire(net)

    def behind(node):
        wire.send('n0')
        return n2.fdb().get((0, net.host['n0'].mac), {}).get('node_id') == node.node_id
    for _ in range(5):
        wait_for(lambda: behind(n1), 20, 'the LAN of both is reached through the preferred one')
        n1.namespace.ip('link set h0 down', 'link set to-n0 down')
        wait_for(lambda: behind(n0), 20, 'and through the other where that has lost it')
        n1.namespace.ip('link set h0 up', 'link set to-n0 up')
    assert not n2.events('lan-flapping')


def guard_of(node):
    """(state in VLAN 0, standstills so far)"""
    found = node.statistics()['loop_guard']
    return found['vlans'][0]['state'], found['stalls']


def test_half_of_a_router_stands_still(lab):
    """The blocked router stops: first the threads that receive from the LAN, then the control
    thread. A router that received nothing because of a stall must not assume an empty LAN."""
    net = lab(line_up(3, config=merged(PATIENT, {'loop-guard': {'interval': 200}}))).joined()
    cable(net, 'n0', 'n1')
    n0, n1, _ = net.node.values()
    n0.reload(loop_guard={'interval': 200, 'preference': 200})
    wire = Wire(net)
    wait_for(lambda: (guard_of(n0)[0], guard_of(n1)[0]) == ('shared', 'blocked')
             and wire.once('n2'), 20, 'one forwards')
    with held(n1.process.pid, 'leon-worker'):
        end = time.monotonic() + 2
        while time.monotonic() < end:
            assert guard_of(n1)[0] != 'clear'
    # The control thread of n0 stops next, and its earlier decisions expire.
    wait_for(lambda: (guard_of(n0)[0], guard_of(n1)[0]) == ('shared', 'blocked')
             and wire.once('n2'), 20, 'as before')
    late = n0.drops('lan_stalled')
    with held(n0.process.pid, 'leond'):
        wait_for(lambda: guard_of(n1)[0] in ('shared', 'clear'), 20, 'the other takes over')
        wait_for(lambda: wire.once('n2'), 20, 'a broadcast arrives once')
    wait_for(lambda: n0.drops('lan_stalled') > late, 20, 'it is counted')
    wait_for(lambda: (guard_of(n0)[0], guard_of(n1)[0]) == ('shared', 'blocked')
             and wire.once('n2'), 20, 'as before')
