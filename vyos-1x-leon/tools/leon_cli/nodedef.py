# SPDX-License-Identifier: GPL-2.0-or-later
"""What the templates of both modes have in common: a tree of node.def files, and help texts."""

import textwrap

# The CLI prints help in a column of its own; long ones continue under it.
HELP_WIDTH = 64
HELP_INDENT = '\t\t\t'


class Tree(dict):
    """Path of a node.def, relative to the templates -> its text.

    A node can be described twice, as two files that hang on it or as the two faces of an op-mode
    tag node: the first description that says something stays. One that says nothing is that of a
    parent which another package owns and is left out.
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
