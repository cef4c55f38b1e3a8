# SPDX-License-Identifier: GPL-2.0-or-later
"""The place of the identity keys and invitations of the LEON interfaces: below /config, the only
directory that VyOS copies to a new image. With another key, the router would be an unknown node.
Overlays with listed identities refuse unknown nodes.

leond creates and reads the files as its own user. A new image may give the user another number,
the installer changes the owner of directories to root, and operators restore files as root. Each
commit, and so each boot, corrects the owner before leond starts. The directory belongs to the
daemon, so root follows no link there. The installer of images follows links and creates a file of
root from the target. Therefore only files with a key or invitations change the owner.
"""

import contextlib
import os
import re
import shutil
import stat

from vyos_leon import runfile

DIRECTORY = '/config/leon'


# Begin of the files that leond writes: a key, or invitations.
FORMAT = re.compile(rb'[0-9a-fA-F]{64}\n?|\{"version":\d+,"vni":\d+,"invitations":\[.*', re.DOTALL)


def path(interface):
    return f'{DIRECTORY}/{interface}.identity'


def _give(descriptor, mode):
    shutil.chown(descriptor, runfile.USER, runfile.GROUP)
    os.fchmod(descriptor, mode)


def prepare(interface):
    """Creates the directory and makes the daemon the owner of directory and files. Raises
    OSError."""
    os.makedirs(DIRECTORY, mode=0o700, exist_ok=True)
    folder = os.open(DIRECTORY, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW)
    try:
        _give(folder, 0o700)
        # No file yet, or a link: leond creates a missing file and refuses a link.
        for kind in ('identity', 'invitations'):
            with contextlib.suppress(OSError):
                _give_file(folder, f'{interface}.{kind}')
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
            and FORMAT.fullmatch(os.read(file, 128))
        ):
            _give(file, 0o600)
    finally:
        os.close(file)
