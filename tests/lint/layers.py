#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""Checks the shape of the C code:

- A file includes headers of the same directory or of a lower layer.
- In a layer with floors, a file includes headers of the same or a lower floor, and uses only its
  own module's state (floors.py).
- Only the owners of a third-party header include it.
- Layers without I/O and clock include no header for I/O or clocks.
- Every header compiles alone.
"""

import concurrent.futures
import os
import re
import subprocess
import sys

import floors
import tree

# Layer -> other permitted layers for includes.
BELOW = {
    'base': set(),
    'wire': {'base'},
    'crypto': {'wire', 'base'},
    'ipc': {'wire', 'base'},
    'state': {'crypto', 'ipc', 'wire', 'base'},
    'io': {'base'},
    'proto': {'state', 'wire', 'crypto', 'base'},
    'fwd': {'state', 'io', 'ipc', 'wire', 'crypto', 'base'},
    'daemon': {'proto', 'fwd', 'state', 'io', 'ipc', 'wire', 'crypto', 'base'},
    'leonctl': {'state', 'io', 'crypto', 'wire', 'base'},
    'leon-accel': {'io', 'ipc', 'wire', 'base'},
    'leon-sclp': {'io', 'wire', 'base'},
    'leon-portmap': {'io', 'ipc', 'base'},
    'leon-tls': {'io', 'ipc', 'base'},
    'leonsim': {'proto', 'state', 'wire', 'crypto', 'base'},
}

PROGRAMS = ('leonctl', 'leon-accel', 'leon-sclp', 'leon-portmap', 'leon-tls', 'leonsim')

# Header -> the directories or single files that may include the header.
OWNERS = {
    'systemd/': 'base/loop_sd.c',
    'json-c/': 'base/json/',
    'libmnl/': 'io/netlink/netlink_mnl.h',
    'openssl/': ('crypto/aead.c', 'crypto/public_key.c', 'leon-tls/tls.c'),
    'intel-ipsec-mb.h': 'crypto/gcm_mb.c',
    'zstd.h': 'leon-accel/peer/pack.c',
    'natpmp.h': 'leon-portmap/natpmp.c',
    'miniupnpc/': 'leon-portmap/upnp.c',
}

# The core runs on virtual time in one process, without access to a clock or the kernel.
PURE = {'wire', 'crypto', 'state', 'proto'}
IMPURE_HEADER = re.compile(
    r'(sys/(ioctl|epoll|eventfd|timerfd|un|mman|select|time)|net/if|linux/.*|'
    r'unistd|fcntl|poll|pthread|time|signal)\.h$')
# Address structures need <sys/socket.h>, so the check finds its functions by name.
IMPURE_CALL = re.compile(
    r'\b(clock_gettime|gettimeofday|time|clock|nanosleep|usleep|sleep|'
    r'socket|bind|connect|sendto|sendmsg|recvfrom|recvmsg|ioctl)\(')

INCLUDE = re.compile(r'^\s*#\s*include\s*([<"])([^>"]+)[>"]', re.M)
COMMENT = re.compile(r'/\*.*?\*/|//[^\n]*', re.S)


def layer_of(path):
    """'vyos-1x-leon/dataplane/state/latency/path.c' -> 'state'."""
    parts = path.split('/')
    return parts[2] if path.startswith(tree.DATAPLANE + '/') else parts[1]


def own_name(path):
    """'vyos-1x-leon/dataplane/io/udp.c' -> 'io/udp.c'."""
    return path.removeprefix('vyos-1x-leon/').removeprefix('dataplane/')


def check_floor(path, layer, name):
    if layer not in floors.FLOORS or name in floors.CONTRACTS:
        return None
    below = f'{tree.DATAPLANE}/{layer}/'
    why = floors.problem(layer, os.path.splitext(path.removeprefix(below))[0],
                         os.path.splitext(name.removeprefix(f'{layer}/'))[0])
    return why and f'{path}: includes "{name}"; {why}'


def check_own_include(path, layer, name):
    target = name.split('/')[0] if '/' in name else layer
    if layer in PROGRAMS and os.path.exists(os.path.join(tree.TOP, 'vyos-1x-leon', layer, name)):
        return None
    if target == layer:
        return check_floor(path, layer, name)
    if target not in BELOW:
        return f'{path}: includes "{name}", which is in no layer'
    if target not in BELOW[layer]:
        return f'{path}: {layer} must not include "{name}"'
    return None


def check_system_include(path, layer, name):
    for prefix, owner in OWNERS.items():
        if name.startswith(prefix) and not own_name(path).startswith(owner):
            return f'{path}: <{name}> belongs to {owner}'
    if name in ('uthash.h', 'utlist.h', 'utarray.h', 'utstring.h') and path.endswith('.h'):
        return f'{path}: <{name}> is for .c files only'
    if layer in PURE and IMPURE_HEADER.match(name):
        return f'{path}: {layer} does no I/O and reads no clock, but includes <{name}>'
    return None


def check_text(path):
    text = tree.read(path)
    layer = layer_of(path)
    problems = []
    for kind, name in INCLUDE.findall(text):
        check = check_own_include if kind == '"' else check_system_include
        problems.append(check(path, layer, name))
    if layer in floors.FLOORS:
        name = os.path.splitext(path.removeprefix(f'{tree.DATAPLANE}/{layer}/'))[0]
        problems += [f'{path}: touches {member}, which is another module\'s (floors.py)'
                     for member in floors.trespasses(layer, name, COMMENT.sub('', text))]
    if layer in PURE:
        for call in IMPURE_CALL.findall(COMMENT.sub('', text)):
            problems.append(f'{path}: {layer} does no I/O and reads no clock, but calls {call}()')
    return [p for p in problems if p]


def compile_alone(header):
    run = subprocess.run(
        ['cc', '-std=gnu11', '-D_GNU_SOURCE', '-Wall', '-Wextra', '-Werror', '-fsyntax-only',
         '-I', tree.DATAPLANE, '-I', '/'.join(header.split('/')[:2]), '-x', 'c', '-'],
        # Through a file of one line, because #pragma once in a main file is a warning.
        input=f'#include "{os.path.join(tree.TOP, header)}"\n', cwd=tree.TOP, text=True,
        stderr=subprocess.PIPE, check=False)
    if run.returncode == 0:
        return None
    return f'{header}: does not compile alone\n{run.stderr.strip()}'


def main():
    paths = tree.files('.c', '.h', under=tree.DATAPLANE)
    for program in PROGRAMS:
        paths += tree.files('.c', '.h', under=f'vyos-1x-leon/{program}')
    problems = [problem for path in paths for problem in check_text(path)]
    headers = [p for p in paths if p.endswith('.h')]
    with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
        problems += [p for p in pool.map(compile_alone, headers) if p]
    return tree.report(problems)


if __name__ == '__main__':
    sys.exit(main())
