# SPDX-License-Identifier: GPL-2.0-or-later
"""Diagnosis of a configured peer that is not reached (reference.md, show peers)."""
import json
import os
import subprocess

import pytest

import wan
from lab import SECRET, PATIENT, line_up, wait_for
from node import deafened, detect_duplicates, leond_program

PORT = 5366


def peers(node):
    return {p['name']: p for p in node.show('peers')['peers']}


def result(node, name):
    addresses = peers(node)[name]['addresses']
    return addresses[0]['result'] if addresses else None


def wait_result(node, name, want, within=40):
    seen = {}

    def is_so():
        seen.update(peers(node)[name])
        return [a['result'] for a in seen['addresses'][:1]] == [want]
    wait_for(is_so, within, f'{node.name} says "{want}" of its peer {name} (says {result(node, name)})')
    assert seen['state'] == 'trying' and seen['reason'], seen
    return seen


def pair(lab, a=None, b=None, **keys):
    """Two nodes with each other as peers, with the given configurations."""
    return lab({'sites': {'n0': {'config': a or {}}, 'n1': {'config': b or {}}},
                'hosts': False, **keys})


def test_a_peer_that_is_reached(lab):
    net = pair(lab).joined()
    want = {'state': 'reached', 'node_id': net.node['n1'].node_id, 'node_name': 'n1', 'reason': None}
    wait_for(lambda: want.items() <= peers(net.node['n0'])['n1'].items(), 10, 'reached')
    text = net.node['n0'].leonctl('show', 'peers', json_output=False)
    assert 'reached' in text and 'n1 (' in text


def test_nothing_answers(lab):
    # No machine has the address, so datagrams vanish on the Internet.
    net = lab(line_up(1, hosts=False, config={'peer': {'gone': {'address': '198.18.99.99'}}}))
    peer = wait_result(net.node['n0'], 'gone', 'nothing')
    assert peer['addresses'][0]['endpoint'] == f'198.18.99.99:{PORT}'
    wait_for(lambda: peers(net.node['n0'])['gone']['addresses'][0]['requested'] >= 3, 30, 'asked again')


def test_port_unreachable(lab):
    net = lab(line_up(2, hosts=False), start=False)
    net.start('n0')  # the machine of n1 runs without leond
    wait_result(net.node['n0'], 'n1', 'refused')


def test_other_secret_is_said_at_both_ends(lab):
    net = pair(lab, b={'authentication': {'pre-shared-secret': 'quite another secret'}})
    wait_result(net.node['n0'], 'n1', 'other-secret')
    wait_result(net.node['n1'], 'n0', 'other-secret')


def test_secret_at_one_end_only(lab):
    net = pair(lab, secret=None, a={'authentication': {'pre-shared-secret': 'only here is one'}})
    wait_result(net.node['n0'], 'n1', 'no-secret-there')
    wait_result(net.node['n1'], 'n0', 'no-secret-here')


def test_other_vni(lab):
    net = pair(lab, b={'vni': 77})
    wait_result(net.node['n0'], 'n1', 'other-vni')
    wait_result(net.node['n1'], 'n0', 'other-vni')


def say(old, datagram):
    """A program at the address of the peer that repeats a datagram."""
    send = (f'import socket, time\n'
            f's = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)\n'
            f's.bind(("{wan.ip4(1)}", {PORT}))\n'
            f'while True:\n'
            f'    s.sendto({datagram!r}, ("{wan.ip4(0)}", {PORT}))\n'
            f'    time.sleep(0.1)\n')
    return old.start('/usr/bin/python3', '-c', send)


def test_other_version(lab):
    net = lab(line_up(1, hosts=False, strangers=['old'],
                      config={'peer': {'old': {'address': wan.ip4(1)}}}))
    node, old = net.node['n0'], net.stranger['old']
    process = say(old, bytes([0x34]) + bytes(100))
    try:
        wait_result(node, 'old', 'other-version')
        assert not node.events('other-wire'), 'this is another program, as its VNI shows'
    finally:
        process.kill()
        process.wait()
    # Version, kind and VNI have their place in each wire version.
    process = say(old, bytes([0x34, 0, 0x10, 0, 0, 1]) + bytes(100))
    try:
        wait_for(lambda: node.events('other-wire'), 40, 'the event names the wire version')
        said = 'uses wire 3, this node 1'
        assert said in node.events('other-wire')[0]['detail']
        assert said in wait_result(node, 'old', 'other-version')['reason']
        assert any(said in text for text in node.reload()['warnings'])
        assert not node.events('secret-mismatch')
    finally:
        process.kill()
        process.wait()


