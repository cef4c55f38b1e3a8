# SPDX-License-Identifier: GPL-2.0-or-later
"""Several segments in an overlay. Each node announces its VLANs, and broadcasts reach only nodes
with the VLAN. A segment may have another VLAN at each site. The VLANs are configured here, for any
kernel; test_vlans.py takes them from the bridge."""
import os
import time

from lab import PATIENT, line_up, merged, wait_for
from test_offload import everything
from test_trunk import BROADCAST, TEST_TYPE, Wire, plug
from traffic import Tap, ethernet


def served(node):
    return {n['node_id']: n['segments'] for n in node.show('segments')['nodes']}


def sites(**vlans):
    return {name: {'config': {'vlan': v}} if v else {} for name, v in vlans.items()}


def test_a_broadcast_goes_where_its_vlan_is(lab):
    """n0 and n1 have VLAN 10, n0 and n2 VLAN 20. n3 announces no VLANs and receives all."""
    net = lab({'sites': sites(n0=['0', '10', '20'], n1=['10'], n2=['20-29'], n3=None),
               'config': merged(PATIENT, {'loop-guard': {'interval': 200}})}).joined()
    n0 = net.node['n0']
    want = {net.node['n1'].node_id: [{'first': 10, 'last': 10}],
            net.node['n2'].node_id: [{'first': 20, 'last': 29}], net.node['n3'].node_id: None}
    wait_for(lambda: served(n0) == want, 20, 'all records are there')
    assert n0.show('segments')['source'] == 'configuration'
    wire = Wire(net)

    def arrives(source, vlan, *want):
        def does():
            counts = wire.counts(wire.send(source, vlan), source, 0.3 if want else 1)
            return counts == {name: name in want for name in counts}
        wait_for(does, 20, f'VLAN {vlan} of {source} arrives at {want}')

    arrives('n0', 10, 'n1', 'n3')
    arrives('n0', 20, 'n2', 'n3')
    arrives('n0', 0, 'n3')
    arrives('n3', 10, 'n0', 'n1')
    arrives('n3', 30)
    # The node does not send the frame, so the other end has nothing to drop.
    wait_for(lambda: n0.counter('flood_pruned') >= 4, 10, 'it is counted')
    before = net.node['n2'].drops('vlan_not_served')
    arrives('n0', 10, 'n1', 'n3')
    assert net.node['n2'].drops('vlan_not_served') == before
    # A host sends in a VLAN that its own node does not serve.
    arrives('n1', 20)
    wait_for(lambda: net.node['n1'].drops('vlan_not_served') > 0, 10, 'it is counted')
    rows = {s['vlan']: s for s in n0.show('segments')['segments']}
    assert set(rows) == {0, 10, 20}
    assert rows[10]['nodes'] == rows[20]['nodes'] == 2 and rows[0]['nodes'] == 1
    assert rows[10]['flooded'] >= 2 and rows[10]['pruned'] >= 2
    assert 'leon_vlan_flooded_total{interface="leon0",vlan="10"}' in n0.ctl('metrics')['text']
    # A reload adds a VLAN.
    net.node['n1'].reload(vlan=['10', '20'])
    arrives('n0', 20, 'n1', 'n2', 'n3')
    arrives('n1', 20, 'n0', 'n2', 'n3')


def test_a_vlan_that_storms_leaves_the_others_alone(lab):
    net = lab(line_up(2, config={**PATIENT, 'storm-control': {'per-vlan': 4}, 'fdb': {'maximum-per-vlan': 3},
                                 'loop-guard': {'interval': 200}})).joined()
    wire = Wire(net)
    for vlan in (10, 20):
        wait_for(lambda v=vlan: wire.once('n0', v), 20, 'the VLAN is open')
    number = [wire.send('n0', 10) for _ in range(50)]
    wait_for(lambda: net.node['n0'].drops('storm_vlan') > 25, 10, 'most are dropped')
    wire.take(1)
    assert sum((n, 'n1') in wire.copies for n in number) < 25
    wait_for(lambda: wire.once('n0', 20), 20, 'another VLAN is as before')
    rows = {s['vlan']: s for s in net.node['n0'].show('segments')['segments']}
    assert rows[10]['limited'] > 25 and rows[20]['limited'] == 0


