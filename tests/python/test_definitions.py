# SPDX-License-Identifier: GPL-2.0-or-later
"""The command definitions follow the grammar, equal the recorded node.def files, and agree with
the daemon and the op-mode script.

The generators of vyos-1x write the recorded files (golden/) for the same definitions;
tests/vyos/compare_with_vyos.py proves the equality. After a change of the definitions:
    LEON_WRITE_GOLDEN=1 python3 -m pytest tests/python/test_definitions.py
and read the difference before the commit.
"""
import ast
import inspect
import json
import os
import re
import subprocess
import sys
import typing
from pathlib import Path

import pytest

TOP = Path(__file__).resolve().parents[2]
GOLDEN = Path(__file__).parent / 'golden'
sys.path.insert(0, str(TOP / 'vyos-1x-leon/tools'))

import build_templates  # noqa: E402
import smoketest  # noqa: E402
from leon_cli import grammar, source  # noqa: E402
from vyos_leon import leaves as leaves_  # noqa: E402
from vyos_leon import model, policy  # noqa: E402
from vyos_leon.lisp import model as lisp_model  # noqa: E402

FOLDERS = {
    'config': TOP / 'vyos-1x-leon/interface-definitions',
    'op': TOP / 'op-mode/definitions',
}
LEON = 'interfaces/leon/node.tag'

# Numbers of conf.def: minimum, maximum, and the default of the CLI.
NUMBERS = {
    leaf.path.replace('PREFIX', 'NAME').replace('NODE', 'NAME'): (
        # An omitted leaf of the CLI is not a value there.
        leaf.of['low'] + (leaf.of['cli'] == 'NOT_0'),
        leaf.of['high'],
        leaf.of['default'] if leaf.of['cli'] == 'DEFAULT' else None,
    )
    for leaf in leaves_.LEAVES.values()
    if leaf.kind in leaves_.NUMBERS and leaf.path not in model.NOT_AT_CLI
}
# Objects that are enabled by presence and have leaves too: nodes, not leaves.
SECTIONS = {leaf.section for leaf in leaves_.LEAVES.values()}
# Definitions for leond, leon-ipsec and leon-metrics.
OTHERS = {
    path.replace('PREFIX', 'NAME').replace('NODE', 'NAME')
    for path, leaf in leaves_.LEAVES.items()
    if path not in model.NOT_AT_CLI and leaf.kind != 'TABLE' and path not in SECTIONS
} | {
    *(f'ipsec {word}' for word in (
        'authentication local-id', 'authentication mode', 'authentication pre-shared-secret',
        'authentication remote-id', 'authentication x509 ca-certificate',
        'authentication x509 certificate', 'authentication x509 passphrase', 'esp-group',
        'force-udp-encapsulation', 'ike-group')),
    'metrics listen-address', 'metrics port',
}  # fmt: skip
# Nodes of every tunnel interface of VyOS.
OF_VYOS = {
    'address', 'description', 'disable', 'redirect', 'vrf', 'mirror ingress', 'mirror egress',
    'ip adjust-mss', 'ip arp-cache-timeout', 'ip disable-arp-filter', 'ip disable-forwarding',
    'ip enable-arp-accept', 'ip enable-arp-announce', 'ip enable-arp-ignore',
    'ip enable-directed-broadcast', 'ip enable-proxy-arp', 'ip proxy-arp-pvlan',
    'ip source-validation', 'ipv6 adjust-mss', 'ipv6 accept-dad', 'ipv6 base-reachable-time',
    'ipv6 disable-forwarding', 'ipv6 dup-addr-detect-transmits', 'ipv6 source-validation',
    'ipv6 address autoconf', 'ipv6 address eui64', 'ipv6 address no-default-link-local',
}  # fmt: skip
NEEDS_RESTART = {
    path for path, leaf in leaves_.LEAVES.items()
    if leaf.restarts and leaf.kind != 'TABLE' and path not in model.NOT_AT_CLI | SECTIONS
}


@pytest.fixture(scope='module', params=list(FOLDERS))
def mode(request):
    return request.param


def definitions(mode):
    return build_templates.read_all(mode, sorted(FOLDERS[mode].glob('*.xml.in')))


@pytest.fixture(scope='module')
def trees():
    return {mode: build_templates.build(mode, definitions(mode)) for mode in FOLDERS}


@pytest.fixture(scope='module')
def leaves():
    """'path threshold' -> leafNode of the path."""
    (definition,) = [
        d for p, d in definitions('config').items() if p.name == 'interfaces_leon.xml.in'
    ]
    found = {}
    for leaf in definition.root.iter('leafNode'):
        names = [leaf.get('name')]
        for above in leaf.iterancestors('node', 'tagNode'):
            names += ['NAME'] * (above.tag == 'tagNode') + [above.get('name')]
        names = names[::-1][3:]
        found[' '.join(names)] = leaf
    return found