def test_peer_that_is_not_trusted(lab):
    net = pair(lab).joined()
    own = net.node['n0'].show('identity')['identity']
    # The list has only n0, so n1 becomes a stranger to n0 and cannot know the reason.
    authentication = net.node['n0'].config['authentication']
    net.node['n0'].reload(authentication={**authentication, 'trusted-identity': [own]})
    wait_result(net.node['n0'], 'n1', 'not-trusted')
    # n1 still receives HELLOs of n0, because n1 is a configured peer of n0.
    wait_result(net.node['n1'], 'n0', 'one-way', within=60)


def test_this_node_itself(lab):
    net = lab(line_up(1, hosts=False, config={'peer': {'me': {'address': wan.ip4(0)}}}))
    node = net.node['n0']
    wait_for(lambda: peers(node)['me']['state'] == 'self', 20, 'it is itself')
    assert result(node, 'me') == 'self'


def test_this_node_itself_behind_a_nat(lab):
    """The NAT refuses datagrams to its own address, and n0 observes this address."""
    me = {'config': {'peer': {'me': {'address': wan.ip4(1)}}}, 'nat': True}
    net = lab({'sites': {'n0': {}, 'n1': me}, 'seeds': ['n0'], 'hosts': False}).joined()
    wait_for(lambda: peers(net.node['n1'])['me']['state'] == 'self', 20, 'it is itself')


def test_peer_of_a_family_without_source_address(lab):
    net = lab(line_up(1, hosts=False, config={'peer': {'six': {'address': '2001:db8::99'}}}))
    peer = wait_result(net.node['n0'], 'six', 'not-sent')
    assert 'source-address of the same address family' in peer['reason']


def test_name_that_is_not_resolved(lab):
    net = lab(line_up(1, hosts=False, config={'peer': {'dns': {'address': 'nowhere.invalid'}}}))
    node = net.node['n0']
    wait_for(lambda: peers(node)['dns']['resolve_error'], 40, 'not resolved')
    peer = peers(node)['dns']
    assert peer['state'] == 'unresolved' and peer['resolve_error'] in peer['reason']
    (event,) = wait_for(lambda: node.events('peer-unresolved'), 10, 'it is told of')
    assert 'nowhere.invalid' in event['text'] or 'dns' in event['text']


def test_renamed_peer_keeps_its_addresses(lab):
    """The name of the peer changes while its DNS name is not resolved."""
    net = lab(line_up(2, seeds=['n0'], hosts=False), start=False)
    node, hosts = net.node['n1'], os.path.join(net.directory, 'hosts')

    def write(line):
        with open(hosts, 'w', encoding='ascii') as f:
            f.write(f'127.0.0.1 localhost\n{line}\n')
    write(f'{wan.ip4(0)} seed.leon.example')
    node.config['peer'] = {'old': {'address': 'seed.leon.example'}}
    node.prepare = node.namespace.bind_over(hosts, '/etc/hosts')
    net.start()
    net.joined()
    write('')
    node.reload(peer={'new': {'address': 'seed.leon.example'}})
    assert [a['endpoint'] for a in peers(node)['new']['addresses']] == [f'{wan.ip4(0)}:{PORT}']


def test_disabled_peer_is_shown_and_not_asked(lab):
    net = lab(line_up(2, hosts=False, config=PATIENT), start=False)
    node = net.node['n0']
    node.config['peer']['n1'].update(disable=True, description='not yet')
    net.node['n1'].config['peer'] = {}
    net.start()
    assert peers(node)['n1']['state'] == 'disabled'
    assert peers(node)['n1']['description'] == 'not yet'
    sent = node.statistics()['control']['tx_messages']
    assert sent == 0
    # Applied live, in both directions.
    node.config['peer']['n1'].pop('disable')
    node.reload()
    net.joined()
    wait_for(lambda: peers(node)['n1']['state'] == 'reached', 10, 'reached')
    node.config['peer']['n1']['disable'] = True
    node.reload()
    assert peers(node)['n1']['state'] == 'disabled'
    # A member remains a member.
    assert node.state_of(net.node['n1']) == 'reachable'


