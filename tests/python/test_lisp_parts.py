# SPDX-License-Identifier: GPL-2.0-or-later
"""`protocols lisp` without a router: rules of verify, configuration of OOR (golden files), policy
rules, messages from the log of OOR, and evaluation of LEON answers.

After a change of the template:
    LEON_WRITE_GOLDEN=1 python3 -m pytest tests/python/test_lisp_parts.py
and read the difference before the commit.
"""

import json
import os
import re
import select
import time
from pathlib import Path
from types import SimpleNamespace

import pytest
from vyos.template import render_to_string
from vyos_leon.lisp import manager, model, overlay, process, rules, state, verify

TOP = Path(__file__).resolve().parents[2]
GOLDEN = Path(__file__).parent / 'golden'


def site(*prefixes, **words):
    return {'authentication_key': 'sesame', 'prefix': list(prefixes), **words}


def xtr(**words):
    return {
        'role': 'xtr',
        'encapsulation': 'lisp',
        'locator': {'192.0.2.11': {'priority': '1', 'weight': '100'}},
        'map_server': {'198.51.100.1': {}},
        'site': {'tokyo': site('10.1.0.0/16')},
        **words,
    }


def served(**words):
    return {
        'role': 'map-server',
        'locator': {'192.0.2.11': {}},
        'site': {'tokyo': site('10.1.0.0/16')},
        **words,
    }


def from_leon(**nodes):
    return {'tokyo': site(redistribute={'leon': {'leon0': {'node': nodes} if nodes else {}}})}


ETH0 = verify.Interface('eth0', 2, ('192.0.2.11', '2001:db8::11'))


def host(**words):
    return verify.Host(**{'interfaces': {'192.0.2.11': ETH0}, 'leon': ('leon0',), **words})


def on(**words):
    return host(interfaces={'192.0.2.11': ETH0._replace(**words)})


# --- verify ---

