# SPDX-License-Identifier: GPL-2.0-or-later
"""Network namespaces without names. A file descriptor of the test process holds each namespace, so
every namespace ends with the process. enter_lab() moves the whole process into private network and
mount namespaces first, and into a user namespace without root. Tests therefore cannot change the
host.

A Namespace is a context manager. Inside `with namespace:` the thread is in the namespace, so new
sockets, programs and writes below /proc/sys/net belong to the namespace.
"""
import collections
import ctypes
import fcntl
import os
import signal
import socket
import stat
import struct
import subprocess
import tempfile
import threading

CLONE_NEWNS = 0x00020000
CLONE_NEWUSER = 0x10000000
CLONE_NEWNET = 0x40000000
MS_REC = 16384
MS_PRIVATE = 1 << 18
MS_BIND = 4096
MNT_DETACH = 2
PR_SET_PDEATHSIG = 1
SIOCSIFFLAGS = 0x8914
IFF_UP = 1

_libc = ctypes.CDLL(None, use_errno=True)
# ip and nft are outside the PATH of an ordinary user.
os.environ['PATH'] = os.environ.get('PATH', '/usr/bin:/bin') + ':/usr/sbin:/sbin'
_inside = False
host_uid = os.getuid()  # inside a user namespace getuid() returns 0
host_namespaces = {kind: os.stat(f'/proc/self/ns/{kind}').st_ino for kind in ('net', 'mnt')}


def _call(name, *args):
    if getattr(_libc, name)(*args) != 0:
        number = ctypes.get_errno()
        raise OSError(number, f'{name}: {os.strerror(number)}')


def mount(source, target, kind, flags):
    _call('mount', source.encode(), target.encode(), kind and kind.encode(), flags, None)


def enter_lab():
    """Leaves the network of the host for good. Only before the start of any thread; a second call
    has no effect."""
    global _inside
    if _inside:
        return
    uid, gid = host_uid, os.getgid()
    flags = CLONE_NEWNS | CLONE_NEWNET
    if uid != 0:
        flags |= CLONE_NEWUSER
    _call('unshare', flags)
    if uid != 0:
        for path, text in (('setgroups', 'deny'), ('uid_map', f'0 {uid} 1'),
                           ('gid_map', f'0 {gid} 1')):
            with open(f'/proc/self/{path}', 'w', encoding='ascii') as f:
                f.write(text)
    mount('none', '/', None, MS_REC | MS_PRIVATE)
    subprocess.run(['ip', 'link', 'set', 'lo', 'up'], check=True)
    _inside = True


def own_mounts():
    """Makes later mounts of the process private. The mounts end with the process."""
    _call('unshare', CLONE_NEWNS)
    mount('none', '/', None, MS_REC | MS_PRIVATE)


def open_tun_for_all():
    """Gives every user access to /dev/net/tun inside the lab, as udev of Debian does. A machine
    without udev may restrict the device to root. Only root can create a device."""
    path = '/dev/net/tun'
    seen = os.stat(path)
    if seen.st_mode & 0o006 == 0o006:
        return
    with tempfile.TemporaryDirectory(prefix='leon-dev-') as directory:
        # The directory for temporary files may be on a file system without devices.
        mount('dev', directory, 'tmpfs', 0)
        node = os.path.join(directory, 'tun')
        os.mknod(node, stat.S_IFCHR, seen.st_rdev)
        os.chmod(node, 0o666)
        mount(node, path, None, MS_BIND)
        _call('umount2', directory.encode(), MNT_DETACH)


def _own_namespace():
    """A descriptor of the network namespace of the thread."""
    return os.open('/proc/thread-self/ns/net', os.O_RDONLY | os.O_CLOEXEC)


def _die_with_parent():
    _call('prctl', PR_SET_PDEATHSIG, signal.SIGKILL, 0, 0, 0)


