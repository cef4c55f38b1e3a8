#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""Builds the Debian packages for another architecture by a cross compiler.

Usage: cross_deb.py [--arch ARCH] [--out DIR] [--root DIR]

    --arch ARCH   Architecture of the packages. Default: arm64.
    --out DIR     Output folder. Default: build/deb, as for `make deb`.
    --root DIR    Cache of the root with the compiler. Default: build/cross.

The script runs packaging/build-deb.sh in a root of Debian 12 with the cross compiler of Debian. The
packages install on Debian 12 and 13, like the native packages. `make deb` supplies packages without
an architecture. The unit tests of the foreign architecture do not run. Needs mmdebstrap and, if not
run as root, uidmap. `make deb-cross` calls this script.
"""
import argparse
import re
import shutil
import subprocess
import sys
from pathlib import Path

HERE = Path(__file__).resolve().parent
TOP = HERE.parent
sys.path.insert(0, str(HERE / 'image'))

import build  # noqa: E402
import roots  # noqa: E402

SUITE = 'bookworm'
# Build-Depends of packaging/debian/control: first the build tools, then the libraries.
TOOLS = ('build-essential', 'debhelper', 'dpkg-dev', 'fakeroot', 'meson', 'python3', 'scdoc', 'systemd')
AGAINST = ('libjson-c-dev', 'libminiupnpc-dev', 'libmnl-dev', 'libnatpmp-dev', 'libssl-dev',
           'libsystemd-dev', 'libzstd-dev', 'pkg-config', 'uthash-dev')
# Build-Depends of one architecture only.
AGAINST_ONE = {'amd64': ('libipsec-mb-dev',)}


def parse():
    parser = argparse.ArgumentParser(usage=__doc__)
    parser.add_argument('--arch', default='arm64')
    parser.add_argument('--out', type=Path, default=TOP / 'build/deb')
    parser.add_argument('--root', type=Path, default=TOP / 'build/cross')
    return parser.parse_args()


def packages(arch):
    against = (*AGAINST, *AGAINST_ONE.get(arch, ()))
    return (*TOOLS, f'crossbuild-essential-{arch}', *(f'{name}:{arch}' for name in against))


def copy_sources(work):
    """Copies the source tree without build results. The copy has no git, so its changelog gets the
    version."""
    target = work / 'src'
    shutil.rmtree(target, ignore_errors=True)
    shutil.copytree(TOP, target, symlinks=True, ignore=lambda folder, names: [
        name for name in names
        if name in ('.git', '__pycache__', '.pytest_cache', '.cache') or
        Path(folder) == TOP and name.startswith('build')])
    changelog = target / 'packaging/debian/changelog'
    changelog.write_text(re.sub('^leon .*?;', f'leon ({build.tree_version()}) unstable;',
                                changelog.read_text(encoding='utf-8'), count=1), encoding='utf-8')
    return target


def main():
    options = parse()
    cache = options.root.resolve()
    cache.mkdir(parents=True, exist_ok=True)
    epoch = int(build.changelog('Timestamp'))
    print(f'a root with a compiler for {options.arch}', flush=True)
    tools = roots.Tools(cache, roots.Mirror(cache / 'debs', suite=SUITE),
                        f'{build.own_architecture()},{options.arch}', epoch, packages(options.arch))
    copy_sources(tools.work)
    print('packages', flush=True)
    made = tools.work / 'deb'
    shutil.rmtree(made, ignore_errors=True)
    try:
        tools.run('env', 'DEB_BUILD_OPTIONS=nocheck', '/image/src/packaging/build-deb.sh', '/image/deb',
                  '-B', f'-a{options.arch}', '-Pcross,nocheck')
    finally:
        if (made / 'build.log').exists():
            options.out.mkdir(parents=True, exist_ok=True)
            shutil.copy(made / 'build.log', options.out / f'build-{options.arch}.log')
    for path in sorted(made.glob('*.deb')):
        shutil.copy(path, options.out)
        print(f'./{path.name}')
        subprocess.run(['dpkg-deb', '--field', path, 'Package', 'Architecture', 'Depends', 'Recommends'],
                       check=True)


if __name__ == '__main__':
    main()
