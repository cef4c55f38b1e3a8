#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""Two lines of a site: their sum, the time in which a dead line is left, and its effect on TCP.

n0 has a line of 50 Mbit/s and 20 ms, and one of 50 Mbit/s and 35 ms. Each round cuts the line in
use under a stream of numbered datagrams in both directions, or under one TCP connection, and
repairs it. Another TCP connection uses the first line alone, and then both. Both nodes have `shaper
egress` with 94 Mbit/s, or `shaper automatic`.

    LEON_BUILD=build tests/bench/bench_lines.py [--rounds 5] [--automatic]

- delay: longest time from sending to arrival of a datagram, for each direction.
- lost: lost datagrams in both directions.
- pause: longest time without a byte of the TCP connection.
- ratio: rate of TCP on both lines, divided by the rate on the better line.
- ping: p99 of the round-trip time during TCP on both lines, above the median of the idle link.

The bars hold for the medians on an idle machine: 400 ms of delay, 300 ms of pause, a ratio of 1.8,
10 ms of ping. Exits with 1 if one of them is missed.
"""
import argparse
import json
import os
import re
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
RATIO_BAR = 1.8
PING_BAR_MS = 10
EGRESS_KBIT = 94000
SETTLE_S, MEASURE_S = 5, 8
WITHIN = 60


class Bench:
    def __init__(self, automatic):
        self.net = Lab({'sites': {'n0': {'lines': True}, 'n1': {}}, 'timing': 'production'}, start=False)
        for site, ms in RTT_MS.items():
            self.net.wan.both(site, 'n1', delay_us=ms * wan.MS / 2, rate_kbit=RATE_KBIT, queue_us=QUEUE_MS * wan.MS)
        for node in self.net.node.values():
            node.config['shaper'] = {'automatic': True} if automatic else {'egress': EGRESS_KBIT}
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

    def pings(self, seconds):
        """Sorted round-trip times in ms."""
        out = self.net.host['n0'].namespace.run(
            'ping', '-n', '-i', '0.05', '-c', str(seconds * 20), '-W', '1', self.net.host['n1'].ip4, check=False).stdout
        return sorted(float(t) for t in re.findall(r'time=([\d.]+) ms', out))

    def rate(self):
        """Mbit/s of one TCP connection, and p99 of a simultaneous ping."""
        far = self.net.host['n1']
        bulk = Bulk(self.net.host['n0'].namespace, far.namespace, far.ip4)
        try:
            time.sleep(SETTLE_S)
            before, since = bulk.received, time.monotonic()
            times = self.pings(MEASURE_S)
            return (bulk.received - before) * 8e-6 / (time.monotonic() - since), times[int(len(times) * 0.99)]
        finally:
            bulk.stop()

    def sum(self):
        self.net.settle_hosts('n0', 'n1')
        idle = statistics.median(self.pings(2))
        self.net.wan.both('n0-2', 'n1', up=False)
        time.sleep(2)
        one, _ = self.rate()
        self.net.wan.both('n0-2', 'n1', up=True)
        self.wait_use(1)
        both, ping = self.rate()
        return one, both, ping - idle

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
    parser.add_argument('--automatic', action='store_true', help='with shaper automatic')
    arguments = parser.parse_args()
    ns.enter_lab()
    about = machine()
    print(f'{about["cpu"]}, {about["cores"]} cores, Linux {about["kernel"]}, {about["commit"]}, '
          f'load {os.getloadavg()[0]:.1f}; {json.dumps(vars(arguments))}')
    bench, delays, pauses, ratios, waits = Bench(arguments.automatic), [], [], [], []
    try:
        for number in range(arguments.rounds):
            (there, back), lost = bench.datagrams()
            pause = bench.tcp()
            one, both, ping = bench.sum()
            print(f'round {number + 1}: delay {there:.0f} and {back:.0f} ms, {lost} lost, TCP pause {pause:.0f} ms, '
                  f'{one:.1f} and {both:.1f} Mbit/s, ping +{ping:.1f} ms, load {os.getloadavg()[0]:.1f}', flush=True)
            delays += [there, back]
            pauses.append(pause)
            ratios.append(both / one)
            waits.append(ping)
    except BaseException:
        bench.net.close(check=False)
        raise
    bench.net.close()
    print(f'delay: median {statistics.median(delays):.0f} ms, longest {max(delays):.0f} ms; '
          f'TCP pause: median {statistics.median(pauses):.0f} ms, longest {max(pauses):.0f} ms; '
          f'ratio: median {statistics.median(ratios):.2f}; ping: median +{statistics.median(waits):.1f} ms')
    return statistics.median(delays) > DELAY_BAR_MS or statistics.median(pauses) > PAUSE_BAR_MS or \
        statistics.median(ratios) < RATIO_BAR or statistics.median(waits) > PING_BAR_MS


if __name__ == '__main__':
    sys.exit(main())
