# SPDX-License-Identifier: GPL-2.0-or-later
"""Membership of the overlay: join, leave, failure, return (design.md 3.1, 4 "Consistency")."""
import os

import pytest

import wan
from lab import PATIENT, line_up, wait_for

GONE = (None, 'left')


def states(net, of, seen_by=None):
    return [net.node[n].state_of(net.node[of]) for n in seen_by or net.node
            if n != of and net.node[n].alive()]


def wait_gone(net, name, within=10, seen_by=None):
    wait_for(lambda: all(s in GONE for s in states(net, name, seen_by)), within,
             f'all have forgotten {name}')


def wait_unreachable(net, name, within=10, seen_by=None):
    wait_for(lambda: all(s in (*GONE, 'unreachable') for s in states(net, name, seen_by)), within,
             f'all take {name} for unreachable')


def move(net, name, address):
    """The provider gives the site another address."""
    number = list(net.node).index(name)
    net.node[name].namespace.ip(f'addr del {wan.ip4(number)}/16 dev wan0',
                                f'addr add {address}/16 dev wan0')
    net.wan.set_neighbors([(address, number)])


def test_join_through_any_one_member(lab):
    # A chain of seeds: n1 knows n0, n2 knows n1, n3 knows n2. Finally each node knows all nodes.
    sites = {f'n{i}': {'config': {'peer': {'seed': {'address': wan.ip4(i - 1)}} if i else {}}}
             for i in range(4)}
    lab({'sites': sites, 'seeds': [], 'hosts': False}).joined()


def test_leave_is_forgotten_at_once_with_all_that_hangs_on_it(lab):
    net = lab(line_up(3)).joined()
    net.settle_hosts('n0', 'n2')
    left = net.node['n2']
    assert any(e['node_id'] == left.node_id for e in net.node['n0'].fdb().values())
    left.stop()
    # A silent node would be unreachable first and removed after `member forget-time`.
    wait_gone(net, 'n2')

    def hangs_on_it(node):
        """State of other nodes about the departed node may arrive later than the leave."""
        return [*(e for e in node.fdb().values() if e['node_id'] == left.node_id),
                *(row for row in node.show('latency')['rows'] if row['origin'] == left.node_id),
                *((node.paths().get(left.node_id) or {}).get('hops') or ())]
    for name in ('n0', 'n1'):
        wait_for(lambda n=name: not hangs_on_it(net.node[n]), 10, f'{name} has nothing of it left')


def test_failed_node_is_unreachable_first_and_forgotten_later(lab):
    net = lab(line_up(3, config={'member': {'forget-time': 20}})).joined()
    net.settle_hosts('n0', 'n2')
    net.node['n2'].kill()
    wait_unreachable(net, 'n2', within=10)
    wait_for(lambda: not any(e['node_id'] == net.node['n2'].node_id
                             for e in net.node['n0'].fdb().values()), 10, 'its MACs are forgotten')
    wait_gone(net, 'n2', within=40)


def test_death_of_the_bootstrap_node_hurts_nobody(lab):
    net = lab(line_up(4, seeds=['n0'], hosts=False, config=PATIENT)).joined()
    net.node['n0'].kill()
    wait_unreachable(net, 'n0')
    assert net.full_mesh()
    net.start('n0')
    net.joined()


def test_join_when_the_first_seed_is_dead(lab):
    net = lab(line_up(3, hosts=False), start=False)
    net.start('n1')
    net.start('n2')
    net.joined()


def test_several_nodes_die_at_once(lab):
    net = lab(line_up(6, hosts=False, config=PATIENT)).joined()
    for name in ('n0', 'n2', 'n4'):
        net.node[name].kill()
    for name in ('n0', 'n2', 'n4'):
        wait_unreachable(net, name)
    assert net.full_mesh()


def test_killed_node_that_comes_back_at_once_is_taken_back(lab):
    net = lab(line_up(3)).joined()
    net.node['n2'].kill()
    net.start('n2')
    net.joined()
    net.settle_hosts('n0', 'n2')


