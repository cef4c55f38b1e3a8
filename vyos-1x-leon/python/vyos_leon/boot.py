# SPDX-License-Identifier: GPL-2.0-or-later
"""Keeps a router reachable after a boot of an image without this package. Installs
packaging/vyos/leon-boot for each boot, and stores the packages that leon-boot installs.

Both are in /config, which `add system image` copies, in a directory of root, because root installs
its content. The identity keys have another directory, which belongs to the daemon. Callers are each
commit of `interfaces leon`, the maintainer scripts of the package (`python3 -m vyos_leon.boot`)
and, read-only, the operational mode. doc/decisions/008-tap-owner.md.
"""

import contextlib
import hashlib
import json
import os
import re
import shutil
import stat
import sys
import tempfile

from vyos_leon import repack
from vyos_leon.repack import Fault

DIRECTORY = '/config/leon-boot'
SCRIPT = '/config/scripts/vyos-preconfig-bootup.script'
SAVED = '/config/config.boot'
ACTIVE = '/opt/vyatta/config/active/interfaces/leon'
PROGRAM = '/usr/libexec/vyos-1x-leon/leon-boot'
PACKAGES = ('leond', 'vyos-1x-leon')
# Kept if present.
OPTIONAL = ('leon-accel', 'leon-portmap', 'vyos-1x-leon-lisp')
OWNER = 0

LINE = '[ ! -x /config/leon-boot/run ] || /config/leon-boot/run  # by vyos-1x-leon'
# A line from an earlier manual. The line lets root install files that the user of the daemon may
# write.
UNSAFE = (
    '[ -e /usr/libexec/vyos/conf_mode/interfaces_leon.py ] || dpkg -i /config/leon/*.deb'
)
HEADER = '#!/bin/sh\n# Runs at each boot, before the configuration is applied.\n'
SHELL = re.compile(r'#!\s*\S*/(env\s+)?(ba|da|vba)?sh\b')
NAMED = re.compile(r'^ {4}leon leon[0-9]+ \{', re.M)


# --- configuration ---


def is_saved():
    """True if the next boot loads a LEON interface."""
    try:
        with open(SAVED, encoding='utf-8', errors='replace') as file:
            return bool(NAMED.search(file.read()))
    except FileNotFoundError:
        return False


def active():
    """The LEON interfaces of the running configuration."""
    try:
        return sorted(name for name in os.listdir(ACTIVE) if name.startswith('leon'))
    except OSError:
        return []


# --- the directory ---


def _sum(path):
    with open(path, 'rb') as file:
        return hashlib.sha256(file.read()).hexdigest()


def _is_ours(path, kind):
    seen = os.lstat(path)
    return kind(seen.st_mode) and seen.st_uid == OWNER and not seen.st_mode & 0o022


def _packages():
    return (*PACKAGES, *(package for package in OPTIONAL if repack.is_unpacked(package)))


def _made_of():
    return repack.digest(_packages()) + _sum(PROGRAM)


def _kept():
    """The recorded content of the directory; None if the directory was modified."""
    try:
        if not _is_ours(DIRECTORY, stat.S_ISDIR):
            return None
        with open(f'{DIRECTORY}/contents.json', encoding='utf-8') as file:
            contents = json.load(file)
        for name, digest in contents['files'].items():
            path = f'{DIRECTORY}/{name}'
            if not _is_ours(path, stat.S_ISREG) or _sum(path) != digest:
                return None
    except (OSError, ValueError, KeyError):
        return None
    return contents


def _fill(folder, made_of):
    packages = _packages()
    names = {package: f'{package}.deb' for package in packages}
    for package, name in names.items():
        repack.build(package, f'{folder}/{name}')
    shutil.copyfile(PROGRAM, f'{folder}/run')
    sums = {name: _sum(f'{folder}/{name}') for name in (*names.values(), 'run')}
    contents = {
        'made-of': made_of,
        'packages': {package: repack.version(package) for package in packages},
        'files': sums,
    }
    with open(f'{folder}/SHA256SUMS', 'w', encoding='utf-8') as file:
        file.writelines(f'{digest}  {name}\n' for name, digest in sums.items())
    with open(f'{folder}/contents.json', 'w', encoding='utf-8') as file:
        json.dump(contents, file, indent=4)
    for name in os.listdir(folder):
        path = f'{folder}/{name}'
        os.chmod(path, 0o700 if name == 'run' else 0o600)
        with open(path, 'rb') as file:
            os.fsync(file.fileno())


def _remove(path):
    if os.path.isdir(path) and not os.path.islink(path):
        shutil.rmtree(path)
    else:
        with contextlib.suppress(FileNotFoundError):
            os.unlink(path)


