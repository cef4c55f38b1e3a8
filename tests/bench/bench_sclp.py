#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""Native SCLP (leon-sclp) and the transport of LEON. The LEON transport applies the same idea over
UDP, with segmentation and coalescing of the kernel. The wire is the wire of bench_fwd.py. Rounds
are interleaved, figures are medians, and the ratio counts.

    LEON_BUILD=build tests/bench/bench_sclp.py [--rounds 5] [--seconds 2] [--json FILE]
"""
import argparse
import json
import statistics
import subprocess
import sys
import tempfile

import bench_fwd as fwd  # finds the harness

import ns  # noqa: E402
from node import Node, find_program, wait_for  # noqa: E402

METERS = {'tcp1': 'one TCP stream, Mbit/s', 'small': '64 B UDP, kpps'}
VARIANTS = {'sclp': 'native SCLP', 'leon': 'LEON over UDP, not sealed'}


class Net:
    """Two hosts on a wire, with both overlays."""

    def __init__(self):
        self.directory = tempfile.mkdtemp(prefix='leon-bench-')
        self.a, self.b = ns.Namespace('a'), ns.Namespace('b')
        fwd.wire(self.a, 'eth0', self.b, 'eth0')
        self.address = {('direct', 'sclp'): '10.8.0.2', ('direct', 'leon'): '10.9.0.2'}
        self.programs, self.nodes = {('direct', 'sclp'): [], ('direct', 'leon'): []}, []
        for end, space in ((1, self.a), (2, self.b)):
            space.ip(f'addr add 10.1.1.{end}/24 dev eth0')
        for end, space in ((1, self.a), (2, self.b)):
            self._sclp(space, end)
            self._leon(space, end)
        for address in self.address.values():
            wait_for(lambda a=address: self.a.run('ping', '-c1', '-W1', a, check=False).returncode == 0,
                     60, f'{address} answers')

        def settled():
            path = self.nodes[0].paths().get(self.nodes[1].node_id)
            return path and (path['mtu'] or 0) > 1400
        wait_for(settled, 60, 'the MTU of the path is known')

    def _sclp(self, space, end):
        process = space.start(find_program('leon-sclp', 'leon-sclp'), '--local', f'10.1.1.{end}',
                              '--peer', f'10.1.1.{3 - end}', stdout=subprocess.DEVNULL)
        wait_for(lambda: space.run('ip', 'link', 'show', 'up', 'sclp0', check=False).stdout, 20)
        space.ip(f'addr add 10.8.0.{end}/24 dev sclp0')
        self.programs['direct', 'sclp'].append(process)

    def _leon(self, space, end):
        node = Node(space.name, space, {
            'version': 1, 'interface': 'leon0', 'source-address': [f'10.1.1.{end}'],
            'peer': {'other': {'address': f'10.1.1.{3 - end}'}}, 'system': {'workers': 1},
        }, self.directory)
        node.start()
        space.ip(f'addr add 10.9.0.{end}/24 dev leon0', 'link set leon0 up')
        self.nodes.append(node)
        self.programs['direct', 'leon'].append(node.process)

    def close(self):
        fwd.end(self.nodes, (self.a, self.b), self.directory)


def main():
    parser = argparse.ArgumentParser(usage=__doc__)
    parser.add_argument('--rounds', type=int, default=5)
    parser.add_argument('--seconds', type=float, default=2)
    parser.add_argument('--json')
    arguments = parser.parse_args()
    ns.enter_lab()
    net = Net()
    samples = {(meter, variant): [] for meter in METERS for variant in VARIANTS}
    try:
        for number in range(arguments.rounds):
            for meter in METERS:
                for variant in sorted(VARIANTS, reverse=number % 2):
                    samples[meter, variant].append(
                        fwd.measure(net, meter, 'direct', variant, arguments.seconds)[0])
    finally:
        net.close()
    report = {'load': fwd.load(), 'rounds': arguments.rounds}
    for meter, title in METERS.items():
        median = {v: statistics.median(samples[meter, v]) for v in VARIANTS}
        report[meter] = {**median, 'ratio': median['sclp'] / median['leon']}
        print(f'{title:26}' + ''.join(f'  {VARIANTS[v]}: {median[v]:8.0f}' for v in VARIANTS)
              + f'  ratio {report[meter]["ratio"]:.2f}')
    if arguments.json:
        with open(arguments.json, 'w', encoding='utf-8') as f:
            json.dump(report, f, indent=1)
    return 0


if __name__ == '__main__':
    sys.exit(main())
