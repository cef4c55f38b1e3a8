# SPDX-License-Identifier: GPL-2.0-or-later
"""`interfaces leon leonN ipsec`: faults, the document of leon-ipsec, and the commit."""

import json
import re
import stat

import pytest
from vyos import ConfigError
from vyos import pki as fake_pki
from vyos.template import get_esp_ike_cipher

from leon_ipsec import settings
from vyos_leon import ipsec

SECRET = {'authentication': {'pre_shared_secret': 'a-secret-of-ike'}}
VPN = {
    'ike_group': {
        'IKE': {
            'lifetime': '7200',
            'dead_peer_detection': {'action': 'restart', 'interval': '15'},
            'proposal': {'1': {'encryption': 'aes256gcm128', 'hash': 'sha384'}},
        },
        'EMPTY': {},
        'OLD': {'key_exchange': 'ikev1', 'proposal': {'1': {'encryption': 'a', 'hash': 'b'}}},
    },
    'esp_group': {
        'ESP': {'mode': 'tunnel', 'proposal': {'1': {'encryption': 'aes256gcm128', 'hash': 'sha384'}}},
        'EMPTY': {},
    },
}
PKI = {
    'ca': {'CA': {'certificate': 'Q0E='}, 'NONE': {}},
    'certificate': {
        'OWN': {'certificate': 'T1dO', 'private': {'key': 'KEY'}},
        'LOCKED': {'certificate': 'T1dO', 'private': {'key': 'locked:open'}},
        'PUBLIC': {'certificate': 'T1dO'},
    },
}


def open_key(key, passphrase):
    found = fake_pki.load_private_key(key, passphrase)
    return fake_pki.encode_private_key(found) if found else None


ROUTER = ipsec.Router(VPN, PKI, get_esp_ike_cipher, open_key)


def config(**changes):
    return {'ipsec': {'ike_group': 'IKE', 'esp_group': 'ESP', **SECRET, **changes}}


def x509(**changes):
    own = {'ca_certificate': ['CA'], 'certificate': 'OWN', **changes}
    return config(authentication={'mode': 'x509', 'x509': own})


def faults(values):
    return list(ipsec.faults(values, ROUTER))


@pytest.mark.parametrize('values', [{}, config(), x509(), x509(ca_certificate='CA'),
                                    x509(certificate='LOCKED', passphrase='open')])
def test_no_fault(values):
    assert faults(values) == []


@pytest.mark.parametrize(
    'values, sentence',
    [
        ({'ipsec': SECRET}, 'has no ike-group: set "ipsec ike-group"'),
        (config(esp_group='NONE'), 'There is no esp-group NONE'),
        (config(ike_group='EMPTY'), 'The ike-group EMPTY has no proposal'),
        (config(esp_group='EMPTY'), 'The esp-group EMPTY has no proposal'),
        (config(ike_group='OLD'), 'OLD is for IKEv1 and LEON uses IKEv2'),
        (config(authentication={}), 'IPsec has no secret'),
        (config(authentication={'mode': 'x509'}), 'IPsec has no authority'),
        (x509(ca_certificate=['WHAT']), 'There is no CA certificate WHAT'),
        (x509(ca_certificate=['NONE']), 'There is no CA certificate NONE'),
        (x509(certificate=None), 'IPsec has no certificate'),
        (x509(certificate='WHAT'), 'The certificate WHAT or its private key is missing'),
        (x509(certificate='PUBLIC'), 'The certificate PUBLIC or its private key is missing'),
        (x509(certificate='LOCKED'), 'The private key of certificate LOCKED cannot be read'),
    ],
)
def test_faults(values, sentence):
    found = faults(values)
    assert any(sentence in text for text in found), found
    # What is wrong, and then what to do.
    assert all(re.search(r'[Ss]et "|correct "', text) for text in found)
    assert not any('a-secret-of-ike' in text for text in found)


def warnings(values, **vpn):
    return list(ipsec.warnings(values, ROUTER._replace(vpn={**VPN, **vpn})))


def test_one_secret_for_both_is_warned_of():
    same = {**config(), 'authentication': {'pre_shared_secret': 'a-secret-of-ike'}}
    assert 'has the secret of "authentication"' in ' '.join(warnings(same))
    assert warnings(config()) == [] and list(ipsec.warnings({}, None)) == []


def test_interfaces_that_ike_does_not_use_are_warned_of():
    (text,) = warnings({**config(), 'source_interface': 'eth1'}, interface=['eth0', 'eth2'])
    assert 'IKE uses eth0, eth2 only' in text
    assert len(warnings(config(), interface='eth0')) == 1
    assert warnings({**config(), 'source_interface': 'eth0'}, interface=['eth0']) == []


def parsed(values):
    """As leon-ipsec reads what is written."""
    document = json.loads(ipsec.document(values, ROUTER))
    return settings.parse({'version': 1, 'interface': 'leon0'}, document)


