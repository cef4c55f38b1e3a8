# SPDX-License-Identifier: GPL-2.0-or-later
"""Client of charon's control protocol VICI, limited to the needs of the manager.

Debian 12 has no package of strongSwan's own Python client, and VyOS has one of another version. The
protocol is small and has not changed in ten years (strongSwan's README.vici). The client blocks,
with one deadline for each request. Messages are dictionaries: a section is a dictionary, a list is
a list, everything else is text or bytes.
"""
import socket
import struct
import time

SOCKET = '/var/run/charon.vici'
TIMEOUT_S = 10.0
PACKET_MAX = 512 << 10
DEPTH_MAX = 16

CMD_REQUEST, CMD_RESPONSE, CMD_UNKNOWN, EVENT_REGISTER, EVENT_UNREGISTER, EVENT_CONFIRM, \
    EVENT_UNKNOWN, EVENT = range(8)
SECTION_START, SECTION_END, KEY_VALUE, LIST_START, LIST_ITEM, LIST_END = range(1, 7)


class ViciError(Exception):
    """No answer, or an invalid answer. The connection is unusable afterwards."""


class Refused(Exception):
    """charon refused the request; the text is charon's."""


# --- messages ---


def _raw(value):
    return value if isinstance(value, bytes) else str(value).encode()


def _name(kind, name):
    raw = name.encode()
    return bytes([kind, len(raw)]) + raw


def _value(value):
    raw = _raw(value)
    return struct.pack('!H', len(raw)) + raw


def encode(message):
    out = b''
    for key, value in message.items():
        if isinstance(value, dict):
            out += _name(SECTION_START, key) + encode(value) + bytes([SECTION_END])
        elif isinstance(value, (list, tuple)):
            items = b''.join(bytes([LIST_ITEM]) + _value(item) for item in value)
            out += _name(LIST_START, key) + items + bytes([LIST_END])
        else:
            out += _name(KEY_VALUE, key) + _value(value)
    return out


class _Reader:
    def __init__(self, data):
        self.data, self.at = data, 0

    def take(self, length):
        piece = self.data[self.at:self.at + length]
        if len(piece) < length:
            raise ViciError('charon sent a message that ends too early')
        self.at += length
        return piece

    def name(self):
        return self.take(self.take(1)[0]).decode(errors='replace')

    def value(self):
        return self.take(struct.unpack('!H', self.take(2))[0]).decode(errors='replace')

    def items(self):
        found = []
        while (kind := self.take(1)[0]) == LIST_ITEM:
            found.append(self.value())
        if kind != LIST_END:
            raise ViciError('charon sent a list that does not end')
        return found

    def section(self, depth):
        found = {}
        while depth or self.at < len(self.data):
            kind = self.take(1)[0]
            if kind == SECTION_END and depth:
                return found
            read = {KEY_VALUE: self.value, LIST_START: self.items,
                    SECTION_START: lambda: self.section(depth + 1)}.get(kind)
            if read is None or depth > DEPTH_MAX:
                raise ViciError('charon sent a message that cannot be read')
            name = self.name()
            found[name] = read()
        return found


def decode(data):
    return _Reader(data).section(0)


# --- connection ---


