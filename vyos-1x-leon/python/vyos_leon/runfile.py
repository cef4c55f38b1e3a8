# SPDX-License-Identifier: GPL-2.0-or-later
"""Files of root below /run/leon, a directory of the user of the daemon.

A document contains the pre-shared secret, so other users can never read the document, not even
during a write. The daemon may read at any time, so a document is complete or absent. Temporary
files have random new names, so a compromised daemon cannot redirect a write of root by a link.
"""

import contextlib
import os
import shutil
import tempfile

from vyos_leon.client import RUN_DIR

USER = 'leon'
GROUP = 'leon'


def config_path(interface):
    return f'{RUN_DIR}/{interface}.json'


def _prepare_directory(path):
    """Creates the directory as RuntimeDirectory= of the unit does, because the first commit
    precedes the unit."""
    if os.path.isdir(path):
        return
    os.makedirs(path, mode=0o750)
    shutil.chown(path, USER, GROUP)


def replace(path, text, check):
    """Writes the text to a temporary file, checks the file and renames the file. `check` gets the
    name and raises an exception for an invalid file. The original then stays unchanged."""
    folder, name = os.path.split(path)
    _prepare_directory(folder)
    descriptor, candidate = tempfile.mkstemp(prefix=f'.{name}.', dir=folder)
    try:
        with os.fdopen(descriptor, 'w', encoding='utf-8') as file:
            file.write(text)
            shutil.chown(file.fileno(), group=GROUP)
            os.fchmod(file.fileno(), 0o640)
        check(candidate)
        os.replace(candidate, path)
    except BaseException:
        os.unlink(candidate)
        raise


def remove(interface):
    """Removes the files of a deleted interface: the document and the known members."""
    for name in (f'{interface}.json', f'{interface}.members'):
        with contextlib.suppress(FileNotFoundError):
            os.unlink(os.path.join(RUN_DIR, name))
