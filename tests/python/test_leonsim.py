# SPDX-License-Identifier: GPL-2.0-or-later
"""leonsim at the command line: packed and plain traces, answers of the documented shape, failures,
changes, curves, a database of an overlay, and error messages."""

import gzip
import json
import re
import subprocess
import xml.etree.ElementTree as ElementTree

import jsonschema
import pytest
from conftest import BUILD, TOP
from show_def import schema_of_program

LEONSIM = BUILD / 'vyos-1x-leon/leonsim/leonsim'
TRACE = TOP / 'tests/latency/seattle_8x80.txt'
TRIANGLE = TOP / 'tests/fuzz/corpus/database/triangle'
NAMES = ('changes_per_hour', 'mean', 'p99', 'link_downs_per_hour', 'oracle', 'two_copies')


def run(*words, status=0):
    done = subprocess.run([LEONSIM, *map(str, words)], capture_output=True, text=True)
    assert done.returncode == status, done.stderr
    return done


def test_the_example_of_the_readme():
    """The command runs as the page has it, in a tree with a build, and prints all four rows."""
    line, = re.findall(r'^    (leonsim --trace .*)$', (TOP / 'README.md').read_text(), re.M)
    words = line.split()
    done = subprocess.run([LEONSIM, *words[1:]], cwd=TOP, capture_output=True, text=True, check=True)
    assert 'with the change: 7 nodes' in done.stdout
    assert [row.split()[0] for row in done.stdout.splitlines() if re.search(r' 0\.\d{3} +0\.\d{3}$', row)] == \
        ['LEON', 'oracle', 'two'] * 2


def replay(*words, trace=TRACE, hosts='0-3', reading='hold', slice_s=15.7):
    answer = json.loads(run('--trace', trace, '--slice', slice_s, '--reading', reading,
                            '--nodes', hosts, '--json', *words).stdout)
    jsonschema.validate(answer, schema_of_program('leonsim --trace'))
    return answer


def refused(*words, status=1):
    done = run(*words, status=status)
    assert done.stdout == ''
    first = done.stderr.splitlines()[0]
    assert first.startswith('leonsim: ')
    return first


@pytest.fixture
def triangle(tmp_path):
    """Three hosts for two minutes. The path from 0 to 1 is faster through 2."""
    file = tmp_path / 'triangle.txt'
    file.write_text('0 90 20\n90 0 30\n20 30 0\n\n' * 2)
    return file


@pytest.mark.parametrize('reading', ['hold', 'noise'])
def test_a_trace_is_replayed_packed_or_not(tmp_path, reading):
    packed = tmp_path / 'trace.txt.gz'
    packed.write_bytes(gzip.compress(TRACE.read_bytes()))
    answer = replay(trace=packed, reading=reading)
    assert answer == replay(reading=reading)
    assert set(NAMES) <= set(answer)
    assert answer['reading'] == reading and answer['nodes'] == 4
    assert answer['hours'] == pytest.approx(80 * 15.7 / 3600, rel=0.01)
    # No policy beats the oracle, but the oracle knows only the mean of the variation.
    assert answer['oracle']['mean'] < min(1, answer['mean']) + 0.02
    assert answer['link_downs_per_hour'] < 1


def test_traffic_on_all_links_is_measured_faster():
    idle, busy = replay(), replay('--traffic', 'all')
    assert busy['bytes_per_second_and_node'] > 3 * idle['bytes_per_second_and_node']


def test_pairs_and_text(triangle):
    answer = replay('--pairs', trace=triangle, hosts='0-2', slice_s=60)
    pairs = {(p['from'], p['to']): p for p in answer['pairs']}
    assert len(pairs) == 6
    assert pairs[0, 1]['relayed'] == 1 and pairs[0, 2]['relayed'] == 0
    assert pairs[0, 1]['leon']['mean_us'] == pytest.approx(50_000, rel=0.01)
    assert answer['changes_per_hour'] == 0
    text = run('--trace', triangle, '--slice', 60, '--reading', 'hold', '--pairs').stdout
    assert '3 nodes' in text and 'LEON' in text and '90.0' in text
    text = run('--trace', triangle, '--slice', 60, '--reading', 'hold', '--pairs', '--fail', '0:200:node:2').stdout
    assert re.search('^ +0 +2( +-){4} +[0-9.]+ +-$', text, re.M) and 'nan' not in text


