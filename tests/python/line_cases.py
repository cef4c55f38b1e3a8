# SPDX-License-Identifier: GPL-2.0-or-later
"""Errors in `line`, for test_verify.py: the wrong part of the configuration and the message."""
import secret_cases

GONE = secret_cases.GONE

ERRORS = {
    'a line without a source': (
        dict(source_address=GONE, node_id='10.0.0.1', line={'lte': {}}),
        'Line "lte" has neither an address nor an interface: set "line lte interface" or "line '
        'lte address".',
    ),
    'a line twice': (
        dict(source_address=GONE, node_id='10.0.0.1',
             line={'b': {'interface': 'eth0'}, 'a': {'interface': 'eth0'}}),
        'Lines "a" and "b" are one line: set the interface or address of each.',
    ),
    'three lines': (
        dict(source_address=GONE, node_id='10.0.0.1',
             line={n: {'interface': n} for n in ('eth0', 'eth1', 'eth2')}),
        'There are more than 2 lines: delete one "line".',
    ),
    'a line over a dummy': (
        dict(source_address=GONE, node_id='10.0.0.1', line={'a': {'interface': 'dum0'}}),
        'Nothing leaves this router through dum0: set "line a interface" to the interface of an '
        'Internet line.',
    ),
    'a line over the overlay': (
        dict(source_address=GONE, node_id='10.0.0.1', line={'a': {'interface': 'leon0'}}),
        'The overlay cannot run over leon0, which is a LEON interface itself: set "line a '
        'interface" to the interface of the underlay.',
    ),
    'a line at fe80': (
        dict(source_address=GONE, node_id='10.0.0.1', line={'a': {'address': 'fe80::1'}}),
        'fe80::1 is of no use without its interface: set "line a address" to a global address.',
    ),
    'lines beside a source': (
        dict(line={'a': {'address': '192.0.2.1'}}),
        '"line" and "source-address" exclude each other: delete one of them.',
    ),
    'lines beside TLS': (
        dict(source_address=GONE, line={'a': {'address': '192.0.2.1'}}, transport={'tls': {}}),
        '"line" and "transport tls" exclude each other: delete one of them.',
    ),
    'lines without a node-id': (
        dict(source_address=GONE,
             line={'a': {'interface': 'eth0'}, 'b': {'address': '192.0.2.1'}}),
        'A node-id cannot be taken from line "a", which has no IPv4 address: set "node-id" to a '
        'number that no other node has, written like an IPv4 address.',
    ),
}
