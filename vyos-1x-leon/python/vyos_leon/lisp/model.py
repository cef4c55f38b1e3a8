# SPDX-License-Identifier: GPL-2.0-or-later
"""Conversion of the VyOS configuration to the document of leon-lisp. Conversion of the document
and the LEON prefixes to the variables of the template for OOR."""

import ipaddress

from vyos_leon.routes import listed

VERSION = 1
# TTL in minutes of a mapping of prefixes that LEON may move to another node.
TTL_MOVING = 1
TTL = 10
LAST_PRIORITY = 254


def _number(words, word, otherwise):
    return int(words.get(word, otherwise))


def _ranked(words):
    """Locators and proxies in the order of the addresses, so equal content gives an equal
    document."""
    return [
        {
            'address': address,
            'priority': _number(of, 'priority', 1),
            'weight': _number(of, 'weight', 100),
        }
        for address, of in sorted(words.items())
    ]


def _network(text):
    return str(ipaddress.ip_network(text, strict=False))


def _overlays(site):
    return [
        {
            'interface': interface,
            'nodes': {
                node: sorted(listed(of.get('locator', [])))
                for node, of in sorted(words.get('node', {}).items())
            },
        }
        for interface, words in sorted(site.get('redistribute', {}).get('leon', {}).items())
    ]


def build(lisp):
    """The document."""
    servers = lisp.get('map_server', {})
    return {
        'version': VERSION,
        'role': lisp.get('role', 'xtr'),
        'encapsulation': lisp.get('encapsulation', 'lisp'),
        'instance_id': _number(lisp, 'instance_id', 0),
        'locators': _ranked(lisp.get('locator', {})),
        'map_servers': [
            {'address': address, 'proxy_reply': 'proxy_reply' in of}
            for address, of in sorted(servers.items())
        ],
        # As in lixy, which had map servers only.
        'map_resolvers': sorted(listed(lisp.get('map_resolver', []))) or sorted(servers),
        'proxy_etrs': _ranked(lisp.get('proxy_etr', {})),
        'sites': [
            {
                'name': name,
                'key': site['authentication_key'],
                'accept_more_specifics': 'accept_more_specifics' in site,
                'prefixes': sorted(_network(p) for p in listed(site.get('prefix', []))),
                'overlays': _overlays(site),
            }
            for name, site in sorted(lisp.get('site', {}).items())
        ],
    }


def _own(document, rank):
    return [
        {**of, 'priority': min(of['priority'] + rank, LAST_PRIORITY), 'local': True}
        for of in document['locators']
    ]


def _configured(document):
    for site in document['sites']:
        for prefix in site['prefixes']:
            yield {
                'prefix': prefix,
                'site': site['name'],
                'source': 'configured',
                'ttl': TTL,
                # A map server only accepts the prefixes. The routers register the locators.
                'locators': _own(document, 0) if document['role'] == 'xtr' else [],
            }


def _overlaps(network, others):
    return any(
        network.version == other.version and network.overlaps(other) for other in others
    )


def _underlay(document):
    """Addresses that no prefix of a site contains, as verify.py demands of configured prefixes."""
    texts = [of['address'] for of in document['locators'] + document['map_servers']]
    return [ipaddress.ip_network(text) for text in texts + document['map_resolvers']]


def _from_overlay(document, site, overlay, ranks):
    """ranks: prefix -> {node-id, or None for the local node: rank}. The widest prefix is first."""
    for prefix in sorted(ranks, key=lambda p: (ipaddress.ip_network(p).prefixlen, p)):
        rank_of = ranks[prefix]
        locators = _own(document, rank_of[None])
        for node, addresses in overlay['nodes'].items():
            if node in rank_of:
                locators += [
                    {
                        'address': address,
                        'priority': min(1 + rank_of[node], LAST_PRIORITY),
                        'weight': 100,
                        'local': False,
                    }
                    for address in addresses
                ]
        yield {
            'prefix': prefix,
            'site': site['name'],
            'source': overlay['interface'],
            'ttl': TTL_MOVING,
            'locators': locators,
        }


def mappings(document, ranks_of, missing=()):
    """The mappings for registration. ranks_of: interface -> prefix -> ranks, see overlay.py. A
    LEON prefix that overlaps an existing prefix is left out, because OOR does not support
    overlaps. The default route is left out, because OOR would capture all packets of the router.
    The site uses its other locators while one is missing. The router may still have its address.
    """
    underlay = _underlay(document)
    present = [of for of in document['locators'] if of['address'] not in missing]
    document = {**document, 'locators': present}
    found = list(_configured(document))
    if document['role'] != 'xtr':
        return found
    taken = underlay + [ipaddress.ip_network(m['prefix']) for m in found]
    for site in document['sites']:
        for overlay in site['overlays']:
            for mapping in _from_overlay(
                document, site, overlay, ranks_of.get(overlay['interface'], {})
            ):
                network = ipaddress.ip_network(mapping['prefix'])
                if network.prefixlen and not _overlaps(network, taken):
                    taken.append(network)
                    found.append(mapping)
    return found


def oor(document, found, interface):
    """Variables of the template. interface: the interface with the locators, for a map server."""
    return {
        **document,
        'mappings': found,
        'control_interface': interface,
        'key': document['sites'][0]['key'] if document['sites'] else '',
    }
