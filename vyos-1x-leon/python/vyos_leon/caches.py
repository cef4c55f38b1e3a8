# SPDX-License-Identifier: GPL-2.0-or-later
"""Merges our part into three files of newer versions of VyOS, and removes it again.

configd-include.json has the scripts that vyos-configd and vyos-commitd load. op_cache.json has the
commands of vyos-op-run. reftree.cache has the nodes of vyconfd. A missing file is skipped. Called
by the package: `python3 -m vyos_leon.caches install|remove`.
"""

import json
import os
import shutil
import subprocess
import sys

VYOS = '/usr/share/vyos'
OURS = '/usr/share/vyos-1x-leon/cache'
SCRIPTS = ('interfaces_leon.py', 'protocols_lisp.py')
# Names of our topmost nodes, below nodes of VyOS.
ROOTS = ('leon', 'lisp')


def _read(path):
    with open(path, encoding='utf-8') as file:
        return json.load(file)


def _replace(path, value):
    new = f'{path}.leon-new'
    with open(new, 'w', encoding='utf-8') as file:
        json.dump(value, file, indent=4 if isinstance(value, list) else None)
    os.chmod(new, os.stat(path).st_mode & 0o7777)
    os.replace(new, path)


def _scripts(known, is_installed):
    others = [name for name in known if name not in SCRIPTS]
    return sorted([*others, *SCRIPTS]) if is_installed else others


# --- operational mode: dictionaries of nodes by name ---


def _op_remove(known, ours):
    for name, node in ours.items():
        if name in ROOTS:
            known.pop(name, None)
        elif name != '__node_data' and name in known:
            _op_remove(known[name], node)
            if list(known[name]) == ['__node_data'] and _is_ours(known[name]):
                del known[name]


def _is_ours(node):
    return node['__node_data'].get('files') == ['vyos-1x-leon']


def _op_add(known, ours):
    for name, node in ours.items():
        if name not in known:
            known[name] = node
        elif name != '__node_data':
            _op_add(known[name], node)


def _op(known, is_installed):
    ours = _read(f'{OURS}/op_cache.json')
    _op_remove(known, ours)
    if is_installed:
        _op_add(known, ours)
    return known


# --- configuration: nodes with a list of children ---


def _fitted(node, sample):
    """Our node with the fields that this version of VyOS has. Older versions write the type as a
    list with one capitalized word."""
    data = {key: node['data'].get(key, value) for key, value in sample.items()}
    if isinstance(sample['node_type'], list):
        data['node_type'] = [node['data']['node_type'].capitalize()]
    children = [_fitted(child, sample) for child in node['children']]
    return {'name': node['name'], 'data': data, 'children': children}


def _by_name(node, name):
    return next((child for child in node['children'] if child['name'] == name), None)


def _config_remove(known, ours):
    known['children'] = [c for c in known['children'] if c['name'] not in ROOTS]
    for child in ours['children']:
        inner = _by_name(known, child['name'])
        if inner is not None:
            _config_remove(inner, child)


def _config_add(known, ours, sample):
    for child in ours['children']:
        inner = _by_name(known, child['name'])
        if inner is None:
            known['children'].append(_fitted(child, sample))
            known['children'].sort(key=lambda node: node['name'])
        else:
            _config_add(inner, child, sample)


def _config(known, is_installed):
    ours = _read(f'{OURS}/reftree.json')
    _config_remove(known, ours)
    if is_installed:
        _config_add(known, ours, known['data'])
    return known


FILES = {'configd-include.json': _scripts, 'op_cache.json': _op, 'reftree.cache': _config}


def _reload():
    """vyconfd reads the reference tree again, if this version of VyOS has it and it runs."""
    program = shutil.which('vycli', path='/usr/libexec/vyos/vyconf:/usr/bin:/usr/sbin')
    if program and os.path.isdir('/run/systemd/system'):
        subprocess.run([program, '--reload-reftree'], check=False, timeout=60)


def main(words):
    is_installed = words == ['install']
    for name, merged in FILES.items():
        path = f'{VYOS}/{name}'
        if os.path.exists(path):
            _replace(path, merged(_read(path), is_installed))
    _reload()


if __name__ == '__main__':
    main(sys.argv[1:])
