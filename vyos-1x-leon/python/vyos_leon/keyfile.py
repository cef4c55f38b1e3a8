# SPDX-License-Identifier: GPL-2.0-or-later
"""Where the identity keys of this router's LEON interfaces are: under /config, the only
directory that VyOS takes along to a new image. With another key this router would be
somebody else, whom no node that lists identities lets in.

leond makes and reads the files as a user of its own. A new image may give that user
another number, the installer makes directories root's, and people restore files as
root: each commit, and so each boot, puts that right before leond starts. The directory
is the daemon's: root follows no link in it. The installer of images does, and makes a
file of root's of what a link led to; so nothing is given away that is no key.
"""

import contextlib
import os
import re
import shutil
import stat

from vyos_leon import runfile

DIRECTORY = '/config/leon'


# What leond writes.
KEY = re.compile(rb'[0-9a-fA-F]{64}\n?')


def path(interface):
    return f'{DIRECTORY}/{interface}.identity'


def _give(descriptor, mode):
    shutil.chown(descriptor, runfile.USER, runfile.GROUP)
    os.fchmod(descriptor, mode)


def prepare(interface):
    """Makes the directory, and it and the file the daemon's own. Raises OSError."""
    os.makedirs(DIRECTORY, mode=0o700, exist_ok=True)
    folder = os.open(DIRECTORY, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW)
    try:
        _give(folder, 0o700)
        # No file yet, or a link: leond makes the one and refuses the other.
        with contextlib.suppress(OSError):
            _give_file(folder, f'{interface}.identity')
    finally:
        os.close(folder)


def _give_file(folder, name):
    flags = os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK
    file = os.open(name, flags, dir_fd=folder)
    try:
        seen = os.fstat(file)
        if (
            stat.S_ISREG(seen.st_mode)
            and seen.st_nlink == 1
            and KEY.fullmatch(os.read(file, 128))
        ):
            _give(file, 0o600)
    finally:
        os.close(file)