class Namespace:
    """A network namespace with its loopback interface up."""

    def __init__(self, name):
        self.name = name
        # Without a child process, as the tests make thousands of namespaces.
        outer = _own_namespace()
        try:
            _call('unshare', CLONE_NEWNET)
            self.fd = _own_namespace()
            _call('setns', outer, CLONE_NEWNET)
        finally:
            os.close(outer)
        self._adopt()
        with self:
            for where in ('all', 'default'):
                self.sysctl(f'ipv6/conf/{where}/accept_ra', 0)
                self.sysctl(f'ipv6/conf/{where}/accept_dad', 0)
                self.sysctl(f'ipv6/conf/{where}/router_solicitations', 0)
            with socket.socket() as s:
                fcntl.ioctl(s, SIOCSIFFLAGS, struct.pack('16sh14x', b'lo', IFF_UP))

    def _adopt(self):
        # by thread, because each thread has a private namespace
        self._outer = collections.defaultdict(list)
        self.processes = []

    @property
    def path(self):
        """A path for other processes, valid during the life of the Namespace."""
        return f'/proc/{os.getpid()}/fd/{self.fd}'

    def enter_command(self):
        """A command line that enters the namespace."""
        if host_uid != 0:
            return f'nsenter -U --preserve-credentials -t {os.getpid()} --net={self.path}'
        return f'nsenter --net={self.path}'

    def __enter__(self):
        self._outer[threading.get_ident()].append(_own_namespace())
        _call('setns', self.fd, CLONE_NEWNET)
        return self

    def __exit__(self, *_):
        fd = self._outer[threading.get_ident()].pop()
        try:
            _call('setns', fd, CLONE_NEWNET)
        finally:
            os.close(fd)

    def sysctl(self, key, value):
        with self, open(f'/proc/sys/net/{key}', 'w', encoding='ascii') as f:
            f.write(str(value))

    def run(self, *command, check=True, timeout=60, **kwargs):
        """Runs a command to the end. The result has the text output."""
        command = [str(word) for word in command]
        with self:
            result = subprocess.run(command, capture_output=True, text=True, timeout=timeout,
                                    check=False, **kwargs)
        if check and result.returncode != 0:
            raise RuntimeError(f'{self.name}: {" ".join(command)}: status {result.returncode}\n'
                               f'{result.stdout}{result.stderr}')
        return result

    def start(self, *command, **kwargs):
        """Starts a process. close() ends the process, and so does the end of the test process."""
        prepare = kwargs.pop('prepare', None)

        command = [str(word) for word in command]

        def in_child():
            _die_with_parent()
            if prepare:
                prepare()
        with self:
            process = subprocess.Popen(command, preexec_fn=in_child, **kwargs)
        self.processes.append(process)
        return process

    def ip(self, *lines):
        """Many `ip` commands in a single process."""
        self.run('ip', '-force', '-batch', '-', input='\n'.join(lines) + '\n')

    def bind_over(self, source, target):
        """For `prepare` of start(): mounts `source` over `target` for the process only."""
        def prepare():
            own_mounts()
            mount(source, target, None, MS_BIND)
        return prepare

    def close(self):
        for process in self.processes:
            if process.poll() is None:
                process.kill()
            process.wait()
            for stream in (process.stdin, process.stdout, process.stderr):
                if stream:
                    stream.close()
        self.processes.clear()
        if self.fd >= 0:
            os.close(self.fd)
            self.fd = -1


def kernel_count(namespace, name):
    """A counter of the kernel's TCP, of /proc/net/snmp or netstat."""
    with namespace:
        text = open('/proc/thread-self/net/snmp').read() + open('/proc/thread-self/net/netstat').read()
    lines = [line.split() for line in text.splitlines()]
    for names, values in zip(lines[::2], lines[1::2]):
        if name in names:
            return int(values[names.index(name)])
    raise KeyError(name)


def connect(a, name_a, b, name_b):
    """A veth pair between two namespaces, both ends up."""
    a.run('ip', 'link', 'add', name_a, 'type', 'veth', 'peer', 'name', name_b, 'netns', b.path)
    a.run('ip', 'link', 'set', name_a, 'up')
    b.run('ip', 'link', 'set', name_b, 'up')
