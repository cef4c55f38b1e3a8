# SPDX-License-Identifier: GPL-2.0-or-later
"""Listeners, senders and queriers of multicast groups, in the namespaces of hosts. The kernel of
the host sends the reports."""
import socket
import struct
import threading
import time

PORT = 45000
IP_ADD_SOURCE_MEMBERSHIP = 39  # not in Python's module


def is_v6(group):
    return ':' in group


def index_of(space, name='eth0'):
    with space:
        return socket.if_nametoindex(name)


def udp_socket(space, group):
    with space:
        return socket.socket(socket.AF_INET6 if is_v6(group) else socket.AF_INET, socket.SOCK_DGRAM)


class Listener:
    """Receives the datagrams of a group: their numbers with the times of arrival."""

    def __init__(self, host, group, port=PORT, join=True):
        self.group, self.arrived, self.running = group, [], True
        self.socket = udp_socket(host.namespace, group)
        self.socket.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        self.socket.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4 << 20)
        self.socket.bind(('::' if is_v6(group) else '', port))
        self.socket.settimeout(0.1)
        self.membership = self._membership(host)
        self.joined_at = None
        self.thread = threading.Thread(target=self._run, daemon=True)
        self.thread.start()
        if join:
            self.join()

    def _membership(self, host):
        if is_v6(self.group):
            return struct.pack('16sI', socket.inet_pton(socket.AF_INET6, self.group),
                               index_of(host.namespace))
        return struct.pack('4s4si', socket.inet_aton(self.group), bytes(4),
                           index_of(host.namespace))

    def _option(self, v4, v6):
        if is_v6(self.group):
            self.socket.setsockopt(socket.IPPROTO_IPV6, v6, self.membership)
        else:
            self.socket.setsockopt(socket.IPPROTO_IP, v4, self.membership)

    def join(self):
        self.joined_at = time.monotonic()
        self._option(socket.IP_ADD_MEMBERSHIP, socket.IPV6_JOIN_GROUP)

    def join_source(self, host, source):
        """IGMPv3 only. The kernel leaves such a group by blocking the source."""
        self.socket.setsockopt(socket.IPPROTO_IP, IP_ADD_SOURCE_MEMBERSHIP, b''.join(
            socket.inet_aton(ip) for ip in (self.group, host.ip4, source)))

    def leave(self):
        self._option(socket.IP_DROP_MEMBERSHIP, socket.IPV6_LEAVE_GROUP)

    def _run(self):
        while self.running:
            try:
                data = self.socket.recv(2048)
            except socket.timeout:
                continue
            except OSError:
                return
            self.arrived.append((struct.unpack('!I', data[:4])[0], time.monotonic()))

    def numbers(self):
        return [n for n, _ in self.arrived]

    def close(self):
        self.running = False
        self.thread.join()
        self.socket.close()


class Sender:
    """Sends numbered datagrams to a group at a steady rate, or singly."""

    def __init__(self, host, group, port=PORT, size=1330):
        self.to, self.size, self.sent, self.running = (group, port), size, 0, False
        self.socket = udp_socket(host.namespace, group)
        index = index_of(host.namespace)
        if is_v6(group):
            self.socket.setsockopt(socket.IPPROTO_IPV6, socket.IPV6_MULTICAST_IF, index)
        else:
            self.socket.setsockopt(socket.IPPROTO_IP, socket.IP_MULTICAST_IF,
                                   struct.pack('4s4si', bytes(4), bytes(4), index))
        self.thread = None

    def send(self, count=1):
        for _ in range(count):
            self.socket.sendto(struct.pack('!I', self.sent).ljust(self.size, b'm'), self.to)
            self.sent += 1

    def _run(self, interval):
        at = time.monotonic()
        while self.running:
            self.send()
            at = max(at + interval, time.monotonic())  # no burst after a stall
            time.sleep(max(0.0, at - time.monotonic()))

    def start(self, interval=0.005):
        self.running = True
        self.thread = threading.Thread(target=self._run, args=(interval,), daemon=True)
        self.thread.start()
        return self

    def stop(self):
        self.running = False
        if self.thread:
            self.thread.join()
        self.thread = None
        return self.sent

    def close(self):
        self.stop()
        self.socket.close()


def checksum(data):
    total = sum(struct.unpack(f'!{len(data) // 2}H', data))
    total = (total & 0xffff) + (total >> 16)
    return ~((total & 0xffff) + (total >> 16)) & 0xffff


class Querier:
    """A router that queries the hosts: IGMPv2 or IGMPv3, MLDv1 or MLDv2."""

    def __init__(self, host, v6=False, version=None, response_ms=100):
        self.v6, self.version, self.response_ms = v6, version or (2 if v6 else 3), response_ms
        with host.namespace:
            if v6:
                self.socket = socket.socket(socket.AF_INET6, socket.SOCK_RAW, socket.IPPROTO_ICMPV6)
            else:
                self.socket = socket.socket(socket.AF_INET, socket.SOCK_RAW, socket.IPPROTO_IGMP)
        index = index_of(host.namespace)
        if v6:
            self.socket.setsockopt(socket.IPPROTO_IPV6, socket.IPV6_MULTICAST_IF, index)
            # Hop-by-hop options with Router Alert (RFC 2711).
            self.socket.setsockopt(socket.IPPROTO_IPV6, socket.IPV6_HOPOPTS,
                                   bytes((0, 0, 5, 2, 0, 0, 1, 0)))
        else:
            self.socket.setsockopt(socket.IPPROTO_IP, socket.IP_MULTICAST_IF,
                                   struct.pack('4s4si', bytes(4), bytes(4), index))
            self.socket.setsockopt(socket.IPPROTO_IP, socket.IP_OPTIONS, bytes((0x94, 4, 0, 0)))

    def _v4(self, group):
        body = struct.pack('!BBH4s', 0x11, self.response_ms // 100, 0, socket.inet_aton(group or '0.0.0.0'))
        if self.version == 3:
            body += struct.pack('!BBH', 2, 125, 0)
        return body[:2] + struct.pack('!H', checksum(body)) + body[4:]

    def _v6(self, group):
        body = struct.pack('!BBHHH16s', 130, 0, 0, self.response_ms, 0,
                           socket.inet_pton(socket.AF_INET6, group or '::'))
        return body + (struct.pack('!BBH', 2, 125, 0) if self.version == 2 else b'')

    def query(self, group=None):
        """A general query, or a query for a group."""
        if self.v6:
            self.socket.sendto(self._v6(group), (group or 'ff02::1', 0))
        else:
            self.socket.sendto(self._v4(group), (group or '224.0.0.1', 0))

    def close(self):
        self.socket.close()
