# SPDX-License-Identifier: GPL-2.0-or-later
"""Errors in `shaper` and other rates, for test_verify.py: the wrong part of the configuration and
the message. Correct cases follow."""

RANGE = 'which is not between 1 and {} kbit/s: set another rate.'


def peer(**nodes):
    return {'peer': {f'192.0.2.{name[1:]}': of for name, of in nodes.items()}}


ERRORS = {
    'a rate that is too high': (
        {'shaper': {'egress': '5tbit'}},
        f'"shaper egress" is 5tbit, {RANGE.format(4294967295)}',
    ),
    'a rate to a node that is too high': (
        {'shaper': peer(n7={'rate': '101gbit'})},
        f'"shaper peer 192.0.2.7 rate" is 101gbit, {RANGE.format(100000000)}',
    ),
    'a rate inwards that is too high': (
        {'shaper': {'ingress': '101gbit'}},
        f'"shaper ingress" is 101gbit, {RANGE.format(100000000)}',
    ),
    'a rate of less than a kilobit': (
        {'shaper': {'per_peer': '999bit'}},
        f'"shaper per-peer" is 999bit, {RANGE.format(100000000)}',
    ),
    'a budget with a unit': (
        {'policy': {'critical': {'dscp': 'ef', 'duplicate': {'budget': '0mbit'}}}},
        f'"policy critical duplicate budget" is 0mbit, {RANGE.format(100000000)}',
    ),
    'a node without a rate': (
        {'shaper': peer(n7={})},
        'Nothing is said of node 192.0.2.7: set "shaper peer 192.0.2.7 rate", 0 for no limit.',
    ),
    'a rate to ourselves': (
        {'shaper': peer(n9={'rate': '5mbit'}), 'node_id': '192.0.2.9'},
        'Node 192.0.2.9 is this one, which sends nothing to itself: delete "shaper peer 192.0.2.9".',
    ),
    'too many nodes with rates': (
        {'shaper': {'peer': {f'10.0.{i // 250}.{i % 250 + 1}': {'rate': '1'} for i in range(257)}}},
        'There are 257 nodes in "shaper peer" and at most 256 are possible: set "shaper per-peer" '
        'for most of them.',
    ),
}
WARNINGS = {
    'a line that is slower': (
        {'shaper': {'egress': '10mbit', 'per_peer': '10000'}},
        '"shaper per-peer" 10000 is not below "shaper egress" 10mbit, which limits all nodes '
        'together, so it has no effect: set it to less, or delete it.',
    ),
}
FINE = {
    'rates as VyOS writes them': {
        'shaper': {'egress': '1gbit', 'per_peer': '64000bit', 'automatic': {},
                   **peer(n7={'rate': '0'}, n8={'rate': '100gbit'}, n9={'rate': '0kbit'})},
    },
    'rates without units': {'shaper': {'egress': '0', 'per_peer': '20000', 'ingress': '47500kbit'}},
}
