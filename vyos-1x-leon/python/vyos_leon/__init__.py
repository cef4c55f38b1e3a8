# SPDX-License-Identifier: GPL-2.0-or-later
"""The Python code of LEON on VyOS that is independent of VyOS. No module imports VyOS, so all
modules run, and are tested, on any machine.

  client   queries of a running leond, by leonctl
  leaves   the leaves of the configuration: paths, forms, limits, defaults
  model    conversion of VyOS's configuration dictionary to the document of leond
  verify   rules of the configuration, with one sentence for each fault
  runfile  installation of the document
"""
