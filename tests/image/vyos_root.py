#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""Makes a root that simulates VyOS: a small Debian 12, the base of VyOS, with the kernel of Debian
and the simulated packages of tests/packaging.

Usage: vyos_root.py ROOT.tar.xz; `make check-image-vyos` is the caller.
"""
import subprocess
import sys
import tempfile
from pathlib import Path

TOP = Path(__file__).resolve().parents[2]
sys.path[:0] = [str(TOP / 'packaging/image'), str(TOP / 'tests/packaging')]

import roots  # noqa: E402
import stand_ins  # noqa: E402

# Dependencies of leond and vyos-1x-leon, and packages of a bootable machine.
PACKAGES = ('systemd-sysv', 'udev', 'linux-image-cloud-amd64', 'initramfs-tools', 'apt', 'iproute2',
            'python3', 'libjson-c5', 'libmnl0', 'libssl3', 'libsystemd0', 'libzstd1')
# Reports the state on the serial port, the only output of the machine. The unit runs before the
# login prompt, which would cut off the output.
UNIT = '''[Unit]
Before=serial-getty@ttyS0.service
[Service]
Type=oneshot
ExecStart=sh -c 'leond --version; dpkg -l leond vyos-1x-leon | grep "^ii"; findmnt -no SOURCE,FSTYPE /; \
echo seen-from-inside'
StandardOutput=tty
TTYPath=/dev/ttyS0
[Install]
WantedBy=multi-user.target
'''
# On a busy host an emulated machine found the serial port after 90 s and had no login prompt.
PATIENCE = '''[Manager]
DefaultTimeoutStartSec=15min
DefaultDeviceTimeoutSec=15min
'''


def main():
    packed = Path(sys.argv[1]).resolve()
    packed.parent.mkdir(parents=True, exist_ok=True)
    tar = packed.with_suffix('')
    with tempfile.TemporaryDirectory() as folder:
        out = Path(folder)
        unit, patience = out / 'inside.service', out / 'patience.conf'
        unit.write_text(UNIT)
        patience.write_text(PATIENCE)
        ours = roots.packed(out / 'ours.tar', 0, {
            **{f'debs/{path.name}': path for path in (stand_ins.make_vyos_1x(out),
                                                      stand_ins.make_vyos_utils(out))},
            'etc/systemd/system/inside.service': unit,
            'etc/systemd/system.conf.d/patience.conf': patience})
        roots.Mirror(packed.parent / 'debs', suite='bookworm').root(
            tar, 'amd64', PACKAGES, 0, *roots.LEAVE_OUT, f'--customize-hook=tar-in {ours} /',
            '--customize-hook=chroot "$1" sh -c "dpkg --install /debs/*.deb && rm -r /debs && '
            'systemctl enable inside.service && echo vyos >/etc/hostname"')
    subprocess.run(['xz', '-f', '-0', '--threads=2', tar], check=True)


if __name__ == '__main__':
    main()
