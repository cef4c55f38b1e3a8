# SPDX-License-Identifier: GPL-2.0-or-later
"""The tools that turn definitions into node.def files. Each rule of the format and each message of
the grammar checker has a case with a small definition. test_definitions.py tests the generator
with our definitions.
"""
import subprocess
import sys
from pathlib import Path

import pytest

TOP = Path(__file__).resolve().parents[2]
TOOLS = TOP / 'vyos-1x-leon/tools'
sys.path.insert(0, str(TOOLS))

from leon_cli import config, grammar, op, source  # noqa: E402

HELP = '<help>Some help</help>'
VALUE = '<valueHelp><format>txt</format><description>Text</description></valueHelp>'
MESSAGE = '<constraintErrorMessage>Bad</constraintErrorMessage>'


def write(folder, text, name='x.xml.in'):
    path = folder / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(f'<interfaceDefinition>\n{text}\n</interfaceDefinition>\n')
    return path


def config_def(tmp_path, element, path='a/node.def'):
    """node.def of an element."""
    return config.templates(source.read(write(tmp_path, f'<node name="top"><children>{element}'
                                              '</children></node>')))['top/' + path]


def leaf(inner, properties=HELP, after=''):
    return (f'<leafNode name="a"><properties>{properties}{inner}</properties>{after}</leafNode>')


# --- configuration mode, line by line ---


@pytest.mark.parametrize('element, text', [
    pytest.param(leaf(''), 'type: txt\nhelp: Some help\n', id='leaf with a value'),
    pytest.param(leaf('<valueless/>'), 'help: Some help\n', id='leaf without a value'),
    pytest.param(leaf('<multi/>'), 'multi:\ntype: txt\nhelp: Some help\n', id='several values'),
    pytest.param(
        f'<node name="a"><properties>{HELP}</properties><children>{leaf("")}</children></node>',
        'help: Some help\n', id='plain node has no type'),
    pytest.param(
        f'<tagNode name="a"><properties>{HELP}</properties><children>{leaf("")}</children>'
        '</tagNode>', 'tag:\ntype: txt\nhelp: Some help\n', id='tag node'),
    pytest.param(
        leaf('<priority>7</priority>'), 'type: txt\npriority: 7\nhelp: Some help\n',
        id='priority before help'),
    pytest.param(
        leaf('', after='<defaultValue>5</defaultValue>'),
        'type: txt\nhelp: Some help (default: 5)\n', id='default is added to the help'),
    pytest.param(
        leaf('', after='<defaultValue>5 6</defaultValue>'),
        'type: txt\nhelp: Some help (default: 5, 6)\n', id='default of several values'),
    pytest.param(
        leaf('', properties='<help>Word word word word word word word word word word word word '
             'word word</help>'),
        'type: txt\nhelp: Word word word word word word word word word word word word word\n'
        '\t\t\tword\n', id='long help is filled'),
    pytest.param(
        leaf(VALUE + '<valueHelp><format>on</format><description>Yes</description></valueHelp>',
             after='<defaultValue>on</defaultValue>'),
        'type: txt\nhelp: Some help (default: on)\nval_help: txt; Text\n'
        'val_help: on; Yes (default)\n', id='value help, the default one marked'),
    pytest.param(
        leaf('<completionHelp><script>${dir}/list</script><path>vrf name</path>'
             '<list>one two</list></completionHelp>'),
        'type: txt\nhelp: Some help\nallowed: echo "one two" && echo " " && /bin/cli-shell-api '
        'listNodes vrf name && echo " " && sh -c "${dir}/list"\n',
        id='completion: lists, paths, scripts'),
    pytest.param(
        leaf('<constraint><regex>a\\d|b</regex></constraint>' + MESSAGE),
        'type: txt\nhelp: Some help\nsyntax:expression: exec "${vyos_libexec_dir}/validate-value '
        "--regex \\'a\\\\d|b\\'   --value \\'$VAR(@)\\'\"; \"Bad\"\n", id='regex'),
    pytest.param(
        leaf('<constraint><validator name="numeric" argument="--range 1-2"/>'
             '<validator name="fqdn"/></constraint>'),
        'type: txt\nhelp: Some help\nsyntax:expression: exec "${vyos_libexec_dir}/validate-value '
        ' --exec \\"${vyos_validators_dir}/numeric --range 1-2\\" --exec '
        "\\\"${vyos_validators_dir}/fqdn \\\"  --value \\'$VAR(@)\\'\"; \"Invalid value\"\n",
        id='validators, message of their own missing'),
    pytest.param(
        leaf('<constraintGroup><regex>a</regex><validator name="v"/></constraintGroup>'
             '<constraintGroup><regex>b</regex></constraintGroup>' + MESSAGE),
        'type: txt\nhelp: Some help\nsyntax:expression: exec "${vyos_libexec_dir}/validate-value '
        "  --grp --regex \\'a\\' --exec \\\"${vyos_validators_dir}/v \\\" --grp --regex \\'b\\'  "
        "--value \\'$VAR(@)\\'\"; \"Bad\"\n", id='groups of constraints'),
    pytest.param(
        f'<node name="a" owner="${{d}}/x.py"><properties>{HELP}<priority>9</priority>'
        f'</properties><children>{leaf("")}</children></node>',
        'priority: 9\nhelp: Some help\nend: sudo sh -c "${vyshim} ${d}/x.py"\n', id='owner'),
    pytest.param(
        f'<tagNode name="a" owner="${{d}}/x.py"><properties>{HELP}<priority>9</priority>'
        f'</properties><children>{leaf("")}</children></tagNode>',
        "tag:\ntype: txt\npriority: 9\nhelp: Some help\nend: sudo sh -c \"${vyshim} "
        "VYOS_TAGNODE_VALUE='$VAR(@)' ${d}/x.py\"\n", id='owner of a tag node'),
])  # fmt: skip
def test_config_node_def(tmp_path, element, text):
    assert config_def(tmp_path, element) == text


