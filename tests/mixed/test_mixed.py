# SPDX-License-Identifier: GPL-2.0-or-later
"""leond of another release and the present leond in an overlay: the promise of doc/releases.md
about two releases with one wire version. `make check-mixed` is the caller.
"""
import subprocess

import pytest

from lab import PAPER, PATIENT, merged, wait_for
from traffic import Stream

PORT = 40000
# The policy of one site, because the other release may not support policies. The speed is not a
# subject here.
POLICY = {'critical': {'protocol': {'udp': {'port': [str(PORT)]}},
                       'duplicate': {'maximum-extra-delay': 10000}}}
TRIANGLE = {'sites': {'a': {'config': {'policy': POLICY}}, 'r': {}, 'b': {}},
            'rtt_ms': {('a', 'b'): 10, ('a', 'r'): 8, ('r', 'b'): 8},
            'timing': 'production', 'config': PATIENT}
TOPOLOGY = merged(PAPER, {'config': merged(PATIENT, {'path': {'hold-time': 1}})})
WAIT_S = 180
# Interruptions of an upgrade after operations.md: of a relay, and of a node with a communicating
# host. LISTENING_S is the extra listening time of the loop guard. The start on a busy machine takes
# additional time.
RELAY_S, RESTART_S, LISTENING_S = 0.0, 1.0, 1.1
SLACK_S = 3.0


def started(lab, released, old, guard=True):
    """An overlay with the other release at the given sites."""
    config = {} if guard else {'config': {'loop-guard': {'disable': True}}}
    made = lab(merged(TOPOLOGY, config), start=False)
    for name in old:
        made.node[name].program = released
    made.start()
    return made


def relayed(made, source, destination):
    """Waits until the path leads through Inagi."""
    wanted = [made.node['inagi'].node_id, made.node[destination].node_id]

    def path():
        paths = made.node[source].show('paths')['paths']
        return any(p['hops'] == wanted for p in paths)
    wait_for(path, WAIT_S, f'{source} reaches {destination} by way of inagi')


def stream(made, source='fujisawa', destination='seoul'):
    there = made.host[destination]
    return Stream(made.host[source].namespace, there.namespace, there.ip4, interval=0.01)


def test_the_release_is_what_was_given(released):
    done = subprocess.run([released, '--version'], check=True, capture_output=True, text=True)
    assert done.stdout.startswith('leond ')


@pytest.mark.parametrize('old', [['seoul'], ['inagi'], ['fujisawa', 'seoul']], ids='+'.join)
def test_old_and_new_are_one_overlay(lab, released, old):
    """Members, paths through each other, frames in both directions; no datagram has another wire
    version."""
    made = started(lab, released, old)
    relayed(made, 'fujisawa', 'seoul')
    relayed(made, 'seoul', 'fujisawa')
    for a, b in (('fujisawa', 'seoul'), ('seoul', 'fujisawa')):
        flow = stream(made, a, b).start()
        flow.arrived(200, within=WAIT_S)
        flow.stop()
    for name, node in made.node.items():
        drops = node.show('statistics').get('drops', {})
        assert drops.get('bad_version', 0) == 0, f'{name} drops datagrams of another wire version'


@pytest.mark.parametrize('name, guard, allowed_s', [
    ('inagi', True, RELAY_S),
    ('seoul', True, RESTART_S + LISTENING_S),
    ('seoul', False, RESTART_S),
], ids=['relay', 'end', 'end, no guard'])
def test_upgrade_under_traffic(lab, released, name, guard, allowed_s):
    """A node stops in good order and starts with the present leond. The interruption of traffic
    stays within the limits of operations.md."""
    made = started(lab, released, list(TOPOLOGY['sites']), guard)
    relayed(made, 'fujisawa', 'seoul')
    flow = stream(made).start()
    flow.arrived(200, within=WAIT_S)
    made.node[name].program = None
    made.restart(name)
    flow.arrived(300, within=WAIT_S)
    relayed(made, 'fujisawa', 'seoul')
    flow.stop()
    gap = flow.gap()[0] - flow.stall
    print(f'{name} upgraded: gap {gap * 1000:.0f} ms, lost {flow.lost} of {len(flow.sent)}')
    assert gap < allowed_s + SLACK_S


def is_read(made, old):
    """True if other nodes can read the messages of the other release. Otherwise each node names
    the release in an event, because links may be missing and the operator needs the reason."""
    wanted = made.node[old].node_id
    others = [node for name, node in made.node.items() if name != old]

    def told(node):
        return any(e['node_id'] == wanted for e in node.events('unreadable'))

    def reached(node):
        return node.nodes().get(wanted, {}).get('state') == 'reachable'
    wait_for(lambda: all(told(node) or reached(node) for node in others), WAIT_S,
             f'{old} is reached, or the others say that they cannot read what it sends')
    return not any(told(node) for node in others)


def pair(made):
    """The state at a of both paths for critical frames to b."""
    wanted = made.node['b'].node_id
    return next((p for p in made.node['a'].ctl('show', 'policy')['pairs']
                 if p['destination'] == wanted), {'state': None, 'reason': None})


@pytest.mark.parametrize('old', ['r', 'b'])
def test_critical_frames_beside_the_other_release(lab, released, old):
    """The other release relays or receives critical frames of two paths. If the release accepts
    copies, both copies arrive and the receiver drops one. Otherwise frames travel once, and `show
    policy` gives the reason. Each frame arrives once in both cases. An unreadable release appears
    in an event."""
    made = lab(TRIANGLE, start=False)
    made.node[old].program = released
    made.start()
    if not is_read(made, old):
        pytest.skip(f'{old} of the other release cannot be read, and the event says so')
    made.joined(WAIT_S)
    made.settle_hosts('a', 'b')
    wait_for(lambda: pair(made)['state'] in ('duplicated', 'not-supported', 'no-second-path'), WAIT_S,
             'a has decided how critical frames to b travel')
    a, flow = made.node['a'], stream(made, 'a', 'b').start()
    flow.arrived(100, within=WAIT_S)
    before = a.counter('critical_duplicated')
    flow.arrived(400, within=WAIT_S)
    state, twice = pair(made), a.counter('critical_duplicated') - before
    flow.stop(linger=2)
    print(f'{old} of the other release: {state["state"]}, {twice} twice, {flow.lost} lost')
    assert sorted(flow.order) == list(range(len(flow.sent)))
    if state['state'] == 'duplicated':
        assert twice >= 300
    else:
        assert twice == 0 and state['reason']
