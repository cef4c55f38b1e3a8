#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""Draws the front of figures of bench_paths.py. The drawing shows mean and 99th percentile of the
used paths, relative to direct paths, over changes an hour. Each set of parameters has a point.
Plain SVG, legible on a light and on a dark page.

    tests/bench/plot_paths.py FIGURES.json > front.svg
"""
from html import escape

from drawing import draw_file

WIDTH, HEIGHT, LEFT, RIGHT, TOP, BOTTOM = 770, 420, 60, 200, 44, 50
LOWEST, HIGHEST = 0.4, 1.0
LINE = 14  # of text
STYLE = """<style>
text{font:12px sans-serif;fill:#222}line{stroke:#8886}
.mean{fill:#c02020;stroke:#c02020}.p99{fill:#2060c0;stroke:#2060c0}
path{fill:none!important;stroke-width:2}text.mean,text.p99{stroke:none}
@media(prefers-color-scheme:dark){text{fill:#ddd}
.mean{fill:#ff8080;stroke:#ff8080}.p99{fill:#80b0ff;stroke:#80b0ff}}
</style>"""
MEASURES = (('mean', 'mean'), ('p99', '99th percentile'))


def row_of(run, path):
    return next(row for row in run['rows'] if row['path'] == path)


class Plane:
    """The position of a number of changes and a share of the direct latency."""

    def __init__(self, most):
        self.most = most

    def x(self, changes):
        return LEFT + changes / self.most * (WIDTH - LEFT - RIGHT)

    @staticmethod
    def y(share):
        return TOP + (HIGHEST - share) / (HIGHEST - LOWEST) * (HEIGHT - TOP - BOTTOM)


def axes(plane):
    out = []
    for tenths in range(int(LOWEST * 10), int(HIGHEST * 10) + 1):
        y = plane.y(tenths / 10)
        out.append(f'<line x1="{LEFT}" y1="{y:.0f}" x2="{WIDTH - RIGHT}" y2="{y:.0f}"/>'
                   f'<text x="{LEFT - 8}" y="{y + 4:.0f}" text-anchor="end">{tenths / 10:.1f}</text>')
    for changes in range(0, plane.most + 1, 5):
        out.append(f'<text x="{plane.x(changes):.0f}" y="{HEIGHT - BOTTOM + 18}" text-anchor="middle">'
                   f'{changes}</text>')
    out.append(f'<text x="{(LEFT + WIDTH - RIGHT) / 2:.0f}" y="{HEIGHT - 10}" text-anchor="middle">changes of '
               'a direction of a pair in an hour</text>')
    return out


def front(plane, runs, measure, name):
    """One path as a line, two copies as circles, and the optimum as a dashed line. Returns the end
    of each line with its label."""
    points = sorted((row['changes_per_hour'], row[measure]) for row in (row_of(r, 'one path') for r in runs))
    copies = [row_of(r, 'two copies') for r in runs]
    best = plane.y(row_of(runs[0], 'oracle')[measure])
    steps = ' '.join(f'{plane.x(c):.1f},{plane.y(v):.1f}' for c, v in points)
    out = [f'<path class="{measure}" d="M{steps}"/>',
           f'<path class="{measure}" stroke-dasharray="2 5" d="M{LEFT},{best:.1f} H{WIDTH - RIGHT}"/>']
    out += [f'<circle class="{measure}" cx="{plane.x(c):.1f}" cy="{plane.y(v):.1f}" r="3"/>' for c, v in points]
    out += [f'<circle class="{measure}" fill-opacity="0" cx="{plane.x(c["changes_per_hour"]):.1f}" '
            f'cy="{plane.y(c[measure]):.1f}" r="4"/>' for c in copies[:1]]
    ends = ((best, 'best there is'), (plane.y(points[-1][1]), 'one path'))
    return out, [(y, measure, f'{what}, {name}') for y, what in ends]


def names(ends):
    """Labels next to the ends of the lines, from top to bottom, without overlap."""
    out, free = [], 0
    for y, measure, what in sorted(ends):
        free = max(y, free)
        out.append(f'<text class="{measure}" x="{WIDTH - RIGHT + 8}" y="{free + 4:.0f}">{escape(what)}</text>')
        free += LINE
    return out


def draw(runs):
    most = max(row_of(r, 'one path')['changes_per_hour'] for r in runs)
    plane = Plane(int(most // 5 + 1) * 5)
    body = [f'<text x="{LEFT}" y="20">Latency of the paths in use, relative to the direct ones; '
            f'{escape(runs[0]["reading"])}. Rings: two copies.</text>', *axes(plane)]
    ends = []
    for measure, name in MEASURES:
        lines, of_lines = front(plane, runs, measure, name)
        body += lines
        ends += of_lines
    body += names(ends)
    return (f'<svg xmlns="http://www.w3.org/2000/svg" width="{WIDTH}" height="{HEIGHT}" '
            f'viewBox="0 0 {WIDTH} {HEIGHT}">{STYLE}\n' + '\n'.join(body) + '\n</svg>')


if __name__ == '__main__':
    draw_file(draw, __doc__)
