# SPDX-License-Identifier: GPL-2.0-or-later
"""tshark decodes each test vector of protocol.md with the generated dissector. Sealed parts stay
sealed."""
import os
import re
import shutil
import struct
import subprocess
import tempfile
import xml.etree.ElementTree
from pathlib import Path

import pytest
from conftest import BUILD, TOP

LUA = BUILD / 'vyos-1x-leon/tools/wireshark/leon.lua'
PROTOCOL = TOP / 'vyos-1x-leon/doc/protocol.md'
PORT = 5366
# As root, Wireshark 4.4 of Debian 13 runs no Lua script.
AS_NOBODY = ['setpriv', '--reuid=nobody', '--regid=nogroup', '--clear-groups'] if os.geteuid() == 0 else []
# Vectors outside frames: keys, parts of their derivation, and the text of a token.
NOT_ON_THE_WIRE = {'master-key', 'key-hello', 'key-session', 'key-guard', 'ephemeral-a', 'ephemeral-b',
                   'dh', 'key-of-session', 'key-a-to-b', 'key-b-to-a', 'key-data-a-to-b', 'link-a-to-b',
                   'token'}
# LEON header of a datagram from A to B; the kind and the flags come first.
HEADER = bytes.fromhex('10012345c0000201c6336402')
INSIDE = {'fragment': b'\x12\x00', 'bundle': b'\x13\x00', 'copy': b'\x15\x00', 'segment': b'\x11\x08'}
SHOWN = {  # a field of each vector in the form of tshark
    'header-direct': ('leon.kind', '1'), 'header-relayed': ('leon.vni', '0xfffffe'),
    'fragment': ('leon.fragment.offset', '1384'), 'bundle': ('leon.bundle.length', '16'),
    'data-aes256gcm': ('leon.data_counter', '7'), 'data-chacha20poly1305': ('leon.epoch', '3'),
    'copy': ('leon.copy.kind', '1'), 'segment': ('leon.segment.id', '70010'),
    'datagram-hello': ('leon.session', '0x0000000000000000'), 'datagram-ping': ('leon.counter', '1'),
    'msg-hello': ('leon.hello.observed', '192.0.2.77'),
    'msg-summary-request': ('leon.message', '2'), 'msg-summary': ('leon.summary.sequence', '3'),
    'msg-fetch': ('leon.fetch.origin', '192.0.2.1'), 'msg-record': ('leon.record.name', 'tokyo'),
    'msg-row': ('leon.row.rtt', '21700'), 'msg-short-row': ('leon.short_row.mtu', '1472'),
    'msg-ping': ('leon.ping.id', '7'),
    'msg-ping-line': ('leon.line', '2'),
    'msg-pong': ('leon.pong.limit', '47500'), 'msg-pong-received': ('leon.received', '1500000000'),
    'msg-notice': ('leon.notice.next', '203.0.113.3'),
    'msg-secrets': ('leon.secrets.secrets', '16909060'),
    'msg-groups': ('leon.groups.sequence', '3'), 'msg-groups-ack': ('leon.groups_ack.sequence', '3'),
    'msg-capture-start': ('leon.capture_start.seconds', '10'),
    'msg-capture-read': ('leon.capture_read.offset', '4096'),
    'msg-capture-data': ('leon.capture_data.frames', '65'),
    'msg-capture-lookup': ('leon.capture_lookup.destination', '198.51.100.2'),
    'msg-capture-seen': ('leon.capture_seen.source', '192.0.2.1'),
    'msg-conflict': ('leon.conflict.flags', '1'), 'guard': ('leon.guard.sequence', '1'),
    'guard-tagged': ('leon.guard.segment', '10'), 'accel-hello': ('leon.accel.hello.window', '26'),
    'accel-offer': ('leon.accel.offer.near', '192.0.2.1'),
}


def vectors() -> dict:
    found = re.findall(r'^```hex (\S+)\n(.*?)^```', PROTOCOL.read_text(), re.M | re.S)
    return {name: bytes.fromhex(re.sub(r'#.*', '', body)) for name, body in found
            if name not in NOT_ON_THE_WIRE}


