# SPDX-License-Identifier: GPL-2.0-or-later
"""Routes in the kernel (design.md 8). Metrics follow the latency, no route leads to a dead node,
foreign routes stay, and removed routes return. test_export_frr.py tests FRR with these routes."""
import itertools
import json
import os
import re
import tempfile

import pytest

from lab import merged, wait_for
from node import TOP

# tests/vm/run.py sets the variable on an emulated machine.
measures = pytest.mark.skipif('LEON_EMULATED' in os.environ,
                              reason='an emulated machine has latencies of its own')
OVERLAY4, OVERLAY6 = '10.99.0.{}', 'fd00:99::{}'
# FRR's administrative distance in the metric of a prefix without a configured metric.
DISTANCE = 90 << 24
IMPORT = {'prefix': {'10.0.0.0/8': {'le': 32}, 'fd00::/8': {'le': 128}}}


# For tests that compare metrics, because latencies vary on a busy machine.
STEADY = {'export': {'next-hop': {'threshold': 90, 'threshold-minimum': 1000000}}}


def exporting(names, rtt_ms=None, **keys):
    """A topology in which every node announces an address of each family and exports."""
    sites = {}
    for number, name in enumerate(names, 1):
        sites[name] = {'config': {
            'overlay-address': [OVERLAY4.format(number), OVERLAY6.format(number)],
            'export': {'next-hop': {}}, 'import': IMPORT}}
    return merged({'sites': sites, 'hosts': False, 'rtt_ms': rtt_ms or {},
                   'config': {'path': {'threshold-minimum': 0}}}, keys)


def address(net, name):
    """Gives leon0 the node's overlay addresses, as host addresses: see routing.md."""
    node = net.node[name]
    node.namespace.ip(*(f'addr replace {a}/{128 if ":" in a else 32} dev leon0'
                        + (' nodad' if ':' in a else '')
                        for a in node.config['overlay-address']))


def start(lab, topology):
    net = lab(topology)
    for name in net.node:
        address(net, name)
    return net.joined()


def kernel(node, family=4):
    """{destination: [route, ...]} of LEON's routes to leon0."""
    text = node.namespace.run('ip', f'-{family}', '-json', 'route', 'show', 'proto', '76', 'dev',
                              'leon0', check=False).stdout
    found = {}
    for route in json.loads(text or '[]'):
        dst = route['dst']
        if '/' not in dst and dst != 'default':
            dst += '/32' if family == 4 else '/128'
        found.setdefault(dst, []).append(route)
    return found


def metric(node, number, family=4):
    dst = (OVERLAY4 if family == 4 else OVERLAY6).format(number) + ('/32' if family == 4 else '/128')
    routes = kernel(node, family).get(dst, [])
    return routes[0]['metric'] if len(routes) == 1 else None


def states(node):
    return {(r['destination'], r['node_id']): r['state'] for r in node.show('routes')['routes']}


def installed(node):
    return {r['destination']: r for r in node.show('routes')['routes'] if r['state'] == 'installed'}


class RouteWatch:
    """`ip monitor route` in a namespace, line by line."""

    def __init__(self, namespace):
        self.file = tempfile.TemporaryFile('w+', encoding='ascii')
        namespace.start('ip', 'monitor', 'route', stdout=self.file)
        # The monitor is ready after the notification about a private route.
        number = itertools.count(1)

        def listens():
            namespace.run('ip', 'route', 'replace', 'blackhole', f'203.0.113.{next(number)}/32')
            return any('203.0.113.' in line for line in self.read())
        wait_for(listens, 10, 'ip monitor listens', every=0.2)

    def read(self):
        self.file.seek(0)
        return [line.strip() for line in self.file]

    def of(self, prefix):
        """The changes of a prefix, in order."""
        return [line for line in self.read() if f'{prefix} ' in line]

    def deleted(self, prefix):
        return [line for line in self.of(prefix) if line.startswith('Deleted')]

    def ways(self, prefix):
        """[(added or removed, next hop)], in order."""
        return [(not line.startswith('Deleted'), re.search(r' via (\S+)', line)[1])
                for line in self.of(prefix)]


