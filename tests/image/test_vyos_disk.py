# SPDX-License-Identifier: GPL-2.0-or-later
"""`make image-vyos IMAGE_VYOS_ARGS='--rootfs ROOT'` turns a root into a disk for BIOS and UEFI,
with our packages. The root of vyos_root.py simulates VyOS. Slow: the caller is `make
check-image-vyos`, which makes the disk first, because tests have no Internet access.
"""
import json
import re
import subprocess
import sys
import time
from pathlib import Path

import pytest
from machine import OVMF_OPEN, run, wait_for

TOP = Path(__file__).resolve().parents[2]
sys.path[:0] = [str(TOP / 'packaging/image'), str(TOP / 'tests/packaging')]

import build  # noqa: E402
import stand_ins  # noqa: E402


@pytest.fixture(scope='module')
def out(tmp_path_factory):
    return tmp_path_factory.mktemp('vyos')


@pytest.fixture(scope='module')
def disk():
    found = sorted((TOP / 'build/image-vyos').glob('vyos-leon-*-amd64.raw'))
    assert found, 'no disk: make check-image-vyos makes it'
    return found[-1]


def test_what_is_on_the_disk(disk, out):
    parts = json.loads(run('sfdisk', '--json', disk).stdout)['partitiontable']
    assert parts['label'] == 'gpt'
    assert [part['name'] for part in parts['partitions']] == ['root', 'bios', 'esp']
    first = parts['partitions'][0]
    root = out / 'root.ext4'
    run('dd', f'if={disk}', f'of={root}', 'bs=1M', f'skip={first["start"] // 2048}',
        f'count={first["size"] // 2048}', 'conv=sparse')
    run('e2fsck', '-fn', root)

    def read(name):
        return run('debugfs', '-R', f'cat {name}', root).stdout

    status = {block.split('\n')[0]: block for block in read('/var/lib/dpkg/status').split('\n\n')}
    for name in ('leond', 'vyos-1x-leon', 'vyos-1x'):
        assert 'Status: install ok installed' in status[f'Package: {name}'], name
    assert 'interfaces_leon.xml' in read(f'{stand_ins.XML_REF}/cache.py')
    assert read('/etc/machine-id') == '' and read('/etc/hostname') == 'vyos\n'
    assert 'deb.debian.org' in read('/etc/apt/sources.list')
    assert 'leon-build' not in run('debugfs', '-R', 'ls -p /', root).stdout


@pytest.mark.parametrize('firmware', ['BIOS', 'UEFI'])
def test_it_boots(disk, out, firmware):
    serial, layer = out / f'{firmware}.console', out / f'{firmware}.qcow2'
    run('qemu-img', 'create', '-q', '-f', 'qcow2', '-F', 'raw', '-b', disk, layer)
    command = ['qemu-system-x86_64', '-machine', 'q35', '-accel', 'tcg,tb-size=256', '-cpu', 'max',
               '-m', '512', '-nographic', '-nodefaults', '-monitor', 'none', '-serial', f'file:{serial}',
               '-drive', f'if=virtio,file={layer},format=qcow2,cache=unsafe', '-no-reboot']
    if firmware == 'UEFI':
        command += ['-drive', f'if=pflash,unit=0,format=raw,readonly=on,file={OVMF_OPEN}']
    begin = time.monotonic()
    machine = subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL)

    def console():
        assert machine.poll() is None, 'the machine has ended'
        return serial.read_text(errors='replace').replace('\r', '') if serial.exists() else ''
    try:
        wait_for(lambda: 'seen-from-inside\n' in console() and 'login: ' in console(),
                 f'{firmware}: a login prompt')
        said = console()
    finally:
        machine.kill()
        machine.wait()
        print(serial.read_text(errors='replace')[-1500:])
    print(f'{firmware}: {time.monotonic() - begin:.0f} s')
    version = build.tree_version()
    assert f'leond {version}\n' in said and '\n/dev/vda1 ext4\n' in said
    for name in ('leond', 'vyos-1x-leon'):
        assert re.search(rf'^ii +{name} +{re.escape(version)} ', said, re.M), name
    assert ('EFI v2' in said or 'efi: EFI' in said) is (firmware == 'UEFI')
