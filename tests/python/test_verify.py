# SPDX-License-Identifier: GPL-2.0-or-later
"""Every rule of vyos_leon.verify: a violation, the message, and permitted values."""

import line_cases
import overlay_cases
import pytest
import rates_cases
import secret_cases
from vyos_leon import underlay
from vyos_leon import verify

SECRET = secret_cases.SECRET
GOOD = {
    'ifname': 'leon0',
    'source_address': ['192.0.2.1'],
    'port': '5366',
    'peer': {'seoul': {'address': '203.0.113.1', 'port': '5366'}},
    'measurement': {'interval': '1000', 'fast_interval': '100', 'dead_multiplier': '3'},
    'authentication': SECRET,
}
# A value that removes the node.
GONE = secret_cases.GONE


def config(**changes):
    return {
        key: value for key, value in {**GOOD, **changes}.items() if value is not GONE
    }


def peers(**addresses):
    return {name: {'address': a, 'port': '5366'} for name, a in addresses.items()}


def host(*addresses, **others):
    return verify.Host(
        source_interface_addresses=list(addresses),
        other_interfaces={'leon1': others} if others else {},
    )


def over_eth0(**changes):
    return config(source_address=GONE, source_interface='eth0', **changes)


ERRORS = {
    'a querier without snooping': (
        config(multicast={'querier': {}}),
        host(),
        '"multicast querier" has no effect without "multicast snooping": set both.',
    ),
    'link-local source': (
        config(source_address=['fe80::1'], node_id='10.0.0.1'),
        host(),
        'fe80::1 is of no use without its interface: set "source-address" to a global '
        'IPv6 address, or "source-interface" instead.',
    ),
    'metrics without an address': (
        config(metrics={'port': '5366'}),
        host(),
        'Metrics have no address to be fetched at: set "metrics listen-address" to one '
        'of this router that only Prometheus reaches, or delete "metrics".',
    ),
    'metrics at a low port': (
        config(metrics={'listen_address': '192.0.2.1', 'port': '80'}),
        host(),
        'Metrics are served by a process without privileges, and TCP port 80 needs one: '
        'set "metrics port" to 1024 or higher.',
    ),
    'metrics of another interface': (
        config(metrics={'listen_address': '192.0.2.1', 'port': '5366'}),
        host(
            source_address=['192.0.2.9'],
            port='5367',
            metrics={'listen_address': '::'},
        ),
        'leon1 serves its metrics at TCP port 5366 of that address already: set "metrics '
        'port" to another one.',
    ),
    'link-local peer': (
        config(peer=peers(seoul='fe80::2')),
        host(),
        'Peer "seoul" cannot be reached at fe80::2, which is of one link only: set '
        '"peer seoul address" to a global address.',
    ),
    'over lo': (
        config(source_address=GONE, source_interface='lo', node_id='10.0.0.1'),
        host('10.0.0.1'),
        'Nothing leaves this router through lo: delete "source-interface" and set '
        '"source-address" to the address of lo.',
    ),
    'over a dummy': (
        config(source_address=GONE, source_interface='dum0'),
        host('10.0.0.1'),
        'Nothing leaves this router through dum0: delete "source-interface" and set '
        '"source-address" to the address of dum0.',
    ),
    'a TLS port without the transport': (
        config(peer={'tokyo': {'address': '192.0.2.1', 'tls_port': '443'}}),
        host(),
        '"peer tokyo tls-port" has no effect without "transport tls": set "transport tls", or '
        'delete "peer tokyo tls-port".',
    ),
    'TLS beside IPsec': (
        config(transport={'tls': {}}, ipsec={}),
        host(),
        'IPsec does not protect connections of "transport tls": delete "ipsec" or "transport tls".',
    ),
    'an export of flows without a collector': (
        config(flow_export={'sampling': '10'}),
        host(),
        '"flow-export" has no collector: set "flow-export collector".',
    ),
    'a capture without a secret': (config(capture={'permit': ['all']}, authentication={}), host(), (
        '"capture permit" needs a secret, which proves the identity of nodes: set "authentication '
        'pre-shared-secret", or delete "capture".')),
    'a capture that permits nobody': (
        config(capture={}), host(), '"capture" permits nobody: set "capture permit", or delete "capture".'),
    'a port mapping beside IPsec': (
        config(port_mapping={}, ipsec={}),
        host(),
        'Mapped datagrams arrive outside of IPsec, which drops them: delete "port-mapping" or '
        '"ipsec".',
    ),
    'a TOS with ECN': (
        config(parameters={'ip': {'tos': '185'}, 'ipv6': {'tclass': '184'}}),
        host(),
        'The last two bits of "parameters ip tos" are those of ECN: set it to a multiple '
        'of 4, such as 184.',
    ),
    'long description': (
        config(peer={'a': {'address': '203.0.113.9', 'description': 'ü' * 128}}),
        host(),
        'The description of peer "a" is too long: set it to at most 255 bytes.',
    ),
    'nothing says who we are': (
        config(source_address=GONE),
        host(),
        'This node has neither an address nor a node-id: set "source-address", '
        '"source-interface" or "node-id".',
    ),
    'two sources': (
        config(source_interface='eth0'),
        host('198.51.100.9'),
        '"source-address" and "source-interface" exclude each other: delete one of them.',
    ),
    'two code points': (
        config(dscp={'copy': {}, 'set': 'ef'}),
        host(),
        '"dscp copy" and "dscp set" exclude each other: delete one of them.',
    ),
    'two IPv4 addresses': (
        config(source_address=['192.0.2.1', '192.0.2.2']),
        host(),
        'There are two IPv4 addresses in "source-address": keep at most one IPv4 and one '
        'IPv6 address.',
    ),
    'two IPv6 addresses': (
        config(source_address=['2001:db8::1', '2001:db8::2'], node_id='10.0.0.1'),
        host(),
        'There are two IPv6 addresses in "source-address": keep at most one IPv4 and one '
        'IPv6 address.',
    ),
    'any address': (
        config(source_address=['0.0.0.0']),
        host(),
        'Nothing can be sent from 0.0.0.0: set "source-address" to an address of this '
        'router.',
    ),
    'multicast source': (
        config(source_address=['ff02::1'], node_id='10.0.0.1'),
        host(),
        'Nothing can be sent from ff02::1: set "source-address" to an address of this '
        'router.',
    ),
    'broadcast source': (
        config(source_address='255.255.255.255'),
        host(),
        'Nothing can be sent from 255.255.255.255: set "source-address" to an address of '
        'this router.',
    ),
    'IPv6 alone': (
        config(source_address=['2001:db8::1']),
        host(),
        'A node-id cannot be taken from an IPv6 address: set "node-id" to a number that '
        'no other node has, written like an IPv4 address.',
    ),
    'node-id zero': (
        config(node_id='0.0.0.0'),
        host(),
        '0.0.0.0 is no node-id: set "node-id" to another number.',
    ),
    'node-id of all ones': (
        config(node_id='255.255.255.255'),
        host(),
        '255.255.255.255 is no node-id: set "node-id" to another number.',
    ),
    'over itself': (
        config(source_address=GONE, source_interface='leon0'),
        host('10.0.0.1'),
        'The overlay cannot run over leon0, which is a LEON interface itself: set '
        '"source-interface" to the interface of the underlay.',
    ),
    'over another overlay': (
        config(source_address=GONE, source_interface='leon1'),
        host('10.0.0.1', port='5367', source_address=['192.0.2.1']),
        'The overlay cannot run over leon1, which is a LEON interface itself: set '
        '"source-interface" to the interface of the underlay.',
    ),
    'over a dialled interface': (
        config(source_address=GONE, source_interface='pppoe0'),
        host('192.0.2.1'),
        'pppoe0 comes and goes with its session: delete "source-interface" and set '
        '"node-id" instead.',
    ),
    'over nothing': (
        over_eth0(),
        verify.Host(),
        'There is no interface or VRF eth0: set "source-interface" to one that exists.',
    ),
    'over a bridge member': (
        over_eth0(source_interface_is_bridge_member={'br0': {}}),
        host('192.0.2.1'),
        'eth0 is a member of bridge br0 and has no addresses of its own: set '
        '"source-interface" to br0.',
    ),
    'over a bond member': (
        over_eth0(source_interface_is_bond_member={'bond0': {}}),
        host('192.0.2.1'),
        'eth0 is a member of bond bond0 and has no addresses of its own: set '
        '"source-interface" to bond0.',
    ),
    'peer without address': (
        config(peer={'seoul': {'port': '5366'}}),
        host(),
        'Peer "seoul" has no address: set "peer seoul address" to its IP address or '
        'domain name.',
    ),
    'peer is us': (
        config(peer=peers(seoul='192.0.2.1')),
        host(),
        'Peer "seoul" is this router: 192.0.2.1 is its own address. Delete "peer seoul" '
        'or correct its address.',
    ),
    'peer is us, in other letters': (
        config(
            source_address=['2001:db8::1'],
            node_id='10.0.0.1',
            peer=peers(seoul='2001:0DB8:0::1'),
        ),
        host(),
        'Peer "seoul" is this router: 2001:db8::1 is its own address. Delete '
        '"peer seoul" or correct its address.',
    ),
    'peer is our source-interface': (
        over_eth0(peer=peers(seoul='192.0.2.1')),
        host('192.0.2.1'),
        'Peer "seoul" is this router: 192.0.2.1 is its own address. Delete "peer seoul" '
        'or correct its address.',
    ),
    'the same peer twice': (
        config(peer=peers(inagi='203.0.113.1', seoul='203.0.113.1')),
        host(),
        'Peers "inagi" and "seoul" have the same address and port: delete one of them.',
    ),
    'the same name twice': (
        config(peer=peers(inagi='Seoul.example.com', seoul='seoul.example.com')),
        host(),
        'Peers "inagi" and "seoul" have the same address and port: delete one of them.',
    ),
    'too many peers': (
        config(
            peer=peers(
                **{f'p{i}': f'10.0.{i // 250}.{i % 250 + 1}' for i in range(257)}
            )
        ),
        host(),
        'There are 257 peers and at most 256 are possible: keep a few, one that is '
        'reachable is enough to join.',
    ),
    'fast is slow': (
        config(measurement={'interval': '200', 'fast_interval': '500'}),
        host(),
        '"measurement fast-interval" is 500 ms and the interval is 200 ms: set it to 200 '
        'or less.',
    ),
    'interval below the default of fast-interval': (
        config(measurement={'interval': '99'}),
        host(),
        '"measurement fast-interval" is 100 ms and the interval is 99 ms: set it to 99 or '
        'less.',
    ),
    'small MTU': (
        config(mtu='67'),
        host(),
        'MTU 67 is not possible: set "mtu" to 68 to 9000 bytes, or delete it and it '
        'follows the paths.',
    ),
    'large MTU': (
        config(mtu='9001'),
        host(),
        'MTU 9001 is not possible: set "mtu" to 68 to 9000 bytes, or delete it and it '
        'follows the paths.',
    ),
    'multicast MAC': (
        config(mac='01:00:5e:00:00:01'),
        host(),
        '01:00:5e:00:00:01 is not the address of an interface: set "mac" to a unicast '
        'address such as 02:00:00:00:00:01.',
    ),
    'zero MAC': (
        config(mac='00:00:00:00:00:00'),
        host(),
        '00:00:00:00:00:00 is not the address of an interface: set "mac" to a unicast '
        'address such as 02:00:00:00:00:01.',
    ),
    'port is taken': (
        config(),
        host(source_address=['192.0.2.1'], port='5366'),
        'leon1 receives at UDP port 5366 already: set "port" to another one, here and for '
        'this router at its peers.',
    ),
    'default port is taken': (
        config(port=GONE),
        host(source_address='192.0.2.1'),
        'leon1 receives at UDP port 5366 already: set "port" to another one, here and for '
        'this router at its peers.',
    ),
    'port is taken on all addresses': (
        config(),
        host(node_id='10.0.0.1', port='5366'),
        'leon1 receives at UDP port 5366 already: set "port" to another one, here and for '
        'this router at its peers.',
    ),
    'port is taken on the interface': (
        over_eth0(),
        host('192.0.2.1', source_interface='eth0', port='5366'),
        'leon1 receives at UDP port 5366 already: set "port" to another one, here and for '
        'this router at its peers.',
    ),
}

