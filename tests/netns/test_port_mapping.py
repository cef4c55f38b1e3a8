# SPDX-License-Identifier: GPL-2.0-or-later
"""Port mapping at a gateway with NAT (doc/operations.md, Port mapping). Gateways are real ones by
miniupnpd, and servers of the test that refuse, lie or send garbage."""
import os
import signal
import socket
import struct

import pytest

from gateway import (HTTP_PORT, LAN, MINIUPNPD, Gateway, NatPmp, Upnp, description, granting, locators, mapping, own_public_addresses,
                     public, wait_state)
from lab import wait_for
from test_confinement import is_sanitized
from test_status import status, wait_note

needs_gateway = pytest.mark.skipif(not MINIUPNPD, reason='needs miniupnpd')
PORT = 5366
# Half of the lifetime is the interval of checks.
SHORT = {'port-mapping': {'lifetime': 10}}
KINDS = {'nat-pmp': {'upnp': False}, 'upnp': {'natpmp': False}}


def behind(lab, config=None, **keys):
    """n0 has a public address and relays nothing; n1 is behind a NAT."""
    net = lab({'sites': {'n0': {'config': {'transit': {'disable': True}}},
                         'n1': {'nat': 'symmetric', 'config': {'port-mapping': {}} if config is None else config}},
               'seeds': ['n0'], 'hosts': False, **keys}, start=False)
    own_public_addresses(net)
    return net


def pair(lab, config):
    """n1 and n2 are behind NATs that filter by address and port and have another port for each
    destination. n0 introduces both nodes, and relays no data."""
    site = {'nat': 'symmetric', 'config': config}
    net = lab({'sites': {'n0': {'config': {'transit': {'disable': True}}}, 'n1': site, 'n2': site},
               'seeds': ['n0'], 'hosts': False}, start=False)
    own_public_addresses(net)
    return net


def child(node):
    with open(f'/proc/{node.process.pid}/task/{node.process.pid}/children', encoding='ascii') as f:
        (pid,) = f.read().split()
    return int(pid)


def link(a, b):
    return a.nodes().get(b.node_id, {}).get('link')


def meet(net, a='n1', b='n2', within=20):
    """Both nodes have a direct link to each other."""
    a, b = net.node[a], net.node[b]
    wait_for(lambda: link(a, b) == link(b, a) == 'up', within,
             f'{a.name} and {b.name} have a direct link')
    wait_for(lambda: a.hops(b) == [b.node_id] and b.hops(a) == [a.node_id], within, 'direct paths')


@needs_gateway
@pytest.mark.parametrize('kind', KINDS)
def test_two_symmetric_nats_have_a_direct_link(lab, kind):
    net = pair(lab, {'port-mapping': {}})
    gateways = [Gateway(net, name, **KINDS[kind]).start() for name in ('n1', 'n2')]
    net.start()
    for name, gateway in zip(('n1', 'n2'), gateways):
        node = net.node[name]
        seen = wait_state(node, 'mapped')
        assert (seen['protocol'], seen['gateway'], seen['external'], seen['reason']) == \
            (kind, '192.168.77.1', f'{public(net, name)}:{PORT}', None)
        assert 3500 <= seen['expires_seconds'] <= 3600
        assert gateway.mappings() == {PORT: ('192.168.77.2', PORT)}
        assert [e['detail'] for e in node.events('port-mapped')] == [seen['external']]
        wait_for(lambda: seen['external'] in locators(net.node['n0'], node), 10, 'in the record')
        assert net.node['n0'].nodes()[node.node_id]['behind_nat']
    meet(net)
    # A stop removes the mapping.
    net.node['n1'].stop()
    wait_for(lambda: gateways[0].mappings() == {}, 10, 'the mapping is removed')


def test_without_mapping_they_have_none(lab):
    """The same sites without `port-mapping`: no direct link exists without the mapping."""
    net = pair(lab, {})
    net.start()
    net.joined(names=['n0', 'n1'])
    net.joined(names=['n0', 'n2'])
    a, b = net.node['n1'], net.node['n2']
    wait_for(lambda: a.nodes().get(b.node_id, {}).get('locators'), 10, 'n1 knows n2')
    rounds = net.node['n0'].statistics()['control']['tx_messages']
    wait_for(lambda: net.node['n0'].statistics()['control']['tx_messages'] > rounds + 50, 20, 'time passes')
    assert link(a, b) != 'up' and a.hops(b) is None
    assert mapping(a) is None and not a.events('port-mapped')


