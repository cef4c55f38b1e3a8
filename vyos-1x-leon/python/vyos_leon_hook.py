# SPDX-License-Identifier: GPL-2.0-or-later
"""Makes vyos.ifconfig know LEON interfaces in every Python process, without editing a
file of VyOS.

Imported by vyos-1x-leon.pth at every start of Python, so: small, no imports that are
not loaded anyway, and no exception may leave it, whatever becomes of VyOS or of us.
When vyos.ifconfig is imported it lets the normal loader work and then imports
vyos.ifconfig.leon.
"""

import sys
from importlib.machinery import PathFinder

NAME = 'vyos.ifconfig'


class LeonFinder:
    @staticmethod
    def find_spec(name, path=None, target=None):
        if name != NAME:
            return None
        try:
            spec = PathFinder.find_spec(name, path, target)
            run = spec.loader.exec_module
            spec.loader.exec_module = lambda module: _run_and_extend(run, module)
            return spec
        except Exception:
            return None


def _run_and_extend(run, module):
    # A failure of VyOS's own module is VyOS's to report.
    run(module)
    try:
        from vyos.ifconfig.leon import LeonIf

        module.LeonIf = LeonIf
    except Exception:
        pass


sys.meta_path.insert(0, LeonFinder)
