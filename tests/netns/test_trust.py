# SPDX-License-Identifier: GPL-2.0-or-later
"""The other nodes remove the identity of a node from their lists. The node leaves at once and
permanently, without loss of frames between the remaining nodes. doc/decisions/018."""
import os
import re

from lab import merged, PAPER, PATIENT, wait_for

SECRET = 'correct horse battery staple'


def trusting(identities):
    return {'pre-shared-secret': SECRET, **({'trusted-identity': identities} if identities else {})}


def trust(node, *others):
    answer = node.reload(authentication=trusting([o.identity() if hasattr(o, 'ctl') else o
                                                  for o in others]))
    assert answer['verdict'] == 'applied', answer


def refused(node):
    return node.statistics()['control']['rx_not_trusted']


def knows(node, other):
    return other.node_id in node.nodes()


def joined(lab, **config):
    net = lab(merged(PAPER, {'config': {**PATIENT, **config}})).joined()
    for a, b in (('fujisawa', 'inagi'), ('inagi', 'seoul'), ('fujisawa', 'seoul')):
        net.settle_hosts(a, b)
    return net


def some_more(running):
    until = len(running[0].sent) + 500
    wait_for(lambda: len(running[0].sent) > until, 60, 'some time under traffic')


def finish(running):
    some_more(running)
    for stream in running:
        stream.stop_whole()


def test_identity_is_shown(lab):
    net = lab(PAPER).joined()
    a, b = net.node['fujisawa'], net.node['seoul']
    wait_for(lambda: a.nodes()[b.node_id]['identity'] == b.identity(), 10, 'it is shown')
    assert a.nodes()[a.node_id]['identity'] == a.identity() != b.identity()
    shown = a.ctl('show', 'identity')
    assert shown['file'] == a.config['identity-file'] and not shown['restricted']
    assert b.identity() in a.leonctl('show', 'identity', json_output=False)
    with open(a.config['identity-file'], encoding='ascii') as f:
        assert f.read().strip() not in a.leonctl('show', 'identity')


def test_one_is_thrown_out_under_traffic(lab):
    net = joined(lab)
    fujisawa, inagi, seoul = net.node.values()
    out, stay = seoul.identity(), (fujisawa.identity(), inagi.identity())
    running = net.streams('fujisawa', 'inagi')
    for node in (fujisawa, inagi):
        trust(node, *stay, out)
        some_more(running)
    assert net.full_mesh()
    for node in (fujisawa, inagi):
        trust(node, *stay)
        # Removed at once, together with all entries of the node.
        assert not knows(node, seoul)
        assert seoul.node_id not in node.paths()
        assert not any(e['node_id'] == seoul.node_id for e in node.fdb().values())
        seen = node.events('identity-not-trusted')
        assert seen and seen[-1]['node_id'] == seoul.node_id and seen[-1]['detail'] == out
    finish(running)
    # The removed node attempts to join, then uses another node-id, and tries again later.
    before = refused(fujisawa) + refused(inagi)
    wait_for(lambda: refused(fujisawa) + refused(inagi) > before, 30, 'its HELLOs are refused')
    seoul.stop()
    seoul.config['node-id'] = '203.0.113.77'
    net.start('seoul')
    before = refused(fujisawa)
    wait_for(lambda: refused(fujisawa) > before + 2, 40, 'its HELLOs are refused')
    assert not knows(fujisawa, seoul) and not knows(inagi, seoul)
    assert not net.host['seoul'].ping(net.host['fujisawa'].ip4, within=1)
    net.settle_hosts('inagi', 'fujisawa')
    metrics = fujisawa.leonctl('metrics', json_output=False)
    assert 'leon_trusted_identities{interface="leon0"} 2\n' in metrics
    assert re.search(r'^leon_control_refused_total\{interface="leon0",reason="not_trusted"\} [1-9]',
                     metrics, re.MULTILINE)
    assert re.findall(r'^leon_node_sealed\{.*name="(\w+)"\} 1$', metrics, re.M) == ['inagi']
    assert 'refused' not in [n['state'] for n in fujisawa.nodes().values()]
    # A new identity is unknown and not trusted either. The node then restores the old identity.
    path = seoul.config['identity-file']
    seoul.stop()
    os.rename(path, path + '.old')
    net.start('seoul')
    wait_for(lambda: [e for e in fujisawa.events('identity-not-trusted')
                      if e['detail'] == seoul.identity()], 40, 'the new identity is named')
    seoul.stop()
    os.rename(path + '.old', path)
    running = net.streams('fujisawa', 'inagi')
    net.start('seoul')
    trust(fujisawa)
    trust(inagi, *stay, out)
    wait_for(net.full_mesh, 40, 'all are back')
    net.settle_hosts('fujisawa', 'seoul')
    finish(running)


def test_a_third_still_trusts_it(lab):
    """Seoul still trusts Inagi as a faster relay. Fujisawa does not."""
    net = joined(lab)
    fujisawa, inagi, seoul = net.node.values()
    net.wait_path('seoul', 'fujisawa', ['inagi', 'fujisawa'])
    trust(fujisawa, fujisawa, seoul)
    net.wait_path('fujisawa', 'seoul', ['seoul'])
    net.wait_path('seoul', 'fujisawa', ['fujisawa'])
    net.settle_hosts('fujisawa', 'seoul')
    # Inagi finds a path to Fujisawa only through Seoul. Fujisawa refuses the frames.
    net.wait_path('inagi', 'fujisawa', ['seoul', 'fujisawa'])
    before = fujisawa.drops('unknown_source')
    assert not net.host['inagi'].ping(net.host['fujisawa'].ip4, within=2)
    wait_for(lambda: fujisawa.drops('unknown_source') > before, 20, 'its frames are dropped')
    assert not knows(fujisawa, inagi)
    net.settle_hosts('inagi', 'seoul')
    running = net.streams('fujisawa', 'seoul')
    # Fujisawa requests the records of Seoul and ignores records of Inagi.
    for _ in range(5):
        some_more(running)
    assert not knows(fujisawa, inagi)
    trust(seoul, fujisawa, seoul)
    finish(running)
    assert not knows(seoul, inagi)


def test_the_list_outlives_a_restart(lab):
    """All other nodes restart, and the removed node sends first."""
    net = joined(lab)
    fujisawa, inagi, seoul = net.node.values()
    stay = fujisawa.identity(), inagi.identity()
    for node in (fujisawa, inagi):
        trust(node, *stay)
        node.stop()
    # With the node-id of an absent node, which no node has pinned now.
    seoul.stop()
    seoul.config['node-id'] = inagi.node_id
    net.start('seoul', 'fujisawa')
    wait_for(lambda: refused(fujisawa), 40, 'Seoul is refused')
    assert not knows(fujisawa, inagi)
    net.start('inagi')
    wait_for(lambda: net.full_mesh(['fujisawa', 'inagi']), 40, 'Inagi is itself')
    assert fujisawa.nodes()[inagi.node_id]['identity'] == inagi.identity()
    assert not fujisawa.events('duplicate-id') and not fujisawa.events('identity-changed')


def test_bad_lists_are_refused_whole(lab):
    net = lab(merged(PAPER, {'config': PATIENT})).joined()
    node = net.node['fujisawa']
    for entry, says in (('seoul', 'entry 1 is not an identity'),
                        (node.identity().upper(), 'entry 1 is not an identity')):
        node.config['authentication'] = trusting([entry])
        node.write_config()
        try:
            node.ctl('reload')
            raise AssertionError('taken')
        except RuntimeError as e:
            assert says in str(e) and 'authentication.trusted-identity' in str(e)
    assert net.full_mesh()