@measures
def test_metrics_are_the_latency_in_microseconds(lab):
    net = start(lab, exporting(['a', 'b', 'c'], {('a', 'b'): 20, ('a', 'c'): 40, ('b', 'c'): 50}))
    a = net.node['a']
    for family in (4, 6):
        wait_for(lambda f=family: metric(a, 2, f) and metric(a, 3, f), 10, 'routes are there')
        assert set(kernel(a, family)) == ({'10.99.0.2/32', '10.99.0.3/32'} if family == 4 else
                                          {'fd00:99::2/128', 'fd00:99::3/128'})
        # The first latencies of a busy machine are high and then settle.
        wait_for(lambda f=family: 20_000 <= (metric(a, 2, f) or 0) < 30_000 and
                 40_000 <= (metric(a, 3, f) or 0) < 55_000, 20, 'metrics are the latency')
    assert kernel(a)['10.99.0.2/32'][0]['scope'] == 'link'
    # The overlay carries packets along these routes. ARP and ND find the node at the next hop.
    for target in ('10.99.0.2', 'fd00:99::3'):
        wait_for(lambda t=target: a.namespace.run('ping', '-c1', '-W2', t, check=False).returncode
                 == 0, 15, f'{target} answers')
    paths = a.paths()
    assert paths[net.node['b'].node_id]['exported'] == ['10.99.0.2/32', 'fd00:99::2/128']
    text = a.leonctl('show', 'routes', json_output=False)
    assert '10.99.0.2/32' in text and 'installed' in text
    assert re.search(r'^leon_routes\{interface="leon0"\} 4$', a.leonctl('metrics', json_output=False),
                     re.M)


@measures
def test_metric_follows_at_most_once_a_second_and_only_where_it_matters(lab):
    net = start(lab, exporting(['a', 'b'], {('a', 'b'): 20}))
    a = net.node['a']

    def watched():
        """A metric, and a monitor that received all later changes."""
        before = metric(a, 2)
        # A high first metric of a busy machine stays if the improvement is below a tenth.
        if not 20_000 <= (before or 0) < 24_000:
            return None
        watch = RouteWatch(a.namespace)
        return (before, watch) if metric(a, 2) == before else None
    first, watch = wait_for(watched, 20, 'the metric is the latency, and stays')
    net.wan.rtt('a', 'b', 20_800)   # 4 %: no change
    wait_for(lambda: a.nodes()[net.node['b'].node_id]['rtt_us'] > 20_600, 15, 'latency moved')
    net.wan.rtt('a', 'b', 40_000)
    wait_for(lambda: (metric(a, 2) or 0) > 36_000, 20, 'the metric follows')

    def replaced():
        """The notifications, as soon as deletions and additions match. `ip monitor` may be late."""
        seen = watch.of('10.99.0.2')
        gone = [line for line in seen if line.startswith('Deleted')]
        return seen if 2 * len(gone) == len(seen) else None
    changes = wait_for(replaced, 10, 'as many routes went as came')
    # The new route exists before the removal of the old route.
    assert not changes[0].startswith('Deleted') and changes[1].startswith('Deleted')
    assert f'metric {first} ' in changes[1] + ' '


def test_nothing_leads_to_the_dead(lab):
    net = start(lab, exporting(['a', 'b', 'c', 'd']))
    a = net.node['a']
    wait_for(lambda: len(kernel(a)) == 3 and len(kernel(a, 6)) == 3, 10, 'routes are there')
    net.node['b'].kill()
    net.node['c'].stop()
    wait_for(lambda: set(kernel(a)) == {'10.99.0.4/32'} and set(kernel(a, 6)) == {'fd00:99::4/128'}, 15,
             'killed and left are withdrawn')
    wait_for(lambda: [e for e in a.events('route-withdrawn') if e['node_id'] == net.node['b'].node_id],
             10, 'it is told of')
    # The routes of a returned node are exported again.
    net.start('b')
    address(net, 'b')
    wait_for(lambda: '10.99.0.2/32' in kernel(a) and 'fd00:99::2/128' in kernel(a, 6), 15, 'b is back')
    # The interface is set down and up.
    a.namespace.ip('link set leon0 down')
    wait_for(lambda: not a.show('routes')['exporting'], 10, 'noticed')
    assert a.show('routes')['reason'] == 'the interface is down'
    assert not kernel(a) and not kernel(a, 6)
    a.namespace.ip('link set leon0 up')
    wait_for(lambda: len(kernel(a)) == 2 and len(kernel(a, 6)) == 2, 15, 'reinstalled')
    assert not a.events('route-repaired')


