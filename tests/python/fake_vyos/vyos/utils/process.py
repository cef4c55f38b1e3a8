# SPDX-License-Identifier: GPL-2.0-or-later
from fake_host import host


def call(command):
    code, output = host.run(command)
    if output:
        print(output)
    return code


def rc_cmd(command):
    return host.run(command)
