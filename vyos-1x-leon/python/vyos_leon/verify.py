# SPDX-License-Identifier: GPL-2.0-or-later
"""Rules of `interfaces leon`: a function for each rule, and a sentence with the remedy for each
fault.

Rules read the dictionary of VyOS (strings, underscores) and the state of the host. Rules change
nothing and send no queries. Limits of single leaves (ranges, formats) are constraints of the CLI.
Rules repeat a limit only if a configuration can arrive without the CLI. VyOS has the general rules
for interfaces (VRF against bridge, IPv6 against MTU, ...).
"""

import ipaddress
import re
from typing import NamedTuple, Optional

from vyos_leon import acceleration
from vyos_leon import metrics
from vyos_leon import policy
from vyos_leon import rates
from vyos_leon import segments
from vyos_leon import routes
from vyos_leon import underlay
from vyos_leon.leaves import default, limits
from vyos_leon.routes import listed

PORT = str(default('port'))
PEERS_MAX = limits('peer')[1]
SECRET_MIN, SECRET_MAX = limits('authentication pre-shared-secret')
SECRET_LONG = 16  # As in leond. A shorter secret can be guessed.
ACCEPTED_MAX = limits('authentication accept-secret')[1]
TRUSTED_MAX = limits('authentication trusted-identity')[1]
MTU_MIN, MTU_MAX = limits('mtu')
MTU_ETHERNET = 1500
DYNAMIC_INTERFACE = re.compile(r'(ppp|pppoe|sstpc|l2tp|ipoe)\d+')


class Host(NamedTuple):
    """The state of the router, collected by verify() of the configuration script."""

    # Addresses of the source-interface or of the interfaces of the VRF, reachable for other hosts,
    # without prefix length. None if the interface does not exist.
    source_interface_addresses: Optional[list] = None
    # The other LEON interfaces by name, each a dictionary like the interface.
    other_interfaces: dict = {}
    # The first port without a privilege.
    first_port: int = 1024


class Verdict(NamedTuple):
    errors: list
    warnings: list


def _sources(config):
    """Source addresses. The CLI has refused invalid texts."""
    found = []
    for text in listed(config.get('source_address', [])):
        try:
            found.append(ipaddress.ip_address(text))
        except ValueError:
            pass
    return found


def _address(text):
    """None for a DNS name."""
    try:
        return ipaddress.ip_address(text or '')
    except ValueError:
        return None


def _number(config, section, word):
    value = config.get(section, {}).get(word.replace('-', '_'))
    return default(f'{section} {word}') if value is None else int(value)


# --- errors ---


def source_is_known(config, _):
    if 'line' in config:
        return
    if not {'source_address', 'source_interface', 'node_id'} & set(config):
        yield (
            'This node has neither an address nor a node-id: set "source-address", '
            '"source-interface" or "node-id".'
        )


def source_is_one(config, _):
    if {'source_address', 'source_interface'} <= set(config):
        yield (
            '"source-address" and "source-interface" exclude each other: '
            'delete one of them.'
        )


def dscp_is_one(config, _):
    if {'copy', 'set'} <= set(config.get('dscp', {})):
        yield '"dscp copy" and "dscp set" exclude each other: delete one of them.'


def source_addresses(config, _):
    sources = _sources(config)
    for version in (4, 6):
        if sum(source.version == version for source in sources) > 1:
            yield (
                f'There are two IPv{version} addresses in "source-address": '
                f'keep at most one IPv4 and one IPv6 address.'
            )
    for source in sources:
        if (
            source.is_unspecified
            or source.is_multicast
            or str(source) == '255.255.255.255'
        ):
            yield (
                f'Nothing can be sent from {source}: set "source-address" to an '
                f'address of this router.'
            )


def ipv6_underlay_has_node_id(config, _):
    sources = _sources(config)
    only_ipv6 = sources and all(source.version == 6 for source in sources)
    if only_ipv6 and 'node_id' not in config:
        yield (
            'A node-id cannot be taken from an IPv6 address: set "node-id" to a number '
            'that no other node has, written like an IPv4 address.'
        )


