# SPDX-License-Identifier: GPL-2.0-or-later
"""Our own checks of tests/lint find their errors, and nothing else."""

import ast
import importlib.util
import sys
from pathlib import Path

import pytest

LINT = Path(__file__).resolve().parents[1] / 'lint'
sys.path.insert(0, str(LINT))


def load(name, folder=LINT):
    """A lint script as a module; names such as `python` are unsuitable for an import."""
    spec = importlib.util.spec_from_file_location(f'lint_{name}', folder / f'{name}.py')
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


python = load('python')


@pytest.mark.parametrize('text', [
    'def f(a, b=[]): pass',
    'def f(*, b={}): pass',
    'f = lambda b=set(): b',
    'def f(list): pass',
    'def f():\n    input = 1',
    'for type in x: pass',
])
def test_python_that_is_refused(text):
    assert [p for node in ast.walk(ast.parse(text)) for p in python.problems_of(node)]


@pytest.mark.parametrize('text', [
    'def f(a, b=(), c=None, d=frozenset()): pass',
    'from vyos.base import Warning',
    'def f(x):\n    x.type = 1\n    return list(x)',
])
def test_python_that_is_fine(text):
    assert not [p for node in ast.walk(ast.parse(text)) for p in python.problems_of(node)]


includes = load('includes')


def test_includes_of_which_nothing_is_used():
    text = '#include <errno.h>\n#include <stdio.h>\n#include "x.h"\n#include "y.h"\nint main(void) { puts(X); }\n'
    headers = {'vyos-1x-leon/x.h': {'X'}, 'vyos-1x-leon/y.h': {'Y'}}
    assert list(includes.unused('vyos-1x-leon/a.c', text, headers)) == ['errno.h', 'y.h']
    assert list(includes.unused('vyos-1x-leon/y.c', text, headers)) == ['errno.h']


comments = load('comments')


def test_comments_that_are_too_wide():
    wide = 'word ' * 21
    c = f'int a; // short\n/* {wide} */\nchar s[] = "/* {wide} */";\n/*\n * {wide}\n */\n'
    assert set(comments.c_comments(c)) == {1, 2, 4, 5, 6}
    assert set(comments.python_comments(f'x = 1  # {wide}\n"""no comment"""\ny = "# {wide}"\n')) == {1}
    assert set(comments.python_comments('def f():\n    """A\n    b."""\n')) == {2, 3}
    assert comments.too_wide(f' * {wide}') and not comments.too_wide(' * ' + 'a' * 120)
    assert comments.too_wide('\t' * 11 + '/* two words */')


floors, knots, layers = load('floors'), load('knots'), load('layers')


@pytest.mark.parametrize('name, other', [
    ('schedule', 'session/hello'),
    ('measure/probe', 'paths'),
    ('session/hello', 'dispatch'),
    ('session/hello', 'elsewhere'),
])
def test_an_arrow_that_goes_up(name, other):
    assert floors.problem('proto', name, other)
    assert layers.check_own_include(f'vyos-1x-leon/dataplane/proto/{name}.c', 'proto',
                                    f'proto/{other}.h')
    needs = {name: {other: {'it'}}, other: {}}
    assert any('(it)' in problem for problem in knots.check_layer('proto', needs, False))


@pytest.mark.parametrize('name, other', [
    ('session/hello', 'session/initiator'),
    ('session/hello', 'schedule'),
    ('paths', 'measure/path_probe'),
])
def test_an_arrow_that_goes_down(name, other):
    assert not floors.problem('proto', name, other)
    assert not layers.check_own_include(f'vyos-1x-leon/dataplane/proto/{name}.c', 'proto',
                                        f'proto/{other}.h')


def test_a_contract_is_for_every_floor():
    assert not layers.check_own_include('vyos-1x-leon/dataplane/proto/service.c', 'proto',
                                        'proto/overlay.h')


def test_a_header_with_owners():
    for owner in ('aead', 'public_key'):
        assert not layers.check_system_include(f'vyos-1x-leon/dataplane/crypto/{owner}.c', 'crypto',
                                               'openssl/evp.h')
    assert layers.check_system_include('vyos-1x-leon/dataplane/crypto/keys.c', 'crypto',
                                       'openssl/evp.h')


