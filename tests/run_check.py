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
  netns      pytest tests/netns with the plain build, ten files at a time; works ahead for later
             parts: builds, packages, and the simulations of `sanitized`
  mixed      some of tests/mixed: the previous release with the plain build
  packaging  pytest tests/packaging, which builds the Debian packages
  fuzz       libFuzzer for half a minute on some of the targets, others each hour

A part with a failed build counts as one failed test. The numbers are C test programs, pytest tests
and lint checks.
"""

import argparse
import contextlib
import glob
import json
import os
import re
import shlex
import shutil
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
FUZZ_TARGETS = 2  # per run, in parallel
FUZZ = [PYTHON, '-B', os.path.join(TOP, 'tests/fuzz/run.py'), f'--rotate={FUZZ_TARGETS}',
        '--seconds=30']
# C tests without a clock of the machine, so the load of the machine has no effect on the results.
SIMULATED = 'simulated'
SIMULATED_SUITES = ['--suite', 'sim', '--suite', 'fuzz']
PACKAGES = 'build/packages'  # in the tree


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


# Runs a command in CPU time that no other process needs, until a file exists. Autogroups of the
# kernel share the processor equally among sessions. They ignore the policies of processes in other
# sessions, so the session of the command gets the least share.
YIELDING = '''[ -e "$0" ] && exec "$@"
(echo 19 >/proc/self/autogroup) 2>/dev/null
exec chrt --idle 0 "$@"'''

# {name of a job that is done: (exit code, output)}
DONE_AHEAD = {}


def ahead(name):
    """A file of the work ahead: `stop` ends the work. NAME is the output of a job, NAME.code the
    exit code."""
    return os.path.join(TOP, 'build/ahead', name)


def yielding(*command):
    return ['sh', '-c', YIELDING, ahead('stop'), *command]


def family(pid):
    """A process and all descendants."""
    children = {}
    for path in glob.glob('/proc/[0-9]*/stat'):
        with contextlib.suppress(OSError), open(path, encoding='utf-8', errors='replace') as f:
            child, rest = f.read().split(' ', 1)
            children.setdefault(int(rest.rsplit(')', 1)[1].split()[1]), []).append(int(child))
    found = [pid]
    for parent in found:
        found += children.get(parent, ())
    return found


def end_family(pid):
    """A test of meson has a session of its own, so one signal does not reach all processes. A
    stopped process makes no children."""
    stopped = []
    while fresh := [p for p in family(pid) if p not in stopped]:
        for p in fresh:
            with contextlib.suppress(ProcessLookupError):
                os.kill(p, signal.SIGSTOP)
        stopped += fresh
    for p in stopped:
        with contextlib.suppress(ProcessLookupError):
            os.kill(p, signal.SIGKILL)


def await_at_usual_share(process):
    """On a busy machine, a process of the idle class would need hours."""
    while True:
        for pid in family(process.pid):
            with contextlib.suppress(OSError):
                if os.sched_getscheduler(pid) == os.SCHED_IDLE:
                    with contextlib.suppress(FileNotFoundError), \
                            open(f'/proc/{pid}/autogroup', 'w', encoding='ascii') as f:
                        f.write('0')
                    os.sched_setscheduler(pid, os.SCHED_OTHER, os.sched_param(0))
        with contextlib.suppress(subprocess.TimeoutExpired):
            return process.wait(1)


@contextlib.contextmanager
def working_ahead(jobs):
    """Runs jobs {name: command} of later parts one after the other, in CPU time that no other
    process needs. At its end, the context waits for the running job. The parts run the remaining
    jobs."""
    shutil.rmtree(ahead(''), ignore_errors=True)
    os.makedirs(ahead(''))
    script = ''.join(f'test -e {shlex.quote(ahead("stop"))} || {{ {shlex.join(command)} '
                     f'>{shlex.quote(ahead(name))} 2>&1; '
                     f'echo $? >{shlex.quote(ahead(name + ".code"))}; }}\n'
                     for name, command in jobs.items())
    with subprocess.Popen(yielding('sh', '-c', script), cwd=TOP, stdin=subprocess.DEVNULL,
                          start_new_session=True) as process:
        try:
            yield
            with open(ahead('stop'), 'w', encoding='ascii'):
                pass
            for name in jobs:
                if os.path.exists(ahead(name)) and not os.path.exists(ahead(name + '.code')):
                    print(f'+ waits for the work ahead: {name}', flush=True)
            await_at_usual_share(process)
        except BaseException:
            if process.poll() is None:
                end_family(process.pid)
            raise
    for name in jobs:
        if os.path.exists(ahead(name + '.code')):
            with open(ahead(name + '.code'), encoding='ascii') as code, \
                    open(ahead(name), encoding='utf-8', errors='replace') as output:
                DONE_AHEAD[name] = int(code.read()), output.read()


def jobs_ahead(parts):
    """The jobs that parts after netns leave to the time of netns. Each part completes a build, and
    reports its errors."""
    jobs = {}
    if 'packaging' in parts and not os.environ.get('LEON_DEB') and shutil.which('dpkg-buildpackage'):
        shutil.rmtree(os.path.join(TOP, PACKAGES), ignore_errors=True)
        jobs['packages'] = [PYTHON, '-B', 'tests/packaging/packages.py', PACKAGES]
    if 'fuzz' in parts:
        jobs['fuzz'] = [*FUZZ, '--only-build']
    if 'tsan' in parts and is_set_up('build-tsan'):
        jobs['tsan'] = ninja('build-tsan')
    if 'sanitized' in parts and is_set_up('build-asan'):
        remove(record_of('build-asan', SIMULATED))
        # Each test has a session of its own, and waits for the processor.
        tests = meson_test('build-asan', SIMULATED, *SIMULATED_SUITES,
                           '--wrapper', shlex.join(yielding()), '--timeout-multiplier', '20')
        jobs[SIMULATED] = ['sh', '-c', f'{shlex.join(ninja("build-asan"))} && {shlex.join(tests)}']
    return jobs


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


def record_of(folder, name):
    # Meson adds the name of a wrapper.
    wrapped = f'{name}-{yielding()[0]}' if name == SIMULATED else name
    return os.path.join(TOP, folder, 'meson-logs', f'{wrapped}.json')


def meson_test(folder, name, *arguments):
    """Runs C tests and records the results under a name."""
    return ['meson', 'test', '-C', folder, '--no-rebuild', '--print-errorlogs',
            '--timeout-multiplier', '3', '--logbase', name, *arguments]


def count(record, code):
    """Counts from the record of meson, not from the output."""
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


def meson_tests(folder, *arguments, prefix=()):
    """Runs C tests and counts them."""
    record = record_of(folder, 'testlog')
    remove(record)
    return count(record, call([*prefix, *meson_test(folder, 'testlog', *arguments)]))


def pytest(folder, extra, **variables):
    """Runs pytest on a folder of tests/; counts from the JUnit file."""
    report = os.path.join(TOP, 'build', f'pytest-{folder}.xml')
    remove(report)
    os.makedirs(os.path.dirname(report), exist_ok=True)
    # Outside of the tree. Ten processes would compile each file otherwise.
    env = dict(os.environ, LEON_BUILD=os.path.join(TOP, 'build'),
               PYTHONPYCACHEPREFIX=os.path.join(TOP, 'build/pycache'), **variables)
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
    if not build('build-asan'):
        return Tally(failed=1)
    record = record_of('build-asan', SIMULATED)
    code, output = DONE_AHEAD.get(SIMULATED, (0, ''))
    # Without a record of a failed job, the build was not complete.
    if SIMULATED not in DONE_AHEAD or code != 0 and not os.path.exists(record):
        return meson_tests('build-asan')
    print(output, end='', flush=True)
    tally = count(record, code)
    tally += meson_tests('build-asan', *(word.replace('--suite', '--no-suite')
                                         for word in SIMULATED_SUITES))
    return tally


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
    parallel = ['-n', '4', '--dist', 'loadfile', '-p', 'no:rerunfailures']
    made = glob.glob(os.path.join(TOP, PACKAGES, 'leond_*.deb'))
    if DONE_AHEAD.get('packages', (1,))[0] != 0 or len(made) != 1:
        return pytest('packaging', [*parallel, *options])
    return pytest('packaging', [*parallel, *options], LEON_DEB=made[0])


def part_fuzz(_):
    done = subprocess.run([*FUZZ, '--jobs=2'], stdout=subprocess.PIPE, text=True, check=False)
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


def main():
    parser = argparse.ArgumentParser(usage=__doc__)
    parser.add_argument('--pytest-args', default='')
    parser.add_argument('parts', nargs='+', choices=list(PARTS))
    options = parser.parse_args()
    # Like an interrupt: no process remains.
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(128 + signal.SIGTERM))
    total = Tally()
    summary = []
    for number, name in enumerate(options.parts):
        later = options.parts[number + 1:]
        begin = time.monotonic()
        # Tests of netns mostly wait.
        with working_ahead(jobs_ahead(later)) if name == 'netns' else contextlib.nullcontext():
            tally = PARTS[name](shlex.split(options.pytest_args))
        summary.append(f'{name}: {tally} ({time.monotonic() - begin:.0f} s)')
        total += tally
    print('\n' + '\n'.join(summary))
    print(total, flush=True)
    return 1 if total.failed else 0


if __name__ == '__main__':
    sys.exit(main())
