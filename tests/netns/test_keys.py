# SPDX-License-Identifier: GPL-2.0-or-later
"""The secret changes under traffic without loss of a frame; identities survive restarts."""
import os
import stat

from lab import merged, PAPER, PATIENT, wait_for

SECRET = 'a secret for the tests'
FRESH = 'the secret that comes after'


def secrets(own, *accepted):
    return {'pre-shared-secret': own, **({'accept-secret': list(accepted)} if accepted else {})}


def exchanges(net):
    return {name: n.statistics()['control']['key_exchanges'] for name, n in net.node.items()}


def set_secrets(net, own, *accepted):
    for node in net.node.values():
        assert node.reload(authentication=secrets(own, *accepted))['verdict'] == 'applied'


def joined(lab):
    net = lab(merged(PAPER, {'config': PATIENT}))
    own = next(iter(net.node.values())).config['authentication']['pre-shared-secret']
    net.joined()
    net.settle_hosts('fujisawa', 'seoul')
    return net, own


def finish(running):
    for stream in running:
        stream.stop_whole()
        # Some frames under each set of secrets. The number depends on the speed of the machine.
        assert len(stream.sent) > 100


def test_another_secret_without_an_outage(lab):
    net, own = joined(lab)
    running = net.streams('fujisawa', 'seoul')
    set_secrets(net, own, FRESH)
    wait_for(net.full_mesh, 10)
    set_secrets(net, FRESH, own)

    def all_own():
        return all(n['secret'] == 'own' for node in net.node.values()
                   for n in node.nodes().values() if n['state'] != 'self')
    wait_for(all_own, 30, 'all have the new secret', every=0.5)
    before = exchanges(net)
    set_secrets(net, FRESH)
    wait_for(lambda: all(n >= before[name] + 2 for name, n in exchanges(net).items()), 30,
             'all have keys of the new secret only', every=0.5)
    finish(running)
    assert not any(n.events('secret-mismatch') or n.events('unreachable')
                   for n in net.node.values())


def test_a_secret_of_one_node_only_is_warned_of_at_once(lab):
    """The overlay works until the sessions end. The warning comes early enough to undo the change.
    """
    net = lab({**PAPER, 'hosts': False, 'config': PATIENT}).joined()
    seoul, inagi, fujisawa = (net.node[name] for name in ('seoul', 'inagi', 'fujisawa'))
    own = seoul.config['authentication']['pre-shared-secret']
    seoul.config['authentication'] = secrets(FRESH)
    seoul.write_config()
    text = seoul.leonctl('reload', json_output=False)
    assert 'applied' in text and 'warning: 2 nodes have no secret in common with this node' in text
    assert seoul.events('secret-not-common')[0]['text'] in text
    for other in (inagi, fujisawa):
        wait_for(lambda o=other: o.events('secret-not-common'), 10, f'{other.name} tells of it')
        assert 'seoul' in other.events('secret-not-common')[0]['text']
        # A machine that delays probes for a moment may have lost the path.
        wait_for(lambda o=other: o.nodes()[seoul.node_id]['state'] == 'reachable', 10, 'it is reached')
        node = other.nodes()[seoul.node_id]
        assert node['secret'] == 'other'
        assert 0 < node['session_ends_seconds'] <= 60
    left = inagi.nodes()[seoul.node_id]['session_ends_seconds']
    wait_for(lambda: (inagi.nodes()[seoul.node_id]['session_ends_seconds'] or left) < left, 10,
             'it counts down')
    assert 'session ends in' in inagi.leonctl('show', 'nodes', json_output=False)
    # After the change is undone, the overlay is as before.
    answer = seoul.reload(authentication=secrets(own))
    assert answer['verdict'] == 'applied' and answer['warnings'] == []
    wait_for(lambda: all(n.nodes()[seoul.node_id]['secret'] == 'own' for n in (inagi, fujisawa)), 10,
             'nobody is afraid for it any more')
    wait_for(lambda: inagi.nodes()[seoul.node_id]['session_ends_seconds'] is None, 10)
    answer = seoul.reload(authentication=secrets('12345678'))
    assert 'fewer than 16 characters' in answer['warnings'][-1]


def test_identity_is_kept_and_pinned(lab):
    net = lab(PAPER).joined()
    seoul, inagi = net.node['seoul'], net.node['inagi']
    path = seoul.config['identity-file']
    assert stat.S_IMODE(os.stat(path).st_mode) == 0o600
    with open(path, encoding='ascii') as f:
        identity = f.read()
    assert len(identity) == 65
    before = net.lives('seoul')
    seoul.kill()
    seoul.start()
    # A node that has not detected the change yet would not understand a leave.
    net.back('seoul', before)
    with open(path, encoding='ascii') as f:
        assert f.read() == identity
    # After an orderly stop, the new identity is accepted at once, with an event.
    before = net.lives('seoul')
    seoul.stop()
    os.unlink(path)
    seoul.start()
    net.back('seoul', before)
    wait_for(lambda: inagi.events('identity-changed'), 10, 'it is told of')
    # After a crash, the new identity is refused while a duplicate node-id is possible.
    seoul.kill()
    os.unlink(path)
    seoul.start()
    wait_for(lambda: inagi.events('duplicate-id'), 30, 'the other key is refused')
    wait_for(lambda: inagi.state_of(seoul) == 'unreachable', 30, 'it is not taken for the old one')
    assert len(inagi.events('identity-changed')) == 1
