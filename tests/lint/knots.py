#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""Refuses circles: objects of one layer or program that need each other. Such objects
cannot be read separately. Also refuses an object that needs a higher floor (floors.py). Object A
needs object B if A leaves a symbol undefined and B defines the symbol, as nm prints for the build.

Usage: knots.py [--report] [--edges LAYER] [BUILD]

  --report      Print the number of objects and the sizes of circles for each layer and program.
  --edges       Print each need between two objects with the symbols.
"""

import argparse
import collections
import glob
import os
import subprocess
import sys

import floors
import tree

# Layer or program -> its folder below vyos-1x-leon, and the objects of the build.
DATAPLANE = {layer: (f'dataplane/{layer}', f'dataplane/libleon-{layer}.a.p')
             for layer in ('base', 'wire', 'crypto', 'state', 'io', 'proto', 'fwd', 'daemon')}
PROGRAMS = {
    'leon-accel': ('leon-accel', 'leon-accel/libleon-accel-core.a.p'),
    'leonctl': ('leonctl', 'leonctl/libleon-ctl.a.p'),
    'leonsim': ('leonsim', 'leonsim/libleon-sim.a.p'),
    'leon-sclp': ('leon-sclp', 'leon-sclp/leon-sclp.p'),
    'leon-portmap': ('leon-portmap', 'leon-portmap/libleon-portmap-core.a.p'),
    'leon-tls': ('leon-tls', 'leon-tls/libleon-tls-core.a.p'),
}
LAYERS = DATAPLANE | PROGRAMS


def object_name(path, layer):
    """'.../libleon-proto.a.p/proto_session_hello.c.o' -> 'session/hello'."""
    name = os.path.basename(path).removesuffix('.c.o').removeprefix(f'{layer}_')
    top = os.path.join(tree.TOP, 'vyos-1x-leon', LAYERS[layer][0])
    if os.path.exists(os.path.join(top, f'{name}.c')):
        return name
    folders = [d for d in os.listdir(top) if os.path.isdir(os.path.join(top, d))]
    for folder in folders:
        if name.startswith(f'{folder}_'):
            return f'{folder}/{name.removeprefix(f"{folder}_")}'
    return name


def symbols(paths):
    """Path -> (defined global symbols, undefined symbols)."""
    out = subprocess.run(['nm', '-A', '-g', *paths], check=True, text=True,
                         stdout=subprocess.PIPE).stdout
    found = {path: (set(), set()) for path in paths}
    for line in out.splitlines():
        path, rest = line.split(':', 1)
        words = rest.split()
        kind, symbol = words[-2], words[-1]
        found[path][kind == 'U'].add(symbol)
    return found


def needs_of(build, layer):
    """Object -> {needed object: symbols}."""
    paths = sorted(glob.glob(f'{build}/vyos-1x-leon/{LAYERS[layer][1]}/*.o'))
    if not paths:
        return {}
    found = symbols(paths)
    owner = {s: path for path, (defined, _) in found.items() for s in defined}
    needs = {}
    for path, (_, undefined) in found.items():
        mine = needs.setdefault(object_name(path, layer), collections.defaultdict(set))
        for symbol in undefined:
            if symbol in owner and owner[symbol] != path:
                mine[object_name(owner[symbol], layer)].add(symbol)
    return needs


def knots_of(needs):
    """Strongly connected components of several objects, largest first."""
    def reach(start):
        seen, todo = set(), [start]
        while todo:
            for other in needs[todo.pop()]:
                if other not in seen:
                    seen.add(other)
                    todo.append(other)
        return seen

    reached = {name: reach(name) for name in needs}
    knots = {frozenset(other for other in reached[name] if name in reached[other])
             for name in needs if name in reached[name]}
    return sorted((sorted(knot) for knot in knots), key=lambda k: (-len(k), k))


def print_edges(needs):
    for name in sorted(needs):
        for other, by in sorted(needs[name].items()):
            print(f'{name} -> {other}: {", ".join(sorted(by))}')


def check_layer(layer, needs, report):
    knots = knots_of(needs)
    if report:
        sizes = ' + '.join(str(len(knot)) for knot in knots) or 'none'
        print(f'{layer}: {len(needs)} objects, knots: {sizes}')
    problems = [f'{layer}: objects that need each other in a circle: {" ".join(knot)}'
                for knot in knots]
    for name, others in needs.items():
        for other, by in others.items():
            why = floors.problem(layer, name, other)
            problems += [f'{why} ({", ".join(sorted(by))})'] if why else []
    return problems


def main():
    parser = argparse.ArgumentParser(usage=__doc__)
    parser.add_argument('--report', action='store_true')
    parser.add_argument('--edges', choices=LAYERS)
    parser.add_argument('build', nargs='?', default=os.path.join(tree.TOP, 'build'))
    options = parser.parse_args()
    if options.edges:
        print_edges(needs_of(options.build, options.edges))
        return 0
    problems = []
    for layer in LAYERS:
        needs = needs_of(options.build, layer)
        if not needs:
            problems.append(f'{layer}: no objects below {options.build}; run make first')
            continue
        problems += check_layer(layer, needs, options.report)
    return tree.report(problems)


if __name__ == '__main__':
    sys.exit(main())