def datagram(name: str, vector: bytes) -> bytes:
    if name in INSIDE:
        return INSIDE[name] + HEADER + vector
    if name == 'msg-hello':  # clear mode: session 0 and a salt of zeros
        return b'\x14\x00' + HEADER + bytes(24) + vector
    if name.startswith('msg-'):
        return b'\x14\x00' + HEADER + struct.pack('>QQ', 1, 1) + vector
    return vector


def frame(name: str, vector: bytes) -> bytes:
    """An Ethernet frame with the vector at the end."""
    if name.startswith('guard'):
        return vector
    payload, protocol = datagram(name, vector), 17
    if name.startswith('accel-'):
        protocol = 6
        head = struct.pack('>HHIIBBHHH', 40000, PORT, 1, 1, 5 << 4, 0x18, 1000, 0, 0)
    else:
        head = struct.pack('>HHHH', 40000, PORT, 8 + len(payload), 0)
    ip = struct.pack('>BBHHHBBH4s4s', 0x45, 0, 20 + len(head) + len(payload), 0, 0, 64, protocol, 0,
                     bytes([192, 0, 2, 1]), bytes([198, 51, 100, 2]))
    return bytes(6) + bytes.fromhex('020000000001') + b'\x08\x00' + ip + head + payload


@pytest.fixture(scope='module')
def decoded(request) -> dict:
    """The element <packet> of each vector."""
    if not shutil.which('tshark'):
        pytest.skip('tshark is not installed')
    # The build may be in a directory that only root can read.
    home = Path(tempfile.mkdtemp(prefix='leon-dissector-'))
    request.addfinalizer(lambda: shutil.rmtree(home))
    home.chmod(0o755)
    script, capture = home / 'leon.lua', home / 'vectors.pcap'
    script.write_bytes(LUA.read_bytes())
    frames = {name: frame(name, vector) for name, vector in vectors().items()}
    with open(capture, 'wb') as f:
        f.write(struct.pack('<IHHiIII', 0xa1b2c3d4, 2, 4, 0, 0, 65535, 1))
        for second, data in enumerate(frames.values()):
            f.write(struct.pack('<IIII', second, 0, len(data), len(data)) + data)
    done = subprocess.run(
        [*AS_NOBODY, 'tshark', '-r', capture, '-X', f'lua_script:{script}', '-o', 'tcp.analyze_sequence_numbers:FALSE',
         '-T', 'pdml'], capture_output=True, text=True, timeout=300, check=True,
        env={'PATH': '/usr/bin:/bin', 'HOME': '/nonexistent'})
    packets = xml.etree.ElementTree.fromstring(done.stdout).findall('packet')
    assert len(packets) == len(frames)
    return dict(zip(frames, packets))


def covered(packet) -> set:
    """Offsets in the frame of bytes covered by a field without subfields."""
    offsets = set()
    for field in packet.iter('field'):
        if not field.findall('field') and field.get('name') not in ('leon.padding', 'leon.accel.bytes'):
            begin = int(field.get('pos'))
            offsets |= set(range(begin, begin + int(field.get('size'))))
    return offsets


@pytest.mark.parametrize('name', vectors())
def test_vector(decoded, name):
    packet = decoded[name]
    malformed = [p.get('name') for p in packet.iter('proto') if 'malformed' in p.get('name')]
    assert malformed == []
    end = len(frame(name, vectors()[name]))
    missing = set(range(end - len(vectors()[name]), end)) - covered(packet)
    assert missing == set(), 'bytes that no field shows'
    if name in SHOWN:
        field, value = SHOWN[name]
        shown = [f.get('show') for f in packet.iter('field') if f.get('name') == field]
        assert value in shown


def test_sealed_part_stays_sealed(decoded):
    names = {field.get('name') for field in decoded['datagram-ping'].iter('field')}
    assert 'leon.sealed' in names and 'leon.message' not in names
