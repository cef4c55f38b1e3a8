# SPDX-License-Identifier: GPL-2.0-or-later
"""Policy rules around OOR: what it needs and does not make, and what it may leave behind.

OOR sends from a locator by a table that has nothing but the default route of the
locator's interface (table and rule 10 + the interface's number). A router or map server
on the same link, or behind any other route, is then asked of the default gateway, which
may not know the way back or drop it. And it takes everything that a site sends, also to
networks that this router has routes to, LEON's among them.

Both are cured by one kind of rule, ahead of OOR's: what the main table knows better than
by a default route goes there.

    9    from LOCATOR lookup main suppress_prefixlength 0       ours
    12   from LOCATOR lookup 12                                 OOR's, its default gateway
    98   from SITE lookup main suppress_prefixlength 0          ours
    99   to SITE lookup main                                    OOR's
    100  from SITE lookup 100                                   OOR's, to lispTun0

OOR removes its rules where it ends in order. Where it is killed they would lead the
traffic of the sites to a device that is gone: leftovers() finds them all by what they
are, whoever made them.
"""

import ipaddress
from typing import NamedTuple

ON_LINK = 9
TABLE_OF_INTERFACE = 10
NATIVE, TO_SITES, TABLE_OF_SITES = 98, 99, 100
DEVICE = 'lispTun0'


class Rule(NamedTuple):
    family: int
    priority: int
    source: str
    table: str

    def words(self, verb):
        """One line for `ip -batch` of its family."""
        return (
            f'rule {verb} pref {self.priority} from {self.source} '
            f'lookup {self.table} suppress_prefixlength 0'
        )


def _family(text):
    return ipaddress.ip_network(text, strict=False).version


def wanted(locators, prefixes):
    """Rules of ours: locators of this router, prefixes of its sites."""
    found = [Rule(_family(a), ON_LINK, a, 'main') for a in locators]
    found += [Rule(_family(p), NATIVE, p, 'main') for p in prefixes]
    return found


def _number(rule, word):
    """Tables have names in `ip -json`, and priorities are numbers."""
    text = str(rule.get(word, ''))
    return int(text) if text.isdigit() else text


def _address(rule, word):
    """'10.0.0.0/8', or an address alone as `ip` prints it; '' where the rule has none."""
    text = rule.get(word, 'all')
    if text == 'all':
        return ''
    length = rule.get(f'{word}len')
    return text if length is None else f'{text}/{length}'


def _is_left(rule, locators, prefixes):
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
    return source in locators and priority == table


def _plain(texts):
    """Host prefixes as `ip` prints them, without a length."""
    found = set()
    for text in texts:
        network = ipaddress.ip_network(text, strict=False)
        whole = network.prefixlen == network.max_prefixlen
        found.add(str(network.network_address) if whole else str(network))
    return found


def leftovers(present, locators, prefixes):
    """`ip -batch` lines that remove what is left. present: `ip -json rule` of the family."""
    locators, prefixes = _plain(locators), _plain(prefixes)
    lines = []
    for rule in present:
        if not _is_left(rule, locators, prefixes):
            continue
        source, target = _address(rule, 'src'), _address(rule, 'dst')
        words = f'rule del pref {rule["priority"]}'
        words += f' from {source}' if source else ''
        words += f' to {target}' if target else ''
        lines.append(f'{words} lookup {_number(rule, "table")}')
        if rule['priority'] == _number(rule, 'table'):
            # Nobody else's by the rules of verify(): OOR's default route in it.
            lines.append(f'route flush table {rule["priority"]}')
    return lines