ERRORS = {
    'no package': (
        xtr(), host(has_oor=False),
        'LISP is spoken by Open Overlay Router, which is not installed: install the package '
        'openoverlayrouter.',
    ),
    'no locator': (
        xtr(locator={}), host(),
        'There is no address to receive encapsulated packets at: set "locator" to an address of '
        'this router.',
    ),
    'a private IPv6 locator': (
        xtr(locator={'fd00::1': {}}), host(),
        'Open Overlay Router takes locators from 2000::/3 only: set another "locator" than '
        'fd00::1.',
    ),
    'a locator of nobody': (
        xtr(locator={'127.0.0.1': {}}), host(),
        'No other router can send to 127.0.0.1: set "locator" to another address.',
    ),
    'the second address': (
        xtr(), on(addresses=('192.0.2.11', '192.0.2.10')),
        'Open Overlay Router uses one IPv4 address of an interface, on eth0 it is 192.0.2.10: set '
        'that as "locator" instead of 192.0.2.11.',
    ),
    'a VRF': (
        xtr(), on(vrf='red'),
        'Open Overlay Router knows no VRF, and eth0 with 192.0.2.11 is in red: set "locator" to '
        'an address outside of it.',
    ),
    'a large number': (
        xtr(), on(index=243),
        'eth0 has the number 243, for which Open Overlay Router has no routing table: reboot, or '
        'set "locator" to an address of another interface.',
    ),
    'the number whose table is that of the sites': (
        xtr(), on(index=90),
        'eth0 has the number 90, for which Open Overlay Router has no routing table: reboot, or '
        'set "locator" to an address of another interface.',
    ),
    'a table of the operator': (
        xtr(), host(tables={'protocols static table 12': 12}),
        'Open Overlay Router uses routing table 12 for eth0: move "protocols static table 12" to '
        'another table.',
    ),
    'table 100 of a VRF': (
        xtr(), host(tables={'vrf name guests': 100}),
        'Open Overlay Router uses routing table 100 for sites: move "vrf name guests" to another '
        'table.',
    ),
    'a policy rule of the operator': (
        xtr(), host(local_rules=('98',)),
        'LISP uses the policy rule 98 itself: give "policy local-route rule 98" another number.',
    ),
    'no site': (
        xtr(site={}), host(), 'LISP has nothing to do without a site: set "site NAME prefix".',
    ),
    'a site without prefix': (
        xtr(site={'tokyo': site()}), host(),
        'Site "tokyo" has no prefix: set "site tokyo prefix", or "site tokyo redistribute leon".',
    ),
    'a site without key': (
        xtr(site={'tokyo': {'prefix': ['10.1.0.0/16']}}), host(),
        'Site "tokyo" has no key: set "site tokyo authentication-key" to that of the map server.',
    ),
    'two keys': (
        xtr(site={'a': site('10.1.0.0/16'), 'b': site('10.2.0.0/16', authentication_key='x')}),
        host(),
        'Open Overlay Router registers all sites with one key, and sites "a" and "b" have two: '
        'set the same "authentication-key".',
    ),
    'a prefix inside another': (
        xtr(site={'a': site('10.0.0.0/8'), 'b': site('10.2.0.0/16')}), host(),
        'Open Overlay Router has no prefixes inside others, and 10.2.0.0/16 of site "b" is inside '
        '10.0.0.0/8 of site "a": delete one of them.',
    ),
    'a prefix twice': (
        served(site={'a': site('10.2.0.0/16'), 'b': site('10.2.0.0/16')}), host(),
        'Sites "a" and "b" both have 10.2.0.0/16: delete one of them.',
    ),
    'the Internet': (
        xtr(site={'a': site('::/0')}), host(),
        'Site "a" cannot be the whole Internet: set the prefixes of this site, and "proxy-etr" '
        'for destinations outside LISP.',
    ),
    'a locator inside a site': (
        xtr(site={'a': site('192.0.2.0/24')}), host(),
        '192.0.2.11 is inside 192.0.2.0/24 of site "a", so what is sent to it would be '
        'encapsulated again: set "locator" to an address of the underlay.',
    ),
    'a map server inside a site': (
        xtr(site={'a': site('198.51.100.0/24')}, map_resolver=['203.0.113.1']), host(),
        '198.51.100.1 is inside 198.51.100.0/24 of site "a", so what is sent to it would be '
        'encapsulated again: set "map-server" to an address of the underlay.',
    ),
    'no map server': (
        xtr(map_server={}), host(), 'A tunnel router registers its sites: set "map-server".',
    ),
    'two roles': (
        served(map_server={'198.51.100.1': {}}), host(),
        'Open Overlay Router is a tunnel router or a map server, not both: delete "map-server", '
        'or set "role xtr" here and the map server up elsewhere.',
    ),
    'a map server that registers': (
        served(site=from_leon()), host(),
        'A map server registers nothing: delete "site tokyo redistribute", and set it at the '
        'tunnel router.',
    ),
    'a map server at two interfaces': (
        served(locator={'192.0.2.11': {}, '192.0.2.130': {}}),
        host(interfaces={'192.0.2.11': ETH0,
                         '192.0.2.130': verify.Interface('eth1', 3, ('192.0.2.130',))}),
        'Open Overlay Router serves mappings at one interface, and the locators are on eth0 and '
        'eth1: keep those of one.',
    ),
    'a tunnel router that is registered at': (
        xtr(site={'a': site('10.0.0.0/8', accept_more_specifics={})}), host(),
        'A tunnel router accepts no registrations: delete "site a accept-more-specifics", or set '
        '"role map-server".',
    ),
    'no such overlay': (
        xtr(site=from_leon()), host(leon=('leon1',)),
        'Site "tokyo" takes prefixes from leon0, which does not exist or is disabled: set '
        '"interfaces leon leon0".',
    ),
    'a node without locator': (
        xtr(site=from_leon(**{'10.0.0.2': {}})), host(),
        'Node 10.0.0.2 has no locator: set "site tokyo redistribute leon leon0 node 10.0.0.2 '
        'locator".',
    ),
    'another node with a locator of this one': (
        xtr(site=from_leon(**{'10.0.0.2': {'locator': '192.0.2.11'}})), host(),
        '192.0.2.11 is a locator of this router: set "site tokyo redistribute leon leon0 node '
        '10.0.0.2 locator" to that of the other node.',
    ),
    'strict source validation': (
        xtr(), host(source_validation='strict'),
        'Strict source validation drops what LISP brings from other sites: set "firewall '
        'global-options source-validation" to loose or disable.',
    ),
}  # fmt: skip


@pytest.mark.parametrize('case', ERRORS)
def test_errors(case):
    words, around, text = ERRORS[case]
    assert verify.check(words, around).errors == [text]


def test_every_rule_has_an_error():
    said = {text for _, _, text in ERRORS.values()}
    for rule in verify.ERRORS + verify.FAULTS_OF_THE_HOST:
        assert any(said & set(rule(w, h)) for w, h, _ in ERRORS.values()), rule.__name__