@needs_gateway
def test_no_third_node_is_needed(lab):
    """Each node has the mapped address of the other one in its configuration."""
    sites = {f'n{i}': {'nat': 'symmetric', 'config': {'port-mapping': {}}} for i in range(2)}
    net = lab({'sites': sites, 'hosts': False}, start=False)
    own_public_addresses(net)
    for name, other in (('n0', 'n1'), ('n1', 'n0')):
        net.node[name].config['peer'] = {other: {'address': public(net, other)}}
        Gateway(net, name).start()
    net.start()
    net.joined()
    meet(net, 'n0', 'n1')


@needs_gateway
@pytest.mark.parametrize('kind', KINDS)
def test_a_restarted_gateway_gets_the_mapping_again(lab, kind):
    net = behind(lab, SHORT)
    gateway = Gateway(net, 'n1', **KINDS[kind]).start()
    net.start()
    node = net.node['n1']
    external = wait_state(node, 'mapped')['external']
    gateway.stop()
    gateway.start()
    wait_for(gateway.mappings, 15, 'the gateway has the mapping again')
    assert wait_state(node, 'mapped')['external'] == external
    assert not node.events('port-mapping-lost')


@needs_gateway
def test_the_gateway_ends(lab):
    net = behind(lab, SHORT)
    gateway = Gateway(net, 'n1').start()
    net.start()
    net.joined()
    node = net.node['n1']
    external = wait_state(node, 'mapped')['external']
    wait_for(lambda: external in locators(net.node['n0'], node), 10, 'announced')
    gateway.stop()
    lost = wait_for(lambda: node.events('port-mapping-lost'), 20, 'reported')
    assert lost[0]['detail'] == external and 'NAT-PMP: no service at the gateway' in lost[0]['text']
    seen = mapping(node)
    assert (seen['state'], seen['external'], seen['protocol']) == ('failed', None, None)
    assert seen['failures'] > 0


@needs_gateway
@pytest.mark.parametrize('kind', KINDS)
def test_another_external_port(lab, kind):
    """Another host of the LAN has the port, so the gateway assigns another port, and nodes use this
    port."""
    net = pair(lab, {'port-mapping': {}})
    net.node['n1'].namespace.ip('addr add 192.168.77.3/24 dev wan0')
    gateways = {}
    for name in ('n1', 'n2'):
        more = [f'deny {PORT} 192.168.77.0/24 0-65535'] if name == 'n1' and kind == 'nat-pmp' else []
        gateways[name] = Gateway(net, name, lines=more, **KINDS[kind]).start()
    if kind == 'upnp':
        gateways['n1'].occupy(PORT, '192.168.77.3')
    net.start()
    external = wait_state(net.node['n1'], 'mapped')['external']
    host, port = external.split(':')
    assert host == public(net, 'n1') and int(port) != PORT
    assert gateways['n1'].mappings()[int(port)] == ('192.168.77.2', PORT)
    meet(net)


@needs_gateway
def test_the_gateway_has_no_public_address(lab):
    """Its external address is private: a second NAT follows."""
    net = behind(lab)
    Gateway(net, 'n1', ext_ip=None).start()
    net.start()
    node = net.node['n1']
    seen = wait_state(node, 'failed')
    assert 'NAT-PMP: the gateway has no public address' in seen['reason']
    (event,) = node.events('port-mapping-refused')
    assert event['detail'] == seen['reason']
    wait_note(node, 'no-port-mapping', 'gives no port mapping')
    assert mapping(node)['external'] is None


def test_a_private_external_address_is_not_announced(lab, keep):
    """leond does not trust the gateway."""
    net = behind(lab, SHORT)
    keep(NatPmp(net.router['n1'], granting('100.64.7.7')))
    net.start()
    net.joined()
    node = net.node['n1']
    seen = wait_state(node, 'private')
    assert '100.64.7.7 is no public address' in seen['reason']
    refused = wait_for(lambda: node.events('port-mapping-refused'), 20, 'reported')
    assert len(refused) == 1 and '100.64.7.7' in refused[0]['text']
    assert not any(a.startswith('100.64.') for a in locators(net.node['n0'], node))
    assert not node.events('port-mapped')


def test_a_reserved_address_that_others_see_is_announced(lab, keep):
    """A private underlay: its addresses are not those of the Internet, but a node sees this node
    there."""
    net = behind(lab, SHORT)
    keep(NatPmp(net.router['n1'], granting('198.18.0.2', port=6000)))
    net.start()
    net.joined()
    wait_state(net.node['n1'], 'mapped')
    wait_for(lambda: '198.18.0.2:6000' in locators(net.node['n0'], net.node['n1']), 10, 'announced')


