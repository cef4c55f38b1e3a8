#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""Measures the language of documents, comments, help texts and messages, and refuses text that is
worse than the figures in language.json.

An area is a kind of text in one folder. An area has five figures.

  clauses   words of the what/who family, and sentences that begin with "Where", in 100 words.
  pronouns  pronouns in 100 words.
  long      sentences of more than 25 words.
  wide      lines of a document beyond column 100. Tables and blocks of code are exempt.
  words     words that doc/glossary.md replaces.

The kind `files` has the comments of all other text files, such as scripts and units.

Usage: language.py [--figures] [--write] [--report PATH...]
  --figures prints the figures of each area.
  --write   lowers language.json to the present figures and adds new areas. No figure rises.
  --report  prints each offending sentence of the given files or folders with file and line.
"""

import argparse
import ast
import collections
import json
import math
import os
import re
import sys

import tree

RATCHET = 'tests/lint/language.json'
GLOSSARY = 'vyos-1x-leon/doc/glossary.md'
GOALS = {'clauses': 0.3, 'pronouns': 4.5, 'long': 0, 'wide': 0, 'words': 0}
# A rate moves a little when well-written text is added to or removed from a folder.
SLACK = {'clauses': 0.02, 'pronouns': 0.1, 'long': 0, 'wide': 0, 'words': 0}
LONGEST = 25
WIDTH = 100
MANY = 4  # a sentence with MANY pronouns is reported

CLAUSE = re.compile(r"\b(?:what|whatever|who|whoever|whom|whose)\b|\A\W*wherever\b|\A\W*where\b", re.I)
PRONOUN = re.compile(r'\b(?:it|its|itself|they|them|their|themselves|this|these|that|those|ones?|'
                     r'none|nobody|somebody)\b', re.I)
WORD = re.compile(r"[A-Za-z][A-Za-z0-9'_-]*")
SENTENCE = re.compile(r'.+?(?:[.!?](?=[\s)"]|$)|\Z)', re.S)

C_TOKEN = re.compile(r'((?:"(?:\\.|[^"\\\n])*"\s*)+)|\'(?:\\.|[^\'\\\n])+\'|(/\*.*?\*/|//[^\n]*)', re.S)
C_SIGN = re.compile(r'^[ \t]*(?:/\*+|\*+/|\*|//)|\*+/\s*\Z', re.M)
XML_TEXT = re.compile(r'<(help|description|constraintErrorMessage)>([^<]+)</\1>')
HASH_COMMENT = re.compile(r'^[ \t]*(?:#|//)(?!!)(.*(?:\n[ \t]*(?:#|//).*)*)|(?:\s\s#|\s##)\s(.*)$|'
                          r'\{#((?:.|\n)*?)#\}', re.M)
# The names of files without such comments, and folders with data of tests.
NO_HASH = ('.c', '.def', '.h', '.html', '.in', '.json', '.md', '.scd', '.svg', '.xml.i', 'LICENSE', 'changelog',
           'copyright')
DATA = ('tests/fuzz/corpus/', 'tests/latency/', 'tests/python/golden/', 'tests/unit/render/')
TABLE_RULE = re.compile(r'^[|:\s-]+$')
USAGE_LINE = re.compile(r'\busage: .*?\\n|\\n(?=\s|\\n|$)')
BEFORE_TABLE = re.compile(r'\A\s*\Z|\A\s*usage: |[.:;]\s*\Z', re.I)
NEW_UNIT = re.compile(r'^\s*(?:[-*+] |\d+\. |#+ |>)')

Unit = collections.namedtuple('Unit', 'line text')


def line_of(text, position):
    return text.count('\n', 0, position) + 1


def plain(text):
    """The text without code, values in braces, targets of links and marks of emphasis."""
    text = re.sub(r'`+[^`]*`+|\{[^{}]*\}', 'CODE', text)
    text = re.sub(r'\[([^\]]*)\]\([^)]*\)', r'\1', text)
    return re.sub(r'<[^>\s]+>|[*_]', lambda m: '' if m[0] != '_' else '_', text)


def prose_lines(text):
    """(number, line) of a document without blocks of code."""
    fenced, blank, code = False, True, False
    for number, line in enumerate(text.split('\n'), 1):
        if line.lstrip().startswith('```'):
            fenced = not fenced
        elif not fenced:
            code = line.startswith('    ') and (blank or code)
            if not code:
                yield number, line
        blank = not line.strip()


def document(text):
    """A unit for each paragraph, item of a list, heading and cell of a table."""
    first, paragraph = 1, ''
    for number, line in [*prose_lines(text), (0, '')]:
        in_table = line.startswith('|')
        if in_table or not line.strip() or NEW_UNIT.match(line) or paragraph.startswith('#'):
            yield Unit(first, plain(paragraph))
            first, paragraph = number, ''
        if not in_table:
            paragraph += line + '\n'
        elif not TABLE_RULE.match(line):
            yield from (Unit(number, plain(cell)) for cell in re.split(r'(?<!\\)\|', line)[1:-1])


def paragraphs(line, text):
    """A unit for each paragraph, item of a list and line of a table of a comment without blocks of
    code. A table is indented, and follows a blank line, a command line of a usage text, a colon or
    the end of a sentence.
    """
    lines = text.split('\n')
    margin = min((len(part) - len(part.lstrip()) for part in lines[1:] if part.strip()), default=0)
    lines[1:] = (part[margin:] for part in lines[1:])
    first, paragraph, item, row = 1, '', False, False
    for number, part in [*prose_lines('\n'.join(lines)), (0, '')]:
        marked = bool(NEW_UNIT.match(part))
        after = row or BEFORE_TABLE.search(paragraph)
        was, row = row, part.startswith('  ') and after and not marked and not item
        if not part.strip() or marked or row or was:
            yield Unit(line + first - 1, paragraph)
            first, paragraph, item = number, '', marked
        paragraph += f'{part}\n'


def c_comments(text):
    for match in C_TOKEN.finditer(text):
        if match[2]:
            said = re.sub(r'.*SPDX.*', '', C_SIGN.sub('', match[2]))
            yield from paragraphs(line_of(text, match.start()), said)


def c_messages(text):
    """Strings of four words or more, which read like sentences."""
    for match in C_TOKEN.finditer(text):
        if match[1]:
            said = ''.join(re.findall(r'"((?:\\.|[^"\\\n])*)"', match[1]))
            if len(re.findall(r'[a-z]{2,} ', said)) >= 3:
                line = line_of(text, match.start())
                yield from (Unit(line, plain(part)) for part in USAGE_LINE.split(said))


def xml_texts(text):
    yield from (Unit(line_of(text, m.start()), m[2]) for m in XML_TEXT.finditer(text))


def hash_comments(text):
    for match in HASH_COMMENT.finditer(text):
        said = re.sub(r'^[ \t]*(?:#|//)|.*SPDX.*', '', match[1] or match[2] or match[3] or '', flags=re.M)
        yield from paragraphs(line_of(text, match.start()), plain(said))


def python_comments(text):
    yield from hash_comments(text)
    for node in ast.walk(ast.parse(text)):
        body = getattr(node, 'body', None)
        first = body[0] if isinstance(body, list) and body else None
        if isinstance(first, ast.Expr) and isinstance(first.value, ast.Constant) \
                and isinstance(first.value.value, str):
            yield from paragraphs(first.lineno, plain(first.value.value))


def folder_of(kind, path):
    parts = os.path.dirname(path).split('/')
    if kind == 'files':
        return parts[0] if parts[0] in ('packaging', 'tests', 'vyos-1x-leon') else '.'
    return '/'.join(parts[:3 if parts[:2] in (['vyos-1x-leon', 'dataplane'],
                                              ['vyos-1x-leon', 'doc']) else 2]) or '.'


def sources():
    """(kind, reader, path) of every text."""
    for path in tree.files('.md', '.scd'):
        yield 'documents', document, path
    for path in tree.files('.c', '.h', '.def'):
        yield 'comments', c_comments, path
        if path.startswith('vyos-1x-leon'):
            yield 'messages', c_messages, path
    for path in tree.files('.xml.in', '.xml.i'):
        yield 'help', xml_texts, path
    for path in tree.python_files():
        yield 'python', python_comments, path
    for path in sorted(set(tree.text_files()).difference(tree.python_files())):
        if not path.endswith(NO_HASH) and not path.startswith(DATA):
            yield 'files', hash_comments, path


def banned_words():
    """The words in backticks in the first column of the glossary's table "Do not use"."""
    table = tree.read(GLOSSARY).split('\n## Do not use', 1)[1]
    cells = re.findall(r'^\|([^|]*)\|', table, re.M)
    words = [word for cell in cells for word in re.findall(r'`([^`]+)`', cell)]
    return re.compile(r'(?<![\w-])(?:' + '|'.join(map(re.escape, words)) + r')(?![\w-])', re.I)


