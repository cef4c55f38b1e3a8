# SPDX-License-Identifier: GPL-2.0-or-later
"""An Ethernet over many sites: learning, flooding, VLANs, limits and loops (design.md 3.4, 3.5, 4
"Ethernet")."""
import json
import os
import re
import signal
import socket
import struct
import subprocess
import time

import pytest

import ns
from host import Host
from lab import PATIENT, line_up, merged, wait_for
from traffic import Tap, ethernet, mac_bytes

BROADCAST = 'ff:ff:ff:ff:ff:ff'
MULTICAST = '01:00:5e:40:00:01'
TEST_TYPE = 0x88b6  # IEEE 802 local experimental 2
GUEST = '02:bb:00:00:00:01'
GUARDS = mac_bytes('03:4c:45:4f:4e:00')


def tap(net, name):
    return Tap(net.host[name].namespace, 'eth0')


def patient(n, config=None, **keys):
    """n sites with links that tolerate late probes of a busy machine."""
    return line_up(n, config=merged(PATIENT, config or {}), **keys)


SUPPRESSION = {'suppression': {'arp': True, 'nd': True}}


def carries(payload):
    return lambda frame: payload in frame


def learn(net, name, mac, seen_by, vlan=0):
    """The host of `name` sends with source `mac` until the nodes of seen_by have learned the site.
    """
    port = tap(net, name)
    frame = ethernet(BROADCAST, mac, TEST_TYPE, b'here I am', vlan or None)

    def learned():
        port.send(frame)
        return all(net.node[n].fdb().get((vlan, mac), {}).get('node_id') == net.node[name].node_id
                   for n in seen_by)
    wait_for(learned, 10, f'{seen_by} know {mac} behind {name}', every=0.2)
    port.close()


def test_broadcast_multicast_and_unknown_unicast_reach_every_other_site_once(lab):
    net = lab(patient(4)).joined()
    taps = {name: tap(net, name) for name in net.node}
    for destination in (BROADCAST, MULTICAST, '33:33:00:00:00:77', '02:cc:00:00:00:99'):
        for source in net.node:
            payload = os.urandom(16)
            taps[source].send(ethernet(destination, net.host[source].mac, TEST_TYPE, payload))
            for name in net.node:
                expected = 0 if name == source else 1
                seen = taps[name].frames(carries(payload), until=expected or 99,
                                         within=10 if expected else 0.1, linger=0.1)
                assert len(seen) == expected, (destination, source, name)


def test_reserved_multicast_stays_at_its_site(lab):
    net = lab(patient(2)).joined()
    far = tap(net, 'n1')
    # The bridge would drop these frames, so the test sends on leon0.
    inside = net.node['n0'].drops('link_local_control')
    port = Tap(net.node['n0'].namespace, 'leon0')
    port.send(ethernet('01:80:c2:00:00:0e', GUEST, 0x88cc, b'lldp lldp lldp'))
    wait_for(lambda: net.node['n0'].drops('link_local_control') > inside, 5)
    assert not far.frames(carries(b'lldp lldp'), within=0.3)


def test_unicast_goes_to_its_site_only(lab):
    net = lab(patient(3)).joined()
    net.settle_hosts('n0', 'n1')
    elsewhere, there = tap(net, 'n2'), tap(net, 'n1')
    payload = os.urandom(16)
    tap(net, 'n0').send(ethernet(net.host['n1'].mac, net.host['n0'].mac, TEST_TYPE, payload))
    assert len(there.frames(carries(payload))) == 1
    assert not elsewhere.frames(carries(payload), within=0.3)


def test_host_that_moves_is_followed_under_traffic(lab):
    net = lab(patient(3)).joined()
    learn(net, 'n0', GUEST, ['n1', 'n2'])
    taps = {name: tap(net, name) for name in net.node}

    def arrives_at(name):
        payload = os.urandom(16)
        taps['n2'].send(ethernet(GUEST, net.host['n2'].mac, TEST_TYPE, payload))
        other = {'n0': 'n1', 'n1': 'n0'}[name]
        return taps[name].frames(carries(payload), within=0.5) \
            and not taps[other].frames(carries(payload), within=0.05)
    wait_for(lambda: arrives_at('n0'), 5, 'traffic goes to the host')
    # The host appears at n1 and sends a single frame. Traffic to the host continues.
    taps['n1'].send(ethernet(BROADCAST, GUEST, TEST_TYPE, b'moved'))
    wait_for(lambda: arrives_at('n1'), 5, 'traffic follows the host')
    entry = net.node['n2'].fdb()[0, GUEST]
    assert entry['node_id'] == net.node['n1'].node_id and entry['moves'] == 1
    wait_for(lambda: net.node['n2'].events('mac-moved'), 10, 'it is told of')
    taps['n0'].send(ethernet(BROADCAST, GUEST, TEST_TYPE, b'and back'))
    wait_for(lambda: arrives_at('n0'), 5, 'traffic follows it back')


