# SPDX-License-Identifier: GPL-2.0-or-later
"""Starts configured LEON interfaces after an installation of the package on a running router.

After a removal, the configuration has interfaces that do not run. After an upgrade, leond may
refuse the document of the previous release, and the previous leond still runs. In both cases the
configuration script writes the document again. At a boot nothing is configured yet. Called by the
package: `python3 -m vyos_leon.upgrade`.
"""

import contextlib
import os
import subprocess
import sys

from vyos_leon import boot, mac

RUN_DIR = '/run/leon'
SCRIPT = 'umask 002; exec /usr/libexec/vyos/conf_mode/interfaces_leon.py'
ADVICE = (
    'vyos-1x-leon: {name} does not run this release, because its configuration needs the change '
    'above.\n  To migrate the saved configuration, enter: configure; load; commit. A reboot '
    'migrates it too.\n  Until then, {name} runs the previous release if it ran before.'
)

# A commit without the templates of the package wrote a revision without LEON.
REVISION = (
    'vyos-1x-leon: {names} run again. A commit while the package was removed wrote a revision\n'
    '  without LEON. Commit a change before you use rollback or commit-confirm, which otherwise\n'
    '  delete these interfaces.'
)


def _is_accepted(name):
    check = ['/usr/sbin/leond', '--check', '--config', f'{RUN_DIR}/{name}.json']
    return subprocess.run(check, capture_output=True, check=False).returncode == 0


@contextlib.contextmanager
def _without_socket(name):
    """Without its control socket, the script restarts leond. The previous leond cannot read the new
    document. After a failure the socket returns."""
    socket, hidden = f'{RUN_DIR}/{name}.sock', f'{RUN_DIR}/{name}.old'
    with contextlib.suppress(FileNotFoundError):
        os.rename(socket, hidden)
    try:
        yield
        with contextlib.suppress(FileNotFoundError):
            os.unlink(hidden)
    except subprocess.CalledProcessError:
        with contextlib.suppress(FileNotFoundError):
            os.rename(hidden, socket)
        print(ADVICE.format(name=name), file=sys.stderr)


def main():
    removed = []
    for name in boot.active():
        if _is_accepted(name):
            continue
        # A removal of the package removes the device, also of a disabled interface.
        if not os.path.exists(f'{mac.DEVICES}/{name}'):
            removed.append(name)
        with _without_socket(name):
            environment = {**os.environ, 'VYOS_TAGNODE_VALUE': name}
            subprocess.run(['sg', 'vyattacfg', '-c', SCRIPT], check=True, env=environment)
    if removed:
        print(REVISION.format(names=', '.join(removed)), file=sys.stderr)


if __name__ == '__main__':
    main()
