# SPDX-License-Identifier: GPL-2.0-or-later
from fake_host import host


def commit_in_progress():
    return host.commit_in_progress
