#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""Refuses two structs, unions or enums of one name in a program, because debuggers, ctags and grep
confuse both. Refuses two modules of one name in the dataplane; x.c and x.h are one module.
"""

import collections
import json
import os
import subprocess
import sys

import tree

# Each program is linked with parts of the dataplane, but no two programs with each other.
PROGRAMS = ('leonctl', 'leonsim', 'leon-accel', 'leon-sclp', 'leon-tls', 'leon-portmap')


def types(paths):
    """(path, kind, name) of every struct, union and enum defined in a file or a header."""
    run = subprocess.run(
        ['ctags', '--languages=C', '--kinds-C=sug', '--langmap=C:.c.h', '--fields=+K',
         '--output-format=json', '-f', '-', '-L', '-'],
        input='\n'.join(paths), cwd=tree.TOP, text=True, stdout=subprocess.PIPE, check=True)
    for line in run.stdout.splitlines():
        tag = json.loads(line)
        # ctags reports a table of enum values as an enum, but a definition begins the line.
        if tag['pattern'].startswith(f"/^{tag['kind']} {tag['name']}"):
            yield tag['path'], tag['kind'], tag['name']


def twice(pairs):
    """Names with several places: name -> places."""
    places = collections.defaultdict(set)
    for name, place in pairs:
        places[name].add(place)
    return {name: sorted(where) for name, where in sorted(places.items()) if len(where) > 1}


def main():
    dataplane = tree.files('.c', '.h', under=tree.DATAPLANE)
    modules = twice((os.path.splitext(os.path.basename(path))[0], os.path.splitext(path)[0])
                    for path in dataplane)
    problems = [f'{where[1]}: there is {where[0]} too; two modules of one name'
                for where in modules.values()]
    found = set()
    for program in PROGRAMS:
        own = tree.files('.c', '.h', under=os.path.join('vyos-1x-leon', program))
        for name, where in twice((f'{kind} {name}', path)
                                 for path, kind, name in types(dataplane + own)).items():
            found.add(f'{where[1]}: {name} is in {where[0]} too; one name, one meaning')
    return tree.report(problems + sorted(found))


if __name__ == '__main__':
    sys.exit(main())
