# SPDX-License-Identifier: GPL-2.0-or-later
"""The import hook in separate processes: effects of vyos-1x-leon.pth at a start of Python."""

import subprocess
import sys
from pathlib import Path

TOP = Path(__file__).resolve().parents[2]
PYTHON = TOP / 'vyos-1x-leon/python'
FAKE = TOP / 'tests/python/fake_vyos'


def run(code, *paths):
    setup = f'import sys; sys.path[:0] = {[str(path) for path in paths]!r}'
    done = subprocess.run(
        [sys.executable, '-B', '-I', '-c', f'{setup}\n{code}'],
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


def test_pth_line_imports_the_hook():
    assert (PYTHON / 'vyos-1x-leon.pth').read_text() == 'import vyos_leon_hook\n'


def test_class_is_registered_by_any_import():
    code = 'import vyos_leon_hook; from vyos.ifconfig import Interface; print(Interface.registered)'
    assert 'LeonIf' in run(code, PYTHON, FAKE)


def test_definition():
    code = (
        'import vyos_leon_hook, json; from vyos.ifconfig import LeonIf;'
        'print(json.dumps(LeonIf.definition))'
    )
    assert run(code, PYTHON, FAKE) == (
        '{"section": "leon", "prefixes": ["leon"], "vlan": false, "bondable": false, '
        '"broadcast": false, "bridgeable": true, "eternal": ""}\n'
    )


def test_without_hook_nothing_is_registered():
    code = 'from vyos.ifconfig import Interface; print(Interface.registered)'
    assert run(code, FAKE) == '{}\n'


def test_without_vyos_nothing_happens():
    code = (
        'import vyos_leon_hook\n'
        'try:\n import vyos.ifconfig\nexcept ModuleNotFoundError as e: print(e)'
    )
    assert run(code, PYTHON) == "No module named 'vyos'\n"


def test_broken_class_does_not_break_vyos(tmp_path):
    package = tmp_path / 'vyos/ifconfig'
    package.mkdir(parents=True)
    (tmp_path / 'vyos/__init__.py').write_text('')
    (package / '__init__.py').write_text('fine = True')
    (package / 'leon.py').write_text('raise RuntimeError("broken")')
    code = (
        'import vyos_leon_hook, vyos.ifconfig as i; print(i.fine, hasattr(i, "LeonIf"))'
    )
    assert run(code, PYTHON, tmp_path) == 'True False\n'


def test_errors_of_vyos_are_not_hidden(tmp_path):
    package = tmp_path / 'vyos/ifconfig'
    package.mkdir(parents=True)
    (package / '__init__.py').write_text('raise RuntimeError("of vyos")')
    code = (
        'import vyos_leon_hook\n'
        'try:\n import vyos.ifconfig\nexcept RuntimeError as e: print(e)'
    )
    assert run(code, PYTHON, tmp_path) == 'of vyos\n'


def test_start_of_python_stays_cheap():
    """No import beyond the modules of a bare Python."""
    code = 'before = set(sys.modules); import vyos_leon_hook; print(set(sys.modules) - before)'
    allowed = {
        'vyos_leon_hook',
        'importlib.machinery',
        'importlib',
        'warnings',
        'importlib._bootstrap',
        'importlib._bootstrap_external',
    }
    assert eval(run(code, PYTHON)) <= allowed


FAKE_CONFIGDICT = """
def is_source_interface(conf, interface, intftype=None):
    return 'vxlan1' if interface == 'eth1' else False
"""
ASK = """
import vyos_leon_hook
from vyos.configdict import is_source_interface as ask

class Config:
    leon = {('leon0', 'source-interface'): 'eth0', ('leon7', 'line', 'a', 'interface'): 'eth7'}
    level = ['interfaces', 'bridge']
    def get_level(self):
        return list(self.level)
    def set_level(self, level):
        if not isinstance(level, (str, list)):
            raise TypeError(level)
        self.level = level
    def list_nodes(self, path):
        assert self.level == [] and path[:2] == ['interfaces', 'leon']
        return list(dict.fromkeys(p[len(path) - 2] for p in self.leon if list(p[:len(path) - 2]) == path[2:]))
    def exists(self, path):
        return tuple(path[2:]) in self.leon
    def return_value(self, path):
        return self.leon[tuple(path[2:])]

conf = Config()
print([ask(conf, 'eth0'), ask(conf, 'eth1'), ask(conf, 'eth2'), ask(conf, 'eth0', 'vxlan'),
       ask(conf, 'eth0', ['macsec', 'leon']), ask(conf, 'eth7'), conf.level])
conf.list_nodes = None
print(ask(conf, 'eth0'))
"""


def test_bridges_see_what_an_overlay_runs_over(tmp_path):
    """VyOS calls the function before an interface becomes a port of a bridge or bond."""
    (tmp_path / 'vyos').mkdir()
    (tmp_path / 'vyos/__init__.py').write_text('')
    (tmp_path / 'vyos/configdict.py').write_text(FAKE_CONFIGDICT)
    assert run(ASK, PYTHON, tmp_path) == (
        "['leon0', 'vxlan1', False, False, 'leon0', 'leon7', ['interfaces', 'bridge']]\nFalse\n"
    )
