# SPDX-License-Identifier: GPL-2.0-or-later
"""vyos_leon.boot: the script of every boot, and the messages of commits and of `show leon boot`.
tests/packaging/test_vyos_boot.py tests the kept packages and a boot.
"""

import stat
from pathlib import Path

import pytest
from vyos_leon import boot, mac, upgrade

SAVED = 'interfaces {\n    leon leon0 {\n        port 5366\n    }\n}\n'
LEON0 = {
    'source-address': ['192.0.2.1'],
    'port': '5366',
    'peer': {'seoul': {'address': '203.0.113.1', 'port': '5366'}},
    'authentication': {'pre-shared-secret': 'correct-horse-battery'},
}


@pytest.fixture
def script(run_dir):
    """The script of the operator, which does not exist yet."""
    path = Path(boot.SCRIPT)
    path.parent.mkdir()
    return path


@pytest.fixture
def commit(load_script, host, run_dir):
    module = load_script('vyos-1x-leon/conf_mode/interfaces_leon.py')

    def run(**interfaces):
        host.config = {'interfaces': {'leon': interfaces}}
        host.journal.clear()
        leon = module.get_config()
        for step in (module.verify, module.generate, module.apply):
            step(leon)
        return [what for verb, what in host.journal if verb == 'warning']

    return run


def test_boots_without_a_script_get_one(script):
    boot.arrange()
    lines = script.read_text().splitlines()
    assert lines[:2] == ['#!/bin/sh', boot.LINE]
    assert stat.S_IMODE(script.stat().st_mode) == 0o755


def test_script_of_the_operator_goes_on(script):
    """Our line is the first, because the script of the operator may end with an exit."""
    script.write_text('#!/bin/bash\nmodprobe x\nexit 0\n')
    script.chmod(0o750)
    boot.arrange()
    boot.arrange()
    assert script.read_text() == f'#!/bin/bash\n{boot.LINE}\nmodprobe x\nexit 0\n'
    assert stat.S_IMODE(script.stat().st_mode) == 0o750
    boot.withdraw()
    assert script.read_text() == '#!/bin/bash\nmodprobe x\nexit 0\n'


def test_what_an_earlier_manual_said_is_taken_out(script):
    """Root would install files that the user of the daemon created."""
    script.write_text(f'#!/bin/sh\nmodprobe x\n{boot.UNSAFE}\n')
    script.chmod(0o755)
    boot.arrange()
    assert script.read_text() == f'#!/bin/sh\n{boot.LINE}\nmodprobe x\n'


@pytest.mark.parametrize(
    'text, mode, want',
    [
        ('#!/usr/bin/python3\n', 0o755, 'is no shell script'),
        ('', 0o755, 'is no shell script'),
        ('#!/bin/sh\n', 0o644, 'is not executable'),
    ],
)
def test_scripts_that_cannot_run_it_are_a_warning(script, commit, text, mode, want):
    script.write_text(text)
    script.chmod(mode)
    (warning,) = commit(leon0=LEON0)
    assert warning.startswith('A boot of an image without LEON would lose every part')
    assert want in warning


def test_commit_arranges_and_the_last_delete_withdraws(script, commit):
    saved = Path(boot.SAVED)
    assert commit(leon0=LEON0) == []
    assert boot.LINE in script.read_text()
    # Not saved yet: the next boot has leon0 again.
    saved.write_text(SAVED)
    commit()
    assert boot.LINE in script.read_text()
    saved.write_text('interfaces {\n    ethernet eth0 {\n    }\n}\n')
    commit(leon1=LEON0)
    assert boot.LINE in script.read_text()
    commit()
    assert boot.LINE not in script.read_text()


def test_no_room_is_a_warning(commit, monkeypatch):
    def full():
        raise OSError(28, 'No space left on device')

    monkeypatch.setattr(boot, '_keep', full)
    (warning,) = commit(leon0=LEON0)
    assert 'No space left on device' in warning


def test_show(script, load_script):
    show = load_script('op-mode/leon.py').show_boot
    assert show(raw=True)['needed'] is False
    assert show(raw=False).startswith('No LEON interface is configured')
    Path(boot.SAVED).write_text(SAVED)
    state = show(raw=True)
    assert (state['needed'], state['arranged']) == (True, False)
    assert 'NOT ARRANGED' in show(raw=False)
    assert 'No packages are kept' in show(raw=False)


def test_show_with_a_missing_file(script, load_script, monkeypatch):
    def missing():
        raise boot.Fault('/usr/sbin/leond is missing: install the package leond again.')

    boot._hook()
    monkeypatch.setattr(boot, '_kept', lambda: {'made-of': '', 'packages': {}})
    monkeypatch.setattr(boot, '_made_of', missing)
    Path(boot.SAVED).write_text(SAVED)
    shown = load_script('op-mode/leon.py').show_boot(raw=False)
    assert 'NOT ARRANGED' in shown and 'leond is missing: install' in shown


@pytest.mark.parametrize('has_device', [True, False])
def test_only_a_removal_is_reported(run_dir, tmp_path, monkeypatch, capsys, has_device):
    """After an upgrade, a disabled interface has its device and no document."""
    Path(boot.ACTIVE, 'leon0/disable').mkdir(parents=True)
    if has_device:
        (tmp_path / 'leon0').mkdir()
    monkeypatch.setattr(mac, 'DEVICES', str(tmp_path))
    monkeypatch.setattr(upgrade, 'RUN_DIR', str(run_dir))
    monkeypatch.setattr(upgrade, '_is_accepted', lambda name: False)
    monkeypatch.setattr(upgrade.subprocess, 'run', lambda *_, **__: None)
    upgrade.main()
    assert ('leon0 run again' in capsys.readouterr().err) is not has_device