def alternate(taps, observer):
    """The migrated host sends alternately from both sites. Frames differ, because a repeated frame
    would count as looped. Returns the entry of the FDB."""
    for t in taps:
        t.send(ethernet(BROADCAST, GUEST, TEST_TYPE, b'no, here' + os.urandom(8)))
        time.sleep(0.05)  # both frames must be learned in order
    # Absent for a moment if a slow machine fails a link.
    return observer.fdb().get((0, GUEST), {})


def test_flapping_mac_is_damped_and_reported(lab):
    """The address is not established, so frames to the address are flooded."""
    net = lab(patient(3)).joined()
    learn(net, 'n0', GUEST, ['n2'])
    taps = {name: tap(net, name) for name in net.node}
    observer, claimed = net.node['n2'], (taps['n0'], taps['n1'])
    for node in net.node.values():  # bridges would learn the other site
        node.namespace.ip('link set leon0 type bridge_slave learning off')
    wait_for(lambda: alternate(claimed, observer).get('frozen'), 20, 'the MAC is frozen')
    frozen = observer.fdb()[0, GUEST]
    for _ in range(5):
        alternate(claimed, observer)
    after = observer.fdb()[0, GUEST]
    assert (after['node_id'], after['moves']) == (None, frozen['moves'])
    wait_for(lambda: ['are flooded for' in e['text'] for e in observer.events('mac-flapping')][-1:] == [True], 10)
    payload = os.urandom(16)
    taps['n2'].send(ethernet(GUEST, net.host['n2'].mac, TEST_TYPE, payload))
    for t in claimed:
        assert t.frames(carries(payload), within=10)


def test_a_thief_of_a_mac_does_not_keep_it(lab):
    """An established host receives its frames while another site sends with the same source
    address."""
    net = lab(patient(3)).joined()
    taps = {name: tap(net, name) for name in net.node}
    observer, owner, thief = net.node['n2'], net.node['n0'], net.node['n1']
    begin = time.monotonic()
    # No other site uses the address for half a minute.
    while time.monotonic() - begin < 32:
        learn(net, 'n0', GUEST, ['n2'])
        time.sleep(1)
    wait_for(lambda: alternate((taps['n1'], taps['n0']), observer).get('frozen'), 20,
             'the MAC is frozen')
    wait_for(lambda: [owner.node_id in e['text'] for e in observer.events('mac-flapping')][-1:] == [True], 10)
    # The LAN of the node is unchanged, regardless of the claims of the other site.
    thief.reload(loop_guard={'disable': True})
    thief.reload(loop_guard={'disable': False})
    for _ in range(10):
        seen = wait_for(lambda: alternate((taps['n0'], taps['n1']), observer), 10)
        assert seen['node_id'] == owner.node_id
        payload = os.urandom(16)
        taps['n2'].send(ethernet(GUEST, net.host['n2'].mac, TEST_TYPE, payload))
        assert taps['n0'].frames(carries(payload), within=10)
        assert not taps['n1'].frames(carries(payload), within=0.05)


def many_macs(first, n):
    return [f'02:dd:{i >> 24 & 255:02x}:{i >> 16 & 255:02x}:{i >> 8 & 255:02x}:{i & 255:02x}'
            for i in range(first, first + n)]


def send_from_all(port, macs, destination):
    template = ethernet(destination, GUEST, TEST_TYPE, b'one of many')
    for mac in macs:
        port.send(template[:6] + mac_bytes(mac) + template[12:])


def test_ten_thousand_hosts(lab):
    net = lab(patient(2)).joined()
    net.settle_hosts('n0', 'n1')
    port = tap(net, 'n0')
    macs = many_macs(0, 10_000)

    def known():
        entries = net.node['n1'].fdb()
        missing = [m for m in macs if (0, m) not in entries]
        send_from_all(port, missing, net.host['n1'].mac)
        return not missing
    wait_for(known, 60, 'n1 knows 10000 MACs behind n0', every=0.3)
    assert net.node['n1'].show('fdb')['count'] >= 10_000
    # All addresses are known, so frames in the return direction go to one site without flooding.
    before = net.node['n1'].counter('unknown_tx')
    back = tap(net, 'n1')
    for mac in macs[::100]:
        back.send(ethernet(mac, net.host['n1'].mac, TEST_TYPE, b'and back'))
    assert len(port.frames(carries(b'and back'), until=100, within=30)) == 100
    assert net.node['n1'].counter('unknown_tx') == before


