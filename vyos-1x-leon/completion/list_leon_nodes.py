#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""Prints the names of nodes for tab completion, or the node-ids of nodes without a usable name.
--authority prints identities and node-ids, because a permission cannot refer to a name. --ids
prints only node-ids.

The op-mode commands with a NODE argument run this program as root. Only root and the group of the
daemon may use the control socket. Without a daemon the program prints nothing.
"""

import glob
import json
import os
import re
import subprocess
import sys

RUN = '/run/leon'
# The shell of the operator expands the words, and other sites choose node-names.
SAFE = re.compile('[A-Za-z0-9][A-Za-z0-9._-]*')


def words_of(node, options):
    if '--ids' in options:
        return [node['node_id']]
    if '--authority' in options:
        return [word for word in (node.get('identity'), node['node_id']) if word]
    name = node.get('name') or ''
    return [name if SAFE.fullmatch(name) else node['node_id']]


def nodes_of(ifname, options=()):
    """The nodes of `leonctl show nodes` at one interface, without this node."""
    try:
        answer = subprocess.run(
            ['leonctl', '-i', ifname, '--json', 'show', 'nodes'],
            capture_output=True,
            text=True,
            timeout=5,
            check=True,
        ).stdout
        return [
            word
            for node in json.loads(answer)['nodes']
            if node.get('state') not in ('self', 'left')
            for word in words_of(node, options)
            if SAFE.fullmatch(word)
        ]
    except (OSError, subprocess.SubprocessError, ValueError, KeyError):
        return []


def main():
    names = set()
    for path in glob.glob(os.path.join(RUN, 'leon*.sock')):
        names.update(nodes_of(os.path.basename(path).removesuffix('.sock'), sys.argv[1:]))
    print(' '.join(sorted(names)))


if __name__ == '__main__':
    main()
