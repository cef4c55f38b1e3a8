# SPDX-License-Identifier: GPL-2.0-or-later
"""A joining token with the secret: a node prints the token, and another machine joins without other
data. The tests of whole machines are in test_join.py, those of one-time tokens in
test_one_time.py."""
import json
import os
import re
import subprocess
import sys

from gateway import locators
from lab import line_up, wait_for
from node import leonctl_program, leond_program

SECRET = 'a secret for "the" tests \\ and one more'
AS_NOBODY = '''
import socket, sys
s = socket.socket(socket.AF_UNIX)
s.settimeout(30)
s.connect(sys.argv[1])
s.sendall(b'{"version": 1, "command": "invite", "arguments": {}}\\n')
print(s.makefile().readline())
'''


def pair(lab, **keys):
    """n0 and n1 run, and n2 has no knowledge of the overlay."""
    net = lab(line_up(3, hosts=False, secret=SECRET, **keys), start=False)
    net.start('n0', 'n1')
    return net.joined(names=['n0', 'n1'])


def invite(node, *words):
    """(token, text on stderr)"""
    result = subprocess.run([leonctl_program(), '--socket', node.socket, 'invite', '--with-secret', *words],
                            capture_output=True, text=True, check=False)
    assert result.returncode == 0, result.stderr
    return result.stdout.strip(), result.stderr


def join(token):
    return subprocess.run([leonctl_program(), 'join', '--print', '-'], input=token, text=True,
                          capture_output=True, check=False)


def joined_with(node, token):
    """The configuration of the node consists of the token and the paths of the test."""
    result = join(token)
    assert result.returncode == 0, result.stderr
    config = json.loads(result.stdout)
    node.config = {**config, 'system': node.config['system'],
                   'identity-file': node.config['identity-file'],
                   'measurement': node.config['measurement']}
    return config


def test_a_machine_joins_by_a_token_alone(lab):
    net = pair(lab)
    token, said = invite(net.node['n0'])
    assert re.fullmatch(r'leon2\.[A-Za-z0-9_-]+', token) and 'This token contains the pre-shared-secret' in said
    assert SECRET not in said and SECRET not in net.node['n0'].log()
    wait_for(lambda: 'a joining token was made for user' in net.node['n0'].log(), 10, 'it is told of')
    config = joined_with(net.node['n2'], token)
    assert config['authentication']['pre-shared-secret'] == SECRET
    assert config['vni'] == 1 and config['node-id'].split('.')[0] in map(str, range(240, 256))
    # The addresses of n0 and of the other member, a peer of n0.
    assert [p['address'] for p in config['peer'].values()] == ['198.18.0.1', '198.18.0.2']
    net.start('n2')
    net.joined()


def test_one_address_named_is_enough(lab):
    net = pair(lab)
    token, said = invite(net.node['n0'], f'{net.node["n1"].node_id}:5366')
    assert 'The machine joins through 198.18.0.2 port 5366.' in said
    config = joined_with(net.node['n2'], token)
    assert config['peer'] == {'seed-1': {'address': '198.18.0.2'}}
    net.start('n2')
    net.joined()


def test_addresses_of_both_families(lab):
    """A joining machine may have one family only. The kernel lists all IPv4 addresses first."""
    net = lab(line_up(1, hosts=False, secret=SECRET), start=False)
    node = net.node['n0']
    node.config['node-id'] = node.config.pop('source-address')[0]
    net.start()
    node.namespace.ip(*(f'addr add 198.51.100.{i}/24 dev wan0' for i in range(1, 10)),
                      'addr add 2001:db8::1/64 dev wan0 nodad')
    wait_for(lambda: '[2001:db8::1]:5366' in locators(node), 10, 'the record has the address')
    assert len(locators(node)) == 8
    peers = json.loads(join(invite(node)[0]).stdout)['peer']
    assert '2001:db8::1' in [p['address'] for p in peers.values()]


def test_names_and_ports(lab):
    net = pair(lab)
    token, _ = invite(net.node['n0'], 'node.example.net', 'far.example.net:7000', '[2001:db8::1]:1', '2001:db8::2')
    assert json.loads(join(token).stdout)['peer'] == {
        'seed-1': {'address': 'node.example.net'},
        'seed-2': {'address': 'far.example.net', 'port': 7000},
        'seed-3': {'address': '2001:db8::1', 'port': 1}, 'seed-4': {'address': '2001:db8::2'}}