@pytest.mark.parametrize('limit', ['maximum', 'maximum-per-vlan'])
def test_full_fdb_floods_what_it_does_not_know_and_says_so(lab, limit):
    net = lab(patient(2, config={'fdb': {limit: 64}})).joined()
    net.settle_hosts('n0', 'n1')
    port = tap(net, 'n0')

    def full():
        send_from_all(port, many_macs(0, 200), net.host['n1'].mac)
        return net.node['n1'].events('fdb-full')
    ages = [e['age_seconds'] for e in wait_for(full, 10, 'the event fdb-full', every=0.3)]
    assert len(set(ages)) == len(ages), 'one event a second'
    assert net.node['n1'].show('fdb')['count'] <= 64
    wait_for(lambda: net.host['n0'].ping(net.host['n1'].ip4), 10, 'hosts reach each other')


def test_a_reload_of_the_maximum_holds_more_neighbors(lab):
    net = lab(patient(2, config={'fdb': {'maximum': 64}, **SUPPRESSION})).joined()
    net.node['n1'].reload(fdb={'maximum': 4096})
    port = tap(net, 'n0')

    def known():
        for i, mac in enumerate(many_macs(0, 300)):
            v4 = bytes((10, 1, i >> 8, i & 255))
            announcement = bytes.fromhex('0001080006040001') + mac_bytes(mac) + v4 + bytes(6) + v4
            port.send(ethernet(BROADCAST, mac, 0x0806, announcement))
        return net.node['n1'].statistics()['memory']['neighbors'] >= 200
    wait_for(known, 10, 'n1 knows 200 neighbors', every=0.3)


def test_old_entries_age_out(lab):
    net = lab(patient(2, config={'fdb': {'aging': 10}})).joined()
    learn(net, 'n0', GUEST, ['n1'])
    wait_for(lambda: (0, GUEST) not in net.node['n1'].fdb(), 40, 'the entry is gone', every=0.5)


def test_vlan_tags_travel_and_vlans_are_apart(lab):
    net = lab(patient(3)).joined()
    # Bridges here ignore VLANs, and both hosts have the same MAC.
    for node in net.node.values():
        node.namespace.ip('link set leon0 type bridge_slave learning off flood on',
                          'link set h0 type bridge_slave learning off flood on')
    learn(net, 'n0', GUEST, ['n2'], vlan=42)
    learn(net, 'n1', GUEST, ['n2'], vlan=43)
    taps = {name: tap(net, name) for name in net.node}
    for vlan, here, there in ((42, 'n0', 'n1'), (43, 'n1', 'n0')):
        payload = os.urandom(16)
        frame = ethernet(GUEST, net.host['n2'].mac, TEST_TYPE, payload, vlan)
        taps['n2'].send(frame)
        arrived = taps[here].frames(carries(payload))
        assert arrived and arrived[0] == frame, 'the tag came through unchanged'
        assert not taps[there].frames(carries(payload), within=0.2)


def test_storm_control_limits_broadcasts(lab):
    limits = {'broadcast': 50, 'multicast': 50, 'unknown-unicast': 50}
    net = lab(patient(2, config={'storm-control': limits})).joined()
    net.settle_hosts('n0', 'n1')
    port, other = tap(net, 'n0'), tap(net, 'n1')
    kinds = ((BROADCAST, 'storm_broadcast'), (MULTICAST, 'storm_multicast'),
             ('02:cc:00:00:00:98', 'storm_unknown'))

    def overruns():
        """Frames dropped at a full queue of leon0 because the worker had no CPU."""
        link = json.loads(net.node['n0'].namespace.run('ip', '-j', '-s', 'link', 'show', 'leon0').stdout)
        return link[0]['stats64']['tx']['dropped']
    for destination, reason in kinds:
        before = net.node['n0'].drops(reason) + overruns()
        payload, arrived = os.urandom(16), []
        begin = time.monotonic()
        for number in range(1000):
            port.send(ethernet(destination, net.host['n0'].mac, TEST_TYPE,
                               payload + number.to_bytes(2, 'big')))

        def all_accounted(payload=payload, arrived=arrived, before=before, reason=reason):
            arrived.extend(other.frames(carries(payload), until=1000, within=0.2))
            return net.node['n0'].drops(reason) + overruns() - before + len(arrived) >= 1000
        wait_for(all_accounted, 20, f'each frame to {destination} was dropped or arrived')
        # The tokens of the time between the first and the last frame, plus a burst of one second.
        assert 0 < len(arrived) <= 50 * (time.monotonic() - begin + 2)
    assert len(net.host['n0'].ping(net.host['n1'].ip4, within=10)) == 1, 'known unicast is not limited'