EXPORT = {'next_hop': {}}
ERRORS.update({
    'export without an address': (
        config(export=EXPORT),
        host(),
        'What is exported needs an address of this node that others use as next-hop: set '
        '"address" to one such as 10.99.0.1/32, or set "overlay-address".',
    ),
    'export with an address by DHCP alone': (
        config(export={'prefix': ['10.1.0.0/16']}, address=['dhcp', 'fe80::1/64']),
        host(),
        'What is exported needs an address of this node that others use as next-hop: set '
        '"address" to one such as 10.99.0.1/32, or set "overlay-address".',
    ),
    'unconditional without a prefix': (
        config(export={'unconditional': {}}),
        host(),
        '"export unconditional" is about announced prefixes and there is none: set '
        '"export prefix", or delete it.',
    ),
    'five overlay addresses': (
        config(export=EXPORT, address=[f'10.99.0.{n}/32' for n in range(1, 6)]),
        host(),
        'There are 5 overlay addresses and at most 4 are possible: set "overlay-address" '
        'to those that others are to use.',
    ),
    'overlay address is the loopback': (
        config(overlay_address='127.0.0.1'),
        host(),
        '127.0.0.1 leads nobody to this node: set "overlay-address" to an address of its '
        'own inside the overlay.',
    ),
    'import of a node by its name': (
        config(
            **{'import': {'prefix': {'10.0.0.0/8': {'node': ['10.0.0.1', 'a1' * 32, 'seoul']}}}}
        ),
        host(),
        '"import prefix 10.0.0.0/8 node seoul" is a name, which a node gives itself: set the '
        'identity or node-id of "show leon identity" instead.',
    ),
    'prefix with host bits': (
        config(export={'prefix': '10.1.0.1/16'}, overlay_address='10.99.0.1'),
        host(),
        '10.1.0.1/16 is no prefix, the bits behind its length are not zero: set it to the '
        'network.',
    ),
    'prefix of another family': (
        config(export={'prefix': ['fd00:1::/48']}, overlay_address='10.99.0.1'),
        host(),
        'Others cannot reach fd00:1::/48 without an IPv6 address of this node: set '
        '"address" or "overlay-address" to one.',
    ),
    'too many prefixes': (
        config(
            export={'prefix': [f'10.{n}.0.0/16' for n in range(33)]},
            overlay_address='10.99.0.1',
        ),
        host(),
        'There are 33 times "export prefix" and at most 32 are possible: set shorter '
        'prefixes that cover them.',
    ),
    'too many nodes': (
        config(
            **{'import': {'prefix': {'10.0.0.0/8': {'node': [f'10.0.0.{i + 1}' for i in range(17)]}}}}
        ),
        host(),
        '"import prefix 10.0.0.0/8" names 17 nodes and at most 16 are possible: delete '
        '"node" to accept all.',
    ),
    'lengths that exclude each other': (
        config(**{'import': {'prefix': {'10.0.0.0/8': {'ge': '24', 'le': '16'}}}}),
        host(),
        '"import prefix 10.0.0.0/8" accepts nothing: set "ge" and "le" so that 8 <= ge <= '
        'le <= 32.',
    ),
    'a length of the other family': (
        config(**{'import': {'prefix': {'10.0.0.0/8': {'le': '64'}}}}),
        host(),
        '"import prefix 10.0.0.0/8" accepts nothing: set "ge" and "le" so that 8 <= ge <= '
        'le <= 32.',
    ),
})  # fmt: skip


