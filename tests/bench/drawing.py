# SPDX-License-Identifier: GPL-2.0-or-later
"""Common code of plot.py and plot_paths.py: figures come from a JSON file, and the drawing goes to
standard output."""
import json
import sys


def draw_file(draw, usage):
    """draw: makes SVG from the content of the file. Without a file name, prints the usage."""
    if len(sys.argv) != 2:
        sys.exit(usage)
    with open(sys.argv[1], encoding='utf-8') as f:
        print(draw(json.load(f)))