def test_what_is_no_address_is_refused(lab):
    node = pair(lab).node['n0']
    for words, say in ((['10.0.0.300'], 'must be a unicast IP address or a DNS name'),
                       (['name:0'], 'an address is an IP address or a DNS name'),
                       (['name:70000'], 'an address is an IP address or a DNS name'),
                       (['a b'], 'must be a unicast IP address or a DNS name'),
                       ([f'192.0.2.{i}' for i in range(9)], 'at most 8 addresses')):
        result = subprocess.run([leonctl_program(), '--socket', node.socket, 'invite', *words],
                                capture_output=True, text=True, check=False)
        assert result.returncode == 1 and say in result.stderr and result.stdout == '', (words, result)


def test_a_list_of_identities_is_spoken_of(lab):
    net = pair(lab)
    node = net.node['n0']
    node.config['authentication']['trusted-identity'] = [n.identity() for n in (node, net.node['n1'])]
    node.reload()
    assert 'trusted-identity' in invite(node)[1]


def test_without_a_secret_there_is_no_token(lab):
    node = lab(line_up(1, hosts=False, secret=None)).node['n0']
    result = subprocess.run([leonctl_program(), '--socket', node.socket, 'invite'],
                            capture_output=True, text=True, check=False)
    assert result.returncode == 1 and 'the overlay has no secret' in result.stderr


def test_only_who_may_change_something_gets_a_token(lab):
    """The group of the socket may read the state, but not the secret."""
    node = lab(line_up(1, hosts=False)).node['n0']
    os.chmod(os.path.dirname(node.socket), 0o755)
    result = subprocess.run([sys.executable, '-c', AS_NOBODY, node.socket], capture_output=True,
                            text=True, check=True, user=65534, group=os.stat(node.socket).st_gid,
                            extra_groups=[])
    assert json.loads(result.stdout)['error'] == \
        'command "invite" is for root and the daemon\'s user only'


TOKEN = 'leon1.AAABAhT2CTE5Mi4wLjIuMRtYEXNlb3VsLmV4YW1wbGUubmV0HGNvcnJlY3QgaG9yc2UgYmF0dGVyeSBzdGFwbGU7Hy_G'


def test_the_text(tmp_path):
    text = join(TOKEN + '\n').stdout
    assert json.loads(text)['interface'] == 'leon0' and '\n  "peer": {\n' in text
    file = tmp_path / 'leon0.json'
    file.write_text(text)
    file.chmod(0o600)
    check = subprocess.run([leond_program(), '--check', '--config', file], capture_output=True,
                           text=True, check=False)
    assert check.stdout == 'configuration OK\n', check.stderr


def test_where_the_token_may_be(tmp_path):
    file = tmp_path / 'token'
    file.write_text('\n ' + TOKEN[:40] + '\r\n' + TOKEN[40:] + '\n')
    for given in (TOKEN, str(file)):
        result = subprocess.run([leonctl_program(), 'join', '--print', given], capture_output=True,
                                text=True, check=False)
        assert result.returncode == 0 and json.loads(result.stdout)['vni'] == 1


def test_two_machines_draw_two_node_ids():
    assert json.loads(join(TOKEN).stdout)['node-id'] != json.loads(join(TOKEN).stdout)['node-id']


def test_a_bad_token_is_one_sentence_that_does_not_repeat_it():
    for text in ('', TOKEN[:-1], TOKEN.replace('A', 'B', 1), 'leon9' + TOKEN[5:], 'hello', 'x' * 20000):
        result = join(text)
        assert result.returncode == 1 and result.stdout == ''
        assert re.fullmatch(r'leonctl: [^\n]+\n', result.stderr), result.stderr
        assert not text or text not in result.stderr
    mistyped = subprocess.run([leonctl_program(), 'join', '--print', TOKEN[1:]], capture_output=True,
                              text=True, check=False)
    assert mistyped.returncode == 1 and TOKEN[1:] not in mistyped.stderr
    assert mistyped.stderr.startswith('leonctl: the argument is neither a token nor a readable file')


def test_what_the_token_says_must_be_a_configuration():
    """A checksum is easy to forge, so the content is checked like any configuration."""
    import base64
    import zlib
    body = b'\0\0\1\1\x14\xf6\x0510.09\x08password'
    body += zlib.crc32(b'leon1.' + body).to_bytes(4, 'big')
    result = join('leon1.' + base64.urlsafe_b64encode(body).decode().rstrip('='))
    assert result.returncode == 1 and 'peer.seed-1.address: must be' in result.stderr


def test_an_old_configuration_is_not_needed_afterwards(lab):
    """A member that joined by a token invites the next member."""
    net = pair(lab)
    joined_with(net.node['n2'], invite(net.node['n0'])[0])
    net.start('n2')
    net.joined()
    wait_for(lambda: len(json.loads(join(invite(net.node['n2'])[0]).stdout)['peer']) >= 3, 10,
             'n2 names itself and both others')