def test_failures_are_injected(triangle):
    answer = replay('--fail', '30:40:node:2', '--pairs', trace=triangle, hosts='0-2', slice_s=60)
    pairs = {(p['from'], p['to']): p for p in answer['pairs']}
    assert answer['failovers_per_hour'] > 0 and answer['link_downs_per_hour'] > 0
    assert 0.3 < pairs[0, 1]['relayed'] < 0.8
    answer = replay('--fail', '30:40:link:0:2', trace=triangle, hosts='0-2', slice_s=60)
    assert answer['failovers_per_hour'] > 0
    # Traffic lacks a working path only until the link recovers.
    answer = replay('--fail', '30:60:link:0:1', trace=triangle, hosts='0,1', slice_s=60)
    assert 0 < answer['without_path'] < 0.1


def test_a_failure_between_two_samples(triangle):
    answer = replay('--fail', '305:4:node:2', trace=triangle, hosts='0-2', slice_s=600)
    assert answer['failovers_per_hour'] > 0


def test_failures_overlap(triangle):
    words = ('--fail', '10:100:node:2', '--pairs')
    assert replay(*words, trace=triangle, hosts='0-2', slice_s=60) == \
        replay(*words, '--fail', '20:5:node:2', trace=triangle, hosts='0-2', slice_s=60)
    answer = replay('--fail', '30:10:link:0:2', '--what-if', 'cut:0:2', '--pairs', trace=triangle, hosts='0-2', slice_s=60)
    assert [p['direct']['mean_us'] for p in answer['what_if']['pairs'] if {p['from'], p['to']} == {0, 2}] == [None, None]


@pytest.mark.parametrize('seconds', [4700, 4900])
def test_a_failure_longer_than_forget_time(triangle, seconds):
    answer = replay('--fail', f'10:{seconds}:node:1', '--pairs', trace=triangle, hosts='0-2', slice_s=2400)
    changes = {(p['from'], p['to']): p['changes_per_hour'] for p in answer['pairs']}
    assert 0 < changes[0, 1] < 10 and max(changes.values()) < 10


@pytest.mark.parametrize('change, better', [
    ('without:2', False), ('cut:0:2', False), ('set:path.maximum-relays=0', False),
    ('with:10,10,10', True),
])
def test_what_a_change_would_do(triangle, change, better):
    answer = replay('--what-if', change, trace=triangle, hosts='0-2', slice_s=60)
    assert answer['mean'] < 0.8
    assert (answer['what_if']['mean'] < answer['mean']) is better


@pytest.mark.parametrize('hosts', [(0, 1), (1, 0)])
def test_several_hosts_are_removed(tmp_path, hosts):
    file = tmp_path / 'four.txt'
    file.write_text('0 10 20 30\n10 0 40 50\n20 40 0 60\n30 50 60 0\n')
    words = [word for host in hosts for word in ('--what-if', f'without:{host}')]
    answer = replay(*words, trace=file, slice_s=20)
    assert answer['what_if']['direct']['mean_us'] == pytest.approx(60_000, rel=0.01)


def test_curves_are_drawn(tmp_path, triangle):
    run('--trace', triangle, '--slice', 60, '--reading', 'hold', '--svg', tmp_path / 'a.svg')
    root = ElementTree.parse(tmp_path / 'a.svg').getroot()
    assert root.tag.endswith('svg')
    curves = root.findall('{http://www.w3.org/2000/svg}polyline')
    assert len(curves) == 4 and all(len(c.get('points').split()) > 500 for c in curves)
    run('--trace', triangle, '--slice', 60, '--reading', 'hold', '--svg', tmp_path / 'no/a.svg',
        status=1)


def luminance(color):
    """Luminance of #rrggbb after WCAG 2."""
    parts = [int(color[i:i + 2], 16) / 255 for i in (1, 3, 5)]
    linear = [c / 12.92 if c <= 0.03928 else ((c + 0.055) / 1.055) ** 2.4 for c in parts]
    return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]


def contrast(a, b):
    low, high = sorted((luminance(a), luminance(b)))
    return (high + 0.05) / (low + 0.05)


def test_curves_are_legible_on_a_light_and_on_a_dark_page(tmp_path, triangle):
    run('--trace', triangle, '--slice', 60, '--reading', 'hold', '--svg', tmp_path / 'a.svg')
    text = (tmp_path / 'a.svg').read_text()
    style, drawn = re.search(r'<style>(.*?)</style>(.*)', text, re.DOTALL).groups()
    # A fixed color would not follow the page.
    assert not re.search(r'(fill|stroke)=|style=', drawn)
    classes = {'.' + c for c in re.findall(r"class='(\w+)'", drawn)} - {'.title'}
    needed = {'text'} | {kind + c for c in classes for kind in ('text', 'polyline')}
    assert len(needed) == 9
    light, dark = style.split('@media(prefers-color-scheme:dark)')
    pages = []
    for rules in (light, dark):
        color = dict(re.findall(r'([a-z.]+)\{(?:fill|stroke):(#\w{6})', rules))
        assert needed <= set(color), 'every color has its like on the other page'
        assert all(contrast(color[name], color['rect']) >= 4 for name in needed)
        assert contrast(color['line'], color['rect']) < 2, 'the grid stays behind the curves'
        pages.append(luminance(color['rect']))
    assert pages[0] > 0.9 and pages[1] < 0.05


