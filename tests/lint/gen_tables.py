#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""Compares the generated tables of reference.md with their sources. Drop reasons, counters and
events come from drop.def, counter.def and event.def, leaves from conf.def, and keys of answers from
show.def. With --write, writes the text between the lines <!-- drops --> and <!-- /drops -->.
"""

import os
import re
import sys

import leaf_pages
import tree

sys.path.insert(0, os.path.join(tree.TOP, 'tests/schema'))
import show_def  # noqa: E402

REFERENCE = 'vyos-1x-leon/doc/reference.md'
# List -> file, pattern of an entry with key and meaning, title of the first column.
LISTS = {
    'drops': ('fwd/drop.def', r'^DROP\((\w+), "([^"]*)"\)$', 'Reason'),
    'counters': ('fwd/counter.def', r'^COUNTER\((\w+), "([^"]*)"\)$', 'Counter'),
    'events': ('state/event.def',
               r'^EVENT\(\w+, "([a-z-]+)", [A-Z]+, (?:NULL|"[^"]*"), "([^"]*)"\)$', 'Event'),
}


def entries(name):
    """[(key, meaning)] of a list."""
    file, pattern, _ = LISTS[name]
    text = tree.read(f'{tree.DATAPLANE}/{file}')
    found = re.findall(pattern, text, re.M)
    if len(found) != len(re.findall(r'^[A-Z]+\(', text, re.M)):
        sys.exit(f'{file}: an entry is not written as the others are')
    return found


def table(name):
    """The Markdown table of a list."""
    title = LISTS[name][2]
    rows = entries(name)
    lines = [f'| {title} | Meaning |', '|---|---|']
    lines += [f'| `{key}` | {text} |' for key, text in rows]
    return '\n'.join(lines)


# Page -> name of a generated part -> text.
PAGES = {
    REFERENCE: {
        'leaves': leaf_pages.leaf_table,
        **{name: lambda name=name: table(name) for name in LISTS},
        **{command: lambda rows=rows: show_def.table_of(rows)
           for command, rows in show_def.answers().items() if show_def.meanings(rows)},
    },
}


def regenerate(path, page):
    """The page with new generated parts, and the names without both lines."""
    missing = []
    for name, make in PAGES[path].items():
        first, last = f'<!-- {name} -->\n', f'<!-- /{name} -->'
        block = re.compile(f'({re.escape(first)}).*?({re.escape(last)})', re.S)
        if not block.search(page):
            missing.append(name)
        page = block.sub(lambda m, text=make(): f'{m[1]}{text}\n{m[2]}', page)
    return page, missing


def unknown_placeholders():
    """Sentences of event.def contain only placeholders of daemon/report/report.c."""
    known = set(re.findall(r'"(\{\w+\})"', tree.read(f'{tree.DATAPLANE}/daemon/report/report.c')))
    used = set(re.findall(r'\{\w+\}', tree.read(f'{tree.DATAPLANE}/state/event.def')))
    return [f'event.def: nobody fills in {word}' for word in sorted(used - known)]


def write(path, text):
    with open(os.path.join(tree.TOP, path), 'w', encoding='utf-8') as f:
        f.write(text)


def main():
    problems = unknown_placeholders()
    files = []
    for path in PAGES:
        page = tree.read(path)
        fresh, missing = regenerate(path, page)
        problems += [f'{path}: no lines around what is generated of {name}' for name in missing]
        files.append((path, page, fresh))
    for path, old, new in files:
        if new == old:
            continue
        if '--write' in sys.argv[1:]:
            write(path, new)
        else:
            problems.append(f'{path} is stale, run tests/lint/gen_tables.py --write')
    return tree.report(problems)


if __name__ == '__main__':
    sys.exit(main())