class Vici:
    """A connection to charon. Every method raises ViciError if charon does not answer. The
    connection is then closed, and the caller must create a new connection."""

    def __init__(self, path=SOCKET, timeout=TIMEOUT_S):
        self.timeout = timeout
        self.sock = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM | socket.SOCK_CLOEXEC)
        self.sock.settimeout(timeout)
        try:
            self.sock.connect(path)
        except OSError as e:
            self.sock.close()
            raise ViciError(f'charon does not listen at {path}: {e.strerror or e}') from None

    def close(self):
        self.sock.close()

    def _send(self, kind, name, payload=b''):
        packet = _name(kind, name) + payload
        self.sock.sendall(struct.pack('!I', len(packet)) + packet)

    def _receive_exactly(self, length, deadline):
        data = b''
        while len(data) < length:
            left = deadline - time.monotonic()
            if left <= 0:
                raise TimeoutError
            self.sock.settimeout(left)
            chunk = self.sock.recv(length - len(data))
            if not chunk:
                raise ConnectionResetError('it closed the connection')
            data += chunk
        return data

    def _receive(self, deadline):
        """(kind, rest of the packet)"""
        length = struct.unpack('!I', self._receive_exactly(4, deadline))[0]
        if not 1 <= length <= PACKET_MAX:
            raise ViciError(f'charon announces a packet of {length} bytes')
        packet = self._receive_exactly(length, deadline)
        return packet[0], packet[1:]

    def _exchange(self, command, message, event):
        deadline = time.monotonic() + self.timeout
        events = []
        if event:
            self._send(EVENT_REGISTER, event)
            if self._receive(deadline)[0] != EVENT_CONFIRM:
                raise ViciError(f'charon knows no event {event}')
        self._send(CMD_REQUEST, command, encode(message or {}))
        while True:
            kind, data = self._receive(deadline)
            if kind == EVENT:
                reader = _Reader(data)
                reader.name()
                events.append(decode(data[reader.at:]))
            elif kind == CMD_RESPONSE:
                break
            else:
                raise ViciError(f'charon does not know the command {command}')
        if event:
            self._send(EVENT_UNREGISTER, event)
            if self._receive(deadline)[0] != EVENT_CONFIRM:
                raise ViciError(f'charon does not end the event {event}')
        return decode(data), events

    def _ask(self, command, message=None, event=None):
        try:
            return self._exchange(command, message, event)
        except TimeoutError:
            self.close()
            raise ViciError(f'charon did not answer {command} within {self.timeout:g} s') from None
        except OSError as e:
            self.close()
            raise ViciError(f'charon did not answer {command}: {e}') from None
        except ViciError:
            self.close()
            raise

    def call(self, command, message=None):
        """The answer. Raises Refused if charon reports a failure."""
        answer, _ = self._ask(command, message)
        if answer.get('success', 'yes') != 'yes':
            raise Refused(f'{command}: {answer.get("errmsg", "no reason given")}')
        return answer

    def stream(self, command, event, message=None):
        """The events that the command streams as an answer."""
        return self._ask(command, message, event)[1]


class Listener:
    """A second connection for events of charon. The manager reads the events once a second and
    never waits."""

    def __init__(self, path, event):
        self.vici = Vici(path)
        self.data = b''
        try:
            self.vici._send(EVENT_REGISTER, event)
            if self.vici._receive(time.monotonic() + TIMEOUT_S)[0] != EVENT_CONFIRM:
                raise ViciError(f'charon knows no event {event}')
        except (OSError, ViciError) as e:
            self.close()
            raise ViciError(f'charon does not tell of {event}: {e}') from None
        self.vici.sock.setblocking(False)

    def close(self):
        self.vici.close()

    def _read(self):
        while len(self.data) < 4 * PACKET_MAX:
            chunk = self.vici.sock.recv(1 << 16)
            if not chunk:
                raise ViciError('charon closed the connection')
            self.data += chunk

    def drain(self):
        """Events since the last call."""
        try:
            self._read()
        except BlockingIOError:
            pass
        except OSError as e:
            raise ViciError(f'charon does not tell any more: {e}') from None
        found = []
        while len(self.data) >= 4:
            end = 4 + struct.unpack('!I', self.data[:4])[0]
            if end > 4 + PACKET_MAX:
                raise ViciError('charon announces a packet that is too large')
            if len(self.data) < end:
                break
            reader = _Reader(self.data[4:end])
            self.data = self.data[end:]
            if reader.take(1)[0] == EVENT:
                reader.name()
                found.append(decode(reader.data[reader.at:]))
        return found
