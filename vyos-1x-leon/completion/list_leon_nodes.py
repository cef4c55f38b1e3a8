#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""Prints the names of nodes, or the node-ids of nodes without a name, for tab completion.
--authority prints identities and node-ids, because a permission cannot refer to a name. --ids
prints only node-ids.

The op-mode commands with a NODE argument run this program as root, because only root and the group
of the daemon may use the control socket. Without a daemon the program prints nothing.
"""

import glob
import json
import os
import subprocess
import sys

RUN = '/run/leon'


def words_of(node, options):
    if '--ids' in options:
        return [node['node_id']]
    if '--authority' in options:
        return [word for word in (node.get('identity'), node['node_id']) if word]
    return [node.get('name') or node['node_id']]


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
