# SPDX-License-Identifier: GPL-2.0-or-later
"""Rules about source and destination addresses of the overlay. The rules refuse configurations
that VyOS accepts without reaching any node. Part of vyos_leon.verify, in a separate file."""

import ipaddress
import os
import re

from vyos_leon.leaves import LEAVES
from vyos_leon.leaves import limits
from vyos_leon.routes import listed

DESCRIPTION_MAX = limits('peer NAME description')[1]
PORTMAP_PROGRAM = '/usr/lib/leon/leon-portmap'
LINES_MAX = LEAVES['line'].of['high']
# Datagrams to these networks never leave the router.
INWARD_INTERFACE = re.compile(r'lo|dum\d+')


def _addresses(texts):
    """The CLI refuses a text that is neither an address nor a name."""
    for text in texts:
        try:
            yield ipaddress.ip_address(text or '')
        except ValueError:
            pass


def _sources(config):
    return list(_addresses(listed(config.get('source_address', []))))


def _peers(config):
    """Name and address of the peers with an IP address."""
    for name, peer in config.get('peer', {}).items():
        if 'disable' not in peer:
            for address in _addresses([peer.get('address')]):
                yield name, address


# --- errors ---


def source_has_no_zone(config, _):
    for source in _sources(config):
        if source.version == 6 and source.is_link_local:
            yield (
                f'{source} is of no use without its interface: set "source-address" to '
                f'a global IPv6 address, or "source-interface" instead.'
            )


def peer_has_no_zone(config, _):
    for name, address in _peers(config):
        if address.version == 6 and address.is_link_local:
            yield (
                f'Peer "{name}" cannot be reached at {address}, which is of one link '
                f'only: set "peer {name} address" to a global address.'
            )


def source_interface_leads_out(config, _):
    name = config.get('source_interface', '')
    if INWARD_INTERFACE.fullmatch(name):
        yield (
            f'Nothing leaves this router through {name}: delete "source-interface" and '
            f'set "source-address" to the address of {name}.'
        )


def tls_is_configured(config, _):
    if 'tls' in config.get('transport', {}):
        return
    for name, peer in config.get('peer', {}).items():
        if 'tls_port' in peer:
            yield (
                f'"peer {name} tls-port" has no effect without "transport tls": set '
                f'"transport tls", or delete "peer {name} tls-port".'
            )


def tls_does_not_bypass_ipsec(config, _):
    if 'ipsec' in config and 'tls' in config.get('transport', {}):
        yield (
            'IPsec does not protect connections of "transport tls": delete "ipsec" or '
            '"transport tls".'
        )


def flow_export_has_a_collector(config, _):
    if 'collector' not in config.get('flow_export', {'collector': None}):
        yield '"flow-export" has no collector: set "flow-export collector".'


def port_mapping_has_plain_datagrams(config, _):
    if 'port_mapping' in config and 'ipsec' in config:
        yield (
            'Mapped datagrams arrive outside of IPsec, which drops them: delete '
            '"port-mapping" or "ipsec".'
        )


def lines_have_a_source(config, host):
    seen = {}
    for name, line in sorted(config.get('line', {}).items()):
        interface = line.get('interface', '')
        source = (line.get('address'), interface)
        if source == (None, ''):
            yield (
                f'Line "{name}" has neither an address nor an interface: set "line '
                f'{name} interface" or "line {name} address".'
            )
        elif source in seen:
            yield (
                f'Lines "{seen[source]}" and "{name}" are one line: set the interface '
                f'or address of each.'
            )
        elif INWARD_INTERFACE.fullmatch(interface):
            yield (
                f'Nothing leaves this router through {interface}: set "line {name} '
                f'interface" to the interface of an Internet line.'
            )
        elif interface == config['ifname'] or interface in host.other_interfaces:
            yield (
                f'The overlay cannot run over {interface}, which is a LEON interface '
                f'itself: set "line {name} interface" to the interface of the underlay.'
            )
        for address in _addresses([line.get('address')]):
            if address.version == 6 and address.is_link_local:
                yield (
                    f'{address} is of no use without its interface: set "line {name} '
                    f'address" to a global address.'
                )
        seen[source] = name


def lines_are_at_most_two(config, _):
    if len(config.get('line', {})) > LINES_MAX:
        yield f'There are more than {LINES_MAX} lines: delete one "line".'


def lines_stand_alone(config, _):
    if 'line' not in config:
        return
    for word in ('source-address', 'source-interface', 'ipsec'):
        if word.replace('-', '_') in config:
            yield f'"line" and "{word}" exclude each other: delete one of them.'
    if 'tls' in config.get('transport', {}):
        yield '"line" and "transport tls" exclude each other: delete one of them.'


def lines_have_a_node_id(config, _):
    lines = sorted(config.get('line', {}).items())
    if not lines or 'node_id' in config:
        return
    if not any(a.version == 4 for a in _addresses([lines[0][1].get('address')])):
        yield (
            f'A node-id cannot be taken from line "{lines[0][0]}", which has no IPv4 '
            f'address: set "node-id" to a number that no other node has, written like '
            f'an IPv4 address.'
        )


def peer_description_fits(config, _):
    for name, peer in config.get('peer', {}).items():
        if len(peer.get('description', '').encode()) > DESCRIPTION_MAX:
            yield (
                f'The description of peer "{name}" is too long: set it to at most '
                f'{DESCRIPTION_MAX} bytes.'
            )


def ecn_is_left_alone(config, _):
    parameters = config.get('parameters', {})
    for family, word in (('ip', 'tos'), ('ipv6', 'tclass')):
        value = int(parameters.get(family, {}).get(word, 0))
        if value % 4:
            yield (
                f'The last two bits of "parameters {family} {word}" are those of ECN: '
                f'set it to a multiple of 4, such as {value & ~3}.'
            )


# --- warnings ---


def peers_have_a_source(config, _):
    sources = {source.version for source in _sources(config)}
    for name, address in _peers(config):
        if sources and address.version not in sources:
            yield (
                f'Peer "{name}" cannot be asked at {address}: set a "source-address" of '
                f'IPv{address.version} too, or delete the peer.'
            )


def source_is_not_of_one_link(config, _):
    for source in _sources(config):
        if source.version == 4 and source.is_link_local:
            yield (
                f'{source} reaches only nodes on the same link: set "source-address" to '
                f'another one if that is not what you want.'
            )


def port_mapping_has_a_program(config, _):
    if 'port_mapping' in config and not os.path.exists(PORTMAP_PROGRAM):
        yield (
            'No port is mapped, since leon-portmap is not installed: install the package '
            'leon-portmap, or delete "port-mapping".'
        )


ERRORS = (
    source_has_no_zone,
    peer_has_no_zone,
    source_interface_leads_out,
    tls_is_configured,
    tls_does_not_bypass_ipsec,
    flow_export_has_a_collector,
    port_mapping_has_plain_datagrams,
    lines_have_a_source,
    lines_are_at_most_two,
    lines_stand_alone,
    lines_have_a_node_id,
    peer_description_fits,
    ecn_is_left_alone,
)
WARNINGS = (peers_have_a_source, source_is_not_of_one_link, port_mapping_has_a_program)