def rx_dropped(node, device):
    """Counters of `ip -s link`, including frames without a handler."""
    text = node.namespace.run('ip', '-j', '-s', '-s', 'link', 'show', device).stdout
    rx = json.loads(text)[0]['stats64']['rx']
    return rx['dropped'] + rx.get('nohandler', 0)


def guards_sent(node):
    return node.statistics()['loop_guard']['frames_sent']


def test_guard_frames_are_nobody_s_drops(lab):
    """Guard frames end in the stack of each node. Neither leon0 nor the bridge counts a drop."""
    net = lab(patient(2, config={'loop-guard': {'interval': 100}})).joined()
    node = net.node['n0']
    before, sent = {d: rx_dropped(node, d) for d in ('leon0', 'br0')}, guards_sent(node)
    wait_for(lambda: guards_sent(node) >= sent + 20, 20, 'guards are sent')
    assert {d: rx_dropped(node, d) for d in before} == before


def test_guard_frames_have_no_address_of_a_port(lab):
    """The kernel would log each frame with the address of a port of its bridge as source."""
    net = lab(patient(2, config={'loop-guard': {'interval': 100}})).joined()
    frame = tap(net, 'n0').frames(lambda f: f[:6] == GUARDS, until=1, within=20)[0]
    ports = json.loads(net.node['n0'].namespace.run('ip', '-j', 'link').stdout)
    assert frame[6:12].hex(':') not in [port['address'] for port in ports]
    assert frame[6:12] == bytes.fromhex('024c') + socket.inet_aton(net.node['n0'].node_id)


def test_no_guard_goes_where_no_lan_is(lab):
    """leon0 outside any bridge has only the router behind the port."""
    net = lab(patient(2, hosts=False, config={'loop-guard': {'interval': 100}})).joined()
    node = net.node['n0']
    for i, n in enumerate(net.node.values()):
        n.namespace.ip(f'addr add 10.9.0.{i + 1}/24 dev leon0')
    wait_for(lambda: node.namespace.run('ping', '-c1', '-W1', '10.9.0.2', check=False).returncode == 0,
             10, 'the routers reach each other')
    wait_for(lambda: guard(node) == 'clear', 20, 'it has listened')
    before = rx_dropped(node, 'leon0')
    time.sleep(2)
    assert guards_sent(node) == 0 and rx_dropped(node, 'leon0') == before
    # The LAN is no bridge of the kernel, so frames have source addresses of other machines.
    port = Tap(node.namespace, 'leon0')
    port.send(ethernet(BROADCAST, '00:00:5e:00:01:07', TEST_TYPE, b'VRRP, this router itself'))
    port.send(ethernet(BROADCAST, node.statistics()['mac'], TEST_TYPE, b'this router'))
    time.sleep(1)
    assert guards_sent(node) == 0
    port.send(ethernet(BROADCAST, GUEST, TEST_TYPE, b'a host'))
    wait_for(lambda: guards_sent(node) > 3, 10, 'guards are sent')


def guard(node):
    return node.statistics()['loop_guard']['state']


def one_stops(net, *names):
    """The name of the blocked node of two nodes on one LAN."""
    wait_for(lambda: sorted(guard(net.node[n]) for n in names) == ['blocked', 'shared'], 10,
             'one of the two stops')
    return next(n for n in names if guard(net.node[n]) == 'blocked')


