# SPDX-License-Identifier: GPL-2.0-or-later
"""leon0 in a VRF, alone or below a bridge. Exported routes are only in the table of the VRF,
through all changes of the VRF, and FRR uses the routes. The underlay also runs in a VRF. Skipped
without kernel support (make check-vm has a suitable kernel)."""
import contextlib
import json
import os
import re
import signal

import pytest

from frr import Frr, need_frr
from lab import line_up, merged, wait_for
from node import TOP
import ns
from test_export import STEADY, address, announce, exporting, installed, start

MAIN, RED, BLUE = 254, 1010, 1020
FAR = 60  # seconds, because the tests mostly run in an emulated machine


def vrf_trouble():
    """The error of the kernel for a VRF, or an empty string."""
    space = ns.Namespace('probe')
    try:
        return space.run('ip', 'link', 'add', 'red', 'type', 'vrf', 'table', RED,
                         check=False).stderr.strip()
    finally:
        space.close()


@pytest.fixture(autouse=True, scope='module')
def need_vrf():
    trouble = vrf_trouble()
    if trouble:
        pytest.skip(f'no VRF in this kernel: {trouble}')


def make_vrf(node, name='red', table=RED):
    node.namespace.ip(f'link add {name} type vrf table {table}', f'link set {name} up')


def enter_vrf(net, name, vrf):
    """The kernel drops IPv6 addresses during the change."""
    net.node[name].namespace.ip(f'link set leon0 master {vrf}')
    address(net, name)


def tables(node, dev='leon0'):
    """{table: destinations of LEON's routes there}, of both families and all tables."""
    found = {}
    for family in ('-4', '-6'):
        text = node.namespace.run('ip', family, '-json', 'route', 'show', 'table', 'all', 'proto',
                                  '76', 'dev', dev, check=False).stdout
        for route in json.loads(text or '[]'):
            table = {'main': MAIN}.get(route.get('table', 'main'), route.get('table'))
            found.setdefault(int(table), set()).add(route['dst'])
    return found


def hosts(*numbers):
    return {a.format(n) for n in numbers for a in ('10.99.0.{}', 'fd00:99::{}')}


def only_in(node, table, wanted, within=FAR):
    """Exactly the given routes, all in the given table."""
    wait_for(lambda: tables(node) == {table: wanted}, within,
             f'{sorted(wanted)} in table {table} and nothing elsewhere')
    assert node.show('routes')['table'] == table


def no_trouble(node):
    assert not [e for e in node.events() if e['event'] in ('route-failed', 'route-repaired')]
    assert not node.show('routes')['failed'] and not node.show('routes')['repaired']


def reaches(node, target, dev='leon0'):
    """A socket bound to the interface uses the table of the VRF."""
    wait_for(lambda: node.namespace.run('ping', '-c1', '-W2', '-I', dev, target,
                                        check=False).returncode == 0, FAR, f'{target} answers')


@pytest.fixture
def zebra():
    need_frr()
    with contextlib.ExitStack() as stack:
        def make(namespace):
            made = Frr(namespace, '', daemons=('zebra',))
            stack.callback(made.close)
            return made
        yield make


def in_zebra(router, vrf):
    """{prefix: metric} of kernel routes, both families."""
    found = {}
    for family in ('ip', 'ipv6'):
        for prefix, entries in router.show(f'{family} route vrf {vrf} kernel').items():
            for entry in entries:
                if entry.get('selected'):
                    found[prefix] = entry['metric']
    return found


def test_zebra_finds_them_in_the_vrf(lab, zebra):
    net = start(lab, announce(exporting(['a', 'b', 'c'], config=STEADY), 'b', '10.1.0.0/16',
                              'fd00:1::/48'))
    a, b = net.node['a'], net.node['b']
    make_vrf(a)
    router = zebra(a.namespace)
    enter_vrf(net, 'a', 'red')
    behind_b = {'10.1.0.0/16', 'fd00:1::/48'}
    only_in(a, RED, hosts(2, 3) | behind_b)

    def same():
        mine = {dst: route['metric'] for dst, route in installed(a).items()}
        return len(mine) == 6 and in_zebra(router, 'red') == mine
    wait_for(same, FAR, 'zebra has them, with their metrics')
    wait_for(lambda: not in_zebra(router, 'default'), FAR, 'zebra forgets the main table')
    b.namespace.ip('addr add 10.1.2.3/32 dev lo', 'addr add fd00:1::3/128 dev lo')
    for target in ('10.99.0.3', 'fd00:99::3', '10.1.2.3', 'fd00:1::3'):
        reaches(a, target)
    b.kill()
    only_in(a, RED, hosts(3))
    wait_for(lambda: set(in_zebra(router, 'red')) == {'10.99.0.3/32', 'fd00:99::3/128'}, FAR)
    no_trouble(a)
    a.stop()
    assert not tables(a)
    wait_for(lambda: not in_zebra(router, 'red'), FAR, 'nothing is left in zebra')


