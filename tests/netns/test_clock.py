# SPDX-License-Identifier: GPL-2.0-or-later
"""The wall clock jumps by hours or is behind after a restart. No frame is lost, and no node stays
outside. Each leond has a private clock (wallclock.c)."""
import os
import struct
from datetime import datetime

import node as node_module
from lab import line_up, merged, PAPER, PATIENT, wait_for
from test_one_time import SECRET, invite, join

HOUR = 3600
DAY = 24 * HOUR


class Clock:
    """Seconds between the wall clock of a node and the clock of the machine."""

    def __init__(self, net, name):
        self.file = os.path.join(net.directory, f'{name}.clock')
        self.set(0)
        library = os.path.join(node_module.build_dir(), 'tests/netns/wallclock.so')
        assert os.path.exists(library)
        asan = node_module.SANITIZERS['ASAN_OPTIONS'] + ':verify_asan_link_order=0'
        net.node[name].wrapper = ['env', f'LD_PRELOAD={library}', f'WALLCLOCK={self.file}',
                                  f'ASAN_OPTIONS={asan}']

    def set(self, seconds):
        # Writes in place, because the process has mapped the file.
        with open(self.file, 'r+b' if os.path.exists(self.file) else 'wb') as f:
            f.write(struct.pack('=q', int(seconds * 1e9)))


def with_clocks(lab, **config):
    net = lab(merged(PAPER, {'config': {**PATIENT, **config}}), start=False)
    return net, {name: Clock(net, name) for name in net.node}


def told(node, kind=None):
    return [(datetime.fromisoformat(e['at'].replace('Z', '+00:00')).timestamp(), e)
            for e in node.events(kind)]


def test_jumps_disturb_nothing(lab):
    net, clock = with_clocks(lab, encryption={'rekey-time': 3})
    net.start()
    net.joined()
    net.wait_path('fujisawa', 'seoul', ['inagi', 'seoul'])
    running = net.streams('fujisawa', 'seoul')
    incarnations = {name: n.nodes()[n.node_id]['incarnation'] for name, n in net.node.items()}

    def exchanges():
        return sum(n.statistics()['control']['key_exchanges'] for n in net.node.values())

    for jumps in ((5 * HOUR, -7 * HOUR, DAY), (-DAY, 0, -400 * DAY), (0.4, -0.4, 3 * HOUR), (0, 0, 0)):
        before, sent = exchanges(), len(running[0].sent)
        for one, seconds in zip(clock.values(), jumps):
            one.set(seconds)
        # Time continues: keys change, frames pass, and latencies are unchanged.
        wait_for(lambda: exchanges() >= before + 3 and len(running[0].sent) > sent + 500, 60,
                 'keys and traffic go on', every=0.3)
        for node in net.node.values():
            for other in node.nodes().values():
                if other['state'] == 'self':
                    continue
                # The measurements do not show the jump.
                assert other['incarnation'] and 3000 < other['rtt_us'] < 5_000_000, other
                assert other['since_seconds'] < 600
    for stream in running:
        stream.stop(5)
    # A stalled machine loses frames with any clock.
    stood_still = net.late_ms() > 100
    for stream in running:
        assert not stream.lost or stood_still, f'{stream.lost} of {len(stream.sent)} lost'
    for name, node in net.node.items():
        assert not any(node.events(k) for k in ('forgotten', 'left', 'returned', 'duplicate-id'))
        assert stood_still or not node.events('link-down') + node.events('unreachable')
        assert node.nodes()[node.node_id]['incarnation'] == incarnations[name]
        assert all(e['age_seconds'] < 600 for e in node.events())


def test_events_have_the_time_of_the_clock_and_their_true_age(lab):
    net, clock = with_clocks(lab)
    net.start()
    net.joined()
    node = net.node['fujisawa']
    first, _ = told(node, 'started')[0]
    clock['fujisawa'].set(5 * HOUR)
    node.reload(**{'node_name': 'fujisawa-2'})
    second, event = wait_for(lambda: told(node, 'reloaded'), 10, 'it is told of')[-1]
    assert 5 * HOUR <= second - first < 5 * HOUR + 600
    assert event['age_seconds'] < 60
    # Recorded times stay unchanged.
    assert told(node, 'started')[0][0] == first
    assert told(node, 'started')[0][1]['age_seconds'] < 600


def test_a_restart_with_an_older_clock(lab):
    net, clock = with_clocks(lab)
    clock['seoul'].set(2 * HOUR)
    net.start()
    net.joined()
    fujisawa, seoul = net.node['fujisawa'], net.node['seoul']

    def incarnation():
        return fujisawa.nodes()[seoul.node_id]['incarnation']

    def is_back(before, name):
        return lambda: net.full_mesh() and incarnation() > before and \
            fujisawa.nodes()[seoul.node_id]['name'] == name

    # Death and restart; orderly stop; a clock further behind; and a correct clock.
    for step, (end, seconds) in enumerate((('kill', -DAY), ('stop', -3 * DAY), ('kill', -400 * DAY),
                                           ('stop', 0))):
        before = incarnation()
        getattr(seoul, end)()
        clock['seoul'].set(seconds)
        seoul.config['node-name'] = name = f'seoul-{step}'
        net.start('seoul')
        wait_for(is_back(before, name), 40, f'Seoul is back with a clock at {seconds} s')
        net.settle_hosts('fujisawa', 'seoul')
    assert not fujisawa.events('duplicate-id')


def test_a_clock_ahead_at_boot_ends_no_token(lab):
    net = lab(line_up(2, hosts=False, secret=SECRET), start=False)
    clock, n0, n1 = Clock(net, 'n0'), net.node['n0'], net.node['n1']
    net.start()
    net.joined()
    token = invite(n0)['token']
    n0.stop()
    clock.set(30 * HOUR)
    n0.start()
    net.joined()
    assert 'no answer' in join(n1, token, code=3)
    clock.set(0)
    assert join(n1, token)['authentication'] == {'pre-shared-secret': SECRET}
    assert not n0.events('invitation-expired')
