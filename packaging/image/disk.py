# SPDX-License-Identifier: GPL-2.0-or-later
"""Makes a disk for BIOS and UEFI from a root file system in a tar. Needs no loop device, no mount
and no virtual machine. The same input gives the same bytes.

Called by build.py. The tools (mke2fs, sfdisk, mtools, grub-mkimage) come from a separate root
(roots.Tools), so the versions of the host do not matter. The layout is that of the cloud images of
Debian. The root is partition 1 and the last on the disk, so the root can grow.

    sector 0        boot.img. It loads partition 14.
    1 MiB   part 14 core.img of GRUB for BIOS.
    4 MiB   part 15 ESP: signed shim and GRUB, a grub.cfg that finds the root.
    128 MiB part 1  ext4.
"""
import struct
import tarfile
import uuid
from typing import NamedTuple

SECTOR = 512
MIB = 1 << 20
BIOS_AT, ESP_AT, ROOT_AT = 1 * MIB, 4 * MIB, 128 * MIB
BIOS_SIZE, ESP_SIZE = ESP_AT - BIOS_AT, ROOT_AT - ESP_AT
END = MIB  # space for the second copy of the partition table
NAMESPACE = uuid.UUID('6f0c7d5a-53a1-5d50-9c58-4c454f4e494d')
# Partition types: root of the architecture, BIOS boot, ESP.
ROOT_TYPES = {'amd64': '4F68BCE3-E8CD-4DB1-96E7-FBCAF984B709',
              'arm64': 'B921B045-1DF0-41C3-AF44-4C6F280D3FAE'}
BIOS_TYPE = '21686148-6449-6E6F-744E-656564454649'
ESP_TYPE = 'C12A7328-F81F-11D2-BA4B-00C93EC93B3B'
# Offsets of the load addresses in boot.img and diskboot.img. The jump at DRIVE_CHECK is wrong for
# firmware that does not report the boot drive.
KERNEL_SECTOR, DRIVE_CHECK, BLOCKLIST = 0x5c, 0x66, 0x1f4
BOOT_CODE = 440
MODULES = ['biosdisk', 'part_gpt', 'ext2', 'search', 'search_fs_uuid', 'normal', 'configfile', 'linux',
           'gzio', 'serial', 'terminal', 'echo', 'test', 'reboot', 'halt']
# EFI names of the architecture: suffix, directory of the signed GRUB.
EFI = {'amd64': ('x64', 'x86_64-efi-signed'), 'arm64': ('aa64', 'arm64-efi-signed')}

# Modules of a GRUB for UEFI that is made here, for roots without a signed GRUB.
EFI_MODULES = ['part_gpt', 'fat', 'ext2', 'search', 'search_fs_uuid', 'normal', 'configfile', 'linux',
               'gzio', 'serial', 'terminal', 'echo', 'test', 'reboot', 'halt', 'all_video']

EARLY = '''search.fs_uuid {root} root
set prefix=($root){prefix}
'''


class Ids(NamedTuple):
    """Unique identifiers of a disk, derived from its name alone."""
    disk: str
    root: str
    parts: dict
    esp: str  # volume ID of the FAT, 32 bits

    @classmethod
    def of(cls, name):
        def number(what):
            return str(uuid.uuid5(NAMESPACE, f'{name}/{what}'))
        return cls(number('disk'), number('root'), {n: number(f'part{n}') for n in (1, 14, 15)},
                   number('esp')[:8].upper())

    def esp_uuid(self):
        """The volume ID in the format of blkid and fstab."""
        return f'{self.esp[:4]}-{self.esp[4:]}'


def take(tar, folder, wanted):
    """Extracts files from a tar: {member name below ./: name in the folder}."""
    left = dict(wanted)
    with tarfile.open(tar) as archive:
        for member in archive:
            name = left.pop(member.name.removeprefix('./'), None)
            if name and member.isfile():
                with archive.extractfile(member) as source, open(folder / name, 'wb') as target:
                    target.write(source.read())
    return sorted(left)


def patched_boot(boot, sector):
    """Returns the boot.img that loads the sector."""
    data = bytearray(boot[:BOOT_CODE])
    struct.pack_into('<Q', data, KERNEL_SECTOR, sector)
    data[DRIVE_CHECK:DRIVE_CHECK + 2] = b'\x90\x90'
    return bytes(data)


def patched_core(core, sector):
    """Returns a core.img. Its first sector loads the other sectors behind it."""
    data = bytearray(core)
    struct.pack_into('<Q', data, BLOCKLIST, sector + 1)
    return bytes(data)


def table(ids, arch, root_size):
    """Returns the input of sfdisk."""
    lines = ['label: gpt', f'label-id: {ids.disk}', 'unit: sectors']
    parts = [(1, ROOT_AT, root_size, ROOT_TYPES[arch], 'root'),
             (15, ESP_AT, ESP_SIZE, ESP_TYPE, 'esp')]
    if arch == 'amd64':
        parts.append((14, BIOS_AT, BIOS_SIZE, BIOS_TYPE, 'bios'))
    for number, start, size, kind, name in parts:
        lines.append(f'disk.raw{number} : start={start // SECTOR}, size={size // SECTOR}, type={kind}, '
                     f'uuid={ids.parts[number]}, name={name}')
    return '\n'.join(lines) + '\n'


