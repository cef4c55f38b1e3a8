# SPDX-License-Identifier: GPL-2.0-or-later
"""The arithmetic and the picture of tests/eval/eval_web.py."""

import sys
import xml.etree.ElementTree as ET

import pytest
from conftest import TOP

sys.path[:0] = [str(TOP / 'tests/eval'), str(TOP / 'tests/bench')]

import plot_web  # noqa: E402
import web_figures  # noqa: E402

HEY = '''response-time,DNS+dialup,DNS,Request-write,Response-delay,Response-read,status-code,offset
0.1459,0.0005,0.0000,0.0001,0.1442,0.0010,200,0.2569
0.2349,0.0000,0.0000,0.0000,0.2344,0.0004,{status},0.5073
'''
# The connection of process 7 began before the log. Number 8 returns.
LOG = '''7 LOG:  statement: COMMIT /* MediaWiki::restInPeace  */
8 LOG:  connection received: host=10.10.0.1 port=5
8 LOG:  connection authorized: user=wiki database=wiki
8 LOG:  statement: SET "timezone" = 'GMT'
8 LOG:  statement: SELECT /* A  */ 1
  FROM page
9 LOG:  connection authorized: user=wiki database=wiki
9 LOG:  statement: SELECT 1
8 LOG:  statement: COMMIT /* MediaWiki::restInPeace  */
8 LOG:  statement: SHOW default_transaction_read_only
8 LOG:  connection authorized: user=wiki database=wiki
8 LOG:  statement: SELECT 2
9 LOG:  duration: 3 ms
'''


def test_page_times_of_hey():
    assert web_figures.response_times(HEY.format(status=200)) == [145.9, 234.9]


def test_page_that_failed():
    with pytest.raises(ValueError, match='503'):
        web_figures.response_times(HEY.format(status=503))


@pytest.mark.parametrize('share, value', [(0.5, 50), (0.95, 95), (0.951, 96), (1, 100), (0, 1)])
def test_percentile(share, value):
    assert web_figures.percentile(list(range(100, 0, -1)), share) == value


def test_round_trips_before_the_page_was_sent():
    assert web_figures.round_trips(LOG) == {
        'connections': 3, 'statements': 4, 'round_trips': 3 * web_figures.CONNECTION + 4}


def rounds_of(*scales):
    ms = {'local': 50, 'direct': 500, 'leon': 200, 'ideal': 190}
    return [{'view': {path: {'ms': [n * scale, n * scale, 2 * n * scale], 'round_trips': 20}
                      for path, n in ms.items()}} for scale in scales]


RTT = {'local': 0.5, 'direct': 22.0, 'leon': 8.0, 'ideal': 7.6}


def test_summary():
    rows = {row['path']: row for row in web_figures.summary(['view'], rounds_of(1, 1.1, 2), RTT)}
    assert list(rows) == list(web_figures.PATHS)
    leon = rows['leon']
    assert leon['p50'] == pytest.approx({'median': 220, 'least': 200, 'most': 400})
    assert leon['p95']['median'] == pytest.approx(440)
    assert leon['ratio'] == pytest.approx({'median': 0.4, 'least': 0.4, 'most': 0.4})
    assert leon['arithmetic'] == pytest.approx(55 + 20 * 7.5)
    assert rows['local']['arithmetic'] == pytest.approx(55)


def test_table_and_picture():
    rows = web_figures.summary(['view'], rounds_of(1, 1.1, 2), RTT)
    text = web_figures.table(rows).splitlines()
    assert len(text) == 1 + len(rows)
    assert '220 (200-400)' in text[3] and '0.40 (0.40-0.40)' in text[3]
    assert len({len(line) for line in text}) == 1
    about = {'rounds': 3, 'pages': 3, 'cores': 2, 'kernel': '6.1', 'load': [0.1, 0.4]}
    root = ET.fromstring(plot_web.draw({'rows': rows, 'about': about}))
    width = [float(bar.get('width')) for bar in root.findall('{*}rect')[1:]]
    assert width[1] / width[2] == pytest.approx(2.5, rel=0.02)
    assert 'load average 0.1 to 0.4' in ''.join(root.itertext())