@pytest.mark.parametrize('words, around', [
    (xtr(), host()),
    (xtr(locator={'2001:db8::11': {}}), host(interfaces={'2001:db8::11': ETH0})),
    (xtr(), on(addresses=('192.0.2.10', '192.0.2.11', '169.254.0.1'))),
    (xtr(locator={'2001:db8::11': {}}), host(interfaces={'2001:db8::11': ETH0._replace(
        addresses=('2001:db8::12', '2001:db8::11', 'fd00::11', 'fe80::11'))})),
    (xtr(site={'a': site('10.1.0.0/16', '2001:db8:1::/48'), 'b': site('10.2.0.0/16')}), host()),
    (xtr(site=from_leon(**{'10.0.0.2': {'locator': ['192.0.2.12']}})), host()),
    (xtr(proxy_etr={'203.0.113.9': {}}, map_resolver='203.0.113.1'),
     host(tables={'vrf name b': 13})),
    (served(), host(tables={'vrf name b': 100}, source_validation='strict')),
    (served(), on(addresses=('192.0.2.11', '192.0.2.10'))),
    (served(site={'a': site('10.0.0.0/8', accept_more_specifics={}), 'b': site('10.2.0.0/16')}),
     host()),
    (xtr(), host(source_validation='loose', local_rules=('10', '97'))),
])  # fmt: skip
def test_good(words, around):
    assert verify.check(words, around) == ([], [])


def test_a_boot_does_not_fail_for_what_the_router_lacks():
    verdict = verify.check(xtr(site=from_leon()), verify.Host(has_oor=False), booted=False)
    assert verdict.errors == [] and len(verdict.warnings) == 3
    assert 'No interface has 192.0.2.11; LISP waits for it.' in verdict.warnings


def test_an_overlay_in_two_sites():
    two = {'a': from_leon()['tokyo'], 'b': from_leon()['tokyo']}
    assert verify.check(xtr(site=two), host()) == ([], [
        'Site "a" registers the prefixes of leon0, so site "b" has none of them: delete "site b '
        'redistribute leon leon0".'])


def test_a_priority_that_the_other_nodes_do_not_know():
    words = xtr(locator={'192.0.2.11': {'priority': '5', 'weight': '100'}}, site=from_leon())
    assert verify.check(words, host()) == ([], [])
    words['site'] = from_leon(**{'10.0.0.2': {'locator': ['192.0.2.12']}})
    assert verify.check(words, host()) == ([], [
        'The other nodes register 192.0.2.11 with priority 1 and weight 100, and the map server '
        'keeps the last registration: delete "locator 192.0.2.11 priority" and "locator '
        '192.0.2.11 weight".'])


# --- the configuration of OOR ---

EVERYTHING = xtr(
    encapsulation='vxlan-gpe', instance_id='7', map_resolver='203.0.113.1',
    locator={'192.0.2.11': {'priority': '3', 'weight': '50'}, '2001:db8::11': {}},
    map_server={'198.51.100.1': {'proxy_reply': {}}, '2001:db8::1': {}},
    proxy_etr={'203.0.113.9': {'priority': '2', 'weight': '0'}},
    site={'tokyo': site('10.1.0.9/16', '2001:db8:1::/48'),
          'overlay': site(redistribute={'leon': {'leon0': {'node': {
              '10.0.0.2': {'locator': '192.0.2.12'},
              '10.0.0.3': {'locator': ['192.0.2.13', '2001:db8::13']}}}}})},
)  # fmt: skip
RANKS = {'leon0': {
    '10.5.0.0/16': {None: 1, '10.0.0.3': 0},
    '10.1.2.0/24': {None: 0},  # inside a site: OOR could not have the prefix
}}
TOLD = {
    # Only the features of lixy.
    'lixy': (xtr(map_server={'198.51.100.1': {}}), {}),
    'everything': (EVERYTHING, RANKS),
    'map-server': (
        served(instance_id='7', site={'a': site('10.0.0.0/8', accept_more_specifics={}),
                                      'b': site('10.2.0.0/16', authentication_key='two')}), {}),
}  # fmt: skip


@pytest.mark.parametrize('name', TOLD)
def test_golden(name):
    words, ranks = TOLD[name]
    assert verify.check(words, host(interfaces={})).errors == []
    document = model.build(words)
    found = model.oor(document, model.mappings(document, ranks), 'eth0')
    text = render_to_string('leon/oor.conf.j2', found)
    path = GOLDEN / f'oor-{name}.conf'
    if os.environ.get('LEON_WRITE_GOLDEN'):
        path.write_text(text)
    assert text == path.read_text()


def test_the_order_of_words_is_nothing():
    turned = {
        **EVERYTHING,
        'site': dict(reversed(EVERYTHING['site'].items())),
        'locator': dict(reversed(EVERYTHING['locator'].items())),
    }
    assert model.build(turned) == model.build(EVERYTHING)


def test_some_prefixes_of_leon_are_not_registered():
    """Default routes, prefixes with a locator or map server, and a prefix inside a wider one."""
    document = model.build(xtr(site=from_leon()))
    ranks = {'leon0': {p: {None: 0} for p in (
        '0.0.0.0/0', '::/0', '192.0.2.0/24', '198.51.100.0/24', '100.100.0.0/16', '100.64.0.0/10',
        '10.5.0.0/16')}}  # fmt: skip
    found = [m['prefix'] for m in model.mappings(document, ranks)]
    assert found == ['100.64.0.0/10', '10.5.0.0/16']


