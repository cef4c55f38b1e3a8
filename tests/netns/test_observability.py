# SPDX-License-Identifier: GPL-2.0-or-later
"""The files for Prometheus and Grafana use only metrics of leond. The page of leonctl map shows
data of other nodes as text only. Tests without promtool or a browser are skipped (make
check-observability installs both)."""
import json
import re
import shutil
import subprocess
from pathlib import Path

import pytest

from lab import wait_for

TOP = Path(__file__).resolve().parents[2]
RULES = TOP / 'packaging/prometheus/leon.rules.yml'
RULES_TEST = TOP / 'tests/observability/leon.rules.test.yml'
SCRAPE = TOP / 'packaging/prometheus/prometheus.yml'
DASHBOARD = TOP / 'packaging/grafana/leon-overlay.json'
# Possible names of members: printable, without spaces, up to 32 bytes.
HOSTILE = ['</script><script>document.title=1', '<img/src=x/onerror=alert(1)>', '"\'&lt;\\u003c<!--<script>']


@pytest.fixture(scope='module')
def net(module_lab):
    net = module_lab({'sites': {f'n{i}': {'config': {'node-name': name[:32]}}
                                for i, name in enumerate(['good', *HOSTILE])}, 'hosts': False})
    net.joined(60)
    # Each node reports its measurements, a moment later.
    wait_for(lambda: len(net.node['n0'].show('latency')['rows']) == 4, 30, 'rows of all')
    return net


@pytest.fixture(scope='module')
def exported(net):
    """{metric: lines}"""
    metrics = {}
    for line in net.node['n0'].leonctl('metrics', json_output=False).splitlines():
        if not line.startswith('#'):
            metrics.setdefault(line.split('{')[0], []).append(line)
    # Some metrics appear only with data.
    for line in net.node['n0'].leonctl('metrics', json_output=False).splitlines():
        if line.startswith('# TYPE '):
            metrics.setdefault(line.split()[2], [])
    return metrics


def expressions():
    """[(place, PromQL)]"""
    rules = re.findall(r'expr: (?:>-\n((?: {10}.*\n)+)|(.*)\n)', RULES.read_text())
    found = [('rules', a or b) for a, b in rules]
    dashboard = json.loads(DASHBOARD.read_text())
    found += [(p['title'], t['expr']) for p in dashboard['panels'] for t in p['targets']]
    found += [(v['name'], v['query']['query']) for v in dashboard['templating']['list'] if v['type'] == 'query']
    found += [('annotation', a['expr']) for a in dashboard['annotations']['list']]
    return found


def test_every_metric_that_is_spoken_of_is_exported(exported):
    speaks = expressions()
    assert len(speaks) > 40
    for where, text in speaks:
        names = re.findall(r'\bleon_[a-z0-9_]+', text)
        assert names or re.search(r'\bup\{|ALERTS', text), (where, text)
        assert set(names) <= set(exported), (where, set(names) - set(exported))


def test_every_label_that_is_spoken_of_is_exported(exported):
    for where, text in expressions():
        for name, matchers in re.findall(r'\b(leon_[a-z0-9_]+)\{([^}]*)\}', text):
            for label, _, value in re.findall(r'(\w+)(=~|=)"([^"]*)"', matchers):
                if label == 'instance' or not exported[name]:  # Prometheus adds the label
                    continue
                there = {m[1] for line in exported[name] if (m := re.search(rf'\b{label}="([^"]*)"', line))}
                assert there, (where, name, label)
                for word in value.split('|') if label == 'reason' else ():
                    assert any(re.fullmatch(word, v) for v in there), (where, name, word)


def test_every_alert_is_tested_both_ways():
    alerts = re.findall(r'- alert: (\w+)', RULES.read_text())
    tests = re.findall(r'- name: (\w+) (fires|quiet)', RULES_TEST.read_text())
    assert len(alerts) >= 15 and len(set(alerts)) == len(alerts)
    assert sorted(tests) == sorted((alert, way) for alert in alerts for way in ('fires', 'quiet'))


def test_the_dashboard_is_whole():
    dashboard = json.loads(DASHBOARD.read_text())
    panels = dashboard['panels']
    assert len({p['id'] for p in panels}) == len(panels)
    assert all(p['title'] and p['targets'] and p['datasource']['uid'] == '${datasource}' for p in panels)
    places = [(x, y) for p in panels for g in [p['gridPos']]
              for x in range(g['x'], g['x'] + g['w']) for y in range(g['y'], g['y'] + g['h'])]
    assert len(set(places)) == len(places) and max(x for x, _ in places) == 23


