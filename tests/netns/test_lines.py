# SPDX-License-Identifier: GPL-2.0-or-later
"""Two lines of a site (doc/operations.md, Two lines). The second line of n0 is the site n0-2 of the
Internet, with the interface wan1."""
import socket
import time

import pytest

import wan
from lab import wait_for
from node import PATIENCE
from test_export import address, kernel, states
from test_status import status
from traffic import Bulk

RTT_MS = {'n0': 20, 'n0-2': 35}


def start(lab, other=None, first=True, lines=True, **keys):
    """n0 with two lines, and n1. The line `first` is the better line."""
    net = lab({'sites': {'n0': {'lines': lines}, 'n1': other or {}}, **keys}, start=False)
    for site, ms in RTT_MS.items():
        net.wan.rtt(site, 'n1', ms * wan.MS)
    net.start()
    net.joined()
    if first:
        wait_use(net, 'first', within=30)
    return net


def pairs(node):
    return node.show('lines')['pairs']


def in_use(node):
    """The pair in use: own line, number of the other node's line."""
    used = [p for p in pairs(node) if p['state'].startswith('in-use')]
    return (used[0]['line'], used[0]['peer_line']) if len(used) == 1 else None


def uses(net, line):
    """Both ends use this line of n0, and the other line answers."""
    number = {'first': 1, 'second': 2}[line]
    return in_use(net.node['n0']) == (line, 1) and in_use(net.node['n1']) == (None, number)


def standby(net):
    return all(any(p['state'] == 'standby' for p in pairs(n)) for n in net.node.values())


def wait_use(net, line, within=20):
    wait_for(lambda: uses(net, line) and standby(net), within, f'line {line} is used')


def wait_leave(net, line, within=10):
    wait_for(lambda: uses(net, line), within, f'line {line} is used')


def details(node):
    return [e['detail'] for e in node.events('link-line')]


def reasons(node):
    """Without begins and ends of a distribution, which the load of the machine may cause."""
    return [d for d in details(node) if 'distribution' not in d]


def notes(node):
    """Findings of `leonctl status` about lines."""
    return {n['id']: n['command'] for n in status(node)[1]['notes'] if n['id'].startswith('line-')}


def cut(net, line='n0', up=False):
    net.wan.both(line, 'n1', up=up)


def test_both_lines_are_measured_and_the_better_one_counts(lab):
    net = start(lab)
    shown = net.node['n0'].show('lines')
    assert [(line['name'], line['line_interface'], line['state'], line['links'])
            for line in shown['lines']] == [('first', 'wan0', 'present', 1), ('second', 'wan1', 'present', 0)]

    def measured(node):
        rtt = {p['state']: p['rtt_us'] / 1000 for p in pairs(node)}
        return RTT_MS['n0'] - 1 < rtt['in-use'] < RTT_MS['n0-2'] < rtt['standby'] + 1

    # Few answers of the standby pair have arrived, and a busy machine moves their mean.
    for node in net.node.values():
        wait_for(lambda n=node: measured(n), 20, 'both lines have their round-trip times')
    assert net.node['n1'].show('lines')['lines'] == []
    assert net.node['n0'].nodes()[net.node['n1'].node_id]['rtt_us'] < RTT_MS['n0-2'] * 1000
    text = net.node['n0'].leonctl('show', 'lines', json_output=False)
    assert 'second' in text and 'standby' in text and 'PEER LINE' in text
    assert notes(net.node['n0']) == {}
    text = net.node['n0'].leonctl('metrics', json_output=False)
    for value in ('leon_line_present{interface="leon0",line="second"} 1',
                  'leon_line_links{interface="leon0",line="second"} 0',
                  'line="first",peer_line="1"} 1', 'line="second",peer_line="1"} 0.'):
        assert value in text, value
    text = net.node['n1'].leonctl('metrics', json_output=False)
    assert 'leon_line_present' not in text and 'line="",peer_line="2"} 0.' in text