def node_id_is_usable(config, _):
    if config.get('node_id') in ('0.0.0.0', '255.255.255.255'):
        yield f'{config["node_id"]} is no node-id: set "node-id" to another number.'


def source_interface_is_usable(config, host):
    name = config.get('source_interface')
    if not name:
        return
    if name == config['ifname'] or name in host.other_interfaces:
        yield (
            f'The overlay cannot run over {name}, which is a LEON interface itself: '
            f'set "source-interface" to the interface of the underlay.'
        )
    elif DYNAMIC_INTERFACE.fullmatch(name):
        yield (
            f'{name} comes and goes with its session: delete "source-interface" and '
            f'set "node-id" instead.'
        )
    elif host.source_interface_addresses is None:
        yield (
            f'There is no interface or VRF {name}: set "source-interface" to one that '
            f'exists.'
        )
    for kind in ('bridge', 'bond'):
        for parent in config.get(f'source_interface_is_{kind}_member', {}):
            yield (
                f'{name} is a member of {kind} {parent} and has no addresses of its '
                f'own: set "source-interface" to {parent}.'
            )


def peer_has_address(config, _):
    for name, peer in config.get('peer', {}).items():
        if 'address' not in peer:
            yield (
                f'Peer "{name}" has no address: set "peer {name} address" to its IP '
                f'address or domain name.'
            )


def peer_is_somebody_else(config, host):
    own = _sources(config)
    own += [_address(text) for text in host.source_interface_addresses or []]
    for name, peer in config.get('peer', {}).items():
        address = _address(peer.get('address'))
        same_port = peer.get('port', PORT) == config.get('port', PORT)
        if address and address in own and same_port:
            yield (
                f'Peer "{name}" is this router: {address} is its own address. Delete '
                f'"peer {name}" or correct its address.'
            )


def peers_differ(config, _):
    seen = {}
    for name, peer in config.get('peer', {}).items():
        text = peer.get('address')
        if text is None:
            continue
        key = (_address(text) or text.lower(), peer.get('port', PORT))
        first = seen.setdefault(key, name)
        if first != name:
            yield (
                f'Peers "{first}" and "{name}" have the same address and port: delete '
                f'one of them.'
            )


def peers_are_few(config, _):
    count = len(config.get('peer', {}))
    if count > PEERS_MAX:
        yield (
            f'There are {count} peers and at most {PEERS_MAX} are possible: keep a '
            f'few, one that is reachable is enough to join.'
        )


def fast_interval_is_fast(config, _):
    interval = _number(config, 'measurement', 'interval')
    fast = _number(config, 'measurement', 'fast-interval')
    if fast > interval:
        yield (
            f'"measurement fast-interval" is {fast} ms and the interval is {interval} '
            f'ms: set it to {interval} or less.'
        )


def secret_is_set(config, _):
    authentication = config.get('authentication', {})
    if 'pre_shared_secret' in authentication and 'disable' in authentication:
        yield (
            'There is a secret and "authentication disable": delete one of them.'
        )
    elif 'pre_shared_secret' not in authentication and 'disable' not in authentication:
        yield (
            'There is no secret: set "authentication pre-shared-secret" to the output of '
            '"generate leon secret", the same at all nodes. "authentication disable" '
            'permits an overlay that any host can read and join.'
        )


def secret_has_length(config, _):
    secret = config.get('authentication', {}).get('pre_shared_secret')
    if secret is None:
        return
    length = len(secret.encode())
    if not SECRET_MIN <= length <= SECRET_MAX:
        yield (
            f'The pre-shared secret has {length} characters: set '
            f'"authentication pre-shared-secret" to {SECRET_MIN} to {SECRET_MAX} '
            f'characters.'
        )


