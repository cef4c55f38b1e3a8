# SPDX-License-Identifier: GPL-2.0-or-later
"""Commands of the documents for the VyOS CLI can be copied and pasted. `set` commands are in the
definitions, pass verify(), and produce documents accepted by leond. Show commands exist.
Statements about restarts agree with the definitions.
"""

import os
import re
import shlex
import subprocess
import sys
from pathlib import Path

import pytest
from vyos.config import mangle
from vyos.template import render_to_string
from vyos_leon import boot, model, verify

TOP = Path(__file__).resolve().parents[2]
LEOND = (
    Path(os.environ.get('LEON_BUILD', TOP / 'build')) / 'vyos-1x-leon/dataplane/leond'
)
sys.path.insert(0, str(TOP / 'vyos-1x-leon/tools'))

from leon_cli import source  # noqa: E402

PAGE = ''.join(
    (TOP / 'vyos-1x-leon/doc' / name).read_text()
    for name in ('tutorial.md', 'vyos.md', 'vyos-reference.md')
)
# Commands have no language mark. Blocks with a mark (JSON) are not for the CLI.
BLOCKS = [
    text
    for language, text in re.findall(r'^```(\w*)\n(.*?)^```$', PAGE, re.S | re.M)
    if not language
]


def definitions():
    path = TOP / 'vyos-1x-leon/interface-definitions/interfaces_leon.xml.in'
    return source.read(path).root.find('.//tagNode[@name="leon"]')


def step(element, word):
    for node in element.find('children'):
        if node.get('name') == word:
            return node
    raise AssertionError(f'no node "{word}" in "{element.get("name")}"')


def accepts(element, value):
    regexes = [r.text for r in element.findall('properties/constraint/regex')]
    validators = [v.get('name') for v in element.findall('properties/constraint/validator')]
    if regexes and 'ipv4-address' in validators:
        regexes.append(r'(\d{1,3}\.){3}\d{1,3}')
    if regexes and 'numeric' in validators:
        regexes.append(r'\d+')
    return not regexes or any(re.fullmatch(regex, value) for regex in regexes)


def put(tree, element, words):
    """Sets one command in a configuration tree like the CLI, or raises an error."""
    if not words and element.tag in ('node', 'tagNode'):
        return  # a node with a meaning but without a leaf, such as export next-hop
    node = step(element, words[0])
    if node.tag == 'node':
        put(tree.setdefault(words[0], {}), node, words[1:])
    elif node.tag == 'tagNode':
        assert accepts(node, words[1])
        branch = tree.setdefault(words[0], {}).setdefault(words[1], {})
        put(branch, node, words[2:])
    elif node.find('properties/valueless') is not None:
        assert len(words) == 1
        tree[words[0]] = {}
    else:
        assert len(words) == 2 and accepts(node, words[1]), words
        multi = node.find('properties/multi') is not None
        tree[words[0]] = [*tree.get(words[0], []), words[1]] if multi else words[1]


def delete(element, words):
    """A deleted leaf may have a value, which its definition accepts."""
    while words and element.tag != 'leafNode':
        element, words = step(element, words[0]), words[1:]
        if element.tag == 'tagNode' and words:
            assert accepts(element, words[0])
            words = words[1:]
    assert not words or len(words) == 1 and accepts(element, words[0]), words


def words_of(line):
    """With a secret in place of the placeholder, which is too short for the CLI."""
    return shlex.split(line.replace('<key>', 'correct-horse-battery'))


def configurations():
    """{(block, interface): tree} of all complete groups of `set interfaces leon` commands."""
    found = {}
    for number, block in enumerate(BLOCKS):
        for line in block.splitlines():
            words = words_of(line)
            if words[:3] == ['set', 'interfaces', 'leon'] and 'source-address' in block:
                tree = found.setdefault((number, words[3]), {})
                put(tree, definitions(), words[4:])
    return found


CONFIGURATIONS = configurations()


def test_all_sites_and_the_second_overlay_are_there():
    assert [name for _, name in CONFIGURATIONS] == ['leon0', 'leon0', 'leon0', 'leon1']


@pytest.mark.parametrize('key', CONFIGURATIONS, ids=str)
def test_configuration_is_fine(key, tmp_path):
    config = {**mangle(CONFIGURATIONS[key], ('leon', key[1])), 'ifname': key[1]}
    assert verify.check(config) == verify.Verdict([], [])
    path = tmp_path / 'leon.json'
    path.write_text(render_to_string('leon/leond.json.j2', model.build(config)))
    path.chmod(0o600)
    if LEOND.exists():
        subprocess.run([LEOND, '--check', '--config', path], check=True)


def test_readme_shows_commands_of_the_example():
    text = (TOP / 'README.md').read_text()
    shown = re.findall(r'^    (set interfaces leon .*)$', text, re.M)
    fujisawa = next(block for block in BLOCKS if 'node-name fujisawa' in block)
    assert len(shown) >= 5
    assert [line for line in shown if line not in fujisawa.splitlines()] == []


def test_single_commands_are_in_the_definitions():
    for block in BLOCKS:
        for line in block.splitlines():
            words = words_of(line)
            if words[1:3] == ['interfaces', 'leon']:
                node = definitions()
                if words[0] == 'set':
                    put({}, node, words[4:])
                else:
                    delete(node, words[4:])


def restart_words(element, path=()):
    for node in element.find('children'):
        if not isinstance(node.tag, str):
            continue
        here = (*path, node.get('name'))
        if node.tag == 'leafNode':
            if 'restarts the interface' in node.findtext('properties/help'):
                yield ' '.join(here)
        else:
            yield from restart_words(node, here)


def test_what_restarts_is_what_the_definitions_say():
    (row,) = [
        line for line in PAGE.splitlines() if '| leond restarts and joins' in line
    ]
    assert set(re.findall('`(.+?)`', row.split('|')[1])) == set(
        restart_words(definitions())
    )


def op_nodes(words):
    """True if an op-mode definition has the words. Any value of a tag node matches."""
    for path in (TOP / 'op-mode/definitions').glob('*.xml.in'):
        elements = [source.read(path).root]
        rest = list(words)
        while elements and rest:
            word = rest.pop(0)
            elements = [
                child
                for element in elements
                for child in element.xpath('children/*|node')
                if child.get('name') == word
            ]
            if any(e.tag == 'tagNode' for e in elements) and rest:
                elements = [e for e in elements if e.tag == 'tagNode']
                rest.pop(0)
        if elements:
            return True
    return False


@pytest.mark.parametrize(
    'command', re.findall(r'^    vyos@\w+:~\$ (.+)$', PAGE, re.M), ids=str
)
def test_command_exists(command):
    assert op_nodes(command.split())


def test_kept_packages_are_named():
    section = PAGE.split('\n## A boot without the package\n')[1].split('\n## ')[0]
    # The command of the section Install has leon-accel.
    for package in set(boot.OPTIONAL) - {'leon-accel'}:
        assert f'`{package}`' in section
    assert 'again after' not in section
