# SPDX-License-Identifier: GPL-2.0-or-later
"""The configuration of charon for one interface: pure functions from leond's answer to `show
ipsec` to the connections and secrets of VICI.

Each destination address of leond has a connection with a trap policy. The kernel requests keys from
charon when the first datagram for the address arrives. Another connection only responds, for
initiators that are still unknown to the node.
"""
import ipaddress
from typing import NamedTuple, Optional

# If both nodes know each other, a single node initiates, because two initiators would create every
# SA twice. The other node waits before a second attempt, in case the first node is behind a NAT.
SECOND_STARTS_AFTER_S = 4.0
TRIES = 1


class Remote(NamedTuple):
    """A destination address of leond with ports."""

    address: str
    ports: tuple
    node_id: Optional[str] = None  # None for a configured peer that has not joined


def _text_address(value):
    return str(ipaddress.ip_address(value))


def remotes(answer):
    """{address: Remote} of an answer to `show ipsec`. Several nodes behind one address share a
    Remote."""
    found = {}
    for entry in answer['endpoints']:
        address = _text_address(entry['address'])
        old = found.get(address)
        ports = {int(entry['port'])} | set(old.ports if old else ())
        node_id = entry['node_id'] or (old.node_id if old else None)
        found[address] = Remote(address, tuple(sorted(ports)), node_id)
    return found


def goes_first(own_id, remote):
    """True if the node initiates, because its node-id is lower or the node-id of the peer is
    unknown."""
    if remote.node_id is None:
        return True
    return ipaddress.ip_address(own_id) < ipaddress.ip_address(remote.node_id)


def domain(settings):
    """The part of IKE identities that separates segments."""
    return f'vni{settings.vni}.leon'


def identity(settings, own_id):
    return f'{own_id}@{domain(settings)}'


def _local(settings, own_id):
    auth = settings.authentication
    if auth.mode == 'pre-shared-secret':
        return {'auth': 'psk', 'id': identity(settings, own_id)}
    found = {'auth': 'pubkey', 'certs': [auth.certificate]}
    if auth.local_id:
        found['id'] = auth.local_id
    return found


def _remote(settings):
    auth = settings.authentication
    if auth.mode == 'pre-shared-secret':
        return {'auth': 'psk', 'id': f'*@{domain(settings)}'}
    return {'auth': 'pubkey', 'cacerts': list(auth.ca_certificates), 'id': auth.remote_id or '%any'}


def _child(settings, remote_ts, action):
    lifetime = settings.esp_lifetime
    # Both ends rekey at random times, so simultaneous rekeying is rare. The old SA remains until
    # the new SA carries traffic.
    spread = max(1, lifetime // 10)
    return {
        'mode': 'transport', 'local_ts': [f'dynamic[udp/{settings.port}]'], 'remote_ts': remote_ts,
        'esp_proposals': list(settings.esp_proposals), 'start_action': action,
        'close_action': action, 'dpd_action': 'trap' if action == 'trap' else 'clear',
        'rekey_time': str(lifetime - 2 * spread), 'life_time': str(lifetime),
        'rand_time': str(spread),
    }


def _connection(settings, own_id, remote_addrs, child):
    found = {
        'version': '2', 'remote_addrs': remote_addrs,
        'proposals': list(settings.ike_proposals),
        'encap': 'yes' if settings.force_encapsulation else 'no', 'mobike': 'no',
        # A node may have two addresses, so both SAs must be able to exist.
        'unique': 'no', 'keyingtries': str(TRIES), 'dpd_delay': str(settings.dpd_interval),
        'rekey_time': str(settings.ike_lifetime), 'over_time': str(settings.ike_lifetime // 10 + 1),
        'rand_time': str(settings.ike_lifetime // 10 + 1),
        'local': _local(settings, own_id), 'remote': _remote(settings),
        'children': {child[0]: child[1]},
    }
    if settings.sources:
        found['local_addrs'] = list(settings.sources)
    return found


def _of_family(addresses, address):
    version = ipaddress.ip_address(address).version
    return [a for a in addresses if ipaddress.ip_address(a).version == version]


def prefix(settings):
    return f'{settings.interface}-'


def is_ours(settings, name):
    """False for connections of an interface such as `leon0-b` beside `leon0`."""
    rest = name.removeprefix(prefix(settings))
    try:
        return rest != name and (rest == 'any' or bool(ipaddress.ip_address(rest)))
    except ValueError:
        return False


def connection_name(settings, address):
    return prefix(settings) + address


def answering_name(settings):
    return prefix(settings) + 'any'


def answering(settings, own_id):
    child = _child(settings, ['dynamic[udp]'], 'none')
    return _connection(settings, own_id, ['%any'], (answering_name(settings), child))


def starting(settings, own_id, remote):
    name = connection_name(settings, remote.address)
    child = _child(settings, [f'dynamic[udp/{port}]' for port in remote.ports], 'trap')
    found = _connection(settings, own_id, [remote.address], (name, child))
    if settings.sources:
        found['local_addrs'] = _of_family(settings.sources, remote.address)
    return found


def wanted(settings, own_id, known, ready):
    """{name: connection} of the desired connections. `ready(remote)` is true if the node may
    initiate."""
    found = {answering_name(settings): answering(settings, own_id)}
    for remote in known.values():
        if settings.sources and not _of_family(settings.sources, remote.address):
            continue
        if ready(remote):
            found[connection_name(settings, remote.address)] = starting(settings, own_id, remote)
    return found


def secret_id(settings):
    return f'{settings.interface}-ike'


def shared_secret(settings):
    """Argument of load-shared. The secret belongs to identities of the segment, so no other
    connection of the host uses the secret."""
    return {'id': secret_id(settings), 'type': 'IKE', 'data': settings.authentication.secret,
            'owners': [f'*@{domain(settings)}']}


class Sa(NamedTuple):
    """An IKE SA of the interface in charon."""

    name: str
    unique_id: str
    address: str
    established: bool
    protects: bool  # has a pair of ESP SAs with traffic


def sas(settings, events):
    """The SAs of list-sas for the interface."""
    found = []
    for event in events:
        for name, sa in event.items():
            if not is_ours(settings, name) or not isinstance(sa, dict):
                continue
            children = sa.get('child-sas', {}).values()
            found.append(Sa(name, sa.get('uniqueid', ''), sa.get('remote-host', ''),
                            sa.get('state') == 'ESTABLISHED',
                            any(c.get('state') in ('INSTALLED', 'REKEYING', 'REKEYED')
                                for c in children)))
    return found
