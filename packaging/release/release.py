#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""Builds a release: source, packages, an apt repository, lists of components, checksums.

Usage: release.py [--out DIR] [--debs DIR] [--image DIR] [--key KEY] [--dirty]

    --out DIR    Output folder, replaced. Default: build/release/leon-VERSION.
    --debs DIR   Packages of `make deb`. Default: build/deb.
    --image DIR  Image of `make image`. Default: a release without an image.
    --key KEY    gpg key that signs the repository and the checksums. Default: unsigned.
    --dirty      Use HEAD although files of the tree are changed.

`make release` calls this script; doc/releases.md has the steps before and after. The version comes
from packaging/version.sh, which meson and the image call too. Needs git, reprepro, zstd, gpg if a
key is given, and pip for debsbom, which writes the lists (SPDX, CycloneDX). The download of debsbom
from PyPI is the first step. After an error, the output folder is unchanged.
"""
import argparse
import gzip
import hashlib
import re
import shutil
import subprocess
import sys
import uuid
from pathlib import Path

TOP = Path(__file__).resolve().parents[2]
PACKAGES = ('leond', 'leon-accel', 'leon-cloud', 'leon-portmap', 'leon-sclp', 'vyos-1x-leon', 'vyos-1x-leon-lisp')
SBOM_TOOL = Path(__file__).with_name('debsbom.txt')
NAMESPACE = uuid.UUID('6f0c7d5a-53a1-5d50-9c58-4c454f4e494d')
SUITE = 'leon'

DISTRIBUTION = '''Origin: LEON
Label: LEON
Suite: {suite}
Codename: {suite}
Architectures: amd64 arm64
Components: main
Description: {description}
{sign}'''


def run(*command, given=None, env=None):
    done = subprocess.run([str(word) for word in command], input=given, capture_output=True, env=env,
                          check=False)
    if done.returncode != 0:
        raise SystemExit(f'{command[0]} failed: {done.stderr.decode(errors="replace").strip()}')
    return done.stdout


def changelog(field):
    return run('dpkg-parsechangelog', '-l', TOP / 'packaging/debian/changelog', '-S',
               field).decode().strip()


def tree_version():
    return run(TOP / 'packaging/version.sh').decode().strip()


def source(out, version, dirty):
    """Writes the tree of HEAD, reproducibly."""
    changed = run('git', '-C', TOP, 'status', '--porcelain').decode()
    if changed and not dirty:
        raise SystemExit(f'{changed}commit these first: a release is what a clone has (or --dirty)')
    tar = run('git', '-C', TOP, 'archive', '--format=tar', f'--prefix=leon-{version}/', 'HEAD')
    path = out / f'leon-{version}.tar.gz'
    path.write_bytes(gzip.compress(tar, mtime=0))
    return path


def packages(out, debs, version):
    """Returns the packages of this version. An error names the first missing package."""
    found = []
    for name in PACKAGES:
        paths = sorted(debs.glob(f'{name}_{version}_*.deb'))
        if not paths:
            raise SystemExit(f'{debs}/{name}_{version}_*.deb is not there: run "make deb" first')
        found += [Path(shutil.copy2(path, out)) for path in paths]
    return found


def systems(leond):
    """Systems on which the package installs. A package that was built on Debian 13 needs libraries
    that Debian 12 does not have."""
    depends = run('dpkg-deb', '-f', leond, 'Depends').decode()
    return 'Debian 13' if 'libssl3t64' in depends else 'Debian 12 and 13, and VyOS 1.5'


def repository(folder, debs, key=None):
    """Makes an apt repository of the packages, with the public half of the key if one is given."""
    conf = folder / 'conf'
    conf.mkdir(parents=True)
    sign = f'SignWith: {key}\n' if key else ''
    (conf / 'distributions').write_text(DISTRIBUTION.format(
        suite=SUITE, sign=sign, description=f'LEON for {systems(debs[0])}'))
    for deb in debs:
        run('reprepro', '--basedir', folder, 'includedeb', SUITE, deb)
    if key:
        (folder / 'leon.gpg').write_bytes(run('gpg', '--export', key))
    # Only reprepro needs the database; a web server does not.
    for name in ('conf', 'db'):
        shutil.rmtree(folder / name)


def image(out, folder, version):
    """Copies the images and their lists. The raw image is mostly zero, so the copy is
    compressed."""
    lists = []
    for qcow2 in sorted(folder.glob(f'leon-{version}-*.qcow2')):
        shutil.copy2(qcow2, out)
        run('zstd', '-q', '-T0', '-f', qcow2.with_suffix('.raw'), '-o', out / f'{qcow2.stem}.raw.zst')
        lists.append(Path(shutil.copy2(qcow2.with_suffix('.packages'), out)))
    if not lists:
        raise SystemExit(f'{folder} has no image of {version}: run "make image" first')
    return lists


def closure(names):
    """Returns lines 'package version architecture' of the installed dependencies of the
    packages."""
    form = '${Package}\t${Version}\t${Architecture}\t${Depends},${Pre-Depends}\t${Provides}\n'
    known, provided = {}, {}
    for line in run('dpkg-query', '-W', '-f', form).decode().splitlines():
        name, version, arch, depends, provides = line.split('\t')
        known[name] = (version, arch, depends)
        for other in re.findall(r'([a-z0-9][a-z0-9.+-]+)', re.sub(r'\([^)]*\)', '', provides)):
            provided.setdefault(other, name)
    found, todo = {}, list(names)
    while todo:
        name = todo.pop()
        name = name if name in known else provided.get(name)
        if name is None or name in found:
            continue
        found[name] = known[name]
        for choice in re.sub(r'\([^)]*\)|:any', '', known[name][2]).split(','):
            todo += [word for word in (part.strip() for part in choice.split('|')) if word][:1]
    return [f'{name} {version} {arch}' for name, (version, arch, _) in sorted(found.items())]


def contents(debs):
    """Lists the packages and their dependencies in Debian, as on the build machine."""
    lines, names = [], set()
    for deb in debs:
        fields = run('dpkg-deb', '-f', deb, 'Package', 'Version', 'Architecture', 'Depends').decode()
        field = dict(line.split(': ', 1) for line in fields.splitlines())
        lines.append(f'{field["Package"]} {field["Version"]} {field["Architecture"]}')
        names |= set(re.findall(r'(?:^|, )([a-z0-9.+-]+)', field.get('Depends', '')))
    own = {line.split()[0] for line in lines}
    return lines + [line for line in closure(names - own) if line.split()[0] not in own]


def get_sbom_tool(tools):
    """Downloads debsbom. The name of the folder has the versions, so new ones are downloaded."""
    if tools.is_dir():
        return
    print(f'debsbom and its dependencies are downloaded from PyPI ({SBOM_TOOL.name})', flush=True)
    new = tools.with_suffix('.new')
    shutil.rmtree(new, ignore_errors=True)
    run(sys.executable, '-m', 'pip', '-q', '--disable-pip-version-check', 'install', '--target', new,
        '--require-hashes', '-r', SBOM_TOOL)
    new.rename(tools)


def sbom(tools, target, lines, version):
    """Writes TARGET.cdx.json and TARGET.spdx.json about packages, reproducibly."""
    number = uuid.uuid5(NAMESPACE, f'sbom/{target.name}')
    stamp = run('date', '-u', '-d', f'@{changelog("Timestamp")}', '+%Y-%m-%dT%H:%M:%SZ').decode()
    arch = run('dpkg', '--print-architecture').decode().strip()
    run(sys.executable, tools / 'bin/debsbom', 'generate', '--from-pkglist', '-t', 'cdx', '-t', 'spdx',
        '--validate', '--distro-name', 'LEON', '--distro-version', version, '--distro-arch', arch,
        '--timestamp', stamp.strip(), '--cdx-serialnumber', str(number), '--spdx-namespace',
        f'urn:uuid:{number}', '-o', target, given=('\n'.join(lines) + '\n').encode(),
        env={'PYTHONPATH': str(tools), 'PATH': '/usr/bin:/bin', 'PYTHONHASHSEED': '0'})


def notes(version):
    """Returns the part of the changelog about this version, else the unreleased part."""
    text = (TOP / 'CHANGELOG.md').read_text(encoding='utf-8')
    for name in (re.escape(version), 'Unreleased'):
        found = re.search(rf'^## \[{name}\].*?(?=^## \[|\Z)', text, re.M | re.S)
        if found:
            return found[0].rstrip() + '\n'
    raise SystemExit(f'CHANGELOG.md has no section "## [{version}]"')


def checksums(out, key):
    lines = []
    for path in sorted(out.rglob('*')):
        if path.is_file():
            digest = hashlib.sha256(path.read_bytes()).hexdigest()
            lines.append(f'{digest}  {path.relative_to(out)}\n')
    sums = out / 'SHA256SUMS'
    sums.write_text(''.join(lines))
    if key:
        run('gpg', '--batch', '--yes', '--local-user', key, '--armor', '--detach-sign', sums)


def fill(out, tools, version, options):
    """Writes the whole release. Returns the number of packages."""
    source(out, version, options.dirty)
    debs = packages(out, options.debs, version)
    repository(out / 'apt', debs, options.key)
    sbom(tools, out / f'leon-{version}', contents(debs), version)
    if options.image:
        for path in image(out, options.image, version):
            sbom(tools, out / f'{path.stem}.image', path.read_text().splitlines(), version)
    (out / 'NOTES').write_text(notes(version))
    checksums(out, options.key)
    return len(debs)


def main():
    parser = argparse.ArgumentParser(usage=__doc__)
    version = tree_version()
    parser.add_argument('--out', type=Path, default=TOP / f'build/release/leon-{version}')
    parser.add_argument('--debs', type=Path, default=TOP / 'build/deb')
    parser.add_argument('--image', type=Path)
    parser.add_argument('--key')
    parser.add_argument('--dirty', action='store_true')
    options = parser.parse_args()
    place = options.out.resolve()
    tools = place.parent / f'debsbom-{hashlib.sha256(SBOM_TOOL.read_bytes()).hexdigest()[:12]}'
    get_sbom_tool(tools)
    out = place.with_name(f'{place.name}.new')
    shutil.rmtree(out, ignore_errors=True)
    out.mkdir(parents=True)
    try:
        n = fill(out, tools, version, options)
    except BaseException:
        shutil.rmtree(out)
        raise
    shutil.rmtree(place, ignore_errors=True)
    out.rename(place)
    print(f'{place}: {n} packages, {"signed by " + options.key if options.key else "not signed"}')


if __name__ == '__main__':
    main()
