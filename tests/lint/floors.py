# SPDX-License-Identifier: GPL-2.0-or-later
"""The floors inside a layer, and the files that may touch private state. A file may need only its
own floor and those below. layers.py checks includes and private state, knots.py checks symbols.
"""

import re

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
        ['pairs'],
        ['peer'],
        ['agenda'],
        ['service', 'tally', 'core', 'types', 'session/session_state', 'measure/measure_state',
         'share/share_state'],
    ],
}

# Contracts with the layers above: any floor may include them, and defines its part of them.
CONTRACTS = {'proto/overlay.h'}

# Layer -> member of struct overlay or struct peer -> the files that may touch it. view.c may too.
PRIVATE = {
    'proto': {
        'along': {'measure/along'},
        'answers': {'share/serve'},
        'asked': {'admit/endpoint'},
        'claim': {'session/member'},
        'data': {'session/data', 'send'},
        'done': {'agenda', 'paths', 'share/rows'},
        'doubt': {'measure/doubt'},
        'dropped': {'peer'},
        'fetches': {'share/serve'},
        'guard_number': {'measure/guard_stated', 'measure/link'},
        'guard_statements': {'measure/guard_stated'},
        'greet': {'session/greet', 'session/hello', 'agenda', 'dispatch'},
        'hello': {'session/hello'},
        'hooks': {'peer', 'upkeep'},
        'inward': {'measure/inward'},
        'lan': {'session/lan'},
        'limit': {'session/limit'},
        'loss': {'measure/loss', 'measure/link', 'measure/probe'},
        'move': {'session/move'},
        'next_dropped': {'peer'},
        'notice_at': {'paths'},
        'own': {'session/own'},
        'paths': {'paths'},
        'pings': {'measure/ping'},
        'pmtu': {'measure/pmtu', 'measure/link'},
        'rekey': {'session/rekey'},
        'rival': {'session/rival'},
        'rows': {'share/rows'},
        'seeds': {'session/seed', 'session/finding'},
        'sync': {'share/sync'},
        'topology': {'topology'},
        'trust': {'admit/trust'},
        'verify': {'session/identity'},
    },
}


def floor_of(layer, name):
    """Number of the floor that 'session/hello' is on, 0 is the top; None: on none."""
    for key in (name, name.split('/')[0] + '/'):
        for number, floor in enumerate(FLOORS[layer]):
            if key in floor:
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


def trespasses(layer, name, text):
    """Members of others that the text of `name` touches."""
    private = PRIVATE.get(layer, {})
    touched = re.findall(r'(?:\b(?:o|p|peer|origin|first|last)|\])->(\w+)\b', text)
    return sorted({member for member in touched
                   if name not in private.get(member, {name}) and name != 'view'})
