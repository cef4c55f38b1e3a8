# SPDX-License-Identifier: GPL-2.0-or-later
"""Builds a .deb from an installed package, because dpkg does not keep the installed file.

VyOS removes manual pages and symbols from its images after the installation, so the present files
count instead of the list of dpkg. A missing program is a fault. vyos_leon.boot calls the module as
root.
"""

import hashlib
import os
import shutil
import subprocess
import tempfile

# Files that VyOS removes from images, because no program needs the files.
DISPENSABLE = ('/usr/share/doc/', '/usr/share/lintian/', '/usr/share/locale/', '/usr/share/man/')
# dpkg's own records of an installed package. A .deb does not contain them.
RECORDS = ('list', 'md5sums')


class Fault(Exception):
    """One sentence with the remedy."""


def _query(*arguments):
    done = subprocess.run(
        ['dpkg-query', *arguments], capture_output=True, text=True, timeout=60
    )
    if done.returncode != 0:
        raise Fault(f'dpkg does not know what was installed: {done.stderr.strip()}')
    return done.stdout


def _is_folder(path, listed):
    """/lib is a link, although packages have it as a directory."""
    if os.path.islink(path):
        return any(other.startswith(path + '/') for other in listed)
    return os.path.isdir(path)


def _files(package):
    """(path, whether it is a directory) of all present files."""
    lines = _query('--listfiles', package).splitlines()
    # The list of names also contains notes on diversions.
    listed = [line for line in lines if line.startswith('/') and line != '/.']
    for path in listed:
        if os.path.lexists(path):
            yield path, _is_folder(path, listed)
        elif not path.startswith(DISPENSABLE):
            raise Fault(f'{path} is missing: install the package {package} again.')


def _scripts(package):
    names = _query('--control-list', package).split()
    for name in sorted(set(names) - set(RECORDS)):
        yield name, _query('--control-path', package, name).strip()


def _control(package):
    """The fields of the package, without fields of dpkg's database."""
    kept, taken = [], False
    for line in _query('--status', package).splitlines():
        if not line.startswith(' '):
            taken = line.split(':')[0] not in ('Status', 'Conffiles', 'Config-Version')
        if taken:
            kept.append(line)
    return '\n'.join(kept) + '\n'


def is_unpacked(package):
    """True from the unpacking on: a package calls this module in its own postinst."""
    done = subprocess.run(
        ['dpkg-query', '--show', '--showformat', '${db:Status-Status}', package],
        capture_output=True,
        text=True,
        timeout=60,
    )
    return done.stdout not in ('', 'not-installed', 'config-files', 'half-installed')


def version(package):
    return _query('--show', '--showformat', '${Version}', package)


def digest(packages):
    """A fingerprint of the content of a package. An unchanged package is not built again."""
    found = hashlib.sha256()

    def add(name, path):
        link = os.path.islink(path)
        found.update(f'{name}\0{link}\0'.encode())
        if link:
            found.update(os.readlink(path).encode())
        else:
            with open(path, 'rb') as file:
                found.update(file.read())

    for package in packages:
        found.update(version(package).encode())
        for name, path in _scripts(package):
            add(name, path)
        for path, is_folder in sorted(_files(package)):
            if not is_folder and not path.startswith(DISPENSABLE):
                add(path, path)
    return found.hexdigest()


def _copy(package, tree):
    sums = []
    for path, is_folder in _files(package):
        target = tree + path
        if is_folder:
            os.makedirs(target, exist_ok=True)
            shutil.copymode(path, target)
            continue
        os.makedirs(os.path.dirname(target), exist_ok=True)
        shutil.copy2(path, target, follow_symlinks=False)
        if not os.path.islink(path):
            with open(path, 'rb') as file:
                sums.append(f'{hashlib.md5(file.read()).hexdigest()}  {path[1:]}\n')
    return ''.join(sums)


def _write(path, text):
    with open(path, 'w', encoding='utf-8') as file:
        file.write(text)


def build(package, target):
    """Writes the .deb to `target`."""
    with tempfile.TemporaryDirectory(prefix='leon-repack.') as folder:
        tree = f'{folder}/tree'
        os.makedirs(f'{tree}/DEBIAN', mode=0o755)
        os.chmod(tree, 0o755)
        os.chmod(f'{tree}/DEBIAN', 0o755)
        _write(f'{tree}/DEBIAN/md5sums', _copy(package, tree))
        _write(f'{tree}/DEBIAN/control', _control(package))
        for name, path in _scripts(package):
            shutil.copy(path, f'{tree}/DEBIAN/{name}')
        done = subprocess.run(
            ['dpkg-deb', '--root-owner-group', '-Zgzip', '--build', tree, target],
            capture_output=True,
            text=True,
            timeout=120,
        )
    if done.returncode != 0:
        raise Fault(f'dpkg-deb cannot make a package of {package}: {done.stderr.strip()}')