def test_a_dead_line_is_left_and_used_again(lab):
    net = start(lab)
    streams = net.streams('n0', 'n1')
    for s in streams:
        s.arrived(200)
    net.late_ms()

    def failures():
        return [len(node.events('link-down')) for node in net.node.values()]
    before = failures()
    cut(net)
    wait_leave(net, 'second')
    for s in streams:
        s.arrived(300)
    late_s = net.late_ms() / 1000
    assert failures() == before or late_s > 0.1
    ping = f'ping -c 3 -I wan0 {wan.ip4(1)}'
    wait_for(lambda: notes(net.node['n0']) == {'line-silent': ping}, 30, 'a note names the dead line')
    assert all('no answer' in reasons(node) for node in net.node.values())
    cut(net, up=True)
    wait_use(net, 'first', within=30)
    for node in net.node.values():
        assert reasons(node)[-1] == 'better'
    for s in streams:
        s.stop()
        delay = max(s.latency())
        late_s = max(late_s, net.late_ms() / 1000)
        print(f'delay {delay * 1000:.0f} ms, {s.lost} lost, {late_s} s late, stall {s.stall}')
        # 0.4 s on a quiet machine. Lateness delays each of three probes.
        assert delay < 0.4 * PATIENCE + s.stall + 3 * late_s
        assert not s.lost, 'the lost datagrams are sent again, and the change back loses nothing'
        assert len(s.order) == len(s.received), 'none arrives twice'


def test_tcp_survives_a_cut(lab):
    net = start(lab)
    net.settle_hosts('n0', 'n1')
    bulk = Bulk(net.host['n0'].namespace, net.host['n1'].namespace, net.host['n1'].ip4)
    try:
        wait_for(lambda: bulk.received > 1 << 20, 20, 'TCP runs')
        cut(net)
        wait_leave(net, 'second')
        before = bulk.received
        wait_for(lambda: bulk.received > before + (1 << 20), 20, 'TCP runs on the other line')
    finally:
        bulk.stop()


def rate_of(bulk, seconds=2):
    """The highest rate of some intervals, bytes a second. Other work on the machine lowers it."""
    best = 0
    for _ in range(3):
        before, since = bulk.received, time.monotonic()
        time.sleep(seconds)
        best = max(best, (bulk.received - before) / (time.monotonic() - since))
    return best


def test_bulk_uses_both_lines(lab):
    net = start(lab)
    for line in RTT_MS:
        net.wan.both(line, 'n1', rate_kbit=20000, queue_us=50 * wan.MS)
    net.settle_hosts('n0', 'n1')
    node, far = net.node['n0'], net.node['n1']
    bulk = Bulk(net.host['n0'].namespace, net.host['n1'].namespace, net.host['n1'].ip4)
    try:
        wait_for(lambda: all(p['distributed'] for p in pairs(node)), 30, 'bulk data is distributed')
        for _ in range(4):
            both = rate_of(bulk)
            if both > 1.3 * 20000 * 1000 / 8:
                break
        # The better line carries at most its rate.
        assert both > 1.3 * 20000 * 1000 / 8
        assert all(p['rate_kbits'] for p in pairs(node))
        assert node.show('statistics')['counters']['spread_tx'] and far.show('statistics')['counters']['held_rx']
        # The second line fails, and the first line continues.
        changes = len(details(node))
        cut(net, 'n0-2')
        wait_for(lambda: not any(p['distributed'] for p in pairs(node)), 20, 'one line is used')
        before = bulk.received
        wait_for(lambda: bulk.received > before + (1 << 20), 20, 'TCP runs on one line')
        assert uses(net, 'first') and details(node)[changes:] == ['no answer']
        begin, end = node.events('link-line')[-2:]
        assert begin['detail'] == 'distribution' and ' uses line first to ' in begin['text']
        assert ' and line second to ' in begin['text'] and 'second' not in end['text']
    finally:
        bulk.stop()