def test_a_database_gives_its_paths_and_those_after_a_change():
    answer = json.loads(run('--database', TRIANGLE, '--what-if', 'without:c', '--json').stdout)
    jsonschema.validate(answer, schema_of_program('leonsim --database'))
    hops = {p['destination']: p['hops'] for p in answer['paths']}
    # 90 ms direct, and 20 + 30 ms through c. The path to c through b is replaced by the direct
    # path.
    assert hops == {'10.0.0.2': ['10.0.0.3', '10.0.0.2'], '10.0.0.3': ['10.0.0.3']}
    assert {p['destination']: p['hops'] for p in answer['what_if']} == {'10.0.0.2': ['10.0.0.2']}
    kept = json.loads(run('--database', TRIANGLE, '--set', 'path.threshold=60',
                          '--set', 'path.long-term-threshold=60', '--json').stdout)
    assert kept['paths'][0]['hops'] == ['10.0.0.2']
    assert 'via c b' in run('--database', TRIANGLE).stdout


def test_a_change_does_not_wait_for_a_hold_down():
    """The first run changes both paths of this database."""
    answer = json.loads(run('--database', TRIANGLE, '--what-if', 'set:path.relay-cost=60000', '--json').stdout)
    assert [p['hops'] for p in answer['what_if']] == [['10.0.0.2'], ['10.0.0.3']]


def test_a_configuration_counts_for_a_database_too(tmp_path):
    config = tmp_path / 'leon0.json'
    config.write_text('{"version": 1, "path": {"maximum-relays": 0}, "measurement": {"interval": 500}}')
    answer = json.loads(run('--database', TRIANGLE, '--config', config, '--json').stdout)
    assert [p['hops'] for p in answer['paths']] == [['10.0.0.2'], ['10.0.0.3']]
    # The last value counts, and --set comes before the file.
    answer = json.loads(run('--database', TRIANGLE, '--config', config, '--json',
                            '--set', 'path.maximum-relays=1').stdout)
    assert answer['paths'][0]['hops'] == ['10.0.0.3', '10.0.0.2']
    assert 'cannot be read' in refused('--database', TRIANGLE, '--config', tmp_path / 'none')


def numbers_of(section):
    """Key and default of each number of a section of conf.def."""
    text = (TOP / 'vyos-1x-leon/dataplane/state/conf/conf.def').read_text(encoding='utf-8')
    found = re.findall(r'^NUMBER\(\w+, "' + section + r' ([\w-]+)",\s*\w+,' + r'\s*(\d+),' * 4, text, re.M)
    return {key: int(default) for key, _, _, _, default in found}


def test_every_number_of_path_and_measurement_can_be_set(triangle):
    paths, measurement = numbers_of('path'), numbers_of('measurement')
    assert len(paths) >= 7 and len(measurement) >= 4
    sets = [f'--set=path.{key}={value}' for key, value in paths.items()]
    assert run('--database', TRIANGLE, *sets).stdout == run('--database', TRIANGLE, '--set=path.variation-margin=65').stdout
    sets += [f'--set=measurement.{key}={value}' for key, value in measurement.items()]
    assert replay(*sets, trace=triangle, hosts='0-2', slice_s=30) == \
        replay(trace=triangle, hosts='0-2', slice_s=30)


@pytest.mark.parametrize('words, says', [
    ([], 'either --trace FILE or --database FILE'),
    (['--trace', TRACE, '--reading', 'hold'], '--slice SECONDS'),
    (['--trace', TRACE, '--slice', '15.7'], '--reading hold or noise'),
    (['--trace', TRACE, '--slice', '-3', '--reading', 'hold'], '0.1 or more'),
    (['--trace', TRACE, '--slice', '9', '--reading', 'both'], 'hold or noise'),
    (['--trace', TRACE, '--slice', '9', '--reading', 'hold', '--fail', '3'], 'SECONDS:SECONDS'),
    *((['--trace', TRACE, '--slice', '9', '--reading', 'hold', '--fail', f'{when}:node:1'], 'SECONDS:SECONDS')
      for when in ('nan:1', '1:nan', '1e300:1', '1:0')),
    (['--trace', TRACE, '--slice', '9', '--reading', 'hold', '--what-if', 'more'], 'without:N'),
    (['--database', TRIANGLE, '--trace', TRACE], 'either --trace FILE or --database FILE'),
    (['--database', TRIANGLE, 'more'], 'options only'),
])
def test_a_wrong_command_line_is_refused(words, says):
    assert says in refused(*words, status=2)


