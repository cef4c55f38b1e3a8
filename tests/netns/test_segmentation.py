# SPDX-License-Identifier: GPL-2.0-or-later
"""A faulty network card damages trains of datagrams (gso_shim.c). leond detects the fault from the
loss of data and sends without UDP segmentation (decision 074)."""
import os
import time

import pytest

import node as node_module
from lab import PATIENT, line_up, wait_for
from test_offload import BULK, stream

WITHIN = 30
RATE_BYTES = 20_000_000


@pytest.fixture(name='card')
def fixture_card(tmp_path):
    """The switch of the fault: trains are damaged while the file exists."""
    return tmp_path / 'damage'


def faulty(lab, card, *names, **keys):
    """Two nodes. The named ones have the faulty network card."""
    library = os.path.join(node_module.build_dir(), 'tests/netns/gso_shim.so')
    if not os.path.exists(library):
        pytest.skip('gso_shim.so is not built')
    net = lab(line_up(2, config={**PATIENT, **keys}), start=False)
    for name in names:
        net.node[name].wrapper = ['env', f'LD_PRELOAD={library}', f'LEON_DAMAGE={card}']
    net.start()
    net.joined()
    net.settle_hosts('n0', 'n1')
    return net


def rate(net, source, destination):
    """The best of three transfers, in bytes per second."""
    def once():
        start = time.monotonic()
        stream(net, source, destination, 4, size=RATE_BYTES)
        return RATE_BYTES / (time.monotonic() - start)
    return max(once() for _ in range(3))


def compared(node, other):
    link = node.nodes()[other.node_id]
    return link['data_compared'], link['data_lost']


def broken(node):
    return [n['node_id'] for n in node.statistics()['offloads']['udp_gso_broken']]


def convicted(net):
    """Sends until the conviction. Data passes in half of the time of a trial, so a transfer may end
    before the trial."""
    def sent():
        stream(net, 'n0', 'n1', 4, size=BULK)
        return broken(net.node['n0'])
    return wait_for(sent, WITHIN, 'the conviction')


def test_damaged_trains_are_found_and_avoided(lab, card):
    net = faulty(lab, card, 'n0')
    n0, n1 = net.node.values()
    assert not n0.events('offload-broken')
    card.touch()
    start = time.monotonic()
    convicted(net)
    took = time.monotonic() - start
    assert [e['node_id'] for e in n0.events('offload-broken')] == [n1.node_id]
    assert broken(n0) == [n1.node_id]
    assert not n1.events('offload-broken') and not broken(n1)
    wait_for(lambda: not n0.nodes()[n1.node_id]['data_loss_permille'], WITHIN, 'no loss')
    sent, lost = compared(n0, n1)
    rates = []

    # Alternates with the direction without a fault, because other work slows the machine.
    def recovered():
        rates[:] = rate(net, 'n1', 'n0'), rate(net, 'n0', 'n1')
        return rates[1] >= rates[0] / 2
    wait_for(recovered, WITHIN, 'half of the rate without the fault')

    def loss():
        now = compared(n0, n1)
        return now[0] - sent >= 1000 and (now[1] - lost) / (now[0] - sent)
    wait_for(lambda: loss() is not False, WITHIN, 'a comparison')
    print(f'{rates[0] / 1e6:.0f} and {rates[1] / 1e6:.0f} MB/s, loss {loss()}, {took:.1f} s')
    assert loss() < 0.01


def test_a_conviction_is_shown_and_ends_with_the_key(lab, card):
    net = faulty(lab, card, 'n0')
    n0, n1 = net.node.values()
    card.touch()
    convicted(net)
    assert 'no udp_gso to n1' in n0.leonctl('show', 'statistics', json_output=False)
    status = n0.leonctl('status', json_output=False)
    assert 'lost with UDP segmentation' in status and 'system offload udp-segmentation' in status
    assert f'node_id="{n1.node_id}",name="n1"}} 1\n' in '\n'.join(
        line + '\n' for line in n0.leonctl('metrics', json_output=False).splitlines()
        if line.startswith('leon_link_segmentation_broken'))
    for value in ('disable', 'automatic'):
        answer = n0.reload(system={**n0.config['system'], 'offload': {'udp-segmentation': value}})
        assert answer['changes'] == ['device']
        assert not broken(n0)
        stream(net, 'n0', 'n1', 4, size=BULK)
        assert value == 'automatic' or not broken(n0)
    convicted(net)
    assert len(n0.events('offload-broken')) == 2


def test_without_segmentation_no_train_is_damaged(lab, card):
    net = faulty(lab, card, 'n0', 'n1', system={'offload': {'udp-segmentation': 'disable'}})
    card.touch()
    stream(net, 'n0', 'n1', 4, size=BULK)
    stream(net, 'n1', 'n0', 6, size=BULK)
    for node in net.node.values():
        assert not node.events('data-loss') and not node.events('offload-broken')


def test_ordinary_loss_convicts_nothing(lab, card):
    net = faulty(lab, card)
    n0, n1 = net.node.values()
    net.wan.both('n0', 'n1', loss_permille=30)
    end = time.monotonic() + 10
    while time.monotonic() < end or not compared(n0, n1)[1]:
        stream(net, 'n0', 'n1', 4, size=BULK // 3)
    assert not n0.events('offload-broken') and not n1.events('offload-broken')