def test_an_outage_beside_bulk_is_no_data_loss(lab):
    net = start(lab)
    for line in RTT_MS:
        net.wan.both(line, 'n1', rate_kbit=8000, queue_us=50 * wan.MS)
    net.settle_hosts('n0', 'n1')
    node = net.node['n0']
    bulk = Bulk(net.host['n0'].namespace, net.host['n1'].namespace, net.host['n1'].ip4)
    try:
        for _ in range(2):
            wait_for(lambda: all(p['distributed'] for p in pairs(node)), 40, 'bulk data is distributed')
            cut(net, 'n0')
            wait_leave(net, 'second')
            before = bulk.received
            wait_for(lambda: bulk.received > before + (2 << 20), 20, 'TCP runs on one line')
            cut(net, 'n0', up=True)
            # The time of a comparison of sent and received data.
            before = bulk.received
            wait_for(lambda: bulk.received > before + (12 << 20), 60, 'TCP runs')
            assert 'data loss' not in reasons(node)
    finally:
        bulk.stop()


def test_the_automatic_shaper_adds_both_lines(lab):
    net = start(lab, config={'shaper': {'automatic': True}})
    for line in RTT_MS:
        net.wan.both(line, 'n1', rate_kbit=20000, queue_us=50 * wan.MS)
    net.settle_hosts('n0', 'n1')
    node = net.node['n0']

    def shown():
        return node.show('queues')['bottleneck']
    bulk = Bulk(net.host['n0'].namespace, net.host['n1'].namespace, net.host['n1'].ip4)
    try:
        wait_for(lambda: shown()['limit_kbits'], 60, 'the line in use has a limit')
        wait_for(lambda: all(p['distributed'] for p in pairs(node)), 30, 'bulk data is distributed')
        # Ten seconds with bandwidth probes, which see the queue of one line.
        before = bulk.received
        wait_for(lambda: bulk.received > before + (40 << 20), 60, 'TCP runs')
        assert shown()['capacity_kbits'] < 25000
        wait_for(lambda: shown()['limit_kbits'] > 1.3 * shown()['capacity_kbits'], 20, 'both lines count')
        assert any(rate_of(bulk) > 1.4 * 20000 * 1000 / 8 for _ in range(4))
    finally:
        bulk.stop()


def test_a_line_that_loses_distributed_data_is_avoided(lab):
    net = start(lab)
    node = net.node['n0']
    for line in RTT_MS:
        net.wan.both(line, 'n1', rate_kbit=8000, queue_us=50 * wan.MS)
    stream = net.stream('n0', 'n1', interval=0.001, size=1200)
    wait_for(lambda: 'distribution' in details(node), 30, 'the distribution is reported')
    net.node['n1'].namespace.run('nft', '-f', '-', input=f'''
        table netdev loss {{
            chain from {{ type filter hook ingress device "wan0" priority 0;
                          ip saddr {wan.ip4(2)} udp length 1000-1400 numgen random mod 10 < 2 drop; }}
        }}''')
    wait_for(lambda: 'data loss' in reasons(node), 60, 'the loss is reported')
    assert in_use(node) == ('first', 1) and not any(p['distributed'] for p in pairs(node))
    stream.stop()


def test_a_line_that_loses_is_left(lab):
    net = start(lab)
    stream = net.stream('n0', 'n1')
    net.wan.both('n0', 'n1', loss_permille=200)
    wait_leave(net, 'second', within=40)
    stream.stop()


def test_a_line_that_loses_data_but_no_probes_is_left_and_avoided(lab):
    net = start(lab)
    node = net.node['n0']
    stream = net.stream('n0', 'n1', interval=0.001, size=500)
    net.node['n1'].namespace.run('nft', '-f', '-', input=f'''
        table netdev loss {{
            chain from {{ type filter hook ingress device "wan0" priority 0;
                          ip saddr {wan.ip4(0)} udp length 500-700 numgen random mod 10 < 3 drop; }}
        }}''')
    wait_for(lambda: in_use(node) == ('second', 1), 40, 'the line is left')
    assert reasons(node)[-1] == 'data loss'
    before = len(reasons(node))
    # The probes of the first line show no loss, and would be better in 10 s.
    stream.arrived(15000, within=30)
    assert in_use(node) == ('second', 1) and len(reasons(node)) == before
    stream.stop()


