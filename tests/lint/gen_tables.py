#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""Keeps the tables of drop reasons and counters in reference.md equal to drop.def and
counter.def. Without arguments: complains where they differ. With --write: regenerates what stands
between the lines <!-- drops --> and <!-- /drops --> (and counters likewise).
"""

import os
import re
import sys

import tree

PAGE = 'vyos-1x-leon/doc/reference.md'
LISTS = {
    'drops': ('drop.def', 'DROP', 'Reason'),
    'counters': ('counter.def', 'COUNTER', 'Counter'),
}


def table(name):
    """The Markdown table of one list."""
    file, macro, title = LISTS[name]
    entry = re.compile(rf'^{macro}\((\w+), "([^"]*)"\)$', re.M)
    rows = entry.findall(tree.read(f'{tree.DATAPLANE}/fwd/{file}'))
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


def main():
    if not os.path.exists(os.path.join(tree.TOP, PAGE)):
        return 0
    page = tree.read(PAGE)
    fresh, missing = regenerate(page)
    problems = [f'{PAGE}: no lines <!-- {name} --> and <!-- /{name} -->'
                for name in missing]
    if fresh != page and '--write' in sys.argv[1:]:
        with open(os.path.join(tree.TOP, PAGE), 'w', encoding='utf-8') as f:
            f.write(fresh)
    elif fresh != page:
        problems.append(f'{PAGE}: tables are stale, run tests/lint/gen_tables.py --write')
    return tree.report(problems)


if __name__ == '__main__':
    sys.exit(main())
