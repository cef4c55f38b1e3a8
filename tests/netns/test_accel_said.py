# SPDX-License-Identifier: GPL-2.0-or-later
"""What leond says to leon-accel, as one that is made up here hears it."""
import contextlib
import socket
import struct
import time

import pytest

from accel import CONFIG
from lab import wait_for

HERE, NODE, VERSION = 1, 3, 6


@pytest.fixture
def two(lab):
    return lab({'sites': {'a': {}, 'b': {}}, 'config': {'acceleration': CONFIG['acceleration']}}).joined()


def said_of(node, other, within=4):
    """(rtt_us, room, aside) of the other node; None: nothing was said, as where leond has not
    noticed yet that the one before has gone. It takes one that is silent for hung after five
    seconds."""
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
    """Its accelerator is not gone with the path: what was taken there waits for it."""
    a, b = two.node['a'], two.node['b']
    other = [int(n) for n in b.node_id.split('.')]
    rtt_us, room, aside = wait_for(lambda: said_of(a, other), 20, 'something is said')
    assert rtt_us and room > 1000 and not aside
    b.kill()
    wait_for(lambda: a.state_of(b) == 'unreachable', 60, 'there is no path any more')
    wait_for(lambda: said_of(a, other) == (0, 1, 0), 30, 'it has room, and no path')