def test_a_line_whose_address_goes_is_left_at_once(lab):
    net = start(lab)
    node = net.node['n0']
    stream = net.stream('n0', 'n1')
    node.namespace.ip(f'addr del {wan.ip4(0)}/16 dev wan0')
    wait_for(lambda: in_use(node) == ('second', 1), 10, 'the line is left')
    assert reasons(node)[-1] == 'source lost'
    (event,) = node.events('line-lost')
    assert event['text'] == 'line first cannot be used: the address is missing'
    lines = {line['name']: line for line in node.show('lines')['lines']}
    assert (lines['first']['state'], lines['first']['reason']) == ('lost', 'the address is missing')
    assert notes(node) == {'line-lost': 'ip address show dev wan0'}
    wait_leave(net, 'second')
    stream.arrived(100)
    node.namespace.ip(f'addr add {wan.ip4(0)}/16 dev wan0')
    net.wan.set_neighbors()
    wait_for(lambda: node.events('line-restored'), 10, 'its return is reported')
    wait_use(net, 'first', within=30)
    stream.stop()


def dial(node):
    """The interface up1 of the second line, which the test can delete: a bridge with wan1."""
    node.namespace.ip('link add up1 type bridge')
    connect_up1(node)


def connect_up1(node):
    node.namespace.ip('link set wan1 master up1', 'link set up1 up',
                      f'addr add {node.second}/16 dev up1',
                      f'neigh replace {wan.ip4(1)} lladdr {wan.mac(1)} dev up1 nud permanent')


def line_reason(node):
    return node.show('lines')['lines'][1]['reason']


def without_up1(lab):
    """The second line has the interface up1, which does not exist yet."""
    net = start(lab, first=False, lines={'first': {'interface': 'wan0'}, 'second': {'interface': 'up1'}})
    node = net.node['n0']
    node.namespace.ip(f'addr del {node.second}/16 dev wan1')
    assert {line['name']: line['reason'] for line in node.show('lines')['lines']} == \
        {'first': None, 'second': 'the interface is missing'}
    return net, node


def test_an_interface_that_comes_and_goes(lab):
    """A dial-up interface has another index after each dial-in, and is missing at the start."""
    net, node = without_up1(lab)
    for _ in range(2):
        dial(node)
        wait_use(net, 'first', within=30)
        cut(net)
        wait_leave(net, 'second')
        cut(net, up=True)
        wait_use(net, 'first', within=30)
        node.namespace.ip('link del up1')
        wait_for(lambda: line_reason(node) == 'the interface is missing', 10)


def test_an_interface_that_refuses_first(lab):
    """Another program has the port of the new interface temporarily."""
    net, node = without_up1(lab)
    node.namespace.ip('link add up0 type bridge')
    with node.namespace:
        other = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
    other.setsockopt(socket.SOL_SOCKET, socket.SO_BINDTODEVICE, b'up0')
    other.bind(('', 5366))
    node.namespace.ip('link set up0 name up1')
    wait_for(lambda: 'line second cannot use interface up1' in node.log(), 10, 'refused')
    connect_up1(node)
    # Two attempts without an event of the interface.
    time.sleep(2.5)
    assert line_reason(node) == 'the interface cannot be used'
    assert node.log().count('line second cannot use interface up1') == 1
    other.close()
    wait_use(net, 'first', within=30)


def test_the_second_line_joins_alone(lab):
    net = lab({'sites': {'n0': {'lines': True}, 'n1': {}}}, start=False)
    cut(net)
    net.start()
    net.joined()
    wait_leave(net, 'second')


def test_addresses_as_lines(lab):
    """Lines by address follow the rules of the host."""
    net = lab({'sites': {'n0': {'lines': {'first': {'address': wan.ip4(0)}, 'second': {'address': wan.ip4(2)}}},
                         'n1': {}}}, start=False)
    node = net.node['n0']
    node.config.pop('node-id')
    node.config['node-id'] = wan.ip4(0)
    node.namespace.ip('route add 198.18.0.0/16 dev wan1 table 7', f'rule add from {wan.ip4(2)} lookup 7')
    for site, ms in RTT_MS.items():
        net.wan.rtt(site, 'n1', ms * wan.MS)
    net.start()
    net.joined()
    wait_use(net, 'first', within=30)
    cut(net)
    wait_leave(net, 'second')


