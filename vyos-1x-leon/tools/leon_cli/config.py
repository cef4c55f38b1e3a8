# SPDX-License-Identifier: GPL-2.0-or-later
"""node.def files of configuration mode.

The lines of a node.def have a fixed order: tag, multi, type, priority, help, val_help, allowed,
syntax:expression, end. Unused lines are left out. The children of a tag node are below node.tag,
which has no separate node.def.
"""

from leon_cli.nodedef import Tree, fill_help

VALIDATE = '${vyos_libexec_dir}/validate-value'
VALIDATORS = '${vyos_validators_dir}'
SHIM = '${vyshim}'
DEFAULT_MESSAGE = 'Invalid value'


def _constraint(element):
    """Arguments of validate-value for a <constraint> or <constraintGroup>."""
    # The backend unescapes once before the shell sees the line.
    regexes = [
        "--regex \\'{}\\'".format(regex.text.strip().replace('\\', '\\\\'))
        for regex in element.findall('regex')
    ]
    validators = [
        '--exec \\"{}/{} {}\\"'.format(
            VALIDATORS, v.get('name'), v.get('argument') or ''
        )
        for v in element.findall('validator')
    ]
    return ' '.join(regexes) + ' ' + ' '.join(validators)


def _syntax(properties):
    """The syntax:expression: a single constraint, or all constraints of a group, must be met."""
    single = properties.find('constraint')
    groups = properties.findall('constraintGroup')
    if single is None and not groups:
        return None
    anyone = _constraint(single) if single is not None else ''
    grouped = ''.join(f' --grp {_constraint(group)}' for group in groups)
    message = properties.findtext('constraintErrorMessage', DEFAULT_MESSAGE)
    return f'exec "{VALIDATE} {anyone} {grouped} --value \\\'$VAR(@)\\\'"; "{message}"'


def _allowed(properties):
    """A shell command that prints the values for tab completion."""
    completion = properties.find('completionHelp')
    if completion is None:
        return None
    commands = [f'echo "{e.text}"' for e in completion.findall('list')]
    commands += [
        f'/bin/cli-shell-api listNodes {e.text}' for e in completion.findall('path')
    ]
    commands += [f'sh -c "{e.text}"' for e in completion.findall('script')]
    return ' && echo " " && '.join(commands)


def _help(properties, default):
    text = properties.findtext('help')
    if text is None:
        return None
    if default is not None:
        # A default of several values is written with separating blanks.
        text += f' (default: {", ".join(default.split())})'
    return fill_help(text)


def _value_helps(properties, default):
    for value_help in properties.findall('valueHelp'):
        text = value_help.findtext('format')
        mark = ' (default)' if default is not None and default == text else ''
        yield f'{text}; {value_help.findtext("description")}{mark}'


def _end(node):
    script = node.get('owner')
    if not script:
        return None
    tag = "VYOS_TAGNODE_VALUE='$VAR(@)' " if node.tag == 'tagNode' else ''
    return f'sudo sh -c "{SHIM} {tag}{script}"'


def node_def(node):
    """Text of the node.def of an element; empty for a parent without properties."""
    properties = node.find('properties')
    if properties is None:
        return ''
    default = node.findtext('defaultValue')
    has_value = node.tag != 'node' and properties.find('valueless') is None
    lines = [
        ('tag', '' if node.tag == 'tagNode' else None),
        ('multi', '' if properties.find('multi') is not None else None),
        ('type', 'txt' if has_value else None),
        ('priority', properties.findtext('priority')),
        ('help', _help(properties, default)),
        *(('val_help', text) for text in _value_helps(properties, default)),
        ('allowed', _allowed(properties)),
        ('syntax:expression', _syntax(properties)),
        ('end', _end(node)),
    ]
    return ''.join(
        f'{key}: {text}\n' if text else f'{key}:\n'
        for key, text in lines
        if text is not None
    )


def _walk(node, path, tree):
    path = [*path, node.get('name')]
    tree.put(path, node_def(node))
    if node.tag == 'tagNode':
        path = [*path, 'node.tag']
    for child in node.iterfind('children/*'):
        _walk(child, path, tree)


def templates(definition, tree=None):
    """The Tree of a definition, added to `tree` if given."""
    tree = Tree() if tree is None else tree
    for node in definition.root.iterfind('node'):
        _walk(node, [], tree)
    return tree
