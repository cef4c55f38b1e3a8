# SPDX-License-Identifier: GPL-2.0-or-later
"""Debian roots as tar files by mmdebstrap, and a root of tools to run programs in.

No root permission is necessary. mmdebstrap then uses a user namespace (and needs uidmap, and lines
in /etc/subuid and /etc/subgid), and the tools need no owner. In that namespace the builder is
`nobody`, and may have no access to the builder's files. Therefore the hooks of mmdebstrap copy all
files, as the builder.
"""
import hashlib
import io
import os
import shlex
import subprocess
import sys
import tarfile
from pathlib import Path

SUITE = 'trixie'
MIRROR = 'http://deb.debian.org/debian'
SECURITY = 'http://deb.debian.org/debian-security'
TOOLS = ('dosfstools', 'e2fsprogs', 'fdisk', 'grub-common', 'grub-pc-bin', 'libarchive13t64', 'mtools',
         'qemu-utils')
APT_CACHE = '/var/cache/apt/archives'
LEAVE_OUT = ('--dpkgopt=path-exclude=/usr/share/man/*', '--dpkgopt=path-exclude=/usr/share/locale/*',
             '--dpkgopt=path-exclude=/usr/share/doc/*',
             '--dpkgopt=path-include=/usr/share/doc/*/copyright',
             '--dpkgopt=path-include=/usr/share/doc/leon*')


def environment(epoch):
    """Returns an environment without the variables of the builder."""
    home = '/' if os.geteuid() else '/root'
    return {'PATH': '/usr/sbin:/usr/bin:/sbin:/bin', 'HOME': home, 'LANG': 'C.UTF-8', 'TZ': 'UTC',
            'SOURCE_DATE_EPOCH': str(epoch), 'PYTHONHASHSEED': '0',
            'DEBIAN_FRONTEND': 'noninteractive', 'MTOOLS_SKIP_CHECK': '1',
            **{name: os.environ[name] for name in ('TMPDIR', 'http_proxy') if name in os.environ}}


def sources(suite, mirror, security):
    return [f'deb {mirror} {suite} main', f'deb {mirror} {suite}-updates main',
            f'deb {security} {suite}-security main']


def words(path, arch):
    """Names of the packages in a list. Lines that begin with another architecture are skipped."""
    found = []
    for line in Path(path).read_text(encoding='utf-8').splitlines():
        first, colon, rest = line.partition(':')
        if line.startswith('#') or colon and first != arch:
            continue
        found += (rest if colon else line).split()
    return found


class Mirror:
    """Sources of the packages. `debs` caches downloaded packages for the next build."""

    def __init__(self, debs, mirror=MIRROR, security=SECURITY, suite=SUITE):
        self.debs, self.mirror, self.security, self.suite = debs, mirror, security, suite
        (debs / 'partial').mkdir(parents=True, exist_ok=True)

    def root(self, out, arch, packages, epoch, *options, env=None):
        """Makes a root as a tar."""
        debs = shlex.quote(str(self.debs))
        debootstrap(out, epoch, '--variant=minbase', f'--architectures={arch}',
                    '--aptopt=APT::Install-Recommends "false"', '--aptopt=Acquire::Languages "none"',
                    # The packages of the last build come first.
                    '--skip=download/empty,essential/unlink,cleanup/apt/cache',
                    f'--setup-hook=mkdir -p "$1{APT_CACHE}"', f'--setup-hook=sync-in {debs} {APT_CACHE}',
                    '--include=' + ' '.join(packages), *options,
                    f'--customize-hook=sync-out {APT_CACHE} {debs}',
                    f'--customize-hook=find "$1{APT_CACHE}" -name "*.deb" -delete',
                    words=(self.suite, *sources(self.suite, self.mirror, self.security)), env=env)


def debootstrap(out, epoch, *options, words, env=None):
    """Makes the tar `out` with mmdebstrap and prints its errors. `words`: suite and sources."""
    fresh = out.with_name(out.name + '.new')
    done = subprocess.run(['mmdebstrap', '--format=tar', *options, words[0], str(fresh), *words[1:]],
                          env={**environment(epoch), **(env or {})}, check=False,
                          stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
                          errors='replace', stdin=subprocess.DEVNULL,
                          # Programs in the hooks must be able to return to their start folder.
                          cwd='/')
    out.with_suffix('.log').write_text(done.stdout)
    if done.returncode != 0:
        sys.stderr.write('\n'.join(done.stdout.splitlines()[-30:]) + '\n')
        raise SystemExit(f'mmdebstrap failed; all it said is in {out.with_suffix(".log")}')
    fresh.replace(out)


def packed(out, epoch, files):
    """Makes a tar of {name in the root: host file}, owned by root."""
    with tarfile.open(out, 'w') as archive:
        made = set()
        for name in sorted(files):
            for parent in reversed(Path(name).parents[:-1]):
                if parent not in made:
                    made.add(parent)
                    add(archive, epoch, parent, None, 0o755)
            executable = os.access(files[name], os.X_OK)
            add(archive, epoch, name, Path(files[name]).read_bytes(), 0o755 if executable else 0o644)
    return out


def add(archive, epoch, name, content, mode):
    """Adds one member; a directory if it has no content."""
    member = tarfile.TarInfo(f'./{name}')
    member.mode, member.mtime = mode, epoch
    member.type = tarfile.DIRTYPE if content is None else tarfile.REGTYPE
    member.size = len(content or b'')
    archive.addfile(member, io.BytesIO(content or b''))


# Enters a root with devices and processes, in a mount namespace, and leaves nothing mounted.
WITH_DEVICES = ('sh', '-c', 'mount --rbind /dev "$1/dev" && mount --rbind /proc "$1/proc" && '
                'exec chroot "$@"', 'sh')


class Tools:
    """A root in which programs run. Its folder /image is `work`."""

    def __init__(self, cache, mirror, arch, epoch, packages=TOOLS, devices=False):
        self.epoch, self.devices = epoch, devices
        name = hashlib.sha256(' '.join((mirror.suite, arch, *packages)).encode()).hexdigest()[:12]
        self.root = cache / f'tools-{name}'
        self.work = self.root / 'image'
        if not self.work.is_dir():
            tar = cache / f'tools-{name}.tar'
            mirror.root(tar, arch, packages, epoch)
            self.root.mkdir(exist_ok=True)
            subprocess.run(['tar', '-C', self.root, '-xf', tar, '--no-same-owner', '--exclude=./dev/*'],
                           check=True)
            tar.unlink()
            self.work.mkdir()

    def run(self, *command, given=''):
        namespaces = [*(['--map-root-user'] if os.geteuid() else []), *(['--mount'] * self.devices)]
        enter = [*(['unshare', *namespaces] if namespaces else []),
                 *(WITH_DEVICES if self.devices else ['chroot'])]
        done = subprocess.run([*enter, self.root, *command], input=given, text=True, check=False,
                              env=environment(self.epoch), stdout=subprocess.PIPE,
                              stderr=subprocess.STDOUT)
        if done.returncode != 0:
            raise SystemExit(f'{command[0]} failed: {done.stdout.strip()}')
        return done.stdout
