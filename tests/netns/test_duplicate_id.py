# SPDX-License-Identifier: GPL-2.0-or-later
"""Two nodes with one node-id. Both nodes and a third node report the duplicate."""
import shutil

import pytest

from lab import wait_for

ID = '10.0.0.9'


def own(node):
    return next(n for n in node.show('nodes')['nodes'] if n['state'] == 'self')


@pytest.mark.parametrize('clone', [True, False])
def test_all_three_say_it(lab, clone):
    twin = {'config': {'node-id': ID}}
    net = lab({'sites': {'hub': {}, 'first': twin, 'second': twin}, 'seeds': ['hub'],
               'hosts': False}, start=False)
    hub, first, second = (net.node[name] for name in ('hub', 'first', 'second'))
    net.start('hub', 'first')
    wait_for(lambda: hub.nodes().get(ID, {}).get('state') == 'reachable', 20, 'the first is in')
    if clone:
        shutil.copy(first.config['identity-file'], second.config['identity-file'])
    net.start('second')
    for node, other in ((first, second), (second, first)):
        wait_for(lambda n=node: own(n)['duplicate'], 60, f'{node.name} is told')
        seen = own(node)['duplicate']
        assert seen['same_identity'] == clone and seen['reported_by'] == hub.node_id
        assert seen['endpoint'] == f'{other.config["source-address"][0]}:5366'
        (event,) = wait_for(lambda n=node: n.events('duplicate-id'), 10, 'it is told of')
        assert seen['endpoint'] in event['text'] and hub.node_id in event['text']
        assert ('identity-file' in event['text']) == clone
        wait_for(lambda n=node, e=event: e['text'] in n.log(), 10, 'it is in the log')
        assert 'node-id used twice' in node.leonctl('show', 'nodes', json_output=False)
        text = node.leonctl('show', 'identity', json_output=False)
        assert 'Another node uses the node-id of this one' in text
    assert hub.events('duplicate-id') and hub.nodes()[ID]['duplicate']
    # With another node-id the second node joins, and the conflict ends.
    second.stop()
    second.config['node-id'] = '10.0.0.10'
    if clone:
        second.config['identity-file'] += '.new'
    net.start('second')
    wait_for(lambda: hub.nodes().get('10.0.0.10', {}).get('state') == 'reachable', 40, 'both are in')
    wait_for(lambda: hub.nodes().get(ID, {}).get('state') == 'reachable', 40, 'both are in')
    assert own(second)['duplicate'] is None
