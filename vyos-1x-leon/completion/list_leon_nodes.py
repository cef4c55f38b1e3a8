#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""Prints the names of nodes, or the node-ids of those without a name, for tab completion.

Called by the op-mode commands that take a NODE, as root because only root and the group of the
daemon may ask it. Prints nothing where no daemon answers: completion never complains.
"""

import glob
import json
import os
import subprocess

RUN = '/run/leon'


def nodes_of(ifname):
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
            node.get('name') or node['node_id']
            for node in json.loads(answer)['nodes']
            if node.get('state') not in ('self', 'left')
        ]
    except (OSError, subprocess.SubprocessError, ValueError, KeyError):
        return []


def main():
    names = set()
    for path in glob.glob(os.path.join(RUN, 'leon*.sock')):
        names.update(nodes_of(os.path.basename(path).removesuffix('.sock')))
    print(' '.join(sorted(names)))


if __name__ == '__main__':
    main()