def segment(**vlans):
    """{'segment': ...} of {name: (vlan, id)}."""
    return {'segment': {name: {'vlan': vlan, 'id': number} for name, (vlan, number) in vlans.items()}}


class Trunk(Wire):
    """VLANs of the received frames."""

    def vlans(self, source, vlan, within=0.3):
        number = os.urandom(16)
        self.tap[source].send(ethernet(BROADCAST, self.net.host[source].mac, TEST_TYPE, number,
                                       vlan or None))
        got = {}
        for name, tap in self.tap.items():
            found = tap.frames(lambda f: number in f, until=10**9, within=within)
            within = 0.03  # all frames are already in flight
            for frame in found:
                tagged = frame[12:14] == b'\x81\x00'
                got.setdefault(name, []).append(int.from_bytes(frame[14:16], 'big') & 0xfff
                                                if tagged else 0)
        return {name: v for name, v in got.items() if name != source}

    def arrives(self, source, vlan, **want):
        """As {host: VLAN at the host}, exactly one copy."""
        want = {name: [v] for name, v in want.items()}
        wait_for(lambda: self.vlans(source, vlan, 0.3 if want else 1) == want, 30,
                 f'VLAN {vlan} of {source} arrives as {want}')


def test_a_segment_has_another_vlan_at_each_site(lab):
    """n0 has storage as VLAN 10, n1 as VLAN 20, n3 untagged. n2 maps nothing, and VLAN 10 of n2 is
    another segment."""
    quick = merged(PATIENT, {'loop-guard': {'interval': 200}})
    net = lab({'sites': {'n0': {'config': segment(storage=(10, 70010), office=(40, 30))},
                         'n1': {'config': segment(storage=(20, 70010))},
                         'n2': {},
                         'n3': {'config': segment(storage=(0, 70010))}},
               'config': quick}).joined()
    n0, n1, n2, _ = net.node.values()
    wait_for(lambda: all(v is not None or i == n2.node_id for i, v in served(n0).items()) and
             len(served(n0)) == 3, 20, 'all records are there')
    trunk = Trunk(net)
    trunk.arrives('n0', 10, n1=20, n3=0)
    trunk.arrives('n1', 20, n0=10, n3=0)
    trunk.arrives('n3', 0, n0=10, n1=20)
    # VLAN 10 of n2 is VLAN 10 of all nodes without a mapping.
    trunk.arrives('n2', 10, n1=10, n3=10)
    trunk.arrives('n1', 10, n2=10, n3=10)
    # The number of a segment may equal a VLAN of another site. VLAN 30 of n0 is then not served.
    trunk.arrives('n0', 40, n1=30, n2=30, n3=30)
    trunk.arrives('n2', 30, n0=40, n1=30, n3=30)
    trunk.arrives('n0', 30)
    trunk.arrives('n2', 20, n0=20, n3=20)
    trunk.arrives('n2', 0, n0=0, n1=0)
    assert net.node['n2'].drops('segment_unknown') == 0, 'nothing is sent in vain'
    row = {s['vlan']: s for s in n0.show('segments')['segments']}[10]
    assert (row['segment'], row['name'], row['nodes']) == (70010, 'storage', 2)
    assert '70010 (storage)' in n0.leonctl('show', 'segments', json_output=False)
    assert (10, net.host['n1'].mac) in n0.fdb() and (20, net.host['n0'].mac) in n1.fdb()
    # A reload with another VLAN. All nodes forget entries of the old VLAN.
    n1.reload(**segment(storage=(21, 70010)))
    trunk.arrives('n0', 10, n1=21, n3=0)
    trunk.arrives('n1', 21, n0=10, n3=0)
    trunk.arrives('n1', 20, n0=20, n2=20, n3=20)
    n1.reload(segment={})
    trunk.arrives('n0', 10, n3=0)
    trunk.arrives('n1', 10, n2=10, n3=10)


def test_all_traffic_passes_a_segment(lab):
    """Super-frames, fragments and partial checksums, with untagged frames of hosts as a segment."""
    net = lab(line_up(3, config={**PATIENT, **segment(storage=(0, 70010))})).joined()
    net.settle_hosts('n0', 'n1')
    wait_for(lambda: net.host['n0'].ping(net.host['n1'].ip4, size=1472, forbid_fragments=True), 20,
             'full size passes')
    everything(net)
    assert all(n.drops('segment_unknown') == n.drops('bad_frame') == 0 for n in net.node.values())


