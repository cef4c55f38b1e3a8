#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""A site with two or three routers. The test cuts and heals the LAN and the Internet paths of the
site at random, while every host sends numbered broadcasts. No frame loops. In a quiet period each
broadcast arrives once at each host. A switch connects the routers. A cut of the LAN may leave the
link up, affect one direction only, or coincide with a cut of the Internet.

During a change, two copies of a broadcast are permitted. After a join of two LANs, each router
forwards until the first guard frames arrive. A broadcast may then arrive once from each router as
well, and twice on a slow machine.

    LEON_BUILD=build tests/netns/cuts.py [--cuts 100] [--routers 3] [--seed N]
"""
import argparse
import contextlib
import os
import random
import select
import sys
import threading
import time

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))

import ns  # noqa: E402
from host import Host  # noqa: E402
from lab import PATIENT, Lab, merged  # noqa: E402
from node import wait_for  # noqa: E402
from test_trunk import BROADCAST, TEST_TYPE  # noqa: E402
from traffic import Tap, ethernet  # noqa: E402

VLANS = (0, 10, 20)
# Cuts with the link up, as hooks at the port of the switch.
SILENT = {'silent': ('ingress', 'egress'), 'from it': ('ingress',), 'to it': ('egress',)}
# Permitted copies of one broadcast at each host during a change, and from each router after a join
# of two LANs.
COPIES = 2


class Broadcasts:
    """Every host sends one broadcast after the other in all VLANs. Receivers count every frame."""

    def __init__(self, hosts, interval=0.01):
        self.hosts = hosts
        self.taps = {name: Tap(host.namespace, 'eth0') for name, host in hosts.items()}
        self.sent = []      # (time, source, VLAN), by number
        self.copies = {}    # {(number, host): [time, ...]}
        self.interval = interval
        self.mark = os.urandom(8)
        self._stop = threading.Event()
        self._threads = [threading.Thread(target=work, daemon=True)
                         for work in (self._send, self._take)]
        for thread in self._threads:
            thread.start()

    def _send(self):
        turns = [(name, vlan) for vlan in VLANS for name in self.hosts]
        while not self._stop.is_set():
            name, vlan = turns[len(self.sent) % len(turns)]
            number = self.mark + len(self.sent).to_bytes(8, 'big')
            self.sent.append((time.monotonic(), name, vlan))
            self.taps[name].send(ethernet(BROADCAST, self.hosts[name].mac, TEST_TYPE, number,
                                          vlan or None))
            time.sleep(self.interval)

    def _take(self):
        names = {tap.socket: name for name, tap in self.taps.items()}
        while not self._stop.is_set():
            for sock in select.select(list(names), [], [], 0.2)[0]:
                self._count(names[sock])

    def _count(self, name):
        now = time.monotonic()
        for frame in self.taps[name].frames(lambda f: self.mark in f[:30], 50, 0.001):
            at = frame.index(self.mark) + 8
            number = int.from_bytes(frame[at:at + 8], 'big')
            self.copies.setdefault((number, name), []).append(now)

    def first_after(self, when):
        return next((n for n in range(len(self.sent)) if self.sent[n][0] >= when),
                    len(self.sent))

    def counts(self, number):
        """{host: copies} at all hosts except the sender."""
        return {name: len(self.copies.get((number, name), ()))
                for name in self.hosts if name != self.sent[number][1]}

    def close(self):
        self._stop.set()
        for thread in self._threads:
            thread.join()
        for tap in self.taps.values():
            tap.close()


class Site:
    """Routers r0, r1 ... on one switch, a host behind each router, a host at the switch, and two
    nodes at other sites."""

    def __init__(self, routers, chance, interval_ms):
        self.chance = chance
        self.routers = [f'r{i}' for i in range(routers)]
        self.elsewhere = ['far', 'farther']
        config = merged(PATIENT, {'loop-guard': {'interval': interval_ms}})
        self.net = Lab({'sites': {name: {} for name in (*self.routers, *self.elsewhere)},
                        'config': config, 'seeds': self.elsewhere})
        self.switch = ns.Namespace('switch')
        self.switch.ip('link add sw type bridge stp_state 0 forward_delay 0 mcast_snooping 0',
                       'link set sw up')
        self.net.joined()
        for name in self.routers:
            space = self.net.node[name].namespace
            ns.connect(self.switch, name, space, 'lan')
            self.switch.ip(f'link set {name} master sw')
            space.ip('link set lan master br0')
        self.net.host['lan'] = Host('host-lan', self.switch, 200, bridge='sw')
        self.lan, self.way = {}, {}  # present cuts by router
        self.joined = []             # time of the last join of LANs

    # --- the LAN of a router ---

    def cut_lan(self, name):
        how = self.chance.choice(['link', 'isolated', *SILENT])
        self.lan[name] = how
        if how == 'link':
            self.switch.ip(f'link set {name} down')
        elif how == 'isolated':
            # The bridge drops frames between isolated ports. The host of the switch stays with one
            # side.
            for port in (*self.routers, 'h0'):
                self.switch.run('bridge', 'link', 'set', 'dev', port, 'isolated', 'on')
        elif how in SILENT:
            refuse(self.switch, name, *SILENT[how])

    def heal_lan(self, name):
        how = self.lan.pop(name)
        self.joined.append(time.monotonic())
        if how == 'link':
            self.switch.ip(f'link set {name} up')
        elif how == 'isolated' and 'isolated' not in self.lan.values():
            for port in (*self.routers, 'h0'):
                self.switch.run('bridge', 'link', 'set', 'dev', port, 'isolated', 'off')
        elif how in SILENT:
            accept(self.switch, name)

    # --- the Internet paths of a router ---

    def cut_way(self, name):
        others = [n for n in (*self.routers, *self.elsewhere) if n != name]
        to = self.chance.choice(['*', '*', *others])
        self.way[name] = to
        self.net.wan.both(name, to, up=False)

    def heal_way(self, name):
        self.net.wan.both(name, self.way.pop(name), up=True)

    # --- at random ---

    def change(self):
        """Cuts or heals one connection, sometimes two at once. Returns a description."""
        said = []
        for _ in range(self.chance.choice([1, 1, 2])):
            name = self.chance.choice(self.routers)
            which = self.chance.choice(['lan', 'lan', 'way'])
            cut = getattr(self, which)
            verb = 'heal' if name in cut else 'cut'
            what = cut.get(name)
            getattr(self, f'{verb}_{which}')(name)
            said.append(f'{verb} {which} of {name}: {what or cut[name]}')
        return said

    def heal_all(self):
        for name in list(self.lan):
            self.heal_lan(name)
        for name in list(self.way):
            self.heal_way(name)

    def close(self, check=True):
        try:
            self.net.close(check)
        finally:
            self.switch.close()


def refuse(space, device, *hooks, again=False):
    """Drops packets in the given directions without a notification. `again` replaces earlier
    rules."""
    rule = 'type filter hook {} device "{}" priority 0; policy drop;'
    chains = '\n'.join(f'chain {hook} {{ {rule.format(hook, device)} }}' for hook in hooks)
    no_more = f'delete table netdev cut-{device}\n' if again else ''
    space.run('nft', '-f', '-', input=f'{no_more}table netdev cut-{device} {{\n{chains}\n}}')


def accept(space, device):
    """Opens both directions in one transaction."""
    space.run('nft', 'delete', 'table', 'netdev', f'cut-{device}')


class Trial:
    def __init__(self, routers, seed, interval_ms=200, slack_s=1):
        self.seed = seed
        self.chance = random.Random(seed)
        self.log = []      # (time, event)
        self.site = Site(routers, self.chance, interval_ms)
        self.wire = None
        self.worst = 1
        # Three intervals, and time for a busy machine.
        self.patience = 3 * interval_ms / 1000 + slack_s

    def note(self, what):
        self.log.append((time.monotonic(), what))

    def all_once(self):
        """Each new frame arrives exactly once everywhere. Every host sends in each VLAN."""
        first = len(self.wire.sent)
        turn = len(VLANS) * len(self.wire.hosts)
        while len(self.wire.sent) < first + turn:
            time.sleep(0.01)
        time.sleep(0.2)
        return all(set(self.wire.counts(n).values()) == {1} for n in range(first, first + turn))

    def begin(self):
        self.wire = Broadcasts(self.site.net.host)
        wait_for(self.all_once, 20, 'each broadcast arrives once')

    def run(self, cuts):
        for number in range(1, cuts + 1):
            for what in self.site.change():
                self.note(what)
            time.sleep(self.chance.choice([0.05, 0.3, 1, 2]))
            if number % 5 == 0 or number == cuts:
                self.site.heal_all()
                self.note('heal all')
                wait_for(self.all_once, 30, 'each broadcast arrives once')
                self.note('as before')
            self.judge()

    def near_joining(self, sent):
        return any(-2 * self.patience < sent - at < self.patience for at in self.site.joined)

    def judge(self):
        """Checks the permitted number of copies of every broadcast."""
        for (number, host), times in list(self.wire.copies.items()):
            sent, source, vlan = self.wire.sent[number]
            if len(times) <= COPIES:
                continue
            self.worst = max(self.worst, len(times))
            if (len(times) <= COPIES * len(self.site.routers) and self.near_joining(sent) and
                    times[-1] - sent < self.patience):
                continue
            raise AssertionError(
                f'seed {self.seed}: broadcast {number} of {source} in VLAN {vlan} came '
                f'{len(times)} times to {host}, {[round(t - sent, 3) for t in times[:20]]} s after '
                'it was sent; around it: ' + '; '.join(
                    f'{at - sent:.2f} s {what}' for at, what in self.log if abs(at - sent) < 4))

    def summary(self):
        # Sends a copy of the list, because other threads append.
        copies = [len(times) for times in list(self.wire.copies.values())]
        return (f'seed {self.seed}: {len(self.log)} changes, {len(self.wire.sent)} broadcasts heard '
                f'{len(copies)} times, {copies.count(2)} twice; more often, when a LAN was joined, '
                f'{sum(n > COPIES for n in copies)}, at most {max(copies)} times')

    def close(self, check=True):
        if self.wire:
            self.wire.close()
        self.site.close(check)


@contextlib.contextmanager
def trial(*arguments, **keys):
    """A trial. The end of the context stops the trial and, without an earlier failure, checks the
    result."""
    made = Trial(*arguments, **keys)
    try:
        made.begin()
        yield made
    except BaseException:
        made.close(check=False)
        raise
    made.close()


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument('--cuts', type=int, default=100)
    parser.add_argument('--routers', type=int, default=2)
    parser.add_argument('--interval-ms', type=int, default=200, help='of the loop guard')
    parser.add_argument('--seed', type=int, default=random.SystemRandom().randrange(10**6))
    arguments = parser.parse_args()
    print(f'seed {arguments.seed}', flush=True)
    ns.enter_lab()
    with trial(arguments.routers, arguments.seed, arguments.interval_ms) as made:
        made.run(arguments.cuts)
        print(made.summary())


if __name__ == '__main__':
    main()
