# SPDX-License-Identifier: GPL-2.0-or-later
"""Our part of the caches of VyOS. A few lines of the test apply the rules of vyos-op-run for
operators. The names of fields are those of VyOS."""
import json
import os
import pty
import re
import shutil
import signal
import subprocess
import sys
import types

import pytest

from conftest import TOP
from vyos_leon import caches

sys.path.insert(0, str(TOP / 'vyos-1x-leon/tools'))
sys.path.insert(0, str(TOP / 'tests/packaging'))

import build_templates  # noqa: E402
from leon_cli import cache  # noqa: E402
from stand_ins import INCLUDE, OP_CACHE, REFERENCE  # noqa: E402

FOLDERS = {'config': 'vyos-1x-leon/interface-definitions', 'op': 'op-mode/definitions'}
LISP = {'protocols_lisp.xml.in', 'lisp.xml.in'}
ADDRESS = '[2001:db8::1]:443'
IDENTITY = '0123456789abcdef' * 4


def ours(mode, package=None):
    """The definitions of one package, or of both packages."""
    paths = sorted((TOP / FOLDERS[mode]).glob('*.xml.in'))
    if package:
        paths = [path for path in paths if (path.name in LISP) == package.endswith('-lisp')]
    return getattr(cache, mode)(build_templates.read_all(mode, paths).values())


@pytest.fixture(scope='module')
def parts():
    return {'op_cache.json': ours('op'), 'reftree.json': ours('config')}


@pytest.fixture
def vyos(tmp_path, monkeypatch):
    """The files of VyOS and of LEON."""
    for name, value in (('configd-include.json', INCLUDE), ('op_cache.json', OP_CACHE),
                        ('reftree.cache', REFERENCE)):
        (tmp_path / name).write_text(json.dumps(value))
    for package in caches.SCRIPTS:
        unpack(tmp_path, package)
    monkeypatch.setattr(caches, 'VYOS', str(tmp_path))
    monkeypatch.setattr(caches, 'SHARE', str(tmp_path))
    return lambda name: json.loads((tmp_path / name).read_text())


def unpack(folder, package):
    made = folder / package / 'cache'
    made.mkdir(parents=True, exist_ok=True)
    for name, mode in (('op_cache.json', 'op'), ('reftree.json', 'config')):
        (made / name).write_text(json.dumps(ours(mode, package)))


class Refused(Exception):
    pass


def run(tree, *words):
    """The command of these words, or Refused, by the rules of vyos-op-run for an operator."""
    node, parent, values = tree, '', {}
    words = list(words)
    while words:
        word = words.pop(0)
        if word in node:
            node, parent = node[word], word
            continue
        data = node['__node_data']
        virtual = node.get('__virtual_tag')
        if data['node_type'] != 'tagNode' and virtual is None:
            raise Refused(word)
        values[f'{parent}-tag_value'] = word
        if virtual is not None:
            node = virtual
        else:
            parent = word if words else parent
        if not words:
            data = node['__node_data']
            if not any(re.fullmatch(r, word) for r in data['constraints']['regexes']):
                raise Refused(word)
    command = node['__node_data']['command']
    if command is None:
        raise Refused('incomplete')
    for name, value in values.items():
        command = command.replace('{{' + name + '}}', value)
    assert '{{' not in command and '$' not in command.removeprefix('TERM=${TERM:-vt100} ')
    return command


def paths_of(node, path=()):
    """The words of all commands, with None for an argument."""
    data = node.get('__node_data', {})
    if data.get('node_type') in ('tagNode', 'virtualTagNode'):
        path = (*path, None)
    if data.get('command'):
        yield path
    for name, child in node.items():
        if name == '__virtual_tag':
            yield from paths_of(child, path)
        elif name != '__node_data':
            yield from paths_of(child, (*path, name))


@pytest.mark.parametrize('argument', [
    'leon0', '2001:db8::1', '2001:db8::/32', ADDRESS, IDENTITY, 'tokyo-1.example_net', '10.0.0.1:80'])
