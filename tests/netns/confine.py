#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""Runs a program as a unit of packaging/systemd would be run, as far as no service manager is
needed for it: its user and capabilities, no new privileges, and its filter of system calls.

Usage: confine.py UNIT PROGRAM [ARGUMENT...]. Root only. The user is root or, in place of the
package's own, which this machine need not have, "nobody". Sets are those of the systemd that is installed.
"""
import os
import subprocess
import sys

UNITS = os.path.join(os.path.dirname(os.path.abspath(__file__)), '../../packaging/systemd')
USER = 'nobody'


def settings(unit):
    """{key: [value, ...]} of the unit."""
    found = {}
    with open(os.path.join(UNITS, unit), encoding='utf-8') as f:
        for line in f:
            key, equals, value = line.strip().partition('=')
            if equals and not line.startswith('#'):
                found.setdefault(key, []).append(value)
    return found


def known_sets():
    """{"@name": {members}} as systemd has them, members may be sets again."""
    text = subprocess.run(['systemd-analyze', 'syscall-filter'], check=True, capture_output=True,
                          text=True).stdout
    sets, current = {}, None
    for line in text.splitlines():
        word = line.strip()
        if line.startswith('@'):
            current = sets.setdefault(word, set())
        elif word and not word.startswith('#') and current is not None:
            current.add(word)
    return sets


def members(name, sets):
    if not name.startswith('@'):
        return {name}
    return set().union(*(members(m, sets) for m in sets[name]))


def allowed_calls(unit):
    """System calls that the unit's SystemCallFilter= lets pass."""
    sets = known_sets()
    allowed = members('@default', sets)
    for line in settings(unit)['SystemCallFilter']:
        names = set().union(*(members(m, sets) for m in line.lstrip('~').split()))
        allowed = allowed - names if line.startswith('~') else allowed | names
    return allowed


def filter_calls(unit):
    """From here on, for this process and what it becomes."""
    import errno
    import seccomp
    filter_ = seccomp.SyscallFilter(seccomp.ERRNO(errno.EPERM))
    for name in sorted(allowed_calls(unit)):
        try:
            filter_.add_rule(seccomp.ALLOW, name)
        except (RuntimeError, ValueError):
            continue  # of another architecture
    filter_.load()


def capabilities(unit, key):
    words = settings(unit).get(key, [''])[-1].split()
    return ','.join(['-all', *('+' + w.removeprefix('CAP_').lower() for w in words)])


def setpriv(unit):
    ambient = capabilities(unit, 'AmbientCapabilities')
    root = settings(unit)['User'] == ['root']
    user = [] if root else [f'--reuid={USER}', '--regid=nogroup', '--clear-groups']
    return ['setpriv', *user,
            f'--bounding-set={capabilities(unit, "CapabilityBoundingSet")}',
            f'--inh-caps={ambient}', f'--ambient-caps={ambient}', '--no-new-privs']


def main():
    if os.environ.get('CONFINED'):
        filter_calls(sys.argv[1])
        os.execv(sys.argv[2], sys.argv[2:])
    os.environ['CONFINED'] = '1'
    os.execvp('setpriv', [*setpriv(sys.argv[1]), sys.executable, '-B', *sys.argv])


if __name__ == '__main__':
    main()