def test_a_peer_that_stays_away_is_told_of_once_and_its_return(lab):
    net = lab(line_up(2, hosts=False), start=False)
    node = net.node['n0']
    net.start('n0')
    wait_for(lambda: node.events('peer-unreached'), 60, 'told of')
    (event,) = node.events('peer-unreached')
    assert 'n1' in event['text'] and 'not reached' in event['text'] and event['detail'] == 'refused'
    wait_for(lambda: event['text'] in node.log(), 10, 'it is in the log')
    wait_for(lambda: 'leon_peer_reached{interface="leon0",peer="n1",result="refused"} 0' in
             node.ctl('metrics')['text'], 20, 'it is in the metrics')
    # A reload with a change of another peer does not reset the time.
    since = peers(node)['n1']['since_seconds']
    node.config['peer']['other'] = {'address': '198.18.99.99', 'disable': True}
    node.reload()
    assert peers(node)['n1']['since_seconds'] >= since
    net.start('n1')
    wait_for(lambda: node.events('peer-reached'), 40, 'its return is told of')
    assert len(node.events('peer-unreached')) == 1
    wait_for(lambda: 'leon_peer_reached{interface="leon0",peer="n1",result=""} 1' in
             node.ctl('metrics')['text'], 20, 'it is in the metrics')


# --- leond --check ---


@pytest.fixture
def check(tmp_path):
    def run(**words):
        file = tmp_path / 'leon0.json'
        file.write_text(json.dumps({'version': 1, 'interface': 'leon0',
                                    'source-address': ['192.0.2.1'],
                                    'authentication': {'pre-shared-secret': SECRET}, **words}))
        file.chmod(0o600)
        result = subprocess.run([leond_program(), '--config', file, '--check'], check=False,
                                capture_output=True, text=True, timeout=60)
        return result.returncode, result.stderr.strip().removeprefix(f'{file}: ')
    return run


def test_check_has_nothing_against_the_usual(check):
    assert check(peer={'a': {'address': '192.0.2.9'}}) == (0, '')
    assert check(peer={'a': {'address': '2001:db8::9', 'disable': True}}) == (0, '')


@pytest.mark.parametrize('words, warning', [
    ({'peer': {'a': {'address': '2001:db8::9'}}},
     'peer.a.address: 2001:db8::9 cannot be asked, since there is no source-address of IPv6'),
    ({'authentication': {'pre-shared-secret': '12345678'}},
     'authentication.pre-shared-secret: fewer than 16 characters'),
    ({'authentication': {'disable': True}}, 'authentication.disable: any host on the path can read'),
    ({'source-address': ['169.254.1.1']}, 'source-address: 169.254.0.0/16 reaches only'),
    ({'source-address': [], 'source-interface': 'lo'}, 'source-interface: lo does not lead to other hosts'),
])
def test_check_warns_of_what_will_not_work(check, words, warning):
    code, text = check(**words)
    assert code == 0 and text.startswith(f'warning: {warning}') and '\n' not in text


@pytest.mark.parametrize('words, error', [
    ({'authentication': {}}, 'authentication: needs a pre-shared-secret'),
    ({'source-address': ['fe80::1'], 'node-id': '10.0.0.1'}, 'source-address: fe80::1 is of no use'),
    ({'peer': {'a': {'address': 'fe80::2'}}}, 'peer.a.address: fe80::2 is of one link only'),
])
def test_check_refuses_link_local_addresses(check, words, error):
    code, text = check(**words)
    assert code == 1 and text.startswith(error)


def test_source_interface_lo_says_why_it_does_not_start(lab):
    net = lab(line_up(1, hosts=False, config={'source-interface': 'lo', 'source-address': []}),
              start=False)
    node = net.node['n0']
    node.config['node-id'] = '10.0.0.1'  # for the harness
    node.launch()
    wait_for(lambda: 'lo does not lead to other hosts' in node.log(), 20, 'it is said')
    # leond handles SIGTERM from the end of its start on.
    wait_for(lambda: 'started version=' in node.log(), 20, 'the start')
    node.stop()
    node.config.pop('node-id')
    node.write_config()
    result = node.namespace.run(leond_program(), '--config', node.config_file, check=False)
    assert result.returncode == 1 and 'source-interface lo has no IPv4 address' in result.stderr