def test_an_operator_runs_every_command(parts, argument):
    tree = parts['op_cache.json']
    found = [path for path in paths_of(tree) if 'capture' not in path]
    assert len(found) > 60
    for path in found:
        command = run(tree, *(argument if word is None else word for word in path))
        assert 'sudo' not in command
        assert (argument in command) == (None in path)


@pytest.mark.parametrize('argument', ['$(id)', 'a;b', 'a b', "a'b", 'a"b', '`id`', 'a|b', '', 'a&b'])
def test_characters_of_the_shell_are_refused(parts, argument):
    with pytest.raises(Refused):
        run(parts['op_cache.json'], 'show', 'leon', 'explain', argument)


CAPTURE = ('monitor', 'leon', 'capture', 'interface', 'leon0', 'filter')
FILTER = 'host 2001:db8::1 proto tcp port 443'


def test_an_operator_captures(parts):
    """A filter is one word of the shell."""
    tree = parts['op_cache.json']
    assert f"--flow '{FILTER}'" in run(tree, *CAPTURE, FILTER)
    assert run(tree, *CAPTURE, FILTER, 'save', 'a.pcapng').endswith("--save 'a.pcapng'")
    for name in '/etc/passwd', '../a', '.a', 'a b', '-w':
        with pytest.raises(Refused):
            run(tree, *CAPTURE, FILTER, 'save', name)
    for text in "'; id'", '$(id)', 'a&b':
        with pytest.raises(Refused):
            run(tree, *CAPTURE, text)


def test_a_node_and_a_tag_node_of_one_name(parts):
    tree = parts['op_cache.json']
    script = '/usr/libexec/vyos/op_mode/interfaces.py'
    assert run(tree, 'show', 'interfaces', 'leon') == f'{script} show_summary --intf-type=leon'
    assert run(tree, 'show', 'interfaces', 'leon', 'leon0', 'brief') == (
        f"{script} show_summary --intf-name='leon0' --intf-type=leon")


def test_words_stay_one_word(parts):
    command = run(parts['op_cache.json'], 'show', 'log', 'leon', 'interface', 'leon0')
    assert """--unit "leond@"'leon0'".service" """ in command


@pytest.mark.skipif(not shutil.which('watch'), reason='there is no watch')
def test_an_operator_monitors(parts):
    """vyos-op-run sets the environment, without TERM."""
    command = run(parts['op_cache.json'], 'monitor', 'leon', 'paths')
    master, slave = pty.openpty()
    monitor = subprocess.Popen(
        ['sh', '-c', command.replace('/usr/libexec/vyos/op_mode/leon.py', 'echo')],
        stdin=slave, stdout=slave, stderr=slave, start_new_session=True,
        env={'PATH': '/usr/sbin:/usr/bin:/sbin:/bin'})
    os.close(slave)
    shown = b''
    try:
        while b'show_paths' not in shown:
            shown += os.read(master, 4096)
    finally:
        os.killpg(monitor.pid, signal.SIGKILL)
        monitor.wait(timeout=60)
        os.close(master)


def named(node, *path):
    for name in path:
        (node,) = [child for child in node['children'] if child['name'] == name]
    return node


def test_merged_and_taken_out_again(vyos, tmp_path):
    for _ in range(2):
        caches.main(['install'])
        assert vyos('configd-include.json') == sorted([*INCLUDE, *caches.SCRIPTS.values()])
        assert run(vyos('op_cache.json'), 'show', 'version') == 'uname'
        assert 'show_nodes' in run(vyos('op_cache.json'), 'show', 'leon', 'nodes')
        tree = vyos('reftree.cache')
        assert [c['name'] for c in named(tree, 'interfaces')['children']] == ['ethernet', 'leon']
        vlan = named(tree, 'interfaces', 'leon', 'vlan')['data']
        assert set(vlan) == set(REFERENCE['data'])
        assert vlan['constraints'] == [['exec', 'leon-vlan', '--range 0-4094']]
        assert vlan['multi'] and vlan['node_type'] == 'leaf'
        assert named(tree, 'interfaces', 'leon')['data']['owner'].endswith('interfaces_leon.py')
    for package in reversed(caches.SCRIPTS):
        caches.main(['remove', package])
        shutil.rmtree(tmp_path / package)
    assert_without_leon(vyos)


