#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""Prints the names of nodes, or the node-ids of those without a name, for tab completion. With
--authority, their identities and node-ids: where a node is granted something, its name does
not count. With --ids, their node-ids alone.

Called by the op-mode commands that take a NODE, as root because only root and the group of the
daemon may ask it. Prints nothing where no daemon answers: completion never complains.
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
    """What `leonctl show nodes` knows at one interface, this node left out."""
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
