# SPDX-License-Identifier: GPL-2.0-or-later
"""A node announces a prefix only while the node has a route outside the overlay (export prefix,
export unconditional). The tests check which routes count, and that other nodes select another
origin."""
import re

import pytest

import ns
from lab import wait_for
from test_export import OVERLAY4, address, announce, exporting, installed, kernel, start

ANYCAST, SERVICE = '10.53.0.0/24', '10.53.0.53'
ANYCAST6 = 'fd00:53::/64'


def own(node):
    """{prefix: (announced, reason)}"""
    return {p['prefix']: (p['announced'], p['reason']) for p in node.show('routes')['prefixes']}


def withheld(node, prefix, reason):
    wait_for(lambda: own(node).get(prefix) == (False, reason), 15, f'{prefix}: {reason}')


def announced(node, *prefixes):
    wait_for(lambda: all(own(node).get(p, (False,))[0] for p in prefixes), 20,
             f'{prefixes} announced')


def lan(net, node):
    """A LAN at lan0 of the node, with a host that offers the service."""
    host = ns.Namespace(f'lan-{node.name}')
    net.spare.append(host)
    ns.connect(node.namespace, 'lan0', host, 'eth0')
    node.namespace.sysctl('ipv4/ip_forward', 1)
    node.namespace.sysctl('ipv6/conf/all/forwarding', 1)
    give_addresses(node)
    host.ip(f'addr add {SERVICE}/24 dev eth0', 'route add default via 10.53.0.1')
    return host


def give_addresses(node):
    node.namespace.ip('addr replace 10.53.0.1/24 dev lan0',
                      'addr replace fd00:53::1/64 dev lan0 nodad')


def anycast(lab):
    """Node a uses the LANs of near and far."""
    topology = exporting(['a', 'near', 'far'], {('a', 'near'): 10, ('a', 'far'): 30,
                                                ('near', 'far'): 60})
    for name in ('near', 'far'):
        topology = announce(topology, name, ANYCAST, ANYCAST6, unconditional=False)
    net = lab(topology, start=False)
    hosts = {name: lan(net, net.node[name]) for name in ('near', 'far')}
    net.start()
    for name in net.node:
        address(net, name)
    return net.joined(), hosts


def through(net, name):
    node = net.node['a']
    number = {'near': 2, 'far': 3}[name]
    found = [kernel(node).get(ANYCAST, []), kernel(node, 6).get(ANYCAST6, [])]
    return all(len(r) == 1 for r in found) and found[0][0]['gateway'] == OVERLAY4.format(number)


def answers(net):
    return net.node['a'].namespace.run('ping', '-c1', '-W2', SERVICE,
                                       check=False).returncode == 0


@pytest.mark.parametrize('how', ['carrier', 'admin'])
def test_traffic_goes_to_the_other_announcer_while_the_lan_is_down(lab, how):
    net, hosts = anycast(lab)
    near = net.node['near']
    wait_for(lambda: through(net, 'near'), 15, 'the nearer one')
    wait_for(lambda: answers(net), 15, 'the service answers')
    if how == 'carrier':
        hosts['near'].ip('link set eth0 down')
        withheld(near, ANYCAST, 'the link of the route to it is down')
        withheld(near, ANYCAST6, 'the link of the route to it is down')
    else:
        near.namespace.ip('link set lan0 down')
        withheld(near, ANYCAST, 'this node has no route to it')
    wait_for(lambda: through(net, 'far'), 15, 'the other one')
    wait_for(lambda: answers(net), 15, 'the service answers from there')
    assert [e for e in near.events('prefix-withheld') if e['detail'] == ANYCAST]
    # Each node receives the update separately.
    wait_for(lambda: ANYCAST not in net.node['far'].nodes()[near.node_id]['prefixes'], 15, 'far knows')
    wait_for(lambda: re.search(r'^leon_prefixes_announced\{interface="leon0"\} 0$',
                               near.leonctl('metrics', json_output=False), re.M), 15, 'none is announced')
    if how == 'carrier':
        hosts['near'].ip('link set eth0 up')
    else:
        near.namespace.ip('link set lan0 up')
        give_addresses(near)
    announced(near, ANYCAST, ANYCAST6)
    wait_for(lambda: through(net, 'near'), 15, 'back at the nearer one')
    assert [e for e in near.events('prefix-announced') if e['detail'] == ANYCAST]
    # Both prefixes of a link change together, and not repeatedly.
    assert len(near.events('prefix-withheld')) == len(near.events('prefix-announced')) == 2


