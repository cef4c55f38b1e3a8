# SPDX-License-Identifier: GPL-2.0-or-later
"""Parts of the IPsec manager: documents, rules of the guard, VICI messages, and kernel state after
a crash of charon."""

import json
import os
import re
import socket
import struct
import subprocess
import threading
from pathlib import Path

import pytest

from leon_ipsec import control, guard, kernel, settings, vici
from vyos_leon import ipsec

TOP = Path(__file__).resolve().parents[2]

SECRET = {'mode': 'pre-shared-secret', 'pre-shared-secret': 'long enough'}
DAEMON = {'version': 1, 'interface': 'leon0'}


def parse(**changes):
    return settings.parse(DAEMON, {'version': 1, 'authentication': SECRET, **changes})


# --- documents ---


def test_defaults():
    found = parse()
    assert (found.port, found.vni, found.sources) == (5366, 1, ())
    assert found.socket == '/run/leon/leon0.sock'
    assert (found.ike_lifetime, found.esp_lifetime, found.dpd_interval) == (28800, 3600, 10)


@pytest.mark.parametrize(
    'changes, sentence',
    [
        ({'version': 2}, 'version: this leon-ipsec reads version 1'),
        ({'what': 1}, 'what is not known'),
        ({'ike-group': {'what': 1}}, 'ike-group.what is not known'),
        ({'ike-group': 7}, 'ike-group must be an object'),
        ({'ike-group': {'lifetime': 1}}, 'ike-group.lifetime must be a number from 30 to 86400'),
        ({'ike-group': {'lifetime': True}}, 'ike-group.lifetime must be a number'),
        ({'esp-group': {'proposal': []}}, 'esp-group.proposal is empty'),
        ({'esp-group': {'proposal': ['a b']}}, 'esp-group.proposal must be a list'),
        ({'esp-group': {'proposal': 'aes128'}}, 'esp-group.proposal must be a list'),
        (
            {'ike-group': {'dead-peer-detection': {'interval': 1}}},
            'ike-group.dead-peer-detection.interval must be a number from 2 to 86400',
        ),
        ({'authentication': {'mode': 'rsa'}}, 'authentication.mode must be'),
        ({'authentication': {}}, 'pre-shared-secret must have 8 characters or more'),
        (
            {'authentication': {'pre-shared-secret': 'OUTPUT OF leonctl generate secret'}},
            'authentication.pre-shared-secret is a placeholder',
        ),
        (
            {'authentication': {'pre-shared-secret': 'ChangeMe'}},
            'authentication.pre-shared-secret is a placeholder or an obvious secret',
        ),
        (
            {'authentication': {**SECRET, 'certificate': 'x'}},
            'authentication.certificate is not known',
        ),
        (
            {'authentication': {'mode': 'x509'}},
            'authentication.ca-certificate must be a list',
        ),
        (
            {'authentication': {'mode': 'x509', 'ca-certificate': ['x']}},
            'authentication.certificate is missing',
        ),
        ({'force-udp-encapsulation': 1}, 'force-udp-encapsulation must be true or false'),
    ],
)
def test_faults(changes, sentence):
    with pytest.raises(settings.SettingsError) as e:
        parse(**changes)
    assert sentence in str(e.value)
    assert 'long enough' not in str(e.value)


def test_obvious_secrets_are_those_of_leond():
    source = (TOP / 'vyos-1x-leon/dataplane/state/conf/conf_secrets.c').read_text()
    (listed,) = re.findall(r'obvious\[\] = \{(.*?)\};', source, re.S)
    obvious = set(re.findall('"(.*)"', listed))
    assert 'changeme' in obvious
    assert settings.OBVIOUS_SECRETS == ipsec.OBVIOUS_SECRETS == obvious