def test_a_priority_never_means_unused():
    words = xtr(locator={'192.0.2.11': {'priority': '200'}}, site=from_leon())
    document = model.build(words)
    (found,) = model.mappings(document, {'leon0': {'10.5.0.0/16': {None: 90}}})
    assert found['locators'][0]['priority'] == 254


# --- policy rules ---


def test_rules_that_are_made():
    found = rules.wanted(['192.0.2.11', '2001:db8::11'], ['10.1.0.0/16', '2001:db8:1::/48'])
    assert [(r.family, r.words('add')) for r in found] == [
        (4, 'rule add pref 9 from 192.0.2.11 lookup main suppress_prefixlength 0'),
        (6, 'rule add pref 9 from 2001:db8::11 lookup main suppress_prefixlength 0'),
        (4, 'rule add pref 98 from 10.1.0.0/16 lookup main suppress_prefixlength 0'),
        (6, 'rule add pref 98 from 2001:db8:1::/48 lookup main suppress_prefixlength 0'),
    ]


PRESENT = [
    {'priority': 0, 'src': 'all', 'table': 'local'},
    {'priority': 9, 'src': '192.0.2.11', 'table': 'main', 'suppress_prefixlen': 0},
    {'priority': 12, 'src': '192.0.2.11', 'table': '12'},
    {'priority': 12, 'src': '192.0.2.77', 'table': '12'},
    {'priority': 98, 'src': '10.1.0.0', 'srclen': 16, 'table': 'main', 'suppress_prefixlen': 0},
    {'priority': 99, 'src': 'all', 'dst': '10.1.0.0', 'dstlen': 16, 'table': 'main'},
    {'priority': 100, 'src': '10.1.0.0', 'srclen': 16, 'table': '100'},
    {'priority': 32766, 'src': 'all', 'table': 'main'},
]
OF_OTHERS = [
    {'priority': 9, 'src': '192.0.2.12', 'table': 'main'},
    {'priority': 13, 'src': '192.0.2.11', 'table': '12'},
    {'priority': 101, 'src': '192.0.2.11', 'table': '101'},
    {'priority': 99, 'src': '10.1.0.0', 'srclen': 16, 'table': 'main'},
    {'priority': 100, 'src': '10.1.0.0', 'srclen': 16, 'table': '77'},
    {'priority': 100, 'src': '10.1.0.0', 'srclen': 24, 'table': '100'},
    {'priority': 1000, 'src': 'all', 'l3mdev': None},
]


def test_rules_that_were_left():
    ours = ['192.0.2.11'], ['10.1.0.0/16'], [12]
    found = rules.leftovers(PRESENT + OF_OTHERS, *ours)
    assert found == [
        'rule del pref 9 from 192.0.2.11 lookup main',
        'rule del pref 12 from 192.0.2.11 lookup 12',
        'route flush table 12',
        'rule del pref 12 from 192.0.2.77 lookup 12',
        'route flush table 12',
        'rule del pref 98 from 10.1.0.0/16 lookup main',
        'rule del pref 99 to 10.1.0.0/16 lookup main',
        'rule del pref 100 from 10.1.0.0/16 lookup 100',
        'route flush table 100',
    ]
    assert rules.leftovers(OF_OTHERS, *ours) == []


def test_a_table_with_a_name(monkeypatch):
    """VyOS names the table of each VRF. `ip -N` prints its number."""
    batches = []

    def run(words, **more):
        batches.append(more.get('input'))
        rule = {'priority': 100, 'src': '10.1.0.0', 'srclen': 16,
                'table': '100' if '-N' in words else 'guests'}  # fmt: skip
        return SimpleNamespace(stdout=json.dumps([rule]), stderr='')

    monkeypatch.setattr(process.subprocess, 'run', run)
    process.remove_rules([], ['10.1.0.0/16'], [])
    assert 'rule del pref 100 from 10.1.0.0/16 lookup 100\nroute flush table 100\n' in batches


# --- LEON ---


def latency(source, *links, unheard=(), closed=()):
    """Both ends report a link, with equal times if only one is listed."""
    links = [*links, *((b, a, rtt) for a, b, rtt in links
                       if not any(known[:2] == (b, a) for known in links))]
    names = sorted({n for a, b, _ in links for n in (a, b)} | {source})
    rows = [
        {'origin': name, 'entries': [
            {'node': b, 'up': rtt is not None, 'rtt_us': rtt, 'long_term_rtt_us': rtt}
            for a, b, rtt in links if a == name
        ]} for name in names
    ]  # fmt: skip
    nodes = [
        {'node_id': n, 'transit_disabled': n in closed, 'unreceived': n in unheard} for n in names
    ]
    return {'source': source, 'nodes': nodes, 'rows': rows}


def routes(*prefixes, silent=()):
    return {'prefixes': [{'prefix': p, 'announced': True} for p in prefixes]
            + [{'prefix': p, 'announced': False} for p in silent]}


