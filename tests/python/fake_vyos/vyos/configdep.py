# SPDX-License-Identifier: GPL-2.0-or-later
"""Finds dependents by the file name of the caller, as VyOS does, and records the calls."""

import json
import os
import sys

from fake_host import host

TOP = os.path.dirname(os.path.abspath(__file__)) + '/../../../..'
FILE = TOP + '/vyos-1x-leon/config-mode-dependencies/vyos-1x-leon.json'
waiting = []


def set_dependents(case, config, tagnode=None):
    caller = os.path.basename(sys._getframe(1).f_code.co_filename)
    with open(FILE, encoding='utf-8') as file:
        scripts = json.load(file)[os.path.splitext(caller)[0]][case]
    waiting.extend((script, tagnode) for script in scripts)


def call_dependents():
    while waiting:
        host.journal.append(('dependent', waiting.pop(0)))
