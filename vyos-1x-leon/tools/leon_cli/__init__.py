# SPDX-License-Identifier: GPL-2.0-or-later
"""Build-time tools that convert command definitions (XML) to VyOS command templates.

source reads a definition with includes, and grammar checks the definition. config and op compute
the node.def files of both modes. No tool needs a VyOS system or the source of VyOS.
"""
