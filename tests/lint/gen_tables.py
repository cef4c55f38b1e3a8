#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""Keeps the tables of drop reasons, counters and events in reference.md, and the words that the
schema of `show events` allows, equal to drop.def, counter.def and event.def. Without arguments:
complains where they differ. With --write: regenerates what stands between the lines <!-- drops -->
and <!-- /drops --> (the others likewise), and the schema.
"""

import json
import os
import re
import sys

import tree

PAGE = 'vyos-1x-leon/doc/reference.md'
SCHEMA = 'tests/schema/show_events.json'
# List -> file, pattern of an entry with its key and its meaning, title of the first column.
LISTS = {
    'drops': ('fwd/drop.def', r'^DROP\((\w+), "([^"]*)"\)$', 'Reason'),
    'counters': ('fwd/counter.def', r'^COUNTER\((\w+), "([^"]*)"\)$', 'Counter'),
    'events': ('state/event.def',
               r'^EVENT\(\w+, "([a-z-]+)", [A-Z]+, (?:NULL|"[^"]*"), "([^"]*)"\)$', 'Event'),
}


def entries(name):
    """[(key, meaning)] of one list."""
    file, pattern, _ = LISTS[name]
    text = tree.read(f'{tree.DATAPLANE}/{file}')
    found = re.findall(pattern, text, re.M)
    if len(found) != len(re.findall(r'^[A-Z]+\(', text, re.M)):
        sys.exit(f'{file}: an entry is not written as the others are')
    return found


def table(name):
    """The Markdown table of one list."""
    title = LISTS[name][2]
    rows = entries(name)
    lines = [f'| {title} | Meaning |', '|---|---|']
    lines += [f'| `{key}` | {text} |' for key, text in rows]
    return '\n'.join(lines)


def regenerate(page):
    """The page with fresh tables, and the names of lists without their two marker lines."""
    missing = []
    for name in LISTS:
        block = re.compile(rf'(<!-- {name} -->\n).*?(<!-- /{name} -->)', re.S)
        if not block.search(page):
            missing.append(name)
        page = block.sub(lambda m, n=name: f'{m[1]}{table(n)}\n{m[2]}', page)
    return page, missing


def fresh_schema():
    """The schema of `show events` with the words of event.def."""
    schema = json.loads(tree.read(SCHEMA))
    words = sorted(word for word, _ in entries('events'))
    schema['properties']['events']['items']['properties']['event'] = {'enum': words}
    return json.dumps(schema, indent=1) + '\n'


def unknown_placeholders():
    """Sentences of event.def name only what daemon/event_text.c fills in."""
    known = set(re.findall(r'"(\{\w+\})"', tree.read(f'{tree.DATAPLANE}/daemon/notes.c')))
    used = set(re.findall(r'\{\w+\}', tree.read(f'{tree.DATAPLANE}/state/event.def')))
    return [f'event.def: nobody fills in {word}' for word in sorted(used - known)]


def write(path, text):
    with open(os.path.join(tree.TOP, path), 'w', encoding='utf-8') as f:
        f.write(text)


def main():
    if not os.path.exists(os.path.join(tree.TOP, PAGE)):
        return 0
    page = tree.read(PAGE)
    fresh, missing = regenerate(page)
    problems = [f'{PAGE}: no lines <!-- {name} --> and <!-- /{name} -->'
                for name in missing]
    problems += unknown_placeholders()
    for path, old, new in ((PAGE, page, fresh), (SCHEMA, tree.read(SCHEMA), fresh_schema())):
        if new == old:
            continue
        if '--write' in sys.argv[1:]:
            write(path, new)
        else:
            problems.append(f'{path} is stale, run tests/lint/gen_tables.py --write')
    return tree.report(problems)


if __name__ == '__main__':
    sys.exit(main())
