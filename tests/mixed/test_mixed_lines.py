# SPDX-License-Identifier: GPL-2.0-or-later
"""Two lines of the present release towards a node of another release, which sees one line."""
import wan
from lab import wait_for
from traffic import Stream

WAIT_S = 60


def test_an_old_node_follows_to_the_other_line(lab, released):
    """The old node has one address for its peer. The address changes after a failure of the line,
    and not for a second line."""
    net = lab({'sites': {'n0': {'lines': True}, 'n1': {}}}, start=False)
    old, new = net.node['n1'], net.node['n0']
    old.program = released
    net.start()
    net.joined(within=WAIT_S)
    net.settle_hosts('n0', 'n1')

    def endpoint():
        return old.nodes()[new.node_id]['endpoint']
    wait_for(lambda: endpoint(), WAIT_S, 'the old node has an address')
    flow = Stream(net.host['n0'].namespace, net.host['n1'].namespace, net.host['n1'].ip4, interval=0.01).start()
    flow.arrived(300, within=WAIT_S)
    sites = {f'{wan.ip4(0)}:5366': 'n0', f'{new.second}:5366': 'n0-2'}
    moves = len(old.events('endpoint'))
    used = sites[endpoint()]
    flow.arrived(300, within=WAIT_S)
    assert len(old.events('endpoint')) == moves, 'the old node does not move back and forth'
    net.wan.both(used, 'n1', up=False)
    wait_for(lambda: sites[endpoint()] != used, WAIT_S, 'the old node follows')
    flow.arrived(300, within=WAIT_S)
    flow.stop()
    print(f'gap {flow.gap()}')
