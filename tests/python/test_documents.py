# SPDX-License-Identifier: GPL-2.0-or-later
"""Names in the documents exist, and names visible to operators are documented."""
import re
from pathlib import Path

import pytest

TOP = Path(__file__).resolve().parents[2]
DOC = TOP / 'vyos-1x-leon/doc'
DATAPLANE = TOP / 'vyos-1x-leon/dataplane'
# Directories for relative paths in a text.
ROOTS = (TOP, TOP / 'vyos-1x-leon', DATAPLANE, DOC, DOC / 'decisions', DATAPLANE / 'base', DATAPLANE / 'fwd')
ROOT_PAGES = [TOP / name for name in ('README.md', 'CONTRIBUTING.md', 'SECURITY.md', 'CHANGELOG.md')]
# Named by our pages, in other projects' trees.
FOREIGN = {'scripts/package-build/build.py'}
PAGES = [*ROOT_PAGES, *sorted(DOC.rglob('*.md'))]
KINDS = ('Tutorial', 'How-to', 'Reference', 'Explanation')


def code(text: str) -> list:
    """Text between backticks within a line."""
    return re.findall(r'(?<!`)`([^`\n]+)`(?!`)', text)


@pytest.mark.parametrize('page', PAGES, ids=lambda page: page.stem)
def test_files_named_exist(page):
    named = [word for word in code(page.read_text())
             if re.fullmatch(r'[\w./-]+\.(?:c|h|md|py|def|sh)(?![\w/])', word)]
    missing = {word for word in named if not any((root / word).exists() for root in ROOTS)}
    # A path from the root is on a router, not in the tree.
    assert {word for word in missing if not word.startswith(('/', '.../'))} - FOREIGN == set()


def prose(text: str) -> str:
    """The text without blocks of code, in which brackets are not links."""
    return re.sub(r'^```.*?^```$', '', text, flags=re.M | re.S)


def anchors(text: str) -> set:
    """Targets of links to headings of the page, in the form of the forges."""
    titles = re.findall(r'^#+ (.+)$', prose(text), re.M)
    return {re.sub(r'[^\w -]', '', title.lower()).replace(' ', '-') for title in titles}


def links(page: Path) -> list:
    """(text of the link, target) of the relative links of a page."""
    found = re.findall(r'\[([^\]]+)\]\(([^)\s]+)\)', prose(page.read_text()))
    return [(text, target) for text, target in found if '://' not in target]


@pytest.mark.parametrize('page', PAGES, ids=lambda page: page.stem)
def test_links_lead_somewhere(page):
    broken = []
    for _, target in links(page):
        name, _, anchor = target.partition('#')
        file = (page.parent / name).resolve() if name else page
        if not file.exists() or anchor and anchor not in anchors(file.read_text()):
            broken.append(target)
    assert broken == []


def test_links_are_found_and_anchors_too():
    assert len(links(DOC / 'README.md')) > 15
    assert 'duplicate-node-id' in anchors((DOC / 'operations.md').read_text())


def test_the_cache_size_leads_to_the_memory_bounds():
    (row,) = re.findall(r'^\| `acceleration compression cache-size`.*', (DOC / 'reference.md').read_text(), re.M)
    (anchor,) = re.findall(r'\(acceleration\.md#([\w-]+)\)', row)
    sections = re.split('^## ', (DOC / 'acceleration.md').read_text(), flags=re.M)
    (section,) = [text for text in sections if anchor in anchors('# ' + text)]
    assert section.startswith('Memory bounds\n') and '| zstd windows of all' in section


def test_titles_named_exist():
    """Checks a page name with a title: `protocol.md`, "Join, leave, failure"."""
    missing = []
    for page in PAGES:
        for name, title in re.findall(r'([\w-]+\.md)`?,\s"([^"]+)"', page.read_text()):
            wanted = ' '.join(title.split())
            headings = re.findall(r'^#+ (.+)$', (DOC / name).read_text(), re.M)
            missing += [] if wanted in headings else [(page.name, name, wanted)]
    assert missing == []


def cited(pattern: str) -> list:
    """(file, matched groups) of every citation in documents and comments. A citation may continue
    on the next line."""
    sources = [path for folder in ('vyos-1x-leon', 'tests', 'op-mode', 'packaging')
               for suffix in ('*.[ch]', '*.def', '*.py') for path in (TOP / folder).rglob(suffix)]
    return [(path.name, *found.groups()) for path in [*PAGES, *sources]
            for found in re.finditer(pattern, re.sub(r'\n[ \t]*(?:\*|#|//)?[ \t]*', ' ', path.read_text()))]


def test_sections_named_exist():
    """Checks a page name with a number: design.md section 7, protocol 3.2."""
    found = cited(r'\b(design|protocol|security)(?:\.md)?`?\)?,? \(?sections? (\d+(?:\.\d+)*)')
    found += [(file, 'protocol', number) for file, number in cited(r'\bprotocol (\d+(?:\.\d+)+)')]
    missing = [one for one in found if not re.search(
        rf'^#+ {re.escape(one[2])}\.? ', (DOC / f'{one[1]}.md').read_text(), re.M)]
    assert missing == [] and len(found) > 40


def test_comments_cite_what_a_clone_has():
    roots = (*ROOTS, *sorted(path for path in (TOP / 'tests').iterdir() if path.is_dir()))
    named = cited(r'(?<![\w./-])((?:[\w-]+/)*[\w-]+\.md)\b')
    missing = {one for one in named if not any((root / one[1]).exists() for root in roots)}
    assert missing == set() and len(named) > 100