def test_two_routers_name_the_vlan_of_their_lan(lab):
    """n0 and n1 are on one LAN. Every broadcast arrives once, in the VLAN of each site."""
    here = segment(storage=(10, 70010))
    net = lab({'sites': {'n0': {'config': here}, 'n1': {'config': here},
                         'n2': {'config': segment(storage=(20, 70010))}},
               'config': merged(PATIENT, {'loop-guard': {'interval': 200}})}).joined()
    plug(net)
    trunk = Trunk(net)
    trunk.arrives('n2', 20, n0=10, n1=10)
    trunk.arrives('n0', 10, n1=10, n2=20)

    def states():
        rows = [{s['vlan']: s for s in net.node[n].show('segments')['segments']}.get(10, {})
                for n in ('n0', 'n1')]
        return sorted(row.get('state') for row in rows)

    wait_for(lambda: states() == ['blocked', 'shared'], 20, 'one forwards')

    def heard():
        return [h['segment'] for v in net.node['n0'].statistics()['loop_guard']['vlans']
                if v['vlan'] == 10 for h in v['nodes']]
    wait_for(lambda: heard() == [70010], 20, 'n0 hears n1')
    trunk.arrives('n2', 20, n0=10, n1=10)
    trunk.arrives('n1', 10, n0=10, n2=20)
    # One node gets a different id, and both nodes report the conflict once.
    net.node['n1'].reload(**segment(storage=(10, 70011)))
    for name, other in (('n0', 'n1'), ('n1', 'n0')):
        wait_for(lambda n=name: net.node[n].events('segment-mismatch'), 20, f'{name} says so')
        (event,) = net.node[name].events('segment-mismatch')
        assert other in event['text'] and 'VLAN 10 ' in event['text']
    net.node['n1'].reload(**here)
    trunk.arrives('n1', 10, n0=10, n2=20)
    net.node['n1'].reload(**segment(storage=(10, 70011)))
    wait_for(lambda: len(net.node['n0'].events('segment-mismatch')) == 2, 20, 'and again')


NEW = (70, 71, 72, 73)  # the fastest counts, because a busy machine delays some
# Sites that know the VLANs before the first frame, by the key `vlan` as by a bridge.
KNOWN_AT = {'both nodes': ('n0', 'n1'), 'one node': ('n0',), 'no node': ()}


def first_arrival_s(net, vlan):
    """Seconds until n1 receives a frame of the VLAN, of which n0 sends one each 10 ms."""
    out, into = (Tap(net.host[name].namespace, 'eth0') for name in ('n0', 'n1'))
    frame = ethernet(BROADCAST, net.host['n0'].mac, TEST_TYPE, b'leon' * 20, vlan)
    arrived = []

    def sent_and_arrived():
        out.send(frame)
        arrived.extend(into.frames(lambda f: b'\x88\xb6' in f[12:18], within=0.01))
        return arrived
    try:
        start = time.monotonic()
        wait_for(sent_and_arrived, 20, f'a frame of VLAN {vlan} passes', every=0)
        return time.monotonic() - start
    finally:
        out.close()
        into.close()


def test_the_first_frames_of_a_vlan(lab):
    """The guard of a node has listened to a known VLAN before the first frame. For an unknown VLAN,
    the sending node listens first, and then the receiving node."""
    gap = {}
    for case, names in KNOWN_AT.items():
        known = {'vlan': ['0', *map(str, NEW)]}
        net = lab({'sites': {name: {'config': known if name in names else {}} for name in ('n0', 'n1')},
                   'config': PATIENT}).joined()
        net.settle_hosts('n0', 'n1')

        def states(name, net=net):
            rows = net.node[name].statistics()['loop_guard']['vlans']
            return {v['vlan']: v['state'] for v in rows}
        wait_for(lambda n=names, s=states: all(s(name).get(v) == 'clear' for name in n for v in NEW), 20,
                 'the nodes have listened to the known VLANs')
        gap[case] = min(first_arrival_s(net, vlan) for vlan in NEW)
        assert all(states(name).get(vlan) == 'clear' for name in net.node for vlan in NEW)
        print(f'new VLAN, known at {case}: the first frame arrives after {gap[case]:.2f} s')
    assert gap['both nodes'] < gap['one node'] / 2
    assert gap['one node'] < gap['no node'] / 1.5
