#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""Hours of failures. Nodes die, leave, return and move. Links fail, lose and slow down. Hundreds of
hosts appear and disappear, configurations change, and nodes flood frames. A seed determines the
sequence. Two nodes live through the whole test. The test fails if a live node ends, a sanitizer
reports an error, memory keeps growing, or the overlay does not recover at the end.

Best with a sanitizer build: meson setup build-asan -Db_sanitize=address,undefined -Db_lundef=false
    SOAK_MINUTES=30 LEON_BUILD=build-asan tests/netns/soak.py [--seed N] [--nodes N]
"""
import argparse
import os
import random
import signal
import sys
import time
import traceback

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))

import node as node_module  # noqa: E402
import ns  # noqa: E402
from lab import Lab, line_up  # noqa: E402
from node import LeonctlError  # noqa: E402
from traffic import Tap, ethernet  # noqa: E402

# The quarantine of AddressSanitizer would look like growth.
node_module.SANITIZERS['ASAN_OPTIONS'] += ':quarantine_size_mb=1:malloc_context_size=5'
GROWTH_BYTES = 8 << 20
GROWTH_RATIO = 1.2


class Soak:
    def __init__(self, n, seed):
        self.chance = random.Random(seed)
        config = {'member': {'forget-time': 20}, 'fdb': {'aging': 30, 'maximum': 2000}}
        self.net = Lab(line_up(n, config=config, seed=seed))
        self.anchors = ['n0', 'n1']
        self.others = [name for name in self.net.node if name not in self.anchors]
        self.done = {}
        self.macs = 0
        self.ports = {name: Tap(h.namespace, 'eth0') for name, h in self.net.host.items()}

    # --- failures; each receives a mortal node and any pair of nodes ---

    def kill(self, name, _):
        self.net.node[name].kill()

    def leave(self, name, _):
        self.net.node[name].stop(within=30 * node_module.PATIENCE)

    def revive(self, name, _):
        if not self.net.node[name].alive():
            self.net.start(name)

    def pause(self, name, _):
        """Stops a process for some time, as on a swapping machine."""
        node = self.net.node[name]
        if node.alive():
            node.process.send_signal(signal.SIGSTOP)
            time.sleep(self.chance.uniform(0.2, 3))
            node.process.send_signal(signal.SIGCONT)

    def cut(self, _, pair):
        self.net.wan.link(*pair, up=False)

    def heal(self, _, pair):
        self.net.wan.both(*pair, up=True)

    def partition(self, name, _):
        self.net.wan.isolate(name)

    def merge(self, name, _):
        self.net.wan.isolate(name, up=True)

    def change_link(self, _, pair):
        self.net.wan.link(*pair, delay_us=self.chance.uniform(0, 80_000),
                          jitter_us=self.chance.choice([0, 0, 2000, 20_000]),
                          loss_permille=self.chance.choice([0, 0, 5, 50, 300]),
                          duplicate_permille=self.chance.choice([0, 0, 50]),
                          reorder_permille=self.chance.choice([0, 0, 50]),
                          mtu=self.chance.choice([1500, 1500, 1400, 1300]))

    def hosts(self, _, pair):
        """A few hundred hosts appear at one site and send to another site."""
        first = self.macs % 5000
        self.macs += 300
        to = self.net.host[pair[1]].mac
        for i in range(first, first + 300):
            mac = f'02:dd:00:00:{i >> 8:02x}:{i & 255:02x}'
            self.ports[pair[0]].send(ethernet(to, mac, 0x88b6, b'x' * self.chance.randint(1, 1400)))

    def storm(self, _, pair):
        frame = ethernet('ff:ff:ff:ff:ff:ff', self.net.host[pair[0]].mac, 0x88b6, b'storm')
        for _ in range(3000):
            self.ports[pair[0]].send(frame)

    def ping(self, _, pair):
        self.net.host[pair[0]].ping(self.net.host[pair[1]].ip4, count=5, within=0.3,
                                    size=self.chance.choice([56, 1472]))

    def reload(self, _, pair):
        node = self.net.node[pair[0]]
        if node.alive():
            node.reload(path={'hold-time': self.chance.choice([0, 1, 3]),
                              'threshold': self.chance.choice([0, 10, 30])},
                        fdb={'aging': 30, 'maximum': self.chance.choice([64, 500, 2000])})

    def look(self, _, pair):
        """Runs all queries of leonctl."""
        node = self.net.node[pair[0]]
        if node.alive():
            for what in ('nodes', 'paths', 'latency', 'fdb', 'statistics', 'events'):
                node.show(what)
            node.leonctl('metrics', json_output=False)
            for words in (('explain', 'path', pair[1]), ('trace', pair[1]), ('ping', pair[1])):
                try:
                    node.leonctl(*words)
                except LeonctlError:
                    pass  # the answer reports the absent host

    def step(self):
        actions = [self.kill, self.leave, *[self.revive] * 4, self.pause, self.cut,
                   *[self.heal] * 3, self.partition, *[self.merge] * 2, *[self.change_link] * 2,
                   *[self.hosts] * 3, self.storm, *[self.ping] * 4, self.reload, self.look]
        action = self.chance.choice(actions)
        name = self.chance.choice(self.others)
        pair = self.chance.sample(list(self.net.node), 2)
        action(name, pair)
        self.done[action.__name__] = self.done.get(action.__name__, 0) + 1

    # --- observation ---

    def check_alive(self):
        for name, node in self.net.node.items():
            ended = node.process.poll()
            if name in self.anchors and ended is not None \
                    or ended not in (None, 0, -signal.SIGKILL):
                raise AssertionError(f'leond of {name} ended with status {ended}')
            if node.trouble():
                raise AssertionError(f'{name}: {node.trouble()[0]}')

    def memory(self):
        """Resident bytes and descriptors of the nodes that live through the whole test."""
        found = {}
        for name in self.anchors:
            pid = self.net.node[name].process.pid
            with open(f'/proc/{pid}/statm', encoding='ascii') as f:
                resident = int(f.read().split()[1]) * os.sysconf('SC_PAGE_SIZE')
            found[name] = resident, len(os.listdir(f'/proc/{pid}/fd'))
        return found

    def good_luck(self):
        """All links work again: the overlay must recover soon."""
        self.net.wan.link('*', '*', up=True, delay_us=5000, jitter_us=0, loss_permille=0,
                          duplicate_permille=0, reorder_permille=0, mtu=1500)
        for name, node in self.net.node.items():
            if not node.alive():
                self.net.start(name)
        self.net.joined(within=120)
        for a in self.net.node:
            for b in self.net.node:
                if a < b:
                    self.settle_hosts(a, b)

    def settle_hosts(self, a, b):
        try:
            self.net.settle_hosts(a, b, within=60)
        except AssertionError:
            self.show_hosts(a, b)
            raise

    def show_hosts(self, a, b):
        """State of two hosts and their bridges, and the output of a ping."""
        for name in (a, b):
            host = self.net.host[name].namespace
            for namespace, words in ((host, 'ip -s link'), (host, 'ip addr'), (host, 'ip neigh'),
                                     (self.net.node[name].namespace, 'bridge fdb')):
                print(f'\n----- {namespace.name}: {words}\n{namespace.run(*words.split(), check=False).stdout}')
        ping = self.net.host[a].namespace.run('ping', '-n', '-c', '3', self.net.host[b].ip4, check=False)
        print(f'\n----- ping from {a} to {b}: status {ping.returncode}\n{ping.stdout}{ping.stderr}')

    def run(self, seconds):
        begin = time.monotonic()
        samples = []
        self.net.joined(60)
        while time.monotonic() < begin + seconds:
            minute = min(begin + seconds, time.monotonic() + 60)
            while time.monotonic() < minute:
                self.step()
                self.check_alive()
                time.sleep(self.chance.uniform(0, 0.5))
            # Both measurements are of a complete and idle overlay.
            self.good_luck()
            samples.append(self.memory())
            text = ', '.join(f'{n} {r >> 10} KiB {fds} fds' for n, (r, fds) in samples[-1].items())
            print(f'{(time.monotonic() - begin) / 60:6.1f} min  {text}  '
                  f'{sum(self.done.values())} steps', flush=True)
        self.check_alive()
        self.check_growth(samples)

    def check_growth(self, samples):
        """The last quarter against the second quarter: tables are then full, so growth is a leak.
        """
        quarter = len(samples) // 4
        if quarter == 0:
            print('too short to judge the growth of memory')
            return
        for name in self.anchors:
            early = max(s[name][0] for s in samples[quarter:2 * quarter])
            late = min(s[name][0] for s in samples[-quarter:])
            if late > early * GROWTH_RATIO + GROWTH_BYTES:
                raise AssertionError(f'{name} grew from {early >> 10} to {late >> 10} KiB')
            if samples[-1][name][1] > samples[quarter][name][1] + 5:
                raise AssertionError(f'{name} collects descriptors: {samples[-1][name][1]}')


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument('--seed', type=int, default=int(time.time()))
    parser.add_argument('--nodes', type=int, default=6)
    parser.add_argument('--minutes', type=float, default=float(os.environ.get('SOAK_MINUTES', 30)))
    arguments = parser.parse_args()
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))
    ns.enter_lab()
    print(f'{arguments.minutes:g} minutes, {arguments.nodes} nodes, --seed {arguments.seed}, '
          f'{node_module.build_dir()}', flush=True)
    soak = Soak(arguments.nodes, arguments.seed)
    passed = False
    try:
        soak.run(arguments.minutes * 60)
        passed = True
    except Exception as e:  # also leonctl without an answer, and a program that hangs
        traceback.print_exc(file=sys.stdout)
        for name, text in soak.net.dump():
            print(f'\n===== {name}\n{text}')
        print(f'\nsoak failed (--seed {arguments.seed}), load {os.getloadavg()[0]:.1f}: {e!r}')
        return 1
    finally:
        soak.net.close(check=passed)
    print('soak passed:', ', '.join(f'{k} {v}' for k, v in sorted(soak.done.items())))
    return 0


if __name__ == '__main__':
    sys.exit(main())