def test_two_nodes_on_one_lan_do_not_loop(lab):
    net = lab(patient(3, config={'loop-guard': {'interval': 200}})).joined()
    both = n0, n1 = net.node['n0'], net.node['n1']
    ns.connect(n0.namespace, 'x0', n1.namespace, 'x1')
    n0.namespace.ip('link set x0 master br0')
    n1.namespace.ip('link set x1 master br0')
    stopped = one_stops(net, 'n0', 'n1')
    wait_for(lambda: net.node[stopped].events('loop-guard-blocked'), 10, 'and says so')
    taps = {name: tap(net, name) for name in net.node}

    def once(source):
        """A broadcast arrives exactly once everywhere else."""
        payload = os.urandom(16)
        taps[source].send(ethernet(BROADCAST, net.host[source].mac, TEST_TYPE, payload))
        return all(len(taps[n].frames(carries(payload), within=1, linger=0.2)) == (n != source)
                   for n in net.node if n != source)
    # Frames in flight from the time of two forwarders must be delivered first.
    wait_for(lambda: once('n2'), 15, 'a broadcast arrives once')
    wait_for(lambda: once('n0') and once('n1'), 15, 'from the shared LAN too')
    # The other site forwards to the hosts of the blocked site.
    wait_for(lambda: net.host['n2'].ping(net.host[stopped].ip4), 15, 'the blocked site is reached')
    n0.namespace.ip('link del x0')
    wait_for(lambda: [guard(n) for n in both] == ['clear', 'clear'], 10, 'both forward again')
    wait_for(lambda: net.host['n2'].ping(net.host[stopped].ip4), 15, 'and the site is reached')


def test_hosts_that_a_loop_moved_are_found_again(lab):
    """Hosts are silent, and full neighbor tables prevent ARP requests of other hosts. Bridges
    learned the hosts at the wrong port during the loop."""
    net = lab(patient(3, config={'loop-guard': {'disable': True}})).joined()
    n0, n1 = net.node['n0'], net.node['n1']
    net.settle_hosts('n2', 'n1')
    net.settle_hosts('n2', 'n0')
    for host in net.host.values():
        host.namespace.ip(*(f'neigh replace {other.ip4} lladdr {other.mac} dev eth0 nud permanent'
                            for other in net.host.values() if other is not host))
    wires = {name: tap(net, name) for name in net.node}
    ns.connect(n0.namespace, 'x0', n1.namespace, 'x1')
    n0.namespace.ip('link set x0 master br0')
    n1.namespace.ip('link set x1 master br0')

    def is_frozen(name):
        for source, wire in wires.items():
            wire.send(ethernet(BROADCAST, net.host[source].mac, TEST_TYPE, os.urandom(16)))
        return net.node[name].events('mac-flapping')
    # The MACs move between the sites until their entries are frozen.
    wait_for(lambda: is_frozen('n1'), 20, 'the loop moves hosts around')
    for node in net.node.values():
        node.reload(loop_guard={'interval': 200})
    stopped = one_stops(net, 'n0', 'n1')
    wait_for(lambda: net.host['n2'].ping(net.host[stopped].ip4), 20, 'through the other node')
    wait_for(lambda: net.host[stopped].ping(net.host['n2'].ip4), 20, 'and back')
    n0.namespace.ip('link del x0')
    wait_for(lambda: guard(net.node[stopped]) == 'clear', 10, 'it goes on')
    wait_for(lambda: net.host['n2'].ping(net.host[stopped].ip4), 20, 'no host stays where it is not')


def pause(net, near, far):
    """Stops leond at `far` until `near` reports the node as unreachable. Returns the duration in
    seconds."""
    net.node[far].process.send_signal(signal.SIGSTOP)
    wait_for(lambda: net.node[near].state_of(net.node[far]) == 'unreachable', 10, f'{far} seems gone')
    begin = time.monotonic()
    net.node[far].process.send_signal(signal.SIGCONT)
    wait_for(lambda: net.node[near].state_of(net.node[far]) == 'reachable', 10, f'{far} is back')
    return time.monotonic() - begin


def test_a_pause_makes_no_host_unknown(lab):
    net = lab(line_up(2)).joined()
    node, host = net.node['n0'], net.host['n1']
    # A node is unreachable after 3 s. Detection on a busy machine may take longer.
    for _ in range(5):
        net.settle_hosts('n0', 'n1')
        if pause(net, 'n0', 'n1') < 2:
            break
    else:
        pytest.skip('this machine is too busy')
    assert node.fdb()[(0, host.mac)]['node_id'] == net.node['n1'].node_id
    unknown, payload = node.counter('unknown_tx'), os.urandom(16)
    arrives = tap(net, 'n1')
    tap(net, 'n0').send(ethernet(host.mac, net.host['n0'].mac, TEST_TYPE, payload))
    assert arrives.frames(carries(payload), within=10)
    assert node.counter('unknown_tx') == unknown, 'sent to n1 alone'