def test_an_end_leaves_nothing_behind(lab):
    net = start(lab, exporting(['a', 'b', 'c']))
    a, b = net.node['a'], net.node['b']
    wait_for(lambda: len(kernel(a)) == 2 and len(kernel(b)) == 2, 10)
    a.kill()
    assert not kernel(a)
    b.stop()
    assert not kernel(b)


def on_lasting_interface(lab):
    """Two nodes. The interface of a is persistent and outlives the daemon."""
    net = lab(exporting(['a', 'b']), start=False)
    net.node['a'].namespace.ip('tuntap add leon0 mode tap multi_queue vnet_hdr')
    net.start()
    for name in net.node:
        address(net, name)
    return net.joined()


def test_routes_of_an_earlier_run_are_removed_where_the_interface_stays(lab):
    """VyOS creates the interface, which therefore outlives the daemon."""
    net = on_lasting_interface(lab)
    a = net.node['a']
    wait_for(lambda: metric(a, 2), 10)
    a.kill()
    a.namespace.ip('route replace 10.99.0.77/32 dev leon0 proto 76 metric 5',
                   'route replace 10.99.0.78/32 dev leon0 proto static metric 5')
    assert '10.99.0.2/32' in kernel(a)
    net.node['b'].stop()
    net.start('a')
    wait_for(lambda: not kernel(a), 10, 'stale routes are gone')
    # Routes of other programs stay unchanged.
    assert '10.99.0.78' in a.namespace.run('ip', 'route').stdout
    a.stop()
    net.start('a')
    net.start('b')
    address(net, 'b')
    wait_for(lambda: metric(a, 2), 15)
    a.stop()
    assert not kernel(a), 'a clean end flushes'


def test_what_somebody_removes_or_adds_is_repaired(lab):
    net = start(lab, exporting(['a', 'b']))
    a = net.node['a']
    wait_for(lambda: metric(a, 2) and metric(a, 2, 6), 10)
    a.namespace.ip('route del 10.99.0.2/32 dev leon0 proto 76')
    a.namespace.run('ip', '-6', 'route', 'del', 'fd00:99::2/128', 'dev', 'leon0', 'proto', '76')
    wait_for(lambda: metric(a, 2) and metric(a, 2, 6), 5, 'it is back')
    wait_for(lambda: a.events('route-repaired'), 5, 'it is told of')
    a.namespace.ip('route add 10.99.0.200/32 dev leon0 proto 76 metric 7')
    wait_for(lambda: set(kernel(a)) == {'10.99.0.2/32'}, 5, 'what is not ours to have is gone')
    # The kernel removes all routes of a link together with the last address.
    a.namespace.ip('addr flush dev leon0')
    address(net, 'a')
    wait_for(lambda: metric(a, 2) and metric(a, 2, 6), 10, 'after the addresses')


def test_a_route_of_somebody_else_is_not_touched(lab):
    net = start(lab, exporting(['a', 'b']))
    a = net.node['a']
    m = wait_for(lambda: metric(a, 2), 10)
    a.stop()
    a.namespace.ip('link add other0 type bridge', 'link set other0 up',
                   *(f'route add 10.99.0.2/32 dev other0 metric {k}' for k in range(1, 3)))
    # The metric of the route equals the metric of a foreign route.
    a.config['export'] = {'next-hop': {'threshold': 0, 'threshold-minimum': 0}}
    net.start('a')
    address(net, 'a')
    wait_for(lambda: metric(a, 2), 15)

    def routes_to(device):
        return a.namespace.run('ip', 'route', 'show', '10.99.0.2').stdout.count(device)
    # A change of the metric adds the new route before the old route is removed.
    wait_for(lambda: routes_to('leon0') == 1, 10, 'one is ours')
    assert routes_to('other0') == 2
    assert m > 2


def test_reload_switches_export_off_and_on(lab):
    net = start(lab, exporting(['a', 'b']))
    a = net.node['a']
    wait_for(lambda: metric(a, 2), 10)
    a.reload(export=None, **{'import': None})
    wait_for(lambda: not kernel(a) and not kernel(a, 6), 10)
    assert 'configured' in a.show('routes')['reason']
    a.reload(export={'next-hop': {}}, **{'import': {'address': ['10.99.0.0/24']}})
    wait_for(lambda: metric(a, 2), 10)
    assert not kernel(a, 6)
    wait_for(lambda: states(a).get(('fd00:99::2/128', net.node['b'].node_id)) == 'not-accepted', 10)


