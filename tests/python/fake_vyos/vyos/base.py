# SPDX-License-Identifier: GPL-2.0-or-later
from fake_host import host


class Warning:
    def __init__(self, message):
        host.journal.append(('warning', message))