def test_it_moves_between_vrfs(lab, zebra):
    net = start(lab, exporting(['a', 'b', 'c'], config=STEADY))
    a = net.node['a']
    make_vrf(a, 'red', RED)
    make_vrf(a, 'blue', BLUE)
    only_in(a, MAIN, hosts(2, 3))
    router = zebra(a.namespace)

    def only_in_zebra(vrf):
        wait_for(lambda: {v for v in ('default', 'red', 'blue') if in_zebra(router, v)} == {vrf} and
                 len(in_zebra(router, vrf)) == 4, FAR, f'zebra has all of it in {vrf} alone')
    only_in_zebra('default')
    for vrf, table in (('red', RED), ('blue', BLUE), ('red', RED)):
        enter_vrf(net, 'a', vrf)
        only_in(a, table, hosts(2, 3))
        only_in_zebra(vrf)
        reaches(a, '10.99.0.2')
    a.namespace.ip('link set leon0 nomaster')
    address(net, 'a')
    only_in(a, MAIN, hosts(2, 3))
    only_in_zebra('default')
    no_trouble(a)
    # The daemon receives only the last notifications, and late.
    a.process.send_signal(signal.SIGSTOP)
    a.namespace.ip('link set leon0 master blue', 'link set leon0 nomaster',
                   'link set leon0 master red')
    address(net, 'a')
    a.process.send_signal(signal.SIGCONT)
    only_in(a, RED, hosts(2, 3))


def test_vrf_is_deleted_and_made_again(lab):
    net = start(lab, exporting(['a', 'b']))
    a = net.node['a']
    make_vrf(a)
    enter_vrf(net, 'a', 'red')
    only_in(a, RED, hosts(2))
    a.namespace.ip('link del red')
    address(net, 'a')
    only_in(a, MAIN, hosts(2))
    # A VRF of the same name with another table.
    make_vrf(a, 'red', BLUE)
    enter_vrf(net, 'a', 'red')
    only_in(a, BLUE, hosts(2))
    reaches(a, '10.99.0.2')
    # The interface goes down and up inside the VRF, then the VRF does.
    a.namespace.ip('link set leon0 down')
    wait_for(lambda: not tables(a), FAR)
    a.namespace.ip('link set leon0 up')
    address(net, 'a')
    only_in(a, BLUE, hosts(2))
    a.namespace.ip('link set red down')
    a.namespace.ip('link set red up')
    only_in(a, BLUE, hosts(2))
    no_trouble(a)


def test_what_others_do_in_its_tables_is_repaired(lab):
    net = start(lab, exporting(['a', 'b']))
    a = net.node['a']
    make_vrf(a)
    enter_vrf(net, 'a', 'red')
    only_in(a, RED, hosts(2))
    a.namespace.ip(f'route del 10.99.0.2/32 dev leon0 proto 76 table {RED}',
                   f'route add 10.99.0.77/32 dev leon0 proto 76 metric 7 table {RED}',
                   'route add 10.99.0.78/32 dev leon0 proto 76 metric 7 table main',
                   'route add 10.99.0.79/32 dev leon0 proto static metric 7 table main')
    only_in(a, RED, hosts(2))
    assert a.events('route-repaired')
    assert '10.99.0.79' in a.namespace.run('ip', 'route', 'show', 'table', 'main').stdout