def critical(**words):
    return config(policy={'critical': words})


def accelerated(**words):
    return config(acceleration=words)


TWICE = {'duplicate': {}}
ERRORS.update({
    'ports of acceleration downwards': (
        accelerated(exclude={'port': ['443', '8080-8000']}),
        host(),
        'Ports "8080-8000" run downwards: set "acceleration exclude port 8000-8080".',
    ),
    'too many prefixes of acceleration': (
        accelerated(include={'prefix': [f'10.{i}.0.0/16' for i in range(33)]}),
        host(),
        '"acceleration include prefix" has 33 entries and at most 32 are possible: set larger '
        'ones.',
    ),
    'two treatments': (
        critical(dscp=['ef'], parity={}, **TWICE),
        host(),
        '"policy critical duplicate" and "policy critical parity" exclude each other: delete one '
        'of them.',
    ),
    'parity of nothing': (
        critical(parity={}),
        host(),
        '"policy critical parity" says what is done with critical frames and nothing says '
        'which they are: set "policy critical dscp", "vlan", "mac", "ethertype" or "protocol".',
    ),
    'nothing is critical': (
        critical(duplicate={'budget': '5000'}),
        host(),
        '"policy critical duplicate" says what is done with critical frames and nothing says '
        'which they are: set "policy critical dscp", "vlan", "mac", "ethertype" or "protocol".',
    ),
    'ports of what has none': (
        critical(protocol={'gre': {'port': ['7']}}, **TWICE),
        host(),
        'Protocol gre has no ports: delete "policy critical protocol gre port".',
    ),
    'too many critical addresses': (
        critical(mac=[f'02:00:00:00:00:{i:02x}' for i in range(65)], **TWICE),
        host(),
        '"policy critical" has 65 MAC addresses and at most 64 are possible: let their sender '
        'mark the frames and set "policy critical dscp".',
    ),
    'too many critical EtherTypes': (
        critical(ethertype=[f'0x88{i:02x}' for i in range(17)], **TWICE),
        host(),
        '"policy critical" has 17 EtherTypes and at most 16 are possible: let their sender '
        'mark the frames and set "policy critical dscp".',
    ),
    'too many critical ports': (
        critical(
            protocol={'udp': {'port': [str(p) for p in range(1, 32)]}, 'gre': {}, '112': {}},
            **TWICE,
        ),
        host(),
        '"policy critical" has 33 protocols and ports and at most 32 are possible: let their '
        'sender mark the frames and set "policy critical dscp".',
    ),
    'VLANs the wrong way round': (
        config(vlan=['10', '29-20']),
        host(),
        'VLANs "29-20" run downwards: set "vlan 20-29".',
    ),
    'too many VLANs': (
        config(vlan=[str(i) for i in range(0, 514, 2)]),
        host(),
        'There are 257 entries in "vlan" and at most 256 are possible: set ranges such as '
        '"vlan 20-29".',
    ),
    'a segment without VLAN': (
        config(segment={'a': {'id': '7'}}),
        host(),
        'Segment a has no vlan: set "segment a vlan" to the VLAN that it has here, 0 for '
        'untagged frames.',
    ),
    'a segment without id': (
        config(segment={'a': {'vlan': '7'}}),
        host(),
        'Segment a has no id: set "segment a id" to the number that it has at all nodes.',
    ),
    'two segments of one VLAN': (
        config(segment={'a': {'vlan': '7', 'id': '9'}, 'b': {'vlan': '7', 'id': '8'}}),
        host(),
        'Segments a and b have the same vlan 7: set another for one of them.',
    ),
    'two segments of one id': (
        config(segment={'a': {'vlan': '7', 'id': '9'}, 'b': {'vlan': '6', 'id': '9'}}),
        host(),
        'Segments a and b have the same id 9: set another for one of them.',
    ),
    'the number of a VLAN that is served': (
        config(vlan=['10-20'], segment={'a': {'vlan': '10', 'id': '20'}}),
        host(),
        'Segment a has id 20, and so has VLAN 20, which "vlan" names: set a segment for that VLAN, '
        'or delete it from "vlan".',
    ),
    'a number that no VLAN has': (
        config(segment={'a': {'vlan': '10', 'id': '4095'}}),
        host(),
        'Segment a has id 4095, which no VLAN tag can have: set another.',
    ),
    'segments and acceleration': (
        config(segment={'a': {'vlan': '10', 'id': '20'}}, acceleration={}),
        host(),
        '"segment" and "acceleration" cannot be used together: acceleration does not know of '
        'other VLANs. Delete one of the two.',
    ),
})  # fmt: skip

