# SPDX-License-Identifier: GPL-2.0-or-later
"""Files under /run/leon, a directory that belongs to the daemon's user, written by
root.

A document holds the pre-shared secret: it is never readable by others, not even while
it is written, and it is complete or absent, since the daemon may read it at any moment.
The names of temporary files are random and new, so a daemon that was taken over cannot
lead root's pen elsewhere with a link.
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
    """As the unit's RuntimeDirectory= would make it; the first commit comes before the
    unit."""
    if os.path.isdir(path):
        return
    os.makedirs(path, mode=0o750)
    shutil.chown(path, USER, GROUP)


def replace(path, text, check):
    """Writes the text beside the path, has it checked, and moves it into place. `check`
    gets the name of the file to look at and raises what it has against it; then nothing
    has changed."""
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
    """What an interface that was deleted leaves behind: its document and its known
    members."""
    for name in (f'{interface}.json', f'{interface}.members'):
        with contextlib.suppress(FileNotFoundError):
            os.unlink(os.path.join(RUN_DIR, name))
