# SPDX-License-Identifier: GPL-2.0-or-later
"""As in VyOS: classes are imported by name, and leon is not included."""

import os

# The directory of vyos/ifconfig/leon.py in the package.
__path__.append(
    os.path.dirname(os.path.abspath(__file__))
    + '/../../../../../vyos-1x-leon/python/ifconfig'
)

from vyos.ifconfig.interface import Interface  # noqa: E402, F401