class Disk:
    """Builds in `tools.work`, a folder that the tools see as /image. With `signed` the root must
    have a shim and a GRUB that Secure Boot trusts. Without `signed`, a GRUB is made if the root has
    none."""

    def __init__(self, tools, ids, arch, size_mib, prefix='/boot/grub', signed=True):
        self.tools, self.ids, self.arch, self.prefix = tools, ids, arch, prefix
        self.signed = signed
        self.size = size_mib * MIB
        self.root_size = self.size - ROOT_AT - END
        self.folder = tools.work
        self.raw = self.folder / 'disk.raw'

    def build(self, root_tar):
        """Returns the path of the raw disk."""
        self.raw.unlink(missing_ok=True)
        with open(self.raw, 'wb') as disk:
            disk.truncate(self.size)
        self.tools.run('sfdisk', '--quiet', '--no-reread', '--no-tell-kernel', '/image/disk.raw',
                       given=table(self.ids, self.arch, self.root_size))
        self.put(self.make_root(root_tar), ROOT_AT)
        self.put(self.make_esp(root_tar), ESP_AT)
        if self.arch == 'amd64':
            self.boot_by_bios()
        return self.raw

    def put(self, path, at):
        """Copies a file into the disk as a sparse file, and removes the file."""
        with open(path, 'rb') as source, open(self.raw, 'r+b') as disk:
            while block := source.read(MIB):
                if block.count(0) != len(block):
                    disk.seek(at)
                    disk.write(block)
                at += len(block)
        path.unlink()

    def make_root(self, root_tar):
        made = self.folder / 'root.ext4'
        made.unlink(missing_ok=True)
        inside = self.folder / 'root.tar'
        inside.unlink(missing_ok=True)
        inside.hardlink_to(root_tar)
        self.tools.run('mke2fs', '-q', '-t', 'ext4', '-b', '4096', '-m', '1', '-L', 'leon-root',
                       '-U', self.ids.root,
                       '-E', f'hash_seed={self.ids.root},lazy_itable_init=0,lazy_journal_init=0',
                       '-d', '/image/root.tar', '/image/root.ext4', f'{self.root_size // 1024}k')
        inside.unlink()
        return made

    def make_esp(self, root_tar):
        made = self.folder / 'esp.fat'
        made.unlink(missing_ok=True)
        loaders = self.take_loaders(root_tar)
        (self.folder / 'grub.cfg').write_text(
            f'search --no-floppy --fs-uuid --set=root {self.ids.root}\n'
            f'set prefix=($root){self.prefix}\nconfigfile $prefix/grub.cfg\n')
        self.tools.run('mkfs.vfat', '--invariant', '-F', '32', '-i', self.ids.esp, '-n', 'ESP', '-C',
                       '/image/esp.fat', str(ESP_SIZE // 1024))
        self.tools.run('mmd', '-i', '/image/esp.fat', '::EFI', '::EFI/BOOT', '::EFI/debian')
        for source, targets in {**loaders, 'grub.cfg': ('debian/grub.cfg', 'BOOT/grub.cfg')}.items():
            for target in targets:
                self.tools.run('mcopy', '-i', '/image/esp.fat', f'/image/{source}', f'::EFI/{target}')
            (self.folder / source).unlink()
        return made

    def take_loaders(self, root_tar):
        """Puts the boot files of UEFI into the folder: {file: paths below EFI}. The first path is
        the firmware's default. The signed GRUB was built for the second path."""
        suffix, signed = EFI[self.arch]
        lacking = take(root_tar, self.folder, {
            f'usr/lib/shim/shim{suffix}.efi.signed': 'shim.efi',
            f'usr/lib/shim/mm{suffix}.efi.signed': 'mm.efi',
            f'usr/lib/grub/{signed}/grub{suffix}.efi.signed': 'grub.efi'})
        if not lacking:
            return {'shim.efi': (f'BOOT/BOOT{suffix.upper()}.EFI', f'debian/shim{suffix}.efi'),
                    'grub.efi': (f'BOOT/grub{suffix}.efi', f'debian/grub{suffix}.efi'),
                    'mm.efi': (f'BOOT/mm{suffix}.efi', f'debian/mm{suffix}.efi')}
        if self.signed:
            raise SystemExit(f'the root lacks {", ".join(lacking)}: install shim-signed and '
                             f'grub-efi-{self.arch}-signed in it')
        for name in ('shim.efi', 'mm.efi', 'grub.efi'):
            (self.folder / name).unlink(missing_ok=True)
        self.tools.run('grub-mkimage', '-O', signed.removesuffix('-signed'), '-p', '/EFI/debian', '-o',
                       '/image/grub.efi', *EFI_MODULES)
        return {'grub.efi': (f'BOOT/BOOT{suffix.upper()}.EFI', f'debian/grub{suffix}.efi')}

    def boot_by_bios(self):
        (self.folder / 'early.cfg').write_text(EARLY.format(root=self.ids.root, prefix=self.prefix))
        self.tools.run('grub-mkimage', '-O', 'i386-pc', '-p', self.prefix, '-c', '/image/early.cfg',
                       '-o', '/image/core.img', *MODULES)
        core = (self.folder / 'core.img').read_bytes()
        if len(core) > BIOS_SIZE:
            raise SystemExit(f'core.img of GRUB has {len(core)} bytes, its partition {BIOS_SIZE}')
        boot = (self.tools.root / 'usr/lib/grub/i386-pc/boot.img').read_bytes()
        with open(self.raw, 'r+b') as disk:
            disk.write(patched_boot(boot, BIOS_AT // SECTOR))
            disk.seek(BIOS_AT)
            disk.write(patched_core(core, BIOS_AT // SECTOR))
        for name in ('early.cfg', 'core.img'):
            (self.folder / name).unlink()
