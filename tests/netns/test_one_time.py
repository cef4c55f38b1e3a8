# SPDX-License-Identifier: GPL-2.0-or-later
"""One-time tokens: a token without the secret admits one machine. The inviting member sends the
secret to the machine. Losses, restarts, a second machine, and strangers."""
import base64
import json
import os
import re
import stat
import subprocess
import zlib

import pytest

from lab import line_up, wait_for
from node import leonctl_program
from test_answers import check

N0, N1, N2 = '198.18.0.1', '198.18.0.2', '198.18.0.3'
SECRET = 'a secret for "the" tests \\ and one more'


@pytest.fixture
def net(lab):
    """n0 and n1 run, and n2 has no knowledge of the overlay."""
    made = lab(line_up(3, secret=SECRET), start=False)
    made.start('n0', 'n1')
    return made.joined(names=['n0', 'n1'])


def leonctl(node, *words, code=0, **kwargs):
    """`leonctl` in the namespace of a node."""
    result = node.namespace.run(leonctl_program(), *words, check=False, **kwargs)
    assert result.returncode == code, result
    return result


def invite(node, *words):
    return json.loads(leonctl(node, '--json', '--socket', node.socket, 'invite', *words).stdout)


def join(node, token, code=0):
    """The printed configuration, or the error."""
    result = leonctl(node, 'join', '--print', '-', input=token, code=code)
    return json.loads(result.stdout) if code == 0 else result.stderr


def invitations(node):
    return node.show('invitations')['invitations']


def start_with(net, node, config):
    node.config = {**config, **{key: node.config[key] for key in ('system', 'identity-file', 'measurement')}}
    net.start(node.name)
    net.joined()


def payload(token):
    text = token.split('.')[1]
    return base64.urlsafe_b64decode(text + '=' * (-len(text) % 4))


def state_file(node):
    return node.config['identity-file'].removesuffix('.identity') + '.invitations'


def test_a_machine_joins_by_a_token_without_the_secret(net):
    n0, n2 = net.node['n0'], net.node['n2']
    answer = invite(n0)
    assert re.fullmatch(r'leon3\.[A-Za-z0-9_-]+', answer['token']) and answer['uses'] == 1
    assert SECRET.encode() not in payload(answer['token'])
    assert len(payload(answer['token'])) < 100
    opened, = invitations(n0)
    assert opened == {'invitation': answer['invitation'], 'expires': answer['expires'], 'uses': 1, 'uses_left': 1,
                      'used': []}
    config = join(n2, answer['token'])
    assert config['authentication'] == {'pre-shared-secret': SECRET}
    start_with(net, n2, config)
    wait_for(lambda: net.host['n2'].ping(net.host['n0'].ip4), 20, 'a ping over the overlay')
    used, = invitations(n0)
    assert used['uses_left'] == 0 and used['used'][0]['endpoint'].startswith(N2 + ':')
    event, = n0.events('invitation-claimed')
    assert answer['invitation'] in event['text'] and N2 in event['text']


def test_a_family_without_a_source_address_is_unused(net):
    token = invite(net.node['n0'], '2001:db8::1')['token']
    said = leonctl(net.node['n2'], 'join', '--print', '--source-address', N2, '-', input=token, code=3).stderr
    assert '2001:db8::1 port 5366 (Address family not supported by protocol)' in said


def test_a_second_machine_is_refused_with_the_reason(net):
    n0, n1, n2 = (net.node[name] for name in ('n0', 'n1', 'n2'))
    token = invite(n0)['token']
    join(n2, token)
    said = join(n1, token, code=1)
    assert said.startswith('leonctl: the token is used up: another machine has joined with it') and said.count('\n') == 1
    wait_for(lambda: n0.events('invitation-refused'), 10, 'the event')
    assert n0.statistics()['control']['rx_invitation_refused'] >= 1


def test_several_uses(net):
    token = invite(net.node['n0'], '--uses', '2')['token']
    for name in ('n2', 'n1'):
        assert join(net.node[name], token)['authentication']['pre-shared-secret'] == SECRET
    assert 'used up' in join(net.node['n2'], token, code=1)


def test_a_restart_between_invite_and_join(net):
    n0, n2 = net.node['n0'], net.node['n2']
    token, spent = invite(n0)['token'], invite(n0)['token']
    join(n2, spent)
    mode = os.stat(state_file(n0)).st_mode
    assert stat.S_IMODE(mode) == 0o600
    before = invitations(n0)
    n0.stop()
    n0.start()
    net.joined(names=['n0', 'n1'])
    assert invitations(n0) == before
    assert 'used up' in join(n2, spent, code=1)
    start_with(net, n2, join(n2, token))