@pytest.mark.parametrize('text, says', [
    ('', 'no square matrices'),
    ('0 1\n1 0\n0 1\n', 'no square matrices'),
    ('0 1\n1 0 2\n', 'line 2 has 3 values'),
    ('0 1\nx 0\n', 'line 2: expected numbers'),
    ('0 1e9\n1 0\n', 'line 1: expected numbers'),
])
def test_a_trace_that_is_none_is_refused(tmp_path, text, says):
    for name, data in (('t.txt', text.encode()), ('t.txt.gz', gzip.compress(text.encode()))):
        (tmp_path / name).write_bytes(data)
        line = refused('--trace', tmp_path / name, '--slice', 1, '--reading', 'hold')
        assert says in line and str(tmp_path / name) in line


def test_files_that_cannot_be_read(tmp_path):
    words = ['--slice', 1, '--reading', 'hold']
    assert 'No such file' in refused('--trace', tmp_path / 'none', *words)
    damaged = tmp_path / 'damaged.gz'
    packed = gzip.compress(TRACE.read_bytes())
    damaged.write_bytes(packed[:len(packed) // 2])
    done = run('--trace', damaged, *words, status=1)
    assert 'damaged' in done.stderr
    assert 'cannot be read' in refused('--database', tmp_path / 'none')


@pytest.mark.parametrize('words', [['--help'], ['--version'], ['--database', TRIANGLE]])
def test_output_that_cannot_be_written(words):
    with open('/dev/full', 'w', encoding='ascii') as full:
        done = subprocess.run([LEONSIM, *words], stdout=full, stderr=subprocess.PIPE, text=True)
    assert (done.returncode, done.stderr) == (1, 'leonsim: standard output: No space left on device\n')


@pytest.mark.parametrize('change, says', [
    (['--nodes', '0,9'], 'two or more of its 8 hosts'),
    (['--fail', '1:1:node:8'], 'not among the 8'),
    (['--set', 'path.threshhold=3'], 'KEY=NUMBER'),
    (['--set', 'path.threshold=200'], 'threshold'),
    (['--what-if', 'cut:1:1'], 'not among the 8'),
    (['--what-if', 'with:1,2'], '8 times in ms'),
    *((['--what-if', f'with:1,2,3,4,5,6,7,{ms}'], '8 times in ms') for ms in ('nan', 'inf', '1e30')),
    (['--what-if', 'without:8'], 'one of 8 hosts'),
    (['--nodes', '0,1', '--what-if', 'without:0'], 'two hosts must remain'),
])
def test_what_does_not_fit_the_trace_is_refused(change, says):
    assert says in refused('--trace', TRACE, '--slice', 1, '--reading', 'hold', *change)


@pytest.mark.parametrize('text, says', [
    ('{', 'line'),
    ('[]', 'object'),
    ('{"version": 1, "nodes": [], "rows": []}', 'show latency'),
    ('{"source": "10.0.0.1", "nodes": [{"node_id": "10.0.0.1"}]}', 'no other node'),
    ('{"source": "10.0.0.1", "nodes": [{"node_id": "10.0.0.2"}]}', 'lacks the rule'),
    ('{"source": "10.0.0.1", "nodes": [{"node_id": "10.0.0.2"}], "rules": {"threshold": 200}}', 'path.threshold'),
    ('{"source": "10.0.0.1", "nodes": [{"node_id": "10.0.0.2"}], "rules": {"threshold": "x"}}', 'rules.threshold'),
])
def test_a_database_that_is_none_is_refused(tmp_path, text, says):
    (tmp_path / 'db.json').write_text(text)
    assert says in refused('--database', tmp_path / 'db.json')


@pytest.mark.parametrize('change, says', [
    ('without:nobody', 'name or node-id'), ('cut:a:nobody', 'two names'), ('with:1', 'each node'), *((f'with:1,2,{ms}', 'each node') for ms in ('nan', 'inf', '1e30')),
    ('set:path.speed=1', 'key of path'), ('set:path.threshold=200', 'path.threshold'),
    ('set:path.maximum-relays=4', 'path.maximum-relays'), ('set:measurement.interval=500', 'key of path,'),
])
def test_a_change_that_does_not_fit_the_database_is_refused(change, says):
    assert says in refused('--database', TRIANGLE, '--what-if', change)
    if change.startswith('set:'):
        assert says in refused('--database', TRIANGLE, '--set', change[4:])
