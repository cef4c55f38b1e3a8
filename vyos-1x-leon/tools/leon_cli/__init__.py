# SPDX-License-Identifier: GPL-2.0-or-later
"""Build-time tools that convert command definitions (XML) to VyOS command templates.

source reads a definition with its includes, grammar checks it, config and op compute the node.def
files of the two modes. None of them needs a VyOS system or its source.
"""
