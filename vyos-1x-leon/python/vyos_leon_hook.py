# SPDX-License-Identifier: GPL-2.0-or-later
"""Makes VyOS know LEON interfaces in every Python process, without editing a file of VyOS.

Imported by vyos-1x-leon.pth at every start of Python, so: small, no imports that are
not loaded anyway, and no exception may leave it, whatever becomes of VyOS or of us.
When one of two modules of VyOS is imported, the normal loader works first. Then
vyos.ifconfig gets the class of vyos.ifconfig.leon, and vyos.configdict's
is_source_interface(), by which bridges and the like refuse an interface that another one
runs over, looks at ours too.
"""

import sys
from importlib.machinery import PathFinder


def _extend_ifconfig(module):
    from vyos.ifconfig.leon import LeonIf

    module.LeonIf = LeonIf


def _leon_over(conf, interface):
    """The LEON interface that has this one as its source-interface."""
    level = conf.set_level([])
    try:
        for name in conf.list_nodes(['interfaces', 'leon']):
            path = ['interfaces', 'leon', name, 'source-interface']
            if conf.exists(path) and conf.return_value(path) == interface:
                return name
    finally:
        conf.set_level(level)
    return None


def _extend_configdict(module):
    theirs = module.is_source_interface

    def is_source_interface(conf, interface, intftype=None):
        found = theirs(conf, interface, intftype)
        if found or not (intftype is None or 'leon' in intftype):
            return found
        try:
            return _leon_over(conf, interface) or found
        except Exception:
            return found

    module.is_source_interface = is_source_interface


EXTENSIONS = {'vyos.ifconfig': _extend_ifconfig, 'vyos.configdict': _extend_configdict}


class LeonFinder:
    @staticmethod
    def find_spec(name, path=None, target=None):
        if name not in EXTENSIONS:
            return None
        try:
            spec = PathFinder.find_spec(name, path, target)
            run = spec.loader.exec_module
            extend = EXTENSIONS[name]
            spec.loader.exec_module = lambda module: _run_and_extend(run, module, extend)
            return spec
        except Exception:
            return None


def _run_and_extend(run, module, extend):
    # A failure of VyOS's own module is VyOS's to report.
    run(module)
    try:
        extend(module)
    except Exception:
        pass


sys.meta_path.insert(0, LeonFinder)
