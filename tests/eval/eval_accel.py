#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""Benefit and cost of acceleration: Table 1 and the image of the WAN accelerator paper.

    plain  50 MB without acceleration, over 100 Mbit/s with a queue of 100 ms, at RTTs of 250
           to 1000 ms. Hosts have windows of 64 KiB, as in the paper, or the default windows of
           Linux. With 64 KiB the time is proportional to the bytes, so the program sends fewer
           bytes (--plain-mb) and multiplies the time.
    with   the same with leon-accel: `cold` after an idle inter-proxy connection, and `warm` after
           60 MB on the connection. T is the time divided by the time without acceleration.
    again  the same bytes a second time: seconds, and the share of bytes on the link.
    image  a host sends a picture bit by bit at the speed of windows of 64 KiB at 300 ms, divided by
           five. The host moves from 2 ms away to 300 ms. The figure is the speed in the 30 s after
           the move divided by the speed before, on one connection, with and without acceleration.
    short  traffic without benefit, at the first of --delays: 20 kB over a new connection, and 10
           or 40 sequential requests on one connection, with and without acceleration in turn. No
           connection is intercepted. Medians of ten; `ratio` is with divided by without.
    bulk   no delay, no limit: MB/s and seconds of CPU a GB, without, with, and without compression.

The bytes are random, and every run compares the hashes of both ends. Each run is a line of JSON in
--out, so several invocations can share the work. --table prints the medians (minimum and maximum).

    make eval-accel [EVAL_ARGS='--rounds 1 --delays 250 --cases with']
