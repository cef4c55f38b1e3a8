# SPDX-License-Identifier: GPL-2.0-or-later
"""The firewall table that passes LEON's datagrams only inside IPsec.

IPsec alone fails open: if charon is stopped or has not loaded a connection, the kernel has no
policy and sends unprotected datagrams. The table depends neither on charon nor on the manager. The
table exists before the first packet of leond and stays until IPsec is removed from the
configuration. The rules match the port of leond, and the configured addresses of leond.

The ICMP rules drop errors that would quote a decrypted datagram. Bytes 20 and up of an ICMP error
are the quoted UDP header, behind 8 bytes of ICMP and 20 of IPv4 (40 of IPv6). A quoted datagram to
the node has the port of leond as destination.
"""
import ipaddress
import re
import subprocess

ICMP4 = 'icmp type { destination-unreachable, time-exceeded, parameter-problem }'
ICMP6 = 'icmpv6 type { destination-unreachable, packet-too-big, time-exceeded, parameter-problem }'


class GuardError(Exception):
    """nft refused; the text is one sentence."""


def table_name(interface):
    """Quotes an interface name, which may contain characters with a meaning for nft. The name of a
    table may contain a slash, and the name of an interface may not."""
    return 'leon_ipsec_' + re.sub('[^A-Za-z0-9_.-]', lambda c: f'/{ord(c[0]):x}/', interface)


def _families(settings):
    """[('ip', addresses), ('ip6', addresses)]; None as addresses means the whole family."""
    if not settings.sources:
        return [(None, None)]
    by_version = {4: [], 6: []}
    for text in settings.sources:
        address = ipaddress.ip_address(text)
        by_version[address.version].append(str(address))
    return [(family, ', '.join(by_version[version]))
            for family, version in (('ip', 4), ('ip6', 6)) if by_version[version]]


def _drops(settings):
    """The rules of output and of input."""
    port, out, into = settings.port, [], []
    for family, addresses in _families(settings):
        source = f'{family} saddr {{ {addresses} }} ' if family else ''
        destination = f'{family} daddr {{ {addresses} }} ' if family else ''
        out.append(f'{source}udp sport {port} rt ipsec missing counter drop')
        into.append(f'{destination}udp dport {port} meta ipsec missing counter drop')
    out += [f'{ICMP4} @th,240,16 {port} rt ipsec missing counter drop',
            f'{ICMP6} @th,400,16 {port} rt ipsec missing counter drop']
    return out, into


def rules(settings, uses=None):
    """Input of nft: replaces the table atomically. A running leond uses the former port and
    addresses until the restart. `leon-ipsec guard` then removes the former rules before the
    start."""
    name = table_name(settings.interface)
    chains = zip(_drops(settings), _drops(uses or settings))
    out, into = (dict.fromkeys(ours + theirs) for ours, theirs in chains)
    lines = [f'table inet {name}', f'delete table inet {name}', f'table inet {name} {{',
             '\tchain out {', '\t\ttype filter hook output priority 0; policy accept;',
             *[f'\t\t{rule}' for rule in out], '\t}',
             '\tchain in {', '\t\ttype filter hook input priority -10; policy accept;',
             *[f'\t\t{rule}' for rule in into], '\t}', '}']
    return '\n'.join(lines) + '\n'


def _run(*arguments, text=None):
    try:
        return subprocess.run(['nft', *arguments], input=text, text=True, capture_output=True,
                              check=False, timeout=30)
    except (OSError, subprocess.TimeoutExpired) as e:
        raise GuardError(f'nft cannot be run: {e}') from None


def _nft(text):
    result = _run('-f', '-', text=text)
    if result.returncode != 0:
        raise GuardError(f'nft refuses the guard: {result.stderr.strip()}')


def is_installed(interface):
    """`nft flush ruleset` removes the tables of all programs, and `nft flush table` the rules."""
    result = _run('list', 'table', 'inet', table_name(interface))
    if result.returncode != 0 and 'No such file' not in result.stderr:
        raise GuardError(f'nft cannot list the guard: {result.stderr.strip()}')
    return result.returncode == 0 and ' drop\n' in result.stdout


def install(settings, uses=None):
    _nft(rules(settings, uses))


def remove(interface):
    name = table_name(interface)
    _nft(f'table inet {name}\ndelete table inet {name}\n')
