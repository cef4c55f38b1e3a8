# SPDX-License-Identifier: GPL-2.0-or-later
"""A second implementation of SCLP after the paper (header, checksum, segments), for comparison
with leon-sclp, and two connected leon-sclp."""
import json
import os
import signal
import socket
import struct
import subprocess
import time
from typing import NamedTuple

import ns
from node import find_program, wait_for

PROTOCOL = 234
PORT = 4789
SO_RCVBUFFORCE = 33


class Segment(NamedTuple):
    source: int
    dest: int
    identification: int
    first: bool
    remaining: int
    payload: bytes


def ones_sum(data):
    total = sum(struct.unpack(f'!{(len(data) + 1) // 2}H', data + bytes(len(data) % 2)))
    while total >> 16:
        total = (total & 0xffff) + (total >> 16)
    return total


def encode(segment):
    head = struct.pack('!HHIH', segment.source, segment.dest,
                       (segment.identification & ~1) | segment.first, segment.remaining)
    check = ~ones_sum(head + bytes(2) + segment.payload) & 0xffff
    return head + struct.pack('!H', check) + segment.payload


def decode(data):
    source, dest, identification, remaining, _ = struct.unpack('!HHIHH', data[:12])
    assert ones_sum(data) == 0xffff, 'the checksum is wrong'
    return Segment(source, dest, identification & ~1, bool(identification & 1), remaining, data[12:])


def cut(payload, mss, identification, source=50000):
    found = []
    for at in range(0, len(payload), mss):
        piece = payload[at:at + mss]
        found.append(Segment(source, PORT, identification, at == 0, len(payload) - at - len(piece),
                             piece))
    return found


def vxlan(frame, vni=7):
    return struct.pack('!II', 0x08000000, vni << 8) + frame


class End:
    """A leon-sclp, its namespace, and the addresses on the underlay and on the TAP."""

    def __init__(self, number, family):
        self.namespace = ns.Namespace(f'sclp{number}')
        self.address = f'192.0.2.{number}' if family == 4 else f'2001:db8::{number}'
        self.ip4, self.ip6 = f'10.8.0.{number}', f'fd00:8::{number}'
        self.mac = f'02:5c:00:00:00:0{number}'
        self.process = None

    def start(self, peer, *more):
        with self.namespace:
            program = find_program('leon-sclp', 'leon-sclp')
        self.process = self.namespace.start(
            program, '--local', self.address, '--peer', peer.address, '--vni', 7, *more,
            stdout=subprocess.PIPE, text=True)
        wait_for(lambda: self.namespace.run('ip', 'link', 'show', 'up', 'sclp0',
                                            check=False).stdout, 20, 'sclp0 is up')
        self.namespace.ip(f'link set sclp0 address {self.mac}', f'addr add {self.ip4}/24 dev sclp0',
                          f'addr add {self.ip6}/64 dev sclp0 nodad')

    def counters(self):
        self.process.send_signal(signal.SIGUSR1)
        return json.loads(self.process.stdout.readline())

    def stop(self):
        """The last counters."""
        self.process.terminate()
        last = json.loads(self.process.stdout.read().splitlines()[-1])
        assert self.process.wait(20) == 0
        return last

    def resident(self):
        """Bytes."""
        with open(f'/proc/{self.process.pid}/statm', encoding='ascii') as f:
            return int(f.read().split()[1]) * os.sysconf('SC_PAGESIZE')

    def ping(self, address, size=56, count=1, within=2):
        return self.namespace.run('ping', '-n', '-c', count, '-i', 0.05, '-W', within, '-s', size,
                                  address, check=False).stdout.count(' time=')


class Pair:
    def __init__(self, family=4, mtu=1500, more=()):
        self.a, self.b = End(1, family), End(2, family)
        ns.connect(self.a.namespace, 'eth0', self.b.namespace, 'eth0')
        for end in (self.a, self.b):
            length = 24 if family == 4 else '64 nodad'
            # veth would pass super-frames of other protocols uncut; SCLP has no super-frames.
            end.namespace.ip(f'link set eth0 mtu {mtu} up', f'addr add {end.address}/{length} dev eth0')
        self.a.start(self.b, *more)
        self.b.start(self.a, *more)

    def close(self):
        for end in (self.a, self.b):
            end.namespace.close()


class Wire:
    """A raw socket of the protocol in addition to leon-sclp, with the same address. The socket
    sends in the name of the peer and receives every datagram for the peer."""

    def __init__(self, end, peer):
        self.v6 = ':' in peer.address
        with end.namespace:
            self.socket = socket.socket(socket.AF_INET6 if self.v6 else socket.AF_INET,
                                        socket.SOCK_RAW, PROTOCOL)
        self.socket.setsockopt(socket.SOL_SOCKET, SO_RCVBUFFORCE, 16 << 20)
        self.socket.settimeout(30)
        self.peer = (peer.address, 0)

    def send(self, data):
        while True:
            try:
                return self.socket.sendto(data, self.peer)
            except OSError:
                time.sleep(0.001)

    def receive(self):
        data = self.socket.recv(65536)
        return data if self.v6 else data[(data[0] & 15) * 4:]

    def close(self):
        self.socket.close()
