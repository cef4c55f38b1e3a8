#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""Runs the parts of `make check` and ends with one line 'N passed, N failed[, N skipped]'.

Usage: run_check.py [--pytest-args ARGS] PART...
  lint       the checks of tests/lint
  sanitized  all C tests (unit, sim, fuzz replay) with AddressSanitizer and UBSan, -Werror; those
             of `long` and some of `unit` are shorter here
  tsan       the tests with threads, with ThreadSanitizer
  unit       the unit tests in the plain build
  long       simulations in the plain build at their full length
  python     pytest tests/python
  netns      pytest tests/netns with the plain build, ten files at a time; builds for later parts
  mixed      some of tests/mixed: the previous release beside the plain build
  packaging  pytest tests/packaging, which builds the Debian packages
  fuzz       libFuzzer for a minute on some of the targets, others each hour

A part with a failed build counts as one failed test. The numbers are C test programs, pytest tests
and lint checks.
"""

import argparse
import contextlib
import json
import os
import re
import shlex
import signal
import subprocess
import sys
import time
import xml.etree.ElementTree

TOP = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
# Not the first python3 in PATH, which may lack Debian's modules.
PYTHON = '/usr/bin/python3'
# -O1 with line numbers only: the compiler needs a quarter less time than with -O2 -g. GCC finds
# variables without a value reliably at -O2 only, a warning of the plain build.
FAST_TO_COMPILE = ['-Doptimization=1', '-Dc_args=-g1 -Wno-maybe-uninitialized']
BUILDS = {
    'build': ['-Dwerror=true'],
    'build-asan': ['-Dwerror=true', *FAST_TO_COMPILE, '-Db_sanitize=address,undefined',
                   '-Db_lundef=false'],
    'build-tsan': ['-Dwerror=true', *FAST_TO_COMPILE, '-Db_sanitize=thread', '-Db_lundef=false'],
}
PYTEST_SECONDS = 3600
# Half a minute of `make check-mixed`: an overlay of both releases, upgrades, interception.
MIXED_TESTS = 'overlay or relay or (end and not guard) or both'
FUZZ_TARGETS = 2  # per run, at the same time: one minute


class Tally:
    """Numbers of passed, failed and skipped tests."""

    def __init__(self, passed=0, failed=0, skipped=0):
        self.passed, self.failed, self.skipped = passed, failed, skipped

    def __iadd__(self, other):
        self.passed += other.passed
        self.failed += other.failed
        self.skipped += other.skipped
        return self

    def __str__(self):
        text = f'{self.passed} passed, {self.failed} failed'
        return f'{text}, {self.skipped} skipped' if self.skipped else text


def call(command, timeout=None, **kwargs):
    """Runs a command from the top of the tree and returns the exit code. The command has a process
    group, so a timeout ends all children."""
    print('+', shlex.join(command), flush=True)
    with subprocess.Popen(command, cwd=TOP, start_new_session=True, **kwargs) as process:
        try:
            return process.wait(timeout)
        except BaseException as error:
            os.killpg(process.pid, signal.SIGKILL)
            if isinstance(error, subprocess.TimeoutExpired):
                print(f'not done after {timeout} s, ended')
                return 124
            raise


def is_set_up(folder):
    """Returns True if the build directory exists; creates a missing directory."""
    return os.path.exists(os.path.join(TOP, folder, 'build.ninja')) or \
        call(['meson', 'setup', folder] + BUILDS[folder]) == 0


def ninja(folder):
    # A full build with ThreadSanitizer would take minutes for a few tests.
    return ['ninja', '-C', folder, *(programs(folder, 'tsan') if folder == 'build-tsan' else ())]


def build(folder):
    return is_set_up(folder) and call(ninja(folder)) == 0


def yield_processor(process):
    """Autogroups of the kernel share the processor equally among sessions, also among processes of
    different policies. A session of builds therefore gets the least share."""
    with contextlib.suppress(OSError), \
            open(f'/proc/{process.pid}/autogroup', 'w', encoding='ascii') as f:
        f.write('19')


@contextlib.contextmanager
def building(folders):
    """Builds for later parts in processor time that no other process wants. Each part completes
    the build, and reports its errors."""
    commands = [shlex.join(ninja(folder)) for folder in folders if is_set_up(folder)]
    with subprocess.Popen(['chrt', '--idle', '0', 'sh', '-c', '; '.join(commands)], cwd=TOP,
                          stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
                          start_new_session=True) as process:
        yield_processor(process)
        try:
            yield
        finally:
            os.killpg(process.pid, signal.SIGINT)


def programs(folder, suite):
    """Files of the tests of a suite, as targets of the build."""
    text = subprocess.run(['meson', 'introspect', '--tests', folder], cwd=TOP, check=True,
                          stdout=subprocess.PIPE, text=True).stdout
    return [os.path.relpath(test['cmd'][0], os.path.join(TOP, folder))
            for test in json.loads(text) if f'leon:{suite}' in test['suite']]


def remove(path):
    """Removes results of an earlier run."""
    if os.path.exists(path):
        os.unlink(path)


def name_skipped(results):
    """Reports skipped tests, because a program with some skipped tests passes."""
    for result in results:
        # cmocka 1.1.5 begins the line with "not ok".
        for test in re.findall(r'^(?:not )?ok \d+ # SKIP (.*)$', result.get('stdout', ''), re.M):
            print(f'skipped in {result["name"]}: {test}')


def meson_tests(folder, *arguments, prefix=()):
    """Runs C tests; counts from the record of meson, not from the output."""
    record = os.path.join(TOP, folder, 'meson-logs', 'testlog.json')
    remove(record)
    code = call([*prefix, 'meson', 'test', '-C', folder, '--no-rebuild', '--print-errorlogs',
                 '--timeout-multiplier', '3', *arguments])
    tally = Tally()
    if os.path.exists(record):
        with open(record, encoding='utf-8') as f:
            results = [json.loads(line) for line in f]
        name_skipped(results)
        verdicts = [result['result'] for result in results]
        tally.passed = sum(v in ('OK', 'EXPECTEDFAIL') for v in verdicts)
        tally.skipped = verdicts.count('SKIP')
        tally.failed = len(verdicts) - tally.passed - tally.skipped
    if code != 0 and tally.failed == 0 or tally.passed == 0:
        tally.failed += 1
    return tally


def pytest(folder, extra):
    """Runs pytest on a folder of tests/; counts from the JUnit file."""
    report = os.path.join(TOP, 'build', f'pytest-{folder}.xml')
    remove(report)
    os.makedirs(os.path.dirname(report), exist_ok=True)
    env = dict(os.environ, LEON_BUILD=os.path.join(TOP, 'build'), PYTHONDONTWRITEBYTECODE='1')
    code = call([PYTHON, '-m', 'pytest', '-p', 'no:cacheprovider', '-ra', f'--junitxml={report}',
                 *extra, os.path.join('tests', folder)], timeout=PYTEST_SECONDS, env=env)
    tally = Tally()
    if os.path.exists(report):
        for suite in xml.etree.ElementTree.parse(report).getroot().iter('testsuite'):
            tally.failed += int(suite.get('failures')) + int(suite.get('errors'))
            tally.skipped += int(suite.get('skipped'))
            tally.passed += int(suite.get('tests'))
        tally.passed = max(0, tally.passed - tally.failed - tally.skipped)
    # pytest succeeds if each test is skipped, e.g. those of tests/mixed in a shallow clone.
    if (code != 0 or tally.passed == 0) and tally.failed == 0:
        tally.failed = 1
    return tally


def part_lint(_):
    if not build('build'):  # knots.py reads the objects
        return Tally(failed=1)
    done = subprocess.run([PYTHON, '-B', os.path.join(TOP, 'tests/lint/run.py')],
                          stdout=subprocess.PIPE, text=True, check=False)
    print(done.stdout, end='', flush=True)
    verdicts = [line.rsplit(': ', 1)[1] for line in done.stdout.splitlines()
                if line.startswith('lint ') and ': ' in line]
    tally = Tally(*map(verdicts.count, ('ok', 'FAILED', 'skipped')))
    if done.returncode != 0 and tally.failed == 0:
        tally.failed = 1
    return tally


def part_sanitized(_):
    return meson_tests('build-asan') if build('build-asan') else Tally(failed=1)


def part_tsan(_):
    if not build('build-tsan'):
        return Tally(failed=1)
    # ThreadSanitizer needs a memory layout that kernels with much address randomisation lack. In a
    # container without permission for the change, tests usually work without.
    fixed = ['setarch', '-R']
    works = subprocess.run(fixed + ['true'], stderr=subprocess.DEVNULL, check=False).returncode == 0
    return meson_tests('build-tsan', '--suite', 'tsan', prefix=fixed if works else ())


def part_unit(_):
    return meson_tests('build', '--suite', 'unit') if build('build') else Tally(failed=1)


def part_long(_):
    return meson_tests('build', '--suite', 'long') if build('build') else Tally(failed=1)


def part_python(options):
    parallel = ['-n', '2', '-p', 'no:rerunfailures']
    return pytest('python', [*parallel, *options]) if build('build') else Tally(failed=1)


def part_netns(options):
    # Each test makes private namespaces and mostly waits. The tests of a file share a fixture. The
    # rerun plugin, if installed, cannot communicate between namespaces.
    parallel = ['-n', '10', '--dist', 'loadfile', '-p', 'no:rerunfailures']
    return pytest('netns', [*parallel, *options]) if build('build') else Tally(failed=1)


def part_mixed(options):
    parallel = ['-n', '4', '-p', 'no:rerunfailures', '-k', MIXED_TESTS]
    return pytest('mixed', [*parallel, *options]) if build('build') else Tally(failed=1)


def part_packaging(options):
    parallel = ['-n', '3', '--dist', 'loadfile', '-p', 'no:rerunfailures']
    return pytest('packaging', [*parallel, *options])


def part_fuzz(_):
    done = subprocess.run([PYTHON, '-B', os.path.join(TOP, 'tests/fuzz/run.py'), '--jobs=2',
                           f'--rotate={FUZZ_TARGETS}'], stdout=subprocess.PIPE, text=True, check=False)
    print(done.stdout, end='', flush=True)
    verdicts = re.findall(r'^fuzz \w+: (nothing found|FAILED)$', done.stdout, re.M)
    tally = Tally(verdicts.count('nothing found'), verdicts.count('FAILED'))
    if done.returncode != 0 and tally.failed == 0:
        tally.failed = 1
    return tally


PARTS = {
    'lint': part_lint,
    'sanitized': part_sanitized,
    'tsan': part_tsan,
    'unit': part_unit,
    'long': part_long,
    'python': part_python,
    'netns': part_netns,
    'mixed': part_mixed,
    'packaging': part_packaging,
    'fuzz': part_fuzz,
}


BUILT = {'sanitized': 'build-asan', 'tsan': 'build-tsan'}


def main():
    parser = argparse.ArgumentParser(usage=__doc__)
    parser.add_argument('--pytest-args', default='')
    parser.add_argument('parts', nargs='+', choices=list(PARTS))
    options = parser.parse_args()
    total = Tally()
    summary = []
    for number, name in enumerate(options.parts):
        later = [BUILT[part] for part in options.parts[number:] if part in BUILT]
        begin = time.monotonic()
        # Tests of netns mostly wait.
        with building(later) if name == 'netns' and later else contextlib.nullcontext():
            tally = PARTS[name](shlex.split(options.pytest_args))
        summary.append(f'{name}: {tally} ({time.monotonic() - begin:.0f} s)')
        total += tally
    print('\n' + '\n'.join(summary))
    print(total, flush=True)
    return 1 if total.failed else 0


if __name__ == '__main__':
    sys.exit(main())
