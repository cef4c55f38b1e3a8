# SPDX-License-Identifier: GPL-2.0-or-later
"""The scripts of VyOS for LISP: the commit of `protocols lisp`, and `show lisp`."""

import json
import os
import re
import sys
from pathlib import Path
from types import SimpleNamespace

import jsonschema
import pytest
import vyos.opmode
from show_def import schema_of_program
from vyos import ConfigError
from vyos_leon import lisp
from vyos_leon.lisp import manager, model

TOP = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(TOP / 'vyos-1x-leon/tools'))

from leon_cli import source  # noqa: E402

START = 'timeout 20 systemctl reload-or-restart leon-lisp.service'
BOOT, UPTIME = 1764500000, 100000
WORDS = {
    'locator': {'192.0.2.11': {'priority': '1', 'weight': '100'}},
    'map-server': {'198.51.100.1': {'proxy-reply': {}}},
    'site': {'tokyo': {'authentication-key': 'sesame', 'prefix': ['10.1.0.0/16']}},
}
ADDRESSES = [
    {'ifname': 'eth0', 'ifindex': 2,
     'addr_info': [{'local': '192.0.2.11'}, {'local': '2001:db8::11'}]},
    {'ifname': 'eth1', 'ifindex': 3, 'addr_info': [{'local': '192.0.2.12'}],
     'master': 'red', 'linkinfo': {'info_slave_kind': 'vrf'}},
]  # fmt: skip


@pytest.fixture
def here(monkeypatch, tmp_path):
    folder = tmp_path / 'leon-lisp'
    monkeypatch.setattr(lisp, 'DOCUMENT', str(folder / 'lisp.json'))
    monkeypatch.setattr(lisp, 'STATE', str(folder / 'state.json'))
    monkeypatch.setattr(lisp, 'OOR', '/bin/sh')
    return folder


@pytest.fixture
def commit(load_script, host, here):
    """commit(words) acts like VyOS; {} deletes the node."""
    script = load_script('vyos-1x-leon/conf_mode/protocols_lisp.py')
    host.programs['ip -json -details address'] = (0, json.dumps(ADDRESSES))

    def run(words, **others):
        host.config = {'protocols': {'lisp': words} if words else {}} | others
        host.journal.clear()
        found = script.get_config()
        script.verify(found)
        script.generate(found)
        script.apply(found)
        return [e[1] for e in host.journal if e[0] == 'run' and not e[1].startswith('ip ')]

    return run


def test_commit(commit, here, host):
    assert commit(WORDS) == [START]
    document = json.loads((here / 'lisp.json').read_text())
    assert document['sites'][0]['prefixes'] == ['10.1.0.0/16']
    assert document['map_servers'] == [{'address': '198.51.100.1', 'proxy_reply': True}]
    assert (here / 'lisp.json').stat().st_mode & 0o777 == 0o600
    assert here.stat().st_mode & 0o777 == 0o700
    assert 'warning' not in host.verbs()
    # leon-lisp decides about a restart.
    assert commit({**WORDS, 'encapsulation': 'vxlan-gpe'}) == [START]


def test_another_spelling_of_an_address(commit, here, host):
    words = {**WORDS, 'locator': {'2001:DB8:0:0::11': {}}}
    commit(words)
    assert 'warning' not in host.verbs()
    locators = json.loads((here / 'lisp.json').read_text())['locators']
    assert [of['address'] for of in locators] == ['2001:db8::11']
    nodes = {'10.0.0.2': {'locator': ['2001:db8:0::11']}}
    site = {'authentication-key': 'x', 'redistribute': {'leon': {'leon0': {'node': nodes}}}}
    with pytest.raises(ConfigError, match='2001:db8::11 is a locator of this router'):
        commit({**words, 'site': {'tokyo': site}}, interfaces={'leon': {'leon0': {}}})


def test_delete(commit, here):
    commit(WORDS)
    assert commit({}) == ['systemctl stop leon-lisp.service']
    assert not (here / 'lisp.json').exists()
    assert commit({}) == ['systemctl stop leon-lisp.service']


def test_what_is_wrong_changes_nothing(commit, here):
    commit(WORDS)
    before = (here / 'lisp.json').read_text()
    for words, others, text in (
        ({**WORDS, 'locator': {'192.0.2.12': {}}}, {}, 'eth1 with 192.0.2.12 is in red'),
        (WORDS, {'policy': {'local-route': {'rule': {'98': {}}}}}, 'policy rule 98'),
        (WORDS, {'policy': {'local-route6': {'rule': {'9': {}}}}}, 'policy rule 9'),
        (WORDS, {'firewall': {'global-options': {'source-validation': 'strict'}}}, 'Strict'),
    ):
        with pytest.raises(ConfigError, match=text):
            commit(words, **others)
    with pytest.raises(ConfigError, match='routing table 12 for eth0'):
        commit({}, protocols={'lisp': WORDS, 'static': {'table': {'12': {}}}})
    with pytest.raises(ConfigError, match='100 for sites: move "vrf name guests"'):
        commit(WORDS, vrf={'name': {'guests': {'table': '100'}}})
    assert (here / 'lisp.json').read_text() == before


