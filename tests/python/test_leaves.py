# SPDX-License-Identifier: GPL-2.0-or-later
"""conf.def: the readers, equality with the leaves of the daemon, and completeness of the generated
files."""

import importlib.util
import json
import os
import re
import subprocess
import sys
from pathlib import Path

import jsonschema
import pytest
from vyos_leon import leaves

TOP = Path(__file__).resolve().parents[2]
LEOND = Path(os.environ.get('LEON_BUILD', TOP / 'build')) / 'vyos-1x-leon/dataplane/leond'
STATE = TOP / 'vyos-1x-leon/dataplane/state'
LEAVES = leaves.LEAVES


def module(path):
    """A script of the tree. Scripts of tests/lint import each other from their folder."""
    folder = str((TOP / path).parent)
    sys.path.insert(0, folder)
    try:
        spec = importlib.util.spec_from_file_location(path.stem, TOP / path)
        loaded = importlib.util.module_from_spec(spec)
        spec.loader.exec_module(loaded)
    finally:
        sys.path.remove(folder)
    return loaded


@pytest.fixture(scope='module')
def schema():
    return module(Path('vyos-1x-leon/tools/conf_schema.py')).schema()


@pytest.fixture(scope='module')
def tables():
    return module(Path('tests/lint/gen_tables.py'))


def refusal(tmp_path, document):
    """The error message of leond for a document, or '' without an error."""
    file = tmp_path / 'leon0.json'
    file.write_text(json.dumps(document))
    file.chmod(0o600)
    done = subprocess.run([LEOND, '--config', file, '--check'], capture_output=True, text=True,
                          timeout=60, check=False)
    assert bool(done.returncode) == bool(done.stderr.strip()) or done.returncode == 0
    return done.stderr if done.returncode else ''


# Other leaves that a leaf requires.
BESIDES = {
    'measurement interval': {'measurement': {'fast-interval': 20}},
    'measurement fast-interval': {'measurement': {'interval': 60000}},
    'peer NAME tls-port': {'transport': {'tls': {}}},
}
CRITICAL = {'policy': {'critical': {'vlan': ['7']}}}
BESIDES.update({f'policy critical {treatment}{leaf}': CRITICAL
                for treatment in ('duplicate', 'parity')
                for leaf in ('', ' budget', ' maximum-extra-delay', ' loss', ' jitter')})
BESIDES.update({f'flow-export {leaf}': {'flow-export': {'collector': '192.0.2.9'}}
                for leaf in ('port', 'sampling')})
BESIDES.update({'segment NAME vlan': {'segment': {'seoul': {'id': 7}}},
                'segment NAME id': {'segment': {'seoul': {'vlan': 7}}}})
# Names of named objects.
NAMES = {'NAME': 'seoul', 'PREFIX': '10.0.0.0/8', 'NODE': '192.0.2.7'}


def with_leaf(path, value):
    """A document with the given value of the leaf."""
    document = {'version': 1, 'interface': 'leon0', 'node-id': '192.0.2.1',
                'authentication': {'pre-shared-secret': 'correct horse'}}
    document.update(json.loads(json.dumps(BESIDES.get(path, {}))))
    if path.startswith('peer NAME'):
        document['peer'] = {'seoul': {'address': '192.0.2.2'}}
    nodes = document
    *above, last = [NAMES.get(word, word) for word in path.split()]
    for word in above:
        nodes = nodes.setdefault(word, {})
    nodes[last] = value
    return document


def is_valid(schema, document):
    return jsonschema.Draft7Validator(schema).is_valid(document)


# --- the reader ---

NUMBER = ('NUMBER(x_ms, "path x", uint32_t, 1000,\n\t1, 9, 3, "s", PATHS, DEFAULT, "",\n'
          '\t"X", "Y (of X, \\"z\\")", "Help",\n\t"One, "\n\t"two.")\n')


def test_entries_are_read():
    text = f'/* NUMBER(no) */\n#ifndef NUMBER\n#endif\nGROUP("One")\n{NUMBER}GROUP("Two")\n'
    (title, (leaf,)), two = leaves.read(text)
    assert title == 'One' and two == ('Two', [])
    assert leaf.path == 'path x' and leaf.section == 'path' and not leaf.restarts
    assert (leaf.of['scale'], leaf.of['low'], leaf.of['high'], leaf.of['default']) == (1000, 1, 9, 3)
    assert leaf.of['value'] == 'Y (of X, "z")' and leaf.of['text'] == 'One, two.'


@pytest.mark.parametrize('text', [
    'NUMBER(x, "path x")\n', 'NUMBRE("x")\n', NUMBER[:-2], NUMBER.replace('PATHS, ', ''),
])
def test_what_is_no_entry_is_not_passed_over(text):
    with pytest.raises(leaves.Fault):
        leaves.read('GROUP("One")\n' + text)


def test_there_are_leaves_of_every_kind():
    assert {leaf.kind for leaf in LEAVES.values()} == set(leaves.ARGUMENTS) - {'GROUP'}
    assert len(LEAVES) == sum(len(group) for _, group in leaves.GROUPS) > 60


# --- the daemon ---


@pytest.mark.parametrize('path', LEAVES)
def test_daemon_knows_it(tmp_path, path):
    """leond refuses a value of a wrong type with the path of the leaf, and not as an unknown key.
    """
    bad = [1] if LEAVES[path].kind == 'OBJECT' else {'x': 1} if path != 'peer' else 7
    said = refusal(tmp_path, with_leaf(path, bad))
    key = '.'.join(NAMES.get(word, word) for word in path.split())
    assert re.search(rf'(^|[ :]){re.escape(key)}(\.x)?: ', said), said
    assert 'unknown key' not in said