def promtool(*words, **keys):
    if not shutil.which('promtool'):
        pytest.skip('promtool is not installed')
    done = subprocess.run(['promtool', *map(str, words)], capture_output=True, text=True, timeout=120,
                          check=False, **keys)
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout + done.stderr


def test_promtool_is_content_with_rules_and_configuration():
    promtool('check', 'rules', RULES)
    promtool('check', 'config', SCRAPE, cwd=SCRAPE.parent)


def test_alerts_fire_when_they_should_and_only_then():
    assert 'SUCCESS' in promtool('test', 'rules', RULES_TEST.name, cwd=RULES_TEST.parent)


def test_promtool_is_content_with_what_leond_exports(net):
    text = net.node['n0'].leonctl('metrics', json_output=False)
    assert promtool('check', 'metrics', input=text) == ''


def test_expressions_of_the_dashboard_are_promql(tmp_path):
    variables = {'$interface': 'leon0', '$instance': '.*', '${datasource}': 'x'}
    rules = []
    for i, (_, text) in enumerate(expressions()):
        if text.startswith('label_values'):
            continue
        for name, value in variables.items():
            text = text.replace(name, value)
        rules.append({'record': f'check:{i}', 'expr': ' '.join(text.split())})
    file = tmp_path / 'dashboard.yml'  # JSON is YAML
    file.write_text(json.dumps({'groups': [{'name': 'dashboard', 'rules': rules}]}))
    promtool('check', 'rules', file)


# --- the map ---

def page(net):
    return net.node['n0'].leonctl('map', json_output=False)


def test_the_page_needs_nothing_else(net):
    text = page(net)
    assert text.startswith('<!DOCTYPE html>') and text.endswith('</html>\n')
    assert "default-src 'none'" in text
    assert re.findall(r'\b(?:src|href)=|@import|url\(|https?://(?!www\.w3\.org/2000/svg)', text.split('id="data"')[0]) == []
    assert re.findall(r'innerHTML|outerHTML|insertAdjacent|document\.write|\beval\(', text) == []


def test_names_are_data(net):
    """A name is data: no name ends a script, and every name arrives unchanged."""
    text = page(net)
    data, = re.findall(r'<script id="data" type="application/json">(.*?)</script>', text, re.S)
    assert '<' not in data
    answers = json.loads(data)
    assert {n['name'] for n in answers['nodes']['nodes']} == {'good', *(name[:32] for name in HOSTILE)}
    assert len(answers['paths']['paths']) == 3 and len(answers['latency']['rows']) == 4
    assert len(re.findall('<script', text)) == 2 + data.count('<script')


def drawn(net, tmp_path, *options):
    """The document after the script of the page has run."""
    if not shutil.which('chromium'):
        pytest.skip('chromium is not installed')
    file = tmp_path / 'map.html'
    file.write_text(page(net))
    return subprocess.run(
        ['chromium', '--headless=new', '--no-sandbox', '--disable-gpu', f'--user-data-dir={tmp_path}/profile',
         '--virtual-time-budget=2000', *options, '--dump-dom', f'file://{file}#good'],
        capture_output=True, text=True, timeout=300, check=True).stdout


def test_on_a_phone(net, tmp_path):
    """Letters are as large as on a desk: a unit of the drawing is a pixel. Fast links are green."""
    for options, low, high in (((), 281, 1000), (('--window-size=390,844',), 280, 500)):
        dom = drawn(net, tmp_path, *options)
        width, height = map(int, re.search(r'<svg id="map" viewBox="0 0 (\d+) (\d+)"', dom).groups())
        assert low <= width <= high and .6 * width < height < width
        places = [(float(x), float(y)) for x, y in re.findall(r'<circle cx="([\d.]+)" cy="([\d.]+)"', dom)]
        assert len(places) == 4 and all(0 < x < width and 0 < y < height for x, y in places)
    hues = [int(hue) for hue in re.findall(r'background: hsl\((\d+) 60% 72%\)', dom)]
    assert len(hues) == 12 and min(hues) > 60


def test_in_a_browser(net, tmp_path):
    dom = drawn(net, tmp_path)
    assert '<title>LEON overlay leon0, seen from good</title>' in dom
    assert len(re.findall('<script', dom)) == 2 and '<img' not in dom
    assert dom.count('class="node') == 4 and dom.count('class="row') == 3
    assert '<td>&lt;img/src=x/onerror=alert(1)&gt;</td>' in dom
    assert '<h2 id="what">good</h2>' in dom and '<dd>self</dd>' in dom