def test_partition_heals(lab):
    net = lab(line_up(4, seeds=['n0'], hosts=False, config=PATIENT)).joined()
    net.wan.partition(['n0', 'n1'])
    wait_unreachable(net, 'n2', seen_by=['n0', 'n1'])
    wait_unreachable(net, 'n0', seen_by=['n2', 'n3'])
    assert net.full_mesh(['n0', 'n1']) and net.full_mesh(['n2', 'n3'])
    net.wan.partition(['n0', 'n1'], up=True)
    net.joined()


def test_partition_longer_than_forget_time_heals(lab):
    net = lab(line_up(4, seeds=['n0'], hosts=False, config={'member': {'forget-time': 2}})).joined()
    net.wan.partition(['n0', 'n1'])
    wait_gone(net, 'n2', within=15, seen_by=['n0', 'n1'])
    wait_gone(net, 'n0', within=15, seen_by=['n2', 'n3'])
    net.wan.partition(['n0', 'n1'], up=True)
    net.joined(within=60)


def test_node_returns_with_another_address(lab):
    fixed = {'config': {'node-id': '10.0.0.3'}}
    net = lab({'sites': {'n0': {}, 'n1': {}, 'n2': fixed}, 'hosts': False}).joined()
    moved, address = net.node['n2'], '198.18.7.7'
    moved.kill()
    move(net, 'n2', address)
    moved.config['source-address'] = [address]
    net.start('n2')
    net.joined()
    # A node may still report the dead incarnation as reachable.
    for name in ('n0', 'n1'):
        wait_for(lambda n=name: net.node[n].nodes()['10.0.0.3']['endpoint'] == f'{address}:5366', 30,
                 f'{name} reaches it at its new address')


def test_running_node_whose_address_changes_is_followed(lab):
    roaming = {'config': {'node-id': '10.0.0.3', 'source-interface': 'wan0', 'source-address': []}}
    net = lab({'sites': {'n0': {}, 'n1': {}, 'n2': roaming}, 'hosts': False}).joined()
    address = '198.18.7.7'
    move(net, 'n2', address)
    for name in ('n0', 'n1'):
        wait_for(lambda n=name: net.node[n].nodes()['10.0.0.3']['endpoint'] == f'{address}:5366'
                 and net.node[n].state_of(net.node['n2']) == 'reachable', 15,
                 f'{name} reaches the new address')


def test_ipv6_underlay(lab):
    net = lab(line_up(3, underlay='v6')).joined()
    net.settle_hosts('n0', 'n2')
    assert all(n['endpoint'].startswith('[2001:db8:0:1::') for n in net.node['n0'].nodes().values()
               if n['state'] != 'self')


def test_dual_stack_node_joins_an_ipv4_and_an_ipv6_site(lab):
    net = lab({'sites': {'both': {}, 'old': {'v6': False}, 'new': {'v4': False}},
               'underlay': 'dual', 'seeds': ['both']}).joined()
    net.settle_hosts('old', 'new')
    # No other path connects both nodes.
    net.wait_path('old', 'new', ['both', 'new'])


def test_seed_with_a_dns_name_found_again_when_it_moves(lab):
    net = lab(line_up(2, seeds=['n0'], hosts=False), start=False)
    hosts = os.path.join(net.directory, 'hosts')

    def resolves_to(address):
        with open(hosts, 'w', encoding='ascii') as f:
            f.write(f'127.0.0.1 localhost\n{address} seed.leon.example\n')
    resolves_to('198.18.99.99')  # no node answers there yet
    node = net.node['n1']
    node.config['peer'] = {'seed': {'address': 'seed.leon.example'}}
    node.prepare = node.namespace.bind_over(hosts, '/etc/hosts')
    net.start()
    assert not net.full_mesh()
    resolves_to(wan.ip4(0))
    net.joined(within=60)


