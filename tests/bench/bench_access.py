#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""Simultaneous transfers over a slow access link, plain and accelerated alternately.

    LEON_BUILD=build tests/bench/bench_access.py [--rounds 3] [--mbits 2] [--rtt-ms 250]
        [--queue-ms 100] [--transfers 6] [--kb 200]

The first transfers of a new inter-proxy connection meet a link that its first window floods. `cold`
are these transfers, `warm` the same number after them. For each: the mean and the largest time of a
transfer in seconds, the intercepted connections, and the segments that hosts and accelerators sent
again. Bar: no slower than before a change of the first window.
"""
import argparse
import concurrent.futures
import contextlib
import io
import os
import re
import statistics
import sys
import time

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), '../netns'))

import ns  # noqa: E402
from accel import Transfer, far_apart  # noqa: E402
from lab import PATIENT, Lab, merged  # noqa: E402

ACCELERATED = merged(PATIENT, {'acceleration': {'mode': 'latency', 'threshold': 50,
                                                'minimum-segments': 4}})
COLUMNS = ('cold mean', 'cold last', 'warm mean', 'warm last', 'taken', 'again')
WITHIN_S, SETTLE_S = 120, 3


class Timed(Transfer):
    received = None  # time of the end of the stream at the client

    def _receive(self, name, s):
        super()._receive(name, s)
        if name == 'client':
            self.received = time.monotonic()


def resent(namespaces):
    """Retransmitted segments of all TCP sockets."""
    text = ''.join(n.run('cat', '/proc/net/snmp').stdout for n in namespaces)
    fields = re.findall(r'^Tcp: (.*)$', text, re.M)
    return sum(int(values.split()[names.split().index('RetransSegs')])
               for names, values in zip(fields[::2], fields[1::2]))


def batch(host, args):
    """Mean and largest time of a transfer."""
    a, b = host['a'], host['b']
    with concurrent.futures.ThreadPoolExecutor(args.transfers) as pool:
        transfers = list(pool.map(lambda _: Timed(a, b, b.ip4, down=args.kb * 1000),
                                  range(args.transfers)))
    seconds = []
    for t in transfers:
        t.wait(WITHIN_S).assert_whole()
        t.close()
    seconds = [t.received - t.began for t in transfers]
    return [statistics.mean(seconds), max(seconds)]


def twice(host, args, namespaces, count):
    row = batch(host, args)
    time.sleep(SETTLE_S)  # the hosts' last acknowledgements
    row += batch(host, args)
    return [*row, count(), resent(namespaces)]


def measure(args, plain):
    net = Lab({'sites': {'a': {}, 'b': {}}, 'rtt_ms_default': args.rtt_ms,
               'config': PATIENT if plain else ACCELERATED})
    net.wan.both('a', 'b', delay_us=args.rtt_ms * 500, rate_kbit=args.mbits * 1000,
                 queue_us=args.queue_ms * 1000)
    hosts = [h.namespace for h in net.host.values()]
    for h in hosts:
        h.sysctl('ipv4/tcp_no_metrics_save', 1)
    try:
        if plain:
            return twice(net.joined(60).host, args, hosts, lambda: 0)
        with contextlib.redirect_stdout(io.StringIO()), far_apart(net) as far:
            time.sleep(SETTLE_S)  # the accelerators exchange their first messages
            proxies = [a.namespace for a in far.accel.values()]
            return twice(net.host, args, hosts + proxies, lambda: far.count('a', 'intercepted'))
    finally:
        net.close(check=False)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument('--rounds', type=int, default=3)
    parser.add_argument('--mbits', type=int, default=2)
    parser.add_argument('--rtt-ms', type=int, default=250)
    parser.add_argument('--queue-ms', type=int, default=100)
    parser.add_argument('--transfers', type=int, default=6)
    parser.add_argument('--kb', type=int, default=200)
    args = parser.parse_args()
    ns.enter_lab()
    rows = {'plain': [], 'accelerated': []}
    print(f'{"":12}', *(f'{c:>10}' for c in COLUMNS))
    for _ in range(args.rounds):
        for name, row in rows.items():
            row.append(measure(args, name == 'plain'))
            print(f'{name:12}', *(f'{v:10.2f}' for v in row[-1]), flush=True)
    for name, row in rows.items():
        print(f'{name + " median":12}', *(f'{statistics.median(c):.2f}' for c in zip(*row)))


if __name__ == '__main__':
    main()
