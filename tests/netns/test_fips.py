# SPDX-License-Identifier: GPL-2.0-or-later
"""leond on a host with an OpenSSL that permits approved algorithms only (fips=yes). fips_provider.c
has the algorithms of such hosts; the provider of Debian has none with that property."""
import json
import os
import re
import subprocess

import pytest

from lab import line_up, merged, wait_for
from node import LeonctlError, build_dir, leonctl_program, leond_program
from test_start_messages import ended

SECRET = 'correct-horse-battery'
PBKDF2 = {'authentication': {'pre-shared-secret': SECRET, 'derivation': 'pbkdf2'}}
P256 = {**PBKDF2, 'encryption': {'curve': 'p256'}}
SCRYPT = {'authentication': {'pre-shared-secret': SECRET}}
PROPERTIES = """openssl_conf = init
[init]
alg_section = algorithms
{more}
[algorithms]
default_properties = fips=yes
"""
PROVIDER = """providers = providers
[providers]
reduced = reduced
[reduced]
module = {}
activate = 1
"""
REFUSED_STATUS = 78
# The token of protocol.md.
ONE_TIME = 'leon3.AAAAAAAAAQEU9gkxOTIuMC4yLjEAAQIDBAUGBwgJCgsMDQ4PEBESExQVFhcYGRobHB0eH1IsL7s'


def openssl(folder, more):
    path = folder / 'openssl.cnf'
    path.write_text(PROPERTIES.format(more=more))
    return ['env', f'OPENSSL_CONF={path}']


@pytest.fixture
def fips(tmp_path):
    """Words before a command, for the algorithms of a FIPS provider."""
    return openssl(tmp_path, PROVIDER.format(os.path.join(build_dir(), 'tests/netns/fips_provider.so')))


@pytest.fixture
def without_x25519(fips):
    """The same of OpenSSL 3.1 and newer."""
    return [fips[0], 'FIPS_WITHOUT_X25519=1', *fips[1:]]


@pytest.fixture
def nothing(tmp_path):
    """The same without any provider of the property: every algorithm is refused."""
    return openssl(tmp_path, '')


def check(node, words):
    node.write_config()
    done = subprocess.run([*words, leond_program(), '--check', '--config', node.config_file],
                          capture_output=True, text=True, timeout=60, check=False)
    return done.returncode, done.stderr


def pair(lab, first, second, words, only=None):
    """Two nodes; the first, or both, run with these words."""
    net = lab(line_up(2), start=False)
    for node, config in zip(net.node.values(), (first, second)):
        node.config.update(config)
        if only in (None, node.name):
            node.wrapper = words
    net.start()
    return net


def encryption(net, a, b):
    return net.node[a].nodes()[net.node[b].node_id]['encryption']


@pytest.mark.parametrize('only', [None, 'n0'], ids=['both', 'one'])
def test_starts_with_what_is_permitted(lab, fips, only):
    """Sealing by AES-256-GCM, also towards a node without the restriction."""
    net = pair(lab, PBKDF2, PBKDF2, fips, only)
    net.joined()
    net.settle_hosts('n0', 'n1')
    assert encryption(net, 'n0', 'n1') == encryption(net, 'n1', 'n0') == 'aes256gcm'
    assert net.node['n0'].statistics()['cipher_library'] == 'libcrypto'


@pytest.mark.parametrize('only', [None, 'n0'], ids=['both', 'one'])
def test_p256(lab, without_x25519, only):
    """Also towards a node without the restriction, after new keys, and with a one-time token."""
    net = pair(lab, merged(P256, {'encryption': {'rekey-time': 1}}), P256, without_x25519, only)
    n0, n1 = net.node.values()
    net.joined()
    net.settle_hosts('n0', 'n1')
    assert encryption(net, 'n0', 'n1') == 'aes256gcm'
    before = n0.statistics()['control']['key_exchanges']
    wait_for(lambda: n0.statistics()['control']['key_exchanges'] >= before + 2, 30, 'new keys')
    net.settle_hosts('n0', 'n1')
    token = n0.ctl('invite')['token']
    assert token.startswith('leon4.')
    done = n1.namespace.run(*without_x25519, leonctl_program(), 'join', '--print', token)
    config = json.loads(done.stdout)
    assert config['authentication'] == PBKDF2['authentication'] and config['encryption'] == {'curve': 'p256'}
    with pytest.raises(LeonctlError, match='cannot carry authentication.derivation or encryption.curve'):
        n0.ctl('invite', '--with-secret')