def test_port_of_a_bridge_exports_nothing(lab):
    net = start(lab, exporting(['a', 'b']))
    a = net.node['a']
    wait_for(lambda: metric(a, 2), 10)
    a.namespace.ip('link add br9 type bridge', 'link set leon0 master br9')
    wait_for(lambda: not kernel(a), 10)
    assert 'bridge' in a.show('routes')['reason']
    a.namespace.ip('link set leon0 nomaster')
    wait_for(lambda: metric(a, 2), 10)


def test_a_route_of_leon_in_another_table_is_removed(lab):
    """A change of the VRF during the installation can leave such a route."""
    net = start(lab, exporting(['a', 'b']))
    a = net.node['a']
    wait_for(lambda: metric(a, 2) and metric(a, 2, 6), 10)
    a.namespace.ip('route add 10.99.0.77/32 dev leon0 proto 76 metric 7 table 1010',
                   'route add 10.99.0.78/32 dev leon0 proto static metric 7 table 1010')
    a.namespace.run('ip', '-6', 'route', 'add', 'fd00:99::77', 'dev', 'leon0', 'proto', '76',
                    'metric', '7', 'table', '1010')

    def elsewhere(family):
        return a.namespace.run('ip', f'-{family}', 'route', 'show', 'table', '1010').stdout
    wait_for(lambda: '10.99.0.77' not in elsewhere(4) and 'fd00:99::77' not in elsewhere(6), 10)
    assert '10.99.0.78' in elsewhere(4)
    wait_for(lambda: metric(a, 2) and metric(a, 2, 6), 10, 'those in the main table stay')
    assert not a.events('route-repaired')


# --- prefixes ---

def announce(topology, name, *prefixes, unconditional=True):
    """Most nodes here have no network, so the announcement is unconditional. test_export_own.py
    tests the condition."""
    export = {'next-hop': {}, 'prefix': list(prefixes), **({'unconditional': {}} if unconditional
                                                           else {})}
    return merged(topology, {'sites': {name: {'config': {'export': export}}}})


def test_prefixes_lead_through_their_node(lab):
    topology = announce(exporting(['a', 'b', 'c'], config=STEADY), 'b', '10.1.0.0/16',
                        'fd00:1::/48')
    net = start(lab, topology)
    a, b = net.node['a'], net.node['b']
    b.namespace.ip('addr add 10.1.2.3/32 dev lo', 'addr add fd00:1::3/128 dev lo')
    for family, dst, via in ((4, '10.1.0.0/16', '10.99.0.2'), (6, 'fd00:1::/48', 'fd00:99::2')):
        route = wait_for(lambda f=family, d=dst: kernel(a, f).get(d), 10, f'{dst} is there')[0]
        assert route['gateway'] == via and 'onlink' in route['flags']

        def same_metric():
            prefix, node = kernel(a, family).get(dst, [{}]), metric(a, 2, family)
            return node and prefix[0].get('metric') == DISTANCE + node
        wait_for(same_metric, 10, 'the metric is that of the node, which moves with the latency')
    for target in ('10.1.2.3', 'fd00:1::3'):
        wait_for(lambda t=target: a.namespace.run('ping', '-c1', '-W2', t, check=False).returncode
                 == 0, 15, f'{target} answers')
    # The node withdraws the prefix without a restart.
    b.reload(export={'next-hop': {}, 'prefix': ['10.1.0.0/16'], 'unconditional': {}})
    wait_for(lambda: 'fd00:1::/48' not in kernel(a, 6), 10)
    assert '10.1.0.0/16' in kernel(a)