for _cases in (rates_cases, line_cases, secret_cases):
    ERRORS.update({name: (config(**wrong), host(), says) for name, (wrong, says) in _cases.ERRORS.items()})
# The package may be installed on the machine of the tests.
underlay.PORTMAP_PROGRAM = '/nonexistent/leon-portmap'

WARNINGS = {
    'a port mapping without the package': (
        config(port_mapping={}),
        host(),
        'No port is mapped, since leon-portmap is not installed: install the package leon-portmap, '
        'or delete "port-mapping".',
    ),
    'secret can be guessed': (
        config(authentication={'pre_shared_secret': 'x' * 15}),
        host(),
        'A secret of fewer than 16 characters can be guessed: set "authentication '
        'pre-shared-secret" to the output of "generate leon secret".',
    ),
    'metrics for all': (
        config(metrics={'listen_address': '0.0.0.0', 'port': '5366'}),
        host(),
        'Metrics are served at every address of this router, to whoever asks: set '
        '"metrics listen-address" to one that only Prometheus reaches, or let the '
        'firewall see to it at TCP port 5366.',
    ),
    'all that is included is excluded': (
        accelerated(include={'port': '2049'}, exclude={'port': ['443', '2049']}),
        host(),
        'All of "acceleration include port" is excluded too, so no TCP connection is intercepted: '
        'delete one of the two.',
    ),
    'nothing is done for critical frames': (
        critical(dscp=['ef']),
        host(),
        '"policy critical" names frames and nothing is done for them: set "policy critical '
        'duplicate" or "policy critical parity".',
    ),
    'connected network of all nodes': (
        config(export=EXPORT, address=['10.99.0.1/24']),
        host(),
        '10.99.0.1/24 makes a connected network of all nodes: BGP resolves the next-hop of '
        'a failed node through it and prefers that node. Set "address" to 10.99.0.1/32.',
    ),
    'routes in a bridge': (
        config(export=EXPORT, overlay_address='10.99.0.1', is_bridge_member={'br0': {}}),
        host(),
        'leon0 is a member of br0 and gets no routes there: delete "export next-hop" and '
        '"import prefix", or the membership.',
    ),
    'no secret by intent': (
        config(authentication={'disable': {}}),
        host(),
        'With "authentication disable" any host on the path can read and change all '
        'frames, and any host that forges the address of a node can join: delete it and '
        'set "authentication pre-shared-secret" at all nodes.',
    ),
    'a secret that strip-private does not hide': (
        config(authentication={'pre_shared_secret': 'two words'}),
        host(),
        '"strip-private" hides a secret up to its first space and shows the rest: set '
        'secrets without spaces in "authentication".',
    ),
    'encryption is disabled': (
        config(encryption={'disable': {}}),
        host(),
        'With "encryption disable" at both of two nodes, relays and networks between them '
        'can read their frames: delete it where those are not trusted and what is below '
        'does not encrypt.',
    ),
    'nobody can join': (
        config(authentication={'disable': {}}, peer=GONE),
        host(),
        'This node has no peer and no secret, so nobody can join: set "peer" or '
        '"authentication pre-shared-secret".',
    ),
    'peer of a family without source': (
        config(peer=peers(seoul='2001:db8::7')),
        host(),
        'Peer "seoul" cannot be asked at 2001:db8::7: set a "source-address" of IPv6 '
        'too, or delete the peer.',
    ),
    'source of one link': (
        config(source_address=['169.254.7.7']),
        host(),
        '169.254.7.7 reaches only nodes on the same link: set "source-address" to '
        'another one if that is not what you want.',
    ),
    'source-interface without address': (
        over_eth0(),
        host('2001:db8::1'),
        'eth0 has no IPv4 address to take the node-id from; the overlay starts when it '
        'has one. Set "node-id" not to depend on it.',
    ),
    'bridge is narrowed': (
        config(mtu='1400', is_bridge_member={'br0': {}}),
        host(),
        'br0 takes the smallest MTU of its members, so its hosts are cut off at 1400 '
        'bytes: delete "mtu" and long frames are split.',
    ),
}
for name, (wrong, says, *others) in (rates_cases.WARNINGS | overlay_cases.WARNINGS).items():
    WARNINGS[name] = (config(**wrong), host(**dict(*others)), says)