def assert_without_leon(vyos):
    assert vyos('configd-include.json') == INCLUDE
    assert vyos('reftree.cache') == REFERENCE
    assert vyos('op_cache.json') == OP_CACHE


def has_leon(vyos):
    leon = 'interfaces_leon.py' in vyos('configd-include.json')
    assert leon == ('leon' in vyos('op_cache.json')['show'])
    assert leon == ('leon' in children(vyos, 'interfaces'))
    return leon


def has_lisp(vyos):
    lisp = 'protocols_lisp.py' in vyos('configd-include.json')
    assert lisp == ('lisp' in vyos('op_cache.json')['show'])
    assert lisp == ('lisp' in children(vyos, 'protocols'))
    return lisp


def children(vyos, name):
    return [child['name'] for child in named(vyos('reftree.cache'), name)['children']]


def test_each_package_has_its_own(vyos):
    """LISP is installed and removed, and LEON stays."""
    caches.main(['install'])
    assert has_leon(vyos) and has_lisp(vyos)
    caches.main(['remove', 'vyos-1x-leon-lisp'])
    assert has_leon(vyos) and not has_lisp(vyos)
    caches.main(['install'])
    assert has_lisp(vyos)


def test_lisp_of_one_package_goes_at_the_upgrade(vyos, tmp_path):
    """Up to 0.2.0 and later builds, vyos-1x-leon merged both parts."""
    shutil.rmtree(tmp_path / 'vyos-1x-leon-lisp')
    merged = {'op_cache.json': ours('op'), 'reftree.json': ours('config')}
    for name, value in merged.items():
        (tmp_path / 'vyos-1x-leon/cache' / name).write_text(json.dumps(value))
    caches.main(['install'])
    include = json.loads((tmp_path / 'configd-include.json').read_text())
    (tmp_path / 'configd-include.json').write_text(json.dumps([*include, 'protocols_lisp.py']))
    assert has_leon(vyos) and has_lisp(vyos)
    unpack(tmp_path, 'vyos-1x-leon')
    caches.main(['install'])
    assert has_leon(vyos) and not has_lisp(vyos)


def test_an_older_reference_tree(vyos, tmp_path):
    old = {**REFERENCE['data'], 'node_type': ['Other']}
    tree = {'name': '', 'data': old, 'children': []}
    (tmp_path / 'reftree.cache').write_text(json.dumps(tree))
    caches.main(['install'])
    assert named(vyos('reftree.cache'), 'interfaces', 'leon')['data']['node_type'] == ['Tag']


def test_unknown_fields_have_the_values_of_vyos(vyos, tmp_path):
    """VyOS refuses the file for a missing field, also inside of another one."""
    docs = {'headline': '', 'new': []}
    tree = {**REFERENCE, 'data': {**REFERENCE['data'], 'docs': docs, 'kind': []}}
    (tmp_path / 'reftree.cache').write_text(json.dumps(tree))
    caches.main(['install'])
    data = named(vyos('reftree.cache'), 'interfaces', 'leon', 'vlan')['data']
    assert (data['docs'], data['kind']) == (docs, [])


@pytest.mark.parametrize('is_read', [True, False])
def test_vyos_reads_the_reference_tree_first(vyos, tmp_path, monkeypatch, capsys, is_read):
    """vyos-configd does not start without a reference tree."""
    def read(path):
        assert 'leon' in open(path, encoding='utf-8').read()
        if not is_read:
            raise ValueError('Failed to read internal rep: docs')

    module = types.ModuleType('vyos.referencetree')
    module.ReferenceTree = read
    monkeypatch.setitem(sys.modules, 'vyos.referencetree', module)
    caches.main(['install'])
    assert ('leon' in children(vyos, 'interfaces')) == is_read
    assert ('stays as it is: Failed to read' in capsys.readouterr().err) != is_read
    assert 'leon' in vyos('op_cache.json')['show']
    assert not (tmp_path / 'reftree.cache.leon-new').exists()


def test_files_that_vyos_lacks_are_skipped(vyos, tmp_path):
    for name in caches.FILES:
        (tmp_path / name).unlink()
    caches.main(['install'])
    assert not any((tmp_path / name).exists() for name in caches.FILES)