def test_leon_must_be_there(commit):
    site = {'authentication-key': 'x', 'redistribute': {'leon': {'leon0': {}}}}
    words = {**WORDS, 'site': {'tokyo': site}}
    assert commit(words, interfaces={'leon': {'leon0': {}}}) == [START]
    with pytest.raises(ConfigError, match='does not exist or is disabled'):
        commit(words, interfaces={'leon': {'leon0': {'disable': {}}}})


def test_boot_without_what_it_needs(commit, host, here, monkeypatch):
    """The configuration stays, and a later boot or commit with all requirements starts the
    service."""
    monkeypatch.setattr(lisp, 'OOR', '/nonexistent')
    with pytest.raises(ConfigError, match='install the package openoverlayrouter'):
        commit(WORDS)
    host.booting = True
    assert commit(WORDS) == []
    assert 'warning' in host.verbs() and (here / 'lisp.json').exists()


def test_a_start_that_fails_loses_nothing(commit, host):
    host.programs[START] = (1, 'Job failed')
    commit(WORDS)
    assert ('warning', 'LISP does not run yet, and is started until it does: see "show log lisp"') \
        in host.journal


# --- show ---


@pytest.fixture
def script(load_script, host, here):
    here.mkdir()
    host.config = {'protocols': {'lisp': WORDS}}
    found = load_script('op-mode/leon_lisp.py')
    found.time = SimpleNamespace(time=lambda: BOOT + UPTIME, monotonic=lambda: UPTIME)
    return found


def state(**words):
    now = UPTIME
    document = model.build({
        'locator': {'192.0.2.11': {}}, 'map_server': {'198.51.100.1': {}},
        'site': {'tokyo': {'authentication_key': 'sesame', 'prefix': ['10.1.0.0/16']}},
    })  # fmt: skip
    return {
        'version': 1, 'state': 'running', 'reason': None, 'since': now - 7200, 'pid': os.getpid(),
        'starts': 1, 'role': 'xtr', 'encapsulation': 'lisp', 'instance_id': 0,
        'locators': document['locators'], 'map_servers': ['198.51.100.1'],
        'map_resolvers': ['198.51.100.1'], 'mappings': model.mappings(document, {}),
        'map_cache': [
            {'prefix': '10.2.0.0/16', 'ttl_minutes': 10, 'action': 'no-action', 'received': now - 65,
             'locators': [{'address': '192.0.2.12', 'priority': 1, 'weight': 100, 'up': True},
                          {'address': '192.0.2.13', 'priority': 2, 'weight': 50, 'up': False}]},
            {'prefix': '10.3.0.0/16', 'ttl_minutes': 1, 'action': 'native-forward',
             'received': now - 5, 'locators': []},
        ],
        'registrations': [
            {'prefix': '10.1.0.0/16', 'peer': '198.51.100.1', 'state': 'no-answer',
             'since': now - 120, 'last': None, 'retries': 9, 'locators': []}],
        'refused': [], 'unanswered': {'count': 2, 'last': '10.9.0.1/32', 'at': now - 61},
        'complaints': [{'at': now - 3600, 'text': 'Map-Register did not receive reply'}],
        **words,
    }  # fmt: skip


def put(here, **words):
    found = state(**words)
    (here / 'state.json').write_text(json.dumps(found))
    return found


def test_show(script, here):
    put(here)
    found = script.show_state(raw=True)
    assert (found['since'], found['unanswered']['last']) == (BOOT + UPTIME - 7200, '10.9.0.1/32')
    assert [r['last'] for r in found['registrations']] == [None]
    assert script.show_mappings(raw=True) == found['mappings']
    assert script.show_map_cache(raw=True) == found['map_cache']
    assert script.show_registrations(raw=True)['registrations'] == found['registrations']
    assert script.show_mappings(raw=False) == (
        'Prefix       Site   From        Locator     Priority  Weight\n'
        '10.1.0.0/16  tokyo  configured  192.0.2.11  1         100'
    )
    assert script.show_map_cache(raw=False) == (
        'Prefix       Learned  Action          Locator     Priority  Weight  State\n'
        '10.2.0.0/16  1 min    -               192.0.2.12  1         100     up\n'
        '                                      192.0.2.13  2         50      down\n'
        '10.3.0.0/16  5 s      native-forward  -           -         -       -'
    )
    assert script.show_registrations(raw=False) == (
        'Prefix       Map server    State      For    Last\n'
        '10.1.0.0/16  198.51.100.1  no-answer  2 min  never'
    )
    text = script.show_state(raw=False)
    assert 'State:          running for 2 h\n' in text
    assert 'Registered:     0 of 1\n' in text
    assert 'Unanswered:     2 Map-Requests, the last for 10.9.0.1/32 1 min ago\n' in text
    assert text.endswith('1 h ago: Map-Register did not receive reply')