def test_files_are_named_in_the_fault(tmp_path):
    daemon, ipsec = tmp_path / 'leon0.json', tmp_path / 'leon0.ipsec.json'
    with pytest.raises(settings.SettingsError, match='leon0.json: No such file'):
        settings.load(daemon, ipsec)
    daemon.write_text(json.dumps(DAEMON))
    ipsec.write_text('{')
    with pytest.raises(settings.SettingsError, match='leon0.ipsec.json: '):
        settings.load(daemon, ipsec)
    ipsec.write_text(json.dumps({'version': 1, 'authentication': SECRET}))
    assert settings.load(daemon, ipsec).interface == 'leon0'


# --- guard ---


def rules(**daemon):
    found = settings.parse({**DAEMON, **daemon}, {'version': 1, 'authentication': SECRET})
    return guard.rules(found)


def test_guard_of_all_addresses():
    text = rules(port=7000)
    assert '\t\tudp sport 7000 rt ipsec missing counter drop' in text
    assert '\t\tudp dport 7000 meta ipsec missing counter drop' in text
    # The destination port in the quoted packet of ICMP: 8 + 20 + 2 bytes, and 8 + 40 + 2.
    assert '@th,240,16 7000 rt ipsec missing counter drop' in text
    assert '@th,400,16 7000 rt ipsec missing counter drop' in text
    # A single transaction leaves no moment without rules.
    assert text.startswith('table inet leon_ipsec_leon0\ndelete table inet leon_ipsec_leon0\n')


def test_guard_of_source_addresses_leaves_others_alone():
    text = rules(**{'source-address': ['192.0.2.1', '2001:db8::1']})
    assert 'ip saddr { 192.0.2.1 } udp sport 5366 rt ipsec missing' in text
    assert 'ip6 saddr { 2001:db8::1 } udp sport 5366 rt ipsec missing' in text
    assert 'ip daddr { 192.0.2.1 } udp dport 5366 meta ipsec missing' in text
    assert '\t\tudp sport' not in text


def test_guard_keeps_the_rules_of_the_former_settings():
    """leond uses the former port and addresses until its restart."""
    def parsed(**daemon):
        return settings.parse({**DAEMON, **daemon}, {'version': 1, 'authentication': SECRET})

    text = guard.rules(parsed(port=7000), parsed(**{'source-address': ['192.0.2.1']}))
    for rule in (
        'udp sport 7000 rt', 'ip saddr { 192.0.2.1 } udp sport 5366 rt', '@th,240,16 5366 rt',
        'udp dport 7000 meta', 'ip daddr { 192.0.2.1 } udp dport 5366 meta', '@th,240,16 7000 rt',
    ):  # fmt: skip
        assert text.count(f'{rule} ipsec missing counter drop\n') == 1
    assert guard.rules(parsed(), parsed()) == rules()


def test_names_of_tables():
    assert guard.table_name('leon0') == 'leon_ipsec_leon0'
    names = ('my-if.7', 'my_if_7', 'my.if-7', 'a b', 'a\xe4b')
    assert len({guard.table_name(name) for name in names}) == len(names)
    assert guard.table_name('a b') == 'leon_ipsec_a/20/b'


def test_only_a_missing_table_counts_as_removed(monkeypatch):
    answer = subprocess.CompletedProcess([], 1, '', 'Error: No such file or directory')
    monkeypatch.setattr(guard, '_run', lambda *_: answer)
    assert guard.is_installed('leon0') is False
    answer.stderr = 'Error: Operation not permitted'
    with pytest.raises(guard.GuardError, match='not permitted'):
        guard.is_installed('leon0')
    answer.returncode, answer.stdout = 0, 'table inet leon_ipsec_leon0 {\n\t\tudp dport 5366 drop\n}\n'
    assert guard.is_installed('leon0') is True