"""
import argparse
import collections
import hashlib
import json
import os
import socket
import statistics
import sys
import threading
import time

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(HERE, '../netns'))

import ns  # noqa: E402
from accel import Accelerator, Machine, receive  # noqa: E402
from lab import PATIENT, Lab, merged, wait_for  # noqa: E402

MB = 1 << 20
GB = 1e9
PAPER = {250: .25, 500: .10, 750: .08, 1000: .07}
CONFIG = merged(PATIENT, {'acceleration': {'mode': 'latency', 'threshold': 50,
                                           'minimum-segments': 4}})
RATE_KBIT, QUEUE_US = 100_000, 100_000
WARM_MB = 60
IMAGE_MS, IMAGE_SECONDS = 300, 30
IMAGE_RATE = 5 * 65535 / (IMAGE_MS / 1000)  # bytes/s
BULK_MB = 256
FETCH_BYTES, QUESTION, ANSWER = 20000, b'?' * 200, b'!' * 1000
SHORT_TIMES = 10
ports = iter(range(6001, 65536))


# --- traffic ---

def connected(client, server):
    """Two sockets."""
    port = next(ports)
    with server.namespace:
        listener = socket.socket()
    listener.bind((server.ip4, port))
    listener.listen()
    with client.namespace:
        c = socket.socket()
    c.settimeout(1200)
    c.connect((server.ip4, port))
    s, _ = listener.accept()
    listener.close()
    return c, s


def send(client, server, data):
    """Seconds until the last byte of `data` is at the client, over a new connection."""
    began = time.monotonic()
    c, s = connected(client, server)
    thread = threading.Thread(target=lambda: (s.sendall(data), s.close()), daemon=True)
    thread.start()
    got = bytearray(len(data))
    view, n = memoryview(got), 0
    while True:
        some = c.recv_into(view[n:n + MB]) if n < len(data) else len(c.recv(1))
        if not some:
            break
        n += some
    seconds = time.monotonic() - began
    thread.join()
    c.close()
    assert n == len(data) and hashlib.sha256(got).digest() == hashlib.sha256(data).digest(), \
        'bytes are wrong'
    return seconds


def ask(client, server, times):
    """Seconds for a new connection with the given number of requests, each after the last answer.
    """
    began = time.monotonic()
    c, s = connected(client, server)

    def answer():
        for _ in range(times):
            receive(s, len(QUESTION))
            s.sendall(ANSWER)
    thread = threading.Thread(target=answer, daemon=True)
    thread.start()
    for _ in range(times):
        c.sendall(QUESTION)
        receive(c, len(ANSWER))
    seconds = time.monotonic() - began
    thread.join()
    for x in (c, s):
        x.close()
    return seconds


class Image:
    """Bytes from one host to another at IMAGE_RATE bytes per second, or slower on a slow path."""

    def __init__(self, client, server):
        self.client, self.server = connected(client, server)
        self.sent, self.received = hashlib.sha256(), hashlib.sha256()
        self.count = 0
        self.enough = False
        self.threads = [threading.Thread(target=f, daemon=True) for f in (self._send, self._receive)]
        for t in self.threads:
            t.start()

    def _send(self):
        due = time.monotonic()
        while not self.enough:
            block = os.urandom(8192)
            self.server.sendall(block)
            self.sent.update(block)
            # A delayed sender does not catch up.
            due = max(due + len(block) / IMAGE_RATE, time.monotonic() - .05)
            time.sleep(max(0, due - time.monotonic()))
        self.server.close()

    def _receive(self):
        while block := self.client.recv(1 << 16):
            self.received.update(block)
            self.count += len(block)

    def speed(self, seconds):
        """Bytes a second from now on."""
        count, began = self.count, time.monotonic()
        time.sleep(seconds)
        return (self.count - count) / (time.monotonic() - began)

    def finish(self):
        self.enough = True
        for t in self.threads:
            t.join(120)
        assert self.sent.digest() == self.received.digest(), 'bytes are wrong'


# --- topology ---

class World:
    def __init__(self, topology, windows='modern', cc='cubic'):
        self.lab = Lab({'config': CONFIG, **topology})
        for host in self.lab.host.values():
            host.namespace.sysctl('ipv4/tcp_no_metrics_save', 1)
            # Independent of the default of the kernel.
            host.namespace.run('ip', 'route', 'replace', '10.10.0.0/16', 'dev', 'eth0', 'congctl', cc)
            if windows == 'small':
                host.namespace.sysctl('ipv4/tcp_window_scaling', 0)
        self.accel = {}
        self.lab.joined(60)

    def limit(self, a, b, delay, loss=0):
        self.lab.wan.both(a, b, delay_us=delay * 500, rate_kbit=RATE_KBIT, queue_us=QUEUE_US,
                          loss_permille=loss)

    def send(self, data):
        return send(self.lab.host['a'], self.lab.host['b'], data)

    def accelerate(self, *names):
        """Starts the accelerators of all nodes, or of the given nodes."""
        self.accel = {name: Accelerator(self.lab.node[name]).start() for name in names or self.lab.node}
        for a in self.accel.values():
            wait_for(lambda a=a: 'up' in a.carriers(), 60, 'carrier is up')
        time.sleep(2)

    def carried(self):
        return self.accel['b'].counters()['interproxy_bytes_out']

    def cpu(self):
        """CPU seconds of leond and leon-accel."""
        ticks = 0
        for p in (*self.lab.node.values(), *self.accel.values()):
            with open(f'/proc/{p.process.pid}/stat', encoding='ascii') as f:
                ticks += sum(map(int, f.read().rsplit(')', 1)[1].split()[11:13]))
        return ticks / os.sysconf('SC_CLK_TCK')

    def plain_again(self):
        for a in self.accel.values():
            a.stop()
        self.accel = {}

    def close(self):
        self.plain_again()
        self.lab.close()


def two_far(options, windows, delay):
    world = World({'sites': {'a': {}, 'b': {}}, 'rtt_ms_default': delay, 'config': merged(
        CONFIG, {'acceleration': {'maximum-undelivered': options.undelivered}})}, windows, options.cc)
    world.limit('a', 'b', delay, options.loss)
    time.sleep(3)
    return world


# --- the cases: each gives {name: figure} ---

def run_plain(world, options, windows):
    mb = options.plain_mb if windows == 'small' else options.mb
    return {'plain': world.send(os.urandom(mb * MB)) * options.mb / mb}


def run_with(world, options, windows):
    world.accelerate()
    figures = {'cold': world.send(os.urandom(options.mb * MB))}
    if options.mb < WARM_MB:
        world.send(os.urandom((WARM_MB - options.mb) * MB))
    figures['warm'] = world.send(os.urandom(options.mb * MB))
    return figures


def run_again(world, options, windows):
    world.accelerate()
    data = os.urandom(options.mb * MB)
    world.send(data)
    before = world.carried()
    seconds = world.send(data)
    return {'again': seconds, 'share': (world.carried() - before) / len(data)}


TABLE = {'plain': run_plain, 'with': run_with, 'again': run_again}
OTHERS = ['image', 'short', 'bulk']


def run_image(accelerated):
    moved = {'acceleration': {'mode': 'moved'}}
    world = World({'sites': {'a': {}, 'b': {}, 'c': {}}, 'rtt_ms': {('a', 'b'): 2},
                   'rtt_ms_default': IMAGE_MS, 'config': merged(CONFIG, moved)}, 'small')
    try:
        world.limit('a', 'c', IMAGE_MS)
        machine = Machine(world.lab, 'b', 'c')
        if accelerated:
            world.accelerate()
        image = Image(world.lab.host['a'], world.lab.host['b'])
        image.speed(3)
        before = image.speed(10)
        machine.move('eth1', 'eth0', world.lab.host['a'])
        after = image.speed(IMAGE_SECONDS)
        if accelerated:
            assert world.accel['a'].counters()['intercepted'] == 1, 'it was not taken'
        image.finish()
        return {'image with' if accelerated else 'image without': after / before}
    finally:
        world.close()


def run_short(delay):
    """Two equal pairs of sites, one without acceleration."""
    far = {'acceleration': {'mode': 'latency', 'threshold': 50}}
    world = World({'sites': {'a': {'config': far}, 'b': {'config': far}, 'c': {}, 'd': {}},
                   'rtt_ms_default': delay, 'config': PATIENT})
    kinds = {'fetch': lambda *pair: send(*pair, os.urandom(FETCH_BYTES)),
             'ask 10': lambda *pair: ask(*pair, 10), 'ask 40': lambda *pair: ask(*pair, 40)}
    seconds = collections.defaultdict(list)
    try:
        world.limit('a', 'b', delay)
        world.limit('c', 'd', delay)
        world.accelerate('a', 'b')
        for i in range(SHORT_TIMES):
            for kind, run in kinds.items():
                for how, pair in (('with', 'ab'), ('plain', 'cd'))[::1 if i % 2 else -1]:
                    taken = world.accel['a'].counters()['intercepted']
                    seconds[f'{kind} {how}'].append(run(*(world.lab.host[name] for name in pair)))
                    taken = world.accel['a'].counters()['intercepted'] - taken
                    assert taken == 0, f'{kind} {how}: {taken} taken'
        figures = {name: statistics.median(values) for name, values in seconds.items()}
        for kind in kinds:
            figures[f'{kind} ratio'] = figures[f'{kind} with'] / figures[f'{kind} plain']
        return figures
    finally:
        world.close()


def run_bulk():
    always = {'mode': 'always', 'minimum-segments': 4}
    world = World({'sites': {'a': {}, 'b': {}}, 'rtt_ms_default': 0})
    figures = {}

    def one(name):
        data = os.urandom(BULK_MB * MB)
        cpu = world.cpu()
        seconds = world.send(data)
        figures[name + ' MB/s'] = len(data) / 1e6 / seconds
        figures[name + ' s/GB'] = (world.cpu() - cpu) * GB / len(data)
    try:
        one('bulk plain')
        for name, settings in (('bulk with', always),
                               ('bulk unpacked', merged(always, {'compression': {'disable': True}}))):
            for node in world.lab.node.values():
                node.reload(acceleration=settings)
            world.accelerate()
            one(name)
            assert world.accel['a'].counters()['intercepted'] == 1, 'it was not taken'
            world.plain_again()
        return figures
    finally:
        world.close()


# --- results ---

def keep(options, **figures):
    line = json.dumps({'load': round(os.getloadavg()[0], 1), **figures})
    print(line, flush=True)
    if options.out:
        with open(options.out, 'a', encoding='utf-8') as f:
            f.write(line + '\n')


def measure(options):
    for case in options.cases:
        if case == 'image':
            keep(options, **run_image(False))
            keep(options, **run_image(True))
        elif case == 'bulk':
            keep(options, **run_bulk())
        elif case == 'short':
            keep(options, delay=options.delays[0], **run_short(options.delays[0]))
        else:
            for windows in options.windows:
                for delay in options.delays:
                    world = two_far(options, windows, delay)
                    try:
                        figures = TABLE[case](world, options, windows)
                    finally:
                        world.close()
                    keep(options, hosts=windows, cc=options.cc, delay=delay, loss=options.loss,
                         undelivered=options.undelivered, **figures)


KEY = ('hosts', 'cc', 'delay', 'loss', 'undelivered')


def spread(values):
    return f'{statistics.median(values):.3g} ({min(values):.3g}-{max(values):.3g}; {len(values)})'


def table(lines):
    rows = collections.defaultdict(lambda: collections.defaultdict(list))
    for line in map(json.loads, lines):
        row = rows[tuple(line.pop(k, '') for k in KEY)]
        line.pop('load')
        for name, value in line.items():
            row[name].append(value)
    for key, row in rows.items():
        print(' '.join(f'{k} {v}' for k, v in zip(KEY, key) if v != ''))
        for name, values in row.items():
            t = ''
            if name in ('cold', 'warm') and 'plain' in row:
                t = f', T {statistics.median(values) / statistics.median(row["plain"]):.3f}'
                if key[0] == 'small' and key[2] in PAPER:
                    t += f', the paper\'s {PAPER[key[2]]:.2f}'
            print(f'    {name:20} {spread(values)}{t}')


def main():
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument('--rounds', type=int, default=3)
    parser.add_argument('--cases', nargs='+', default=[*TABLE, *OTHERS],
                        choices=[*TABLE, *OTHERS])
    parser.add_argument('--delays', type=int, nargs='+', default=sorted(PAPER))
    parser.add_argument('--windows', nargs='+', default=['small', 'modern'],
                        choices=['small', 'modern'])
    parser.add_argument('--loss', type=int, default=0, help='per thousand')
    parser.add_argument('--mb', type=int, default=50)
    parser.add_argument('--plain-mb', type=int, default=5)
    parser.add_argument('--cc', default='cubic', help='congestion control of the hosts')
    parser.add_argument('--undelivered', type=int, default=4, help='MiB, maximum-undelivered')
    parser.add_argument('--out', help='file to which the runs are added')
    parser.add_argument('--table', help='measures nothing, prints what is in that file')
    options = parser.parse_args()
    if not options.table:
        ns.enter_lab()
        options.out = options.out or 'build/eval-accel.json'
        for _ in range(options.rounds):
            measure(options)
    with open(options.table or options.out, encoding='utf-8') as f:
        table(f)


if __name__ == '__main__':
    main()
