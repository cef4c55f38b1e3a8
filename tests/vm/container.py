#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""Runs a command under a private systemd, in a container on the kernel of this machine.

Usage: container.py COMMAND [ARGUMENT...]. Ends with the exit status of the command and prints its
output. The container takes a minute, and `run.py --systemd` with Debian's kernel takes ten. The
root is the root of this machine below a tmpfs. Processes, mounts, networks and control groups are
private. Root only; needs a file system of control groups of version 2 and busybox-static. No udev:
/dev is a list. `make check-units` is the caller.
"""
import os
import shutil
import subprocess
import sys
import tempfile
import time

import run

LOG = 'log'
POLL_S = 0.2
# Services for a real machine, or with effects on this machine.
LEFT_OUT = ('systemd-sysctl.service', 'systemd-binfmt.service', 'systemd-modules-load.service',
            'systemd-udevd.service', 'systemd-udev-trigger.service', 'systemd-remount-fs.service',
            'kmod-static-nodes.service', 'proc-sys-fs-binfmt_misc.automount', 'dev-hugepages.mount',
            'sys-kernel-debug.mount', 'sys-kernel-tracing.mount')

ROOT = '''set -eu
mount -t tmpfs cover /mnt
mkdir /mnt/upper /mnt/work /mnt/root
root=/mnt/root
mount -t overlay -o lowerdir=/,upperdir=/mnt/upper,workdir=/mnt/work root $root
mount -t proc proc $root/proc
mount -t sysfs -o ro sys $root/sys
mount -t cgroup2 cgroup $root/sys/fs/cgroup
mount -t tmpfs -o mode=755 dev $root/dev
for node in null zero full random urandom tty; do cp -a /dev/$node $root/dev/$node; done
mkdir -p $root/dev/net $root/dev/pts $root/dev/shm
# As in the rules of udev.
mknod -m 666 $root/dev/net/tun c 10 200
mount -t devpts -o newinstance,ptmxmode=666,mode=620 devpts $root/dev/pts
ln -s pts/ptmx $root/dev/ptmx
mount -t tmpfs shm $root/dev/shm
mount -t tmpfs -o mode=755 run $root/run
mkdir -p $root/run/lock $root/run/systemd/system $root/output $root/left
for unit in {left_out}; do ln -s /dev/null $root/run/systemd/system/$unit; done
mount --bind {output} $root/output
hostname guest
ip link set lo up
cd $root
pivot_root . left
cd /
umount -l /left
export container=leon
'''


def control_group():
    """A new control group below the group of the process."""
    with open('/proc/mounts', encoding='utf-8') as f:
        found = [line.split()[1] for line in f if line.split()[2] == 'cgroup2']
    if not found:
        sys.exit('container: no control groups of version 2 are mounted')
    with open('/proc/self/cgroup', encoding='utf-8') as f:
        own = next(line.strip()[3:] for line in f if line.startswith('0::'))
    return tempfile.mkdtemp(prefix='leon-units-', dir=found[0] + own)


def remove(group):
    """With the groups created by systemd."""
    for directory, _, _ in os.walk(group, topdown=False):
        os.rmdir(directory)


def follow(machine, path):
    """Prints new content of the file until the machine is off."""
    with open(path, encoding='utf-8', errors='replace') as f:
        is_off = False
        while not is_off:
            is_off = machine.poll() is not None
            print(f.read(), end='', flush=True)
            time.sleep(0 if is_off else POLL_S)


def boot(command, output):
    group = control_group()

    def enter():
        with open(f'{group}/cgroup.procs', 'w', encoding='ascii') as f:
            f.write('0')

    with open(f'{output}/.init', 'w', encoding='utf-8') as f:
        f.write(ROOT.format(left_out=' '.join(LEFT_OUT), output=output))
        f.write(run.script(command, {}))
        f.write(run.BY_SYSTEMD.format(output=f'append:/output/{LOG}'))
    with open(f'{output}/{LOG}', 'wb'):
        pass
    try:
        # The init process ends with a signal, because a halted machine has no exit status.
        with subprocess.Popen(
                ['unshare', '--mount', '--net', '--pid', '--ipc', '--uts', '--cgroup', '--fork', '--kill-child',
                 '--propagation', 'private', 'sh', f'{output}/.init'], stdin=subprocess.DEVNULL,
                preexec_fn=enter, start_new_session=True) as machine:
            follow(machine, f'{output}/{LOG}')
    finally:
        remove(group)
    return run.status_of(output)


def main():
    if len(sys.argv) < 2:
        sys.exit(__doc__)
    if not shutil.which('busybox'):
        sys.exit('container: busybox is missing, so the machine would not end: install busybox-static')
    with tempfile.TemporaryDirectory() as output:
        status = boot(sys.argv[1:], output)
    sys.exit('container: it ended before the command did' if status is None else status)


if __name__ == '__main__':
    main()
