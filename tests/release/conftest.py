# SPDX-License-Identifier: GPL-2.0-or-later
"""The packages, a release with its key, and the temporary roots of tests/packaging."""
import hashlib
import importlib.util
import os
import subprocess
import sys
from pathlib import Path

import pytest

TOP = Path(__file__).resolve().parents[2]
sys.path += [str(TOP / 'packaging/release'), str(TOP / 'packaging/image'), str(TOP / 'tests/packaging')]
_spec = importlib.util.spec_from_file_location('packaging_conftest', TOP / 'tests/packaging/conftest.py')
_packaging = importlib.util.module_from_spec(_spec)
_spec.loader.exec_module(_packaging)
Root = _packaging.Root


def built(folder, umask, **env):
    subprocess.run(
        ['sh', '-c', f'umask {umask}; exec "$0" "$1"', TOP / 'packaging/build-deb.sh', folder],
        env={**os.environ, 'DEB_BUILD_OPTIONS': 'nocheck parallel=2', **env}, check=True,
        stdout=subprocess.DEVNULL, timeout=1800)
    return checksums(folder)


def checksums(folder):
    return {path.name: hashlib.sha256(path.read_bytes()).hexdigest()
            for path in sorted(folder.glob('*.deb'))}


@pytest.fixture(scope='session')
def debs(tmp_path_factory):
    """Folder of the packages, and their checksums. LEON_DEB names a leond_*.deb that is built."""
    given = os.environ.get('LEON_DEB')
    if given:
        return Path(given).resolve().parent, checksums(Path(given).resolve().parent)
    folder = tmp_path_factory.mktemp('debs')
    return folder, built(folder, '022')


@pytest.fixture(scope='session')
def key(tmp_path_factory):
    """A gpg key for the run, in a private home directory."""
    home = tmp_path_factory.mktemp('gpg')
    home.chmod(0o700)
    before = os.environ.get('GNUPGHOME')
    os.environ['GNUPGHOME'] = str(home)
    subprocess.run(['gpg', '--batch', '--passphrase', '', '--quick-gen-key', 'leon@example.net',
                    'ed25519', 'sign', 'never'], check=True, capture_output=True)
    yield 'leon@example.net'
    subprocess.run(['gpgconf', '--kill', 'all'], check=False)
    os.environ.pop('GNUPGHOME')
    if before:
        os.environ['GNUPGHOME'] = before


@pytest.fixture(scope='session')
def out(debs, key, tmp_path_factory):
    folder = tmp_path_factory.mktemp('release') / 'leon'
    subprocess.run([sys.executable, '-B', TOP / 'packaging/release/release.py', '--out', folder,
                    '--debs', debs[0], '--key', key, '--dirty'], check=True, timeout=900)
    return folder
