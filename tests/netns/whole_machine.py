# SPDX-License-Identifier: GPL-2.0-or-later
"""A whole machine in a namespace of the lab: private /etc, /var/lib, /run and processes, a host
name, and the programs of the build. A small `systemctl` starts and stops leond like the unit.
Nothing of the host changes, and every process ends with the machine.
"""
import os
import subprocess
import tempfile

import pytest

from node import SANITIZERS, build_dir, tls_program, wait_for

# The unit leond@.service: ready if leond answers, gone if its socket is gone.
SYSTEMCTL = '''#!/bin/sh
verb=$1
unit=$3
name=${unit#leond@}
echo "$@" >>/run/systemctl.log
case $verb in
enable)
    [ -e /run/systemd/fails ] && exit 1
    touch /etc/systemd-enabled-$name
    setsid leond --config /etc/leon/$name.json >>/run/leond.log 2>&1 </dev/null &
    for i in $(seq 600); do leonctl -i $name show identity >/dev/null 2>&1 && exit 0; sleep .05; done
    tail -n 20 /run/leond.log >&2
    exit 1 ;;
disable)
    rm -f /etc/systemd-enabled-$name
    pkill -TERM -x leond
    for i in $(seq 600); do [ -e /run/leon/$name.sock ] || exit 0; sleep .05; done
    exit 1 ;;
esac
'''
SETUP = '''
set -e
hostname {name}
for directory in etc var/lib; do
    mkdir -p {top}/$directory {top}/$directory.work
    mount -t overlay -o lowerdir=/$directory,upperdir={top}/$directory,workdir={top}/$directory.work none /$directory
done
mount -t tmpfs none /run
mkdir -p /run/systemd/system
for directory in /etc/leon /var/lib/leon /run/leon; do mkdir -m 0750 $directory; chgrp 1 $directory; done
echo ready
exec cat
'''


class Machine:
    def __init__(self, name, namespace):
        self.name, self.namespace = name, namespace
        self.directory = tempfile.TemporaryDirectory(prefix='leon-machine-')
        top = self.directory.name
        self.bin = os.path.join(top, 'bin')
        # Upper directories of an overlay need a file system that is no overlay.
        ns_top = os.path.join(top, 'root')
        for path in (self.bin, ns_top):
            os.mkdir(path)
        for program in ('dataplane/leond', 'leonctl/leonctl'):
            os.symlink(os.path.join(build_dir(), 'vyos-1x-leon', program),
                       os.path.join(self.bin, os.path.basename(program)))
        with open(os.path.join(self.bin, 'systemctl'), 'w', encoding='utf-8') as f:
            os.fchmod(f.fileno(), 0o755)
            f.write(SYSTEMCTL)
        self.holder = namespace.start(
            'unshare', '--mount', '--uts', '--pid', '--fork', '--kill-child', '--mount-proc', 'sh', '-c',
            f'mount -t tmpfs none {ns_top}; ' + SETUP.format(name=name, top=ns_top),
            stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
        line = self.holder.stdout.readline()
        if line != b'ready\n':
            self.close()
            pytest.skip(f'no private root here: {line.decode().strip()}')
        with open(f'/proc/{self.holder.pid}/task/{self.holder.pid}/children', encoding='ascii') as f:
            self.pid = int(f.read())

    def run(self, command, check=True, **kwargs):
        """Runs a line of shell as root of the machine."""
        environment = {**os.environ, **SANITIZERS, 'LEON_TLS_PROGRAM': tls_program(),
                       'PATH': f'{self.bin}:{os.environ["PATH"]}'}
        kwargs.setdefault('stdin', subprocess.DEVNULL) if 'input' not in kwargs else None
        return self.namespace.run('nsenter', '--target', self.pid, '--mount', '--uts', '--pid', '--',
                                  'sh', '-c', command, check=check, env=environment, **kwargs)

    def text(self, command):
        return self.run(command).stdout

    def without_systemd(self):
        self.run('rmdir /run/systemd/system')
        return self

    def pings(self, address):
        return self.run(f'ping -c 1 -W 1 {address}', check=False).returncode == 0

    def wait_ping(self, address):
        wait_for(lambda: self.pings(address), 30, f'{address} answers {self.name}')

    def reboot(self):
        """Kills all processes and starts the enabled units, as a reset of the machine does. Files
        of /run are gone."""
        # A process is a zombie before its last thread has ended and closed the device.
        self.run('pids=$(pgrep -x leond); pkill -KILL -x leond; for pid in $pids; do '
                 'while grep -hs ^State: /proc/$pid/task/*/status | grep -qv "[XZ] ("; do sleep .05; done; '
                 'done; rm -rf /run/leon/*', check=False)
        for name in self.text('ls /etc').split():
            if name.startswith('systemd-enabled-'):
                self.run(f'systemctl enable --now leond@{name.removeprefix("systemd-enabled-")}')

    def close(self):
        self.holder.stdin.close()
        try:
            self.holder.wait(20)
        except subprocess.TimeoutExpired:
            self.holder.kill()
        self.holder.wait()
        self.directory.cleanup()
