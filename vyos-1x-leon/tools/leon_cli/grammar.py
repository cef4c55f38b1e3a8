# SPDX-License-Identifier: GPL-2.0-or-later
"""Checks a definition and reports each problem in a sentence with file and line.

There are two sets of rules. SHAPE is the subset of VyOS's structure for LEON: the allowed elements
of each place and their number. The other checks cover errors that are invisible to the XML schema
but visible to an operator. Examples are a default outside the constraint, a quote that ends a shell
word in a node.def, and a help text of foreign style.
"""

import re

ANY = (0, None)
ONE = (1, 1)
OPTIONAL = (0, 1)
SOME = (1, None)

NODES = {'node': ANY, 'tagNode': ANY, 'leafNode': ANY}

# element -> (attributes: True if required, children: how often)
SHAPE = {
    'config': {
        'interfaceDefinition': ({}, {'syntaxVersion': ANY, 'node': ANY}),
        'syntaxVersion': ({'component': True, 'version': True}, {}),
        'node': (
            {'name': True, 'owner': False},
            {'properties': OPTIONAL, 'children': ONE},
        ),
        'tagNode': (
            {'name': True, 'owner': False},
            {'properties': ONE, 'children': ONE},
        ),
        'leafNode': (
            {'name': True, 'owner': False},
            {'properties': ONE, 'defaultValue': OPTIONAL},
        ),
        'children': ({}, NODES),
        'properties': (
            {},
            {
                'help': ONE,
                'valueHelp': ANY,
                'completionHelp': OPTIONAL,
                'constraint': OPTIONAL,
                'constraintGroup': ANY,
                'constraintErrorMessage': OPTIONAL,
                'multi': OPTIONAL,
                'valueless': OPTIONAL,
                'priority': OPTIONAL,
            },
        ),
        'valueHelp': ({}, {'format': ONE, 'description': ONE}),
        'completionHelp': ({}, {'list': ANY, 'path': ANY, 'script': ANY}),
        'constraint': ({}, {'regex': ANY, 'validator': ANY}),
        'constraintGroup': ({}, {'regex': ANY, 'validator': ANY}),
        'validator': ({'name': True, 'argument': False}, {}),
    },
    'op': {
        'interfaceDefinition': ({}, {'node': ANY, 'tagNode': ANY}),
        'node': (
            {'name': True},
            {'properties': OPTIONAL, 'children': OPTIONAL, 'command': OPTIONAL},
        ),
        'tagNode': (
            {'name': True},
            {'properties': ONE, 'children': OPTIONAL, 'command': OPTIONAL},
        ),
        'leafNode': ({'name': True}, {'properties': ONE, 'command': ONE}),
        'children': ({}, NODES),
        'properties': ({}, {'help': ONE, 'completionHelp': OPTIONAL}),
        'completionHelp': ({}, {'list': ANY, 'path': ANY, 'script': ANY}),
    },
}
EMPTY = {'multi', 'valueless', 'validator', 'syntaxVersion'}
# Must have a child of any allowed kind.
NOT_EMPTY = {'children', 'constraint', 'constraintGroup', 'completionHelp'}
TEXT = {
    'help', 'format', 'description', 'list', 'path', 'script', 'regex', 'priority',
    'constraintErrorMessage', 'defaultValue', 'command',
}  # fmt: skip
# The text is placed between double quotes.
QUOTED = {
    'config': {'constraintErrorMessage', 'description', 'list', 'script'},
    'op': {'list'},
}

NAME = re.compile(r'[a-z][a-z0-9-]*')
OWNER = re.compile(r'\$\{vyos_conf_scripts_dir\}/[a-z0-9]+(_[a-z0-9-]+)*\.py')
# Limit of an argument in the shim for the script, including the installed path.
OWNER_MAX = 127 - len('/usr/libexec/vyos/conf_mode') + len('${vyos_conf_scripts_dir}')
RANGE = re.compile(r'--range (\d+)-(\d+)')
U32 = re.compile(r'u32:(\d+)-(\d+)')


