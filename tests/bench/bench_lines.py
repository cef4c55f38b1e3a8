#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""Two lines of a site: the time in which a dead line is left, and its effect on TCP.

n0 has a line of 50 Mbit/s and 20 ms, and one of 50 Mbit/s and 35 ms. Each round cuts the line in
use under a stream of numbered datagrams in both directions, or under one TCP connection, and
repairs it.

    LEON_BUILD=build tests/bench/bench_lines.py [--rounds 5]

- delay: longest time from sending to arrival of a datagram, for each direction.
- lost: lost datagrams in both directions.
- pause: longest time without a byte of the TCP connection.

The bars hold for the medians on an idle machine: 400 ms of delay, 300 ms of pause. Exits with 1 if
one of them is missed.
"""
import argparse
import json
import os
import statistics
import sys
import time

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), '../netns'))

import ns  # noqa: E402
import wan  # noqa: E402
from bench_fwd import machine  # noqa: E402
from lab import Lab, wait_for  # noqa: E402
from traffic import Bulk  # noqa: E402

RTT_MS = {'n0': 20, 'n0-2': 35}
RATE_KBIT, QUEUE_MS = 50000, 50
DELAY_BAR_MS = 400
PAUSE_BAR_MS = 300
WITHIN = 60


class Bench:
    def __init__(self):
        self.net = Lab({'sites': {'n0': {'lines': True}, 'n1': {}}, 'timing': 'production'}, start=False)
        for site, ms in RTT_MS.items():
            self.net.wan.both(site, 'n1', delay_us=ms * wan.MS / 2, rate_kbit=RATE_KBIT, queue_us=QUEUE_MS * wan.MS)
        self.net.start()
        self.net.joined(WITHIN)
        self.wait_use(1)

    def uses(self, number):
        """Both ends use this line of n0, and know that the other one answers."""
        shown = [n.show('lines')['pairs'] for n in self.net.node.values()]
        mine = ['first', 'second'][number - 1]
        return all(any(p['state'] == 'in-use' and key(p) == wanted for p in pairs) and
                   any(p['state'] == 'standby' for p in pairs)
                   for pairs, key, wanted in zip(shown, (lambda p: p['line'], lambda p: p['peer_line']),
                                                 (mine, number)))

    def wait_use(self, number):
        wait_for(lambda: self.uses(number), WITHIN, f'line {number} is in use')

    def cut(self, up=False):
        self.net.wan.both('n0', 'n1', up=up)

    def datagrams(self):
        streams = self.net.streams('n0', 'n1')
        for s in streams:
            s.arrived(500)
        self.cut()
        time.sleep(2)
        self.cut(up=True)
        self.wait_use(1)
        for s in streams:
            s.stop()
        return [max(s.latency()) * 1000 for s in streams], sum(s.lost for s in streams)

    def tcp(self):
        self.net.settle_hosts('n0', 'n1')
        host, far = self.net.host['n0'], self.net.host['n1']
        bulk = Bulk(host.namespace, far.namespace, far.ip4)
        try:
            time.sleep(2)
            self.cut()
            pause = self.longest_pause(bulk, 3)
            self.cut(up=True)
        finally:
            bulk.stop()
        self.wait_use(1)
        return pause

    @staticmethod
    def longest_pause(bulk, seconds):
        end, longest = time.monotonic() + seconds, 0
        seen, since = bulk.received, time.monotonic()
        while time.monotonic() < end:
            time.sleep(0.002)
            if bulk.received != seen:
                seen, since = bulk.received, time.monotonic()
            longest = max(longest, time.monotonic() - since)
        return longest * 1000


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument('--rounds', type=int, default=5)
    arguments = parser.parse_args()
    ns.enter_lab()
    about = machine()
    print(f'{about["cpu"]}, {about["cores"]} cores, Linux {about["kernel"]}, {about["commit"]}, '
          f'load {os.getloadavg()[0]:.1f}; {json.dumps(vars(arguments))}')
    bench, delays, pauses = Bench(), [], []
    try:
        for number in range(arguments.rounds):
            (there, back), lost = bench.datagrams()
            pause = bench.tcp()
            print(f'round {number + 1}: delay {there:.0f} and {back:.0f} ms, {lost} lost, TCP pause {pause:.0f} ms',
                  flush=True)
            delays += [there, back]
            pauses.append(pause)
    except BaseException:
        bench.net.close(check=False)
        raise
    bench.net.close()
    print(f'delay: median {statistics.median(delays):.0f} ms, longest {max(delays):.0f} ms; '
          f'TCP pause: median {statistics.median(pauses):.0f} ms, longest {max(pauses):.0f} ms')
    return statistics.median(delays) > DELAY_BAR_MS or statistics.median(pauses) > PAUSE_BAR_MS


if __name__ == '__main__':
    sys.exit(main())
