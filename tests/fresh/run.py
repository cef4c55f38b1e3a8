#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""The first steps of a new user on a fresh Debian: a clone, and the commands of the README.

Usage: run.py [--cache DIR] [--keep] [--busy N] [--only STEP]... [RELEASE...], default: releases 12
and 13. `make check-fresh` is the caller. Root only; needs debootstrap and git, no systemd.

For each release debootstrap makes a bare root. HEAD is cloned into /root, which has mode 0700 and
no other files. The steps run one after the other in private mount, network and process namespaces.
The first process of the namespaces reaps no orphans, as in a container without an init. The only
network is a proxy for apt. The steps:

    demo      make demo
    check     make check
    deb       make deb
    lintian   lintian on the packages of `make deb`.

Each step has a time limit (LIMIT_S). The program prints the name of the log file at the start of a
step, and the mean load of the machine at the end. With --busy, N endless loops run during the
steps. Processes and mounts end with the namespaces. The root is removed, except with --keep. The
cache (default: build/fresh) keeps the bare roots and the fetched packages, which saves minutes in
the next run. The last line is 'N passed, N failed', of steps.
"""
import argparse
import os
import shutil
import signal
import subprocess
import sys
import tempfile
import time

TOP = os.path.abspath(os.path.join(os.path.dirname(__file__), '../..'))
sys.path.insert(0, os.path.join(TOP, 'tests/netns'))

import ns  # noqa: E402
from proxy import PORT, Proxy  # noqa: E402

MIRROR = 'http://deb.debian.org/debian'
CODENAMES = {'12': 'bookworm', '13': 'trixie'}
# A bare root has no locale, no terminal and no user configuration.
ENVIRONMENT = {'PATH': '/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin',
               'HOME': '/root', 'TERM': 'dumb'}
STEPS = {
    'demo': 'make demo',
    'check': 'make check',
    'deb': 'make deb',
    'lintian': 'lintian --allow-root --fail-on error,warning build/deb/*.deb',
}
LIMIT_S = 5400
PREPARATION_S = 900
LOAD_S = 10  # between two looks at the load

SOURCES = '''deb {mirror} {codename} main
deb {mirror} {codename}-updates main
deb {mirror}-security {codename}-security main
'''

APT = f'''Acquire::http::Proxy "http://127.0.0.1:{PORT}";
Acquire::http::Pipeline-Depth "0";
'''

# The first commands of the README. Recommended packages would hide gaps of the lists in .ci.
PREPARE = '''set -e
apt-get update
apt-get install -y --no-install-recommends git make
cd /root
git clone -q /clone-me leon
rm /clone-me
'''

# The first process of the namespaces: the mounts of a container, then the command.
ENTER = '''set -e
cd {root}
mount --bind . .
cd {root}
mount -t proc proc proc
# Of the kernel's settings only those of the network are this namespace's own.
for part in fs kernel vm; do
    mount --bind proc/sys/$part proc/sys/$part
    mount -o remount,bind,ro proc/sys/$part
done
mount -t sysfs -o ro sys sys
mount -t tmpfs -o mode=0755 dev dev
mkdir dev/net dev/pts dev/shm
for node in null zero full random urandom tty net/tun; do
    mknod -m 0666 dev/$node c $(stat -c '0x%t 0x%T' /dev/$node)
done
chmod 0600 dev/net/tun
ln -s /proc/self/fd dev/fd
ln -s /proc/self/fd/0 dev/stdin
ln -s /proc/self/fd/1 dev/stdout
ln -s /proc/self/fd/2 dev/stderr
mount -t devpts -o newinstance,ptmxmode=0666 pts dev/pts
ln -s pts/ptmx dev/ptmx
for where in dev/shm tmp; do mount -t tmpfs -o mode=1777 tmpfs $where; done
mount -t tmpfs -o mode=0755 run run
mount --bind {debs} var/cache/apt/archives
pivot_root . .
umount -l .
cd /
mkfifo /run/status
# A shell starts background commands without SIGINT and SIGQUIT.
{{ code=0; env --default-signal=INT,QUIT sh -c {command} || code=$?; echo $code >/run/status; }} &
# This shell waits for no child, so orphans stay zombies.
read -r status </run/status
exit "$status"
'''


def quote(text):
    return "'" + text.replace("'", "'\\''") + "'"


def bootstrapped(release, cache):
    """Archive of a bare root; made once."""
    archive = os.path.join(cache, f'root-{release}.tar')
    if os.path.exists(archive):
        return archive
    debs = os.path.join(cache, 'bootstrap')
    os.makedirs(debs, exist_ok=True)
    codename = CODENAMES[release]
    with tempfile.TemporaryDirectory(dir=cache, prefix=f'bootstrap-{release}-') as root:
        os.chmod(root, 0o755)
        subprocess.run(['debootstrap', '--variant=minbase', f'--cache-dir={debs}', codename, root,
                        MIRROR], check=True, timeout=PREPARATION_S)
        subprocess.run(['tar', '-C', root, '-cf', f'{archive}.new', '.'], check=True)
    os.rename(f'{archive}.new', archive)
    return archive


class Root:
    """A bare Debian with the clone."""

    def __init__(self, release, cache):
        self.release = release
        self.debs = os.path.join(cache, f'debs-{release}')
        os.makedirs(os.path.join(self.debs, 'partial'), exist_ok=True)
        self.path = tempfile.mkdtemp(dir=cache, prefix=f'debian-{release}-')
        os.chmod(self.path, 0o755)
        subprocess.run(['tar', '-C', self.path, '-xf', bootstrapped(release, cache)], check=True)
        self.put('etc/apt/sources.list', SOURCES.format(mirror=MIRROR,
                                                        codename=CODENAMES[release]))
        self.put('etc/apt/apt.conf.d/proxy', APT)
        self.put('etc/hosts', '127.0.0.1 localhost\n::1 localhost\n')
        os.chmod(os.path.join(self.path, 'root'), 0o700)
        subprocess.run(['git', '-C', TOP, 'bundle', 'create', '-q',
                        os.path.join(self.path, 'clone-me'), 'HEAD'], check=True)
        self.namespace = ns.Namespace(f'debian-{release}')
        self.proxy = Proxy(self.namespace)

    def put(self, name, text):
        with open(os.path.join(self.path, name), 'w', encoding='utf-8') as f:
            f.write(text)

    def run(self, command, log, limit):
        """Exit status of a shell command in the root, or 124 after a timeout, and the mean load of
        the machine. Remaining children end with the command."""
        script = ENTER.format(root=self.path, debs=self.debs, command=quote(command))
        with open(log, 'wb') as out:
            process = self.namespace.start(
                'unshare', '--mount', '--pid', '--ipc', '--uts', '--fork', '--kill-child',
                'sh', '-c', script, env=ENVIRONMENT, stdin=subprocess.DEVNULL, stdout=out,
                stderr=subprocess.STDOUT, start_new_session=True)
            loads = [os.getloadavg()[0]]
            try:
                deadline = time.monotonic() + limit
                while time.monotonic() < deadline:
                    try:
                        return process.wait(LOAD_S), sum(loads) / len(loads)
                    except subprocess.TimeoutExpired:
                        loads.append(os.getloadavg()[0])
                return 124, sum(loads) / len(loads)
            finally:
                process.kill()
                process.wait()

    def close(self, keep):
        self.proxy.close()
        self.namespace.close()
        if keep:
            print(f'Debian {self.release}: kept in {self.path}')
        else:
            # A mount below the path would belong to a dead namespace.
            shutil.rmtree(self.path)


def summary(log):
    """The last line of `make check`, if the log has the line."""
    with open(log, encoding='utf-8', errors='replace') as f:
        last = f.read().rstrip().rpartition('\n')[2]
    return last if ' passed, ' in last else ''


def try_release(release, steps, cache, keep):
    """[(step, passed, sentence)] of a release."""
    results = []
    root = Root(release, cache)
    try:
        for step in ('clone', *steps):
            log = os.path.join(cache, f'{release}-{step}.log')
            command = PREPARE if step == 'clone' else f'cd /root/leon && {STEPS[step]}'
            print(f'Debian {release}, {step}: see {log}', flush=True)
            begin = time.monotonic()
            status, load = root.run(command, log, PREPARATION_S if step == 'clone' else LIMIT_S)
            took = time.monotonic() - begin
            text = f'{took:.0f} s' if status == 0 else f'exit status {status} after {took:.0f} s'
            results.append((step, status == 0,
                            ', '.join(filter(None, (text, f'load {load:.1f}', summary(log))))))
            print(f'Debian {release}, {step}: {results[-1][2]}', flush=True)
            if step == 'clone' and status != 0:
                break
    finally:
        root.close(keep)
    return results


def main():
    parser = argparse.ArgumentParser(usage=__doc__)
    parser.add_argument('--cache', default=os.path.join(TOP, 'build/fresh'))
    parser.add_argument('--keep', action='store_true')
    parser.add_argument('--busy', type=int, default=0)
    parser.add_argument('--only', action='append', choices=list(STEPS))
    parser.add_argument('releases', nargs='*')
    options = parser.parse_args()
    releases = options.releases or list(CODENAMES)
    for release in releases:
        if release not in CODENAMES:
            sys.exit(f'no release {release}: give one of {", ".join(CODENAMES)}, or none for all')
    if os.geteuid() != 0:
        sys.exit('making a root with debootstrap is for root: run it with sudo')
    # An interrupt removes the root, like a normal end.
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))
    cache = os.path.abspath(options.cache)
    os.makedirs(cache, exist_ok=True)
    busy = [subprocess.Popen(['sh', '-c', 'while :; do :; done']) for _ in range(options.busy)]
    results = []
    try:
        for release in releases:
            results += [(release, *result) for result in
                        try_release(release, options.only or list(STEPS), cache, options.keep)]
    finally:
        for process in busy:
            process.kill()
    print()
    for release, step, passed, sentence in results:
        print(f'Debian {release}  {step:8} {"ok    " if passed else "FAILED"} {sentence}')
    n_failed = sum(not passed for _, _, passed, _ in results)
    print(f'{len(results) - n_failed} passed, {n_failed} failed')
    return 1 if n_failed else 0


if __name__ == '__main__':
    sys.exit(main())
