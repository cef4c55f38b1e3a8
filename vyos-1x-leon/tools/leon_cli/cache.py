# SPDX-License-Identifier: GPL-2.0-or-later
"""Our part of the caches of VyOS, as JSON.

op makes nodes of /usr/share/vyos/op_cache.json, the commands of vyos-op-run. config makes nodes of
/usr/share/vyos/reftree.cache, the nodes of vyconfd. vyos_leon/caches.py merges both.
"""

import re

OP_SCRIPTS = '/usr/libexec/vyos/op_mode'
COMPLETION = '/usr/libexec/vyos/completion'
# vyos-op-run refuses other characters than letters, digits, dot, underscore and hyphen in an
# argument without a constraint. The arguments of LEON are IPv6 addresses, prefixes, ADDRESS:PORT,
# identities and names of nodes. A token has up to 3,072 characters.
ARGUMENT = (
    r'[A-Za-z0-9._:/%@+,=~\[\]-]{1,3072}',
    'letters, digits and ._:/%@+,=~[]- are allowed',
)
# Arguments of a capture: the filter is several words, and the name of the file has no folder.
ARGUMENTS = {
    'filter': (r'[A-Za-z0-9.:/ -]{1,512}', 'letters, digits, spaces and .:/- are allowed'),
    'save': (r'[A-Za-z0-9_][A-Za-z0-9._-]{0,127}', 'letters, digits and ._- are allowed'),
}
KINDS = {'node': 'other', 'tagNode': 'tag', 'leafNode': 'leaf'}


def _paths(text):
    return text.replace('${vyos_op_scripts_dir}', OP_SCRIPTS).replace(
        '${vyos_completion_dir}', COMPLETION
    )


def _command(text, path):
    """Replaces $6 by the placeholder of the sixth word. vyos-op-run escapes single quotes in
    values, so the shell does not interpret a word in single quotes. The environment that it sets
    has no type of the terminal, without which `watch` ends."""
    if text is None:
        return None

    def word(match):
        number = int(match['quoted'] or match['bare'])
        placeholder = '{{' + path[number - 1] + '}}'
        # A bare placeholder is inside of double quotes, which end before it and continue behind.
        return f"'{placeholder}'" if match['quoted'] else f'"\'{placeholder}\'"'

    terminal = 'TERM=${TERM:-vt100} ' if text.startswith('watch ') else ''
    return terminal + re.sub(r'"\$(?P<quoted>\d+)"|\$(?P<bare>\d+)', word, _paths(text))


def _completion(properties):
    found = {}
    for kind in ('list', 'path', 'script'):
        texts = [_paths(e.text) for e in properties.findall(f'completionHelp/{kind}')]
        if texts:
            found[kind] = texts
    return found


def _op_data(node, path, kind):
    properties = node.find('properties')
    has_value = kind in ('tagNode', 'virtualTagNode')
    regex, error = ARGUMENTS.get(node.get('name'), ARGUMENT)
    return {
        'name': '__virtual_tag' if kind == 'virtualTagNode' else node.get('name'),
        'node_type': kind,
        'help_text': None if properties is None else properties.findtext('help'),
        'comp_help': {} if properties is None else _completion(properties),
        'command': _command(node.findtext('command'), path),
        'standalone_help_text': None,
        'standalone_command': None,
        'path': path,
        'files': ['vyos-1x-leon'],
        'children': [],
        'constraints': {'regexes': [regex], 'validators': []} if has_value else {},
        'constraint_error_message': error if has_value else None,
    }


def _op_children(node, path, parent):
    """A node and a tag node of equal name are a node with a virtual tag."""
    # Nodes come before tag nodes, so that the virtual tag finds its node.
    for child in sorted(node.iterfind('children/*'), key=lambda n: n.tag == 'tagNode'):
        _op_insert(child, path, parent)


def _op_insert(node, path, parent):
    name = node.get('name')
    kind = node.tag
    here = [*path, name]
    if kind == 'tagNode':
        here = [*here, f'{name}-tag_value']
    into = parent.setdefault(name, {})
    if kind == 'tagNode' and into:
        kind = 'virtualTagNode'
        into['__node_data'].update(node_type='node')
        into = into.setdefault('__virtual_tag', {})
    if '__node_data' not in into:
        into['__node_data'] = _op_data(node, here, kind)
    _op_children(node, here, into)


def op(definitions):
    tree = {}
    for definition in definitions:
        for node in sorted(definition.root.iterfind('*'), key=lambda n: n.tag == 'tagNode'):
            _op_insert(node, [], tree)
    return tree


# --- configuration ---


def _constraints(element):
    if element is None:
        return []
    found = [['regex', e.text.strip()] for e in element.findall('regex')]
    found += [
        ['exec', e.get('name'), e.get('argument')] for e in element.findall('validator')
    ]
    return found


def _config_data(node):
    properties = node.find('properties')
    texts = {} if properties is None else {e.tag: e.text for e in properties}
    value_helps = [] if properties is None else properties.findall('valueHelp')
    completion = {} if properties is None else _completion(properties)
    return {
        'node_type': KINDS[node.tag],
        'constraints': _constraints(node.find('properties/constraint')),
        'constraint_group': _constraints(node.find('properties/constraintGroup')),
        'constraint_error_message': texts.get('constraintErrorMessage', 'Invalid value'),
        'completion_help': [[kind, text] for kind, all_ in completion.items() for text in all_],
        'help': texts.get('help', 'No help available'),
        'value_help': [
            [e.findtext('format'), e.findtext('description') or ''] for e in value_helps
        ],
        'multi': 'multi' in texts,
        'valueless': 'valueless' in texts,
        'owner': node.get('owner'),
        'priority': texts.get('priority'),
        'default_value': node.findtext('defaultValue'),
        'hidden': 'hidden' in texts,
        'secret': 'secret' in texts,
    }


def _config_insert(node, children):
    name = node.get('name')
    for known in children:
        if known['name'] == name:
            break
    else:
        known = {'name': name, 'data': _config_data(node), 'children': []}
        children.append(known)
    for child in node.iterfind('children/*'):
        _config_insert(child, known['children'])


def config(definitions):
    children = []
    for definition in definitions:
        for node in definition.root.iterfind('node'):
            _config_insert(node, children)
    return {'name': '', 'data': None, 'children': children}
