# SPDX-License-Identifier: GPL-2.0-or-later
"""Parities along a second path restore critical frames that the path in use loses."""
import pytest

from lab import PATIENT, wait_for
from test_answers import check
from traffic import Bulk, Stream

WITHIN = 60
PORT = 40000
# A busy machine makes a path slow or silent for a moment and may lose single frames, which this
# test ignores.
PARITY = {'maximum-extra-delay': 10000, 'budget': 1000000}
CLASS = {'protocol': {'udp': {'port': [str(PORT)]}, 'tcp': {}}}
MESH = {'sites': {'a': {}, 'r': {}, 'b': {}},
        'rtt_ms': {('a', 'b'): 10, ('a', 'r'): 8, ('r', 'b'): 8},
        'timing': 'production',
        'config': {**PATIENT, 'policy': {'critical': {**CLASS, 'parity': PARITY}}}}
CLEAR = {'secret': None, 'seeds': ['a', 'r', 'b']}
LOSSY = (('a', 'b'), ('r', 'b'))


def policy(net, name):
    shown = net.node[name].ctl('show', 'policy')
    check('show policy', shown)
    return shown


def state(net):
    (found,) = [p for p in policy(net, 'a')['pairs'] if p['destination'] == net.node['b'].node_id]
    return found['state']


def stream(net, **keys):
    return Stream(net.host['a'].namespace, net.host['b'].namespace, net.host['b'].ip4, port=PORT,
                  interval=0.001, **keys).start()


def lose(net, permille, burst=1):
    for link in LOSSY:
        net.wan.link(*link, loss_permille=permille, burst=burst)


def in_force(net, flow):
    """Waits until the loss is measured on the data of the flow, and frames have parity."""
    wait_for(lambda: state(net) == 'parity', WITHIN, 'frames have parity')
    before = net.node['a'].counter('critical_parity')
    wait_for(lambda: net.node['a'].counter('critical_parity') > before + 100, WITHIN, 'in blocks')
    return len(flow.sent)


def test_without_loss_nothing_is_sent(lab):
    net = lab(MESH).joined(WITHIN)
    net.settle_hosts('a', 'b')
    flow = stream(net)
    wait_for(lambda: state(net) == 'path-is-good', WITHIN, 'the path is good')
    before = net.node['a'].counter('critical_frames')
    wait_for(lambda: net.node['a'].counter('critical_frames') > before + 500, WITHIN, 'frames')
    flow.stop()
    sent = policy(net, 'a')['sent']
    assert sent['parities'] == 0 and sent['extra_bytes'] == 0 and sent['with_parity'] == 0
    assert policy(net, 'b')['received']['parities'] == 0


@pytest.mark.parametrize('more', [{}, CLEAR], ids=['sealed', 'no-secret'])
def test_losses_are_restored(lab, more):
    net = lab({**MESH, **more}).joined(WITHIN)
    net.settle_hosts('a', 'b')
    for burst in (1, 2):
        lose(net, 50, burst)
        flow = stream(net)
        first = in_force(net, flow)
        wait_for(lambda: len(flow.sent) > first + 3000, WITHIN, '3000 frames')
        flow.stop(linger=2)
        assert len(flow.order) == len(set(flow.order)), 'a frame came twice'
        lost = [n for n in range(first, len(flow.sent)) if n not in flow.received]
        share = len(lost) / (len(flow.sent) - first)
        # Without parity 5 % are lost. The blocks of this rate are too small for long bursts.
        assert share < (0.01 if burst == 1 else 0.03), share
    sent, received = policy(net, 'a')['sent'], policy(net, 'b')['received']
    assert sent['with_parity'] > 3000 and sent['parities'] > 500
    assert received['recovered'] > 100 and received['parities'] > 400
    assert net.node['b'].drops().get('parity_bad', 0) == 0
    assert net.node['b'].drops().get('copy_bad', 0) == 0


def test_large_frames(lab):
    """Super-frames of TCP are segmented, and UDP above the path MTU is split."""
    net = lab(MESH).joined(WITHIN)
    net.settle_hosts('a', 'b')
    lose(net, 30)
    flow = stream(net, size=1450)
    first = in_force(net, flow)
    bulk = Bulk(net.host['a'].namespace, net.host['b'].namespace, net.host['b'].ip4, kbits=8000)
    wait_for(lambda: bulk.received > 1 << 20 and len(flow.sent) > first + 2000, WITHIN, '1 MiB')
    bulk.stop()
    flow.stop(linger=2)
    lost = [n for n in range(first, len(flow.sent)) if n not in flow.received]
    # Without parity one of the two fragments is lost in 6 % of the frames.
    assert len(lost) < 0.01 * (len(flow.sent) - first)
    assert len(flow.order) == len(set(flow.order)), 'a frame came twice'
    assert net.node['a'].counter('fragments_tx') > 4000
    assert net.node['b'].counter('parity_recovered') > 60
    assert net.node['b'].drops().get('parity_bad', 0) == 0