FINE = {
    'metrics, each interface at its place': (
        config(metrics={'listen_address': '192.0.2.1', 'port': '5366'}),
        host(
            source_address=['192.0.2.9'],
            port='5367',
            metrics={'listen_address': '192.0.2.1', 'port': '5367'},
        ),
    ),
    'metrics of IPv6 and of all of IPv4': (
        config(metrics={'listen_address': '2001:db8::1', 'port': '5366'}),
        host(
            source_address=['192.0.2.9'], port='5367', metrics={'listen_address': '0.0.0.0'}
        ),
    ),
    'metrics of a disabled interface': (
        config(metrics={'listen_address': '192.0.2.1', 'port': '5366'}),
        host(
            source_address=['192.0.2.9'],
            port='5367',
            disable={},
            metrics={'listen_address': '192.0.2.1'},
        ),
    ),
    'critical frames': (
        critical(
            dscp='ef',
            protocol={'udp': {'port': '5060'}, '17': {'port': ['1', '2']}, 'vrrp': {}},
            mac=[f'02:00:00:00:00:{i:02x}' for i in range(64)],
            **TWICE,
        ),
        host(),
    ),
    'export with a host address': (
        config(export=EXPORT, address=['10.99.0.1/32', 'fd00:99::1/128']),
        host(),
    ),
    'a prefix without routes here': (
        config(export={'prefix': ['10.1.0.0/16']}, address=['10.99.0.1/24']),
        host(),
    ),
    'rules of both families': (
        config(
            **{
                'import': {
                    'address': ['10.99.0.0/24'],
                    'prefix': {
                        '10.0.0.0/8': {'le': '24', 'node': '10.0.0.7'},
                        'fd00::/8': {'ge': '48'},
                        '10.7.0.0/16': {},
                    },
                }
            }
        ),
        host(),
    ),
    'the usual': (config(), host()),
    'one address that is not in a list': (config(source_address='192.0.2.1'), host()),
    'both families': (config(source_address=['2001:db8::1', '192.0.2.1']), host()),
    'IPv6 with node-id': (
        config(
            source_address=['2001:db8::1'],
            node_id='10.0.0.1',
            peer=peers(seoul='2001:db8::7'),
        ),
        host(),
    ),
    'node-id alone': (config(source_address=GONE, node_id='10.0.0.1'), host()),
    'source-interface': (over_eth0(), host('192.0.2.1')),
    'source-interface that will have an address': (
        over_eth0(node_id='10.0.0.1'),
        host(),
    ),
    'no peer, others join': (config(peer=GONE), host()),
    'another node at our address': (
        config(peer={'lab': {'address': '192.0.2.1', 'port': '5367'}}),
        host(),
    ),
    'two nodes at one address': (
        config(
            peer={
                'a': {'address': '203.0.113.1', 'port': '5366'},
                'b': {'address': '203.0.113.1', 'port': '5367'},
            }
        ),
        host(),
    ),
    'equal intervals': (
        config(measurement={'interval': '100', 'fast_interval': '100'}),
        host(),
    ),
    'secret is long enough': (config(authentication={'pre_shared_secret': 'x' * 16}), host()),
    'longest secret': (config(authentication={'pre_shared_secret': 'x' * 128}), host()),
    'cipher': (config(encryption={'cipher': 'chacha20poly1305'}), host()),
    'cipher auto': (config(encryption={'cipher': 'auto'}), host()),
    'smallest MTU': (config(mtu='68'), host()),
    'largest MTU': (config(mtu='9000'), host()),
    'MAC': (config(mac='02:00:00:00:00:01'), host()),
    'bridge without MTU': (config(is_bridge_member={'br0': {}}), host()),
    'disabled peer of another family': (
        config(peer={'a': {'address': '2001:db8::7', 'disable': {}}}),
        host(),
    ),
    'lowest port': (config(port='1024'), host()),
    'other port': (config(), host(source_address=['192.0.2.1'], port='5367')),
    'other address': (config(), host(source_address=['192.0.2.9'], port='5366')),
    'other interface': (
        over_eth0(),
        host('192.0.2.1', source_interface='eth1', port='5366'),
    ),
    'disabled, port is taken': (config(disable={}), host(source_address=['192.0.2.1'])),
}
FINE.update({name: (config(**right), host()) for name, right in rates_cases.FINE.items()})
FINE.update({name: (config(**a), host(**b)) for name, (a, b) in overlay_cases.FINE.items()})