@pytest.mark.parametrize('behind', [['n2'], ['n1', 'n2']])
def test_nat_is_survived(lab, behind):
    sites = {f'n{i}': {'nat': f'n{i}' in behind} for i in range(3)}
    net = lab({'sites': sites, 'seeds': ['n0']}).joined()
    for a in sites:
        for b in sites:
            if a != b:
                net.settle_hosts(a, b)
    # Other nodes see the address of the NAT.
    for i, name in enumerate(sites):
        if name in behind:
            node = net.node['n0'].nodes()[net.node[name].node_id]
            assert node['endpoint'].startswith(wan.ip4(i) + ':')
    # The learned external address lets both nodes communicate without a relay.
    for name in behind:
        wait_for(lambda n=name: net.hops(n, 'n0') == ['n0'], 5)
    if len(behind) == 2:
        net.wait_path(*behind, [behind[1]])


@pytest.mark.parametrize('kind, other, direct', [
    ('full-cone', 'full-cone', True), ('restricted', 'restricted', True),
    ('symmetric', 'full-cone', True), ('symmetric', 'restricted', True),
    ('symmetric', 'port-restricted', False), ('symmetric', 'symmetric', False)])
def test_two_nats(lab, kind, other, direct):
    """Two nodes behind NATs communicate, directly or through the node with a public address."""
    net = lab({'sites': {'n0': {}, 'n1': {'nat': kind}, 'n2': {'nat': other}},
               'seeds': ['n0']}).joined()
    net.settle_hosts('n1', 'n2')
    net.wait_path('n1', 'n2', ['n2'] if direct else ['n0', 'n2'])
    net.wait_path('n2', 'n1', ['n1'] if direct else ['n0', 'n1'])
    link = net.node['n1'].nodes()[net.node['n2'].node_id]['link']
    assert link == ('up' if direct else 'down')


def test_wrong_secret_stays_outside(lab):
    wrong = {'config': {'authentication': {'pre-shared-secret': 'something else entirely'}}}
    net = lab({'sites': {'n0': {}, 'n1': {}, 'n2': wrong}, 'seeds': ['n0', 'n1', 'n2']})
    net.joined(names=['n0', 'n1'])
    outsider = net.node['n2']

    def refused():
        return net.node['n0'].statistics()['control']['rx_not_authentic'] > 2
    wait_for(refused, 15, 'datagrams of the wrong secret are counted')
    for name in ('n0', 'n1'):
        assert net.node[name].state_of(outsider) in (None, 'known')
        assert net.node[name].node_id not in [n['node_id'] for n in outsider.nodes().values()
                                              if n['state'] == 'reachable']
    assert not net.host['n2'].ping(net.host['n0'].ip4, within=0.5)
    # Each node is a configured peer of the other, so both report the cause.
    for node in (net.node['n0'], outsider):
        wait_for(lambda n=node: n.events('secret-mismatch'), 15, f'{node.name} says why')


def test_without_secret_only_peers_and_whom_they_introduce(lab):
    # n0, n1 and n2 have each other as peers, and n3 has all three. No node has n3.
    peer = {n: {'address': wan.ip4(int(n[1]))} for n in ('n0', 'n1', 'n2')}
    sites = {'n0': {'config': {'peer': {'n1': peer['n1'], 'n2': peer['n2']}}},
             'n1': {'config': {'peer': {'n0': peer['n0'], 'n2': peer['n2']}}},
             'n2': {'config': {'peer': {'n1': peer['n1'], 'n0': peer['n0']}}},
             'n3': {'config': {'peer': peer}}}
    net = lab({'sites': sites, 'seeds': [], 'secret': None, 'hosts': False})
    net.joined(names=['n0', 'n1', 'n2'])
    stranger = net.node['n3']
    wait_for(lambda: net.node['n0'].statistics()['control']['rx_stranger'] > 2, 15,
             'the stranger is counted')
    assert not any(n['state'] == 'reachable' for n in stranger.nodes().values())
    assert stranger.node_id not in net.node['n0'].nodes()
