# SPDX-License-Identifier: GPL-2.0-or-later
"""The packages under test, and temporary Debian roots for installations.

LEON_DEB names the .deb of leond, with vyos-1x-leon in the same folder. Without the variable, the
fixtures build both packages once. A root is the file system of the host, or another Debian root,
under an overlay in tmpfs, in private mount, network and pid namespaces. dpkg, the database and all
dependencies are therefore real, and nothing in the root reaches the host. The first process of the
pid namespace is a `sleep` of the fixture. The end of the process removes the mounts.
"""
import fcntl
import os
import shutil
import subprocess
from pathlib import Path

import pytest

from packages import build_packages

# These files start first, so the longest ones do not run alone at the end.
FIRST = ['test_ansible', 'test_vyos_boot', 'test_lisp_deb', 'test_cloud_deb', 'test_portmap_deb', 'test_vyos_deb']


def pytest_collection_modifyitems(items):
    items.sort(key=lambda item: FIRST.index(item.path.stem) if item.path.stem in FIRST else len(FIRST))


# Runs as the first process of the new namespaces. The /run of the root is empty, so maintainer
# scripts see no systemd, as in an image build.
SETUP = """
set -e
mount -t tmpfs -o mode=0755 leon-root {base}
mkdir {base}/upper {base}/work {base}/root
mount -t overlay leon-root -o lowerdir={lower},upperdir={base}/upper,workdir={base}/work {base}/root
mount -t proc proc {base}/root/proc
mount --rbind /dev {base}/root/dev
# As udev makes it; a container may have it for root only.
mount -t tmpfs tun {base}/root/dev/net
mknod -m 0666 {base}/root/dev/net/tun c 10 200
mount -t tmpfs -o mode=0755 run {base}/root/run
mount -t tmpfs -o mode=1777 tmp {base}/root/tmp
hostname {name}
echo ready
exec sleep infinity
"""


class Root:
    """A running Debian root; `run` executes a command inside."""

    def __init__(self, base: Path, lower: Path = Path('/'), name: str = 'root'):
        self.base = base
        self.root = base / 'root'
        self.holder = subprocess.Popen(
            ['unshare', '--mount', '--net', '--pid', '--uts', '--fork', '--kill-child',
             'sh', '-c', SETUP.format(base=base, lower=lower, name=name)],
            stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
        )
        if self.holder.stdout.readline() != 'ready\n':
            self.close()
            pytest.skip('no overlay root on this machine: ' + self.holder.stderr.read().strip())
        children = Path(f'/proc/{self.holder.pid}/task/{self.holder.pid}/children')
        self.init = children.read_text().split()[0]
        self.enter = ['nsenter', f'--target={self.init}', '--mount', '--net', '--pid', '--uts', 'chroot',
                      self.root]

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


@pytest.fixture
def root(deb, tmp_path):
    """A Debian root with the package's file at /tmp/leond.deb, not yet installed."""
    if os.geteuid() != 0:
        pytest.skip('installing a package needs several user ids: run as root')
    r = Root(tmp_path)
    try:
        r.put(deb, '/tmp/leond.deb')
        # A container image may forbid service starts, and the index of man pages takes seconds.
        r.run('rm', '-f', '/usr/sbin/policy-rc.d', '/var/lib/man-db/auto-update')
        yield r
    finally:
        r.close()