def test_the_external_address_changes(lab, keep):
    net = behind(lab, SHORT)
    server = keep(NatPmp(net.router['n1'], granting('44.1.1.1')))
    net.start()
    node = net.node['n1']
    wait_for(lambda: mapping(node)['external'] == f'44.1.1.1:{PORT}', 15, 'the first address')
    server.answer = granting('44.1.1.2', port=7000)
    wait_for(lambda: mapping(node)['external'] == '44.1.1.2:7000', 15, 'the second address')
    assert [e['detail'] for e in node.events('port-mapped')] == [f'44.1.1.1:{PORT}', '44.1.1.2:7000']
    assert [e['detail'] for e in node.events('port-mapping-lost')] == [f'44.1.1.1:{PORT}']
    assert '44.1.1.1' not in ' '.join(locators(node))


def test_the_lease_ends_without_an_answer(lab, keep):
    net = behind(lab)
    server = keep(NatPmp(net.router['n1'], granting('44.1.1.1', lifetime=2)))
    net.start()
    node = net.node['n1']
    wait_state(node, 'mapped')
    server.answer = lambda opcode, request: []
    wait_for(lambda: node.events('port-mapping-lost'), 15, 'the lease ended')
    assert mapping(node)['external'] is None and f'44.1.1.1:{PORT}' not in locators(node)
    server.answer = granting('44.1.1.1', lifetime=2)
    wait_state(node, 'mapped')


GARBAGE = {
    'random': lambda opcode, request: [os.urandom(n) for n in (1, 2, 8, 12, 16, 60)],
    'PCP only': lambda opcode, request: [struct.pack('!BBHI', 2, 128 + opcode, 1, 1)],
    'refused': granting('44.1.1.1', result=2),
}


def test_garbage_maps_nothing(lab, keep):
    """One node receives each of the answers, and then a correct answer. test_natpmp.c has more
    answers."""
    net = behind(lab, SHORT)
    server = keep(NatPmp(net.router['n1'], lambda opcode, request: []))
    net.start()
    node = net.node['n1']
    for number, (name, answer) in enumerate(GARBAGE.items()):
        server.answer = answer
        # A changed configuration is requested at once.
        node.reload(port_mapping={'lifetime': 20 + number})
        before = mapping(node)['reports']
        seen = wait_for(lambda: mapping(node)['reports'] > before and mapping(node), 20, name)
        assert (seen['state'], seen['external']) == ('failed', None), name
    # A failure is reported once.
    assert len(node.events('port-mapping-refused')) == 1
    server.answer = granting('44.1.1.1')
    wait_state(node, 'mapped', 20)


def test_a_host_that_is_no_gateway_directs_nothing(lab, keep):
    """Another host of the LAN answers the search with its own address. Then the host answers in the
    name of the gateway, and the description names the host."""
    net = behind(lab, SHORT)
    net.router['n1'].ip('addr add 192.168.77.3/24 dev lan0')
    host, gateway = f'http://192.168.77.3:{HTTP_PORT}', f'http://{LAN}:{HTTP_PORT}'
    other = keep(Upnp(net.router['n1'], '192.168.77.3', f'{host}/root.xml',
                      lambda path: description(f'{host}/control')))
    net.start()
    node = net.node['n1']
    seen = wait_state(node, 'failed')
    assert 'UPnP: the default gateway does not answer, another device does' in seen['reason']
    lies = {'control': description(f'{host}/control'),
            'base': description('/control', f'<URLBase>{host}/</URLBase>'),
            'no XML': os.urandom(5000)}
    other.close()
    other.close = lambda: None
    answers = iter(lies.values())
    server = keep(Upnp(net.router['n1'], LAN, f'{gateway}/root.xml', lambda path: next(answers)))
    with net.router['n1'], socket.create_server(('192.168.77.3', HTTP_PORT)) as trap:
        trap.settimeout(0)
        for number, name in enumerate(lies):
            before = mapping(node)['reports']
            node.reload(port_mapping={'lifetime': 20 + number})
            wait_for(lambda: mapping(node)['reports'] > before, 20, name)
            assert 'UPnP: the description of the gateway is invalid' in mapping(node)['reason'], name
        with pytest.raises(BlockingIOError):
            trap.accept()
    assert server.paths == ['/root.xml'] * len(lies)


@pytest.mark.skipif(is_sanitized(), reason='with sanitizers, leon-portmap has no limit of memory')
def test_an_endless_answer_ends_the_program_only(lab, keep):
    def endless(path):
        while True:
            yield b'x' * (1 << 20)

    net = behind(lab, SHORT)
    server = keep(Upnp(net.router['n1'], LAN, f'http://{LAN}:{HTTP_PORT}/root.xml', endless))
    net.start()
    net.joined()
    node = net.node['n1']
    wait_for(lambda: server.paths, 15, 'the description is read')
    wait_for(lambda: mapping(node)['failures'], 20, 'the attempt ended')
    assert mapping(node)['external'] is None and node.alive()