def test_other_curve(lab):
    """Nodes of two curves name the reason at both ends, also if only one end has the other as a
    peer. No event reports a wrong secret. A change of the curve is live."""
    net = lab(line_up(2, secret=SECRET), start=False)
    n0, n1 = net.node.values()
    n0.config['encryption'] = {'curve': 'p256'}
    n1.config['peer'] = {}
    net.start()
    for node, other in ((n0, n1), (n1, n0)):
        wait_for(lambda n=node: n.events('other-curve'), 30, f'{node.name} names the curve')
        event = node.events('other-curve')[0]
        assert event['node_id'] == other.node_id and 'another encryption curve' in event['text']
        assert not node.events('secret-mismatch') and not node.events('stranger')
    peer, = n0.show('peers')['peers']
    assert [a['result'] for a in peer['addresses']] == ['other-curve']
    assert peer['reason'] == 'the node has another encryption curve: set one on all nodes'
    assert 'peer n1: ' + peer['reason'] in n0.reload()['warnings']
    answer = n1.reload(encryption={'curve': 'p256'})
    assert answer['verdict'] == 'applied' and answer['warnings'] == []
    net.joined()
    net.settle_hosts('n0', 'n1')


@pytest.mark.parametrize('config, sentence', [
    (SCRYPT, 'authentication.derivation: OpenSSL of this host does not permit scrypt; set pbkdf2 on all nodes'),
    (merged(PBKDF2, {'encryption': {'cipher': 'chacha20poly1305'}}),
     'encryption.cipher: OpenSSL of this host does not permit ChaCha20-Poly1305; set auto or aes256gcm'),
    (merged(PBKDF2, {'system': {'cipher-library': 'ipsec-mb'}}),
     'system.cipher-library: ipsec-mb cannot be used: OpenSSL of this host permits approved algorithms only; set auto'),
], ids=['scrypt', 'chacha', 'ipsec-mb'])
def test_what_is_not_permitted_is_named(lab, fips, config, sentence):
    """By --check, at the start, and by a reload, which keeps the old configuration."""
    net = lab(line_up(1, hosts=False), start=False)
    node = net.node['n0']
    node.wrapper = fips
    plain = dict(node.config)
    node.config.update(merged(plain, config))
    assert check(node, fips) == (1, f'{node.config_file}: {sentence}\n')
    assert sentence in ended(node)
    assert node.process.returncode == REFUSED_STATUS
    node.config = merged(plain, PBKDF2)
    node.start()
    node.config = merged(plain, config)
    with pytest.raises(LeonctlError, match=re.escape(sentence)):
        node.reload()
    assert node.alive()


def test_x25519_is_not_permitted(lab, without_x25519):
    node = lab(line_up(1, hosts=False), start=False).node['n0']
    node.config.update(PBKDF2)
    sentence = 'encryption.curve: OpenSSL of this host does not permit X25519; set p256 on all nodes'
    assert check(node, without_x25519) == (1, f'{node.config_file}: {sentence}\n')
    done = subprocess.run([*without_x25519, leonctl_program(), 'join', '--print', ONE_TIME], capture_output=True,
                          text=True, timeout=60, check=False)
    assert done.returncode == 1 and 'does not permit X25519, which the token needs' in done.stderr
    node.config.update(P256)
    assert check(node, without_x25519)[0] == 0


def test_nothing_is_permitted(lab, nothing, tmp_path):
    """One sentence instead of an abort."""
    node = lab(line_up(1, hosts=False), start=False).node['n0']
    node.wrapper = nothing
    node.config.update(SCRYPT)
    sentence = 'OpenSSL of this host does not permit AES-256-GCM, which each node needs'
    code, said = check(node, nothing)
    assert code == 1 and sentence in said
    assert sentence in ended(node)
    assert node.process.returncode == REFUSED_STATUS
    done = subprocess.run([*nothing, leond_program(), '--generate-identity', tmp_path / 'identity'],
                          capture_output=True, text=True, timeout=60, check=False)
    assert done.returncode == 1 and sentence in done.stderr
    assert not (tmp_path / 'identity').exists()
    done = subprocess.run([*nothing, leonctl_program(), 'join', '--print', ONE_TIME], capture_output=True, text=True,
                          timeout=60, check=False)
    assert done.returncode == 1 and 'AES-256-GCM, which the token needs' in done.stderr and done.stdout == ''


def test_a_one_time_token(lab, fips):
    """A member and a machine with approved algorithms only."""
    net = lab(line_up(2, hosts=False), start=False)
    n0, n1 = net.node['n0'], net.node['n1']
    n0.config.update(PBKDF2)
    n0.wrapper = fips
    net.start('n0')
    token = n0.ctl('invite')['token']
    done = n1.namespace.run(*fips, leonctl_program(), 'join', '--print', token)
    assert json.loads(done.stdout)['authentication'] == PBKDF2['authentication']


def test_a_peer_requires_another_cipher(lab, fips):
    """The peer is not reached, and the node continues."""
    net = pair(lab, PBKDF2, merged(PBKDF2, {'encryption': {'cipher': 'chacha20poly1305'}}), fips, 'n0')
    n0, n1 = net.node['n0'], net.node['n1']
    wait_for(lambda: n0.statistics()['control']['key_exchanges'] >= 2, 30, 'n0 has tried')
    assert n0.alive() and n0.nodes().get(n1.node_id, {}).get('state') != 'reachable'
    n1.config['encryption'] = {}
    n1.reload()
    net.joined()
    assert encryption(net, 'n0', 'n1') == 'aes256gcm'