def _keep():
    """Builds the directory under another name and renames the result, so the directory is never
    incomplete."""
    made_of = _made_of()
    contents = _kept()
    if contents and contents['made-of'] == made_of:
        return
    fresh = tempfile.mkdtemp(prefix='.leon-boot.', dir=os.path.dirname(DIRECTORY))
    try:
        os.chmod(fresh, 0o700)  # new directories in /config are accessible to a group
        _fill(fresh, made_of)
        if os.path.lexists(DIRECTORY):
            old = tempfile.mkdtemp(prefix='.leon-boot.', dir=os.path.dirname(DIRECTORY))
            os.rename(DIRECTORY, f'{old}/old')
            shutil.rmtree(old, ignore_errors=True)
        os.rename(fresh, DIRECTORY)
    except BaseException:
        shutil.rmtree(fresh, ignore_errors=True)
        raise


# --- boot script ---


def _read_script():
    try:
        with open(SCRIPT, encoding='utf-8', errors='surrogateescape') as file:
            return file.read()
    except FileNotFoundError:
        return None


def _write_script(text):
    """Replaces the file atomically and keeps owner and mode."""
    folder = os.path.dirname(SCRIPT)
    os.makedirs(folder, mode=0o775, exist_ok=True)
    owner, group, mode = OWNER, -1, 0o755
    with contextlib.suppress(FileNotFoundError):
        seen = os.stat(SCRIPT)
        owner, group, mode = seen.st_uid, seen.st_gid, stat.S_IMODE(seen.st_mode)
    descriptor, path = tempfile.mkstemp(prefix='.leon-boot.', dir=folder)
    try:
        with os.fdopen(
            descriptor, 'w', encoding='utf-8', errors='surrogateescape'
        ) as file:
            file.write(text)
            os.fchown(file.fileno(), owner, group)
            os.fchmod(file.fileno(), mode)
        os.replace(path, SCRIPT)
    except BaseException:
        os.unlink(path)
        raise


def _script_fault(text):
    if text is None or LINE not in text.splitlines():
        return f'{SCRIPT} does not run {DIRECTORY}/run.'
    if not os.access(SCRIPT, os.X_OK):
        return f'{SCRIPT} is not executable: make it so, or remove it.'
    return None


def _hook():
    """Inserts at the top, because the operator's part may end with an exit."""
    text = _read_script()
    if text is None:
        text = HEADER
    lines = text.splitlines(keepends=True)
    if not lines or not SHELL.match(lines[0]):
        raise Fault(
            f'{SCRIPT} is no shell script: have it run {DIRECTORY}/run before all else, '
            f'or make it one.'
        )
    rest = [line for line in lines[1:] if line.strip() not in (LINE, UNSAFE)]
    wanted = ''.join([lines[0].rstrip('\n'), '\n', LINE, '\n', *rest])
    if wanted != _read_script():
        _write_script(wanted)
    fault = _script_fault(wanted)
    if fault:
        raise Fault(fault)


def _unhook():
    text = _read_script()
    if text is None:
        return
    kept = [line for line in text.splitlines(keepends=True) if line.strip() != LINE]
    if ''.join(kept) != text:
        _write_script(''.join(kept))


# --- entry points ---


def arrange():
    """Raises Fault or OSError if a boot without the package would fail."""
    _keep()
    _hook()


def withdraw():
    _unhook()
    _remove(DIRECTORY)


def without_package():
    """The operator removes the package. A boot must not reinstall the package, but the router must
    stay reachable while LEON interfaces are configured."""
    if not is_saved():
        withdraw()
        return
    for name in (*(f'{package}.deb' for package in PACKAGES + OPTIONAL), 'SHA256SUMS', 'contents.json'):
        _remove(f'{DIRECTORY}/{name}')


def _contents_fault(contents):
    try:
        if contents['made-of'] != _made_of():
            return f'The packages in {DIRECTORY} are not those that are installed.'
    except (Fault, OSError) as e:
        return str(e)
    return None


def state():
    """The text of `show leon boot`."""
    contents = _kept()
    fault = _script_fault(_read_script())
    if contents is None:
        fault = f'No packages are kept in {DIRECTORY}, or others than root may write there.'
    elif not fault:
        fault = _contents_fault(contents)
    return {
        'needed': is_saved() or bool(active()),
        'arranged': fault is None,
        'fault': fault,
        'directory': DIRECTORY,
        'script': SCRIPT,
        'packages': contents['packages'] if contents else {},
    }


def text(found):
    if not found['needed'] and not found['packages']:
        return 'No LEON interface is configured: an image without LEON loses nothing.'
    if not found['arranged']:
        what = (
            'NOT ARRANGED: every part of the configuration that names a LEON interface '
            'would be lost, static routes and bridges among them'
        )
    else:
        what = 'LEON is installed before the configuration is loaded'
    lines = [('boot without LEON', what)]
    if found['fault']:
        lines.append(('fault', found['fault']))
    for package, version in found['packages'].items():
        lines.append(('kept', f'{package} {version}'))
    lines += [('kept in', found['directory']), ('run by', found['script'])]
    return '\n'.join(f'{word:<17}  {value}' for word, value in lines)


def _main(verb):
    if verb == 'installed' and (active() or is_saved()):
        arrange()
    elif verb == 'removed':
        without_package()
    elif verb == 'active':
        print('\n'.join(active()))


if __name__ == '__main__':
    try:
        _main(sys.argv[1])
    except (Fault, OSError) as e:
        sys.exit(f'vyos-1x-leon: {e}')