def accepted_secrets_differ(config, _):
    authentication = config.get('authentication', {})
    accepted = listed(authentication.get('accept_secret', []))
    own = authentication.get('pre_shared_secret')
    if accepted and own is None:
        yield (
            'There is an "authentication accept-secret" and no secret of this node: set '
            '"authentication pre-shared-secret" too.'
        )
    if len(accepted) > ACCEPTED_MAX:
        yield (
            f'There are {len(accepted)} accepted secrets and at most {ACCEPTED_MAX} are '
            f'possible: delete those that no node uses any longer.'
        )
    if own in accepted:
        yield (
            'An "authentication accept-secret" is the pre-shared secret itself: delete '
            'it, this node accepts its own secret anyway.'
        )


def capture_has_secret(config, _):
    permit = config.get('capture', {'permit': None}).get('permit')
    if 'capture' in config and not permit:
        yield '"capture" permits nobody: set "capture permit", or delete "capture".'
    elif permit and 'pre_shared_secret' not in config.get('authentication', {}):
        yield (
            '"capture permit" needs a secret, which proves the identity of nodes: set "authentication '
            'pre-shared-secret", or delete "capture".'
        )


def trusted_identities_have_secret(config, _):
    authentication = config.get('authentication', {})
    trusted = listed(authentication.get('trusted_identity', []))
    if trusted and 'pre_shared_secret' not in authentication:
        yield (
            'Without a secret a list of identities keeps nobody out: set "authentication '
            'pre-shared-secret", or delete "authentication trusted-identity".'
        )
    if len(trusted) > TRUSTED_MAX:
        yield (
            f'There are {len(trusted)} trusted identities and at most {TRUSTED_MAX} are '
            f'possible: delete those of nodes that are gone.'
        )


def cipher_has_secret(config, _):
    cipher = config.get('encryption', {}).get('cipher', 'auto')
    if cipher != 'auto' and 'pre_shared_secret' not in config.get('authentication', {}):
        yield (
            'Without a secret nothing is encrypted: set "authentication '
            'pre-shared-secret", or delete "encryption cipher".'
        )


def querier_has_snooping(config, _):
    multicast = config.get('multicast', {})
    if 'querier' in multicast and 'snooping' not in multicast:
        yield '"multicast querier" has no effect without "multicast snooping": set both.'


def mtu_is_possible(config, _):
    mtu = config.get('mtu')
    if mtu is not None and not MTU_MIN <= int(mtu) <= MTU_MAX:
        yield (
            f'MTU {mtu} is not possible: set "mtu" to {MTU_MIN} to {MTU_MAX} bytes, or '
            f'delete it and it follows the paths.'
        )


def mac_is_unicast(config, _):
    mac = config.get('mac')
    if mac is None:
        return
    octets = bytes.fromhex(mac.replace(':', ''))
    if octets[0] & 1 or not any(octets):
        yield (
            f'{mac} is not the address of an interface: set "mac" to a unicast address '
            f'such as 02:00:00:00:00:01.'
        )


def _sources_meet(a, b):
    """True if both interfaces bind a common address. Different interfaces avoid the conflict."""
    if 'source_interface' in a and 'source_interface' in b:
        return a['source_interface'] == b['source_interface']
    ours, theirs = _sources(a), _sources(b)
    return not (ours and theirs and not set(ours) & set(theirs))


def port_is_free(config, host):
    for name, other in host.other_interfaces.items():
        port = config.get('port', PORT)
        if 'disable' in other or port != other.get('port', PORT):
            continue
        if _sources_meet(config, other):
            yield (
                f'{name} receives at UDP port {port} already: set "port" to another '
                f'one, here and for this router at its peers.'
            )


# --- warnings ---


def overlay_is_open(config, _):
    if 'disable' in config.get('authentication', {}):
        yield (
            'With "authentication disable" any host on the path can read and change all '
            'frames, and any host that forges the address of a node can join: delete it '
            'and set "authentication pre-shared-secret" at all nodes.'
        )


def frames_are_encrypted(config, _):
    if 'disable' in config.get('encryption', {}):
        yield (
            'With "encryption disable" at both of two nodes, relays and networks between '
            'them can read their frames: delete it where those are not trusted and what '
            'is below does not encrypt.'
        )


