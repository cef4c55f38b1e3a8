# SPDX-License-Identifier: GPL-2.0-or-later
"""The configuration scripts in one long-lived process. A substitute of vyos-commitd loads the
scripts of the include file once, and commits every leaf of `interfaces leon`."""
import importlib.util
import json
import os
import re
import sys

import pytest

from conftest import TOP
from vyos import ConfigError
from vyos.config import TAG_NODES, Config
from vyos_leon import caches, ipsec, model, runfile

sys.path.insert(0, str(TOP / 'vyos-1x-leon/tools'))

import build_templates  # noqa: E402
import smoketest  # noqa: E402
from leon_cli import cache  # noqa: E402

FOLDER = TOP / 'vyos-1x-leon/conf_mode'
LEON0 = {
    'address': ['10.99.0.1/24'],
    'source-address': ['192.0.2.1'],
    'port': '5366',
    'authentication': {'pre-shared-secret': 'correct-horse-battery'},
}
# Values by validator; a leaf with another one has a regular expression or a list.
VALUES = {
    'ipv4-address': '192.0.2.9', 'ipv6-address': '2001:db8::9', 'ip-address': '192.0.2.9',
    'ip-host': '10.99.0.9/24', 'ipv4-host': '10.99.0.9/24', 'ipv6-host': '2001:db8::9/64',
    'ipv4-prefix': '10.9.0.0/24', 'ipv6-prefix': '2001:db8:9::/48', 'mac-address': '02:00:00:00:00:09',
    'fqdn': 'seoul.example.net', 'leon-vlan': '20-29',
}  # fmt: skip
REGEXES = ('eth0', 'br0', 'leon9', 'a', 'dhcp', '10', '10mbit', '1000', 'x' * 64, 'a' * 64, 'AF41', '2m')


class Commitd:
    """Loads the scripts that the include file names, and keeps them."""

    def __init__(self, include):
        self.scripts = {}
        for name in sorted(n for n in os.listdir(FOLDER) if n in include):
            spec = importlib.util.spec_from_file_location(name.removesuffix('.py'), FOLDER / name)
            module = importlib.util.module_from_spec(spec)
            spec.loader.exec_module(module)
            self.scripts[name] = module

    def call(self, name, tag):
        script = self.scripts[name]
        os.environ['VYOS_TAGNODE_VALUE'] = tag
        try:
            found = script.get_config(Config())
            script.verify(found)
            script.generate(found)
            script.apply(found)
        except ConfigError as error:
            return str(error)
        return ''


@pytest.fixture(scope='module')
def commitd():
    return Commitd(caches._scripts(['interfaces_ethernet.py'], caches.SCRIPTS))


def leaves():
    """(path, data of the leaf); a tag node has a value of its own in the path."""
    paths = sorted((TOP / 'vyos-1x-leon/interface-definitions').glob('*.xml.in'))
    tree = cache.config(build_templates.read_all('config', paths).values())

    def walk(node, path):
        data = node['data']
        if data['node_type'] == 'tag':
            path = [*path, value_of(data)]
        if data['node_type'] == 'leaf':
            yield tuple(path), data
        for child in node['children']:
            yield from walk(child, [*path, child['name']])

    (interfaces,) = [c for c in tree['children'] if c['name'] == 'interfaces']
    (leon,) = interfaces['children']
    for child in leon['children']:
        yield from walk(child, [child['name']])


def value_of(data):
    listed = [w for kind, text in data['completion_help'] if kind == 'list' for w in text.split()]
    rules = data['constraints'] or data['constraint_group'] or [['regex', '.*']]
    for kind, name, *argument in rules:
        if kind == 'exec' and name == 'numeric':
            found = re.search(r'--range (\d+)', argument[0])
            return found[1] if found else '7'
        if kind == 'exec' and name in VALUES:
            return VALUES[name]
        for word in (*listed, *REGEXES):
            if kind == 'regex' and re.fullmatch(name, word):
                return word
    return 'eth0'


def with_leaf(path, data):
    """LEON0 with the leaf."""
    made = json.loads(json.dumps(LEON0))
    inside = made
    for word in path[:-1]:
        inside = inside.setdefault(word, {})
    value = {} if data['valueless'] else value_of(data)
    inside[path[-1]] = [value] if data['multi'] else value
    return made


