# SPDX-License-Identifier: GPL-2.0-or-later
"""What plot.py and plot_paths.py have in common: figures come from a file of JSON, the drawing goes
to standard output."""
import json
import sys


def draw_file(draw, usage):
    """draw: makes SVG of what the file holds. Where no file is named, the usage is said."""
    if len(sys.argv) != 2:
        sys.exit(usage)
    with open(sys.argv[1], encoding='utf-8') as f:
        print(draw(json.load(f)))