def secret_can_be_hidden(config, _):
    auth = config.get('authentication', {})
    secrets = [auth.get('pre_shared_secret', ''), *listed(auth.get('accept_secret', []))]
    if any(' ' in secret for secret in secrets):
        yield (
            '"strip-private" hides a secret up to its first space and shows the rest: set '
            'secrets without spaces in "authentication".'
        )


def secret_is_long(config, _):
    secret = config.get('authentication', {}).get('pre_shared_secret', '')
    if SECRET_MIN <= len(secret) < SECRET_LONG:
        yield (
            f'A secret of fewer than {SECRET_LONG} characters can be guessed: set '
            '"authentication pre-shared-secret" to the output of "generate leon secret".'
        )


def somebody_can_join(config, _):
    secret = config.get('authentication', {}).get('pre_shared_secret')
    if not config.get('peer') and secret is None:
        yield (
            'This node has no peer and no secret, so nobody can join: set "peer" or '
            '"authentication pre-shared-secret".'
        )


def source_interface_has_identity(config, host):
    addresses = host.source_interface_addresses
    if 'source_interface' not in config or 'node_id' in config or addresses is None:
        return
    if not any(_address(text).version == 4 for text in addresses):
        yield (
            f'{config["source_interface"]} has no IPv4 address to take the node-id '
            f'from; the overlay starts when it has one. Set "node-id" not to depend on '
            f'it.'
        )


def bridge_keeps_its_mtu(config, _):
    mtu = int(config.get('mtu', MTU_ETHERNET))
    for bridge in config.get('is_bridge_member', {}):
        if mtu < MTU_ETHERNET:
            yield (
                f'{bridge} takes the smallest MTU of its members, so its hosts are cut '
                f'off at {mtu} bytes: delete "mtu" and long frames are split.'
            )


def tls_port_is_free(config, host):
    """No error, because a boot would lose an interface that works over UDP."""
    port = config.get('transport', {}).get('tls', {}).get('listen_port')
    for name, other in host.other_interfaces.items():
        theirs = other.get('transport', {}).get('tls', {}).get('listen_port')
        if port and port == theirs and 'disable' not in other and _sources_meet(config, other):
            yield (
                f'{name} listens at TCP port {port} already, so one of the two interfaces '
                f'accepts no TLS: set "transport tls listen-port" to another one, here and '
                f'as "tls-port" of this router at its peers.'
            )


ERRORS = (
    source_is_known,
    source_is_one,
    dscp_is_one,
    source_addresses,
    ipv6_underlay_has_node_id,
    node_id_is_usable,
    source_interface_is_usable,
    peer_has_address,
    peer_is_somebody_else,
    peers_differ,
    peers_are_few,
    fast_interval_is_fast,
    secret_is_set,
    secret_has_length,
    accepted_secrets_differ,
    trusted_identities_have_secret,
    capture_has_secret,
    cipher_has_secret,
    querier_has_snooping,
    mtu_is_possible,
    mac_is_unicast,
    port_is_free,
    *underlay.ERRORS,
    *routes.ERRORS,
    *metrics.ERRORS,
    *policy.ERRORS,
    *acceleration.ERRORS,
    *segments.ERRORS,
    *rates.ERRORS,
)
WARNINGS = (
    overlay_is_open,
    secret_can_be_hidden,
    secret_is_long,
    frames_are_encrypted,
    somebody_can_join,
    source_interface_has_identity,
    bridge_keeps_its_mtu,
    tls_port_is_free,
    *underlay.WARNINGS,
    *routes.WARNINGS,
    *metrics.WARNINGS,
    *policy.WARNINGS,
    *acceleration.WARNINGS,
    *segments.WARNINGS,
    *rates.WARNINGS,
)


def check(config, host=Host()):
    """All faults of a configuration. With `disable` the configuration is only stored, so the check
    port_is_free is skipped."""
    rules = [r for r in ERRORS if 'disable' not in config or r is not port_is_free]
    return Verdict(
        errors=[text for rule in rules for text in rule(config, host)],
        warnings=[text for rule in WARNINGS for text in rule(config, host)],
    )