def wide_lines(text):
    return [number for number, line in prose_lines(text)
            if len(line) > WIDTH and not line.startswith('|') and len(line.split()) > 1]


class Figures:
    """Sums of an area, and a finding for each error."""

    def __init__(self):
        self.counts = collections.Counter()
        self.findings = []

    def add_sentence(self, path, line, said, banned):
        found = {'clauses': CLAUSE.findall(said), 'pronouns': PRONOUN.findall(said),
                 'words': banned.findall(said)}
        n = len(WORD.findall(said))
        self.counts.update({key: len(value) for key, value in found.items()}, all=n, long=n > LONGEST)
        why = [f'{n} words'] if n > LONGEST else []
        why += [f'"{word}"' for word in found['clauses'] + found['words']]
        why += [f'{len(found["pronouns"])} pronouns'] if len(found['pronouns']) >= MANY else []
        if why:
            self.findings.append((path, line, f'{", ".join(why)}: {" ".join(said.split())}'))

    def add_file(self, kind, reader, path, banned):
        text = tree.read(path)
        for unit in reader(text):
            for match in SENTENCE.finditer(unit.text):
                start = match.start() + len(match[0]) - len(match[0].lstrip())
                self.add_sentence(path, unit.line + unit.text.count('\n', 0, start), match[0], banned)
        for line in wide_lines(text) if kind == 'documents' else ():
            self.counts['wide'] += 1
            self.findings.append((path, line, f'beyond column {WIDTH}'))

    def figures(self):
        per_cent = {key: 100 * self.counts[key] / max(self.counts['all'], 1)
                    for key in ('clauses', 'pronouns')}
        return {**per_cent, **{key: self.counts[key] for key in ('long', 'wide', 'words')}}


