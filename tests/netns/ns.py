# SPDX-License-Identifier: GPL-2.0-or-later
"""Network namespaces without names: each is held by a file descriptor of this process and is gone
when the process is, however it ends. enter_lab() comes first: it moves the whole process into
private network and mount namespaces (and a user namespace where it is not root), so that nothing
done here can reach the host.

A Namespace is a context manager: inside `with namespace:` this thread is in it, so that sockets
opened, programs started and /proc/sys/net files written belong to it.
"""
import collections
import ctypes
import os
import signal
import stat
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

_libc = ctypes.CDLL(None, use_errno=True)
# ip and nft live where the PATH of an ordinary user does not lead.
os.environ['PATH'] = os.environ.get('PATH', '/usr/bin:/bin') + ':/usr/sbin:/sbin'
_inside = False
host_uid = os.getuid()  # inside a user namespace getuid() says 0
host_namespaces = {kind: os.stat(f'/proc/self/ns/{kind}').st_ino for kind in ('net', 'mnt')}


def _call(name, *args):
    if getattr(_libc, name)(*args) != 0:
        number = ctypes.get_errno()
        raise OSError(number, f'{name}: {os.strerror(number)}')


def mount(source, target, kind, flags):
    _call('mount', source.encode(), target.encode(), kind and kind.encode(), flags, None)


def enter_lab():
    """Leaves the host's network for good. Only before any thread is started; twice does no harm."""
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
    """From here on, what this process mounts is seen by nobody else and ends with it."""
    _call('unshare', CLONE_NEWNS)
    mount('none', '/', None, MS_REC | MS_PRIVATE)


def open_tun_for_all():
    """/dev/net/tun as Debian's udev makes it, inside the lab only: a machine without udev may have
    one for root alone. For root: others cannot make a device."""
    path = '/dev/net/tun'
    seen = os.stat(path)
    if seen.st_mode & 0o006 == 0o006:
        return
    with tempfile.TemporaryDirectory(prefix='leon-dev-') as directory:
        # The directory for temporary files may be one where devices do not work.
        mount('dev', directory, 'tmpfs', 0)
        node = os.path.join(directory, 'tun')
        os.mknod(node, stat.S_IFCHR, seen.st_rdev)
        os.chmod(node, 0o666)
        mount(node, path, None, MS_BIND)
        _call('umount2', directory.encode(), MNT_DETACH)


def _die_with_parent():
    _call('prctl', PR_SET_PDEATHSIG, signal.SIGKILL, 0, 0, 0)


class Namespace:
    """One network namespace with its loopback up."""

    def __init__(self, name):
        self.name = name
        # Keeps the new namespace alive until there is a descriptor of it.
        keeper = subprocess.Popen(['unshare', '--net', 'sh', '-c', 'echo ready; exec cat'],
                                  stdin=subprocess.PIPE, stdout=subprocess.PIPE)
        with keeper:
            if keeper.stdout.readline() != b'ready\n':
                raise OSError(f'cannot make a network namespace for {name}')
            self.fd = os.open(f'/proc/{keeper.pid}/ns/net', os.O_RDONLY | os.O_CLOEXEC)
            keeper.stdin.close()
        self._adopt()
        with self:
            for where in ('all', 'default'):
                self.sysctl(f'ipv6/conf/{where}/accept_ra', 0)
                self.sysctl(f'ipv6/conf/{where}/accept_dad', 0)
                self.sysctl(f'ipv6/conf/{where}/router_solicitations', 0)
        self.run('ip', 'link', 'set', 'lo', 'up')

    def _adopt(self):
        self._outer = collections.defaultdict(list)  # by thread: each has a namespace of its own
        self.processes = []

    @property
    def path(self):
        """A path that other processes can open as long as this one lives."""
        return f'/proc/{os.getpid()}/fd/{self.fd}'

    def enter_command(self):
        """A command line for a shell or a program in this namespace."""
        if host_uid != 0:
            return f'nsenter -U --preserve-credentials -t {os.getpid()} --net={self.path}'
        return f'nsenter --net={self.path}'

    def __enter__(self):
        self._outer[threading.get_ident()].append(os.open('/proc/thread-self/ns/net', os.O_RDONLY | os.O_CLOEXEC))
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
        """Runs a command to its end; the result has its text output."""
        command = [str(word) for word in command]
        with self:
            result = subprocess.run(command, capture_output=True, text=True, timeout=timeout,
                                    check=False, **kwargs)
        if check and result.returncode != 0:
            raise RuntimeError(f'{self.name}: {" ".join(command)}: status {result.returncode}\n'
                               f'{result.stdout}{result.stderr}')
        return result

    def start(self, *command, **kwargs):
        """Starts a process that close() ends, and that dies with this process."""
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
        """Many `ip` commands in one process."""
        self.run('ip', '-force', '-batch', '-', input='\n'.join(lines) + '\n')

    def bind_over(self, source, target):
        """For `prepare` of start(): the process sees `source` at `target`, nobody else does."""
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


def connect(a, name_a, b, name_b):
    """A veth pair, one end in each namespace, both up."""
    a.run('ip', 'link', 'add', name_a, 'type', 'veth', 'peer', 'name', name_b, 'netns', b.path)
    a.run('ip', 'link', 'set', name_a, 'up')
    b.run('ip', 'link', 'set', name_b, 'up')
