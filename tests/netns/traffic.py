# SPDX-License-Identifier: GPL-2.0-or-later
"""Traffic with a count of every packet, and raw frames. Sender and receiver share a process and
therefore a clock. Results refer to the time of sending, which is correct on a busy machine. The
lateness of the sender is measured too.
"""
import contextlib
import fcntl
import os
import select
import socket
import struct
import threading
import time

from node import PATIENCE

ETH_P_ALL = 3
SO_MAX_PACING_RATE = 47
SO_TIMESTAMPNS = 35
PACKET_OUTGOING = 4
SOL_PACKET = 263
PACKET_IGNORE_OUTGOING = 23
TUNSETIFF, IFF_TAP, IFF_NO_PI = 0x400454ca, 2, 0x1000


class Bulk:
    """TCP connections at full speed or at a rate in kbit/s for each, from a namespace to an
    address in another namespace."""

    def __init__(self, source, destination, address, streams=1, port=40100, kbits=None):
        with destination:
            listener = socket.create_server(('0.0.0.0', port), backlog=streams)
        self._received = [0] * streams
        self._stop = threading.Event()
        self._sockets, self._threads = [], []
        for number in range(streams):
            with source:
                sender = socket.create_connection((address, port), timeout=20)
            if kbits:
                sender.setsockopt(socket.SOL_SOCKET, SO_MAX_PACING_RATE, kbits * 1000 // 8)
            receiver = listener.accept()[0]
            self._sockets += [sender, receiver]
            self._threads += [threading.Thread(target=self._send, args=(sender,), daemon=True),
                              threading.Thread(target=self._take, args=(receiver, number), daemon=True)]
        listener.close()
        for thread in self._threads:
            thread.start()

    def _send(self, sender):
        sender.settimeout(0.2)
        while not self._stop.is_set():
            try:
                sender.send(bytes(1 << 16))
            except TimeoutError:
                pass
            except OSError:
                return

    @property
    def received(self):
        return sum(self._received)

    def _take(self, receiver, number):
        receiver.settimeout(0.2)
        while not self._stop.is_set():
            try:
                self._received[number] += len(receiver.recv(1 << 16))
            except TimeoutError:
                pass
            except OSError:
                return

    def stop(self):
        self._stop.set()
        for thread in self._threads:
            thread.join(10)
        for s in self._sockets:
            s.close()


class Stream:
    """Numbered UDP packets from a namespace to an address in another namespace, one per interval.
    """

    def __init__(self, source, destination, address, interval=0.005, size=100, port=40000):
        family = socket.AF_INET6 if ':' in address else socket.AF_INET
        with destination:
            self.receiver = socket.socket(family, socket.SOCK_DGRAM)
        self.receiver.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4 << 20)
        self.receiver.setsockopt(socket.SOL_SOCKET, SO_TIMESTAMPNS, 1)
        self.receiver.bind((address, port))
        self.receiver.setblocking(False)
        with source:
            self.sender = socket.socket(family, socket.SOCK_DGRAM)
        self.sender.connect((address, port))
        self.sender.setblocking(False)
        self.interval = interval
        self.padding = b'\0' * max(0, size - 8)
        self.sent = []        # monotonic seconds, by number
        self.received = {}    # number: monotonic seconds of the first arrival
        self.order = []       # numbers in the order of arrival, with duplicates
        self.stall = 0.0      # maximum lateness of the sender in seconds
        self._stop = threading.Event()
        self._thread = threading.Thread(target=self._run, daemon=True)

    def start(self):
        self._thread.start()
        return self

    def _take(self):
        while True:
            try:
                data, ancillary, _, _ = self.receiver.recvmsg(65536, 256)
            except BlockingIOError:
                return
            now, wall = time.monotonic(), time.time()
            for level, kind, value in ancillary:
                if level == socket.SOL_SOCKET and kind == SO_TIMESTAMPNS and len(value) >= 16:
                    seconds, nanoseconds = struct.unpack('qq', value[:16])
                    now -= max(0.0, wall - (seconds + nanoseconds / 1e9))
            number = struct.unpack('!Q', data[:8])[0]
            self.order.append(number)
            self.received.setdefault(number, now)

    def _run(self):
        due = time.monotonic()
        while not self._stop.is_set():
            now = time.monotonic()
            if now >= due:
                self.stall = max(self.stall, now - due)
                number = len(self.sent)
                self.sent.append(now)
                try:
                    self.sender.send(struct.pack('!Q', number) + self.padding)
                except OSError:
                    pass  # counts as lost
                # After a stall, sending continues from now, because a burst would measure queues
                # instead of paths.
                due = max(due + self.interval, now)
            select.select([self.receiver], [], [], max(0.0, due - time.monotonic()))
            self._take()

    def stop(self, linger=1.0, copies=1):
        """Stops sending. Stops receiving after the expected number of packets or after `linger`
        seconds of a quiet machine."""
        self._stop.set()
        self._thread.join()
        end = time.monotonic() + linger * PATIENCE
        while (len(self.received) < len(self.sent) or len(self.order) < copies * len(self.sent)) and \
                time.monotonic() < end:
            select.select([self.receiver], [], [], 0.05)
            self._take()
        self.sender.close()
        self.receiver.close()
        return self

    def stop_whole(self):
        """Stops the stream and checks that all packets arrived."""
        self.stop(5)
        assert not self.lost, f'{self.lost} of {len(self.sent)} lost'

    def arrived(self, n, within=10.0):
        """Waits until n more packets have arrived."""
        within *= PATIENCE
        goal, end = len(self.received) + n, time.monotonic() + within
        while len(self.received) < goal:
            if time.monotonic() > end:
                raise AssertionError(f'{n} packets did not arrive within {within} s; sent '
                                     f'{len(self.sent)}, arrived {len(self.received)}')
            time.sleep(self.interval)

    @property
    def lost(self):
        return len(self.sent) - len(self.received)

    def gap(self, after=0.0):
        """Longest time without an arrival, by time of sending in s, and lost packets in the gap."""
        longest = (0.0, 0)
        times = self.sent
        numbers = [n for n in sorted(self.received) if times[n] >= after]
        for a, b in zip(numbers, numbers[1:]):
            if b > a + 1:
                longest = max(longest, (times[b] - times[a] - self.interval, b - a - 1))
        if numbers and numbers[-1] != len(times) - 1:
            longest = max(longest, (times[-1] - times[numbers[-1]], len(times) - 1 - numbers[-1]))
        return longest

    def latency(self):
        """One-way latencies in seconds, in the order of sending."""
        return [self.received[n] - self.sent[n] for n in sorted(self.received)]


