#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""Compares our definitions and our generator with a checkout of the real vyos-1x.

Usage: VYOS_1X=/path/to/vyos-1x compare_with_vyos.py

Needs python3-lxml. Without VYOS_1X, prints a message and passes. The program runs the tools of
vyos-1x on copies of our definitions, in a temporary directory. Each comparison is a line:

- our definitions, with the leaves of conf.def, against the RELAX NG schemas of vyos-1x;
- the definitions with includes and overrides, our result against the result of vyos-1x;
- every node.def, byte for byte, except for the sudo of op-mode commands;
- each omitted parent exists in the templates of vyos-1x, and none of our files does;
- the definitions of vyos-1x through our generator, which covers rules without use in our
  definitions;
- each named validator, completion helper and dependent exists in vyos-1x, and the graph of
  dependents has no cycle;
- the unchanged vyos.ifconfig knows the class of our interfaces by the import hook. Skipped if the
  Python modules that vyos.ifconfig imports are absent.
"""

import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

from lxml import etree

TOP = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(TOP / 'vyos-1x-leon/tools'))

import build_templates  # noqa: E402
from leon_cli import op, source  # noqa: E402

# Programs of vyos-utils, which is another repository.
VYOS_UTILS = {'numeric', 'file-path', 'list_interfaces'}
OUR_HELPERS = {
    path.name
    for folder in ('completion', 'validators')
    for path in (TOP / 'vyos-1x-leon' / folder).glob('*')
}

MODES = {
    'config': {
        'ours': TOP / 'vyos-1x-leon/interface-definitions',
        'theirs': 'interface-definitions',
        'schema': 'schema/interface_definition.rng',
        'generator': 'scripts/build-command-templates',
    },
    'op': {
        'ours': TOP / 'op-mode/definitions',
        'theirs': 'op-mode-definitions',
        'schema': 'schema/op-mode-definition.rng',
        'generator': 'scripts/build-command-op-templates',
    },
}


class Report:
    def __init__(self):
        self.failed = False

    def line(self, title, problems, count):
        verdict = 'ok' if not problems else 'FAILED'
        print(f'{title}: {verdict} ({count})')
        for problem in problems:
            print(f'  {problem}')
        self.failed |= bool(problems) or count == 0


def run(vyos, *command):
    """Output of a script of vyos-1x, run by the Python with lxml."""
    done = subprocess.run(
        [sys.executable, '-B', vyos / command[0], *command[1:]],
        capture_output=True, text=True, check=False,
    )
    if done.returncode != 0:
        sys.exit(f'{command[0]} failed:\n{done.stdout}{done.stderr}')
    return done.stdout


def in_vyos_form(folder, copy):
    """Our definitions in the form of VyOS, which has neither `#leaves` nor `#command`."""
    shutil.copytree(folder, copy)
    for path in [p for p in copy.rglob('*') if p.is_file()]:
        lines = path.read_text().splitlines()
        path.write_text(''.join(f'{new}\n' for line in lines for new in source.expand(line)))
    return sorted(copy.glob('*.xml.in'))


def transclude(vyos, sources, folder):
    folder.mkdir()
    for path in sources:
        text = run(vyos, 'scripts/transclude-template', path)
        (folder / path.name.removesuffix('.in')).write_text(text)


def node_defs(folder):
    """The node.def files of vyos-1x, with the sudo that our generator adds to commands of the op
    mode."""
    return {str(p.relative_to(folder)): op.as_root(p.read_text()).encode()
            for p in folder.rglob('node.def')}


def canonical(text):
    """Equal texts for documents that differ only in comments, white space and order of attributes.
    """
    parser = etree.XMLParser(remove_comments=True, remove_blank_text=True)
    root = etree.fromstring(text.encode(), parser)
    for element in root.iter():
        # An override leaves the default at the end in one tool, and in place in the other tool.
        if element.tag == 'leafNode':
            element[:] = sorted(element, key=lambda child: child.tag, reverse=True)
        element.tail = None
        if len(element):
            element.text = None
    return etree.tostring(root, method='c14n').decode()


def compare_mode(vyos, mode, work, report):
    settings = MODES[mode]
    sources = sorted(settings['ours'].glob('*.xml.in'))
    definitions = build_templates.read_all(mode, sources)
    ours = {name: text.encode() for name, text in build_templates.build(mode, definitions).items()}

    transclude(vyos, in_vyos_form(settings['ours'], work / 'definitions'), work / 'xml')
    if mode == 'config':
        run(vyos, 'scripts/override-default', work / 'xml')
    schema = etree.RelaxNG(etree.parse(vyos / settings['schema']))
    invalid = [p.name for p in (work / 'xml').iterdir() if not schema.validate(etree.parse(p))]
    report.line(f'{mode}: schema of vyos-1x', invalid, len(sources))

    different = [
        path.name
        for path, definition in definitions.items()
        if canonical(definition.merged())
        != canonical((work / 'xml' / path.name.removesuffix('.in')).read_text())
    ]
    report.line(f'{mode}: includes and overrides', different, len(sources))

    (work / 'templates').mkdir()
    for path in sorted((work / 'xml').iterdir()):
        run(vyos, settings['generator'], path, vyos / settings['schema'], work / 'templates')
    theirs = node_defs(work / 'templates')
    parents = sorted(name for name, text in theirs.items() if not text)
    theirs = {name: text for name, text in theirs.items() if text}
    problems = [f'{name}: only ours' for name in sorted(ours.keys() - theirs.keys())]
    problems += [f'{name}: only theirs' for name in sorted(theirs.keys() - ours.keys())]
    problems += [
        f'{name}:\n--- ours\n{ours[name].decode()}--- theirs\n{theirs[name].decode()}'
        for name in sorted(ours.keys() & theirs.keys())
        if ours[name] != theirs[name]
    ]
    report.line(f'{mode}: node.def files, byte for byte', problems, len(ours))
    compare_neighbours(vyos, mode, work, report, ours, parents)


def compare_neighbours(vyos, mode, work, report, ours, parents):
    """Compares with all templates of vyos-1x: our nodes overwrite no template, and every parent
    exists."""
    settings = MODES[mode]
    sources = sorted((vyos / settings['theirs']).glob('*.xml.in'))
    sources = [p for p in sources if p.name != 'xml-component-version.xml.in']
    transclude(vyos, sources, work / 'vyos-xml')
    if mode == 'config':
        run(vyos, 'scripts/override-default', work / 'vyos-xml')
    (work / 'vyos-templates').mkdir()
    for path in sorted((work / 'vyos-xml').iterdir()):
        run(vyos, settings['generator'], path, vyos / settings['schema'], work / 'vyos-templates')
    vyos_files = {name for name, text in node_defs(work / 'vyos-templates').items() if text}
    missing = [f'{name} is in no definition' for name in parents if name not in vyos_files]
    report.line(f'{mode}: parents are in vyos-1x', missing, len(parents))
    both = [f'{name} is in vyos-1x too' for name in sorted(ours.keys() & vyos_files)]
    report.line(f'{mode}: no file of vyos-1x is overwritten', both, len(ours))
    compare_generators(vyos, mode, work, report, sources)


def is_refused(definition, mode):
    """Forms of vyos-1x that our grammar refuses, so our generator need not support the forms.
    Examples are empty texts, op-mode nodes without help, completion of image files, and a node
    repeated for an override."""
    root = definition.root
    if mode == 'op' and any(p.find('help') is None for p in root.iter('properties')):
        return True
    if any(not (e.text or '').strip() for e in root.iter('help', 'format', 'defaultValue')):
        return True
    if root.find('.//imagePath') is not None:
        return True
    for children in root.iter('children'):
        names = [node.get('name') for node in children.iterfind('node')]
        if len(names) > len(set(names)):
            return True
    return False


def compare_generators(vyos, mode, work, report, sources):
    settings = MODES[mode]
    problems, count, refused = [], 0, 0
    for path in sources:
        definition = source.read(path)
        if is_refused(definition, mode):
            refused += 1
            continue
        folder = work / 'single' / path.name
        folder.mkdir(parents=True)
        xml = work / 'vyos-xml' / path.name.removesuffix('.in')
        run(vyos, settings['generator'], xml, vyos / settings['schema'], folder)
        theirs = {name: text.decode() for name, text in node_defs(folder).items() if text}
        ours = build_templates.MODES[mode].templates(definition)
        count += len(theirs)
        problems += [
            f'{path.name}: {name}'
            for name in sorted(ours.keys() | theirs.keys())
            if ours.get(name) != theirs.get(name)
        ]
    print(f'{mode}: {len(sources)} definitions of vyos-1x, {refused} in forms that we refuse')
    report.line(f'{mode}: their node.def files by our generator', problems, count)


def compare_helpers(vyos, report):
    text = '\n'.join(
        path.read_text()
        for settings in MODES.values()
        for path in settings['ours'].rglob('*.xml.i*')
    )
    names = {('validators', name) for name in re.findall(r'<validator name="([a-z0-9-]+)"', text)}
    names |= {('completion', n) for n in re.findall(r'\{vyos_completion_dir\}/([\w.]+)', text)}
    names |= {('op_mode', n) for n in re.findall(r'\{vyos_op_scripts_dir\}/([\w.]+)', text)}
    missing = [
        f'{folder}/{name}'
        for folder, name in sorted(names)
        if name not in VYOS_UTILS | OUR_HELPERS | {'leon.py', 'leon_lisp.py'}
        and not (vyos / 'src' / folder / name).exists()
    ]
    report.line('helpers that we name are in vyos-1x', missing, len(names))


def compare_dependencies(vyos, report):
    """Our dependents added to those of vyos-1x: no duplicate name, and known scripts only."""
    known = {p.stem.replace('-', '_') for p in (vyos / 'src/conf_mode').glob('*.py')}
    known.add('interfaces_leon')
    theirs = {}
    for path in (vyos / 'data/config-mode-dependencies').glob('*.json'):
        theirs |= json.loads(path.read_text())
    problems, count = [], 0
    for path in (TOP / 'vyos-1x-leon/config-mode-dependencies').glob('*.json'):
        for caller, cases in json.loads(path.read_text()).items():
            for case, targets in cases.items():
                count += 1
                problems += [f'no script {n}' for n in [caller, *targets] if n not in known]
                if case in theirs.get(caller, {}):
                    problems.append(f'{caller} {case} is in vyos-1x too')
    report.line('config-mode dependencies', problems, count)


def compare_dependency_graph(vyos, report, work):
    folder = work / 'dependencies'
    shutil.copytree(vyos / 'data/config-mode-dependencies', folder)
    for path in (TOP / 'vyos-1x-leon/config-mode-dependencies').glob('*.json'):
        shutil.copy(path, folder)
    done = subprocess.run(
        [sys.executable, '-B', vyos / 'src/helpers/config_dependency.py', '--dependency-dir', folder],
        capture_output=True, text=True, check=False,
    )
    problems = [done.stdout + done.stderr] if done.returncode else []
    report.line('graph of dependents has no cycle', problems, len(list(folder.iterdir())))


SECTIONS = """
import vyos_leon_hook
from vyos.ifconfig import LeonIf, Section
assert Section.section('leon0') == 'leon', Section.section('leon0')
assert Section.get_config_path('leon0') == 'leon leon0', Section.get_config_path('leon0')
assert 'leon' in Section.feature('bridgeable')
assert Section.section('eth0') == 'ethernet'
"""


def compare_ifconfig(vyos, report, work):
    shutil.copytree(vyos / 'python/vyos', work / 'python/vyos')
    shutil.copy(TOP / 'vyos-1x-leon/python/ifconfig/leon.py', work / 'python/vyos/ifconfig')
    path = f'{work / "python"}:{TOP / "vyos-1x-leon/python"}:{os.environ.get("PYTHONPATH", "")}'
    done = subprocess.run(
        [sys.executable, '-B', '-c', SECTIONS], capture_output=True, text=True, check=False,
        env={**os.environ, 'PYTHONPATH': path},
    )
    missing = re.search(r"No module named '(?!vyos)(\w+)'", done.stderr)
    if missing:
        print(f'vyos.ifconfig knows leonN: skipped, no Python module {missing[1]}')
        return
    report.line('vyos.ifconfig knows leonN', [done.stderr] if done.returncode else [], 4)


def main():
    checkout = os.environ.get('VYOS_1X')
    if not checkout:
        print('skipped: set VYOS_1X to a checkout of vyos-1x')
        return 0
    vyos = Path(checkout).resolve()
    report = Report()
    for mode in MODES:
        with tempfile.TemporaryDirectory(prefix='leon-vyos-') as work:
            compare_mode(vyos, mode, Path(work), report)
    compare_helpers(vyos, report)
    compare_dependencies(vyos, report)
    with tempfile.TemporaryDirectory(prefix='leon-vyos-') as work:
        compare_dependency_graph(vyos, report, Path(work))
        compare_ifconfig(vyos, report, Path(work))
    return 1 if report.failed else 0


if __name__ == '__main__':
    sys.exit(main())