def test_a_knot_is_refused():
    needs = {'session/a': {'session/b': {'x'}}, 'session/b': {'session/a': {'y'}}}
    assert knots.check_layer('proto', needs, False)
    assert not knots.check_layer('proto', {'session/a': {'session/b': {'x'}}, 'session/b': {}},
                                 False)


def test_what_a_module_keeps_is_its_own():
    text = 'p->sync.ask_at = o->by_slot[i]->rows.behind_since; p->heard = now;'
    assert floors.trespasses('proto', 'paths', text) == ['rows', 'sync']
    assert floors.trespasses('proto', 'share/sync', text) == ['rows']
    assert floors.trespasses('proto', 'view', text) == []


language = load('language')
BANNED = language.re.compile(r'\b(?:whoever|dear)\b', language.re.I)


def language_of(text, reader):
    """Figures of a text, and the lines of the findings."""
    figures = language.Figures()
    for unit in reader(text):
        for match in language.SENTENCE.finditer(unit.text):
            figures.add_sentence('x', unit.line, match[0], BANNED)
    return figures.figures(), [line for _, line, _ in figures.findings]


def test_language_of_a_comment():
    text = 'int a;\n/* What waits is dear. Where it is, `whoever` is told. */\n/* Frees the queue. */\n'
    figures, lines = language_of(text, language.c_comments)
    words = 13
    assert figures['clauses'] == pytest.approx(100 * 3 / words)
    assert figures['pronouns'] == pytest.approx(100 * 1 / words)
    assert figures['words'] == 2 and set(lines) == {2}


def test_language_of_other_files():
    text = '#!/bin/who\n# Who waits.\necho "#who"\nx: ## who\ny  # who\n// Who waits.\n{# Who\nwaits. #}\n'
    assert language_of(text, language.hash_comments)[1] == [2, 4, 5, 6, 7]
    kinds = {path: kind for kind, _, path in language.sources()}
    for path in ('packaging/debian/rules', 'packaging/systemd/leond@.service', 'meson.build', 'Makefile'):
        assert kinds[path] == 'files'
    assert kinds['packaging/vyos/leon-boot'] == 'python'


def test_language_of_a_document_is_measured_without_its_code():
    text = '# Title\n\n    what who\n\nA queue is `dear`, see [the page](#who).\n\n```\nwho\n```\n\n| a | b |\n|---|---|\n' \
           '| x | ' + 'word ' * 26 + '|\n'
    figures, lines = language_of(text, language.document)
    assert figures['clauses'] == 0 and figures['words'] == 0
    assert figures['long'] == 1 and lines == [13]


def test_language_counts_paragraphs_items_and_rows_of_a_comment_separately():
    row = '  -x ' + 'word ' * 14
    short = f'/* {"word " * 20}\n *\n * {"word " * 20}\n * - {"word " * 20}\n */'
    table = f'"""Text.\n\nusage: x\n{row}\n{row}\n\n    {"code " * 26}\n"""\n'
    usage = f'"usage: x\\n{row}\\n{row}\\n"'
    assert language_of(short, language.c_comments)[0]['long'] == 0
    assert language_of(table, language.python_comments)[0]['long'] == 0
    assert language_of(usage, language.c_messages)[0]['long'] == 0
    sentence = f'/* {"word " * 20}\n *   {"word " * 20}\n */'
    assert language_of(sentence, language.c_comments)[0]['long'] == 1


def test_language_may_only_become_better():
    areas = {'comments x': language.Figures()}
    areas['comments x'].counts.update(all=100, long=2)
    worse = {'comments x': {'clauses': 1, 'pronouns': 9, 'long': 1, 'wide': 0, 'words': 0}}
    same = {'comments x': {**worse['comments x'], 'long': 2}}
    assert list(language.check(areas, worse)) and not list(language.check(areas, same))
    assert language.lowered(areas, worse)['comments x']['long'] == 1


def test_words_that_the_glossary_replaces():
    banned = language.banned_words()
    assert banned.search('the stand-in ends') and not banned.search('the proxy socket ends')


def test_files_of_fuzz_targets_exist(monkeypatch):
    """fuzz/coverage.py counts a moved file as not reached."""
    fuzz = LINT.parent / 'fuzz'
    monkeypatch.syspath_prepend(str(fuzz))
    coverage = load('coverage', fuzz)
    files = [Path(coverage.SOURCES) / name for names in coverage.TARGETS.values() for name in names]
    assert [str(file) for file in files if not file.is_file()] == []