def test_decisions_named_exist():
    found = cited(r'\bdecisions?[/ ](\d{3})\b')
    missing = [one for one in found if not list((DOC / 'decisions').glob(f'{one[1]}-*.md'))]
    assert missing == [] and len(found) > 20


def test_decisions_are_records_with_an_index():
    """Each record has three sections, and a row of the index with the title."""
    index = dict(re.findall(r'^\| \[\d{3}\]\(([\w-]+\.md)\) \| (.+?) \|',
                            (DOC / 'decisions/README.md').read_text(), re.M))
    records = {path.name: path.read_text() for path in (DOC / 'decisions').glob('[0-9]*.md')}
    titles = {name: re.match(r'# \d{3} (.+)', text)[1] for name, text in records.items()}
    assert index == titles
    assert list(index) == sorted(index)
    for name, text in records.items():
        assert re.findall(r'^## (.+)$', text, re.M) == ['Context', 'Decision', 'Consequences'], name


def test_each_page_is_of_one_kind():
    """The index has each page once, below one kind."""
    parts = re.split(r'^\*\*([\w-]+)\*\*', (DOC / 'README.md').read_text(), flags=re.M)
    assert tuple(parts[1::2]) == KINDS
    listed = [(DOC / target).resolve() for part in parts[2::2]
              for target in re.findall(r'^- \[[^\]]+\]\(([^)]+)\)', part, re.M)]
    pages = {page for page in DOC.glob('*.md') if page.name != 'README.md'}
    assert len(listed) == len(set(listed))
    assert pages | {DOC / 'decisions', DOC / 'man', TOP / 'CONTRIBUTING.md'} <= set(listed)


def test_the_three_sites_stand_once():
    """The file of the example is in operations.md, and other pages refer to operations.md."""
    found = [page.name for page in PAGES for _ in re.findall(r'"node-name": "fujisawa"', page.read_text())]
    assert found == ['operations.md']


def test_man_pages_are_listed():
    pages = {'.'.join(path.name.split('.')[:2]).replace('.', '(') + ')' for path in DOC.glob('man/*.scd')}
    assert len(pages) >= 6
    for page in ('README.md', 'reference.md'):
        assert [name for name in sorted(pages) if name not in (DOC / page).read_text()] == [], page


def test_apt_has_its_lists():
    """A fresh cloud image has none."""
    for page in (TOP / 'README.md', DOC / 'tutorial.md'):
        first = re.search(r'^ {4}(apt .*)$', page.read_text(), re.M)[1]
        assert first.startswith('apt update && apt install '), page


def test_commands_of_make_exist():
    targets = set(re.findall(r'^([a-z-]+):', (TOP / 'Makefile').read_text(), re.M))
    targets |= set(re.findall(r'^(check-[a-z -]+): check-%:', (TOP / 'Makefile').read_text(), re.M)[0].split())
    named = {page: set(re.findall(r'`make ([a-z-]+)|^ {4}make ([a-z-]+)', page.read_text(), re.M))
             for page in PAGES}
    for page, words in named.items():
        named[page] = {word for pair in words for word in pair if word}
        assert named[page] <= targets, page
    assert {'demo', 'check', 'bench', 'deb'} <= named[TOP / 'README.md']
    assert {'demo', 'bench', 'eval'} <= named[DOC / 'measurements.md']
    assert {'check', 'check-quick'} <= named[TOP / 'CONTRIBUTING.md']


def test_commands_of_leonctl_are_documented():
    table = (TOP / 'vyos-1x-leon/leonctl/commands.c').read_text()
    commands = re.findall(r'^\t\{ "([a-z ]+)",', table, re.M)
    page = (DOC / 'reference.md').read_text().replace('|', '\n')
    assert len(commands) >= 14
    undocumented = [command for command in commands
                    if f'leonctl {command}' not in page and f'\n### {command}\n' not in page
                    and not command.startswith('reset ')]
    assert undocumented == []
    assert 'leonctl reset fdb|statistics|node NODE' in (DOC / 'reference.md').read_text()


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
    listed = (DATAPLANE / 'state' / 'event.def').read_text()
    names = set(re.findall(r'^EVENT\(\w+, "([a-z-]+)"', listed, re.M))
    assert {'joined', 'link-down', 'mac-moved'} <= names
    assert names - set(code((DOC / 'reference.md').read_text())) == set()


def test_findings_of_status_are_documented():
    sources = [path.read_text() for path in (TOP / 'vyos-1x-leon/leonctl/status').glob('*.c')]
    pattern = r'\b(?:status_add|twice)\(\s*s, [^"\n;]*"([a-z-]+)"|^\t\{ "([a-z-]+)", .*, STATUS_'
    found = {a or b for text in sources for a, b in re.findall(pattern, text, re.M)}
    page = (DOC / 'reference.md').read_text().split('\n### status\n')[1].split('\n### ')[0]
    assert {'alone', 'line-silent', 'name-twice', 'stranger', 'table-full'} <= found
    assert found - set(code(page)) == set()


def test_fuzz_targets_are_listed():
    """The table of security.md has each built target once, and no other word."""
    build = (TOP / 'tests/fuzz/meson.build').read_text()
    targets = re.findall(r"^  '(\w+)':", build[:build.index('fuzz_mutations')], re.M)
    table = re.findall(r'^\|.*\| (.+) \|$', (DOC / 'security.md').read_text().split('## 8. Fuzzing')[1], re.M)
    assert sorted(word for cell in table for word in code(cell)) == sorted(targets)
