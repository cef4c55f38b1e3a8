# SPDX-License-Identifier: GPL-2.0-or-later
"""`interfaces leon leonN ipsec`: faults, the document of leon-ipsec, and the commit."""

import json
import re
import shutil
import stat
import subprocess
from pathlib import Path

import pytest
from vyos import ConfigError
from vyos import pki as fake_pki
from vyos.template import get_esp_ike_cipher

from leon_ipsec import guard, settings
from vyos_leon import ipsec

TOP = Path(__file__).resolve().parents[2]
SECRET = {'authentication': {'pre_shared_secret': 'a-secret-of-ike'}}
VPN = {
    'ike_group': {
        'IKE': {
            'lifetime': '7200',
            'dead_peer_detection': {'action': 'restart', 'interval': '15'},
            'proposal': {'1': {'encryption': 'aes256gcm128', 'hash': 'sha384'}},
        },
        'EMPTY': {},
        'SHORT': {'lifetime': '0', 'proposal': {'1': {'encryption': 'a', 'hash': 'b'}}},
        'OLD': {'key_exchange': 'ikev1', 'proposal': {'1': {'encryption': 'a', 'hash': 'b'}}},
    },
    'esp_group': {
        'ESP': {
            'pfs': 'enable',
            'proposal': {'1': {'encryption': 'aes256gcm128', 'hash': 'sha384'}},
        },
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
        (config(ike_group='SHORT'), 'The lifetime of the ike-group SHORT is too short'),
        (config(ike_group='OLD'), 'OLD is for IKEv1 and LEON uses IKEv2'),
        (config(authentication={}), 'IPsec has no secret'),
        (config(authentication={'pre_shared_secret': 'OUTPUT OF leonctl generate secret'}),
         'IPsec is a placeholder'),
        (config(authentication={'pre_shared_secret': 'ChangeMe'}), 'or an obvious secret'),
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
    # The error, and then the remedy.
    assert all(re.search(r'[Ss]et "|correct "', text) for text in found)
    assert not any('a-secret-of-ike' in text for text in found)


ETH0, ETH1 = {'source_interface': 'eth0'}, {'source_interface': 'eth1'}


@pytest.mark.parametrize(
    'values, other, sentence',
    [
        (config(), {**config(), 'vni': '1', 'port': '7000'}, 'leon1 has an IPsec secret for the'),
        (config(), {**x509(), 'port': '7000'}, None),
        (config(), {**config(), 'vni': '7', 'port': '7000'}, None),
        (config(), {'vni': '1', 'port': '7000'}, None),
        ({**config(), **ETH0}, {**ETH1, 'vni': '7'}, 'leon1 has the same port'),
        ({**ETH0, 'port': '5366'}, {**config(), **ETH1}, 'leon1 has the same port'),
        ({**config(), **ETH0}, {**ETH1, 'port': '7000'}, None),
        (ETH0, ETH1, None),
        ({**config(), **ETH0}, {**config(), **ETH1, 'disable': {}}, None),
        ({**config(), **ETH0, 'disable': {}}, {**config(), **ETH1}, None),
        ({**config(), 'source_address': '192.0.2.1'}, {'source_address': '192.0.2.9'}, None),
    ],
)
def test_interfaces_that_cannot_work_together(values, other, sentence):
    found = list(ipsec.clashes(values, {'leon1': other}))
    assert len(found) == bool(sentence) and (sentence or '') in ''.join(found)
    assert all(': set "' in text for text in found)


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
    """The values as leon-ipsec reads the file."""
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

    # VyOS adds nodes with a default to every interface.
    host.defaults = {'ipsec': {'authentication': {'mode': 'pre-shared-secret'}}}

    def run(leon0, groups=GROUPS, fails=False, **others):
        leon = others if leon0 is None else {'leon0': leon0, **others}
        host.config = {'interfaces': {'leon': leon}, 'vpn': {'ipsec': groups}}
        host.journal.clear()
        found = script.get_config()
        script.verify(found)
        script.generate(found)
        with monkeypatch.context() as patched:
            if fails:
                patched.setattr(script.LeonIf, 'set_mac', lambda self, mac: 1 / 0)
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
    # leond does not need the secret.
    assert 'a-secret-of-ike' not in (run_dir / 'leon0.json').read_text()


def test_the_release_that_an_upgrade_kept_is_replaced(commit, host, daemon, tmp_path):
    served = daemon({'version': 1, 'error': 'configuration refused'})
    previous = tmp_path / 'leond'
    shutil.copy('/bin/sleep', previous)
    with subprocess.Popen([previous, '60']) as process:
        previous.unlink()
        host.programs['systemctl show --property MainPID --value leond@leon0'] = (0, f'{process.pid}')
        try:
            runs = commit(LEON0)
        finally:
            process.kill()
    assert [what for what in runs if 'restart' in what] == [
        START.replace('reload-or-', ''), 'timeout 20 systemctl restart leond@leon0.service']
    assert served.requests == []


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


def test_ipsec_ends_after_a_failed_commit(commit, tmp_path):
    """Until then, the firewall stays closed for a leond that restarts."""
    commit(LEON0)
    file = tmp_path / 'leon-ipsec/leon0.json'
    with pytest.raises(ZeroDivisionError):
        commit(without_ipsec(), fails=True)
    assert file.exists()
    assert any(what.endswith(' guard') for what in commit(without_ipsec()))
    assert not file.exists()


def test_without_ipsec_nothing_is_asked_of_it(commit):
    assert not any('ipsec' in what for what in commit(without_ipsec()))


def test_groups_have_the_defaults_of_vyos(commit, tmp_path):
    """Except for the detection of dead peers, which VyOS enables only if it is configured."""
    proposal = {'proposal': {'1': {'encryption': 'aes256gcm128'}}}
    ike = {**proposal, 'dead-peer-detection': {'interval': '20'}}
    commit(LEON0, {'ike-group': {'IKE': ike}, 'esp-group': {'ESP': proposal}})
    document = json.loads((tmp_path / 'leon-ipsec/leon0.json').read_text())
    assert document['ike-group']['proposal'] == ['aes256gcm128-sha1-2']
    assert document['esp-group']['proposal'] == ['aes256gcm128-sha1-pfs', 'aes256gcm128-sha1']
    assert document['ike-group']['dead-peer-detection'] == {'interval': 20}
    commit(LEON0, {'ike-group': {'IKE': proposal}, 'esp-group': {'ESP': proposal}})
    document = json.loads((tmp_path / 'leon-ipsec/leon0.json').read_text())
    assert 'dead-peer-detection' not in document['ike-group']


@pytest.mark.parametrize('pfs, kinds', [
    ({}, ['-pfs', '']), ({'pfs': 'enable'}, ['-pfs']), ({'pfs': 'disable'}, [''])
])  # fmt: skip
def test_keys_are_renewed_with_a_node_of_0_2_0(commit, tmp_path, pfs, kinds):
    """Without `pfs` in the configuration, 0.2.0 offers no forward secrecy."""
    esp = {**GROUPS['esp-group']['ESP'], **pfs}
    commit(LEON0, {**GROUPS, 'esp-group': {'ESP': esp}})
    document = json.loads((tmp_path / 'leon-ipsec/leon0.json').read_text())
    assert document['esp-group']['proposal'] == [f'aes256-sha256{kind}' for kind in kinds]


def test_faults_are_refused(commit):
    bad = {**LEON0, 'ipsec': {**LEON0['ipsec'], 'ike-group': 'WHAT'}}
    with pytest.raises(ConfigError, match='There is no ike-group WHAT'):
        commit(bad)


def test_a_second_secret_for_the_vni_is_refused(commit, host):
    leon1 = {**LEON0, 'port': '7000'}
    with pytest.raises(ConfigError, match='leon1 has an IPsec secret for the same VNI'):
        commit(LEON0, leon1=leon1)
    host.booting = True
    commit(LEON0, leon1=leon1)


# --- `vpn ipsec` ---

VYOS = """
from vyos import ConfigError
from fake_host import host

def get_config(config=None):
    return {'vyos': True} if config.exists(['vpn', 'ipsec']) else None

def verify(ipsec):
    host.journal.append(('vyos', 'verify'))
    if ipsec and host.programs.get('vyos refuses'):
        raise ConfigError('no')

def generate(ipsec):
    host.journal.append(('vyos', 'generate'))

def apply(ipsec):
    host.journal.append(('vyos', 'apply'))
"""


@pytest.fixture
def vpn(load_script, host, tmp_path, monkeypatch):
    """vpn(new groups, leon=...) commits `vpn ipsec` on a router with GROUPS and a simulated script
    of VyOS."""
    path = tmp_path / 'vpn_ipsec.py'
    path.write_text(VYOS)
    # The module contains the path to which dpkg-divert moves the script of VyOS.
    source = (TOP / 'vyos-1x-leon/conf_mode/vpn_ipsec.py').read_text()
    target = tmp_path / 'ours/vpn_ipsec.py'
    target.parent.mkdir()
    target.write_text(source.replace('/usr/libexec/vyos-1x-leon/vyos/vpn_ipsec.py', str(path)))
    script = load_script(target)

    def run(new, leon=None, old=GROUPS):
        interfaces = {'leon': {'leon0': LEON0} if leon is None else leon}
        host.running = {'interfaces': {'leon': {'leon0': LEON0}}, 'vpn': {'ipsec': old}}
        host.config = {'interfaces': interfaces, 'vpn': {} if new is None else {'ipsec': new}}
        host.journal.clear()
        found = script.get_config()
        script.verify(found)
        script.generate(found)
        script.apply(found)
        return host.journal

    return run


EMPTY = {'ike-group': {'IKE': {}}, 'esp-group': GROUPS['esp-group']}
OTHER = {'ike-group': {'IKE': {'proposal': {'1': {'encryption': 'aes128', 'hash': 'sha256'}}}},
         'esp-group': GROUPS['esp-group']}
RAN = [('vyos', 'verify'), ('vyos', 'generate'), ('vyos', 'apply')]


@pytest.mark.parametrize('new, says', [
    (None, 'leon0: There is no ike-group IKE.* leon0: There is no esp-group ESP'),
    ({'ike-group': GROUPS['ike-group']}, 'leon0: There is no esp-group ESP'),
    (EMPTY, 'leon0: The ike-group IKE has no proposal'),
])  # fmt: skip
def test_what_leon_uses_is_not_deleted(vpn, host, new, says):
    """As VyOS refuses the deletion of groups in use. Earlier versions gave no error."""
    with pytest.raises(ConfigError, match=says):
        vpn(new)
    assert host.journal == [('vyos', 'verify')]


def test_deleted_together_with_its_user(vpn):
    assert vpn(None, leon={}) == RAN
    assert vpn(None, leon={'leon0': without_ipsec()}) == RAN


def test_a_group_that_was_missing_before_is_not_the_fault_of_this_commit(vpn):
    assert vpn(EMPTY, old=EMPTY) == RAN


def test_a_changed_group_reaches_leon(vpn):
    assert vpn(GROUPS) == RAN
    assert vpn(OTHER) == [*RAN, ('dependent', ('interfaces_leon', 'leon0'))]
    assert vpn(GROUPS, old=EMPTY) == [*RAN, ('dependent', ('interfaces_leon', 'leon0'))]
    assert vpn({**GROUPS, 'log': {}}) == RAN


def test_a_boot_does_not_lose_vpn_ipsec(vpn, host):
    """Nothing runs yet during a boot, so a missing group is not a deletion."""
    host.booting = True
    assert vpn(EMPTY, old={}) == RAN
    assert vpn(EMPTY) == RAN


def test_vyos_has_its_own_say(vpn, host):
    host.programs['vyos refuses'] = True
    with pytest.raises(ConfigError, match='^no$'):
        vpn(OTHER)


def test_a_boot_with_missing_groups_costs_no_interface(commit, host, tmp_path):
    """The interface exists, and the firewall drops all unprotected datagrams."""
    bad = {**LEON0, 'ipsec': {**LEON0['ipsec'], 'ike-group': 'WHAT'}}
    host.booting = True
    runs = commit(bad)
    assert ('update', 'leon0') in host.journal
    restart = next(what for what in runs if 'restart leond@' in what)
    assert runs.index(START) < runs.index(restart)
    (warned,) = [what for verb, what in host.journal if verb == 'warning']
    assert 'There is no ike-group WHAT' in warned and 'Nothing is sent by leon0' in warned
    document = json.loads((tmp_path / 'leon-ipsec/leon0.json').read_text())
    found = settings.parse({'version': 1, 'interface': 'leon0', 'port': 7000}, document)
    assert 'There is no ike-group WHAT' in found.missing[0] and found.port == 7000
    assert 'sport 7000 rt ipsec missing counter drop' in guard.rules(found)