# --- loss of the source address or interface ---


def test_source_address_that_goes_and_comes_back_is_told_of(lab):
    net = lab(line_up(2, hosts=False)).joined()
    node = net.node['n0']
    node.namespace.ip(f'addr del {wan.ip4(0)}/16 dev wan0')
    wait_for(lambda: node.events('source-lost'), 20, 'it is told of')
    event, = node.events('source-lost')
    assert wan.ip4(0) in event['text'] and event['detail'] == wan.ip4(0)
    wait_for(lambda: result(node, 'n1') == 'not-sent', 40, 'show peers says the same')
    node.namespace.ip(f'addr add {wan.ip4(0)}/16 dev wan0')
    wait_for(lambda: node.events('source-restored'), 20, 'its return is')
    net.joined(within=60)


def told(node, event, count):
    wait_for(lambda: len(node.events(event)) >= count, 20, f'{event}, {count} times')


def test_source_address_that_may_be_a_duplicate_is_not_back(lab):
    net = lab({'sites': {'n0': {'v4': False, 'v6': True}}, 'hosts': False})
    node = net.node['n0']
    address = f'{wan.ip6(0)}/64 dev wan0'
    node.namespace.ip(f'addr del {address}')
    told(node, 'source-lost', 1)
    detect_duplicates(node)
    node.namespace.ip(f'addr add {address}')
    deafened(node)  # leond reads the whole state
    node.namespace.ip(f'addr del {address}', f'addr add {address} nodad')
    told(node, 'source-restored', 1)
    assert len(node.events('source-restored')) == len(node.events('source-lost')) == 1


def test_source_address_that_moves_to_another_interface_is_not_lost(lab):
    net = lab(line_up(1, hosts=False))
    node = net.node['n0']
    on_wan, on_lo = f'{wan.ip4(0)}/16 dev wan0', f'{wan.ip4(0)}/32 dev lo'
    node.namespace.ip(f'addr add {on_lo}', f'addr del {on_wan}')
    node.namespace.ip(f'addr add {on_wan}', f'addr del {on_lo}')
    for count in (1, 2):
        node.namespace.ip(f'addr del {on_wan}')
        told(node, 'source-lost', count)
        node.namespace.ip(f'addr add {on_wan}')
        told(node, 'source-restored', count)
    assert len(node.events('source-lost')) == 2


def test_source_address_that_goes_is_told_of_among_thousands(lab):
    net = lab(line_up(1, hosts=False))
    node = net.node['n0']
    node.namespace.ip(*(f'addr add 10.66.{i // 250}.{i % 250}/32 dev lo' for i in range(1500)))
    node.namespace.ip(f'addr del {wan.ip4(0)}/16 dev wan0')
    told(node, 'source-lost', 1)


def test_source_address_that_goes_unnoticed_is_told_of(lab):
    """The kernel reports an overflow of the notification buffer, and leond reads the whole state.
    """
    net = lab(line_up(1, hosts=False))
    node = net.node['n0']
    deafened(node, f'addr del {wan.ip4(0)}/16 dev wan0')
    wait_for(lambda: node.events('source-lost'), 20, 'it is told of')
    deafened(node, f'addr add {wan.ip4(0)}/16 dev wan0')
    wait_for(lambda: node.events('source-restored'), 20, 'its return is')


@pytest.mark.parametrize('change', [lambda node, line: node.namespace.ip(line), deafened],
                         ids=['said', 'overrun'])
def test_source_interface_that_goes_ends_leond(lab, change):
    """The sockets would stay bound to the removed interface, even after its return."""
    net = lab(line_up(1, hosts=False), start=False)
    node = net.node['n0']
    node.namespace.ip('link add up0 type bridge', 'addr add 192.0.2.1/24 dev up0', 'link set up0 up')
    node.config.update({'source-interface': 'up0', 'source-address': [], 'node-id': '10.0.0.1'})
    net.start()
    change(node, 'link del up0')
    wait_for(lambda: not node.alive(), 20, 'leond ends')
    assert node.process.returncode == 1
    node.killed = True  # the harness must accept the abnormal end
    assert 'source-interface up0 was removed' in node.log()