def measure(wanted=lambda path: True):
    banned, areas = banned_words(), {}
    for kind, reader, path in sources():
        if wanted(path) and path != GLOSSARY:
            area = areas.setdefault(f'{kind} {folder_of(kind, path)}', Figures())
            area.add_file(kind, reader, path, banned)
    return areas


def table(areas):
    """A line for each area, and a line for each kind of text."""
    sums = collections.defaultdict(Figures)
    for name, area in areas.items():
        sums[f'all {name.split()[0]}'].counts.update(area.counts)
    for name, area in [*sorted(areas.items()), *sorted(sums.items())]:
        yield f'{name}: {area.counts["all"]} words, ' + ', '.join(
            f'{key} {value:.2f}' if isinstance(value, float) else f'{key} {value}'
            for key, value in area.figures().items())


def check(areas, ratchet):
    for name, area in areas.items():
        for key, value in area.figures().items() if name in ratchet else ():
            limit = max(GOALS[key], ratchet[name][key])
            if value > limit + SLACK[key]:
                yield f'{name}: {key} {value:.4g}, at most {limit}; see language.py --report FOLDER'


def lowered(areas, ratchet):
    rounded = {name: {key: math.ceil(value * 100) / 100 if isinstance(value, float) else value
                      for key, value in area.figures().items()} for name, area in areas.items()}
    return {name: {key: min(value, ratchet.get(name, figures)[key])
                   for key, value in figures.items()} for name, figures in sorted(rounded.items())}


def main():
    parser = argparse.ArgumentParser(usage=__doc__)
    parser.add_argument('--figures', action='store_true')
    parser.add_argument('--write', action='store_true')
    parser.add_argument('--report', nargs='+', metavar='PATH')
    options = parser.parse_args()
    if options.report:
        under = tuple(os.path.relpath(os.path.abspath(path), tree.TOP) for path in options.report)
        areas = measure(lambda path: any(path == one or path.startswith(f'{one}/') for one in under))
        for path, line, why in sorted(f for area in areas.values() for f in area.findings):
            print(f'{path}:{line}: {why}')
        return 0
    areas, ratchet = measure(), json.loads(tree.read(RATCHET))
    if options.write:
        with open(os.path.join(tree.TOP, RATCHET), 'w', encoding='utf-8') as f:
            f.write('{\n' + ',\n'.join(f'{json.dumps(name)}: {json.dumps(figures)}' for name, figures
                                       in lowered(areas, ratchet).items()) + '\n}\n')
        return 0
    problems = list(check(areas, ratchet))
    if options.figures and not problems:
        print(*table(areas), sep='\n')
    return tree.report(problems)


if __name__ == '__main__':
    sys.exit(main())
