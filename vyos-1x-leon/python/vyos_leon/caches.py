# SPDX-License-Identifier: GPL-2.0-or-later
"""Merges our part into three files of newer versions of VyOS, and removes it again.

configd-include.json has the scripts that vyos-configd and vyos-commitd load. op_cache.json has the
commands of vyos-op-run. reftree.cache has the nodes of vyconfd and vyos-configd, which refuse the
whole file for one wrong field. A missing file is skipped. Each call removes all entries of LEON and
merges those of the present packages. Called by the packages:
`python3 -m vyos_leon.caches install`, or `remove PACKAGE` while the files of PACKAGE still exist.
"""

import json
import os
import shutil
import subprocess
import sys

VYOS = '/usr/share/vyos'
SHARE = '/usr/share'
# The configuration script of each package.
SCRIPTS = {'vyos-1x-leon': 'interfaces_leon.py', 'vyos-1x-leon-lisp': 'protocols_lisp.py'}
# Our topmost nodes of the configuration, below nodes of VyOS.
ROOTS = (('interfaces', 'leon'), ('protocols', 'lisp'))


def _read(path):
    with open(path, encoding='utf-8') as file:
        return json.load(file)


def _fault(path):
    """The reason of VyOS for its refusal of a reference tree."""
    try:
        from vyos.referencetree import ReferenceTree
    except ImportError:
        return None
    try:
        ReferenceTree(path)
    except ValueError as e:
        return str(e)
    return None


def _replace(path, value):
    new = f'{path}.leon-new'
    with open(new, 'w', encoding='utf-8') as file:
        json.dump(value, file, indent=4 if isinstance(value, list) else None)
    fault = _fault(new) if path.endswith('/reftree.cache') else None
    if fault:
        os.unlink(new)
        print(f'vyos-1x-leon: {path} stays as it is: {fault}', file=sys.stderr)
        return
    os.chmod(new, os.stat(path).st_mode & 0o7777)
    os.replace(new, path)


def _scripts(known, present):
    others = [name for name in known if name not in SCRIPTS.values()]
    return sorted([*others, *(SCRIPTS[package] for package in present)])


# --- operational mode: dictionaries of nodes by name ---


def _op_remove(known):
    for name in [name for name in known if name != '__node_data']:
        node = known[name]
        _op_remove(node)
        if list(node) == ['__node_data'] and _is_ours(node):
            del known[name]


def _is_ours(node):
    return node['__node_data'].get('files') == ['vyos-1x-leon']


def _op_add(known, ours):
    for name, node in ours.items():
        if name not in known:
            known[name] = node
        elif name != '__node_data':
            _op_add(known[name], node)


def _op(known, present):
    _op_remove(known)
    for package in present:
        _op_add(known, _read(f'{SHARE}/{package}/cache/op_cache.json'))
    return known


# --- configuration: nodes with a list of children ---


def _fitted(node, sample):
    """Our node with the fields that this version of VyOS has, and its values of unknown fields.
    Older versions write the type as a list with one capitalized word."""
    data = {key: node['data'].get(key, value) for key, value in sample.items()}
    if isinstance(sample['node_type'], list):
        data['node_type'] = [node['data']['node_type'].capitalize()]
    children = [_fitted(child, sample) for child in node['children']]
    return {'name': node['name'], 'data': data, 'children': children}


def _by_name(node, name):
    return next((child for child in node['children'] if child['name'] == name), None)


def _config_remove(known):
    for folder, name in ROOTS:
        parent = _by_name(known, folder)
        if parent is not None:
            parent['children'] = [c for c in parent['children'] if c['name'] != name]


def _config_add(known, ours, sample):
    for child in ours['children']:
        inner = _by_name(known, child['name'])
        if inner is None:
            known['children'].append(_fitted(child, sample))
            known['children'].sort(key=lambda node: node['name'])
        else:
            _config_add(inner, child, sample)


def _config(known, present):
    _config_remove(known)
    for package in present:
        _config_add(known, _read(f'{SHARE}/{package}/cache/reftree.json'), known['data'])
    return known


FILES = {'configd-include.json': _scripts, 'op_cache.json': _op, 'reftree.cache': _config}


def _reload():
    """vyconfd reads the reference tree again, if this version of VyOS has a running vyconfd."""
    program = shutil.which('vycli', path='/usr/libexec/vyos/vyconf:/usr/bin:/usr/sbin')
    if program and os.path.isdir('/run/systemd/system'):
        subprocess.run([program, '--reload-reftree'], check=False, timeout=60)


def main(words):
    gone = words[1:]
    present = [p for p in SCRIPTS if p not in gone and os.path.isdir(f'{SHARE}/{p}/cache')]
    for name, merged in FILES.items():
        path = f'{VYOS}/{name}'
        if os.path.exists(path):
            _replace(path, merged(_read(path), present))
    _reload()


if __name__ == '__main__':
    main(sys.argv[1:])