def nodes(**prefixes):
    return {'nodes': [
        {'node_id': name, 'state': 'unreachable' if name == 'dead' else 'reachable', 'prefixes': p}
        for name, p in prefixes.items()
    ]}  # fmt: skip


P = '10.5.0.0/16'
# c and d are sites; a is near to both, and b is near to no site.
LINKS = [('a', 'c', 5000), ('a', 'd', 7000), ('b', 'c', 60000), ('b', 'd', 50000),
         ('a', 'b', 30000)]  # fmt: skip


@pytest.mark.parametrize('source, expected', [('a', {None: 0, 'b': 1}), ('b', {None: 1, 'a': 0})])
def test_the_nearer_node_is_first_at_both(source, expected):
    others = nodes(**{'b' if source == 'a' else 'a': [P], 'c': ['10.9.0.0/16']})
    found = overlay.judge(routes(P), others, latency(source, *LINKS), ['a', 'b', 'c'])
    assert found == {P: expected}


def test_best_paths_count():
    """b reaches c and d through a, in 35 and 37 ms."""
    near = overlay.nearness(latency('a', *LINKS), ['a', 'b'])
    assert near == {'a': 6000, 'b': 36000}
    assert overlay.nearness(latency('a', *LINKS, closed=['a']), ['a', 'b'])['b'] == 55000


@pytest.mark.parametrize('claim, counts', [(21000, 21000), (20999, 50000), (1, 50000), (None, None)])
def test_a_link_needs_the_reports_of_both_ends(claim, counts):
    """b alone makes its link to c shorter by at most a factor of two and 8 ms."""
    links = [('b', 'c', claim), ('c', 'b', 50000), ('a', 'c', 30000)]
    near = overlay.nearness(latency('a', *links), ['a', 'b'])
    assert near == ({} if counts is None else {'a': 30000, 'b': counts})


def test_who_counts():
    """Excluded: an unlisted node, a departed node, and another prefix."""
    others = nodes(b=[P], dead=[P], e=['10.6.0.0/16'])
    seen = latency('a', *LINKS)
    assert overlay.judge(routes(P), others, seen, ['dead', 'e']) == {P: {None: 0}}
    assert overlay.judge(routes(silent=[P]), others, seen, ['b']) == {}


def test_as_near_is_the_same_rank():
    assert overlay.ranks({'a': 20000, 'b': 22900, 'c': 23100, 'd': 90000}, 'abcd') == {
        'a': 0, 'b': 0, 'c': 1, 'd': 2
    }  # fmt: skip
    assert overlay.ranks({}, ['a', 'b']) == {'a': 0, 'b': 0}
    # There is no other node for a measurement.
    assert overlay.nearness(latency('a', ('a', 'b', 5)), ['a', 'b']) == {}
    assert overlay.nearness(latency('a', *LINKS, unheard=['c', 'd']), ['a', 'b']) == {}


def test_ranks_must_stand_before_oor_restarts_for_them():
    damper = overlay.Damper(stand_s=60, apart_s=300)
    first, second = {'leon0': {P: {None: 0, 'b': 1}}}, {'leon0': {P: {None: 1, 'b': 0}}}
    assert damper.take(first, 0) == first
    assert damper.take(second, 290) == first
    assert damper.take(second, 310) == first
    assert damper.take(first, 320) == first
    assert damper.take(second, 330) == first
    assert damper.take(second, 389) == first
    assert damper.take(second, 390) == second
    # The departure of a node is reported at once.
    gone = {'leon0': {P: {None: 0}}}
    assert damper.take(gone, 391) == gone
    assert damper.take({'leon0': {}}, 392) == {'leon0': {}}


# --- OOR's log ---

HEAD = '[2026/11/22 8:56:31] DEBUG: '
REPLY = [
    '\x1b[1mReceived', HEAD + 'Received \x1b[1mMap-Reply\x1b[0m-> flags:P=0,E=0,S=0, record-count: 1, '
    'nonce: 59eec76f13a7c450, IP: 192.0.2.12 -> 192.0.2.11, UDP: 4342 -> 4342',
    HEAD + '  Mapping-record -> ttl: 10 loc-count: 2 action: no-action auth: 1 map-version: 0 '
    'eid: 10.2.0.0/24',
    HEAD + '    Locator-record -> flags: L=1,p=0,R=1, p/w: 1/100 255/0, addr: 192.0.2.12',
    HEAD + '    Locator-record -> flags: L=0,p=0,R=1, p/w: 2/50 255/0, addr: 192.0.2.13',
]  # fmt: skip


def fed(role, *lines, now=1000):
    tracker = state.Tracker(role)
    for line in lines:
        tracker.feed(line, now)
    return tracker