def test_config_tree(tmp_path):
    """Children of a tag node are below node.tag. A parent from another package gets no file."""
    definition = source.read(write(
        tmp_path, '<node name="interfaces"><children><tagNode name="x">'
        f'<properties>{HELP}</properties><children>{leaf("")}</children></tagNode>'
        '</children></node>'))  # fmt: skip
    assert sorted(config.templates(definition)) == [
        'interfaces/x/node.def', 'interfaces/x/node.tag/a/node.def']  # fmt: skip


def test_two_definitions_share_a_parent(tmp_path):
    """The first description of a node stays, even if a later description differs."""
    def parent(text, child):
        return (f'<node name="p"><properties><help>{text}</help></properties><children>'
                f'<leafNode name="{child}"><properties>{HELP}</properties></leafNode>'
                '</children></node>')  # fmt: skip

    tree = config.templates(source.read(write(tmp_path, parent('First', 'a'))))
    config.templates(source.read(write(tmp_path, parent('Second', 'b'))), tree)
    assert tree['p/node.def'] == 'help: First\n'
    assert {'p/a/node.def', 'p/b/node.def'} <= set(tree)


def test_writing(tmp_path):
    definition = source.read(write(tmp_path, f'<node name="n"><children>{leaf("")}'
                                   '</children></node>'))
    config.templates(definition).write(tmp_path / 'out')
    assert (tmp_path / 'out/n/a/node.def').read_text() == 'type: txt\nhelp: Some help\n'
    assert len(list((tmp_path / 'out').rglob('node.def'))) == 1


# --- operational mode ---


def op_tree(tmp_path, text):
    return op.templates(source.read(write(tmp_path, text)))


OP_HELP = f'<properties>{HELP}</properties>'