def test_grammar(mode):
    for path in FOLDERS[mode].glob('*.xml.in'):
        assert grammar.check(source.read(path), mode) == []


def test_recorded_node_defs(mode, trees):
    text = ''.join(f'=== {name}\n{trees[mode][name]}' for name in sorted(trees[mode]))
    path = GOLDEN / f'{mode}.node-defs'
    if os.environ.get('LEON_WRITE_GOLDEN'):
        path.write_text(text)
    assert text == path.read_text()


def test_no_file_of_another_package(trees):
    """dpkg would refuse the package because of parents owned by vyos-1x."""
    ours = ('interfaces/leon/', 'protocols/lisp/')
    assert all(name.startswith(ours) for name in trees['config'])
    assert all('/leon/' in f'/{name}' or '/lisp/' in f'/{name}' for name in trees['op'])


def test_complete(leaves):
    """Fails for a leaf of conf.def without a definition, and for a definition without a leaf."""
    assert set(leaves) == OTHERS | OF_VYOS


@pytest.mark.parametrize('word', NUMBERS)
def test_numbers(leaves, word):
    low, high, default = NUMBERS[word]
    leaf = leaves[word]
    (validator,) = leaf.iter('validator')
    assert validator.get('argument') == f'--range {low}-{high}'
    assert leaf.findtext('properties/valueHelp/format') == f'u32:{low}-{high}'
    assert leaf.findtext('defaultValue') == (None if default is None else str(default))


def flat(nodes, above=()):
    for word, value in nodes.items():
        here = (*above, word)
        yield from flat(value, here) if isinstance(value, dict) else [' '.join(here)]


def test_smoketest_sets_what_the_daemon_accepts(tmp_path):
    wanted = smoketest.every_option()
    assert wanted['path']['threshold'] == 20 and len(list(flat(wanted))) > 60
    # VyOS lacks the library that this machine may have.
    assert wanted['system']['cipher-library'] == 'libcrypto'
    assert is_accepted(tmp_path, **wanted)
    del wanted['acceleration']
    assert is_accepted(tmp_path, **wanted, segment=smoketest.SEGMENT)


def test_smoketest_sets_every_leaf(leaves):
    """The test for the runner of VyOS names each of our words. No leaf is therefore new to VyOS at
    an operator's first use."""
    text = (TOP / 'tests/vyos/test_interfaces_leon.py').read_text()
    words = {c.value for c in ast.walk(ast.parse(text))
             if isinstance(c, ast.Constant) and isinstance(c.value, str)}
    words |= {word for several in words for word in several.split()}
    ours = set(leaves) - OF_VYOS
    ours -= set(flat(smoketest.every_option()))
    missing = {
        w for w in ours
        if not w.startswith('ipsec ') and not set(w.split()) - {'NAME'} <= words
    }
    assert not missing


@pytest.mark.parametrize('name', ['interfaces_leon', 'protocols_lisp'])
def test_smoketest_runs_commands_itself(name):
    """VyOS has removed vyos.utils.process.cmd in August 2026."""
    tree = ast.parse((TOP / f'tests/vyos/test_{name}.py').read_text())
    imported = [a.name for n in ast.walk(tree) if isinstance(n, ast.ImportFrom) for a in n.names]
    assert 'process_named_running' in imported and 'cmd' not in imported


def test_smoketest_sets_every_word_of_lisp():
    text = (TOP / 'tests/vyos/test_protocols_lisp.py').read_text()
    words = {c.value for c in ast.walk(ast.parse(text)) if isinstance(c, ast.Constant)}
    (definition,) = [
        d for p, d in definitions('config').items() if p.name == 'protocols_lisp.xml.in'
    ]
    ours = {node.get('name') for node in definition.root.iter('leafNode', 'tagNode')}
    assert len(ours) > 12 and not ours - words


def test_help_names_what_needs_a_restart(leaves):
    said = {
        word for word, leaf in leaves.items() if 'restarts' in leaf.findtext('properties/help')
    }
    assert said == NEEDS_RESTART


@pytest.mark.parametrize('node, priority', [('interfaces/leon', 460), ('protocols/lisp', 640)])
def test_owner(trees, node, priority):
    text = trees['config'][f'{node}/node.def']
    assert f'priority: {priority}\n' in text
    (script,) = re.findall(r'vyos_conf_scripts_dir\}/(\S+\.py)"', text)
    assert (TOP / 'vyos-1x-leon/conf_mode' / script).is_file()


# --- against the daemon ---


def leond():
    path = Path(os.environ.get('LEON_BUILD', TOP / 'build')) / 'vyos-1x-leon/dataplane/leond'
    if not path.exists():
        pytest.skip('leond is not built')
    return path


