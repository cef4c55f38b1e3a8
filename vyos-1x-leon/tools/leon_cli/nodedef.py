# SPDX-License-Identifier: GPL-2.0-or-later
"""The common part of the templates of both modes: a tree of node.def files, and help texts."""

import textwrap

# The CLI prints help in a separate column, and long texts continue in the column.
HELP_WIDTH = 64
HELP_INDENT = '\t\t\t'


class Tree(dict):
    """Path of a node.def, relative to the templates -> its text.

    A node can have two descriptions: in two files with the same parent, or as the two forms of an
    op-mode tag node. The first description with properties applies. A description without
    properties is a parent of another package and is left out.
    """

    def put(self, path, text):
        if text:
            self.setdefault('/'.join([*path, 'node.def']), text)

    def write(self, folder):
        for name, text in sorted(self.items()):
            target = folder / name
            target.parent.mkdir(parents=True, exist_ok=True)
            target.write_text(text)


def fill_help(text):
    return textwrap.fill(text, width=HELP_WIDTH, subsequent_indent=HELP_INDENT)