def test_only_ipv6_in_a_vrf(lab):
    """The VRF then has no IPv4 table."""
    net = lab(exporting(['a', 'b']), start=False)
    for number, node in enumerate(net.node.values(), 1):
        node.config['overlay-address'] = [f'fd00:99::{number}']
    net.start()
    for name in net.node:
        address(net, name)
    net.joined()
    a = net.node['a']
    make_vrf(a)
    enter_vrf(net, 'a', 'red')
    only_in(a, RED, {'fd00:99::2'})
    # A foreign route with the protocol of leond triggers a check of the tables.
    a.namespace.run('ip', '-6', 'route', 'add', 'fd00:99::77', 'dev', 'leon0', 'proto', '76',
                    'metric', '7', 'table', RED)
    only_in(a, RED, {'fd00:99::2'})
    no_trouble(a)


def test_nothing_is_left_of_a_killed_daemon(lab):
    """An interface outlives the daemon. The unit cleans up, and so does the next start."""
    with open(os.path.join(TOP, 'packaging/systemd/leond@.service'), encoding='ascii') as f:
        (after_stop,) = re.findall(r"^ExecStopPost=-/bin/sh -c '(.*)'$", f.read(), re.M)
    net = lab(exporting(['a', 'b']), start=False)
    a = net.node['a']
    a.namespace.ip('tuntap add leon0 mode tap multi_queue vnet_hdr')
    make_vrf(a)
    a.namespace.ip('link set leon0 master red')
    net.start()
    for name in net.node:
        address(net, name)
    net.joined()
    only_in(a, RED, hosts(2))
    a.kill()
    assert tables(a) == {RED: hosts(2)}
    a.namespace.run('sh', '-c', after_stop.replace('$$', '$').replace('%i', 'leon0'), check=False)
    assert not tables(a)
    # The same without the unit.
    net.start('a')
    net.joined()
    only_in(a, RED, hosts(2))
    a.kill()
    net.node['b'].stop()
    net.start('a')
    wait_for(lambda: not tables(a), FAR, 'stale routes are gone')


def test_the_underlay_does_not_go_by_the_table_of_a_vrf(lab):
    """Prefixes around the underlay are harmless in a VRF, so a node may announce any prefix. An
    address of the host in another VRF is harmless too."""
    prefixes = ['0.0.0.0/0', '198.18.0.0/16', '172.30.0.1/32']
    net = start(lab, announce(exporting(['a', 'b', 'c'], config={'import': {
        'prefix': {'0.0.0.0/0': {'le': 32}}, 'address': ['10.99.0.0/24']}}), 'b', *prefixes))
    a, c = net.node['a'], net.node['c']
    a.namespace.ip('link add lan0 type bridge', 'addr add 172.30.0.1/24 dev lan0',
                   'link set lan0 up')

    def refused():
        return {r['destination']: r['state'] for r in a.show('routes')['routes']
                if r['state'] != 'installed'}
    wait_for(lambda: refused().get('0.0.0.0/0') == 'underlay' and
             refused().get('172.30.0.1/32') == 'own', FAR, 'refused in the main table')
    make_vrf(a)
    enter_vrf(net, 'a', 'red')
    wait_for(lambda: tables(a) == {RED: {'10.99.0.2', '10.99.0.3', 'default', '198.18.0.0/16',
                                         '172.30.0.1'}}, FAR,
             'all of it is in the table of the VRF')
    # Nodes contact a silent node at its underlay address.
    net.wan.isolate('c')
    wait_for(lambda: a.state_of(c) == 'unreachable', FAR)
    net.wan.isolate('c', up=True)
    wait_for(lambda: a.state_of(c) == 'reachable', FAR)
    assert a.show('routes')['withheld'] == 0
    # In the main table, the prefix is refused again.
    a.namespace.ip('link set leon0 nomaster')
    address(net, 'a')
    wait_for(lambda: refused().get('0.0.0.0/0') == 'underlay' and
             refused().get('172.30.0.1/32') == 'own', FAR, 'refused in the main table')
    only_in(a, MAIN, {'10.99.0.2', '10.99.0.3'})


