# SPDX-License-Identifier: GPL-2.0-or-later
"""The numbers of `make check`."""

import shlex
import sys
import time
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

import run_check  # noqa: E402

PASSES = 'def test_passes():\n    pass\n'
FAILS = 'def test_fails():\n    assert False\n'
SKIPPED = 'import pytest\ndef test_skipped():\n    pytest.skip("no history")\n'


@pytest.mark.parametrize(
    'text, want',
    [
        (PASSES + SKIPPED, '1 passed, 0 failed, 1 skipped'),
        (FAILS + SKIPPED, '0 passed, 1 failed, 1 skipped'),
        (SKIPPED, '0 passed, 1 failed, 1 skipped'),
        ('', '0 passed, 1 failed'),
    ],
    ids=['passed', 'failed', 'skipped', 'none'],
)
def test_a_folder_without_a_passed_test_fails(tmp_path, monkeypatch, text, want):
    folder = tmp_path / 'tests/mixed'
    folder.mkdir(parents=True)
    (folder / 'test_it.py').write_text(text)
    monkeypatch.setattr(run_check, 'TOP', str(tmp_path))
    assert str(run_check.pytest('mixed', [])) == want


@pytest.fixture
def done_ahead(tmp_path, monkeypatch):
    monkeypatch.setattr(run_check, 'TOP', str(tmp_path))
    monkeypatch.setattr(run_check, 'DONE_AHEAD', {})
    return run_check.DONE_AHEAD


def wait_until(condition):
    end = time.monotonic() + 60
    while not condition():
        assert time.monotonic() < end
        time.sleep(.01)


def appears(path):
    wait_until(path.exists)


def test_work_ahead_has_its_code_and_output(tmp_path, done_ahead):
    jobs = {'bad': ['sh', '-c', 'echo "a b"; echo no >&2; exit 3'], 'good': ['touch', str(tmp_path / 'it is')]}
    with run_check.working_ahead(jobs):
        appears(tmp_path / 'it is')
    assert done_ahead == {'bad': (3, 'a b\nno\n'), 'good': (0, '')}


def test_the_job_at_hand_is_awaited_and_no_further_one_begins(tmp_path, done_ahead):
    jobs = {'at hand': ['sh', '-c', f'touch {tmp_path}/begun; sleep .5; echo done'],
            'late': ['touch', str(tmp_path / 'late')]}
    with run_check.working_ahead(jobs):
        appears(tmp_path / 'begun')
    assert done_ahead == {'at hand': (0, 'done\n')}
    assert not (tmp_path / 'late').exists()


def is_there(pid):
    try:
        state = Path(f'/proc/{pid}/stat').read_text().rsplit(')', 1)[1].split()[0]
    except FileNotFoundError:
        return False
    return state != 'Z'


def test_an_interrupt_ends_work_ahead(tmp_path, done_ahead):
    """Also processes in sessions of their own, as the tests of meson."""
    jobs = {'endless': ['sh', '-c', f'sleep 600 & setsid sh -c "sleep 600 & echo \\$\\$ \\$! >{tmp_path}/begun; wait"']}
    with pytest.raises(KeyboardInterrupt), run_check.working_ahead(jobs):
        appears(tmp_path / 'begun')
        wait_until(lambda: len((tmp_path / 'begun').read_text().split()) == 2)
        raise KeyboardInterrupt
    for pid in (tmp_path / 'begun').read_text().split():
        wait_until(lambda p=pid: not is_there(p))
    assert not done_ahead


def test_the_job_at_hand_gets_the_usual_share_in_the_end(tmp_path, done_ahead):
    """Busy processes would leave nothing to the idle class. The last program begins late, as a test
    of meson."""
    policy = [sys.executable, '-c', 'import os; print(os.sched_getscheduler(0) == os.SCHED_IDLE)']
    changes = 'for _ in $(seq 600); do chrt --pid $$ | grep -q IDLE || break; sleep .1; done'
    jobs = {'at hand': ['sh', '-c', f'{shlex.join(policy)}; touch {tmp_path}/begun; {changes}; '
                                    f'{shlex.join(policy)}; {shlex.join(run_check.yielding(*policy))}']}
    with run_check.working_ahead(jobs):
        appears(tmp_path / 'begun')
    assert done_ahead == {'at hand': (0, 'True\nFalse\nFalse\n')}


@pytest.mark.parametrize(
    'ahead, record, want, ran',
    [
        (None, None, '230 passed, 0 failed', [[]]),
        ((0, ''), ['OK'] * 60, '290 passed, 0 failed', [['--no-suite', 'sim', '--no-suite', 'fuzz']]),
        ((1, ''), ['OK', 'FAIL'], '231 passed, 1 failed', [['--no-suite', 'sim', '--no-suite', 'fuzz']]),
        # The build failed.
        ((1, ''), None, '230 passed, 0 failed', [[]]),
        ((0, ''), None, '230 passed, 1 failed', [['--no-suite', 'sim', '--no-suite', 'fuzz']]),
        # The run ended without a result of a test.
        ((1, ''), [], '230 passed, 1 failed', [['--no-suite', 'sim', '--no-suite', 'fuzz']]),
    ],
    ids=['not ahead', 'passed', 'failed', 'no build', 'no record', 'no result'],
)
def test_simulations_ahead_are_counted_once(tmp_path, monkeypatch, done_ahead, ahead, record, want, ran):
    calls = []

    def others(_, *arguments):
        calls.append(list(arguments))
        return run_check.Tally(230)

    monkeypatch.setattr(run_check, 'TOP', str(tmp_path))
    monkeypatch.setattr(run_check, 'build', lambda _: True)
    monkeypatch.setattr(run_check, 'meson_tests', others)
    if ahead is not None:
        done_ahead[run_check.SIMULATED] = ahead
    if record is not None:
        path = Path(run_check.record_of('build-asan', run_check.SIMULATED))
        path.parent.mkdir(parents=True)
        path.write_text(''.join(f'{{"name": "sim", "result": "{result}"}}\n' for result in record))
    assert str(run_check.part_sanitized([])) == want
    assert calls == ran


def test_meson_makes_the_record_of_work_ahead(tmp_path, monkeypatch, done_ahead):
    """Also if a test fails, under the wrapper with the lowest priority."""
    (tmp_path / 'meson.build').write_text("""project('leon')
        test('good', find_program('true'), suite: 'sim')
        test('bad', find_program('false'), suite: 'fuzz')
        test('other', find_program('false'), suite: 'unit')""")
    monkeypatch.setattr(run_check, 'TOP', str(tmp_path))
    monkeypatch.setattr(run_check, 'BUILDS', {'build-asan': []})
    record = run_check.record_of('build-asan', run_check.SIMULATED)
    with run_check.working_ahead(run_check.jobs_ahead(['sanitized'])):
        appears(Path(record))
    code, _ = done_ahead[run_check.SIMULATED]
    assert code != 0
    assert str(run_check.count(record, code)) == '1 passed, 1 failed'
