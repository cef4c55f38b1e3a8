#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""Runs the programs of vyos-build on LEON's flavors and packages.

Usage: image_vyos.py [--out DIR] [--debs DIR] [--vyos-build SOURCE] [--vyos-1x SOURCE]
                     [--build FLAVOR] [--rootfs ROOT [--size MIB]]

    --out DIR            Work and output folder. Default: build/image-vyos.
    --debs DIR           Packages of `make deb`. Default: build/deb.
    --vyos-build SOURCE  Directory or URL to clone. Default: VyOS's repository at GitHub.
    --vyos-1x SOURCE     Source of vyos-1x. vyos-build imports its modules.
    --build FLAVOR       Build an image (leon-iso, leon-qcow2, ...). Needs VyOS's package mirror,
                         20 GB and an hour.
    --rootfs ROOT        Only make a disk (raw, qcow2) with LEON's packages from a root file
                         system of VyOS, a directory or a tar. See rootfs.py.
    --size MIB           Size of the disk. Default: the files and 1 GiB.

Without --build, only these two repositories of VyOS are downloaded. For each flavor,
build-vyos-image reads its configuration, writes the configuration of live-build and stops
(--dry-run). make-ova makes an appliance of a disk. The last line names the steps that did not run.
All programs run as root in a root of Debian 12, which mmdebstrap makes. `make image-vyos` calls
this script.
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

import build  # noqa: E402
import roots  # noqa: E402
import rootfs  # noqa: E402

SUITE = 'bookworm'
# Packages that build-vyos-image needs, and imports of its modules from vyos-1x.
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
    """Root with vyos-build in /vyos, ready to run."""

    def __init__(self, options):
        self.options = options
        self.out = options.out.resolve()
        self.out.mkdir(parents=True, exist_ok=True)
        mirror = roots.Mirror(self.out / 'debs', suite=SUITE)
        self.tools = roots.Tools(self.out, mirror, 'amd64', 0, TOOLS, devices=True)
        self.vyos = self.tools.work / 'vyos'
        self.flavors = sorted(path.stem for path in (HERE / 'flavors').glob('*.toml'))

    def clone(self, source, folder):
        if folder.exists():
            shutil.rmtree(folder)
        subprocess.run(['git', 'clone', '-q', source, folder], check=True)

    def prepare(self):
        self.clone(self.options.vyos_build, self.vyos)
        self.clone(self.options.vyos_1x, self.vyos / 'build/vyos-1x')
        # The programs look up the name of the branch: `rolling`, and `current` before June 2026. A
        # local directory may be at any branch.
        branch = tomllib.loads((self.vyos / 'data/defaults.toml').read_text())['vyos_branch']
        for folder in (self.vyos, self.vyos / 'build/vyos-1x'):
            subprocess.run(['git', '-C', folder, 'checkout', '-q', '-B', branch], check=True)
        step(f'vyos-build of the branch {branch}')
        for name in OUR_PACKAGES:
            deb = build.own_package(self.options.debs, name, build.tree_version(), 'amd64')
            shutil.copy(deb, self.vyos / 'packages')
        shutil.copytree(HERE / 'flavors', self.vyos / 'flavors')
        shutil.copy2(HERE / 'make-ova', self.vyos)

    def run(self, *words):
        """Runs build-vyos-image and returns its output."""
        return self.tools.run(
            'sh', '-c', 'cd /image/vyos && git config --global --replace-all safe.directory "*" && '
            'export VYOS_BUILD_FLAVORS_DIR=/image/vyos/flavors && exec ./build-vyos-image "$@"', 'sh',
            '--architecture', 'amd64', '--build-by', 'leon@example.net', *words)

    def check(self, flavor):
        """Checks that the configuration of live-build contains the settings of the flavor."""
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
        """Repeats the hook of leon-ova, with a disk of another content."""
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
