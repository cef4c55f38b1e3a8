# SPDX-License-Identifier: GPL-2.0-or-later
"""Some threads of a process stand still while the others run, as on a machine that is short of
CPUs. SIGSTOP stops all of them; a debugger's means stop one."""
import contextlib
import ctypes
import os

SEIZE, INTERRUPT, DETACH = 0x4206, 0x4207, 17
WALL = 0x40000000   # of wait4(): threads, too

libc = ctypes.CDLL(None, use_errno=True)
libc.ptrace.argtypes = (ctypes.c_long, ctypes.c_long, ctypes.c_void_p, ctypes.c_void_p)
libc.ptrace.restype = ctypes.c_long


def trace(request, thread):
    if libc.ptrace(request, thread, None, None) < 0:
        raise OSError(ctypes.get_errno(), f'ptrace {request:#x}')


def threads(pid, name):
    """Those whose name begins so."""
    found = []
    for thread in os.listdir(f'/proc/{pid}/task'):
        with open(f'/proc/{pid}/task/{thread}/comm', encoding='ascii') as f:
            if f.read().startswith(name):
                found.append(int(thread))
    return found


@contextlib.contextmanager
def held(pid, name):
    """Threads of that name are stopped inside the block."""
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