def test_map_cache():
    tracker = fed('xtr', *REPLY)
    (entry,) = tracker.show(1000)['map_cache']
    assert entry == {
        'prefix': '10.2.0.0/24', 'ttl_minutes': 10, 'action': 'no-action', 'received': 1000,
        'locators': [{'address': '192.0.2.12', 'priority': 1, 'weight': 100, 'up': True},
                     {'address': '192.0.2.13', 'priority': 2, 'weight': 50, 'up': True}],
    }  # fmt: skip
    tracker.feed(HEAD + 'rloc_probing: No Map-Reply Probe received for locator 192.0.2.12 and EID: '
                 '10.2.0.0/24 -> Locator state changes to DOWN', 1001)
    assert [e['up'] for e in tracker.show(1001)['map_cache'][0]['locators']] == [False, True]
    tracker.feed(HEAD + ' Successfully probed RLOC 192.0.2.12 of cache entry with EID '
                 '10.2.0.0/24', 1002)
    assert [e['up'] for e in tracker.show(1002)['map_cache'][0]['locators']] == [True, True]
    assert tracker.show(1000 + 601)['map_cache'] == []
    tracker.feed(HEAD + 'Got expiration for EID 10.2.0.0/24', 1003)
    assert tracker.show(1003)['map_cache'] == []


def test_a_lifetime_without_end():
    """OOR prints 0xffffffff as a negative number."""
    endless = REPLY[2].replace('ttl: 10', 'ttl: -1')
    (entry,) = fed('xtr', *REPLY[:2], endless, *REPLY[3:]).show(1000)['map_cache']
    assert entry['ttl_minutes'] == 2**32 - 1 and len(entry['locators']) == 2


def test_probes_and_instances():
    probe = [REPLY[1].replace('P=0', 'P=1'), *REPLY[2:]]
    assert fed('xtr', *probe).show(1000)['map_cache'] == []
    with_iid = [REPLY[1], REPLY[2].replace('10.2.0.0/24', '(IID 7/32, EID 10.2.0.0/24)'), *REPLY[3:]]
    assert fed('xtr', *with_iid).show(1000)['map_cache'][0]['prefix'] == '10.2.0.0/24'


SENT = HEAD + 'Sent Map-Register for mapping 10.1.0.0/24 to 192.0.2.1 (0 retries)'
AGAIN = HEAD + 'Sent Map-Register retry for mapping 10.1.0.0/24 to 192.0.2.1 (1 retries)'
NOTIFY = [
    HEAD + 'Received \x1b[1mMap-Notify\x1b[0m-> flags:ir, record-count: 1, nonce ffaf, IP: 192.0.2.1 '
    '-> 192.0.2.11, UDP: 4342 -> 4342',
    HEAD + 'Map-Notify message confirms correct registration of 10.1.0.0/24',
]


def test_registrations_of_a_tunnel_router():
    tracker = fed('xtr', SENT)

    def seen():
        return [(r['prefix'], r['peer'], r['state'], r['since'], r['last'])
                for r in tracker.show(2000)['registrations']]
    assert seen() == [('10.1.0.0/24', '192.0.2.1', 'pending', 1000, None)]
    tracker.feed(AGAIN, 1003)
    assert seen() == [('10.1.0.0/24', '192.0.2.1', 'no-answer', 1003, None)]
    for line in NOTIFY:
        tracker.feed(line, 1010)
    assert seen() == [('10.1.0.0/24', '192.0.2.1', 'registered', 1010, 1010)]
    for line in [SENT, *NOTIFY]:
        tracker.feed(line, 1070)
    assert seen() == [('10.1.0.0/24', '192.0.2.1', 'registered', 1010, 1070)]


REGISTER = [
    HEAD + 'Received \x1b[1mMap-Register\x1b[0m -> flags:pirM record-count: 1 nonce edbd, IP: '
    '192.0.2.11 -> 192.0.2.1, UDP: 4342 -> 4342',
    HEAD + '  Mapping-record -> ttl: 10 loc-count: 1 action: no-action auth: 1 map-version: 0 '
    'eid: 10.1.0.0/24',
    HEAD + '    Locator-record -> flags: L=1,p=0,R=1, p/w: 1/100 255/0, addr: 192.0.2.11',
]
ANSWERED = HEAD + '\x1b[1mMap-Notify\x1b[0m-> flags:ir, record-count: 1, nonce edbd, IP: ...'


def test_registrations_at_a_map_server():
    tracker = fed('map-server', *REGISTER)
    assert tracker.show(1000)['registrations'] == []
    tracker.feed(ANSWERED, 1000)
    (one,) = tracker.show(1000)['registrations']
    assert (one['prefix'], one['peer']) == ('10.1.0.0/24', '192.0.2.11')
    assert one['locators'][0]['address'] == '192.0.2.11'
    assert tracker.show(1181)['registrations'] == []
    tracker.feed(HEAD + 'Registration of site with EID 10.1.0.0/24 timed out', 1001)
    assert tracker.show(1001)['registrations'] == []


