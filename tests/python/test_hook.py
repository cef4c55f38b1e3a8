# SPDX-License-Identifier: GPL-2.0-or-later
"""The import hook, in processes of its own: what a start of Python with
vyos-1x-leon.pth does."""

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
    """Nothing is imported that a bare Python has not loaded."""
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
