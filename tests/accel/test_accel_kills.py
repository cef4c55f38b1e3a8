# SPDX-License-Identifier: GPL-2.0-or-later
"""Daemons are killed at random moments under short connections, and no byte is lost silently. Each
receiver compares its bytes by position. A clean end means that all bytes of the sender arrived. A
sender that gets the confirmation of the other application has lost nothing. Any other connection
ends with an error at both ends. ACCEL_KILLS (20) kills; `make soak-kills` for 1,000."""
import os
import random
import socket
import threading
import time

from accel import CONFIG, far_apart
from lab import wait_for
from node import PATIENCE

TCP_CLOSE = 7
KILLS = int(os.environ.get('ACCEL_KILLS', '20'))
AT_A_TIME = 8
BLOCK = 8 << 10
CONFIRMATION = 8     # bytes: the number of bytes that the other application received
HANG_S = 40 * PATIENCE
# An odd length: no two positions of a connection within this length have equal surroundings.
PATTERN = random.Random(1).randbytes((1 << 20) + 7)


def tcp_state(s):
    return s.getsockopt(socket.IPPROTO_TCP, socket.TCP_INFO, 1)[0]


def expected(start, n):
    """The bytes of the pattern from a position on."""
    at = start % len(PATTERN)
    return (PATTERN[at:at + n] + PATTERN)[:n] if at + n > len(PATTERN) else PATTERN[at:at + n]


class End:
    """One end of a connection: sends `n` bytes from position `start` of the pattern, then its FIN.
    The end that confirms sends the number of received bytes after the FIN of the other end. `limit`
    bytes from the other end are of the pattern."""

    def __init__(self, s, n, start, far_start, limit, confirms):
        self.s, self.n, self.start, self.far_start = s, n, start, far_start
        self.limit, self.confirms = limit, confirms
        self.sent = self.received = 0
        self.eof = self.shut = False
        self.error = self.wrong = None
        self.confirmed = b''
        self.far_is_done = threading.Event()
        self.name = f'{time.monotonic():.1f} {s.getsockname()[:2]}'
        s.settimeout(HANG_S)
        self.threads = [threading.Thread(target=f, daemon=True) for f in (self.send, self.receive)]
        for t in self.threads:
            t.start()

    def __str__(self):
        return f'{self.name} sent {self.sent} of {self.n}, received {self.received} of ' \
            f'{self.limit}, confirms={self.confirms} eof={self.eof} error={self.error}'

    def fail(self, error):
        self.error = self.error or error
        self.far_is_done.set()

    def send(self):
        try:
            while self.sent < self.n:
                block = expected(self.start + self.sent, min(BLOCK, self.n - self.sent))
                self.s.sendall(block)
                self.sent += len(block)
                time.sleep(.01)
            if self.confirms:
                self.far_is_done.wait()
                if self.error:
                    return
                self.s.sendall(self.received.to_bytes(CONFIRMATION, 'big'))
            self.s.shutdown(socket.SHUT_WR)
            self.shut = True
        except OSError as e:
            self.fail(e)

    def take(self, data):
        """Compares the first `limit` bytes of the data."""
        body = data[:self.limit - self.received]
        if body != expected(self.far_start + self.received, len(body)):
            self.wrong = self.wrong or f'other bytes after {self.received}'
        self.received += len(body)
        if len(body) < len(data):
            self.confirmed += data[len(body):]

    def receive(self):
        try:
            while True:
                data = self.s.recv(1 << 16)
                if not data:
                    break
                self.take(data)
            # After a RST that the sending thread has received as an error, recv() returns no bytes.
            if not self.shut and tcp_state(self.s) == TCP_CLOSE:
                raise ConnectionResetError('RST')
            self.eof = True
            self.far_is_done.set()
        except OSError as e:
            self.fail(e)