def test_document_with_a_secret():
    found = parsed(config(force_udp_encapsulation={}))
    assert found.ike_proposals == ('aes256gcm128-sha384',)
    # Perfect forward secrecy may come from the IKE group.
    assert found.esp_proposals == ('aes256gcm128-sha384-pfs',)
    assert (found.ike_lifetime, found.esp_lifetime, found.dpd_interval) == (7200, 3600, 15)
    assert found.authentication.secret == 'a-secret-of-ike'
    assert found.force_encapsulation


def test_document_with_certificates():
    values = x509(certificate='LOCKED', passphrase='open')
    values['ipsec']['authentication'].update({'local_id': 'me', 'remote_id': 'O=LEON, CN=*'})
    found = parsed(values).authentication
    assert found.certificate == b'-----BEGIN CERTIFICATE-----\nT1dO\n-----END CERTIFICATE-----\n'
    assert b'BEGIN PRIVATE KEY' in found.private_key
    assert found.ca_certificates == (
        b'-----BEGIN CERTIFICATE-----\nQ0E=\n-----END CERTIFICATE-----\n',)
    assert (found.local_id, found.remote_id) == ('me', 'O=LEON, CN=*')


# --- the commit ---

LEON0 = {
    'source-address': ['192.0.2.1'],
    'authentication': {'pre-shared-secret': 'correct-horse-battery'},
    'ipsec': {
        'ike-group': 'IKE',
        'esp-group': 'ESP',
        'authentication': {'mode': 'pre-shared-secret', 'pre-shared-secret': 'a-secret-of-ike'},
    },
}
GROUPS = {
    'ike-group': {'IKE': {'proposal': {'1': {'encryption': 'aes256', 'hash': 'sha256'}}}},
    'esp-group': {'ESP': {'proposal': {'1': {'encryption': 'aes256', 'hash': 'sha256'}}}},
}
START = 'timeout 20 systemctl reload-or-restart leon-ipsec@leon0.service'


@pytest.fixture
def commit(load_script, host, run_dir, tmp_path, monkeypatch):
    script = load_script('vyos-1x-leon/conf_mode/interfaces_leon.py')
    monkeypatch.setattr(ipsec, 'RUN_DIR', str(tmp_path / 'leon-ipsec'))

    # VyOS puts nodes that have a default into every interface.
    host.defaults = {'ipsec': {'authentication': {'mode': 'pre-shared-secret'}}}

    def run(leon0):
        leon = {} if leon0 is None else {'leon0': leon0}
        host.config = {'interfaces': {'leon': leon}, 'vpn': {'ipsec': GROUPS}}
        host.journal.clear()
        found = script.get_config()
        script.verify(found)
        script.generate(found)
        script.apply(found)
        return [what for verb, what in host.journal if verb == 'run']

    return run


def without_ipsec():
    return {key: value for key, value in LEON0.items() if key != 'ipsec'}


def test_the_firewall_comes_before_leond(commit, run_dir, tmp_path):
    runs = commit(LEON0)
    restart = next(what for what in runs if 'restart leond@' in what)
    assert runs.index(START) < runs.index(restart)
    path = tmp_path / 'leon-ipsec/leon0.json'
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    assert stat.S_IMODE(path.parent.stat().st_mode) == 0o700
    assert json.loads(path.read_text())['authentication']['pre-shared-secret'] == 'a-secret-of-ike'
    # leond has no use for it.
    assert 'a-secret-of-ike' not in (run_dir / 'leon0.json').read_text()


def test_no_leond_where_ipsec_cannot_be_set_up(commit, host):
    host.programs[START] = (1, '')
    runs = commit(LEON0)
    stop = runs.index('systemctl stop leond@leon0.service')
    assert stop > runs.index(START)
    (warned,) = [what for verb, what in host.journal if verb == 'warning']
    assert 'nothing is sent without' in warned


@pytest.mark.parametrize('after', [without_ipsec(), {**LEON0, 'disable': {}}, None],
                         ids=['removed', 'disabled', 'deleted'])
def test_ipsec_ends(commit, tmp_path, after):
    commit(LEON0)
    runs = commit(after)
    stop = runs.index('systemctl stop leon-ipsec@leon0.service')
    guard = next(i for i, what in enumerate(runs) if what.endswith(' guard'))
    assert stop < guard
    assert not (tmp_path / 'leon-ipsec/leon0.json').exists()
    if after != without_ipsec():
        assert runs.index('systemctl stop leond@leon0.service') < stop


def test_without_ipsec_nothing_is_asked_of_it(commit):
    assert not any('ipsec' in what for what in commit(without_ipsec()))


def test_faults_are_refused(commit):
    bad = {**LEON0, 'ipsec': {**LEON0['ipsec'], 'ike-group': 'WHAT'}}
    with pytest.raises(ConfigError, match='There is no ike-group WHAT'):
        commit(bad)