class Tap:
    """A packet socket on an interface, for whole frames."""

    def __init__(self, namespace, ifname, outgoing=False, promiscuous=True):
        with namespace:
            self.socket = socket.socket(socket.AF_PACKET, socket.SOCK_RAW, 0)
            index = socket.if_nametoindex(ifname)
        self.socket.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 8 << 20)
        if not outgoing:
            self.socket.setsockopt(SOL_PACKET, PACKET_IGNORE_OUTGOING, 1)
        if promiscuous:
            self.socket.setsockopt(SOL_PACKET, 1, struct.pack('iHH8s', index, 1, 0, b''))
        # The kernel strips an outer VLAN tag from received frames; auxiliary data contains the tag.
        self.socket.setsockopt(SOL_PACKET, 8, 1)
        self.socket.bind((ifname, ETH_P_ALL))
        self.socket.setblocking(False)

    def send(self, frame):
        end = time.monotonic() + 5
        while True:
            try:
                return self.socket.send(frame)
            except (BlockingIOError, OSError) as e:
                if time.monotonic() > end or e.errno not in (11, 105):
                    raise
                select.select([], [self.socket], [], 0.01)

    def next_frame(self):
        data, ancillary, _, _ = self.socket.recvmsg(65536, 256)
        for level, kind, value in ancillary:
            if level == SOL_PACKET and kind == 8 and len(value) >= 20:
                status, _, _, _, _, tci, tpid = struct.unpack('IIIHHHH', value[:20])
                if status & 0x10:  # TP_STATUS_VLAN_VALID
                    data = data[:12] + struct.pack('!HH', tpid if status & 0x40 else 0x8100, tci) + data[12:]
        return data

    def frames(self, match=lambda frame: True, until=1, within=2.0 * PATIENCE, linger=0.0):
        """Matching frames. Ends after `until` frames plus `linger` seconds, or after `within`
        seconds."""
        found = []
        end = time.monotonic() + within
        lingering, late = False, 0
        while True:
            left = end - time.monotonic()
            # Frames that wait at the end count, because this process may be late. The limit is for
            # traffic that continues.
            late += left <= 0
            if late > 2000 or not select.select([self.socket], [], [], max(0.0, left))[0]:
                return found
            try:
                frame = self.next_frame()
            except BlockingIOError:
                continue
            if match(frame):
                found.append(frame)
            if len(found) >= until and not lingering:
                if not linger:
                    return found
                lingering = True
                end = min(end, time.monotonic() + linger)

    def close(self):
        self.socket.close()


def mac_bytes(text):
    return bytes.fromhex(text.replace(':', ''))


def ethernet(destination, source, ethertype, payload, vlan=None):
    tag = b'' if vlan is None else struct.pack('!HH', 0x8100, vlan)
    frame = mac_bytes(destination) + mac_bytes(source) + tag + struct.pack('!H', ethertype) + payload
    return frame.ljust(60, b'\0')


class Tagger:
    """VLAN interfaces v<id> of a host without VLAN support in the kernel. Each interface is a TAP,
    and the class adds the tag."""

    def __init__(self, namespace, ifname, vlans):
        self.wire = Tap(namespace, ifname)
        self.port = {vlan: self._open(namespace, f'v{vlan}') for vlan in vlans}
        self.ended = os.eventfd(0)
        self.thread = threading.Thread(target=self._run, daemon=True)
        self.thread.start()

    @staticmethod
    def _open(namespace, name):
        with namespace:
            fd = os.open('/dev/net/tun', os.O_RDWR | os.O_NONBLOCK)
            fcntl.ioctl(fd, TUNSETIFF, struct.pack('16sH22x', name.encode(), IFF_TAP | IFF_NO_PI))
        return fd

    def _run(self):
        while True:
            ready = select.select([self.wire.socket, self.ended, *self.port.values()], [], [])[0]
            if self.ended in ready:
                return
            with contextlib.suppress(OSError):  # a full queue drops the frame
                self._from_wire(self.wire.socket in ready)
            for vlan, fd in self.port.items():
                with contextlib.suppress(OSError):
                    self._from_port(vlan, fd if fd in ready else None)

    def _from_wire(self, ready):
        frame = self.wire.next_frame() if ready else b''
        vlan = int.from_bytes(frame[14:16], 'big') & 0xfff
        if frame[12:14] == b'\x81\x00' and vlan in self.port:
            os.write(self.port[vlan], frame[:12] + frame[16:])

    def _from_port(self, vlan, fd):
        frame = os.read(fd, 65536) if fd is not None else b''
        if frame:
            self.wire.socket.send(frame[:12] + struct.pack('!HH', 0x8100, vlan) + frame[12:])

    def close(self):
        os.eventfd_write(self.ended, 1)
        self.thread.join()
        for fd in (self.ended, *self.port.values()):
            os.close(fd)
        self.wire.close()
