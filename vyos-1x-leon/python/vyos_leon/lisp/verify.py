# SPDX-License-Identifier: GPL-2.0-or-later
"""Rules of `protocols lisp`: a function for each rule, and a sentence with the remedy for each
fault. Many rules cover limits of OOR that OOR does not report.

Rules read the dictionary of VyOS (strings, underscores) and the state of the router. Rules change
nothing and send no queries.
"""

import ipaddress
from typing import NamedTuple, Optional

from vyos_leon.lisp import rules as policy
from vyos_leon.routes import listed
from vyos_leon.verify import Verdict

XTR, MAP_SERVER = 'xtr', 'map-server'


class Interface(NamedTuple):
    """An interface with a locator."""

    name: str
    index: int
    # In the order of `ip`.
    addresses: tuple
    vrf: Optional[str] = None


class Host(NamedTuple):
    """The state of the router, collected by verify() of the configuration script."""

    # Locator -> Interface, without locators that no interface has.
    interfaces: dict = {}
    # Names under `interfaces leon` that are not disabled.
    leon: tuple = ()
    # Static tables and VRFs: the words of the configuration -> number of the routing table.
    tables: dict = {}
    # Numbers of `policy local-route rule` and `policy local-route6 rule`.
    local_rules: tuple = ()
    source_validation: Optional[str] = None
    # False if the package openoverlayrouter is not installed.
    has_oor: bool = True


def prefixes(lisp):
    """(site, network) of all configured prefixes."""
    for name, site in lisp.get('site', {}).items():
        for text in listed(site.get('prefix', [])):
            yield name, ipaddress.ip_network(text, strict=False)


def overlays(lisp):
    """(site, interface, words) of all prefixes from LEON."""
    for name, site in lisp.get('site', {}).items():
        for interface, words in site.get('redistribute', {}).get('leon', {}).items():
            yield name, interface, words


def _is(lisp, role):
    return lisp.get('role', XTR) == role


# --- errors ---


def oor_is_installed(_, host):
    if not host.has_oor:
        yield (
            'LISP is spoken by Open Overlay Router, which is not installed: install the '
            'package openoverlayrouter.'
        )


def locator_is_known(lisp, _):
    if not lisp.get('locator'):
        yield (
            'There is no address to receive encapsulated packets at: set "locator" to an '
            'address of this router.'
        )


def locator_is_usable(lisp, _):
    for text in lisp.get('locator', {}):
        address = ipaddress.ip_address(text)
        if address.version == 6 and address not in policy.GLOBAL_IPV6:
            yield (
                f'Open Overlay Router takes locators from 2000::/3 only: set another '
                f'"locator" than {text}.'
            )
        elif address.version == 4 and (
            address.is_unspecified or address.is_multicast or address.is_loopback
        ):
            yield f'No other router can send to {text}: set "locator" to another address.'


def locator_is_last(lisp, host):
    """A map server receives at all addresses of its interface."""
    if _is(lisp, MAP_SERVER):
        return
    for text in lisp.get('locator', {}):
        interface = host.interfaces.get(text)
        if interface is None:
            continue
        version = ipaddress.ip_address(text).version
        last = policy.locators(interface.addresses).get(version, text)
        if last != text:
            yield (
                f'Open Overlay Router uses one IPv{version} address of an interface, on '
                f'{interface.name} it is {last}: set that as "locator" instead of {text}.'
            )


def locator_is_in_no_vrf(lisp, host):
    for text in lisp.get('locator', {}):
        interface = host.interfaces.get(text)
        if interface and interface.vrf:
            yield (
                f'Open Overlay Router knows no VRF, and {interface.name} with {text} is in '
                f'{interface.vrf}: set "locator" to an address outside of it.'
            )