@pytest.mark.parametrize('line, reason', [
    ('Message validation failed for EID 10.1.0.0/24 with key sesame. Stopping processing!',
     'the key is another one'),
    ('EID 10.1.0.0/24 not in configured lisp-sites DB Discarding mapping',
     'no site has the prefix'),
    ('EID 10.1.0.0/24 is a more specific of 10.0.0.0/8. However more specifics not configured! '
     'Discarding', 'the site does not accept more specific prefixes'),
    ('EID 10.1.0.0/24 part of multi EID Map-Register with different key! Discarding!',
     'the other prefixes of the message have another key'),
])  # fmt: skip
def test_refusals(line, reason):
    tracker = state.Tracker('map-server')
    assert [tracker.feed(text, 1000) for text in [*REGISTER, HEAD + line, ANSWERED]] == [None] * 5
    shown = tracker.show(1000)
    assert shown['registrations'] == []
    assert shown['refused'] == [
        {'prefix': '10.1.0.0/24', 'peer': '192.0.2.11', 'at': 1000, 'reason': reason}]
    assert 'sesame' not in str(shown)


def test_a_broken_record_is_not_registered():
    failed = HEAD + 'Map-Server: Failed to process  control message'
    tracker = fed('map-server', *REGISTER[:2], failed, REGISTER[0])
    assert tracker.show(1000)['registrations'] == []


def test_registrations_leave_the_memory():
    tracker = fed('map-server', *REGISTER, ANSWERED)
    assert len(tracker.show(1180)['registrations']) == 1
    tracker.show(1181)
    assert tracker.registrations == {}


def test_refusals_have_a_bound():
    tracker = state.Tracker('map-server')
    for number in range(200):
        for line in (REGISTER[0], HEAD + f'EID 10.9.{number}.0/24 not in configured lisp-sites DB'):
            tracker.feed(line, 1000)
    shown = [r['prefix'] for r in tracker.show(1000)['refused']]
    assert len(shown) == state.REFUSED_MAX and '10.9.199.0/24' in shown


def test_what_a_person_reads():
    tracker = state.Tracker('xtr')
    warning = '[2026/11/22 8:56:31] WARNING: Map-Register of 10.1.0.0/24 did not receive reply'
    assert tracker.feed(warning, 1000) == (4, 'Map-Register of 10.1.0.0/24 did not receive reply')
    assert tracker.feed('[2026/11/22 8:56:31] INFO: Exiting ...', 1000) == (6, 'Exiting ...')
    assert tracker.feed('[2026/11/22 8:56:31] WARNING: No Proxy-ETR defined. Packets', 1) is None
    assert tracker.feed('rest of a message', 1000) is None and tracker.feed(SENT, 1000) is None
    assert [c['text'] for c in tracker.show(1)['complaints']] == [warning[30:]]
    for _ in range(50):
        tracker.feed(warning, 1000)
    assert len(tracker.show(1)['complaints']) == state.COMPLAINTS
    tracker.feed(HEAD + 'No Map-Reply for EID 10.2.0.2/32 after 2 retries. Aborting!', 1005)
    assert tracker.show(1)['unanswered'] == {'count': 1, 'last': '10.2.0.2/32', 'at': 1005}


def test_a_log_without_end(monkeypatch, tmp_path):
    program = tmp_path / 'oor'
    program.write_text('#!/bin/sh\nexec yes\n')
    program.chmod(0o755)
    monkeypatch.setattr(process, 'OOR', str(program))
    oor = process.Oor('oor.conf')
    select.select([oor.master], [], [], 10)
    begin, number = time.monotonic(), 0
    for line in oor.lines():
        assert line == 'y' and time.monotonic() - begin < 10
        time.sleep(0.0001)
        number += 1
    assert number > 0
    oor.stop()


# --- leon-lisp ---


class FakeOor:
    process = SimpleNamespace(pid=1)

    def __init__(self, _):
        pass

    def lines(self):
        return []

    def ended(self):
        return False

    def stop(self):
        pass


@pytest.fixture
def managed(monkeypatch, tmp_path):
    """managed(words, INTERFACE, ...): starts leon-lisp with these interfaces, and later calls
    change only the interfaces."""
    monkeypatch.setattr(process, 'Oor', FakeOor)
    monkeypatch.setattr(process, 'add_rules', lambda *_: '')
    monkeypatch.setattr(process, 'remove_rules', lambda *_: None)
    files = manager.Files(str(tmp_path), str(TOP / 'templates'))
    running = []

    def tick(words, *interfaces):
        if not running:
            files.write(files.document, json.dumps(model.build(words)))
            running.append(manager.Manager(files))
        links = [{'ifname': name, 'ifindex': index, 'addr_info': [
            {'local': address} for address in addresses]}
            for name, index, *addresses in interfaces]  # fmt: skip
        monkeypatch.setattr(process, '_ip_json', lambda *_: [{}, *links])
        running[0].tick()
        return running[0]

    return tick


