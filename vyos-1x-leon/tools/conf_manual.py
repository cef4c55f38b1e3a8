#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""Prints the source of leond.json(5) for scdoc: the given page, with the leaves of conf.def in the
place of its line "; leaves".
"""

import sys
from pathlib import Path

from leaf_text import leaf_entries

MARK = '; leaves\n'


def main():
    page = Path(sys.argv[1]).read_text(encoding='utf-8')
    if page.count(MARK) != 1:
        return f'{sys.argv[1]}: not one line "; leaves"'
    sys.stdout.write(page.replace(MARK, leaf_entries() + '\n'))
    return 0


if __name__ == '__main__':
    sys.exit(main())
