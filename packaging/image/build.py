#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""Builds the cloud image: Debian 13 with LEON, for BIOS and UEFI, as qcow2 and raw.

Usage: build.py [--out DIR] [--debs DIR] [--arch ARCH] [--mirror URL --security URL] [--pinned LIST]

    --out DIR       Output folder. Default: build/image.
    --debs DIR      Packages of `make deb`. Default: build/deb.
    --arch ARCH     amd64 or arm64. Default: the architecture of the host.
    --mirror URL    Mirror of Debian. A snapshot mirror gives the same packages years later.
    --pinned LIST   .packages file of an earlier build. A different version fails the build.

Needs mmdebstrap and, if not run as root, uidmap. The same packages give the same bytes: times come
from debian/changelog (or SOURCE_DATE_EPOCH), numbers from version.sh. leon-VERSION-ARCH.packages
lists all packages of the image with their versions.
"""
import argparse
import os
import shlex
import subprocess
import tarfile
import time
from pathlib import Path

import disk
import roots

HERE = Path(__file__).resolve().parent
TOP = HERE.parents[1]
SIZE_MIB = 2048
LIMIT = 250 << 20
PACKAGES = ('leond', 'leon-accel', 'leon-cloud')


def parse():
    parser = argparse.ArgumentParser(usage=__doc__)
    parser.add_argument('--out', type=Path, default=TOP / 'build/image')
    parser.add_argument('--debs', type=Path, default=TOP / 'build/deb')
    parser.add_argument('--arch', choices=list(disk.EFI), default=own_architecture())
    parser.add_argument('--mirror', default=roots.MIRROR)
    parser.add_argument('--security', default=roots.SECURITY)
    parser.add_argument('--pinned', type=Path)
    return parser.parse_args()


def said(*command):
    return subprocess.run(command, check=True, capture_output=True, text=True).stdout.strip()


def own_architecture():
    return said('dpkg', '--print-architecture')


def changelog(field):
    return said('dpkg-parsechangelog', '-l', str(TOP / 'packaging/debian/changelog'), '-S', field)


def tree_version():
    return said(str(TOP / 'packaging/version.sh'))


def own_package(folder, name, version, arch):
    """The .deb file of this version."""
    candidates = [folder / f'{name}_{version}_{kind}.deb' for kind in (arch, 'all')]
    present = [path for path in candidates if path.exists()]
    if not present:
        raise SystemExit(f'{candidates[0]} is not there: run "make deb" first')
    return present[0].resolve()


def own_packages(folder, version, arch):
    """Packages for the image."""
    return [own_package(folder, name, version, arch) for name in PACKAGES]


def installed(root_tar):
    """Returns sorted lines 'package version architecture' from dpkg in the root."""
    lines = []
    with tarfile.open(root_tar) as archive:
        text = archive.extractfile('./var/lib/dpkg/status').read().decode()
    for block in text.split('\n\n'):
        fields = dict(line.split(': ', 1) for line in block.splitlines()
                      if ': ' in line and not line.startswith(' '))
        if fields:
            lines.append(f'{fields["Package"]} {fields["Version"]} {fields["Architecture"]}')
    return sorted(lines)


def compare(pinned, lines):
    wanted = set(pinned.read_text().splitlines())
    other = sorted(wanted.symmetric_difference(lines))
    if other:
        raise SystemExit('\n'.join([*other, f'these are not as in {pinned}: name the mirror of that '
                                    'day with --mirror and --security']))


class Build:
    def __init__(self, options):
        self.options = options
        self.version = tree_version()
        self.name = f'leon-{self.version}-{options.arch}'
        self.epoch = int(os.environ.get('SOURCE_DATE_EPOCH') or changelog('Timestamp'))
        self.ids = disk.Ids.of(self.name)
        self.out = options.out.resolve()
        self.out.mkdir(parents=True, exist_ok=True)
        self.begin = time.monotonic()

    def step(self, text):
        print(f'{time.monotonic() - self.begin:5.0f} s  {text}', flush=True)

    def root(self, mirror):
        debs = own_packages(self.options.debs, self.version, self.options.arch)
        tar = self.out / f'{self.name}.root.tar'
        ours = roots.packed(self.out / f'{self.name}.ours.tar', self.epoch, {
            **{str(path.relative_to(HERE / 'root')): path
               for path in (HERE / 'root').rglob('*') if path.is_file()},
            **{f'leon-build/{path.name}': path
               for path in (*debs, *(HERE / name for name in ('customize', 'patience', 'grub.cfg')))}})
        mirror.root(tar, self.options.arch, roots.words(HERE / 'packages', self.options.arch),
                    self.epoch, *roots.LEAVE_OUT, f'--customize-hook=tar-in {shlex.quote(str(ours))} /',
                    '--customize-hook=sh "$1/leon-build/customize" "$1"',
                    env={'ROOT_UUID': self.ids.root, 'ESP_UUID': self.ids.esp_uuid()})
        ours.unlink()
        return tar

    def run(self):
        mirror = roots.Mirror(self.out / 'debs', self.options.mirror, self.options.security)
        self.step('a root of tools')
        tools = roots.Tools(self.out, mirror, own_architecture(), self.epoch)
        self.step('Debian and LEON')
        tar = self.root(mirror)
        lines = installed(tar)
        (self.out / f'{self.name}.packages').write_text('\n'.join(lines) + '\n')
        if self.options.pinned:
            compare(self.options.pinned, lines)
        self.step(f'{len(lines)} packages; the disk')
        raw = disk.Disk(tools, self.ids, self.options.arch, SIZE_MIB).build(tar)
        tar.unlink()
        self.step('qcow2')
        tools.run('qemu-img', 'convert', '-f', 'raw', '-O', 'qcow2', '-m', '1', '-c', '-o',
                  'compression_type=zstd', '/image/disk.raw', '/image/disk.qcow2')
        made = []
        for suffix in ('raw', 'qcow2'):
            made.append(self.out / f'{self.name}.{suffix}')
            (tools.work / f'disk.{suffix}').replace(made[-1])
        size = made[1].stat().st_size
        self.step(f'{made[1]}: {size / (1 << 20):.0f} MiB; {raw.name} is {made[0]}')
        if size > LIMIT:
            raise SystemExit(f'that is more than {LIMIT >> 20} MiB')


if __name__ == '__main__':
    Build(parse()).run()