@pytest.mark.parametrize('wrong, where, sentence', ERRORS.values(), ids=ERRORS)
def test_error(wrong, where, sentence):
    assert sentence in verify.check(wrong, where).errors


@pytest.mark.parametrize('poor, where, sentence', WARNINGS.values(), ids=WARNINGS)
def test_warning(poor, where, sentence):
    verdict = verify.check(poor, where)
    assert verdict.errors == []
    assert sentence in verdict.warnings


@pytest.mark.parametrize('good, where', FINE.values(), ids=FINE)
def test_fine(good, where):
    assert verify.check(good, where) == verify.Verdict([], [])


def test_every_rule_has_a_case():
    """Without any single rule, at least one of the messages above is missing."""
    for rules, cases in ((verify.ERRORS, ERRORS), (verify.WARNINGS, WARNINGS)):
        for rule in rules:
            assert any(
                sentence in rule(wrong, where)
                for wrong, where, sentence in cases.values()
            ), rule.__name__


def test_every_sentence_says_what_to_do():
    for _, _, sentence in [*ERRORS.values(), *WARNINGS.values()]:
        assert sentence.endswith('.') and any(
            verb in sentence.lower() for verb in ('set ', 'delete ', 'keep ')
        )


def test_the_secret_is_in_no_sentence():
    wrong = config(authentication={'pre_shared_secret': 'geheim'}, mtu='1')
    assert not any('geheim' in text for text in verify.check(wrong, host()).errors)