@pytest.mark.parametrize('inner, text', [
    pytest.param('', 'help: Some help\nrun: go\n', id='command'),
    pytest.param(
        '<completionHelp><path>interfaces leon</path></completionHelp>',
        'help: Some help\nallowed: ls /opt/vyatta/config/active/interfaces/leon 2>/dev/null\n'
        'run: go\n', id='path'),
    pytest.param(
        '<completionHelp><script>sudo list</script><list>a b</list></completionHelp>',
        'help: Some help\nallowed: echo "a b" && sudo list\nrun: go\n', id='list and script'),
])  # fmt: skip
def test_op_node_def(tmp_path, inner, text):
    tree = op_tree(tmp_path, f'<node name="show"><children><leafNode name="a"><properties>{HELP}'
                   f'{inner}</properties><command>go</command></leafNode></children></node>')
    assert tree == {'show/a/node.def': text}


def test_op_help_is_filled(tmp_path):
    long = 'Word ' * 14
    tree = op_tree(tmp_path, f'<tagNode name="a"><properties><help>{long}</help></properties>'
                   '<command>go</command></tagNode>')
    # The tag node keeps its help text, and the help text of the value is filled.
    assert tree['a/node.def'] == f'help: {long}\n'
    assert tree['a/node.tag/node.def'] == (
        'help: Word Word Word Word Word Word Word Word Word Word Word Word Word\n\t\t\tWord\n'
        'run: go\n')  # fmt: skip


def test_op_tag_node_and_node_of_one_name(tmp_path):
    """The node comes first in any order of the file, so the command works."""
    faces = [
        f'<tagNode name="leon">{OP_HELP}<command>one</command></tagNode>',
        f'<node name="leon">{OP_HELP}<command>all</command></node>',
    ]
    for text in (''.join(faces), ''.join(reversed(faces))):
        tree = op_tree(tmp_path, f'<node name="show"><children>{text}</children></node>')
        assert tree['show/leon/node.def'] == 'help: Some help\nrun: all\n'
        assert tree['show/leon/node.tag/node.def'] == 'help: Some help\nrun: one\n'
        assert 'show/node.def' not in tree


# --- includes and overrides ---


def test_include(tmp_path):
    """Relative to the definition, also from inside an included file."""
    (tmp_path / 'include/deep').mkdir(parents=True)
    (tmp_path / 'include/outer.xml.i').write_text('#include <include/deep/inner.xml.i>\n')
    (tmp_path / 'include/deep/inner.xml.i').write_text(leaf(''))
    text = config_def(tmp_path, '\n  #include <include/outer.xml.i>\n')
    assert text == 'type: txt\nhelp: Some help\n'


@pytest.mark.parametrize('line, sentence', [
    ('#include <include/none.xml.i>', 'x.xml.in:2: no file include/none.xml.i in'),
    ('#include <include/self.xml.i>', 'self.xml.i:1: include/self.xml.i includes itself'),
])  # fmt: skip
def test_bad_include(tmp_path, line, sentence):
    (tmp_path / 'include').mkdir()
    (tmp_path / 'include/self.xml.i').write_text('#include <include/self.xml.i>\n')
    with pytest.raises(source.DefinitionError) as error:
        source.read(write(tmp_path, line))
    assert sentence in str(error.value)


def test_error_in_an_included_file_names_that_file(tmp_path):
    (tmp_path / 'include').mkdir()
    (tmp_path / 'include/bad.xml.i').write_text('<!-- fine -->\n<leafNode name="a">\n</node>\n')
    with pytest.raises(source.DefinitionError) as error:
        source.read(write(tmp_path, '<node name="n">\n#include <include/bad.xml.i>\n</node>'))
    assert 'bad.xml.i:3: ' in str(error.value)


def test_override_of_a_default(tmp_path):
    override = '<leafNode name="a"><defaultValue>{}</defaultValue></leafNode>'
    first = leaf('', after='<defaultValue>1</defaultValue>')
    assert '(default: 3)' in config_def(
        tmp_path, first + override.format(2) + override.format(3))
    # If the first definition has no default, the override adds a default.
    assert '(default: 2)' in config_def(tmp_path, leaf('') + override.format(2))


def test_merged(tmp_path):
    definition = source.read(write(
        tmp_path, f'<!-- gone --><node name="n"><children>{leaf("")}'
        '<leafNode name="a"><defaultValue>2</defaultValue></leafNode></children></node>'))
    text = definition.merged()
    assert text.count('<leafNode') == 1 and '<defaultValue>2<' in text and 'gone' not in text


