#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""Prints the names of nodes, or the node-ids of those without a name, for tab completion. With
--authority, their identities and node-ids: where a node is granted something, its name does
not count.

Called by the op-mode commands that take a NODE, as root because only root and the group of the
daemon may ask it. Prints nothing where no daemon answers: completion never complains.
"""

import glob
import json
import os
import subprocess
import sys

RUN = '/run/leon'


def words_of(node, authority):
    if authority:
        return [word for word in (node.get('identity'), node['node_id']) if word]
    return [node.get('name') or node['node_id']]


def nodes_of(ifname, authority=False):
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
            for word in words_of(node, authority)
        ]
    except (OSError, subprocess.SubprocessError, ValueError, KeyError):
        return []


def main():
    authority = '--authority' in sys.argv[1:]
    names = set()
    for path in glob.glob(os.path.join(RUN, 'leon*.sock')):
        names.update(nodes_of(os.path.basename(path).removesuffix('.sock'), authority))
    print(' '.join(sorted(names)))


if __name__ == '__main__':
    main()
