# SPDX-License-Identifier: GPL-2.0-or-later
"""`interfaces leon leonN metrics`: the address for Prometheus, the rules, and the file of one line
for leon-metrics@leonN.service.

The directory belongs to root, because the file is the environment of a process.
"""

import contextlib
import ipaddress
import os

RUN_DIR = '/run/leon-metrics'
# The default of the unit: a TCP port, while the overlay uses UDP.
PORT = '5366'


def unit(interface):
    return f'leon-metrics@{interface}.service'


def path(interface):
    return f'{RUN_DIR}/{interface}'


def _where(config):
    """(address, port), or None if metrics are not served or the address is invalid."""
    found = config.get('metrics', {})
    try:
        address = ipaddress.ip_address(found.get('listen_address', ''))
    except ValueError:
        return None
    return address, found.get('port', PORT)


def address(config):
    """The address that one interface must have; None for all addresses, or without metrics."""
    found = _where(config)
    return None if found is None or found[0].is_unspecified else str(found[0])


def _clash(ours, theirs):
    """True if the kernel would refuse the second address. :: also occupies the port of IPv4."""
    (a, port_a), (b, port_b) = ours, theirs
    if port_a != port_b:
        return False
    return a == b or any(
        one.is_unspecified and (one.version == 6 or other.version == 4)
        for one, other in ((a, b), (b, a))
    )


# --- errors ---


def has_address(config, _):
    if 'metrics' in config and 'listen_address' not in config['metrics']:
        yield (
            'Metrics have no address to be fetched at: set "metrics listen-address" to '
            'one of this router that only Prometheus reaches, or delete "metrics".'
        )


def port_is_unprivileged(config, host):
    port = config.get('metrics', {}).get('port', PORT)
    if int(port) < host.first_port:
        yield (
            f'Metrics are served by a process without privileges, and TCP port {port} '
            f'needs one: set "metrics port" to {host.first_port} or higher.'
        )


def place_is_free(config, host):
    ours = None if 'disable' in config else _where(config)
    for name, other in host.other_interfaces.items():
        theirs = _where(other)
        if ours and theirs and 'disable' not in other and _clash(ours, theirs):
            yield (
                f'{name} serves its metrics at TCP port {theirs[1]} of that address '
                f'already: set "metrics port" to another one.'
            )


ERRORS = (has_address, port_is_unprivileged, place_is_free)


# --- warnings ---


def reached_by_all(config, _):
    where = _where(config)
    if where and where[0].is_unspecified:
        yield (
            f'Metrics are served at every address of this router, to whoever asks: set '
            f'"metrics listen-address" to one that only Prometheus reaches, or let the '
            f'firewall see to it at TCP port {where[1]}.'
        )


WARNINGS = (reached_by_all,)


# --- the file ---


def text(config):
    """The content of the file, or None if nothing is served."""
    where = _where(config)
    if where is None:
        return None
    address, port = where
    host = f'[{address}]' if address.version == 6 else str(address)
    return f'LISTEN={host}:{port}\n'


def is_served(interface):
    return os.path.exists(path(interface))


def replace(interface, wanted):
    """Writes the file, or removes the file for None. True if the file changed."""
    file = path(interface)
    try:
        with open(file, encoding='utf-8') as present:
            before = present.read()
    except FileNotFoundError:
        before = None
    if before == wanted:
        return False
    if wanted is None:
        with contextlib.suppress(FileNotFoundError):
            os.unlink(file)
        return True
    os.makedirs(RUN_DIR, mode=0o755, exist_ok=True)
    with open(f'{file}.new', 'w', encoding='utf-8') as fresh:
        fresh.write(wanted)
    os.replace(f'{file}.new', file)
    return True