def test_arp_is_answered_from_what_is_known(lab):
    net = lab(patient(3, config=SUPPRESSION)).joined()
    host, asked = net.host['n2'], net.host['n1']

    def request(frame):
        return frame[12:14] == b'\x08\x06' and frame[20:22] == b'\0\1' \
            and frame[38:42] == bytes(map(int, asked.ip4.split('.')))

    def answered():
        """The near node answers a request for a known host, and no request reaches the overlay."""
        # The request of the host reaches every node, so all nodes learn the host.
        net.host['n1'].forget_neighbors()
        net.settle_hosts('n1', 'n0')
        host.forget_neighbors()
        wire = tap(net, 'n1')
        before = net.node['n2'].counter('arp_answered')
        try:
            return host.ping(asked.ip4) and net.node['n2'].counter('arp_answered') > before \
                and not wire.frames(request, within=0.2)
        finally:
            wire.close()
    wait_for(answered, 40, 'the question is answered at its site', every=1)
    assert host.neighbors()[asked.ip4] == asked.mac


def test_neighbor_solicitation_is_answered_from_what_is_known(lab):
    net = lab(patient(3, config=SUPPRESSION)).joined()
    host, asked = net.host['n2'], net.host['n1']

    def answered():
        asked.forget_neighbors()
        wait_for(lambda: asked.ping(net.host['n0'].ip6, within=0.5), 10)
        host.forget_neighbors()
        before = net.node['n2'].counter('nd_answered')
        return host.ping(asked.ip6) and net.node['n2'].counter('nd_answered') > before
    wait_for(answered, 40, 'the question is answered at its site', every=1)
    assert host.neighbors()[asked.ip6] == asked.mac


def lost_while(asking, asked, family, change):
    """Number of lost pings, of ten a second for 12 s; `change` is called in the middle."""
    address = {4: asked.ip4, 6: asked.ip6}[family]
    ping = asking.namespace.start('ping', '-n', '-i', '0.1', '-c', '120', '-W', '1', address,
                                  stdout=subprocess.PIPE)
    time.sleep(4)
    change()
    text = ping.communicate(timeout=60)[0]
    text = text.decode() if isinstance(text, bytes) else text
    return 120 - int(re.search(r'(\d+) received', text).group(1))


def set_mac(host, mac):
    host.namespace.ip(f'link set eth0 address {mac}')
    host.mac = mac


def know_each_other(a, b):
    """Waits until requests between the hosts are no longer flooded and the entries are confirmed.
    """
    begin = time.monotonic()
    while time.monotonic() - begin < 12:
        for host, other in ((a, b), (b, a)):
            host.forget_neighbors()
            wait_for(lambda host=host, other=other: host.ping(other.ip4) and host.ping(other.ip6),
                     20, f'{host.name} reaches {other.name}')


@pytest.mark.parametrize('family', [4, 6])
@pytest.mark.parametrize('suppression', [{}, SUPPRESSION], ids=['flooded', 'suppressed'])
def test_a_host_that_changes_its_mac_is_found(lab, suppression, family):
    """Requests of the host are flooded, so other hosts learn the new MAC."""
    net = lab(patient(2, config=suppression)).joined()
    a, b = net.host['n0'], net.host['n1']
    know_each_other(a, b)
    lost = lost_while(a, b, family, lambda: set_mac(a, '02:ab:00:00:00:01'))
    # One resolution takes a second, and a busy machine may need two.
    assert lost <= 40
    wait_for(lambda: b.neighbors().get({4: a.ip4, 6: a.ip6}[family]) == a.mac, 10, 'b knows the new MAC')


@pytest.mark.parametrize('family', [4, 6])
def test_an_answer_from_here_does_not_keep_an_old_mac_alive(lab, family):
    """The changed host is silent. Other hosts must detect that the old MAC does not answer."""
    net = lab(patient(2, config=SUPPRESSION)).joined()
    a, b = net.host['n0'], net.host['n1']
    for version in ('ipv4', 'ipv6'):
        b.namespace.sysctl(f'{version}/neigh/eth0/base_reachable_time_ms', 1000)
        b.namespace.sysctl(f'{version}/neigh/eth0/delay_first_probe_time', 1)
    know_each_other(a, b)
    address = {4: a.ip4, 6: a.ip6}[family]
    a.forget_neighbors()
    wait_for(lambda: a.ping(b.ip4) and a.ping(b.ip6), 20, 'both know a by its old MAC')
    set_mac(a, '02:ab:00:00:00:01')
    begin = time.monotonic()
    # The host requests the old MAC for 3 s and then broadcasts. The entry of the node would be
    # valid for a minute.
    wait_for(lambda: b.ping(address, within=0.5), 40, 'the new MAC is found', every=0.2)
    assert time.monotonic() - begin < 55