def test_bridge_in_a_vrf(lab):
    """leon0 is a port of br0, and br0 is in the VRF. Hosts and the router address share a segment,
    and no address is exported."""
    net = lab(merged(exporting(['a', 'b']), {'hosts': True})).joined()
    a = net.node['a'].namespace
    make_vrf(net.node['a'])
    a.sysctl('ipv6/conf/br0/disable_ipv6', 0)
    a.ip('link set br0 master red', 'addr add 10.10.200.1/16 dev br0',
         'addr add fd00:10::200:1/64 dev br0 nodad')
    net.settle_hosts('a', 'b')
    for router in ('10.10.200.1', 'fd00:10::200:1'):
        for host in net.host.values():
            wait_for(lambda h=host, r=router: h.ping(r), FAR, f'{host.name} reaches {router}')
    reaches(net.node['a'], net.host['b'].ip4, 'br0')
    assert not tables(net.node['a']) and not tables(net.node['a'], 'br0')
    assert 'bridge' in net.node['a'].show('routes')['reason']
    # leon0 moves from the bridge into the VRF.
    a.ip('link set leon0 nomaster')
    enter_vrf(net, 'a', 'red')
    net.node['b'].namespace.ip('link set leon0 nomaster')
    address(net, 'b')
    only_in(net.node['a'], RED, hosts(2))
    reaches(net.node['a'], '10.99.0.2')


def test_addresses_in_a_vrf_are_locators_only_where_leon_sends_from_it(lab):
    """b learns of a only through c, so the announced addresses of a must be reachable."""
    topology = line_up(3, hosts=False, seeds=['n2'])
    net = lab(topology, start=False)
    inside, outside = net.node['n0'], net.node['n1']
    for number, node in enumerate((inside, outside), 1):
        del node.config['source-address']
        node.config['node-id'] = f'10.0.0.{number}'
        make_vrf(node)
        node.namespace.ip('link add lan0 type bridge', f'addr add 10.5.0.{number}/24 dev lan0',
                          'link set lan0 up')
    # The underlay of one node is in the VRF. For the other node, a LAN is in the VRF.
    inside.config['source-interface'] = 'red'
    inside.namespace.ip('link set wan0 master red')
    outside.namespace.ip('link set lan0 master red')
    net.wan.set_neighbors()  # the kernel dropped the entries during the change
    net.start()
    net.joined()
    for node, address_ in ((inside, '198.18.0.1'), (outside, '198.18.0.2')):
        seen = net.node['n2'].nodes()[node.node_id]
        assert seen['locators'] == [f'{address_}:5366'] and seen['endpoint'] == f'{address_}:5366'
    assert inside.nodes()[outside.node_id]['link'] == 'up'


def test_a_prefix_is_announced_for_a_route_in_the_vrf(lab):
    net = start(lab, announce(exporting(['a', 'b']), 'b', '10.1.0.0/16', unconditional=False))
    b = net.node['b']

    def announced(wanted):
        wait_for(lambda: b.show('routes')['prefixes'][0]['announced'] == wanted, FAR,
                 f'announced: {wanted}')
    make_vrf(b)
    # As on VyOS: without the route, the main table serves destinations unknown to the VRF.
    b.namespace.ip(f'route add unreachable default metric 4278198272 table {RED}')
    enter_vrf(net, 'b', 'red')
    b.namespace.ip('route add blackhole 10.1.0.0/16')
    wait_for(lambda: b.show('routes')['table'] == RED, FAR)
    announced(False)
    b.namespace.ip(f'route add blackhole 10.1.0.0/16 table {RED}')
    announced(True)
    # The route in the main table is removed and added without effect here.
    b.namespace.ip('route del blackhole 10.1.0.0/16 table main')
    assert b.show('routes')['prefixes'][0]['announced']
    b.namespace.ip(f'route del blackhole 10.1.0.0/16 table {RED}',
                   'route add blackhole 10.1.0.0/16')
    announced(False)
    # Below a bridge, the VRF of the bridge counts.
    b.namespace.ip(f'route add blackhole 10.1.0.0/16 table {RED}', 'link add br9 type bridge',
                   'link set br9 master red', 'link set leon0 master br9',
                   'route del blackhole 10.1.0.0/16 table main')
    announced(True)


def test_node_id_is_taken_from_an_interface_of_the_vrf(lab):
    """source-interface names a VRF without an address."""
    net = lab(line_up(2, hosts=False), start=False)
    node = net.node['n1']
    expected = node.node_id
    make_vrf(node, 'under')
    node.namespace.ip('link set wan0 master under')
    node.config['source-interface'], node.config['source-address'] = 'under', []
    net.start('n0')
    node.launch()
    wait_for(lambda: node.show('identity')['node_id'] == expected, FAR, 'its node-id')
    wait_for(lambda: net.node['n0'].nodes().get(expected, {}).get('state') == 'reachable', FAR,
             'n0 reaches it')