def test_an_imported_prefix_does_not_swallow_the_standby_line(lab):
    """n0 announces the address of its second line, which is no configured address of a peer."""
    net = start(lab, {'config': {'overlay-address': ['10.99.0.2'],
                                 'import': {'prefix': {'0.0.0.0/0': {'le': 32}}}}}, hosts=False)
    a, b = net.node['n0'], net.node['n1']
    address(net, 'n1')
    second = f'{a.second}/32'
    a.reload(overlay_address=['10.99.0.1'],
             export={'unconditional': {}, 'prefix': [second, '203.0.113.0/24']})
    wait_for(lambda: '203.0.113.0/24' in kernel(b), 10, 'the other prefix is a route')
    assert states(b)[(second, a.node_id)] == 'underlay'
    assert second not in kernel(b)


def test_an_imported_prefix_does_not_keep_the_second_line_out(lab):
    """n1 has the route before the first PING from the second line of n0."""
    net = lab({'sites': {'n0': {'lines': True}, 'n1': {}}, 'hosts': False}, start=False)
    a, b = net.node['n0'], net.node['n1']
    second = f'{a.second}/32'
    a.config.update({'overlay-address': ['10.99.0.1'],
                     'export': {'unconditional': {}, 'prefix': [second]}})
    b.config.update({'overlay-address': ['10.99.0.2'],
                     'import': {'prefix': {'0.0.0.0/0': {'le': 32}}}})
    cut(net, 'n0-2')
    net.start()
    net.joined()
    address(net, 'n1')
    wait_for(lambda: second in kernel(b), 10, 'n1 has the route')
    cut(net, 'n0-2', up=True)
    wait_for(lambda: states(b)[(second, a.node_id)] == 'underlay', 10, 'the route is withdrawn')
    wait_for(lambda: standby(net), 20, 'the second line answers')


def test_both_sites_have_two_lines(lab):
    net = lab({'sites': {'n0': {'lines': True}, 'n1': {'lines': True}}}, start=False)
    ms = {('n0', 'n1'): 20, ('n0', 'n1-2'): 40, ('n0-2', 'n1'): 60, ('n0-2', 'n1-2'): 80}
    for (a, b), rtt in ms.items():
        net.wan.rtt(a, b, rtt * wan.MS)
    net.start()
    net.joined()

    def best(line, theirs):
        def all_know():
            return all(len(pairs(n)) == 4 and in_use(n) in ((line, theirs), None) for n in net.node.values())
        return all_know
    wait_for(best('first', 1), 40, 'four pairs, the best in use')
    cut_pair = net.wan.both
    cut_pair('n0', 'n1', up=False)
    wait_for(lambda: in_use(net.node['n0']) == ('first', 2) and in_use(net.node['n1']) == ('second', 1), 20,
             'the second best pair')
    # One line of n0 is dead.
    cut_pair('n0', 'n1-2', up=False)
    wait_for(lambda: in_use(net.node['n0']) == ('second', 1) and in_use(net.node['n1']) == ('first', 2), 20,
             'the other line')


@pytest.mark.parametrize('kind', ['port-restricted', 'symmetric'])
def test_a_peer_behind_nat(lab, kind):
    """The NAT of n1 passes only answers: n1 must send to the second line first."""
    net = start(lab, other={'nat': kind}, seeds=['n0'])
    cut(net)
    wait_leave(net, 'second')


def test_a_node_that_restarts_on_the_other_line(lab):
    net = start(lab)
    cut(net)
    wait_leave(net, 'second')
    before = net.lives('n0')
    net.node['n0'].kill()
    net.start('n0')
    net.back('n0', before)
    wait_leave(net, 'second')
    cut(net, up=True)
    wait_use(net, 'first', within=30)
