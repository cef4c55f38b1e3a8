# SPDX-License-Identifier: GPL-2.0-or-later
from fake_host import host


def boot_configuration_complete():
    return not host.booting