def test_daemon_has_no_other_keys():
    source = ''.join(p.read_text() for p in sorted((STATE / 'conf').glob('*.c')))
    keys = set(re.findall(r'(?:get_\w+|conf_list|conf_map|jsonr_(?:str|bool|u64|object|array|has))\('
                          r'(?:[^()"]|\([^()]*\))*"([a-z-]+)"', source))
    assert {'pre-shared-secret', 'port', 'node'} <= keys
    # Files of 0.2.0 may have `power`.
    assert keys - {word for path in LEAVES for word in path.split()} == {'version', 'power'}


RANGES = [path for path, leaf in LEAVES.items() if leaf.kind in leaves.NUMBERS]


@pytest.mark.parametrize('path', RANGES)
def test_ranges(tmp_path, schema, path):
    """leond and the schema accept the limits and refuse values beyond."""
    low, high = leaves.limits(path)
    if path.startswith('import prefix'):
        low, high = 8, 32  # of the prefix in question
    for value, right in ((low, True), (high, True), (low - 1, False), (high + 1, False)):
        document = with_leaf(path, value)
        said = refusal(tmp_path, document)
        assert (said == '') == right, (value, said)
        if not path.startswith('import prefix'):
            assert is_valid(schema, document) == right, value
            assert right or f'{low} to {high}' in said


@pytest.mark.parametrize('path', [p for p, leaf in LEAVES.items() if leaf.kind == 'CHOICE'])
def test_choices(tmp_path, schema, path):
    names = LEAVES[path].of['names'].split()
    assert LEAVES[path].of['default'] in names
    for value in [*names, 'other', names[0] + 'x', names[0][:-1], '']:
        document = with_leaf(path, value)
        said = refusal(tmp_path, document)
        assert (said == '') == is_valid(schema, document) == (value in names), (value, said)
    assert f'must be {", ".join(names[:-1])} or {names[-1]}' in said


@pytest.mark.parametrize('path', [p for p, leaf in LEAVES.items()
                                  if leaf.kind in leaves.FLAGS | {'OBJECT'}])
def test_flags(tmp_path, schema, path):
    good = [{}] if LEAVES[path].kind == 'OBJECT' else [True, False]
    for value in [*good, 1, 'true', [], '']:
        document = with_leaf(path, value)
        if path == 'authentication disable' and value is True:
            del document['authentication']['pre-shared-secret']
        if path == 'multicast querier':
            document['multicast']['snooping'] = True
        right = any(value is g or value == g == {} for g in good)
        said = refusal(tmp_path, document)
        assert (said == '') == right, (value, said)
        assert is_valid(schema, document) == right, value


# --- the schema ---


def test_schema_is_one(schema):
    jsonschema.Draft7Validator.check_schema(schema)


DOCUMENTS = sorted([*(TOP / 'tests/python/golden').glob('leond-*.json'),
                    *(TOP / 'vyos-1x-leon/doc/examples').glob('*.json')])


@pytest.mark.parametrize('path', DOCUMENTS, ids=lambda path: path.stem)
def test_schema_takes_configurations(schema, path):
    document = json.loads(path.read_text())
    assert is_valid(schema, document)
    assert not is_valid(schema, {**document, 'other': 1})
    assert not is_valid(schema, {**document, 'path': {'treshold': 10}})
    del document['interface']
    assert not is_valid(schema, document)


def test_schema_knows_lists_and_tables(schema):
    many = {str(i): {'address': '192.0.2.1'} for i in range(257)}
    assert not is_valid(schema, with_leaf('peer', many))
    assert not is_valid(schema, with_leaf('peer NAME port', 0))
    assert not is_valid(schema, with_leaf('peer', {'a': {}}))
    assert is_valid(schema, with_leaf('overlay-address', ['10.0.0.1'] * 4))
    assert not is_valid(schema, with_leaf('overlay-address', ['10.0.0.1'] * 5))
    assert not is_valid(schema, with_leaf('interface', ''))


# --- the manual ---


def test_manual_is_up_to_date(tables):
    for path in tables.PAGES:
        page = (TOP / path).read_text()
        assert tables.regenerate(path, page) == (page, []), path


@pytest.mark.parametrize('path', ['path variation-margin', 'system log-level', 'peer NAME port'])
def test_leaf_missing_in_the_manual_is_noticed(tables, path):
    whole = (TOP / tables.REFERENCE).read_text()
    without, found = re.subn(rf'^\| `{path}`.*\n', '', whole, flags=re.M)
    assert found == 1
    assert tables.regenerate(tables.REFERENCE, without) == (whole, [])


def test_manual_page_has_every_leaf():
    """The generated source of leond.json(5)."""
    page = subprocess.run(
        [TOP / 'vyos-1x-leon/tools/conf_manual.py', TOP / 'vyos-1x-leon/doc/man/leond.json.5.scd.in'],
        capture_output=True, text=True, timeout=60, check=True).stdout
    listed = re.findall(r'^_(\S+)_ \((?:live|restart)\)$', page, re.M)
    assert listed == [path.replace(' ', '.') for path in LEAVES]


def test_page_without_its_table_is_noticed(tables):
    whole = (TOP / tables.REFERENCE).read_text().replace('<!-- leaves -->', '')
    assert tables.regenerate(tables.REFERENCE, whole) == (whole, ['leaves'])
