#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""Runs a program with the restrictions of a unit of packaging/systemd, without a service manager.

The restrictions are user, capabilities, no new privileges, real-time priority, no writable code and
the filter of system calls.

Usage: confine.py UNIT PROGRAM [ARGUMENT...]. Root only. The user is root or, instead of the user
of the package, "nobody". The sets of system calls come from the installed systemd.

Every user can read an installed package, but not every checkout. Files for another user are
therefore copied to a file system in a private mount namespace.
"""
import os
import resource
import shutil
import subprocess
import sys

UNITS = os.path.join(os.path.dirname(os.path.abspath(__file__)), '../../packaging/systemd')
USER = 'nobody'
# The copy hides /mnt in a private mount namespace. The standard directory /mnt exists on every
# machine.
COPY = '/mnt'
# Variables with the path of a program that leond starts.
CHILDREN = ('LEON_TLS_PROGRAM', 'LEON_PORTMAP_PROGRAM')


def settings(unit):
    """{key: [value, ...]} of the unit."""
    found = {}
    beside = os.path.join(os.path.dirname(os.path.abspath(__file__)), unit)
    path = beside if os.path.exists(beside) else os.path.join(UNITS, unit)
    with open(path, encoding='utf-8') as f:
        for line in f:
            key, equals, value = line.strip().partition('=')
            if equals and not line.startswith('#'):
                found.setdefault(key, []).append(value)
    return found


def known_sets():
    """{"@name": {members}} of systemd. A member may be the name of another set."""
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
    """System calls permitted by SystemCallFilter= of the unit."""
    sets = known_sets()
    allowed = members('@default', sets)
    for line in settings(unit)['SystemCallFilter']:
        names = set().union(*(members(m, sets) for m in line.lstrip('~').split()))
        allowed = allowed - names if line.startswith('~') else allowed | names
    return allowed


def filter_calls(unit):
    """Installs the filter for the process and for later children."""
    import errno
    import seccomp
    filter_ = seccomp.SyscallFilter(seccomp.ERRNO(errno.EPERM))
    for name in sorted(allowed_calls(unit)):
        try:
            filter_.add_rule(seccomp.ALLOW, name)
        except (RuntimeError, ValueError):
            continue  # of another architecture
    filter_.load()


def deny_writable_code(unit):
    """MemoryDenyWriteExecute= of the unit, on kernels with PR_SET_MDWE (6.3 and later)."""
    import ctypes
    if settings(unit).get('MemoryDenyWriteExecute') == ['yes']:
        ctypes.CDLL(None).prctl(65, 1, 0, 0, 0)


def capabilities(unit, key):
    words = settings(unit).get(key, [''])[-1].split()
    return ','.join(['-all', *('+' + w.removeprefix('CAP_').lower() for w in words)])


def limit_priority(unit):
    """Sets the priority limit of the unit, within the limits of the machine."""
    wanted = int(settings(unit).get('LimitRTPRIO', ['0'])[-1])
    if os.geteuid() == 0:
        try:
            resource.setrlimit(resource.RLIMIT_RTPRIO, (wanted, wanted))
        except (ValueError, OSError):
            pass


def is_roots(unit):
    return settings(unit)['User'] == ['root']


def copies(*files):
    """Paths of copies of the files, readable for all users in a private mount namespace."""
    import ns
    ns.own_mounts()
    ns.mount('confined', COPY, 'tmpfs', 0)
    os.chmod(COPY, 0o755)
    made = [shutil.copy(file, COPY) for file in files]
    for copy in made:
        os.chmod(copy, 0o755)
    return made


def children(environment):
    """Programs that the program starts."""
    return [environment[name] for name in CHILDREN if name in environment]


def setpriv(unit):
    ambient = capabilities(unit, 'AmbientCapabilities')
    user = [] if is_roots(unit) else [f'--reuid={USER}', '--regid=nogroup', '--clear-groups']
    return ['setpriv', *user,
            f'--bounding-set={capabilities(unit, "CapabilityBoundingSet")}',
            f'--inh-caps={ambient}', f'--ambient-caps={ambient}', '--no-new-privs']


def main():
    unit, program, *arguments = sys.argv[1:]
    if os.environ.get('CONFINED'):
        deny_writable_code(unit)
        filter_calls(unit)
        os.execv(program, [program, *arguments])
    os.environ['CONFINED'] = '1'
    limit_priority(unit)
    command = setpriv(unit)
    this = os.path.abspath(__file__)
    if not is_roots(unit):
        this, program, _, *more = copies(this, program, os.path.join(UNITS, unit),
                                         *children(os.environ))
        os.environ.update(zip(CHILDREN, more))
    os.execvp('setpriv', [*command, sys.executable, '-B', this, unit, program, *arguments])


if __name__ == '__main__':
    main()