def tables_are_free(lisp, host):
    taken = {policy.TABLE_OF_SITES: 'sites'}
    for text in lisp.get('locator', {}):
        interface = host.interfaces.get(text)
        if interface is None:
            continue
        if not policy.has_table(interface.index):
            yield (
                f'{interface.name} has the number {interface.index}, for which Open Overlay '
                f'Router has no routing table: reboot, or set "locator" to an address of '
                f'another interface.'
            )
        taken[policy.TABLE_OF_INTERFACE + interface.index] = interface.name
    if _is(lisp, MAP_SERVER):
        del taken[policy.TABLE_OF_SITES]
    for words, table in host.tables.items():
        if table in taken:
            yield (
                f'Open Overlay Router uses routing table {table} for {taken[table]}: move '
                f'"{words}" to another table.'
            )


def local_rules_are_others(lisp, host):
    ours = {policy.NATIVE, policy.TO_SITES, policy.TABLE_OF_SITES, policy.ON_LINK}
    for number in sorted(ours & {int(n) for n in host.local_rules}):
        yield (
            f'LISP uses the policy rule {number} itself: give "policy local-route rule '
            f'{number}" another number.'
        )


def site_exists(lisp, _):
    if not lisp.get('site'):
        yield 'LISP has nothing to do without a site: set "site NAME prefix".'
    for name, site in lisp.get('site', {}).items():
        if not listed(site.get('prefix', [])) and not site.get('redistribute', {}).get('leon'):
            yield (
                f'Site "{name}" has no prefix: set "site {name} prefix", or "site {name} '
                f'redistribute leon".'
            )
        if 'authentication_key' not in site:
            yield (
                f'Site "{name}" has no key: set "site {name} authentication-key" to that of '
                f'the map server.'
            )


def keys_are_one(lisp, _):
    """OOR has a key for each map server, not for each prefix."""
    if not _is(lisp, XTR):
        return
    keys = {}
    for name, site in sorted(lisp.get('site', {}).items()):
        keys.setdefault(site.get('authentication_key'), name)
    keys.pop(None, None)
    if len(keys) > 1:
        a, b = sorted(keys.values())[:2]
        yield (
            f'Open Overlay Router registers all sites with one key, and sites "{a}" and '
            f'"{b}" have two: set the same "authentication-key".'
        )


def prefixes_do_not_overlap(lisp, _):
    found = sorted(prefixes(lisp), key=lambda p: (p[1].version, p[1]))
    for (site_a, a), (site_b, b) in zip(found, found[1:]):
        if a == b:
            yield f'Sites "{site_a}" and "{site_b}" both have {a}: delete one of them.'
        elif _is(lisp, XTR) and a.version == b.version and a.overlaps(b):
            yield (
                f'Open Overlay Router has no prefixes inside others, and {b} of site '
                f'"{site_b}" is inside {a} of site "{site_a}": delete one of them.'
            )


def prefixes_are_not_default(lisp, _):
    for name, network in prefixes(lisp):
        if network.prefixlen == 0:
            yield (
                f'Site "{name}" cannot be the whole Internet: set the prefixes of this '
                f'site, and "proxy-etr" for destinations outside LISP.'
            )


def locator_is_outside_sites(lisp, _):
    words = [('locator', a) for a in lisp.get('locator', {})]
    words += [('map-server', a) for a in lisp.get('map_server', {})]
    words += [('map-resolver', a) for a in listed(lisp.get('map_resolver', []))]
    for name, network in prefixes(lisp):
        for word, text in words:
            address = ipaddress.ip_address(text)
            if address.version == network.version and address in network:
                yield (
                    f'{text} is inside {network} of site "{name}", so what is sent to it '
                    f'would be encapsulated again: set "{word}" to an address of the '
                    f'underlay.'
                )


def xtr_registers(lisp, _):
    if _is(lisp, XTR) and not lisp.get('map_server'):
        yield 'A tunnel router registers its sites: set "map-server".'


def map_server_is_only_that(lisp, _):
    if not _is(lisp, MAP_SERVER):
        return
    for word in ('map_server', 'map_resolver', 'proxy_etr'):
        if lisp.get(word):
            yield (
                f'Open Overlay Router is a tunnel router or a map server, not both: delete '
                f'"{word.replace("_", "-")}", or set "role xtr" here and the map server up '
                f'elsewhere.'
            )
    for name, _, _ in overlays(lisp):
        yield (
            f'A map server registers nothing: delete "site {name} redistribute", and set it '
            f'at the tunnel router.'
        )