def is_accepted(tmp_path, **words):
    document = {'version': 1, 'interface': 'leon0', 'node-id': '192.0.2.1',
                'authentication': {'disable': True}, **words}
    file = tmp_path / 'leon0.json'
    file.write_text(json.dumps(document))
    file.chmod(0o600)
    done = subprocess.run(
        [leond(), '--config', file, '--check'], capture_output=True, text=True, timeout=60,
        check=False,
    )
    return done.returncode == 0


def nested(word, value):
    *above, key = word.split()
    document = {key: value}
    for name in reversed(above):
        document = {name: document}
    return document


@pytest.mark.parametrize('word, good, bad', [
    ('node-name', ['a', 'site-1.example', 'A_b' + 'c' * 29], ['', 'a b', '-a', 'a' * 33, 'é']),
    ('authentication pre-shared-secret', ['12345678', 'a b{}$%&' + 'x' * 120],
     ['1234567', 'x' * 129, 'ééééééééé']),
    ('authentication accept-secret', ['12345678', 'x' * 128], ['1234567', 'x' * 129]),
    ('authentication trusted-identity', ['0123456789abcdef' * 4],
     ['0123456789abcdef', '0123456789abcdeF' * 4, 'g' * 64, '1' * 65]),
    ('system log-level', ['error', 'debug'], ['loud', '']),
    ('encryption cipher', ['auto'], ['aes', 'aes256gcmx', 'xauto', '']),
    ('policy critical ethertype', ['0x0600', '0x88b8', '0xFFFF'],
     ['0x05ff', '0x88b', '0x088b8', '88b8', '']),
])  # fmt: skip
def test_texts(leaves, tmp_path, word, good, bad):
    (regex,) = leaves[word].iter('regex')
    for value in good:
        assert re.fullmatch(regex.text, value)
        many = leaves[word].find('properties/multi') is not None
        document = nested(word, [value] if many else value)
        if many and word.startswith('authentication '):
            document['authentication']['pre-shared-secret'] = 'another secret'
        assert is_accepted(tmp_path, **document), value
    assert not any(re.fullmatch(regex.text, value) for value in bad)


@pytest.mark.parametrize('value, accepted', [
    ('0123456789abcdef' * 4, True), ('seoul', False), ('0123456789abcdeF' * 4, False),
    ('g' * 64, False), ('a1' * 33, False),
])  # fmt: skip
def test_a_name_is_granted_nothing(leaves, tmp_path, value, accepted):
    """The node of an import rule: leond accepts exactly the names and node-ids of the CLI."""
    (regex,) = leaves['import prefix NAME node'].iter('regex')
    (validator,) = leaves['import prefix NAME node'].iter('validator')
    assert bool(re.fullmatch(regex.text, value)) == accepted
    assert validator.get('name') == 'ipv4-address'
    for node, right in ((value, accepted), ('10.0.0.2', True)):
        rule = {'prefix': {'10.0.0.0/8': {'node': [node]}}}
        assert is_accepted(tmp_path, **{'import': rule}) == right


def listed_names(element):
    """The offered completions, all accepted by the constraint."""
    names = element.findtext('properties/completionHelp/list').split()
    regex = element.findtext('properties/constraint/regex')
    assert all(re.fullmatch(regex, name) for name in names)
    assert not any(re.fullmatch(regex, name[:-1] + 'x') for name in names)
    return names


def test_vlans(leaves, tmp_path):
    """VyOS uses its own validator, and leond accepts the same values."""
    (validator,) = leaves['vlan'].iter('validator')
    program = TOP / 'vyos-1x-leon/validators' / validator.get('name')
    argument = validator.get('argument')
    for text in ('0', '10', '4094', '20-29', '7-7'):
        assert subprocess.run([program, *argument.split(), text], check=False).returncode == 0, text
    for text in ('', 'a', '-5', '5-', '4095', '30-20', '20-4095', '1-2-3', '10,20'):
        assert subprocess.run([program, *argument.split(), text], check=False).returncode == 1, text
    assert is_accepted(tmp_path, vlan=['0', '10', '20-29', '4094'])
    assert not is_accepted(tmp_path, vlan=['4095'])


def test_names_of_critical_frames(leaves, tmp_path):
    """leond knows the names offered by the CLI, and which protocols have ports."""
    points = listed_names(leaves['policy critical dscp'])
    assert len(points) == 22
    assert is_accepted(tmp_path, policy={'critical': {'dscp': [*points, '0', '63']}})
    protocols = listed_names(
        next(leaves['policy critical protocol NAME port'].iterancestors('tagNode')))
    for name in [*protocols, '1', '6', '17', '33', '132', '136', '255']:
        with_port = {'critical': {'protocol': {name: {'port': ['7']}}}}
        assert is_accepted(tmp_path, policy={'critical': {'protocol': {name: {}}}}), name
        assert is_accepted(tmp_path, policy=with_port) == (name in policy.WITH_PORTS), name


