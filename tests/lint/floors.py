# SPDX-License-Identifier: GPL-2.0-or-later
"""Floors inside a layer: who may need whom there. A file needs files of its own floor and of those
below; layers.py sees to the includes, knots.py to the symbols.
"""

# Layer -> its floors, top first. A floor is a folder (it ends in a slash) or some files.
FLOORS = {
    'proto': [
        ['overlay', 'dispatch', 'upkeep', 'view'],
        ['session/'],
        ['paths'],
        ['measure/'],
        ['share/'],
        ['send'],
        ['admit/'],
        ['topology'],
        ['peer'],
        ['agenda'],
        ['service', 'tally', 'core'],
    ],
}

# Contracts with the layers above: any floor may include them, and defines its part of them.
CONTRACTS = {'proto/overlay.h'}


def floor_of(layer, name):
    """Number of the floor that 'session/hello' is on, 0 is the top; None: on none."""
    for number, floor in enumerate(FLOORS[layer]):
        if name in floor or name.split('/')[0] + '/' in floor:
            return number
    return None


def problem(layer, name, other):
    """Why `name` may not need `other`, both of this layer; None: it may."""
    if layer not in FLOORS:
        return None
    here, there = floor_of(layer, name), floor_of(layer, other)
    if here is None or there is None:
        missing = name if here is None else other
        return f'{layer}: {missing} is on no floor; name it in tests/lint/floors.py'
    if there < here:
        return f'{layer}: {name} must not need {other}, which is on a floor above it'
    return None