@pytest.fixture(autouse=True)
def defaults(host):
    """VyOS adds each leaf with a default to every interface, except below tag nodes."""
    for path, data in leaves():
        if data['default_value'] is not None and path[0] not in TAG_NODES:
            inside = host.defaults
            for word in path[:-1]:
                inside = inside.setdefault(model.mangled(word), {})
            inside[model.mangled(path[-1])] = data['default_value']


def document(name='leon0'):
    return json.loads(open(runfile.config_path(name), encoding='utf-8').read())


def test_scripts_of_the_include_file_are_loaded(commitd):
    assert set(commitd.scripts) == set(caches.SCRIPTS.values())


def test_every_leaf(commitd, host, run_dir):
    """A commit succeeds, or is refused with a sentence. No state remains for the next commit."""
    host.config = {'interfaces': {'leon': {'leon0': LEON0}}}
    assert commitd.call('interfaces_leon.py', 'leon0') == ''
    plain, refused, found = document(), {}, list(leaves())
    assert len(found) > 100
    for path, data in found:
        host.config = {'interfaces': {'leon': {'leon0': with_leaf(path, data)}}}
        said = commitd.call('interfaces_leon.py', 'leon0')
        if said:
            refused[' '.join(path)] = said
        host.config = {'interfaces': {'leon': {'leon0': LEON0}}}
        assert commitd.call('interfaces_leon.py', 'leon0') == '', path
        assert document() == plain, path
    print(json.dumps(refused, indent=1))
    assert all(said.endswith('.') for said in refused.values())
    assert len(refused) < len(found) / 4


def test_defaults_switch_nothing_on(commitd, host, run_dir, tmp_path, monkeypatch):
    """A default below a node does not make the node: `port-mapping` opens a port of the gateway."""
    monkeypatch.setattr(ipsec, 'RUN_DIR', str(tmp_path / 'leon-ipsec'))
    assert 'lifetime' in host.defaults['port_mapping']
    host.config = {'interfaces': {'leon': {'leon0': LEON0}}}
    assert commitd.call('interfaces_leon.py', 'leon0') == ''
    assert not {'ipsec', 'metrics', *model.objects()} & set(document())
    group = {'A': {'proposal': {'1': {'encryption': 'aes256', 'hash': 'sha256'}}}}
    secret = {'pre-shared-secret': 'a-secret-of-ike'}
    own = {'ike-group': 'A', 'esp-group': 'A', 'authentication': secret}
    host.config = {'interfaces': {'leon': {'leon0': {**LEON0, 'ipsec': own}}},
                   'vpn': {'ipsec': {'ike-group': group, 'esp-group': group}}}
    assert commitd.call('interfaces_leon.py', 'leon0') == ''
    assert os.listdir(tmp_path / 'leon-ipsec') == ['leon0.json']


def as_configured(value):
    """A value of the document of leond in the form of the configuration."""
    if isinstance(value, dict):
        return {word: as_configured(v) for word, v in value.items()}
    return {} if value is True else str(value)


def test_smoketest_commits_what_verify_allows(commitd, host, run_dir):
    leon0 = {**LEON0, **as_configured(smoketest.every_option())}
    host.config = {'interfaces': {'leon': {'leon0': leon0}}}
    assert commitd.call('interfaces_leon.py', 'leon0') == ''
    leon0['segment'] = as_configured(smoketest.SEGMENT)
    assert 'cannot be used together' in commitd.call('interfaces_leon.py', 'leon0')
    del leon0['acceleration']
    assert commitd.call('interfaces_leon.py', 'leon0') == ''


def test_one_process_for_all_interfaces(commitd, host, run_dir):
    """Each call reads its own interface, and a refused commit leaves no state."""
    both = {'leon0': LEON0, 'leon1': {**LEON0, 'port': '5367', 'vni': '7'}}
    host.config = {'interfaces': {'leon': both}}
    assert [commitd.call('interfaces_leon.py', name) for name in both] == ['', '']
    assert document('leon1')['vni'] == 7 and document().get('vni') != 7
    wrong = {**both, 'leon1': {**both['leon1'], 'metrics': {'port': '9366'}}}
    host.config = {'interfaces': {'leon': wrong}}
    assert commitd.call('interfaces_leon.py', 'leon1').startswith('Metrics have no address')
    host.config = {'interfaces': {'leon': {'leon0': LEON0}}}
    assert commitd.call('interfaces_leon.py', 'leon1') == ''
    assert not os.path.exists(runfile.config_path('leon1'))
    assert commitd.call('interfaces_leon.py', 'leon0') == ''
