# SPDX-License-Identifier: GPL-2.0-or-later
"""The packages under test, and temporary Debian roots for installations.

LEON_DEB names the .deb of leond, with vyos-1x-leon in the same folder. Without the variable, the
fixtures build both packages once. A root is the file system of the host, or another Debian root,
under an overlay in tmpfs, in private mount, network and pid namespaces. dpkg, the database and all
dependencies are therefore real, and nothing in the root reaches the host. The first process of the
pid namespace is a `sleep` of the fixture. The end of the process removes the mounts.

A frozen root runs no programs. Further roots continue its state, and tests thus share one
installation.
"""
import contextlib
import fcntl
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from packages import TOP, build_packages
from stand_ins import (
    INTERFACE_EXISTS,
    ORIGINAL,
    VALIDATOR,
    make_package,
    make_vyos_1x,
    make_vyos_utils,
)

sys.path.append(str(TOP / 'tests'))

from spread import pytest_xdist_make_scheduler  # noqa: E402, F401

# These files start first, so the longest ones do not run alone at the end.
FIRST = ['test_ansible', 'test_lisp_deb', 'test_vyos_deb', 'test_vyos_boot']


def pytest_collection_modifyitems(items):
    items.sort(key=lambda item: FIRST.index(item.path.stem) if item.path.stem in FIRST else len(FIRST))


# Runs as the first process of the new namespaces. The /run of the root is empty, so maintainer
# scripts see no systemd, as in an image build.
SETUP = """
set -e
mount -t tmpfs -o mode=0755 leon-root {base}
mkdir {base}/upper {base}/work {base}/root
mount -t overlay leon-root -o lowerdir={layers},upperdir={base}/upper,workdir={base}/work {base}/root
mount -t proc proc {base}/root/proc
mount --rbind /dev {base}/root/dev
# As udev makes it; a container may have it for root only.
mount -t tmpfs tun {base}/root/dev/net
mknod -m 0666 {base}/root/dev/net/tun c 10 200
mount -t tmpfs -o mode=0755 run {base}/root/run
mount -t tmpfs -o mode=1777 tmp {base}/root/tmp
{more}
hostname {name}
echo ready
exec sleep infinity
"""


class Root:
    """A running Debian root; `run` executes a command inside. The root begins as the directory
    `lower`, or as the frozen root `below`."""

    def __init__(self, base: Path, lower: Path = Path('/'), name: str = 'root', below: 'Root | None' = None):
        self.base = base
        self.root = base / 'root'
        self.layers = f'{below.base}/upper:{below.layers}' if below else str(lower)
        more = f'cp -a {below.base}/kept/. {self.root}' if below else ''
        self.holder = subprocess.Popen(
            [*(below.enter_mounts if below else ()),
             'unshare', '--mount', '--net', '--pid', '--uts', '--fork', '--kill-child',
             'sh', '-c', SETUP.format(base=base, layers=self.layers, name=name, more=more)],
            stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
        )
        if self.holder.stdout.readline() != 'ready\n':
            self.close()
            pytest.skip('no overlay root on this machine: ' + self.holder.stderr.read().strip())
        children = Path(f'/proc/{self.holder.pid}/task/{self.holder.pid}/children')
        self.init = children.read_text().split()[0]
        self.enter = ['nsenter', f'--target={self.init}', '--mount', '--net', '--pid', '--uts', 'chroot',
                      self.root]
        self.enter_mounts = ['nsenter', f'--target={self.init}', '--mount']

    def freeze(self) -> None:
        """/run and /tmp are mounts, and thus no part of the upper layer."""
        subprocess.run(
            [*self.enter_mounts, 'sh', '-ec',
             f'mkdir {self.base}/kept; cp -a {self.root}/run {self.root}/tmp {self.base}/kept; umount -R {self.root}'],
            check=True, timeout=300,
        )

    def run(self, *command: str, check: bool = True) -> subprocess.CompletedProcess:
        done = subprocess.run(
            [*self.enter, *command], capture_output=True, text=True, timeout=300,
            env={'PATH': '/usr/local/sbin:/usr/sbin:/usr/bin:/sbin:/bin',
                 'DEBIAN_FRONTEND': 'noninteractive'},
        )
        if check and done.returncode != 0:
            pytest.fail(f'{command} exited with {done.returncode}\n{done.stdout}{done.stderr}')
        return done

    def start(self, *command: str) -> subprocess.Popen:
        """Starts a long-running program, which ends with the root at the latest."""
        return subprocess.Popen(
            [*self.enter, *command], stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )

    def put(self, file: Path, inside: str) -> None:
        """Copies a file of the host into the root."""
        with open(file, 'rb') as data:
            subprocess.run(
                [*self.enter, 'tee', inside], stdin=data, stdout=subprocess.DEVNULL,
                check=True, timeout=300,
            )

    def close(self) -> None:
        self.holder.kill()
        self.holder.wait(timeout=60)