def test_registrations_survive_a_step_of_the_clock(managed, monkeypatch):
    monkeypatch.setattr(FakeOor, 'lines', lambda _: [*REGISTER, ANSWERED])
    eth0 = ('eth0', 2, '192.0.2.11')
    for _ in range(2):
        managed(served(), eth0)
    monkeypatch.setattr(FakeOor, 'lines', lambda _: [])
    real = time.time
    monkeypatch.setattr(time, 'time', lambda: real() + 3600)
    assert len(managed(served(), eth0).show()['registrations']) == 1


def test_a_change_of_the_interface_restarts_oor(managed):
    """OOR takes another address for its locator, and misses a new interface of the same name."""
    for number, interface in enumerate((
        ('eth0', 2, '192.0.2.11'), ('eth0', 2, '192.0.2.77', '192.0.2.11'),
        ('eth0', 2, '192.0.2.11'), ('eth0', 3, '192.0.2.11')
    )):  # fmt: skip
        for _ in range(2):
            assert managed(xtr(), interface).show()['starts'] == number + 1


def test_oor_uses_the_last_address(managed):
    shown = managed(xtr(), ('eth0', 2, '192.0.2.11', '192.0.2.77')).show()
    assert (shown['state'], shown['reason']) == (
        'waiting', 'no interface that is up has 192.0.2.11 as last address'
    )  # fmt: skip
    assert managed(xtr(), ('eth0', 2, '192.0.2.77', '192.0.2.11')).show()['state'] == 'running'


def test_a_map_server_uses_all_addresses(managed):
    shown = managed(served(), ('eth0', 2, '192.0.2.11', '192.0.2.77')).show()
    assert shown['state'] == 'running'


def test_a_removed_address_restarts_a_map_server(managed):
    """A restart loses the registrations, and OOR needs none for an added address."""
    for starts, *more in ((1,), (1, '192.0.2.77'), (2,)):
        shown = managed(served(), ('eth0', 2, '192.0.2.11', *more)).show()
        assert shown['starts'] == starts


def test_an_interface_without_a_table_for_oor(managed):
    """The number 245 means the table of local addresses, which all packets would use."""
    words = xtr(locator={'192.0.2.11': {}, '198.18.0.1': {}})
    for index in (243, 245, 246, 90):
        made = managed(words, ('eth0', 2, '192.0.2.11'), ('ppp0', index, '198.18.0.1'))
        assert list(made.interfaces) == ['192.0.2.11']


def test_a_missing_locator_stops_only_itself(managed):
    words = xtr(locator={'192.0.2.11': {}, '198.18.0.1': {}})
    eth0, ppp0 = ('eth0', 2, '192.0.2.11'), ('ppp0', 7, '198.18.0.1')
    for interfaces in ([eth0, ppp0], [eth0], [ppp0], [eth0, ppp0]):
        shown = managed(words, *interfaces).show()
        (mapping,) = shown['mappings']
        assert [of['address'] for of in mapping['locators']] == [i[2] for i in interfaces]
    shown = managed(words).show()
    assert (shown['state'], shown['reason']) == (
        'waiting', 'no interface that is up has 192.0.2.11, 198.18.0.1 as last address'
    )  # fmt: skip


def test_a_prefix_with_a_missing_locator(managed, monkeypatch):
    """OOR would capture datagrams from the address, which the router still has."""
    ranks = {'leon0': {p: {None: 0} for p in ('192.0.2.0/24', '10.5.0.0/16')}}
    monkeypatch.setattr(manager.Overlays, 'ranks', lambda *_: ranks)
    words = xtr(locator={'192.0.2.11': {}, '198.18.0.1': {}}, site=from_leon())
    eth0, ppp0 = ('eth0', 2, '192.0.2.11', '192.0.2.77'), ('ppp0', 7, '198.18.0.1')
    (mapping,) = managed(words, eth0, ppp0).show()['mappings']
    assert mapping['prefix'] == '10.5.0.0/16'


# --- the unit ---


def test_the_unit():
    text = (TOP / 'packaging/systemd/leon-lisp.service').read_text()
    assert re.findall(r'^Exec\w+=(.*)$', text, re.M) == [
        '/usr/libexec/vyos-1x-leon-lisp/leon-lisp run', '/bin/kill -HUP $MAINPID',
        '/usr/libexec/vyos-1x-leon-lisp/leon-lisp clean',
    ]  # fmt: skip
    assert 'PrivateTmp=yes' in text and 'ConditionPathExists=/run/leon-lisp/lisp.json' in text
