# SPDX-License-Identifier: GPL-2.0-or-later
"""Rules of `acceleration`, which selects the TCP connections to intercept. verify.py runs the
rules. Pure.
"""

import os

from vyos_leon.leaves import limits
from vyos_leon.routes import listed

PROGRAM = '/usr/sbin/leon-accel'
LISTS = [(way, what) for way in ('include', 'exclude') for what in ('prefix', 'port')]


def unit(interface):
    return f'leon-accel@{interface}.service'


def is_installed():
    return os.path.exists(PROGRAM)


def _listed(config, way, what):
    return listed(config.get('acceleration', {}).get(way, {}).get(what, []))


# --- errors ---


def port_ranges_run_upwards(config, _):
    for way in ('include', 'exclude'):
        for port in _listed(config, way, 'port'):
            first, _, last = port.partition('-')
            if last and int(first) > int(last):
                yield (
                    f'Ports "{port}" run downwards: set "acceleration {way} port '
                    f'{last}-{first}".'
                )


def lists_are_short(config, _):
    for way, what in LISTS:
        count = len(_listed(config, way, what))
        most = limits(f'acceleration {way} {what}')[1]
        if count > most:
            yield (
                f'"acceleration {way} {what}" has {count} entries and at most {most} are '
                f'possible: set larger ones.'
            )


ERRORS = (port_ranges_run_upwards, lists_are_short)


# --- warnings ---


def something_is_left(config, _):
    for what in ('prefix', 'port'):
        wanted = set(_listed(config, 'include', what))
        if wanted and wanted <= set(_listed(config, 'exclude', what)):
            yield (
                f'All of "acceleration include {what}" is excluded too, so no TCP connection '
                f'is intercepted: delete one of the two.'
            )


WARNINGS = (something_is_left,)
