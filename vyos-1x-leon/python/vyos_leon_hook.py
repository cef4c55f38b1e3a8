# SPDX-License-Identifier: GPL-2.0-or-later
"""Adds LEON interfaces to VyOS in every Python process, without a change of VyOS files.

vyos-1x-leon.pth imports the module at every start of Python. So the module is small, imports only
loaded modules, and never raises an exception. When one of two modules of VyOS is imported, the
normal loader runs first. Then vyos.ifconfig gets the class of vyos.ifconfig.leon. In
vyos.configdict, is_source_interface() also checks LEON interfaces. Bridges and other interfaces
call the function to refuse a source-interface of another interface.
"""

import sys
from importlib.machinery import PathFinder


def _extend_ifconfig(module):
    from vyos.ifconfig.leon import LeonIf

    module.LeonIf = LeonIf


def _leon_over(conf, interface):
    """The LEON interface with the given source-interface, or with a line at the interface."""
    level = conf.get_level()
    conf.set_level([])
    try:
        for name in conf.list_nodes(['interfaces', 'leon']):
            leon = ['interfaces', 'leon', name]
            paths = [leon + ['source-interface']]
            for line in conf.list_nodes(leon + ['line']):
                paths.append(leon + ['line', line, 'interface'])
            for path in paths:
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
    # VyOS reports failures of its own module.
    run(module)
    try:
        extend(module)
    except Exception:
        pass


sys.meta_path.insert(0, LeonFinder)
