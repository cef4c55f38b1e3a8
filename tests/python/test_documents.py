# SPDX-License-Identifier: GPL-2.0-or-later
"""What the documents name exists, and what operators meet is documented."""
import re
from pathlib import Path

import pytest

TOP = Path(__file__).resolve().parents[2]
DOC = TOP / 'vyos-1x-leon/doc'
DATAPLANE = TOP / 'vyos-1x-leon/dataplane'
# Where a path in a text may begin.
ROOTS = (TOP, TOP / 'vyos-1x-leon', DATAPLANE, DOC, DATAPLANE / 'base', DATAPLANE / 'fwd')
PAGES = [TOP / 'README.md', DOC / 'architecture.md', DOC / 'operations.md',
         *sorted((DOC / 'decisions').glob('*.md'))]


def code(text: str) -> list:
    """What stands between backticks within a line."""
    return re.findall(r'(?<!`)`([^`\n]+)`(?!`)', text)


@pytest.mark.parametrize('page', PAGES, ids=lambda page: page.stem)
def test_files_named_exist(page):
    named = [word for word in code(page.read_text())
             if re.fullmatch(r'[\w./-]+\.(?:c|h|md|py|def|sh)(?![\w/])', word)]
    missing = [word for word in named if not any((root / word).exists() for root in ROOTS)]
    assert missing == []


def test_commands_of_the_readme_exist():
    text = (TOP / 'README.md').read_text()
    targets = set(re.findall(r'^([a-z-]+):', (TOP / 'Makefile').read_text(), re.M))
    named = set(re.findall(r'\bmake ([a-z]+)(?=[ `\n])', text)) - {'it'}
    assert {'demo', 'check', 'bench', 'deb'} <= named <= targets


def test_commands_of_leonctl_are_documented():
    table = (TOP / 'vyos-1x-leon/leonctl/commands.c').read_text()
    commands = re.findall(r'^\t\{ "([a-z ]+)", ARG_', table, re.M)
    page = (DOC / 'operations.md').read_text().replace('|', '\n')
    assert len(commands) >= 14
    undocumented = [command for command in commands
                    if f'leonctl {command}' not in page and not command.startswith('reset ')]
    assert undocumented == []
    assert 'leonctl reset fdb|statistics|node NODE' in (DOC / 'operations.md').read_text()


def test_counters_of_sclp_are_documented():
    table = (TOP / 'vyos-1x-leon/leon-sclp/counters.def').read_text()
    rows = [f'| `{name}` | {text} |' for name, text in re.findall(r'^COUNT\((\w+), "(.+)"\)$', table, re.M)]
    page = (DOC / 'sclp.md').read_text()
    assert len(rows) > 10 and [row for row in rows if row not in page] == []


def test_options_of_sclp_are_documented():
    source = (TOP / 'vyos-1x-leon/leon-sclp/main.c').read_text()
    options = re.findall(r'\{ "([a-z]+)", required_argument', source)
    page = (DOC / 'man/leon-sclp.8.scd').read_text()
    assert len(options) == 6 and [o for o in options if f'*--{o}* _' not in page] == []


def test_events_are_documented():
    names = set()
    for source in (DATAPLANE / 'daemon').glob('*.c'):
        names |= set(re.findall(r'\.name = "([a-z-]+)"', source.read_text()))
    for source in (DATAPLANE / 'proto').glob('*.c'):
        names |= set(re.findall(r'\[EV_\w+\] = "([a-z-]+)"', source.read_text()))
    assert {'joined', 'link-down', 'mac-moved'} <= names
    assert names - set(code((DOC / 'operations.md').read_text())) == set()


def test_configuration_keys_are_documented():
    source = ''.join(p.read_text() for p in sorted((DATAPLANE / 'state').glob('conf*.c')))
    keys = set(re.findall(r'(?:get_\w+|jsonr_(?:str|bool|u64|object|array))\('
                          r'(?:[^()"]|\([^()]*\))*"([a-z-]+)"', source))
    assert {'threshold-minimum', 'pre-shared-secret', 'storm-control'} <= keys
    page = (DOC / 'operations.md').read_text()
    rows = '\n'.join(line for line in page.splitlines() if line.startswith('| `'))
    manual = (DOC / 'man/leond.json.5.scd').read_text().replace('_', ' ')
    for name, text in (('operations.md', rows), ('leond.json(5)', manual)):
        missing = [key for key in sorted(keys) if not re.search(rf'(?<![\w-]){key}(?![\w-])', text)]
        assert missing == [], name
