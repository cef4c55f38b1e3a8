# SPDX-License-Identifier: GPL-2.0-or-later
"""The files for vyos-build and the requirements of its scripts, and the builder of appliances with
a simulated qemu-img.
"""
import hashlib
import os
import subprocess
import sys
import tarfile
import tomllib
from pathlib import Path

import pytest
from lxml import etree

TOP = Path(__file__).resolve().parents[2]
FOLDER = TOP / 'packaging/vyos-build'
FLAVORS = sorted((FOLDER / 'flavors').glob('*.toml'))


def test_package():
    (package,) = tomllib.loads((FOLDER / 'package.toml').read_text())['packages']
    assert {'name', 'commit_id', 'scm_url', 'build_cmd'} <= set(package)
    assert package['build_cmd'].startswith('dpkg-buildpackage ')


@pytest.mark.parametrize('path', FLAVORS, ids=lambda path: path.stem)
def test_flavor(path):
    flavor = tomllib.loads(path.read_text())
    wanted = path.stem.removeprefix('leon-')
    assert flavor.get('artifact_format', flavor['image_format']) == wanted
    # The script appends the packages of the architecture to an existing list.
    assert flavor['packages']
    assert flavor['architectures']['amd64']['packages']
    assert flavor['image_format'] == 'iso' or flavor['disk_size'] >= 10


def test_every_image_is_documented():
    text = (TOP / 'vyos-1x-leon/doc/vyos-image.md').read_text()
    assert [path.stem for path in FLAVORS if path.stem not in text] == []
    assert len(FLAVORS) == 4


def test_hook_of_the_appliance_is_there():
    hook = tomllib.loads((FOLDER / 'flavors/leon-ova.toml').read_text())['build_hook']
    assert hook.startswith('#!/bin/sh\n') and '/make-ova "$1"' in hook
    assert os.access(FOLDER / 'make-ova', os.X_OK)


def test_appliance(tmp_path):
    """The members in the specified order, correct digests, and a description with the member
    names."""
    (tmp_path / 'bin').mkdir()
    tool = tmp_path / 'bin/qemu-img'
    tool.write_text('#!/bin/sh\nfor target; do :; done\necho "$@" >"$target"\necho converting\n')
    tool.chmod(0o755)
    raw = tmp_path / 'vyos-1.5-leon.raw'
    raw.write_bytes(b'\0' * 4096)
    done = subprocess.run(
        [sys.executable, '-B', FOLDER / 'make-ova', raw], capture_output=True, text=True,
        timeout=60, check=True, env={'PATH': f'{tmp_path}/bin:/usr/bin:/bin'},
    )
    # Only the name, which vyos-build reads.
    assert done.stdout == f'{tmp_path}/vyos-1.5-leon.ova\n'
    with tarfile.open(tmp_path / 'vyos-1.5-leon.ova') as archive:
        members = {member.name: archive.extractfile(member).read() for member in archive}
    ovf, manifest, disk = members
    assert (ovf, manifest) == ('vyos-1.5-leon.ovf', 'vyos-1.5-leon.mf')
    assert b'subformat=streamOptimized' in members[disk]
    lines = [f'SHA256({n})= {hashlib.sha256(members[n]).hexdigest()}\n' for n in (ovf, disk)]
    assert members[manifest].decode() == ''.join(lines)

    root = etree.fromstring(members[ovf])
    space = {'o': 'http://schemas.dmtf.org/ovf/envelope/1'}
    (file,) = root.iterfind('o:References/o:File', space)
    assert file.get(f'{{{space["o"]}}}href') == disk
    assert file.get(f'{{{space["o"]}}}size') == str(len(members[disk]))
    (capacity,) = root.xpath('//o:Disk/@o:capacity', namespaces=space)
    assert capacity == '4096'
    assert sorted(p.name for p in tmp_path.glob('vyos*')) == [
        'vyos-1.5-leon.ova', 'vyos-1.5-leon.raw']  # fmt: skip


def test_appliance_says_what_it_wants():
    done = subprocess.run(
        [sys.executable, '-B', FOLDER / 'make-ova'], capture_output=True, text=True, timeout=60,
        check=False,
    )
    assert done.returncode == 1 and 'Usage: make-ova' in done.stderr