class Connection:
    """Both ends of a connection from either side and of any size."""

    def __init__(self, far, dice):
        hosts = [far.host['a'], far.host['b']]
        dice.shuffle(hosts)
        family = dice.choice([socket.AF_INET, socket.AF_INET6])
        address = hosts[1].ip4 if family == socket.AF_INET else hosts[1].ip6
        sizes = [dice.randrange(1 << dice.randrange(12, 21)) for _ in range(2)]
        starts = [dice.randrange(len(PATTERN)) for _ in range(2)]
        with hosts[1].namespace:
            listener = socket.create_server((address, 0), family=family)
        with hosts[0].namespace:
            client = socket.socket(family)
        client.settimeout(HANG_S)
        try:
            client.connect((address, listener.getsockname()[1]))
            listener.settimeout(HANG_S)
            server = listener.accept()[0]
        finally:
            listener.close()
        confirms = dice.randrange(2)
        self.ends = [End(s, sizes[i], starts[i], starts[1 - i], sizes[1 - i], confirms == i)
                     for i, s in enumerate((client, server))]
        self.sizes, self.confirms = sizes, confirms

    def is_over(self):
        return not any(t.is_alive() for end in self.ends for t in end.threads)

    def silent(self):
        """The reason why a loss was silent, or None."""
        for i, end in enumerate(self.ends):
            size = self.sizes[1 - i]
            if end.wrong:
                return end.wrong
            if end.eof and end.received != size:
                return f'a clean end after {end.received} of {size} bytes'
            confirmed = b'' if i == self.confirms else self.sizes[i].to_bytes(CONFIRMATION, 'big')
            if end.eof and end.confirmed != confirmed:
                return f'a clean end with the confirmation {end.confirmed}'
        return None

    def hung(self):
        return [str(end.error) for end in self.ends if isinstance(end.error, TimeoutError)]

    def is_whole(self):
        return all(end.eof and not end.error for end in self.ends)

    def close(self):
        for end in self.ends:
            end.s.close()


class Load:
    """Connections that begin and end until stop(); every ended connection is judged."""

    def __init__(self, far, seed):
        self.far, self.problems, self.whole, self.lost = far, [], 0, 0
        self.enough = threading.Event()
        self.threads = [threading.Thread(target=self.run, args=(random.Random(seed + i),), daemon=True)
                        for i in range(AT_A_TIME)]
        for t in self.threads:
            t.start()

    def run(self, dice):
        while not self.enough.is_set():
            try:
                c = Connection(self.far, dice)
            except OSError as e:
                self.problems.append(f'no connection: {e}')
                return
            while not c.is_over():
                time.sleep(.05)
            problem = c.silent() or (c.hung() and f'hung: {c.hung()}')
            if problem:
                self.problems.append(f'{problem}: {", ".join(map(str, c.ends))}')
            self.whole += c.is_whole()
            self.lost += not c.is_whole()
            c.close()

    def stop(self):
        self.enough.set()
        for t in self.threads:
            t.join(3 * HANG_S)
        assert not any(t.is_alive() for t in self.threads)


def kill(far, dice):
    """Kills one or both accelerators, or a leond, at a random moment, and starts the processes
    again."""
    if dice.randrange(3) == 0:
        far.accel[dice.choice('ab')].ask('reset acceleration')
    time.sleep(dice.random() * .4)
    kind = dice.randrange(12)
    names = 'ab' if kind == 0 else dice.choice('ab')
    print(f'{time.monotonic():.1f} {"leond" if kind == 1 else "leon-accel"} {names}', flush=True)
    if kind == 1:
        far.node[names].kill()
        time.sleep(dice.random())
        far.lab.start(names)
        return
    for name in names:
        far.accel[name].kill()
    time.sleep(dice.random() * .2)
    for name in names:
        far.accel[name].start()


def any_intercepted(far):
    return sum(a.show()['connections_intercepted'] for a in far.accel.values()) > 0


def test_nothing_is_lost_silently(lab):
    seed = int(os.environ.get('ACCEL_SEED', time.time()))
    print('ACCEL_SEED', seed)
    dice = random.Random(seed)
    with far_apart(lab({'sites': {'a': {}, 'b': {}}, 'rtt_ms_default': 40, 'config': CONFIG})) as far:
        load = Load(far, seed)
        done = 0
        try:
            while done < KILLS and not load.problems:
                wait_for(lambda: any_intercepted(far) or load.problems, 60, 'something is taken')
                kill(far, dice)
                done += 1
        finally:
            load.stop()
            print(f'{done} kills: {load.whole} connections whole, {load.lost} reset')
        assert not load.problems, '\n'.join(load.problems)
        assert load.whole > 0 and load.lost > 0