def advertisement(host):
    """Unsolicited (RFC 4861 section 7.2.6), of the host's address, to all nodes."""
    source, everybody = (socket.inet_pton(socket.AF_INET6, a) for a in (host.ip6, 'ff02::1'))
    body = bytes.fromhex('88000000 20000000') + source + b'\x02\x01' + mac_bytes(host.mac)
    total = source + everybody + struct.pack('!II', len(body), 58) + body
    words = sum(struct.unpack(f'!{len(total) // 2}H', total))
    words = (words & 0xffff) + (words >> 16)
    words = (words & 0xffff) + (words >> 16)
    body = body[:2] + struct.pack('!H', words ^ 0xffff) + body[4:]
    return ethernet('33:33:00:00:00:01', host.mac, 0x86dd,
                    struct.pack('!IHBB', 6 << 28, len(body), 58, 255) + source + everybody + body)


def test_probes_and_announcements_travel(lab):
    """RFC 5227 and RFC 4862: a host probes a new address and then announces the address."""
    net = lab(patient(2, config=SUPPRESSION)).joined()
    a, b = net.host['n0'], net.host['n1']
    know_each_other(a, b)
    wire = tap(net, 'n1')
    v4 = bytes(map(int, b.ip4.split('.')))
    arp = bytes.fromhex('0001080006040001')
    probe = arp + mac_bytes(a.mac) + bytes(4) + bytes(6) + v4
    announcement = arp + mac_bytes(a.mac) + v4 + bytes(6) + v4
    reply = arp[:-1] + b'\x02' + mac_bytes(a.mac) + v4 + mac_bytes(BROADCAST) + v4
    port = tap(net, 'n0')
    for body in (probe, announcement, reply):
        port.send(ethernet(BROADCAST, a.mac, 0x0806, body))
        assert wire.frames(carries(body), within=10)
    frame = advertisement(a)
    port.send(frame)
    assert wire.frames(carries(frame[14:]), within=10), 'nobody asked, and it travels'
    # Duplicate address detection of the kernel, for an address of b.
    for where in ('all', 'eth0'):
        a.namespace.sysctl(f'ipv6/conf/{where}/accept_dad', 1)
    a.namespace.sysctl('ipv6/conf/eth0/dad_transmits', 1)
    a.namespace.ip(f'addr add {b.ip6}/64 dev eth0')
    wait_for(lambda: 'dadfailed' in a.namespace.run('ip', 'addr', 'show', 'dev', 'eth0').stdout, 20,
             'the owner defends its address')


def test_answers_about_a_host_end_when_its_node_does(lab):
    net = lab(patient(3, config=SUPPRESSION)).joined()
    net.settle_hosts('n1', 'n0')
    net.node['n1'].stop()
    wait_for(lambda: net.node['n2'].state_of(net.node['n1']) in (None, 'left'), 5)
    before = net.node['n2'].counter('arp_answered')
    assert not net.host['n2'].ping(net.host['n1'].ip4, within=0.5)
    assert net.node['n2'].counter('arp_answered') == before


def test_nothing_is_answered_unless_asked_for(lab):
    net = lab(patient(3)).joined()
    net.settle_hosts('n1', 'n0')
    net.settle_hosts('n2', 'n1')
    assert net.node['n2'].counter('arp_answered') == 0


def test_two_hosts_behind_one_node_are_not_the_overlay_s_business(lab):
    net = lab(patient(2)).joined()
    neighbor = Host('second', net.node['n0'].namespace, 50, port='h1')
    net.host['second'] = neighbor
    wait_for(lambda: net.host['n0'].ping(neighbor.ip4), 5)
    net.settle_hosts('n0', 'n1')
    before = net.node['n0'].counter('unicast_tx')
    assert len(net.host['n0'].ping(neighbor.ip4, count=20, within=10)) == 20
    assert net.node['n0'].counter('unicast_tx') - before < 10
    wait_for(lambda: net.host['n1'].ping(neighbor.ip4), 5)


def mss_of(frame):
    """MSS option of a TCP SYN in an untagged IPv4 frame, or None."""
    if frame[12:14] != b'\x08\x00' or frame[23] != 6:
        return None
    tcp = frame[14 + (frame[14] & 15) * 4:]
    options = tcp[20:(tcp[12] >> 4) * 4]
    if not tcp[13] & 2 or options[:2] != b'\2\4':
        return None
    return struct.unpack('!H', options[2:4])[0]