def test_what_counts_as_a_route(lab):
    topology = announce(exporting(['a', 'b']), 'b', '10.1.0.0/16', '10.2.0.0/16', '10.3.0.53/32',
                        'fd00:1::/48', '0.0.0.0/0', unconditional=False)
    net = start(lab, topology)
    a, b = net.node['a'], net.node['b']
    run = b.namespace.ip
    for prefix in own(b):
        withheld(b, prefix, 'this node has no route to it')
    # The default route of the site does not count as a route to a prefix.
    run('link add up0 type veth peer name up1', 'link set up1 up', 'link set up0 up',
        'addr add 192.0.2.1/24 dev up0', 'route replace default via 192.0.2.254 dev up0')
    withheld(b, '10.1.0.0/16', 'only the default route leads there')
    announced(b, '0.0.0.0/0')
    run('route add unreachable 10.1.0.0/16')
    withheld(b, '10.1.0.0/16', 'this node has no route to it')
    run('route del unreachable 10.1.0.0/16')
    wait_for(lambda: a.nodes()[b.node_id]['prefixes'] == ['0.0.0.0/0'], 15)
    wait_for(lambda: '10.1.0.0/16' not in kernel(a), 15)
    # An aggregate, a covering route, a longer route, and an address of the host.
    run('route add blackhole 10.1.0.0/16', 'route add 10.2.0.0/15 via 192.0.2.9',
        'addr add 10.3.0.53/32 dev lo', 'route add fd00:1::/64 dev up0')
    announced(b, *own(b))
    wait_for(lambda: {'10.1.0.0/16', '10.2.0.0/16', '10.3.0.53/32'} <= set(kernel(a)), 15)
    wait_for(lambda: 'fd00:1::/48' in kernel(a, 6), 15)
    run('route del blackhole 10.1.0.0/16')
    withheld(b, '10.1.0.0/16', 'only the default route leads there')
    wait_for(lambda: '10.1.0.0/16' not in kernel(a), 15)
    text = b.leonctl('show', 'routes', json_output=False)
    assert re.search(r'^10\.1\.0\.0/16 +no +.*only the default route', text, re.M)
    assert re.search(r'^10\.2\.0\.0/16 +yes +', text, re.M)


def test_a_route_of_leon_is_none_of_its_own(lab):
    """Both nodes announce and import 10.53.0.0/24, and only one node has the network. The other
    node learns 10.0.0.0/8 through the overlay, which must not count as a route to the prefix."""
    topology = exporting(['a', 'b'])
    topology = announce(topology, 'a', ANYCAST, '10.0.0.0/8', unconditional=False)
    topology = announce(topology, 'b', ANYCAST, '10.7.0.0/16', unconditional=False)
    net = lab(topology, start=False)
    a, b = net.node['a'], net.node['b']
    # The underlay is 198.18.0.0/15.
    a.namespace.ip('route add blackhole 10.0.0.0/8')
    net.start()
    for name in net.node:
        address(net, name)
    net.joined()
    announced(a, ANYCAST, '10.0.0.0/8')
    wait_for(lambda: '10.0.0.0/8' in kernel(b), 15)
    withheld(b, ANYCAST, 'only the overlay leads there')
    assert '10.7.0.0/16' not in a.nodes()[b.node_id]['prefixes']
    # A longer prefix of another node at the same address does not hide the own route.
    b.namespace.ip('route add blackhole 10.7.0.0/16')
    announced(b, '10.7.0.0/16')
    a.namespace.ip('route add blackhole 10.7.0.0/24')
    a.reload(export={'next-hop': {}, 'prefix': [ANYCAST, '10.0.0.0/8', '10.7.0.0/24']})
    wait_for(lambda: '10.7.0.0/24' in kernel(b), 15)
    last = b.show('routes')['prefixes']
    wait_for(lambda: b.show('routes')['prefixes'][1]['since_seconds'] >
             last[1]['since_seconds'] + 1, 15, 'it was looked at again')
    assert own(b)['10.7.0.0/16'][0]


def test_reload_switches_the_look_off_and_on(lab):
    net = start(lab, announce(exporting(['a', 'b']), 'b', '10.1.0.0/16', unconditional=False))
    a, b = net.node['a'], net.node['b']
    withheld(b, '10.1.0.0/16', 'this node has no route to it')
    b.reload(export={'next-hop': {}, 'prefix': ['10.1.0.0/16', '10.2.0.0/16'],
                     'unconditional': {}})
    wait_for(lambda: own(b) == {p: (True, 'export unconditional is configured')
                                for p in ('10.1.0.0/16', '10.2.0.0/16')}, 15)
    wait_for(lambda: {'10.1.0.0/16', '10.2.0.0/16'} <= set(installed(a)), 15)
    b.namespace.ip('route add blackhole 10.2.0.0/16')
    b.reload(export={'next-hop': {}, 'prefix': ['10.1.0.0/16', '10.2.0.0/16']})
    wait_for(lambda: '10.1.0.0/16' not in kernel(a), 15)
    wait_for(lambda: own(b)['10.2.0.0/16'] == (True, 'this node has a route to it'), 15)
    wait_for(lambda: '10.2.0.0/16' in kernel(a), 15)