def test_the_program_dies_and_the_mapping_stays(lab, keep):
    net = behind(lab, SHORT)
    server = keep(NatPmp(net.router['n1'], granting('44.1.1.1', lifetime=30)))
    net.start()
    node = net.node['n1']
    wait_state(node, 'mapped')
    asked = len(server.requests)
    os.kill(child(node), signal.SIGKILL)
    wait_for(lambda: 'leon-portmap ended' in node.log(), 10, 'logged')
    wait_for(lambda: len(server.requests) > asked, 20, 'requested again')
    assert mapping(node)['state'] == 'mapped' and not node.events('port-mapping-lost')


def test_reload_adds_and_removes_it(lab, keep):
    net = behind(lab, {})
    server = keep(NatPmp(net.router['n1'], granting('44.1.1.1')))
    net.start()
    node = net.node['n1']
    assert mapping(node) is None and not server.requests
    assert node.reload(port_mapping={})['changes'] == ['port-mapping']
    external = wait_state(node, 'mapped')['external']
    assert node.reload(port_mapping=None)['changes'] == ['port-mapping']
    assert mapping(node) is None and external not in locators(node)
    # The last request has a lifetime of 0.
    wait_for(lambda: server.requests[-1][8:12] == bytes(4), 10, 'removed')
    assert [e['detail'] for e in node.events('port-mapping-lost')] == [external]


def test_a_public_address_needs_none(lab, keep):
    net = behind(lab, {})
    node = net.node['n1']
    server = keep(NatPmp(net.router['n1'], granting('44.1.1.1')))
    net.router['n1'].ip('addr add 44.9.9.1/24 dev lan0')
    node.namespace.ip('addr add 44.9.9.2/24 dev wan0', 'route replace default via 44.9.9.1')
    node.config.update({'source-address': ['44.9.9.2'], 'port-mapping': {}})
    net.start()
    wait_state(node, 'public-address')
    assert not server.requests
    assert 'no-port-mapping' not in status(node)[1]


def test_the_route_changes(lab, keep):
    """No route: no gateway. The route returns: a mapping."""
    net = behind(lab, SHORT)
    keep(NatPmp(net.router['n1'], granting('44.1.1.1')))
    net.start()
    node = net.node['n1']
    wait_state(node, 'mapped')
    node.namespace.ip('route del default')
    seen = wait_state(node, 'no-gateway')
    assert seen['external'] is None
    assert len(node.events('port-mapping-lost')) == 1
    node.namespace.ip('route add default via 192.168.77.1')
    wait_state(node, 'mapped')


HOSTILE = """#!/usr/bin/python3
import os, socket, struct, sys, time
leond = socket.socket(fileno=3)
number = struct.unpack_from('=III', leond.recv(1000))[2]
sent = open('{0}', 'a')
def report(news, method, address, length=None):
    ep = bytes([4, *address]) + bytes(13) + struct.pack('=H', 7000)
    text = struct.pack('=IIIII', 1, number, news, method, 60) + ep + bytes([10]) * 160
    socket.send_fds(leond, [text[:length]], [0])
try:
    {1}
finally:
    sent.write('x')
    sent.flush()
time.sleep(60)
"""


@pytest.mark.parametrize('deed', [
    'for i in range(10000): report(0, 1, (44, 1, i >> 8 & 255, i & 255))', 'report(0, 1, (44, 1, 1, 1), 50)',
], ids=['flood', 'short'])
def test_leond_survives_a_program_that_was_taken_over(lab, tmp_path, deed):
    program = tmp_path / 'hostile'
    program.write_text(HOSTILE.format(tmp_path / 'sent', deed))
    program.chmod(0o755)
    net = behind(lab)
    node = net.node['n1']
    node.portmap = str(program)
    net.start()
    net.joined()
    wait_for(lambda: 'leond starts it again' in node.log(), 20, 'ended')
    wait_for(lambda: (tmp_path / 'sent').read_text() == 'xx', 20, 'started again')
    # Two addresses, and each withdrawal, are reported in 20 s.
    assert len(node.events('port-mapped')) <= 2
    assert len(os.listdir(f'/proc/{node.process.pid}/fd')) < 60


def test_the_program_is_missing(lab):
    net = behind(lab)
    net.node['n1'].portmap = '/nonexistent/leon-portmap'
    net.start()
    node = net.node['n1']
    seen = wait_state(node, 'failed')
    assert 'install the package leon-portmap' in seen['reason']
    assert node.log().count('install the package') == 1
