#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""Runs vyos-build's own programs on our flavors and packages.

Usage: image_vyos.py [--out DIR] [--debs DIR] [--vyos-build SOURCE] [--vyos-1x SOURCE]
                     [--build FLAVOR] [--rootfs ROOT [--size MIB]]

    --out DIR            where all of it happens, build/image-vyos
    --debs DIR           the packages of `make deb`, build/deb
    --vyos-build SOURCE  directory or address to clone, VyOS's at GitHub
    --vyos-1x SOURCE     the same of vyos-1x, of which vyos-build takes modules
    --build FLAVOR       go on to an image (leon-iso, leon-qcow2, ...): needs VyOS's mirror of
                         packages, 20 GB and an hour
    --rootfs ROOT        makes a disk (raw, qcow2) of a root file system of VyOS, a directory or a
                         tar, with our packages, and does nothing else; see rootfs.py
    --size MIB           of that disk; without, what the files need and 1 GiB

Without --build it goes as far as nothing of VyOS has to be downloaded but these two repositories:
for each flavor build-vyos-image takes its configuration, makes that of live-build and stops there
(--dry-run); make-ova makes an appliance of a disk; and the last line says what was not run. All
runs as root of a root of Debian 12 of its own, which mmdebstrap makes. `make image-vyos` calls it.
"""
import argparse
import shutil
import subprocess
import sys
import tarfile
import tomllib
from pathlib import Path

HERE = Path(__file__).resolve().parent
TOP = HERE.parents[1]
sys.path.insert(0, str(TOP / 'packaging/image'))

import roots  # noqa: E402
import rootfs  # noqa: E402

SUITE = 'bookworm'
# What build-vyos-image asks for, and what its modules of vyos-1x import.
TOOLS = ('ca-certificates', 'devscripts', 'dosfstools', 'gdisk', 'git', 'kpartx', 'live-build', 'make',
         'pbuilder', 'python3-git', 'python3-jinja2', 'python3-netaddr', 'python3-psutil',
         'python3-pystache', 'python3-requests', 'python3-toml', 'python3-tomli', 'qemu-utils', 'sudo')
OUR_PACKAGES = ('leond', 'leon-accel', 'vyos-1x-leon')


def parse():
    parser = argparse.ArgumentParser(usage=__doc__)
    parser.add_argument('--out', type=Path, default=TOP / 'build/image-vyos')
    parser.add_argument('--debs', type=Path, default=TOP / 'build/deb')
    parser.add_argument('--vyos-build', default='https://github.com/vyos/vyos-build')
    parser.add_argument('--vyos-1x', default='https://github.com/vyos/vyos-1x')
    parser.add_argument('--build')
    parser.add_argument('--rootfs', type=Path)
    parser.add_argument('--size', type=int)
    return parser.parse_args()


def step(text):
    print(text, flush=True)


class Builder:
    """A root with vyos-build in /vyos, ready to be run."""

    def __init__(self, options):
        self.options = options
        self.out = options.out.resolve()
        self.out.mkdir(parents=True, exist_ok=True)
        mirror = roots.Mirror(self.out / 'debs', suite=SUITE)
        self.tools = roots.Tools(self.out, mirror, 'amd64', 0, TOOLS, devices=True)
        self.vyos = self.tools.work / 'vyos'
        self.flavors = sorted(path.stem for path in (HERE / 'flavors').glob('*.toml'))

    def clone(self, source, folder):
        """The branch `current`, whatever the branch of a local directory is."""
        if folder.exists():
            shutil.rmtree(folder)
        subprocess.run(['git', 'clone', '-q', source, folder], check=True)
        subprocess.run(['git', '-C', folder, 'checkout', '-q', '-B', 'current'], check=True)

    def prepare(self):
        self.clone(self.options.vyos_build, self.vyos)
        self.clone(self.options.vyos_1x, self.vyos / 'build/vyos-1x')
        for name in OUR_PACKAGES:
            found = sorted(self.options.debs.glob(f'{name}_*.deb'))
            if not found:
                raise SystemExit(f'{self.options.debs}/{name}_*.deb is not there: run "make deb" first')
            shutil.copy(found[-1], self.vyos / 'packages')
        shutil.copytree(HERE / 'flavors', self.vyos / 'flavors')
        shutil.copy2(HERE / 'make-ova', self.vyos)

    def run(self, *words):
        """build-vyos-image; all it says."""
        return self.tools.run(
            'sh', '-c', 'cd /image/vyos && git config --global --replace-all safe.directory "*" && '
            'export VYOS_BUILD_FLAVORS_DIR=/image/vyos/flavors && exec ./build-vyos-image "$@"', 'sh',
            '--architecture', 'amd64', '--build-by', 'leon@example.net', *words)

    def check(self, flavor):
        """Its configuration of live-build has what the flavor asks for."""
        said = self.run('--dry-run', flavor)
        if 'I: dry-run, not starting image build' not in said:
            raise SystemExit(f'{flavor}: {said}')
        wanted = tomllib.loads((HERE / f'flavors/{flavor}.toml').read_text())
        packages = (self.vyos / 'build/config/package-lists/custom.list.chroot').read_text().split()
        lacking = {*wanted['packages'], *wanted['architectures']['amd64']['packages']} - set(packages)
        if lacking:
            raise SystemExit(f'{flavor}: live-build is not told of {", ".join(sorted(lacking))}')
        step(f'{flavor}: configured by build-vyos-image, {len(packages)} packages beside VyOS')

    def appliance(self):
        """What the hook of leon-ova does, with a disk of another content."""
        disk = self.vyos / 'build/sample.raw'
        with open(disk, 'wb') as file:
            file.truncate(64 << 20)
            file.write(b'VyOS would be here')
        name = self.tools.run('sh', '-c', 'cd /image/vyos/build && exec ../make-ova sample.raw').split()[-1]
        with tarfile.open(self.vyos / 'build' / name) as archive:
            members = archive.getnames()
        if [Path(member).suffix for member in members] != ['.ovf', '.mf', '.vmdk']:
            raise SystemExit(f'{name} has {members}')
        step(f'make-ova: {name} of a disk by qemu-img')

    def build(self, flavor):
        print(self.run(flavor))
        step(f'what was made is named in {self.vyos}/build/manifest.json')


def main():
    options = parse()
    if options.rootfs:
        rootfs.RootDisk(options).run(step)
        return
    builder = Builder(options)
    builder.prepare()
    if options.build:
        builder.build(options.build)
        return
    for flavor in builder.flavors:
        builder.check(flavor)
    builder.appliance()
    step('not run: live-build itself (lb build), which downloads Debian and, from VyOS\'s mirror, VyOS; '
         'the disk made of the ISO (raw_image.py); booting either. --build FLAVOR does.')


if __name__ == '__main__':
    main()
