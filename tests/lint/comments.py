#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""Comments end at column 100 in C and Python, doc strings included, because clang-format breaks no
comments. A tab counts as 8 columns. A line of one word may be longer.
"""

import ast
import io
import re
import sys
import tokenize

import tree

WIDTH = 100
# Strings and characters come first, because both may contain the signs of a comment.
C_TOKEN = re.compile(r'"(?:\\.|[^"\\\n])*"|\'(?:\\.|[^\'\\\n])+\'|(/\*.*?\*/|//[^\n]*)', re.S)
SIGNS = re.compile(r'/\*+|\*+/|^\s*(?:\*|//|#+)', re.M)


def c_comments(text):
    """Numbers of the lines with a part of a comment."""
    for match in C_TOKEN.finditer(text):
        if match[1]:
            first = text.count('\n', 0, match.start()) + 1
            yield from range(first, first + match[1].count('\n') + 1)


def python_comments(text):
    for token in tokenize.generate_tokens(io.StringIO(text).readline):
        if token.type == tokenize.COMMENT:
            yield token.start[0]
    for node in ast.walk(ast.parse(text)):
        body = getattr(node, 'body', None)
        first = body[0] if isinstance(body, list) and body else None
        if isinstance(first, ast.Expr) and isinstance(first.value, ast.Constant) \
                and isinstance(first.value.value, str):
            yield from range(first.lineno, first.end_lineno + 1)


def too_wide(line):
    return len(line.expandtabs(8)) > WIDTH and len(SIGNS.sub('', line).split()) > 1


def main():
    problems = []
    sources = [(path, c_comments) for path in tree.files('.c', '.h', '.def')]
    sources += [(path, python_comments) for path in tree.python_files()]
    for path, comments in sources:
        text = tree.read(path)
        lines = text.split('\n')
        problems += [f'{path}:{number}: a comment beyond column {WIDTH}'
                     for number in sorted(set(comments(text))) if too_wide(lines[number - 1])]
    return tree.report(problems)


if __name__ == '__main__':
    sys.exit(main())