class Checker:
    """Collects the problems of a definition."""

    def __init__(self, definition, mode):
        self.definition = definition
        self.mode = mode
        self.shape = SHAPE[mode]
        self.problems = []

    def say(self, element, sentence):
        self.problems.append(self.definition.problem(element, sentence))

    # --- structure ---

    def check_attributes(self, element, allowed):
        for name in element.attrib:
            if name not in allowed:
                self.say(element, f'<{element.tag}> has no attribute "{name}"')
        for name, required in allowed.items():
            if required and not element.get(name, '').strip():
                self.say(element, f'<{element.tag}> needs the attribute "{name}"')

    def check_children(self, element, allowed):
        for child in element:
            if child.tag not in allowed:
                self.say(child, f'<{child.tag}> must not stand in <{element.tag}>')
        for tag, (least, most) in allowed.items():
            n = len(element.findall(tag))
            if n < least:
                self.say(element, f'<{element.tag}> needs a <{tag}>')
            if most is not None and n > most:
                self.say(element, f'<{element.tag}> has more than one <{tag}>')
        if element.tag in NOT_EMPTY and len(element) == 0:
            self.say(element, f'<{element.tag}> is empty')

    def check_no_text(self, element):
        texts = [element.text, *(child.tail for child in element)]
        for text in texts:
            if text and text.strip():
                self.say(element, f'"{text.strip()}" must not stand in <{element.tag}>')

    def check_shape(self, element):
        if element.tag in EMPTY:
            allowed = self.shape.get(element.tag, ({}, {}))
            self.check_attributes(element, allowed[0])
            if len(element) or (element.text or '').strip():
                self.say(element, f'<{element.tag}> must be empty')
            return
        if element.tag in TEXT:
            self.check_attributes(element, {})
            self.check_text(element)
            return
        attributes, children = self.shape[element.tag]
        self.check_attributes(element, attributes)
        self.check_no_text(element)
        self.check_children(element, children)
        for child in element:
            if child.tag in children:
                self.check_shape(child)

    # --- texts: each is a line of a node.def, and some are inside shell quotes ---

    def check_text(self, element):
        tag, text = element.tag, element.text or ''
        if len(element):
            self.say(element, f'<{tag}> must have text only')
        elif not text.strip():
            self.say(element, f'<{tag}> is empty')
        elif '\n' in text:
            self.say(element, f'<{tag}> must be one line')
        elif tag == 'help':
            self.check_help(element, text)
        elif tag == 'format' and ';' in text:
            self.say(element, '<format> must not have ";", which ends it in a node.def')
        elif tag == 'regex':
            self.check_regex(element, text.strip())
        elif tag in QUOTED[self.mode] and '"' in text:
            self.say(element, f'<{tag}> must not have a double quote')
        elif tag == 'priority' and not text.isdigit():
            self.say(element, f'priority "{text}" is not a number')

    def check_help(self, element, text):
        if not (text[0].isupper() or text[0].isdigit()):
            self.say(element, f'help "{text}" must start with an upper case letter')
        if text.endswith('.'):
            self.say(element, f'help "{text}" must not end with a period')
        if '(default' in text:
            self.say(element, 'help must not name the default, which is added to it')

    def check_regex(self, element, text):
        if "'" in text or '"' in text:
            self.say(element, 'regex must not have quotes, which end it in a node.def')
        try:
            re.compile(text)
        except re.error as error:
            self.say(element, f'regex "{text}": {error}')

    # --- nodes ---

    def check_names(self, children):
        """Two nodes of one name hide each other, except the two forms of an op-mode tag node."""
        seen = {}
        for child in children:
            name = child.get('name', '')
            tags = seen.setdefault(name, set())
            other_face = self.mode == 'op' and 'tagNode' in tags | {child.tag}
            if child.tag in tags or (tags and not other_face):
                self.say(child, f'"{name}" is defined twice')
            tags.add(child.tag)
            if not NAME.fullmatch(name):
                self.say(
                    child, f'name "{name}" must be lower case letters, digits, "-"'
                )

    def check_owner(self, node):
        owner = node.get('owner')
        if not owner:
            return
        if not OWNER.fullmatch(owner):
            self.say(
                node, f'owner "{owner}" is no script in ${{vyos_conf_scripts_dir}}'
            )
        if len(owner) > OWNER_MAX:
            self.say(node, f'owner "{owner}" is too long for the shim that calls it')
        if node.find('properties/priority') is None:
            self.say(node, f'"{node.get("name")}" has an owner and needs a <priority>')

    def check_value_properties(self, node):
        """Checks a node with a value: a leaf or a tag node of the configuration."""
        name, properties = node.get('name'), node.find('properties')
        if properties.find('valueless') is not None:
            for tag in ('valueHelp', 'constraint', 'constraintGroup', 'multi',
                        'constraintErrorMessage', 'completionHelp'):  # fmt: skip
                if properties.find(tag) is not None:
                    self.say(node, f'"{name}" has no value, but <{tag}>')
            if node.find('defaultValue') is not None:
                self.say(node, f'"{name}" has no value, but <defaultValue>')
            return
        constraints = properties.findall('constraint') + properties.findall(
            'constraintGroup'
        )
        message = properties.find('constraintErrorMessage')
        if properties.find('valueHelp') is None:
            self.say(node, f'"{name}" has a value and needs a <valueHelp>')
        if constraints and message is None:
            self.say(
                node, f'"{name}" has a constraint and needs a <constraintErrorMessage>'
            )
        if message is not None and not constraints:
            self.say(node, f'"{name}" has a <constraintErrorMessage> and no constraint')
        self.check_ranges(node, name, properties)

    def check_ranges(self, node, name, properties):
        """Help, constraint and default must agree about numbers."""
        accepted = set()
        for validator in properties.iter('validator'):
            accepted.update(RANGE.findall(validator.get('argument') or ''))
        shown = set()
        for value_help in properties.iterfind('valueHelp/format'):
            shown.update(U32.findall(value_help.text or ''))
        if accepted != shown:
            self.say(
                node,
                f'"{name}" accepts {_ranges(accepted)}, but shows {_ranges(shown)}',
            )
        default = node.findtext('defaultValue')
        if default is None or not (
            accepted or properties.find('constraint') is not None
        ):
            return
        fits = any(
            default.isdigit() and int(low) <= int(default) <= int(high)
            for low, high in accepted
        )
        fits = fits or any(
            _matches(regex.text, default) for regex in properties.iter('regex')
        )
        others = [
            v
            for v in properties.iter('validator')
            if not RANGE.search(v.get('argument', ''))
        ]
        if not fits and not others:
            self.say(
                node, f'default "{default}" of "{name}" violates its own constraint'
            )

    def check_config_node(self, node):
        self.check_owner(node)
        properties = node.find('properties')
        if node.tag != 'leafNode':
            for tag in ('multi', 'valueless'):
                if properties is not None and properties.find(tag) is not None:
                    self.say(node, f'<{tag}> is for a leafNode only')
        if node.tag == 'node':
            if properties is None and node.get('owner'):
                self.say(
                    node, f'"{node.get("name")}" has an owner and needs <properties>'
                )
            return
        self.check_value_properties(node)

    def check_op_node(self, node):
        name = node.get('name')
        if node.tag == 'node' and node.find('properties') is None:
            # Without properties the node belongs to another package and is only the parent of
            # LEON's nodes.
            if node.find('command') is not None:
                self.say(node, f'"{name}" has a command and needs <properties>')
            if node.find('children') is None:
                self.say(node, f'"{name}" has neither properties nor children')
        elif node.find('command') is None and node.find('children') is None:
            self.say(node, f'"{name}" has neither a command nor children')

    def run(self):
        root = self.definition.root
        if root.tag != 'interfaceDefinition':
            self.say(root, 'the outermost element must be <interfaceDefinition>')
            return self.problems
        self.check_shape(root)
        # The other checks need a valid structure.
        if self.problems:
            return self.problems
        self.check_names([n for n in root if n.tag != 'syntaxVersion'])
        for children in root.iter('children'):
            self.check_names(children)
        check = self.check_config_node if self.mode == 'config' else self.check_op_node
        for node in root.iter('node', 'tagNode', 'leafNode'):
            check(node)
        return self.problems


def _ranges(pairs):
    return ' and '.join(f'{low}-{high}' for low, high in sorted(pairs)) or 'no range'


def _matches(regex, value):
    try:
        return re.fullmatch(regex.strip(), value) is not None
    except re.error:
        return False


def check(definition, mode):
    """Problems of a definition, empty if it is valid. mode is 'config' or 'op'."""
    return Checker(definition, mode).run()
