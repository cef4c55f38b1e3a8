# SPDX-License-Identifier: GPL-2.0-or-later
"""Stops some threads of a process while others run, as on a machine with too few CPUs. SIGSTOP
stops the whole process; ptrace stops a single thread."""
import contextlib
import ctypes
import os

SEIZE, INTERRUPT, DETACH = 0x4206, 0x4207, 17
WALL = 0x40000000   # of wait4(): include threads

libc = ctypes.CDLL(None, use_errno=True)
libc.ptrace.argtypes = (ctypes.c_long, ctypes.c_long, ctypes.c_void_p, ctypes.c_void_p)
libc.ptrace.restype = ctypes.c_long


def trace(request, thread):
    if libc.ptrace(request, thread, None, None) < 0:
        raise OSError(ctypes.get_errno(), f'ptrace {request:#x}')


def threads(pid, name):
    """Threads with a name of this prefix."""
    found = []
    for thread in os.listdir(f'/proc/{pid}/task'):
        with open(f'/proc/{pid}/task/{thread}/comm', encoding='ascii') as f:
            if f.read().startswith(name):
                found.append(int(thread))
    return found


@contextlib.contextmanager
def held(pid, name):
    """Stops the threads of this name inside the block."""
    found = threads(pid, name)
    assert found, name
    for thread in found:
        trace(SEIZE, thread)
        trace(INTERRUPT, thread)
        os.waitpid(thread, WALL)
    try:
        yield
    finally:
        for thread in found:
            trace(DETACH, thread)
