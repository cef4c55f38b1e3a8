#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""Links over TLS in comparison to UDP and to a plain TCP connection, on an emulated line. Measures
the throughput of one TCP connection between hosts, and simultaneous pings, with and without loss.
Prints medians of interleaved rounds, and the time until a node joins without UDP."""
import argparse
import os
import re
import statistics
import sys
import time

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), '../netns'))

import ns  # noqa: E402

ns.enter_lab()

import lab  # noqa: E402
import wan  # noqa: E402
from traffic import Bulk  # noqa: E402
from wan import block_udp  # noqa: E402

SITES = {'n0': {'config': {'transport': {'tls': {'listen-port': 443}}}},
         'n1': {'config': {'transport': {'tls': {}}, 'peer': {'n0': {'tls-port': 443}}}}}


def made(over_tls, rtt_ms, congestion):
    net = lab.Lab({'sites': SITES, 'seeds': ['n0'], 'rtt_ms_default': rtt_ms, 'timing': 'production'},
                  start=False)
    for owner in [*net.node.values(), *net.host.values()] if congestion else []:
        owner.namespace.sysctl('ipv4/tcp_congestion_control', congestion)
    if over_tls:
        block_udp(net.node['n1'])
    begin = time.monotonic()
    net.start()
    net.joined()
    took = time.monotonic() - begin
    net.settle_hosts('n0', 'n1', 20)
    return net, took


def rtts_ms(namespace, address, seconds):
    out = namespace.run('ping', '-n', '-i', '0.02', '-w', str(seconds), address, check=False,
                        timeout=seconds + 20).stdout
    return sorted(float(t) for t in re.findall(r'time=([\d.]+)', out))


def percentile(values, p):
    return values[min(len(values) - 1, int(len(values) * p / 100))] if values else float('nan')


def run(net, source, destination, address, seconds):
    """Throughput in Mbit/s, median and 99th percentile of the simultaneous round-trip time."""
    bulk = Bulk(source, destination, address)
    time.sleep(2)  # slow start is not measured
    before, begin = bulk.received, time.monotonic()
    found = rtts_ms(source, address, seconds)
    rate = (bulk.received - before) * 8e-6 / (time.monotonic() - begin)
    bulk.stop()
    return rate, percentile(found, 50), percentile(found, 99)


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument('--rounds', type=int, default=3)
    parser.add_argument('--seconds', type=int, default=6)
    parser.add_argument('--rtt-ms', type=int, default=20)
    parser.add_argument('--mbit', type=int, default=20)
    parser.add_argument('--queue-ms', type=int, default=50)
    parser.add_argument('--congestion', help='algorithm of all TCP connections, instead of the default of the kernel')
    args = parser.parse_args()
    nets = {'UDP': made(False, args.rtt_ms, args.congestion),
            'TLS': made(True, args.rtt_ms, args.congestion)}
    print(f'joined after {nets["UDP"][1]:.1f} s over UDP, {nets["TLS"][1]:.1f} s over TLS')
    print(f'line of {args.mbit} Mbit/s, {args.rtt_ms} ms, queue of {args.queue_ms} ms; medians of '
          f'{args.rounds} rounds\n')
    print('| line | transport | Mbit/s | RTT beside, median | RTT beside, p99 |\n|---|---|---|---|---|')
    for loss in (0, 10):
        found = {}
        for net, _ in nets.values():
            net.wan.both('*', '*', rate_kbit=args.mbit * 1000, queue_us=args.queue_ms * 1000,
                         loss_permille=loss)
        for _ in range(args.rounds):
            for name, (net, _) in nets.items():
                a, b = net.host['n1'], net.host['n0']
                found.setdefault(name, []).append(
                    run(net, a.namespace, b.namespace, b.ip4, args.seconds))
            net = nets['UDP'][0]
            found.setdefault('TCP without overlay', []).append(
                run(net, net.node['n1'].namespace, net.node['n0'].namespace, wan.ip4(0), args.seconds))
        for name, rounds in found.items():
            rate, middle, tail = (statistics.median(column) for column in zip(*rounds))
            print(f'| {loss / 10:g} % loss | {name} | {rate:.1f} | {middle:.0f} ms | {tail:.0f} ms |', flush=True)
    for net, _ in nets.values():
        net.close()


if __name__ == '__main__':
    main()
