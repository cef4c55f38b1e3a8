# SPDX-License-Identifier: GPL-2.0-or-later
"""Build-time tools that turn command definitions (XML) into VyOS command templates.

source reads a definition with its includes, grammar says what is wrong with it, config and op
compute the node.def files of the two modes. Nothing here needs a VyOS system or its source.
"""
