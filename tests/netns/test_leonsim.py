# SPDX-License-Identifier: GPL-2.0-or-later
"""leonsim with data of real daemons: the paths of `show paths`, and the paths after a change.
Daemons then choose the predicted paths."""
import json
import subprocess

import pytest

from lab import wait_for
from node import find_program

SITES = ('a', 'b', 'c', 'd', 'e')
# Paths differ by more than the delay of a busy machine, so the daemons choose the predicted paths.
RTT_MS = {('a', 'b'): 70, ('a', 'c'): 20, ('a', 'd'): 35, ('a', 'e'): 90,
          ('b', 'c'): 25, ('b', 'd'): 70, ('b', 'e'): 30, ('c', 'd'): 60, ('c', 'e'): 75, ('d', 'e'): 28}


def leonsim(document, *words):
    done = subprocess.run([find_program('leonsim', 'leonsim'), '--json', '--database', '/dev/stdin', *words],
                          input=json.dumps(document), capture_output=True, text=True, check=True)
    return json.loads(done.stdout)


def by_destination(paths):
    return {p['destination']: p['hops'] for p in paths}


def agrees(node):
    """The three answers are consistent between two runs of the path choice."""
    before = by_destination(node.show('paths')['paths'])
    document = node.show('latency')
    after = by_destination(node.show('paths')['paths'])
    return before == after == by_destination(leonsim(document)['paths'])


@pytest.fixture(scope='module')
def net(module_lab):
    return module_lab({'sites': {name: {} for name in SITES}, 'hosts': False, 'rtt_ms': RTT_MS,
                       'config': {'path': {'hold-time': 1}}}).joined()


def test_the_paths_are_those_of_show_paths(net):
    net.wait_path('a', 'b', ['c', 'b'], within=60)
    for site in SITES:
        wait_for(lambda site=site: agrees(net.node[site]), 60, f'leonsim agrees with {site}')
    text = subprocess.run([find_program('leonsim', 'leonsim'), '--database', '/dev/stdin'], text=True,
                          input=net.node['a'].leonctl('show', 'latency'), capture_output=True, check=True)
    assert 'via c b' in text.stdout


def test_what_if_foretells_what_the_daemons_do(net):
    net.wait_path('a', 'b', ['c', 'b'], within=60)
    a, b, c = (net.node[name] for name in 'abc')
    told = leonsim(a.show('latency'), '--what-if', 'without:c')
    assert c.node_id not in by_destination(told['what_if'])
    told = by_destination(told['what_if'])
    cut = by_destination(leonsim(a.show('latency'), '--what-if', 'cut:a:c')['what_if'])
    assert cut[c.node_id][0] != c.node_id
    assert told[b.node_id] != [c.node_id, b.node_id]
    c.stop()
    wait_for(lambda: a.hops(b) == told[b.node_id], 60, 'the path that was foretold')


def test_a_dead_link_is_no_way_in_either(net):
    net.wan.both('b', 'e', up=False)
    wait_for(lambda: (net.hops('b', 'e') or ['e'])[0] != 'e', 60, 'b goes round its dead link')
    wait_for(lambda: agrees(net.node['b']), 60, 'leonsim agrees with b')