def test_a_damaged_file_is_reported_and_ignored(net):
    n0, n2 = net.node['n0'], net.node['n2']
    token = invite(n0)['token']
    n0.stop()
    with open(state_file(n0), 'r+', encoding='utf-8') as f:
        f.truncate(os.path.getsize(state_file(n0)) // 2)
    n0.start()
    net.joined(names=['n0', 'n1'])
    assert invitations(n0) == []
    wait_for(lambda: '.invitations is ignored' in n0.log(), 10, 'the warning')
    assert f'no answer from {N0} port 5366' in join(n2, token, code=3)
    start_with(net, n2, join(n2, invite(n0)['token']))


def test_a_lost_answer(net):
    """The first answers are dropped on their way. The machine repeats its request, which is no
    second use."""
    n0, n2 = net.node['n0'], net.node['n2']
    token = invite(n0)['token']
    # 262 bytes of an answer and the UDP header.
    n0.namespace.run('nft', '-f', '-', input='table ip lossy { chain output { type filter hook output priority 0;\n'
                     f'ip daddr {N2} udp length 270 counter drop\n}}\n}}')
    joining = n2.namespace.start(leonctl_program(), 'join', '--print', token, stdout=subprocess.PIPE)
    wait_for(lambda: 'packets 0' not in n0.namespace.run('nft', 'list', 'table', 'ip', 'lossy').stdout, 10,
             'an answer is lost')
    n0.namespace.run('nft', 'delete', 'table', 'ip', 'lossy')
    config = json.loads(joining.communicate(timeout=60)[0])
    assert config['authentication']['pre-shared-secret'] == SECRET
    used, = invitations(n0)
    assert len(used['used']) == 1
    check('show invitations', n0.show('invitations'))


def test_a_wrong_value_gets_nothing(net):
    n0, n2 = net.node['n0'], net.node['n2']
    token = invite(n0)['token']
    body = bytearray(payload(token)[:-4])
    body[-1] ^= 1
    forged = bytes(body) + zlib.crc32(b'leon3.' + body).to_bytes(4, 'big')
    said = join(n2, 'leon3.' + base64.urlsafe_b64encode(forged).decode().rstrip('='), code=3)
    assert said.startswith(f'leonctl: no answer from {N0} port 5366, {N1} port 5366. The token has expired')
    assert n0.statistics()['control']['rx_invitation_refused'] > 1
    assert invitations(n0)[0]['uses_left'] == 1
    start_with(net, n2, join(n2, token))


def test_the_end_of_an_invitation(net):
    n0, n2 = net.node['n0'], net.node['n2']
    answer = invite(n0, '--expires', '1s')
    wait_for(lambda: n0.events('invitation-expired'), 15, 'the end')
    assert invitations(n0) == []
    said = join(n2, answer['token'], code=3)
    assert re.search(r'The token has expired \(it was valid until \S+ \S+ UTC\) or was ended', said)
    answer = invite(n0, '--expires', 'never')
    assert answer['expires'] is None
    done = n0.ctl('reset', 'invitation', answer['invitation'])
    check('reset invitation', done)
    assert done['uses_left'] == 1 and invitations(n0) == []
    join(n2, answer['token'], code=3)


def test_a_mistake_does_not_use_the_token(net):
    """The command line is checked before the request."""
    n0, n2 = net.node['n0'], net.node['n2']
    token = invite(n0)['token']
    result = leonctl(n2, 'join', '--print', '--address', '10.99.0.1', '-', input=token, code=1)
    assert 'has no prefix length' in result.stderr
    assert invitations(n0)[0]['uses_left'] == 1


def test_refusals_of_the_member(net):
    n0 = net.node['n0']
    for words, say, code in ((['--uses', '0'], '--uses: "0" is no number from 1 to 32', 2),
                             (['--uses', '33'], '--uses: "33" is no number from 1 to 32', 2),
                             (['--uses', '2', '--with-secret'], 'has no limit of uses', 2)):
        assert say in leonctl(n0, '--socket', n0.socket, 'invite', *words, code=code).stderr
    for _ in range(64):
        invite(n0)
    assert '64 invitations are open, which is the maximum' in \
        leonctl(n0, '--socket', n0.socket, 'invite', code=1).stderr
    assert 'an invitation has 16 hexadecimal digits' in \
        leonctl(n0, '--socket', n0.socket, 'reset', 'invitation', 'seoul', code=1).stderr
    assert 'no invitation 0000000000000000 is open' in \
        leonctl(n0, '--socket', n0.socket, 'reset', 'invitation', '0' * 16, code=1).stderr


def test_the_answer_carries_the_derivation(lab):
    net = lab(line_up(3, hosts=False, secret=SECRET, config={'authentication': {'derivation': 'pbkdf2'}}), start=False)
    net.start('n0', 'n1')
    net.joined(names=['n0', 'n1'])
    config = join(net.node['n2'], invite(net.node['n0'])['token'])
    assert config['authentication'] == {'pre-shared-secret': SECRET, 'derivation': 'pbkdf2'}
    start_with(net, net.node['n2'], config)


def test_a_full_disk_uses_nothing(net):
    """A use that cannot be stored gets no answer."""
    n0, n2 = net.node['n0'], net.node['n2']
    token = invite(n0)['token']
    blocker = state_file(n0) + '.new'
    os.mkdir(blocker)
    join(n2, token, code=3)
    assert 'cannot be written' in n0.log() and invitations(n0)[0]['uses_left'] == 1
    assert 'cannot be stored beside the identity-file' in \
        leonctl(n0, '--socket', n0.socket, 'invite', code=1).stderr
    os.rmdir(blocker)
    join(n2, token)