@pytest.fixture(scope='session')
def built(tmp_path_factory) -> Path:
    """The directory with the packages."""
    given = os.environ.get('LEON_DEB')
    if given:
        return Path(given).resolve().parent
    if not shutil.which('dpkg-buildpackage'):
        pytest.skip('dpkg-buildpackage is not installed (Debian package dpkg-dev)')
    # The workers of a parallel run share one build.
    shared = tmp_path_factory.getbasetemp()
    if 'PYTEST_XDIST_WORKER' in os.environ:
        shared = shared.parent
    with open(shared / 'deb.lock', 'w', encoding='ascii') as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        out = shared / 'deb'
        if not out.exists():
            build_packages(shared / 'deb.new', timeout=1800)
            (shared / 'deb.new').rename(out)
    return out


@pytest.fixture(scope='session')
def deb(built) -> Path:
    """Path of the leond package."""
    given = os.environ.get('LEON_DEB')
    (package,) = [Path(given).resolve()] if given else built.glob('leond_*.deb')
    return package


@pytest.fixture(scope='session')
def accel_deb(built) -> Path:
    """Path of the leon-accel package."""
    (package,) = built.glob('leon-accel_*.deb')
    return package


@pytest.fixture(scope='session')
def vyos_deb(built) -> Path:
    """Path of the vyos-1x-leon package."""
    (package,) = built.glob('vyos-1x-leon_*.deb')
    return package


@pytest.fixture(scope='session')
def portmap_deb(built) -> Path:
    """Path of the leon-portmap package."""
    (package,) = built.glob('leon-portmap_*.deb')
    return package


@pytest.fixture(scope='session')
def sclp_deb(built) -> Path:
    """Path of the leon-sclp package."""
    (package,) = built.glob('leon-sclp_*.deb')
    return package


@pytest.fixture(scope='session')
def lisp_deb(built) -> Path:
    """Path of the vyos-1x-leon-lisp package."""
    (package,) = built.glob('vyos-1x-leon-lisp_*.deb')
    return package


@pytest.fixture(scope='session')
def unpacked(deb, tmp_path_factory) -> Path:
    """The package's files, unpacked without installing."""
    out = tmp_path_factory.mktemp('unpacked')
    subprocess.run(['dpkg-deb', '-x', deb, out], check=True, timeout=60)
    return out


@pytest.fixture(scope='session')
def units() -> str:
    """The directory of the units of packages in the release."""
    return subprocess.run(
        ['pkg-config', '--variable=systemdsystemunitdir', 'systemd'], check=True,
        capture_output=True, text=True, timeout=300,
    ).stdout.strip()


@contextlib.contextmanager
def running(base, below=None):
    """A Debian root for a test or for a frozen state."""
    if os.geteuid() != 0:
        pytest.skip('installing a package needs several user ids: run as root')
    r = Root(base, below=below)
    try:
        yield r
    finally:
        r.close()


def with_leond(root, deb):
    root.put(deb, '/tmp/leond.deb')
    # A container image may forbid service starts, and the index of man pages takes seconds.
    root.run('rm', '-f', '/usr/sbin/policy-rc.d', '/var/lib/man-db/auto-update')


@pytest.fixture
def root(deb, tmp_path):
    """A Debian root with the package's file at /tmp/leond.deb, not yet installed."""
    with running(tmp_path) as r:
        with_leond(r, deb)
        yield r


@pytest.fixture(scope='session')
def frozen_vyos(deb, vyos_deb, tmp_path_factory):
    """Both simulated packages and leond are installed, and there is the file of vyos-1x-leon."""
    folder = tmp_path_factory.mktemp('stand-ins')
    vyos_1x, utils = make_vyos_1x(folder), make_vyos_utils(folder)
    newer = make_package(
        folder, 'vyos-utils', {VALIDATOR: ORIGINAL.replace('original', 'newer')}, version='2')
    of_2026 = make_package(folder, 'vyos-2026', {INTERFACE_EXISTS: ORIGINAL})
    with running(tmp_path_factory.mktemp('vyos')) as r:
        with_leond(r, deb)
        for package in (vyos_1x, utils, newer):
            r.put(package, f'/tmp/{package.name}')
        r.put(of_2026, '/tmp/vyos-1x-2026.deb')
        r.put(vyos_deb, '/tmp/vyos-1x-leon.deb')
        r.run('dpkg', '--install', '/tmp/vyos-1x_1.deb', '/tmp/vyos-utils_1.deb', '/tmp/leond.deb')
        # The root is a copy of a machine without VyOS, so files of VyOS must be absent.
        assert r.run('test', '-e', '/opt/vyatta/config', check=False).returncode != 0
        r.freeze()
        yield r


@pytest.fixture
def vyos(frozen_vyos, tmp_path):
    """A root with both simulated packages, leond, and the file of our package, not yet installed.
    """
    with running(tmp_path, frozen_vyos) as r:
        yield r