@pytest.mark.parametrize('name, accepted', [
    ('eth0', True), ('eth1.100', True), ('bond0.10.20', True), ('leon7', True), ('lo', True),
    ('eth', False), ('mgmt', False), ('eth0;reboot', False),
])  # fmt: skip
def test_interface_names(leaves, name, accepted):
    (regex,) = leaves['source-interface'].iter('regex')
    assert bool(re.fullmatch(regex.text, name)) == accepted


def test_defaults_of_lisp():
    """The defaults of the CLI equal the defaults of the script, which receives only set values."""
    found = {}
    (definition,) = [
        d for p, d in definitions('config').items() if p.name == 'protocols_lisp.xml.in'
    ]
    for leaf in definition.root.iter('leafNode'):
        if leaf.find('defaultValue') is not None:
            found.setdefault(leaf.get('name'), set()).add(leaf.findtext('defaultValue'))
    words = {'locator': {'192.0.2.1': {}}, 'proxy_etr': {'192.0.2.2': {}}}
    built = lisp_model.build(words)
    ranked = built['locators'] + built['proxy_etrs']
    assert found == {
        'role': {built['role']}, 'encapsulation': {built['encapsulation']},
        'priority': {str(of['priority']) for of in ranked},
        'weight': {str(of['weight']) for of in ranked},
    }  # fmt: skip


# --- against the op-mode script ---


def script_functions(module):
    """Function -> {parameter: True if optional} of an op-mode script."""
    return {
        name: {p: 'Optional' in str(hint) for p, hint in typing.get_type_hints(f).items()}
        for name, f in inspect.getmembers(module, inspect.isfunction)
        if f.__module__ == module.__name__ and not name.startswith('_')
    }


SCRIPTS = ['leon.py', 'leon_lisp.py']


@pytest.mark.parametrize('script', SCRIPTS)
def test_every_command_calls_a_function_that_exists(trees, script, load_script):
    functions = script_functions(load_script(f'op-mode/{script}'))
    called = set()
    for name, text in trees['op'].items():
        command = re.search(rf'^run: .*op_scripts_dir\}}/{script} (\w+)(.*)$', text, re.M)
        if not command:
            continue
        function, arguments = command.groups()
        assert function in functions, name
        called.add(function)
        given = set(re.findall(r'--(\w+)', arguments))
        parameters = functions[function]
        assert given <= set(parameters), name
        needed = {p for p, optional in parameters.items() if not optional and p != 'raw'}
        assert needed <= given, name
    assert called == set(functions)


def test_arguments_are_where_the_words_are(trees):
    """$N is the Nth word of the command, which is a value exactly where node.tag is."""
    for name, text in trees['op'].items():
        words = [part for part in Path(name).parent.parts]
        spoken = []
        for word in words:
            if word == 'node.tag':
                spoken.append('$')
            else:
                spoken.append(word)
        for number in re.findall(r'\$(\d)', text):
            assert spoken[int(number) - 1] == '$', f'{name}: ${number} is no value'
        if text.startswith('help') and 'run: ' in text and spoken[-1] == '$':
            assert f'${len(spoken)}' in text, f'{name}: the value is not used'


def test_privileges(trees):
    """Only root may query the daemon; operators may use sudo only for scripts in op_mode. The
    definitions have no sudo, because vyos-op-run is root."""
    for path in FOLDERS['op'].glob('*.in'):
        assert '<command>sudo' not in path.read_text() and 'sudo ${vyos_op' not in path.read_text()
    for name, text in trees['op'].items():
        for script in SCRIPTS:
            if script in text:
                assert f'sudo ${{vyos_op_scripts_dir}}/{script}' in text, name


# --- the rest ---


def test_dependencies():
    path = TOP / 'vyos-1x-leon/config-mode-dependencies/vyos-1x-leon.json'
    assert json.loads(path.read_text()) == {
        'qos': {'leon': ['interfaces_leon']},
        'vpn_ipsec': {'leon': ['interfaces_leon']},
    }


def test_migration_scripts_lead_to_the_component_version():
    text = (FOLDERS['config'] / 'xml-component-version.xml.in').read_text()
    ((component, version),) = re.findall(r'component="(\w+)" version="(\d+)"', text)
    folder = TOP / 'vyos-1x-leon/migration-scripts' / component
    names = sorted(p.name for p in folder.iterdir() if re.fullmatch(r'\d+-to-\d+', p.name))
    assert names == [f'{n}-to-{n + 1}' for n in range(int(version))]
    for name in names:
        module = ast.parse((folder / name).read_text())
        assert 'migrate' in [f.name for f in module.body if isinstance(f, ast.FunctionDef)]
