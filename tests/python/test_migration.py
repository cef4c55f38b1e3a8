# SPDX-License-Identifier: GPL-2.0-or-later
"""The migration scripts with a simulated ConfigTree of VyOS."""
import importlib.machinery
import importlib.util
import sys
import types
from pathlib import Path

import pytest

from test_commitd import leaves, value_of

FOLDER = Path(__file__).resolve().parents[2] / 'vyos-1x-leon/migration-scripts/leon'
KEY = '0123456789abcdef' * 4


class ConfigTree:
    """The subset for the scripts: nodes are dictionaries, values of a leaf a list."""

    def __init__(self, tree):
        self.tree = tree

    def at(self, path):
        node = self.tree
        for word in path:
            node = node[word]
        return node

    def exists(self, path):
        try:
            self.at(path)
        except KeyError:
            return False
        return True

    def list_nodes(self, path):
        return list(self.at(path))

    def return_values(self, path):
        return list(self.at(path))

    def return_value(self, path):
        (value,) = self.at(path)
        return value

    def set(self, path, value=None):
        node = self.tree
        for word in path[:-1]:
            node = node.setdefault(word, {})
        node[path[-1]] = {} if value is None else [value]

    def delete_value(self, path, value):
        self.at(path).remove(value)
        if not self.at(path):
            self.delete(path)

    def delete(self, path):
        del self.at(path[:-1])[path[-1]]

    def rename(self, path, name):
        node = self.at(path[:-1])
        node[name] = node.pop(path[-1])


def load(name):
    """The scripts have no suffix, as in VyOS."""
    loader = importlib.machinery.SourceFileLoader(name, str(FOLDER / name))
    module = importlib.util.module_from_spec(importlib.util.spec_from_loader(name, loader))
    loader.exec_module(module)
    return module


@pytest.fixture
def migrate(monkeypatch):
    fake = types.ModuleType('vyos.configtree')
    fake.ConfigTree = ConfigTree
    monkeypatch.setitem(sys.modules, 'vyos.configtree', fake)
    return lambda name, tree: load(name).migrate(ConfigTree(tree))


def rules(**prefixes):
    return {'interfaces': {'leon': {'leon0': {'import': {'prefix': prefixes}}, 'leon1': {}}}}


def test_a_name_in_import_is_removed(migrate, capsys):
    tree = rules(**{'10.0.0.0/8': {'le': ['24'], 'node': ['10.0.0.2', 'seoul', KEY]}})
    migrate('1-to-2', tree)
    assert tree == rules(**{'10.0.0.0/8': {'le': ['24'], 'node': ['10.0.0.2', KEY]}})
    assert '10.0.0.0/8 node seoul" is removed' in capsys.readouterr().out


def test_a_rule_is_never_widened(migrate):
    """Without a node the rule would accept the prefix from every node."""
    tree = rules(**{'10.0.0.0/8': {'node': ['seoul', 'tokyo']}, '10.1.0.0/16': {'le': ['24']}})
    migrate('1-to-2', tree)
    assert tree == rules(**{'10.1.0.0/16': {'le': ['24']}})


@pytest.mark.parametrize('name', ['0-to-1', '1-to-2', '3-to-4'])
@pytest.mark.parametrize('tree', [{}, {'interfaces': {}}, {'interfaces': {'leon': {'leon0': {}}}}])
def test_nothing_to_do(migrate, name, tree):
    before = str(tree)
    migrate(name, tree)
    assert str(tree) == before


def current():
    """A configuration of this release with every leaf, and one without a secret."""
    tree = ConfigTree({})
    for path, data in leaves():
        value = None if data['valueless'] else value_of(data)
        tree.set(['interfaces', 'leon', 'leon0', *path], value=value)
    tree.set(['interfaces', 'leon', 'leon1', 'authentication', 'disable'])
    return tree.tree


@pytest.mark.parametrize('name', sorted(path.name for path in FOLDER.glob('*-to-*')))
def test_a_current_configuration_stays(migrate, name):
    """A boot of an image without the package runs all scripts, because VyOS drops the version."""
    tree = current()
    assert {'import', 'measurement', 'member', 'path'} <= set(tree['interfaces']['leon']['leon0'])
    migrate(name, tree)
    assert tree == current()


def test_an_interface_without_a_secret_says_so(migrate, capsys):
    kept = {'authentication': {'pre-shared-secret': ['correct horse']}}
    tree = {'interfaces': {'leon': {'leon0': dict(kept), 'leon1': {'authentication': {}},
                                    'leon2': {'vni': ['7']}}}}
    migrate('2-to-3', tree)
    stated = {'authentication': {'disable': {}}}
    assert tree['interfaces']['leon'] == {'leon0': kept, 'leon1': stated,
                                          'leon2': {'vni': ['7'], **stated}}
    assert capsys.readouterr().out.count('because there is no secret') == 2
    migrate('2-to-3', {'interfaces': {}})


def test_renamed_leaves_keep_their_values(migrate):
    tree = {'interfaces': {'leon': {
        'leon0': {'path': {'noise-margin': ['90'], 'lasting-threshold': ['7'], 'threshold': ['9']},
                  'measurement': {'lasting-time': ['900']},
                  'acceleration': {'mode': ['always'], 'power': {'slow': ['1']}}},
        'leon1': {'path': {'threshold': ['9']}}}}}
    migrate('3-to-4', tree)
    assert tree['interfaces']['leon'] == {
        'leon0': {'path': {'variation-margin': ['90'], 'long-term-threshold': ['7'],
                           'threshold': ['9']},
                  'measurement': {'long-term-time': ['900']},
                  'acceleration': {'mode': ['always']}},
        'leon1': {'path': {'threshold': ['9']}}}


@pytest.mark.parametrize('before, after', [('4096', '3072'), ('3072', '3072'), ('100', '100')])
def test_more_members_than_a_summary_names(migrate, before, after):
    tree = {'interfaces': {'leon': {'leon0': {'member': {'maximum': [before]}}}}}
    migrate('3-to-4', tree)
    assert tree['interfaces']['leon']['leon0']['member'] == {'maximum': [after]}
