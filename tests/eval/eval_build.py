#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""The evaluation of the paper (section 5, Table 5). A virtual machine with a disk image on NFSv3
compiles a part of Linux, directly over the Internet and over LEON with Server 2 as relay.

The first runs calibrate the mix of computing and waiting on the direct path, without LEON. The
rounds alternate: round-trip time 0 (zero), the Internet (direct), a path with the round-trip time
of the relay (ideal) and LEON. Every run stays in build/eval-build/; the same command continues
after an interruption. Exit status 0: all bars hold; 1: a bar is missed; 2: runs are missing.

    make eval-build [EVAL_ARGS='--rounds 3 --minutes 8']
"""
import argparse
import json
import os
import signal
import statistics
import sys
import time

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(HERE, '../netns'))

import ns  # noqa: E402
from lab import Lab  # noqa: E402
from node import build_dir  # noqa: E402

import build_lab  # noqa: E402
import build_mix  # noqa: E402
from eval_nfs import SITES, need, prepare, rtt_ms  # noqa: E402

PROGRAMS = ('linux.uml', 'ganesha.nfsd', 'rpcbind', 'dbus-daemon', 'dbus-send', 'mke2fs', 'flex',
            'bison', 'bc', 'insmod', 'losetup', 'gcc', 'make')
PART = 'prepare init/ kernel/time/'
CALIBRATIONS = 3  # runs with another mix at most
BUSY = 0.1  # CPU pressure above this value makes times unreliable


class Results:
    """All runs of one mix and size, in a file that is complete after every run."""

    def __init__(self, path, size, fresh):
        self.path, self.data = path, {'size': size, 'again': 0, 'calibrated': False, 'runs': []}
        if not fresh and os.path.exists(path):
            with open(path, encoding='utf-8') as f:
                stored = json.load(f)
            if stored['size'] == size:
                self.data = stored
            else:
                sys.exit(f'{path} has runs of another size: add --fresh, or move the file')

    def save(self):
        part = self.path + '.part'
        with open(part, 'w', encoding='utf-8') as f:
            json.dump(self.data, f, indent=1)
        os.replace(part, self.path)

    def add(self, run):
        self.data['runs'].append(run)
        self.save()

    def of(self, path=None):
        """Runs of the present mix."""
        return [run for run in self.data['runs']
                if run['again'] == self.data['again'] and path in (None, run['path'])]

    def next_path(self, rounds):
        """The path of the next run, or None. Calibration needs one run of zero and direct."""
        while not self.data['calibrated']:
            for path in ('zero', 'direct'):
                if not self.of(path):
                    return path
            self.calibrate()
        paths = list(build_lab.PATHS)
        count = {path: len(self.of(path)) for path in paths}
        behind = min(paths, key=lambda path: (count[path], paths.index(path)))
        return behind if count[behind] < rounds else None

    def calibrate(self):
        """Settles the mix after the two runs of a calibration, or changes the mix."""
        zero, direct = self.of('zero')[-1], self.of('direct')[-1]
        compute = zero['seconds'] - zero['operations'] * zero['rtt_ms'] / 1000
        found = build_mix.share(compute, direct['operations'], direct['rtt_ms'])
        print(f'calibration, again {self.data["again"]} %: k x RTT / C = {found:.2f}', flush=True)
        more = build_mix.compute_more(compute, direct['operations'], direct['rtt_ms'])
        again = self.data['again'] + round(more * (100 + self.data['again']) / 100)
        tried = {run['again'] for run in self.data['runs']}
        # The computing time of single runs varies, so a calibration must meet half of the margin.
        good = abs(found - build_mix.SHARE) <= build_mix.SHARE_MARGIN / 2
        if good or len(tried) > CALIBRATIONS or again in tried:
            self.data['calibrated'] = True
        elif again < 0 and self.data['again'] == 0:
            sys.exit('too few operations for the computing time: lower --readahead-kb')
        else:
            self.data['again'] = max(again, 0)
        self.save()


def one_run(net, server, path, results, arguments):
    server.fresh_disk()
    address = build_lab.take_path(net, path)
    rtt = rtt_ms(net, address)
    mix = {**results.data['size'], 'again': results.data['again']}
    guest = build_lab.Guest(net, server, address, mix, arguments.timeout)
    if path == 'leon' and net.hops('server1', 'server3') != ['server2', 'server3']:
        sys.exit('the path of LEON changed during the run, which is not stored')
    run = {'path': path, 'rtt_ms': rtt, 'again': results.data['again'], 'at': int(time.time()),
           **guest.figures}
    results.add(run)
    print(f'{path:<7} {run["seconds"]:7.1f} s, CPU {run["cpu"]:6.1f} s, {run["operations"]:6}'
          f' operations, RTT {rtt:.2f} ms, CPU pressure {run.get("pressure", 0):.2f}', flush=True)


def measure(results, image, arguments):
    """Runs until all rounds are complete or the time is over."""
    begin = time.monotonic()
    longest = 0
    net = Lab(SITES)
    try:
        net.joined(60)
        prepare(net)
        build_lab.prepare_guest_net(net)
        server = build_lab.Server(net.node['server1'].namespace,
                                  os.path.join(net.directory, 'nfs'), image)
        while path := results.next_path(arguments.rounds):
            if arguments.minutes and time.monotonic() - begin + longest > arguments.minutes * 60:
                break
            started = time.monotonic()
            one_run(net, server, path, results, arguments)
            longest = max(longest, time.monotonic() - started)
    finally:
        net.close(check=False)


def spread(values):
    return f'{min(values):.1f}-{max(values):.1f}'


def report(runs):
    """Prints all figures. Returns True if the bars hold."""
    compute, trips = build_mix.law_of(build_mix.PAPER_MINUTES, build_mix.PAPER_RTT_MS)
    print(f'\npaper: C {compute:.1f} min, k {trips:.0f}, k x RTT / C {build_mix.SHARE},'
          f' LEON / direct {build_mix.PAPER_RATIO:.3f}')
    print(f'{"":<7} {"runs":>4} {"RTT ms":>7} {"k":>7} {"seconds":>9} {"spread":>15} {"CPU s":>7}')
    for path in build_lab.PATHS:
        mine = [run for run in runs if run['path'] == path]
        times = [run['seconds'] for run in mine]
        middle = {key: statistics.median(run[key] for run in mine)
                  for key in ('rtt_ms', 'operations', 'seconds', 'cpu')}
        print(f'{path:<7} {len(mine):>4} {middle["rtt_ms"]:>7.2f} {middle["operations"]:>7.0f}'
              f' {middle["seconds"]:>9.1f} {spread(times):>15} {middle["cpu"]:>7.1f}')
    each = [leon['seconds'] / direct['seconds']
            for direct, leon in zip(*([run for run in runs if run['path'] == path]
                                      for path in ('direct', 'leon')))]
    print(f'LEON / direct of each round: {" ".join(f"{value:.3f}" for value in each)}')
    cpu, count, rtt = (build_mix.medians(runs, key) for key in ('cpu', 'operations', 'rtt_ms'))
    counted = {path: build_mix.predicted(cpu['zero'], count[path], rtt[path])
               for path in ('direct', 'leon')}
    print(f'LEON / direct from CPU time and counters: {counted["leon"] / counted["direct"]:.3f}\n')
    rows = build_mix.verdict(runs)
    for name, value, target, margin, holds in rows:
        print(f'{name:<30} {value:6.3f}   target {target:.3f} +- {margin:.2f}'
              f'   {"holds" if holds else "MISSED"}')
    if len({run['objects'] for run in runs}) != 1:
        print('the object files of the runs differ: the virtual machine computes wrongly')
        return False
    pressure = max(run.get('pressure', 0) for run in runs)
    if pressure > BUSY:
        print(f'note: the machine was busy, CPU pressure up to {pressure:.2f}:'
              ' the times are no measurement')
    return all(row[-1] for row in rows)


def main():
    parser = argparse.ArgumentParser(description=__doc__.split('\n', maxsplit=1)[0])
    parser.add_argument('--rounds', type=int, default=3)
    parser.add_argument('--targets', default=PART,
                        help='of make, for example vmlinux (default: %(default)s)')
    parser.add_argument('--again', type=int, metavar='PERCENT',
                        help='of the objects, compiled again; no calibration')
    parser.add_argument('--readahead-kb', type=int, default=12,
                        help='of the disk (default: %(default)s)')
    parser.add_argument('--memory-mb', type=int, default=768,
                        help='of the virtual machine (default: %(default)s)')
    parser.add_argument('--minutes', type=float, help='starts no run that may end later')
    parser.add_argument('--timeout', type=float, default=3600,
                        help='seconds of one run (default: %(default)s)')
    parser.add_argument('--fresh', action='store_true', help='removes the stored runs of this size')
    arguments = parser.parse_args()
    for program in PROGRAMS:
        need(program)
    cache = os.path.join(build_dir(), 'eval-build')
    os.makedirs(cache, exist_ok=True)
    size = {'targets': arguments.targets, 'readahead_kb': arguments.readahead_kb,
            'memory_mb': arguments.memory_mb}
    results = Results(os.path.join(cache, 'runs.json'), size, arguments.fresh)
    for number in (signal.SIGTERM, signal.SIGHUP):
        # As SIGINT does, the exception removes the files of the lab.
        signal.signal(number, lambda signum, _: sys.exit(128 + signum))
    if arguments.again is not None:
        results.data.update({'again': arguments.again, 'calibrated': True})
    image = build_lab.disk_image(cache)
    ns.enter_lab()
    measure(results, image, arguments)
    if results.next_path(arguments.rounds):
        print('runs are missing: the same command continues')
        sys.exit(2)
    sys.exit(0 if report(results.of()) else 1)


if __name__ == '__main__':
    main()