def test_only_what_the_rules_accept(lab):
    topology = announce(exporting(['a', 'b', 'c']), 'b', '10.1.0.0/16', '10.2.3.0/24',
                        '198.51.100.0/24')
    topology = announce(topology, 'c', '10.2.4.0/24', '10.9.0.0/16')
    net = lab(topology, start=False)
    a, b, c = (net.node[n] for n in 'abc')
    a.config['import'] = {'prefix': {
        '10.1.0.0/16': {}, '10.2.0.0/16': {'le': 24, 'node': [c.node_id]},
        '10.9.0.0/16': {'node': [b.node_id]}}}
    net.start()
    for name in net.node:
        address(net, name)
    net.joined()
    accepted = {'10.1.0.0/16', '10.2.4.0/24', '10.99.0.2/32', '10.99.0.3/32'}
    wait_for(lambda: set(kernel(a)) >= accepted, 10, 'what is accepted is there')
    seen = states(a)
    assert seen[('10.2.3.0/24', b.node_id)] == 'not-accepted'   # of another node
    assert seen[('10.9.0.0/16', c.node_id)] == 'not-accepted'
    assert seen[('198.51.100.0/24', b.node_id)] == 'not-accepted'
    assert set(kernel(a)) == accepted
    # An identity has the same effect. A name is refused for every node.
    rules = json.loads(json.dumps(a.config['import']))
    rules['prefix']['10.2.0.0/16']['node'] = [c.identity()]
    a.reload(**{'import': rules})
    name = a.nodes()[c.node_id]['name']
    b.reload(**{'node-name': name})
    wait_for(lambda: a.nodes()[b.node_id]['name'] == name, 20)
    assert states(a)[('10.2.3.0/24', b.node_id)] == 'not-accepted'
    assert '10.2.4.0/24' in kernel(a)
    named = {'prefix': {'10.2.0.0/16': {'le': 24, 'node': ['c']}}}
    with pytest.raises(RuntimeError, match='names are not accepted'):
        a.reload(**{'import': named})
    assert '10.2.4.0/24' in kernel(a)
    # Without rules, no prefix is accepted.
    a.reload(**{'import': None})
    wait_for(lambda: set(kernel(a)) == {'10.99.0.2/32', '10.99.0.3/32'}, 10)


def test_what_would_break_the_underlay_is_refused(lab):
    """Refused: a prefix around the underlay addresses of nodes, and an underlay address as overlay
    address."""
    net = lab(exporting(['a', 'b', 'c']), start=False)
    a, b, c = (net.node[n] for n in 'abc')
    rules = {'address': ['0.0.0.0/0'], 'prefix': {'0.0.0.0/0': {'le': 32}}}
    a.config['import'] = rules
    b.config['export'] = {'next-hop': {}, 'unconditional': {},
                          'prefix': ['0.0.0.0/0', '198.18.0.0/16', '203.0.113.0/24']}
    c.config['overlay-address'] = [b.node_id, '10.99.0.1', '10.99.0.2', '10.99.0.3']
    net.start()
    for name in 'ab':
        address(net, name)
    net.joined()
    wait_for(lambda: '203.0.113.0/24' in kernel(a), 10)
    wait_for(lambda: '10.99.0.3/32' in kernel(a), 10)
    # The first known node of b and c has 10.99.0.2 until the other node is known.
    want = {('0.0.0.0/0', b.node_id): 'underlay', ('198.18.0.0/16', b.node_id): 'underlay',
            (f'{b.node_id}/32', c.node_id): 'underlay', ('10.99.0.1/32', c.node_id): 'own',
            ('10.99.0.2/32', c.node_id): 'conflict', ('10.99.0.2/32', b.node_id): 'installed'}
    wait_for(lambda: want.items() <= states(a).items(), 10, 'each is refused, and why')
    wait_for(lambda: len(a.events('route-refused')) >= 5, 10, 'it is told of')
    # The overlay works.
    net.joined()
    for route in a.namespace.run('ip', 'route', 'get', b.node_id).stdout.splitlines()[:1]:
        assert 'leon0' not in route


def test_a_private_lan_of_a_node_is_no_way_to_it(lab):
    """The LAN address is inside the announced prefix. Only the overlay leads there, so other nodes
    must not send underlay datagrams to the address."""
    net = lab(announce(exporting(['a', 'b', 'c']), 'b', '10.1.0.0/16'), start=False)
    a, b = net.node['a'], net.node['b']
    b.namespace.ip('link add lan0 type bridge', 'addr add 10.1.0.1/16 dev lan0', 'link set lan0 up')
    b.config['node-id'] = '10.0.0.2'
    del b.config['source-address']
    net.start()
    for name in net.node:
        address(net, name)
    net.joined()
    wait_for(lambda: '10.1.0.0/16' in kernel(a), 10)
    locators = wait_for(lambda: a.nodes()[b.node_id]['locators'], 10, 'what b says of itself')
    assert not [ep for ep in locators if ep.startswith('10.')]
    # A node that announces everything stays reachable.
    b.reload(export={'prefix': ['0.0.0.0/0'], 'unconditional': {}})
    wait_for(lambda: '198.18.0.2:5366' in a.nodes()[b.node_id]['locators'] and
             '0.0.0.0/0' in a.nodes()[b.node_id]['prefixes'], 10)