def test_show_at_a_map_server(script, here):
    refused = {'prefix': '10.4.0.0/16', 'peer': '192.0.2.14', 'at': UPTIME - 3,
               'reason': 'the key is another one'}  # fmt: skip
    put(here, role='map-server', refused=[refused], registrations=[])
    assert script.show_registrations(raw=False) == (
        'No prefix is registered\n'
        'Refused 3 s ago: 10.4.0.0/16 from 192.0.2.14, the key is another one'
    )


def test_ages_after_a_step_of_the_clock(script, here):
    put(here)
    shown = [script.show_state(raw=False), script.show_map_cache(raw=False)]
    script.time.time = lambda: BOOT + UPTIME + 3600
    assert [script.show_state(raw=False), script.show_map_cache(raw=False)] == shown
    assert script.show_state(raw=True)['since'] == BOOT + UPTIME + 3600 - 7200


def test_nothing_to_show(script, here, host):
    put(here, state='waiting', reason='no interface that is up has 192.0.2.11', pid=None,
        mappings=[], map_cache=[], registrations=[])  # fmt: skip
    assert 'waiting for 2 h, no interface that is up has 192.0.2.11' in script.show_state(raw=False)
    assert script.show_mappings(raw=False) == 'This router has no prefix'
    put(here, pid=2**22 + 1)
    with pytest.raises(vyos.opmode.DataUnavailable, match='has ended and is started again'):
        script.show_state(raw=False)
    (here / 'state.json').unlink()
    with pytest.raises(vyos.opmode.DataUnavailable, match='LISP does not run'):
        script.show_state(raw=False)
    host.config = {}
    with pytest.raises(vyos.opmode.UnconfiguredSubsystem, match='LISP is not configured'):
        script.show_state(raw=False)


def test_restart(script, host):
    script.restart_lisp()
    assert host.journal == [('run', 'systemctl restart leon-lisp.service')]
    host.commit_in_progress = True
    with pytest.raises(vyos.opmode.CommitInProgress):
        script.restart_lisp()


def test_schema(here):
    """The state before Open Overlay Router has reported, and the state above."""
    schema = schema_of_program('show lisp')
    jsonschema.validate(state(), schema)
    here.mkdir()
    document = model.build({
        'locator': {'192.0.2.11': {}},
        'site': {'a': {'authentication_key': 'k', 'prefix': ['10.1.0.0/16']}},
    })  # fmt: skip
    (here / 'lisp.json').write_text(json.dumps(document))
    made = manager.Manager(manager.Files(str(here), str(here))).show()
    jsonschema.validate(made, schema)
    assert set(made) == set(schema['required']) == set(state())


# --- the page ---

PAGE = TOP / 'vyos-1x-leon/doc/lisp.md'
BLOCKS = re.findall(r'^```\n(.*?)^```$', PAGE.read_text(), re.S | re.M)


def tree_of(lines):
    """The tree of the set commands, with the exact shape of the definitions."""
    definition = source.read(
        PAGE.parents[1] / 'interface-definitions/protocols_lisp.xml.in'
    ).root.find('.//node[@name="lisp"]')
    tree = {}
    for line in lines:
        at, node, words = tree, definition, line.split()[3:]
        while words:
            word = words.pop(0)
            (node,) = [n for n in node.find('children') if n.get('name') == word]
            if node.tag == 'leafNode':
                many = node.find('properties/multi') is not None
                at[word] = [words.pop()] if many else words.pop() if words else {}
                assert not words
                break
            at = at.setdefault(word, {})
            if node.tag == 'tagNode':
                at = at.setdefault(words.pop(0), {})
    return tree


@pytest.mark.parametrize('blocks, sites', [([0], 1), ([1], 2), ([0, 2], 2), ([0, 2, 3], 2)])
def test_the_page_can_be_pasted(commit, here, blocks, sites):
    """The later parts are added to the first; the second is another router's."""
    lines = ''.join(BLOCKS[n] for n in blocks).splitlines()
    tree = tree_of(x for x in lines if x.startswith('set protocols lisp '))
    assert commit(tree, interfaces={'leon': {'leon0': {}}}) == [START]
    assert len(json.loads((here / 'lisp.json').read_text())['sites']) == sites
    assert len(BLOCKS) == 4
