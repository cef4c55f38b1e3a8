# SPDX-License-Identifier: GPL-2.0-or-later
"""The builder of cloud images without an image: partitions, boot code for a BIOS, lists of
packages. `make image` and `make check-image` test the rest.
"""
import io
import shutil
import struct
import subprocess
import sys
import tarfile
from pathlib import Path

import pytest

TOP = Path(__file__).resolve().parents[2]
sys.path[:0] = [str(TOP / 'packaging/image'), str(TOP / 'packaging/vyos-build'), str(TOP / 'packaging')]

import build  # noqa: E402
import cross_deb  # noqa: E402
import disk  # noqa: E402
import rootfs  # noqa: E402
import roots  # noqa: E402


def test_partitions_follow_each_other():
    """No overlap, every partition starts at a MiB, and the root is last and can grow."""
    root_size = 2048 * disk.MIB - disk.ROOT_AT - disk.END
    text = disk.table(disk.Ids.of('x'), 'amd64', root_size)
    parts = sorted((int(start), int(size)) for start, size in
                   ((line.split('start=')[1].split(',')[0], line.split('size=')[1].split(',')[0])
                    for line in text.splitlines() if 'start=' in line))
    assert len(parts) == 3 and all(start % 2048 == 0 for start, _ in parts)
    assert all(a + size <= b for (a, size), (b, _) in zip(parts, parts[1:]))
    assert parts[-1] == (disk.ROOT_AT // 512, root_size // 512)
    assert 'raw14' not in disk.table(disk.Ids.of('x'), 'arm64', root_size)


def test_numbers_come_from_the_name():
    one, same, other = (disk.Ids.of(name) for name in ('leon-1', 'leon-1', 'leon-2'))
    assert one == same
    assert len({one.disk, one.root, other.disk, other.root, *one.parts.values()}) == 7
    assert one.esp_uuid() == f'{one.esp[:4]}-{one.esp[4:]}' and len(one.esp) == 8


def test_code_of_the_bios():
    boot = disk.patched_boot(bytes(512), 2048)
    assert len(boot) == 440  # the partition table's part of sector 0 is left alone
    assert struct.unpack_from('<Q', boot, 0x5c) == (2048,)
    core = disk.patched_core(bytes(2048), 2048)
    assert struct.unpack_from('<Q', core, 0x1f4) == (2049,)
    assert len(core) == 2048


def test_services_have_time_to_start(tmp_path):
    """Every service with a shorter timeout gets the timeout of the image."""
    units, own = tmp_path / 'usr/lib/systemd/system', tmp_path / 'etc/systemd'
    units.mkdir(parents=True)
    for name, line in {'short': 'TimeoutSec=90s', 'start@': 'TimeoutStartSec=2min', 'ever': 'TimeoutSec=0',
                       'never': 'TimeoutStartSec=infinity', 'none': '', 'stop': 'TimeoutStopSec=5'}.items():
        (units / f'{name}.service').write_text(f'[Service]\n{line}\n')
    (units / 'alias.service').symlink_to('short.service')
    given = TOP / 'packaging/image/root/etc/systemd/system.conf.d/leon.conf'
    (own / 'system.conf.d').mkdir(parents=True)
    (own / 'system.conf.d/leon.conf').write_text(given.read_text())
    subprocess.run([TOP / 'packaging/image/patience', tmp_path], check=True)
    made = {path.parent.name: path.read_text() for path in (own / 'system').glob('*/*.conf')}
    assert set(made) == {'short.service.d', 'start@.service.d'}
    assert all(text.endswith('[Service]\nTimeoutStartSec=15min\n') for text in made.values())


def test_lists_of_packages():
    for arch, other in (('amd64', 'arm64'), ('arm64', 'amd64')):
        words = roots.words(TOP / 'packaging/image/packages', arch)
        assert f'linux-image-cloud-{arch}' in words and f'linux-image-cloud-{other}' not in words
        assert not any(word.startswith('#') or ':' in word for word in words)
        assert len(words) == len(set(words))
        assert {'cloud-init', 'frr', 'charon-systemd', 'shim-signed'} <= set(words)


def status_tar(path, text):
    with tarfile.open(path, 'w') as archive:
        member = tarfile.TarInfo('./var/lib/dpkg/status')
        member.size = len(text)
        archive.addfile(member, io.BytesIO(text.encode()))
    return path


def test_pinned_packages(tmp_path):
    text = ('Package: b\nVersion: 2\nArchitecture: all\nDescription: x\n A: b\n\n'
            'Package: a\nVersion: 1:1\nArchitecture: amd64\n')
    lines = build.installed(status_tar(tmp_path / 'root.tar', text))
    assert lines == ['a 1:1 amd64', 'b 2 all']
    pinned = tmp_path / 'packages'
    pinned.write_text('a 1:1 amd64\nb 2 all\n')
    build.compare(pinned, lines)
    pinned.write_text('a 1:2 amd64\nb 2 all\n')
    with pytest.raises(SystemExit, match='a 1:1 amd64\na 1:2 amd64\nthese are not as in'):
        build.compare(pinned, lines)


def test_files_that_a_root_lacks(tmp_path):
    with pytest.raises(SystemExit, match='run "make deb" first'):
        build.own_packages(tmp_path, '1.0', 'amd64')
    found = disk.take(status_tar(tmp_path / 'root.tar', ''), tmp_path,
                      {'var/lib/dpkg/status': 'status', 'boot/none': 'none'})
    assert found == ['boot/none'] and (tmp_path / 'status').exists()


def test_no_variable_of_the_builder_gets_in(monkeypatch):
    monkeypatch.setenv('LC_ALL', 'de_DE.UTF-8')
    made = roots.environment(5)
    assert made['SOURCE_DATE_EPOCH'] == '5' and 'LC_ALL' not in made


def test_our_files_are_those_of_root(tmp_path):
    """For any owner and umask here, and with the same bytes each time."""
    for name, mode in (('plain', 0o600), ('program', 0o700)):
        (tmp_path / name).write_text(name)
        (tmp_path / name).chmod(mode)
    files = {'etc/a/plain': tmp_path / 'plain', 'etc/a/program': tmp_path / 'program'}
    made = roots.packed(tmp_path / 'ours.tar', 7, files)
    with tarfile.open(made) as archive:
        members = [(m.name, oct(m.mode), m.uid, m.gid, m.mtime) for m in archive]
        assert archive.extractfile('./etc/a/program').read() == b'program'
    assert members == [('./etc', '0o755', 0, 0, 7), ('./etc/a', '0o755', 0, 0, 7),
                       ('./etc/a/plain', '0o644', 0, 0, 7), ('./etc/a/program', '0o755', 0, 0, 7)]
    assert made.read_bytes() == roots.packed(tmp_path / 'again.tar', 7, files).read_bytes()


@pytest.mark.parametrize('program', ['gzip', 'xz', 'zstd', 'bzip2', 'cat'])
def test_a_root_file_system_of_any_compression(tmp_path, program):
    tar = status_tar(tmp_path / 'root.tar', 'Package: vyos-1x\n')
    given = tmp_path / 'given'
    if not shutil.which(program):
        pytest.skip(f'{program} is not installed')
    with open(given, 'wb') as out:
        subprocess.run([program, *(['-c'] if program != 'cat' else []), tar], stdout=out, check=True)
    assert subprocess.run(rootfs.plain(given), capture_output=True, check=True).stdout == tar.read_bytes()


def test_a_root_file_system_in_a_directory(tmp_path):
    """The contents of proc and dev of a running system do not belong to the disk."""
    for name in ('etc/hostname', 'proc/1', 'dev/null', 'tmp/x'):
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text('vyos')
    done = subprocess.run(rootfs.plain(tmp_path), capture_output=True, check=True)
    with tarfile.open(fileobj=io.BytesIO(done.stdout)) as archive:
        assert sorted(archive.getnames()) == ['.', './dev', './etc', './etc/hostname', './proc', './tmp']


def test_a_root_without_signed_loaders_gets_one(tmp_path):
    """Only if requested: the cloud image always has the loaders for Secure Boot."""
    ran = []

    class Tools:
        work = tmp_path

        def run(self, *command):
            ran.append(command)

    tar = status_tar(tmp_path / 'root.tar', '')
    with pytest.raises(SystemExit, match='install shim-signed and grub-efi-amd64-signed'):
        disk.Disk(Tools(), disk.Ids.of('x'), 'amd64', 256).take_loaders(tar)
    loaders = disk.Disk(Tools(), disk.Ids.of('x'), 'amd64', 256, signed=False).take_loaders(tar)
    assert loaders == {'grub.efi': ('BOOT/BOOTX64.EFI', 'debian/grubx64.efi')}
    assert ran[0][:3] == ('grub-mkimage', '-O', 'x86_64-efi')


def test_a_root_with_a_cross_compiler_has_all_that_is_built_against():
    """Build-Depends of the packages, except the packages for other builds."""
    def packages(arch):
        return {name.split(':')[0] for name in cross_deb.packages(arch)}

    control = (TOP / 'packaging/debian/control').read_text()
    field = control.split('Build-Depends:')[1].split('Build-Depends-Indep:')[0]
    wanted = {item.split()[0].split(':')[0] for item in field.replace('\n', ' ').split(',')
              if '<!nocheck>' not in item}
    only_amd64 = {item.split()[0] for item in field.split(',') if '[amd64]' in item}
    assert only_amd64 == packages('amd64') - packages('arm64') - {'crossbuild-essential-amd64'}
    wanted -= only_amd64
    given = packages('arm64')
    # Part of debhelper; the unit file's directory is in the package systemd of Debian 12.
    assert wanted - given == {'debhelper-compat', 'dh-sequence-installsysusers', 'systemd-dev'}
    assert 'libssl-dev:arm64' in cross_deb.packages('arm64')


def test_packages_of_a_cross_compiler_have_the_version_of_the_tree(tmp_path):
    """The images search for packages by this version."""
    copied = cross_deb.copy_sources(tmp_path)
    assert build.said(str(copied / 'packaging/version.sh')) == build.tree_version()


def test_only_amd64_recommends_ipsec_mb():
    control = (TOP / 'packaging/debian/control').read_text()
    named = [line for line in control.splitlines() if 'ipsec-mb' in line]
    assert len(named) == 2 and all(line.count('ipsec-mb') == line.count('[amd64]') for line in named)
