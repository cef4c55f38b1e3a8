#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""Builds a container image: Debian 13 without extras, with leond and leonctl, as an OCI archive.

Usage: container.py [--out DIR] [--debs DIR] [--arch ARCH] [--mirror URL --security URL]

    The options are those of build.py. The image is leon-VERSION-ARCH.oci.tar.

Needs mmdebstrap and buildah, and no registry. The network interface of the overlay is that of the
host, so a container runs with the network of the host. doc/operations.md has the command.
"""
import json
import os
import shlex
import subprocess
import tempfile

import build
import roots

PACKAGE = 'leond'
ALWAYS = ['iproute2']
# A recommendation of leond, for the speed of encryption.
PACKAGES = {'amd64': [*ALWAYS, 'libipsec-mb2']}
STATE = ('/etc/leon', '/var/lib/leon', '/run/leon')
# Containers do not use the package manager of the image. A new release has a new image.
INSTALL = ('chroot "$1" sh -c "apt-get install -y --no-install-recommends /leon-build/*.deb" && '
           'rm -rf "$1"/leon-build "$1"/var/lib/apt/lists/* && rm -f "$1"/etc/machine-id')
# leond of the image runs as root of the container, which has one capability.
CONFIG = {
    '--entrypoint': json.dumps(['/usr/sbin/leond']),
    '--cmd': '--config /etc/leon/leon0.json',
    '--label': 'org.opencontainers.image.title=leond',
}


class Container(build.Build):
    def root(self, mirror):
        deb = build.own_package(self.options.debs, PACKAGE, self.version, self.options.arch)
        tar = self.out / f'{self.name}.container.tar'
        ours = roots.packed(self.out / f'{self.name}.ours.tar', self.epoch,
                            {f'leon-build/{deb.name}': deb})
        mirror.root(tar, self.options.arch, PACKAGES.get(self.options.arch, ALWAYS), self.epoch, *roots.LEAVE_OUT,
                    f'--customize-hook=tar-in {shlex.quote(str(ours))} /',
                    f'--customize-hook={INSTALL}')
        ours.unlink()
        return tar

    def image(self, tar):
        """Packs the root with buildah. The files of buildah are in a folder of the build."""
        made = self.out / f'{self.name}.oci.tar'
        made.unlink(missing_ok=True)
        with tempfile.TemporaryDirectory(dir=self.out, prefix='buildah-') as store:
            def buildah(*words):
                command = ['buildah', '--storage-driver', 'vfs', '--root', f'{store}/root',
                           '--runroot', f'{store}/run', *map(str, words)]
                if os.geteuid():
                    command = ['buildah', 'unshare', *command]
                return subprocess.run(command, check=True, capture_output=True, text=True).stdout.strip()
            name = buildah('from', 'scratch')
            buildah('add', name, tar, '/')
            buildah('config', '--arch', self.options.arch, '--label',
                    f'org.opencontainers.image.version={self.version}',
                    *(word for pair in CONFIG.items() for word in pair),
                    *(word for path in STATE for word in ('--volume', path)), name)
            buildah('commit', '--timestamp', self.epoch, name,
                    f'oci-archive:{made}:leond:{self.version.replace("~", "-")}')
            buildah('rm', name)
        return made

    def run(self):
        mirror = roots.Mirror(self.out / 'debs', self.options.mirror, self.options.security)
        self.step('Debian and leond')
        tar = self.root(mirror)
        self.step(f'{len(build.installed(tar))} packages; the image')
        made = self.image(tar)
        tar.unlink()
        self.step(f'{made}: {made.stat().st_size / (1 << 20):.0f} MiB')


if __name__ == '__main__':
    Container(build.parse()).run()
