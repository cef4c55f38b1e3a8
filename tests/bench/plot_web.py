#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""Draws the figures of tests/eval/eval_web.py, with a row for each page and path. A bar is the
median, a line ends at the 95th percentile, and a mark is at C + k x RTT. Plain SVG, no library.

    tests/bench/plot_web.py FIGURES.json > web.svg
"""
import os
import sys
from html import escape

from drawing import draw_file

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), '../eval'))

from web_figures import PATHS  # noqa: E402

LINE, LABEL, WIDTH, GAP = 20, 150, 520, 30
COLORS = {'local': '#b9c0c8', 'direct': '#7d8b99', 'leon': '#1f6fb2', 'ideal': '#a9c7a0'}


def bar(row, top, scale):
    """Median, 95th percentile and arithmetic of a row."""
    median, late, mark = (LABEL + ms * scale for ms in
                          (row['p50']['median'], row['p95']['median'], row['arithmetic']))
    return (f'<text x="{LABEL - 8}" y="{top + 14}" text-anchor="end">{escape(PATHS[row["path"]])}</text>'
            f'<rect x="{LABEL}" y="{top + 3}" width="{median - LABEL:.0f}" height="{LINE - 6}" '
            f'fill="{COLORS[row["path"]]}"/>'
            f'<path d="M{median:.0f},{top + 10} H{late:.0f} M{late:.0f},{top + 5} v10" stroke="#222"/>'
            f'<path d="M{mark:.0f},{top + 1} v{LINE - 2}" stroke="#c02020" stroke-width="2"/>'
            f'<text x="{max(late, mark) + 6:.0f}" y="{top + 14}">{row["p50"]["median"]:.0f} / '
            f'{row["p95"]["median"]:.0f} ms</text>')


def draw(figures):
    rows = figures['rows']
    scale = WIDTH / max(max(row['p95']['median'], row['arithmetic']) for row in rows)
    body, y = ['<text x="8" y="18">Page of MediaWiki: bar p50, line p95, red mark C + k x RTT</text>'], 44
    for page in dict.fromkeys(row['page'] for row in rows):
        of_page = [row for row in rows if row['page'] == page]
        trips = next(row['round_trips'] for row in of_page if row['path'] == 'direct')
        body.append(f'<text x="8" y="{y}" font-weight="bold">{escape(page)}: {trips:.1f} round trips to '
                    'PostgreSQL</text>')
        body += [bar(row, y + 6 + i * LINE, scale) for i, row in enumerate(of_page)]
        y += len(of_page) * LINE + GAP
    about = figures['about']
    body.append(f'<text x="8" y="{y}" fill="#666">{about["rounds"]} rounds of {about["pages"]} pages, '
                f'{about["cores"]} cores, Linux {escape(about["kernel"])}, load average '
                f'{min(about["load"]):.1f} to {max(about["load"]):.1f}</text>')
    return (f'<svg xmlns="http://www.w3.org/2000/svg" width="{LABEL + WIDTH + 100}" height="{y + 14}" '
            'font-family="sans-serif" font-size="12"><rect width="100%" height="100%" fill="white"/>\n'
            + '\n'.join(body) + '\n</svg>')


if __name__ == '__main__':
    draw_file(draw, __doc__)
