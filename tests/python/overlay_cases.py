# SPDX-License-Identifier: GPL-2.0-or-later
"""Several LEON interfaces of a router, for test_verify.py: the configuration, the message, and the
other interface. Correct cases follow."""

TLS = {'tls': {'listen_port': '443'}}
SAME_TLS_PORT = (
    'leon1 listens at TCP port 443 already, so one of the two interfaces accepts no TLS: set '
    '"transport tls listen-port" to another one, here and as "tls-port" of this router at its '
    'peers.'
)

WARNINGS = {
    'port of TLS is taken': (
        dict(transport=TLS),
        SAME_TLS_PORT,
        dict(transport=TLS, port='5367', source_address=['192.0.2.1']),
    ),
    'port of TLS is taken at all addresses': (
        dict(transport=TLS),
        SAME_TLS_PORT,
        dict(transport=TLS, port='5367'),
    ),
    'two overlays in a bridge': (
        dict(is_bridge_member={'br0': {}}),
        'leon1 and leon0 are members of br0: if another site bridges both overlays too, they form '
        'a loop, which the loop guard does not detect. Delete one of the two members there or '
        'here.',
        dict(is_bridge_member={'br0': {}}, port='5367'),
    ),
}
FINE = {
    'two overlays in two bridges': (
        dict(is_bridge_member={'br0': {}}),
        dict(is_bridge_member={'br1': {}}, port='5367'),
    ),
    'disabled overlay in the bridge': (
        dict(is_bridge_member={'br0': {}}),
        dict(is_bridge_member={'br0': {}}, disable={}),
    ),
    'port of a disabled interface': ({}, dict(source_address=['192.0.2.1'], disable={})),
    'port of TLS at another address': (
        dict(transport=TLS),
        dict(transport=TLS, port='5367', source_address=['192.0.2.9']),
    ),
    'other port of TLS': (
        dict(transport={'tls': {'listen_port': '8443'}}),
        dict(transport=TLS, port='5367'),
    ),
    'no port of TLS': (
        dict(transport={'tls': {}}),
        dict(transport={'tls': {}}, port='5367'),
    ),
    'port of TLS of a disabled interface': (
        dict(transport=TLS),
        dict(transport=TLS, disable={}),
    ),
}
