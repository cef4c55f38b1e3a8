# SPDX-License-Identifier: GPL-2.0-or-later
"""Policy rules around OOR: rules that OOR needs and does not create, and rules that remain.

OOR sends from a locator by a table with only the default route of the interface (table and rule 10
+ the number of the interface). Packets to a router or map server on the same link, or behind
another route, go to the default gateway, which may drop the packets. OOR also intercepts all
traffic of a site, including traffic to networks with a route on the router.

One kind of rule ahead of the OOR rules repairs both. A destination with a more specific route in
the main table than the default route uses the main table.

    9    from LOCATOR lookup main suppress_prefixlength 0       ours
    12   from LOCATOR lookup 12                                 OOR's, its default gateway
    98   from SITE lookup main suppress_prefixlength 0          ours
    99   to SITE lookup main                                    OOR's
    100  from SITE lookup 100                                   OOR's, to lispTun0

OOR removes its rules at a regular end. If OOR is killed, the rules would lead the traffic of the
sites to a missing device. leftovers() finds all remaining rules by content.
"""

import ipaddress
from typing import NamedTuple

ON_LINK = 9
TABLE_OF_INTERFACE = 10
NATIVE, TO_SITES, TABLE_OF_SITES = 98, 99, 100
# The kernel owns tables 253 to 255, and OOR has 8-bit numbers.
LAST_TABLE = 252
DEVICE = 'lispTun0'
GLOBAL_IPV6 = ipaddress.ip_network('2000::/3')


def locators(addresses):
    """IP version -> address that OOR uses of an interface: the last in the order of `ip`."""
    found = [ipaddress.ip_address(text) for text in addresses]
    found = [a for a in found if not a.is_link_local and (a.version == 4 or a in GLOBAL_IPV6)]
    return {a.version: str(a) for a in found}


def has_table(index):
    """Whether OOR can use the interface with this number."""
    table = TABLE_OF_INTERFACE + index
    return table <= LAST_TABLE and table not in (TO_SITES, TABLE_OF_SITES)


class Rule(NamedTuple):
    family: int
    priority: int
    source: str
    table: str

    def words(self, verb):
        """A line for `ip -batch` of the address family of the rule."""
        return (
            f'rule {verb} pref {self.priority} from {self.source} '
            f'lookup {self.table} suppress_prefixlength 0'
        )


def _family(text):
    return ipaddress.ip_network(text, strict=False).version


def wanted(locators, prefixes):
    """The rules of leon-lisp for locators of the router and prefixes of the sites."""
    found = [Rule(_family(a), ON_LINK, a, 'main') for a in locators]
    found += [Rule(_family(p), NATIVE, p, 'main') for p in prefixes]
    return found


def _number(rule, word):
    """Tables are texts in `ip -json`, and priorities are numbers."""
    text = str(rule.get(word, ''))
    return int(text) if text.isdigit() else text


def _address(rule, word):
    """'10.0.0.0/8', or a single address as `ip` prints; '' for a rule without an address."""
    text = rule.get(word, 'all')
    if text == 'all':
        return ''
    length = rule.get(f'{word}len')
    return text if length is None else f'{text}/{length}'


def _is_left(rule, locators, prefixes, tables):
    priority, table = rule.get('priority'), _number(rule, 'table')
    source, target = _address(rule, 'src'), _address(rule, 'dst')
    main = table in ('main', 254)
    if priority == ON_LINK:
        return source in locators and main
    if priority == NATIVE:
        return source in prefixes and main
    if priority == TO_SITES:
        return target in prefixes and main
    if priority == TABLE_OF_SITES:
        return source in prefixes and table == TABLE_OF_SITES
    # OOR may have taken another address of the interface for its locator.
    return priority == table and table in tables


def _plain(texts):
    """Host prefixes as `ip` prints, without a length."""
    found = set()
    for text in texts:
        network = ipaddress.ip_network(text, strict=False)
        whole = network.prefixlen == network.max_prefixlen
        found.add(str(network.network_address) if whole else str(network))
    return found


def leftovers(present, locators, prefixes, tables):
    """`ip -batch` lines for the removal of remaining rules. present: `ip -json rule` of the
    family. tables: those of OOR for interfaces."""
    locators, prefixes = _plain(locators), _plain(prefixes)
    lines = []
    for rule in present:
        if not _is_left(rule, locators, prefixes, tables):
            continue
        source, target = _address(rule, 'src'), _address(rule, 'dst')
        words = f'rule del pref {rule["priority"]}'
        words += f' from {source}' if source else ''
        words += f' to {target}' if target else ''
        lines.append(f'{words} lookup {_number(rule, "table")}')
        if rule['priority'] == _number(rule, 'table'):
            # verify() refuses another use of the table, so the table has only the default route of
            # OOR.
            lines.append(f'route flush table {rule["priority"]}')
    return lines