def map_server_has_one_interface(lisp, host):
    if not _is(lisp, MAP_SERVER):
        return
    names = sorted({i.name for i in host.interfaces.values()})
    if len(names) > 1:
        yield (
            f'Open Overlay Router serves mappings at one interface, and the locators are on '
            f'{" and ".join(names)}: keep those of one.'
        )


def more_specifics_are_served(lisp, _):
    for name, site in lisp.get('site', {}).items():
        if 'accept_more_specifics' in site and _is(lisp, XTR):
            yield (
                f'A tunnel router accepts no registrations: delete "site {name} '
                f'accept-more-specifics", or set "role map-server".'
            )


def overlays_exist(lisp, host):
    for name, interface, _ in overlays(lisp):
        if interface not in host.leon:
            yield (
                f'Site "{name}" takes prefixes from {interface}, which does not exist or is '
                f'disabled: set "interfaces leon {interface}".'
            )


def nodes_have_locators(lisp, _):
    for name, interface, words in overlays(lisp):
        for node, of in words.get('node', {}).items():
            where = f'site {name} redistribute leon {interface} node {node}'
            found = listed(of.get('locator', []))
            if not found:
                yield f'Node {node} has no locator: set "{where} locator".'
            spelled = {str(ipaddress.ip_address(text)) for text in found}
            for text in spelled & set(lisp.get('locator', {})):
                yield (
                    f'{text} is a locator of this router: set "{where} locator" to that of '
                    f'the other node.'
                )


def source_validation_lets_pass(lisp, host):
    if _is(lisp, XTR) and host.source_validation == 'strict':
        yield (
            'Strict source validation drops what LISP brings from other sites: set "firewall '
            'global-options source-validation" to loose or disable.'
        )


# --- warnings ---


def locator_is_here(lisp, host):
    for text in lisp.get('locator', {}):
        if text not in host.interfaces:
            yield f'No interface has {text}; LISP waits for it.'


def overlay_is_in_one_site(lisp, _):
    taken = {}
    for name, interface, _ in overlays(lisp):
        first = taken.setdefault(interface, name)
        if first != name:
            yield (
                f'Site "{first}" registers the prefixes of {interface}, so site "{name}" has none '
                f'of them: delete "site {name} redistribute leon {interface}".'
            )


def nodes_agree_on_locators(lisp, _):
    """The other nodes have no words for the priority and weight of a locator of this router."""
    if not any(words.get('node') for _, _, words in overlays(lisp)):
        return
    for text, of in lisp.get('locator', {}).items():
        if (of.get('priority', '1'), of.get('weight', '100')) != ('1', '100'):
            yield (
                f'The other nodes register {text} with priority 1 and weight 100, and the map '
                f'server keeps the last registration: delete "locator {text} priority" and '
                f'"locator {text} weight".'
            )


# About the configuration alone.
ERRORS = (
    locator_is_known, locator_is_usable, local_rules_are_others, site_exists, keys_are_one,
    prefixes_do_not_overlap, prefixes_are_not_default, locator_is_outside_sites,
    xtr_registers, map_server_is_only_that, more_specifics_are_served, nodes_have_locators,
    source_validation_lets_pass,
)  # fmt: skip
# Rules about the present state of the router. No error at a boot, which would lose the
# configuration.
FAULTS_OF_THE_HOST = (
    oor_is_installed, locator_is_last, locator_is_in_no_vrf, tables_are_free,
    map_server_has_one_interface, overlays_exist,
)  # fmt: skip
WARNINGS = (locator_is_here, overlay_is_in_one_site, nodes_agree_on_locators)


def check(lisp, host, booted=True):
    """Verdict on a configuration. Operator input never raises another exception."""

    def said(functions):
        return [text for function in functions for text in function(lisp, host)]

    faults = said(FAULTS_OF_THE_HOST)
    errors, warnings = said(ERRORS), said(WARNINGS)
    return Verdict(errors + faults, warnings) if booted else Verdict(errors, warnings + faults)
