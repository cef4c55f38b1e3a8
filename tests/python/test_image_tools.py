# SPDX-License-Identifier: GPL-2.0-or-later
"""The files for vyos-build and the requirements of its scripts, the builder of appliances with a
simulated qemu-img, and the needs of tests/vm.
"""
import hashlib
import os
import re
import subprocess
import sys
import tarfile
import tomllib
from pathlib import Path
from types import SimpleNamespace

import pytest
from lxml import etree

TOP = Path(__file__).resolve().parents[2]
FOLDER = TOP / 'packaging/vyos-build'
sys.path[:0] = [str(FOLDER), str(TOP / 'packaging/image')]

import image_vyos  # noqa: E402

DOCUMENT = TOP / 'vyos-1x-leon/doc/vyos-image.md'
# The branch of VyOS, its container and its package repository since June 2026.
BRANCH = 'rolling'
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
    text = DOCUMENT.read_text()
    assert [path.stem for path in FLAVORS if path.stem not in text] == []
    assert len(FLAVORS) == 4


def test_the_document_names_the_branch_of_vyos():
    text = DOCUMENT.read_text()
    assert re.findall(r'git clone -b (\S+) .*/vyos-build', text) == [BRANCH]
    assert re.findall(r'vyos/vyos-build:(\S+)', text) == [BRANCH]


def repository(path, branch, files):
    """A repository with one commit, on `branch`."""
    for name, text in files.items():
        (path / name).parent.mkdir(parents=True, exist_ok=True)
        (path / name).write_text(text)
    git = ('git', '-C', path, '-c', 'user.name=x', '-c', 'user.email=x@example.net')
    subprocess.run(['git', 'init', '-q', '-b', branch, path], check=True)
    subprocess.run([*git, 'add', '.'], check=True)
    subprocess.run([*git, 'commit', '-q', '-m', 'x'], check=True)
    return path


@pytest.mark.parametrize('name', [BRANCH, 'current'])
@pytest.mark.parametrize('cloned', [BRANCH, 'main'])
def test_branch_of_vyos(tmp_path, monkeypatch, name, cloned):
    """vyos-build looks up the name of the branch in data/versions, and checks vyos-1x out at
    vyos_branch. Both clones have this branch, also from a source at another branch."""
    build = repository(tmp_path / 'vyos-build', cloned, {
        'data/defaults.toml': f'vyos_branch = "{name}"\n', 'packages/.keep': ''})
    one_x = repository(tmp_path / 'vyos-1x', cloned, {'python/vyos/__init__.py': ''})
    (tmp_path / 'work').mkdir()
    monkeypatch.setattr(image_vyos.roots, 'Mirror', lambda *_, **__: None)
    monkeypatch.setattr(image_vyos.roots, 'Tools', lambda *_, **__: SimpleNamespace(work=tmp_path / 'work'))
    monkeypatch.setattr(image_vyos.build, 'tree_version', lambda: '1~git20261129')
    # Packages of a cross build, and of another release.
    for package in image_vyos.OUR_PACKAGES:
        for suffix in ('1~git20261129_amd64', '1~git20261129_arm64', '1_amd64'):
            (tmp_path / f'{package}_{suffix}.deb').touch()
    builder = image_vyos.Builder(SimpleNamespace(
        out=tmp_path / 'out', debs=tmp_path, vyos_build=str(build), vyos_1x=str(one_x)))
    builder.prepare()
    vyos = tmp_path / 'work/vyos'
    for folder in (vyos, vyos / 'build/vyos-1x'):
        head = subprocess.run(['git', '-C', folder, 'symbolic-ref', '--short', 'HEAD'], check=True,
                              capture_output=True, text=True)
        assert head.stdout.strip() == name
    assert {path.name for path in (vyos / 'packages').glob('*.deb')} == {
        f'{package}_1~git20261129_amd64.deb' for package in image_vyos.OUR_PACKAGES}
    assert {path.name for path in (vyos / 'flavors').iterdir()} == {path.name for path in FLAVORS}


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


def test_container_of_the_tests_needs_busybox(tmp_path):
    """busybox ends the machine. Without busybox, the program would wait without end."""
    done = subprocess.run(
        [sys.executable, '-B', TOP / 'tests/vm/container.py', 'true'], capture_output=True,
        text=True, timeout=60, check=False, env={'PATH': str(tmp_path)},
    )
    assert done.returncode == 1 and 'install busybox-static' in done.stderr
