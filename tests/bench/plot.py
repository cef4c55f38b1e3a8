#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""Draws the figures of bench_fwd.py: a row of bars for each meter, and a bar for each variant.
Figures are shares of kernel VXLAN in the same run. Plain SVG, no library.

    tests/bench/plot.py FIGURES.json > bench.svg
"""
from html import escape

from bench_fwd import METERS, NAMES
from drawing import draw_file

ROWS = (('direct', 'tcp1'), ('direct', 'trains'), ('direct', 'small'), ('relay', 'tcp1'),
        ('relay', 'small'))
PLACES = {'direct': 'between two nodes', 'relay': 'through one relay'}
LINE, LABEL, WIDTH, GAP = 18, 190, 470, 34
COLORS = {'none': '#b9c0c8', 'vxlan': '#7d8b99', 'ceiling': '#a9c7a0', 'ceiling-once': '#c5dabf',
          'leon': '#1f6fb2', 'leon-sealed': '#5aa0d6'}
OTHER = '#d9b36c'


def bars(entries, top):
    """A row of bars, and the height of the row."""
    longest = max(e['ratio_to_vxlan'] for e in entries)
    out = []
    for i, e in enumerate(entries):
        y = top + i * LINE
        length = max(1, WIDTH * e['ratio_to_vxlan'] / longest)
        name = escape(NAMES[e['place'], e['variant']])
        out.append(f'<text x="{LABEL - 8}" y="{y + 12}" text-anchor="end">{name}</text>'
                   f'<rect x="{LABEL}" y="{y + 2}" width="{length:.0f}" height="{LINE - 5}" '
                   f'fill="{COLORS.get(e["variant"], OTHER)}"/>'
                   f'<text x="{LABEL + length + 6:.0f}" y="{y + 12}">'
                   f'{e["ratio_to_vxlan"]:.2f}</text>')
    return out, len(entries) * LINE


def draw(figures):
    body, y = [], 14
    for place, meter in ROWS:
        entries = [e for e in figures['figures'] if (e['place'], e['meter']) == (place, meter)]
        if not entries:
            continue
        body.append(f'<text x="8" y="{y + 4}" font-weight="bold">{METERS[meter][0]}, '
                    f'{PLACES[place]} (kernel VXLAN: 1)</text>')
        row, height = bars(entries, y + 12)
        body += row
        y += height + GAP
    about = figures['about']
    body.append(f'<text x="8" y="{y}" fill="#666">{escape(about["cpu"])}, {about["cores"]} cores, '
                f'Linux {escape(about["kernel"])}, {about["rounds"]} rounds, commit '
                f'{escape(about["commit"])}</text>')
    return (f'<svg xmlns="http://www.w3.org/2000/svg" width="{LABEL + WIDTH + 60}" '
            f'height="{y + 14}" font-family="sans-serif" font-size="12">'
            '<rect width="100%" height="100%" fill="white"/>\n' + '\n'.join(body) + '\n</svg>')


if __name__ == '__main__':
    draw_file(draw, __doc__)
