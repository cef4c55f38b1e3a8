#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""Table 1 of the WAN accelerator paper: a file of 50 MB from a server that has moved away, with and
without leon-accel, at delays (round-trip times) of 250 to 1000 ms over 100 Mbit/s with a queue of
100 ms. T is the time with over the time without. Hosts have windows of 64 KiB, as the paper's, or
are as Linux makes them. Random bytes; both ends' hashes are compared in every run.

    cold   the carrier was idle since its start
    warm   60 MB went over it before
    again  the same bytes a second time: the time, and the share of them that the line carried

What a host with small windows needs without acceleration grows with the bytes: less of them is sent
(--plain-mb) and the time multiplied.

    make eval-accel [EVAL_ARGS='--rounds 1 --delays 250']
"""
import argparse
import hashlib
import os
import socket
import statistics
import sys
import threading
import time

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(HERE, '../netns'))

import ns  # noqa: E402
from accel import Accelerator  # noqa: E402
from lab import PATIENT, Lab, merged, wait_for  # noqa: E402

MB = 1 << 20
PAPER = {250: .25, 500: .10, 750: .08, 1000: .07}
CONFIG = merged(PATIENT, {'acceleration': {'mode': 'latency', 'threshold': 50,
                                           'minimum-segments': 4}})
RATE_KBIT, QUEUE_US = 100_000, 100_000
port = [6000]
options_cc = ['cubic']


def send(lab, data):
    """Seconds from connect to the last byte of `data` at the client, which checks it."""
    client, server = lab.host['a'], lab.host['b']
    port[0] += 1
    with server.namespace:
        listener = socket.socket()
    listener.bind((server.ip4, port[0]))
    listener.listen()
    with client.namespace:
        c = socket.socket()

    def serve():
        s, _ = listener.accept()
        s.sendall(data)
        s.close()
    thread = threading.Thread(target=serve, daemon=True)
    thread.start()
    began = time.monotonic()
    c.settimeout(1200)
    c.connect((server.ip4, port[0]))
    digest = hashlib.sha256()
    n = 0
    while True:
        block = c.recv(1 << 20)
        if not block:
            break
        digest.update(block)
        n += len(block)
    seconds = time.monotonic() - began
    thread.join()
    listener.close()
    c.close()
    assert n == len(data) and digest.digest() == hashlib.sha256(data).digest(), 'bytes are wrong'
    return seconds


class World:
    def __init__(self, delay, windows, loss):
        self.lab = Lab({'sites': {'a': {}, 'b': {}}, 'rtt_ms_default': delay, 'config': CONFIG})
        for x, y in (('a', 'b'), ('b', 'a')):
            self.lab.wan.link(x, y, delay_us=delay * 500, rate_kbit=RATE_KBIT, queue_us=QUEUE_US,
                              loss_permille=loss)
        for host in self.lab.host.values():
            host.namespace.sysctl('ipv4/tcp_no_metrics_save', 1)
            # Whatever the default of this kernel is.
            host.namespace.run('ip', 'route', 'replace', '10.10.0.0/16', 'dev', 'eth0', 'congctl',
                               options_cc[0])
            if windows == 'small':
                host.namespace.sysctl('ipv4/tcp_window_scaling', 0)
        self.accel = None
        time.sleep(3)

    def start(self):
        self.accel = [Accelerator(n).start() for n in self.lab.node.values()]
        for a in self.accel:
            wait_for(lambda a=a: a.carriers() == ['up'], 60, 'carrier is up')
        time.sleep(2)

    def carried(self):
        return self.accel[1].counters()['carrier_bytes_out']

    def stop(self):
        for a in self.accel or ():
            a.stop()
        self.accel = None

    def close(self):
        self.stop()
        self.lab.close()


def measure(delay, windows, loss, options):
    """One round: {'plain', 'cold', 'warm', 'again', 'share'}."""
    world = World(delay, windows, loss)
    data = os.urandom(options.mb * MB)
    try:
        mb = options.plain_mb if windows == 'small' else options.mb
        plain = send(world.lab, os.urandom(mb * MB)) * options.mb / mb
        world.start()
        cold = send(world.lab, data)
        send(world.lab, os.urandom(10 * MB))
        warm = send(world.lab, os.urandom(options.mb * MB))
        before = world.carried()
        world.stop()
        world.start()
        send(world.lab, data)
        before = world.carried()
        again = send(world.lab, data)
        return {'plain': plain, 'cold': cold, 'warm': warm, 'again': again,
                'share': (world.carried() - before) / len(data)}
    finally:
        world.close()


def main():
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument('--rounds', type=int, default=3)
    parser.add_argument('--delays', type=int, nargs='+', default=sorted(PAPER))
    parser.add_argument('--windows', nargs='+', default=['small', 'modern'],
                        choices=['small', 'modern'])
    parser.add_argument('--loss', type=int, default=0, help='per thousand')
    parser.add_argument('--mb', type=int, default=50)
    parser.add_argument('--plain-mb', type=int, default=5)
    parser.add_argument('--cc', default='cubic', help='congestion control of the hosts')
    options = parser.parse_args()
    options_cc[0] = options.cc
    ns.enter_lab()
    print('hosts    d ms   plain    cold    warm   again  share  T cold  T warm  paper', flush=True)
    for windows in options.windows:
        for delay in options.delays:
            rounds = [measure(delay, windows, options.loss, options) for _ in range(options.rounds)]
            m = {key: statistics.median(r[key] for r in rounds) for key in rounds[0]}
            print(f'{windows:8}{delay:5}{m["plain"]:8.1f}{m["cold"]:8.1f}{m["warm"]:8.1f}'
                  f'{m["again"]:8.1f}{m["share"]:7.3f}{m["cold"] / m["plain"]:8.3f}'
                  f'{m["warm"] / m["plain"]:8.3f}{PAPER.get(delay, float("nan")):7.2f}', flush=True)


if __name__ == '__main__':
    main()