def tcp_transfer(net, a, b, size=300_000):
    """Number of bytes of a TCP transfer from host b to host a."""
    program = ('import socket,sys\ns=socket.create_server(("", 5000))\nprint("ready",flush=True)\n'
               f'c,_=s.accept()\nc.sendall(b"x"*{size})\nc.close()\n')
    server = net.host[b].namespace.start('/usr/bin/python3', '-c', program, stdout=subprocess.PIPE)
    server.stdout.readline()
    client = ('import socket\n'
              f's=socket.create_connection(("{net.host[b].ip4}", 5000), timeout=10)\nn=0\n'
              'while True:\n d=s.recv(65536)\n if not d: break\n n+=len(d)\nprint(n)\n')
    return int(net.host[a].namespace.run('/usr/bin/python3', '-c', client).stdout)


def test_full_size_frames_cross_a_smaller_path_and_mss_is_clamped(lab):
    net = lab(patient(2), start=False)
    net.wan.both('n0', 'n1', mtu=1400)
    net.start()
    net.joined()
    net.settle_hosts('n0', 'n1')
    n0, n1 = net.node['n0'], net.node['n1']
    # The largest UDP payload of a 1400-byte IPv4 packet.
    for a, b in ((n0, n1), (n1, n0)):
        wait_for(lambda a=a, b=b: a.paths()[b.node_id]['mtu'] == 1372, 20, 'the path MTU is found')
    wire = tap(net, 'n1')
    assert len(net.host['n0'].ping(net.host['n1'].ip4, count=20, within=10, size=1472,
                                   forbid_fragments=True)) == 20
    assert n0.counter('fragmented_frames') >= 20 and n1.counter('reassembled_frames') >= 20
    wire.frames(until=10_000, within=0.1)
    assert tcp_transfer(net, 'n0', 'n1') == 300_000
    syn = [mss_of(f) for f in wire.frames(lambda f: mss_of(f) is not None)]
    # 1372 less LEON header (14), Ethernet (14), IP (20) and TCP (20).
    assert syn and 1200 <= syn[0] <= 1304
    assert n0.counter('mss_clamped') > 0
    assert net.wan.count('n0', 'n1')['delivered'] > 100


def test_black_hole_is_noticed_and_worked_around(lab):
    net = lab(patient(2)).joined()
    net.settle_hosts('n0', 'n1')
    n0, n1 = net.node['n0'], net.node['n1']
    for a, b in ((n0, n1), (n1, n0)):
        wait_for(lambda a=a, b=b: a.paths()[b.node_id]['mtu'] == 1472, 20, 'the path MTU is found')
    net.wan.both('n0', 'n1', mtu=1300)
    # A single datagram of 1478 bytes until the black hole is detected, then two smaller datagrams.
    host, far = net.host['n0'], net.host['n1'].ip4
    assert not host.ping(far, size=1370, within=0.3)
    wait_for(lambda: host.ping(far, size=1370, within=0.5), 60, 'large frames pass again')
    wait_for(lambda: n0.nodes()[n1.node_id]['link_mtu'] <= 1272, 30, 'what the link takes is known')


def test_interface_mtu_follows_the_smallest_path(lab):
    net = lab(patient(3, hosts=False), start=False)
    net.wan.both('n0', 'n2', mtu=1400)
    net.start()
    net.joined()
    n0 = net.node['n0']

    def mtu():
        text = n0.namespace.run('ip', '-o', 'link', 'show', 'leon0').stdout
        return int(text.split(' mtu ')[1].split()[0])
    wait_for(lambda: mtu() <= 1400 - 28 - 14 - 14, 40, f'MTU of leon0 follows (is {mtu()})')
    for i, name in enumerate(net.node):
        net.node[name].namespace.ip(f'addr add 10.9.0.{i + 1}/24 dev leon0')

    def crosses_whole():
        before = n0.counter('fragmented_frames')
        result = n0.namespace.run('ping', '-M', 'do', '-c', '3', '-i', '0.1', '-s', mtu() - 28,
                                  '10.9.0.3', check=False)
        return ' 0% packet loss' in result.stdout and n0.counter('fragmented_frames') == before
    # Several attempts, because a slow machine may reduce the measured MTU of a path temporarily.
    wait_for(crosses_whole, 40, 'a frame of full size crosses in one piece')
