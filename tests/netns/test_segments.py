# SPDX-License-Identifier: GPL-2.0-or-later
"""Several segments in one overlay: each node announces the VLANs that it serves, and what goes to
all goes to those who serve the VLAN. What the bridge serves is in test_vlans.py; here it is
configured, which every kernel can."""
from lab import PATIENT, line_up, merged, wait_for
from test_trunk import Wire


def served(node):
    return {n['node_id']: n['vlans'] for n in node.show('segments')['nodes']}


def sites(**vlans):
    return {name: {'config': {'vlan': v}} if v else {} for name, v in vlans.items()}


def test_a_broadcast_goes_where_its_vlan_is(lab):
    """n0 and n1 have VLAN 10, n0 and n2 VLAN 20; n3 says nothing, and gets all."""
    net = lab({'sites': sites(n0=['0', '10', '20'], n1=['10'], n2=['20-29'], n3=None),
               'config': merged(PATIENT, {'loop-guard': {'interval': 200}})}).joined()
    n0 = net.node['n0']
    wait_for(lambda: set(served(n0)) == {net.node[n].node_id for n in ('n1', 'n2', 'n3')},
             20, 'all records are there')
    assert served(n0)[net.node['n1'].node_id] == [{'first': 10, 'last': 10}]
    assert served(n0)[net.node['n2'].node_id] == [{'first': 20, 'last': 29}]
    assert served(n0)[net.node['n3'].node_id] is None
    assert n0.show('segments')['source'] == 'configuration'
    wire = Wire(net)

    def arrives(source, vlan, *want):
        def does():
            counts = wire.counts(wire.send(source, vlan), source)
            return counts == {name: name in want for name in counts}
        wait_for(does, 20, f'VLAN {vlan} of {source} arrives at {want}')

    arrives('n0', 10, 'n1', 'n3')
    arrives('n0', 20, 'n2', 'n3')
    arrives('n0', 0, 'n3')
    arrives('n3', 10, 'n0', 'n1')
    arrives('n3', 30)
    # Not sent at all, and not only dropped at the other end.
    assert n0.statistics()['counters']['flood_spared'] >= 4
    before = net.node['n2'].drops('vlan_not_served')
    arrives('n0', 10, 'n1', 'n3')
    assert net.node['n2'].drops('vlan_not_served') == before
    # A host sends what its own node does not serve.
    arrives('n1', 20)
    assert net.node['n1'].drops('vlan_not_served') > 0
    rows = {s['vlan']: s for s in n0.show('segments')['segments']}
    assert set(rows) == {0, 10, 20}
    assert rows[10]['nodes'] == rows[20]['nodes'] == 2 and rows[0]['nodes'] == 1
    assert rows[10]['flooded'] >= 2 and rows[10]['spared'] >= 2
    assert 'leon_vlan_flooded_total{interface="leon0",vlan="10"}' in n0.ctl('metrics')['text']
    # A VLAN more, live.
    net.node['n1'].reload(vlan=['10', '20'])
    arrives('n0', 20, 'n1', 'n2', 'n3')
    arrives('n1', 20, 'n0', 'n2', 'n3')


def test_a_vlan_that_storms_leaves_the_others_alone(lab):
    net = lab(line_up(2, config={'storm-control': {'per-vlan': 4}, 'fdb': {'maximum-per-vlan': 3},
                                 'loop-guard': {'interval': 200}})).joined()
    wire = Wire(net)
    for vlan in (10, 20):
        wait_for(lambda v=vlan: wire.once('n0', v), 20, 'the VLAN is open')
    number = [wire.send('n0', 10) for _ in range(50)]
    wire.take(1)
    assert sum((n, 'n1') in wire.copies for n in number) < 25
    assert net.node['n0'].drops('storm_vlan') > 25
    wait_for(lambda: wire.once('n0', 20), 20, 'another VLAN is as before')
    rows = {s['vlan']: s for s in net.node['n0'].show('segments')['segments']}
    assert rows[10]['limited'] > 25 and rows[20]['limited'] == 0