# --- the grammar ---


def nested(text):
    return f'<node name="top"><children>{text}</children></node>'


BAD_CONFIG = [
    ('<leafNode name="a"/>', '<leafNode> must not stand in <interfaceDefinition>'),
    ('<node><children/></node>', '<node> needs the attribute "name"'),
    ('<node name="a" colour="red"><children/></node>', '<node> has no attribute "colour"'),
    ('<node name="a"></node>', '<node> needs a <children>'),
    (nested(''), '<children> is empty'),
    (nested('text'), '"text" must not stand in <children>'),
    (nested('<leafNode name="a"/>'), '<leafNode> needs a <properties>'),
    (nested(leaf('<colour/>')), '<colour> must not stand in <properties>'),
    (nested(leaf(VALUE, properties='')), '<properties> needs a <help>'),
    (nested(leaf(VALUE, properties=HELP + HELP)), 'more than one <help>'),
    (nested(leaf(VALUE, properties='<help> </help>')), '<help> is empty'),
    (nested(leaf(VALUE, properties='<help>some</help>')), 'must start with an upper case'),
    (nested(leaf(VALUE, properties='<help>Some.</help>')), 'must not end with a period'),
    (nested(leaf(VALUE, properties='<help>A (default: 1)</help>')), 'must not name the default'),
    (nested(leaf('<valueHelp><format>a;b</format><description>B</description></valueHelp>')),
     '<format> must not have ";"'),
    (nested(leaf('<valueHelp><format>a</format><description>B\nC</description></valueHelp>')),
     '<description> must be one line'),
    (nested(leaf(VALUE + '<constraint/>' + MESSAGE)), '<constraint> is empty'),
    (nested(leaf(VALUE + "<constraint><regex>it's</regex></constraint>" + MESSAGE)),
     'regex must not have quotes'),
    (nested(leaf(VALUE + '<constraint><regex>(a</regex></constraint>' + MESSAGE)),
     'regex "(a": missing )'),
    (nested(leaf(VALUE + '<constraint><regex>a</regex></constraint>')),
     'has a constraint and needs a <constraintErrorMessage>'),
    (nested(leaf(VALUE + MESSAGE)), 'has a <constraintErrorMessage> and no constraint'),
    (nested(leaf(VALUE + '<constraint><regex>a</regex></constraint>'
                 '<constraintErrorMessage>Say "a"</constraintErrorMessage>')),
     '<constraintErrorMessage> must not have a double quote'),
    (nested(leaf(VALUE + '<completionHelp><script>a "b"</script></completionHelp>')),
     '<script> must not have a double quote'),
    (nested(leaf('')), '"a" has a value and needs a <valueHelp>'),
    (nested(leaf('<valueless/>' + VALUE)), '"a" has no value, but <valueHelp>'),
    (nested(leaf('<valueless/>', after='<defaultValue>1</defaultValue>')),
     '"a" has no value, but <defaultValue>'),
    (nested(leaf('<valueless>1</valueless>')), '<valueless> must be empty'),
    (nested(leaf(VALUE + '<priority>soon</priority>')), 'priority "soon" is not a number'),
    (nested(leaf(VALUE + '<constraint><validator name="numeric" argument="--range 1-9"/>'
                 '</constraint>' + MESSAGE)), '"a" accepts 1-9, but shows no range'),
    (nested(leaf('<valueHelp><format>u32:1-9</format><description>N</description></valueHelp>'
                 '<constraint><validator name="numeric" argument="--range 1-9"/></constraint>'
                 + MESSAGE, after='<defaultValue>10</defaultValue>')),
     'default "10" of "a" violates its own constraint'),
    (nested(leaf(VALUE + '<constraint><regex>on|off</regex></constraint>' + MESSAGE,
                 after='<defaultValue>maybe</defaultValue>')),
     'default "maybe" of "a" violates its own constraint'),
    (nested(leaf(VALUE) + leaf(VALUE)), '"a" is defined twice'),
    (nested(leaf(VALUE).replace('"a"', '"A b"')), 'name "A b" must be lower case'),
    (nested(f'<node name="a"><properties>{HELP}<multi/></properties>'
            f'<children>{leaf(VALUE)}</children></node>'), '<multi> is for a leafNode only'),
    (nested(f'<node name="a" owner="${{vyos_conf_scripts_dir}}/a.py"><properties>{HELP}'
            f'</properties><children>{leaf(VALUE)}</children></node>'),
     'has an owner and needs a <priority>'),
    (nested(f'<node name="a" owner="/bin/a.sh"><properties>{HELP}<priority>1</priority>'
            f'</properties><children>{leaf(VALUE)}</children></node>'),
     'owner "/bin/a.sh" is no script'),
    (nested(f'<node name="a" owner="${{vyos_conf_scripts_dir}}/{"a" * 120}.py"><properties>'
            f'{HELP}<priority>1</priority></properties><children>{leaf(VALUE)}</children>'
            '</node>'), 'is too long for the shim'),
]  # fmt: skip

