# SPDX-License-Identifier: GPL-2.0-or-later
"""Makes a disk for BIOS and UEFI, with LEON's packages, from a root file system of VyOS. The root
was made from the public source of VyOS. The tools are those of the cloud image.

Called by image_vyos.py (--rootfs). The disk has VyOS on one ext4 file system, not as the squashfs
images of VyOS's installer, so `add system image` does not work. The root must have a kernel in
/boot, systemd, dpkg, and vyos-1x with the dependencies of LEON's packages, because nothing is
downloaded. A signed shim and GRUB of Debian in the root are used, else an unsigned GRUB is made.
"""
import shlex
import shutil
import subprocess
import sys
from pathlib import Path

HERE = Path(__file__).resolve().parent
TOP = HERE.parents[1]
sys.path.insert(0, str(TOP / 'packaging/image'))

import build  # noqa: E402
import disk  # noqa: E402
import roots  # noqa: E402

ARCH = 'amd64'
TOOLS = (*roots.TOOLS, 'grub-efi-amd64-bin')
# Content of a running system that a disk does not have.
VOLATILE = ('dev', 'proc', 'run', 'sys', 'tmp')
COMPRESSED = {b'\x1f\x8b': 'gzip', b'\xfd7zXZ': 'xz', b'\x28\xb5\x2f\xfd': 'zstd', b'BZh': 'bzip2'}
# Free space for the files that VyOS writes at run time: configuration, logs, another kernel.
ROOM_MIB = 1024


def plain(source):
    """Returns the command that writes the root, a directory or a compressed tar, as a tar."""
    if source.is_dir():
        return ['tar', '-C', source, '--numeric-owner', '--xattrs', '--one-file-system',
                *(f'--exclude=./{name}/*' for name in VOLATILE), '-c', '.']
    with open(source, 'rb') as file:
        head = file.read(8)
    for magic, program in COMPRESSED.items():
        if head.startswith(magic):
            return [program, '-dc', source]
    return ['cat', source]


def taken(source, out):
    """Writes the root as a tar without the content of a running system."""
    with open(out, 'wb') as target:
        reader = subprocess.Popen(plain(source), stdout=subprocess.PIPE)
        packer = subprocess.run(['mmtarfilter', *(f'--path-exclude=/{name}/*' for name in VOLATILE)],
                                stdin=reader.stdout, stdout=target, check=False)
        reader.stdout.close()
    if reader.wait() != 0 or packer.returncode != 0:
        raise SystemExit(f'{source} could not be read: give a directory (as root, since its files belong '
                         'to many users) or a tar')
    return out


def content_mib(tar):
    """Returns a little more than the size of the files of a tar on a disk."""
    return tar.stat().st_size * 5 // 4 // disk.MIB


class RootDisk:
    def __init__(self, options):
        self.options = options
        self.out = options.out.resolve()
        self.out.mkdir(parents=True, exist_ok=True)
        self.version = build.tree_version()
        self.name = f'vyos-leon-{self.version}-{ARCH}'
        self.epoch = int(build.changelog('Timestamp'))
        self.ids = disk.Ids.of(self.name)

    def root(self, packages):
        """Makes a tar of the given root with LEON's packages and the files that a disk needs."""
        given = taken(self.options.rootfs, self.out / f'{self.name}.given.tar')
        ours = roots.packed(self.out / f'{self.name}.ours.tar', self.epoch, {
            f'leon-build/{path.name}': path for path in (*packages, HERE / 'customize', HERE / 'grub.cfg')})
        made = self.out / f'{self.name}.root.tar'
        roots.debootstrap(
            made, self.epoch, '--variant=custom', f'--architectures={ARCH}',
            '--skip=update,cleanup/apt,cleanup/tmp',
            # Removes the files that mmdebstrap puts into a fresh root.
            '--setup-hook=rm -f "$1/etc/apt/sources.list" "$1/etc/resolv.conf" "$1/etc/hostname"',
            f'--setup-hook=tar-in {shlex.quote(str(given))} /',
            f'--customize-hook=tar-in {shlex.quote(str(ours))} /',
            '--customize-hook=sh "$1/leon-build/customize" "$1"',
            words=('bookworm',), env={'ROOT_UUID': self.ids.root})
        for path in (given, ours):
            path.unlink()
        return made

    def run(self, step):
        packages = [build.own_package(self.options.debs, name, self.version, ARCH)
                    for name in ('leond', 'leon-accel', 'vyos-1x-leon')]
        step('a root of tools')
        tools = roots.Tools(self.out, roots.Mirror(self.out / 'debs-tools'), build.own_architecture(),
                            self.epoch, TOOLS)
        step(f'LEON in {self.options.rootfs}')
        tar = self.root(packages)
        lines = build.installed(tar)
        (self.out / f'{self.name}.packages').write_text('\n'.join(lines) + '\n')
        size = self.options.size or content_mib(tar) + ROOM_MIB
        step(f'{len(lines)} packages; a disk of {size} MiB')
        disk.Disk(tools, self.ids, ARCH, size, signed=False).build(tar)
        tar.unlink()
        tools.run('qemu-img', 'convert', '-f', 'raw', '-O', 'qcow2', '-c', '/image/disk.raw',
                  '/image/disk.qcow2')
        for suffix in ('raw', 'qcow2'):
            made = self.out / f'{self.name}.{suffix}'
            shutil.move(tools.work / f'disk.{suffix}', made)
            step(str(made))