@pytest.mark.skipif(os.geteuid() != 0, reason='nft reads the rules of the kernel first')
@pytest.mark.parametrize('sources', [[], ['192.0.2.1'], ['192.0.2.1', '2001:db8::1']])
def test_nft_takes_the_guard(sources):
    text = rules(interface='a b-7.x', **{'source-address': sources})
    script = f'unshare -n nft --check -f - <<E\n{text}E\n'
    done = subprocess.run(['sh', '-c', script], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr


def test_a_missing_nft_is_said(monkeypatch):
    monkeypatch.setenv('PATH', '/nonexistent')
    with pytest.raises(guard.GuardError, match='nft cannot be run'):
        guard.remove('leon0')


# --- VICI ---


def test_messages_there_and_back():
    message = {
        'a': 'text',
        'list': ['x', 'y', ''],
        'empty': [],
        'section': {'deeper': {'key': 'value'}, 'list': ['1']},
    }
    assert vici.decode(vici.encode(message)) == message
    # By hand, as in strongSwan's description of the protocol.
    assert vici.encode({'k': 'v'}) == b'\x03\x01k\x00\x01v'
    assert vici.encode({'s': {'l': ['v']}}) == b'\x01\x01s\x04\x01l\x05\x00\x01v\x06\x02'


def test_cut_and_mutated_messages_are_refused_in_words():
    data = vici.encode({'section': {'list': ['x', 'y'], 'key': 'value' * 20}})
    for length in range(len(data)):
        try:
            vici.decode(data[:length])
        except vici.ViciError:
            continue
    for at in range(len(data)):
        for value in (0, 1, 4, 7, 255):
            try:
                vici.decode(data[:at] + bytes([value]) + data[at + 1:])
            except vici.ViciError:
                continue
    with pytest.raises(vici.ViciError):
        vici.decode(b'\x01\x01s' * 1000)


class Server(threading.Thread):
    """Plays back packets for any request."""

    def __init__(self, path, packets, keep_open=False):
        super().__init__(daemon=True)
        self.packets, self.keep_open = packets, keep_open
        self.asked = b''
        self.listener = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        self.listener.bind(str(path))
        self.listener.listen()
        self.done = threading.Event()
        self.start()

    def run(self):
        sock, _ = self.listener.accept()
        for packet in self.packets:
            self.asked += sock.recv(65536)
            sock.sendall(packet)
        if self.keep_open:
            self.done.wait(30)
        sock.close()


def packet(kind, data=b''):
    return struct.pack('!IB', 1 + len(data), kind) + data


@pytest.fixture
def charon(tmp_path):
    servers = []

    def start(*packets, keep_open=False, timeout=60):
        server = Server(tmp_path / 'vici', packets, keep_open)
        servers.append(server)
        return vici.Vici(str(tmp_path / 'vici'), timeout)

    yield start
    for server in servers:
        server.done.set()
        server.join(5)
        server.listener.close()


def test_call(charon):
    answer = charon(packet(1, vici.encode({'conns': ['a']}))).call('get-conns')
    assert answer == {'conns': ['a']}


def test_refusal(charon):
    says = vici.encode({'success': 'no', 'errmsg': 'because'})
    with pytest.raises(vici.Refused, match='load-conn: because'):
        charon(packet(1, says)).call('load-conn', {})


def test_stream(charon):
    event = b'\x07list-sa' + vici.encode({'leon0-any': {'state': 'x'}})
    connection = charon(
        packet(5), packet(7, event) + packet(7, event) + packet(1), packet(5)
    )
    assert connection.stream('list-sas', 'list-sa') == [{'leon0-any': {'state': 'x'}}] * 2


@pytest.mark.parametrize(
    'answer',
    [
        packet(2),
        packet(1, b'\x03\x05k'),
        struct.pack('!I', 0),
        struct.pack('!I', 1 << 30),
        b'\0\0',
        b'',
    ],
    ids=['unknown', 'garbled', 'empty', 'huge', 'cut', 'closed'],
)
def test_bad_answers(charon, answer):
    connection = charon(answer)
    with pytest.raises(vici.ViciError):
        connection.call('get-conns')


def test_silence_has_a_deadline(charon):
    connection = charon(b'', keep_open=True, timeout=0.2)
    with pytest.raises(vici.ViciError, match='within 0.2 s'):
        connection.call('get-conns')


def test_nobody_there(tmp_path):
    with pytest.raises(vici.ViciError, match='does not listen'):
        vici.Vici(str(tmp_path / 'nothing'))


# --- leond's socket ---


@pytest.mark.parametrize(
    'answer, sentence',
    [
        (b'{"error": "no"}\n', 'leond refuses show ipsec: no'),
        (b'[]\n', 'not an object'),
        (b'{\n', 'not JSON'),
        (b'{"version"', 'half an answer'),
    ],
)
def test_bad_answers_of_leond(tmp_path, answer, sentence):
    server = Server(tmp_path / 'sock', [answer])
    with pytest.raises(control.ControlError, match=sentence):
        control.request(str(tmp_path / 'sock'), 'show ipsec', timeout=60)
    server.join(5)
    server.listener.close()


def test_no_leond(tmp_path):
    with pytest.raises(control.ControlError, match='does not answer'):
        control.request(str(tmp_path / 'sock'), 'show ipsec')


# --- state after a crash ---

POLICIES = """\
src 192.0.2.1/32 dst 192.0.2.2/32 proto udp sport 5366 dport 5366 
\tdir out priority 367231 
\ttmpl src 0.0.0.0 dst 0.0.0.0
\t\tproto esp spi 0xc1 reqid 7 mode transport
src 192.0.2.2/32 dst 192.0.2.1/32 proto udp sport 5366 dport 5366 
\tdir in priority 367231 
\ttmpl src 0.0.0.0 dst 0.0.0.0
\t\tproto esp reqid 7 mode transport
src 192.0.2.1/32 dst 192.0.2.2/32 proto udp sport 5377 dport 5366 
\tdir out priority 367231 
\ttmpl src 0.0.0.0 dst 0.0.0.0
\t\tproto esp reqid 8 mode transport
src 10.0.0.0/8 dst 10.1.0.0/16 
\tdir out priority 375423 
\ttmpl src 192.0.2.1 dst 192.0.2.9
\t\tproto esp spi 0xc9 reqid 9 mode tunnel
src ::/0 dst ::/0 
\tsocket in priority 0 
"""  # noqa: W291 (as `ip` prints it)
STATES = """\
src 192.0.2.1 dst 192.0.2.2
\tproto esp spi 0x000000c1 reqid 7 mode transport
\treplay-window 0 
src 192.0.2.1 dst 192.0.2.9
\tproto esp spi 0x000000c9 reqid 9 mode tunnel
\treplay-window 0 flag af-unspec
src 192.0.2.3 dst 192.0.2.1
\tproto esp spi 0x000000c3 reqid 8 mode transport
"""  # noqa: W291 (as `ip` prints it)


def test_only_what_is_ours_is_removed():
    ours = '192.0.2.{}/32 proto udp sport 5366 dport 5366'
    assert kernel.stale(POLICIES, STATES, 5366) == [
        f'policy delete src 192.0.2.1/32 dst {ours.format(2)} dir out'.split(),
        f'policy delete src 192.0.2.2/32 dst {ours.format(1)} dir in'.split(),
        'state delete src 192.0.2.1 dst 192.0.2.2 proto esp spi 0x000000c1'.split(),
    ]
    assert kernel.stale('', '', 5366) == []


def test_state_of_other_own_addresses_stays():
    """Another interface with IPsec uses the port at them."""
    assert kernel.stale(POLICIES, STATES, 5366, ('192.0.2.99', '2001:DB8::0')) == []
    assert kernel.stale(POLICIES, STATES, 5366, ('192.0.2.2',)) == []
    of_all = kernel.stale(POLICIES, STATES, 5366)
    assert kernel.stale(POLICIES, STATES, 5366, ('192.0.2.1',)) == of_all
    six = POLICIES.replace('192.0.2.', '2001:db8::').replace('/32', '/128')
    assert len(kernel.stale(six, STATES, 5366, ('2001:DB8::0:1',))) == 3