BAD_OP = [
    (f'<leafNode name="a">{OP_HELP}<command>go</command></leafNode>',
     '<leafNode> must not stand in <interfaceDefinition>'),
    (nested(f'<leafNode name="a">{OP_HELP}</leafNode>'), '<leafNode> needs a <command>'),
    (nested('<tagNode name="a"><command>go</command></tagNode>'),
     '<tagNode> needs a <properties>'),
    (nested(f'<tagNode name="a">{OP_HELP}</tagNode>'), 'neither a command nor children'),
    (nested('<node name="a"><command>go</command><children/></node>'), '<children> is empty'),
    ('<node name="a"><command>go</command></node>', 'has a command and needs <properties>'),
    ('<node name="a"></node>', 'neither properties nor children'),
    ('<node name="a"><properties><help>One\ntwo</help></properties><command>go</command></node>',
     '<help> must be one line'),
    (nested(f'<leafNode name="a">{OP_HELP}<command>go\non</command></leafNode>'),
     '<command> must be one line'),
    (nested(f'<node name="a">{OP_HELP}<command>x</command></node>' * 2), '"a" is defined twice'),
]  # fmt: skip


@pytest.mark.parametrize('mode, text, sentence', [
    pytest.param(mode, text, sentence, id=f'{mode}: {sentence}')
    for mode, table in (('config', BAD_CONFIG), ('op', BAD_OP))
    for text, sentence in table
])  # fmt: skip
def test_grammar_refuses(tmp_path, mode, text, sentence):
    problems = grammar.check(source.read(write(tmp_path, text)), mode)
    assert any(sentence in problem for problem in problems), problems
    assert all('x.xml.in:' in problem for problem in problems)


def test_grammar_wants_the_right_root(tmp_path):
    path = tmp_path / 'x.xml.in'
    path.write_text('<definition/>')
    (problem,) = grammar.check(source.read(path), 'config')
    assert problem.endswith(':1: the outermost element must be <interfaceDefinition>')


# --- the program ---


def program(*arguments):
    return subprocess.run(
        [sys.executable, '-B', TOOLS / 'build_templates.py', *arguments],
        capture_output=True, text=True, timeout=60, check=False,
    )


def test_program_writes_both_products(tmp_path):
    path = write(tmp_path, nested(leaf(VALUE)), 'in/x.xml.in')
    done = program('config', '--templates', tmp_path / 't', '--merged', tmp_path / 'm', path)
    assert (done.returncode, done.stdout, done.stderr) == (0, '', '')
    assert (tmp_path / 't/top/a/node.def').exists()
    assert [p.name for p in (tmp_path / 'm').iterdir()] == ['x.xml']


def test_program_names_all_problems_and_writes_nothing(tmp_path):
    one = write(tmp_path, nested(leaf('')), 'one.xml.in')
    two = write(tmp_path, '<node>', 'two.xml.in')
    done = program('config', '--templates', tmp_path / 't', one, two)
    assert done.returncode == 1
    assert 'one.xml.in:' in done.stderr and 'two.xml.in:' in done.stderr
    assert not (tmp_path / 't').exists()
