# SPDX-License-Identifier: GPL-2.0-or-later
"""Two packages that simulate VyOS: `vyos-1x` with a reference tree and both tools for the tree,
and `vyos-utils` with the two diverted programs. The packages have only the features that the
maintainer scripts of vyos-1x-leon use.
"""
import json
import subprocess
from pathlib import Path

VALIDATOR = '/usr/libexec/vyos/validators/file-path'
INTERFACE_EXISTS = '/usr/libexec/vyos/validators/interface-exists'
VPN_IPSEC = '/usr/libexec/vyos/conf_mode/vpn_ipsec.py'
COMPLETION = '/usr/libexec/vyos/completion/list_interfaces'
XML_REF = '/usr/lib/python3/dist-packages/vyos/xml_ref'
CONFIG_TEMPLATES = '/opt/vyatta/share/vyatta-cfg/templates'
OP_TEMPLATES = '/opt/vyatta/share/vyatta-op/templates'

CACHES = ('/usr/share/vyos/configd-include.json', '/usr/share/vyos/op_cache.json',
          '/usr/share/vyos/reftree.cache')
DATA = {
    'node_type': 'other', 'constraints': [], 'constraint_error_message': '', 'completion_help': [],
    'help': '', 'value_help': [], 'multi': False, 'valueless': False, 'owner': None,
    'priority': None, 'default_value': None, 'hidden': False, 'secret': False,
}  # fmt: skip


def reference_node(name, *children):
    return {'name': name, 'data': DATA, 'children': list(children)}


INCLUDE = ['interfaces_ethernet.py', 'vpn_ipsec.py']
OP_CACHE = {'show': {
    '__node_data': {'name': 'show', 'node_type': 'node', 'path': ['show'], 'command': None},
    'version': {'__node_data': {'name': 'version', 'node_type': 'leafNode', 'command': 'uname'}},
}}  # fmt: skip
REFERENCE = reference_node(
    '', reference_node('interfaces', reference_node('ethernet')), reference_node('protocols'))

GENERATE = '''import json, sys
arguments = dict(zip(sys.argv[1::2], sys.argv[2::2]))
import os
names = sorted(os.listdir(arguments['--xml-dir']))
here = os.path.dirname(os.path.abspath(__file__))
cache = arguments['--package-name'].replace('-', '_') + '_cache.py'
with open(os.path.join(here, 'pkg_cache', cache), 'w') as f:
    f.write('reference = ' + repr({arguments['--package-name']: names}))
'''
UPDATE = '''import os
here = os.path.dirname(os.path.abspath(__file__))
merged = {}
for name in os.listdir(os.path.join(here, 'pkg_cache')):
    if name.endswith('_cache.py'):
        scope = {}
        exec(open(os.path.join(here, 'pkg_cache', name)).read(), scope)
        merged.update(scope['reference'])
with open(os.path.join(here, 'cache.py'), 'w') as f:
    f.write('reference = ' + repr(merged))
'''
INTERFACE = '''class Interface:
    definition = {}

    @classmethod
    def register(cls, klass):
        return klass
'''
ORIGINAL = '#!/bin/sh\necho "original $*"\nexit 3\n'


def make_package(folder: Path, name: str, files: dict, version='1') -> Path:
    tree = folder / f'{name}-{version}'
    for path, text in files.items():
        target = tree / path.lstrip('/')
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_text(text)
        target.chmod(0o755 if text.startswith('#!') else 0o644)
    (tree / 'DEBIAN').mkdir()
    (tree / 'DEBIAN/control').write_text(
        f'Package: {name}\nVersion: {version}\nArchitecture: all\n'
        'Maintainer: nobody <nobody@example.net>\nDescription: stands in for that of VyOS\n'
    )
    deb = folder / f'{name}_{version}.deb'
    subprocess.run(
        ['dpkg-deb', '--root-owner-group', '--build', tree, deb], check=True, timeout=300,
        stdout=subprocess.DEVNULL,
    )
    return deb


def make_vyos_1x(folder: Path) -> Path:
    modules = '/usr/lib/python3/dist-packages/vyos'
    return make_package(folder, 'vyos-1x', {
        f'{CONFIG_TEMPLATES}/interfaces/node.def': 'help: Network interfaces\n',
        f'{OP_TEMPLATES}/show/node.def': 'help: Show\n',
        VPN_IPSEC: '#!/usr/bin/env python3\n# original\n',
        f'{modules}/__init__.py': '',
        f'{modules}/ifconfig/__init__.py': 'from vyos.ifconfig.interface import Interface\n',
        f'{modules}/ifconfig/interface.py': INTERFACE,
        CACHES[0]: json.dumps(INCLUDE),
        CACHES[1]: json.dumps(OP_CACHE),
        CACHES[2]: json.dumps(REFERENCE),
        f'{XML_REF}/generate_cache.py': GENERATE,
        f'{XML_REF}/update_cache.py': UPDATE,
        f'{XML_REF}/pkg_cache/vyos_1x_cache.py': "reference = {'vyos': 1}",
        f'{XML_REF}/cache.py': "reference = {'vyos': 1}",
    })  # fmt: skip


def make_vyos_utils(folder: Path) -> Path:
    return make_package(folder, 'vyos-utils', {VALIDATOR: ORIGINAL, COMPLETION: ORIGINAL})
