# SPDX-License-Identifier: GPL-2.0-or-later
"""Segments are merged before leon-accel. A host without segmentation and checksum offload receives
single segments with correct checksums."""
import ctypes
import fcntl
import socket
import struct

import pytest

from accel import MB, both_ways

RTT_MS = 60
SIOCETHTOOL = 0x8946
SET = {'rx-checksum': 0x15, 'tx-checksum': 0x17, 'sg': 0x19, 'tso': 0x1f, 'gso': 0x24, 'gro': 0x2c}


def switch(namespace, device, on):
    """Switches all offloads of a device. The order respects dependencies between offloads."""
    with namespace:
        s = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
    with s:
        for name in SET if on else reversed(SET):
            value = ctypes.create_string_buffer(struct.pack('=II', SET[name], on))
            fcntl.ioctl(s, SIOCETHTOOL, struct.pack('16sP16x', device.encode(), ctypes.addressof(value)))


@pytest.fixture
def bare(far):
    """The host at b, and the port of the host."""
    host = far.host['b']
    ends = [(host.node_namespace, host.port), (host.namespace, 'eth0')]
    for end in ends:
        switch(*end, 0)
    yield host
    for end in ends:
        switch(*end, 1)


def wrong_sums(namespace):
    text = namespace.run('cat', '/proc/net/snmp').stdout
    names, values = (line.split() for line in text.splitlines() if line.startswith('Tcp:'))
    return int(dict(zip(names, values))['InCsumErrors'])


@pytest.mark.parametrize('family', ['ip4', 'ip6'])
def test_a_host_without_offloads(far, bare, family):
    """Transfers in both directions: before, during and after the interception."""
    spaces = [x.namespace for x in (*far.host.values(), *far.accel.values())]
    before = [wrong_sums(x) for x in spaces]
    super_frames = [far.node[name].counter('accel_in_super') for name in 'ab']
    t = both_ways((far.host['a'], bare), getattr(bare, family))
    far.cycle(t, 2)
    t.wait_more(MB)
    t.finish(60).assert_whole()
    far.assert_no_resets()
    assert [wrong_sums(x) for x in spaces] == before
    # At both nodes, because data flows in both directions.
    assert all(far.node[name].counter('accel_in_super') > n for name, n in zip('ab', super_frames))
