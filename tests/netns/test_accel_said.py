# SPDX-License-Identifier: GPL-2.0-or-later
"""Messages from leond to leon-accel, received by a simulated leon-accel."""
import contextlib
import socket
import struct
import time

import pytest

from accel import CONFIG
from lab import wait_for

HERE, NODE, VERSION = 1, 3, 7


@pytest.fixture
def two(lab):
    return lab({'sites': {'a': {}, 'b': {}}, 'config': {'acceleration': CONFIG['acceleration']}}).joined()


def said_of(node, other, within=4):
    """(rtt_us, room, aside) of the other node, or None without a message. leond may not have
    noticed the end of the last process yet. After five seconds of silence, leond regards a process
    as hung."""
    with contextlib.closing(socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET)) as s:
        s.settimeout(within)
        s.connect(node.socket.replace('.sock', '.accel'))
        s.send(bytes([HERE, VERSION]))
        until = time.monotonic() + within
        while time.monotonic() < until:
            with contextlib.suppress(TimeoutError):
                data = s.recv(4096)
                if not data:
                    return None
                if data[0] == NODE and data[1:5] == bytes(other):
                    return struct.unpack('>IHB', data[5:12])
    return None


def test_room_of_a_node_without_a_path(two):
    """The accelerator beyond an unreachable path still exists. Intercepted connections wait for the
    path."""
    a, b = two.node['a'], two.node['b']
    other = [int(n) for n in b.node_id.split('.')]
    rtt_us, room, aside = wait_for(lambda: said_of(a, other), 20, 'something is said')
    assert rtt_us and room > 1000 and not aside
    b.kill()
    wait_for(lambda: a.state_of(b) == 'unreachable', 60, 'there is no path any more')
    wait_for(lambda: said_of(a, other) == (0, 1, 0), 30, 'it has room, and no path')