def test_no_message_goes_into_the_overlay_to_find_a_node(lab):
    """A node behind NAT also announces its LAN address, and another node announces a prefix around
    the address. The prefix is in use, and no node sends HELLO messages to the LAN address through
    the overlay."""
    net = lab(announce(exporting(['a', 'b', 'c']), 'b', '10.1.0.0/16'), start=False)
    a, b, c = (net.node[n] for n in 'abc')
    c.namespace.ip('link add lan0 type bridge', 'addr add 10.1.5.5/24 dev lan0', 'link set lan0 up')
    c.config['node-id'] = '10.0.0.3'
    del c.config['source-address']
    # A node with forwarding would answer HELLO messages through the overlay.
    b.namespace.sysctl('ipv4/ip_forward', 1)
    net.start()
    for name in net.node:
        address(net, name)
    net.joined()
    wait_for(lambda: '10.1.0.0/16' in kernel(a), 10)
    wait_for(lambda: '10.1.5.5:5366' in a.nodes()[c.node_id]['locators'], 10, 'what c says of itself')
    # Node c becomes silent, and a tries all known addresses.
    net.wan.isolate('c')
    wait_for(lambda: a.show('routes')['withheld'] > 0, 20, 'messages are withheld')
    wait_for(lambda: a.state_of(c) == 'unreachable', 10)
    net.wan.isolate('c', up=True)
    wait_for(lambda: a.state_of(c) == 'reachable', 30)
    assert a.nodes()[c.node_id]['endpoint'] == '198.18.0.3:5366'
    wait_for(lambda: '10.1.0.0/16' in kernel(a), 10, 'the prefix is used as before')


def test_the_service_takes_away_what_a_killed_daemon_left(lab):
    """ExecStopPost of the unit, run as systemd would."""
    with open(os.path.join(TOP, 'packaging/systemd/leond@.service'), encoding='ascii') as f:
        (command,) = re.findall(r"^ExecStopPost=-/bin/sh -c '(.*)'$", f.read(), re.M)
    net = on_lasting_interface(lab)
    a = net.node['a']
    wait_for(lambda: metric(a, 2) and metric(a, 2, 6), 10)
    a.kill()
    a.namespace.ip('route add 10.99.0.78/32 dev leon0 proto static')
    assert kernel(a)
    a.namespace.run('sh', '-c', command.replace('$$', '$').replace('%i', 'leon0'), check=False)
    assert not kernel(a) and not kernel(a, 6)
    assert '10.99.0.78' in a.namespace.run('ip', 'route').stdout


def test_anycast_prefix_moves_to_the_next_nearest(lab):
    topology = exporting(['a', 'near', 'far'], {('a', 'near'): 10, ('a', 'far'): 30,
                                                ('near', 'far'): 60})
    for name in ('near', 'far'):
        topology = announce(topology, name, '10.53.0.0/24')
    net = start(lab, topology)
    a, near, far = net.node['a'], net.node['near'], net.node['far']

    def through(node):
        route = installed(a).get('10.53.0.0/24')
        return route and route['node_id'] == node.node_id and len(kernel(a).get('10.53.0.0/24', ())) == 1
    wait_for(lambda: through(near), 10)
    # The farther node may join after the nearer node.
    wait_for(lambda: states(a).get(('10.53.0.0/24', far.node_id)) == 'farther', 10)
    assert through(near)
    watch = RouteWatch(a.namespace)
    near.kill()
    wait_for(lambda: through(far), 15)
    old, new = '10.99.0.2', '10.99.0.3'
    wait_for(lambda: [r['gateway'] for r in kernel(a).get('10.53.0.0/24', ())] == [new], 10)
    # `ip monitor` may be late. The metric may change in the same way, with a route of another node.

    def left():
        seen = watch.ways('10.53.0.0/24')
        return seen if seen.count((False, old)) == seen.count((True, old)) + 1 else None
    ways = wait_for(left, 10, 'the old way goes')
    there = list(itertools.accumulate((1 if came else -1 for came, _ in ways), initial=1))
    assert min(there) >= 1, f'the new way is there before the old one goes: {ways}'
    taken = [way for came, way in ways if came]
    assert taken == sorted(taken) and taken[-1] == new, f'it moves once: {ways}'
