# SPDX-License-Identifier: GPL-2.0-or-later
"""The metadata and the contents of a .deb."""
import subprocess
from pathlib import Path


def field(deb: Path, name: str) -> str:
    return subprocess.run(
        ['dpkg-deb', '-f', deb, name], check=True, capture_output=True, text=True, timeout=60
    ).stdout.strip()


def contents(deb: Path, out: Path) -> dict:
    """Name in the package -> the unpacked file."""
    subprocess.run(['dpkg-deb', '-x', deb, out], check=True, timeout=300)
    return {'/' + str(p.relative_to(out)): p for p in out.rglob('*') if not p.is_dir()}


def status(root, name):
    query = ('dpkg-query', '-W', '-f', '${db:Status-Abbrev}', name)
    return root.run(*query, check=False).stdout.strip()


def make_joined_package(root, name, version):
    """Makes /tmp/before.deb: a leond of this version with the files of the package `name`."""
    root.run('sh', '-ec', f"""
        dpkg-deb -R /tmp/leond.deb /tmp/before
        dpkg-deb -x /tmp/{name}.deb /tmp/before
        rm -r /tmp/before/usr/share/doc/{name}
        sed -i 's/^Version: .*/Version: {version}/' /tmp/before/DEBIAN/control
        dpkg-deb --root-owner-group --build /tmp/before /tmp/before.deb""")


def make_release(root, version, *names):
    """Makes /tmp/NAME-VERSION.deb of each /tmp/NAME.deb: the same packages as another release.
    Returns the paths."""
    present = field_in(root, names[0], 'Version')
    made = [f'/tmp/{name}-{version}.deb' for name in names]
    for name, path in zip(names, made):
        root.run('sh', '-ec', f"""
            dpkg-deb -R /tmp/{name}.deb /tmp/{name}-{version}
            sed -i 's/{present}/{version}/g' /tmp/{name}-{version}/DEBIAN/control
            dpkg-deb --root-owner-group --build /tmp/{name}-{version} {path}""")
    return made


def field_in(root, name, key):
    return root.run('dpkg-deb', '-f', f'/tmp/{name}.deb', key).stdout.strip()
