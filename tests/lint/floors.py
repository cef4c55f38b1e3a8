# SPDX-License-Identifier: GPL-2.0-or-later
"""The floors of a layer or a program, and the files with access to private state. A file may
need only files of the same floor and of lower floors. layers.py checks includes and private state,
knots.py checks symbols.
"""

import re

# Layer -> floors, top first. A floor is a folder (with a slash at the end) or some files.
FLOORS = {
    'state': [
        ['latency/'],
        ['rates/'],
        ['routes/'],
        ['conf/'],
        ['tables/'],
        ['event', 'ewma', 'invitations', 'minmax', 'state_file'],
    ],
    'fwd': [
        ['worker', 'fwd', 'watchdog'],
        ['out/'],
        ['in/'],
        ['accel/'],
        ['queue/'],
        ['send/'],
        ['lan/'],
        ['tap/'],
        ['in/reasm', 'in/received_tables'],
        ['capture', 'checksum', 'counter', 'drop', 'forwarding_lookup', 'frame', 'priority', 'thread',
         'stats'],
    ],
    'daemon': [
        ['main', 'leond', 'states', 'verdict'],
        ['life/'],
        ['control/'],
        ['show/'],
        ['metrics/'],
        ['capture/'],
        ['answer/'],
        ['device/'],
        ['lan/'],
        ['transport/'],
        ['underlay/'],
        ['routes/'],
        ['accel/'],
        ['guard/', 'identity/'],
        ['report/', 'owned'],
    ],
    'proto': [
        ['overlay', 'overlay_ops', 'overlay_seeds', 'dispatch', 'periodic', 'view'],
        ['session/'],
        ['handshake/'],
        ['paths'],
        ['lines/'],
        ['measure/'],
        ['share/'],
        ['send'],
        ['admit/'],
        ['topology'],
        ['pairs'],
        ['peer'],
        ['schedule'],
        ['service', 'gso_trial', 'loss_meas', 'core', 'types', 'session/session_state', 'measure/measure_state',
         'share/share_state'],
    ],
}

# Program -> floors, by symbols only. Headers such as conn_state.h belong to several objects.
PROGRAM_FLOORS = {
    'leon-accel': [
        ['engine'],
        ['control'],
        ['conn/conns_list', 'peer_frames'],
        ['conn/'],
        ['flow/'],
        ['peer/'],
        ['frames/'],
    ],
    'leonctl': [
        ['commands'],
        ['live/', 'site/', 'status/'],
        ['render/', 'client/'],
        ['show/'],
        ['text/'],
    ],
}

# Contracts with upper layers: any floor may include the headers and define parts of the contracts.
CONTRACTS = {'proto/overlay.h', 'proto/overlay_ops.h', 'proto/overlay_seeds.h', 'proto/view.h',
             'fwd/worker.h', 'fwd/fwd.h', 'daemon/leond.h', 'daemon/states.h', 'daemon/verdict.h'}

# Layer -> member of struct overlay or struct peer -> files with access, in addition to view.c. The
# compiler enforces opaque members.
PRIVATE = {
    'proto': {
        'path_probe': {'measure/path_probe'},
        'answers': {'share/serve'},
        'claim': {'session/member'},
        'data': {'handshake/data', 'send'},
        'done': {'schedule', 'paths', 'share/rows'},
        'dropped': {'peer'},
        'fetches': {'share/serve'},
        'guard_number': {'measure/guard_stated', 'measure/link'},
        'guard_statements': {'measure/guard_stated'},
        'initiator': {'handshake/initiator', 'session/hello', 'schedule', 'dispatch'},
        'hello': {'session/hello'},
        'hooks': {'peer', 'periodic'},
        'ingress': {'measure/ingress'},
        'invitations': {'session/redeem', 'overlay'},
        'lan': {'session/lan'},
        'limit': {'handshake/limit'},
        'loss': {'measure/loss', 'measure/link', 'measure/segmentation'},
        'move': {'session/move'},
        'multicast': {'share/multicast'},
        'next_dropped': {'peer'},
        'notice_at': {'paths'},
        'own': {'session/own'},
        'pings': {'measure/ping'},
        'pmtu': {'measure/pmtu', 'measure/link'},
        'rekey': {'handshake/rekey'},
        'duplicate': {'session/duplicate'},
        'rows': {'share/rows'},
        'segmentation': {'measure/segmentation'},
        'seeds': {'handshake/seed', 'handshake/diagnosis'},
        'sync': {'share/sync'},
        'verify': {'session/identity'},
    },
}


def floor_of(layer, name):
    """Number of the floor of 'session/hello', 0 for the top; None without a floor."""
    for key in (name, name.split('/')[0] + '/'):
        for number, floor in enumerate((FLOORS | PROGRAM_FLOORS)[layer]):
            if key in floor:
                return number
    return None


def problem(layer, name, other):
    """The reason why `name` may not need `other` of the same layer, or None."""
    if layer not in FLOORS | PROGRAM_FLOORS:
        return None
    here, there = floor_of(layer, name), floor_of(layer, other)
    if here is None or there is None:
        missing = name if here is None else other
        return f'{layer}: {missing} is on no floor; name it in tests/lint/floors.py'
    if there < here:
        return f'{layer}: {name} must not need {other}, which is on a floor above it'
    return None


def trespasses(layer, name, text):
    """Foreign members used in the text of `name`."""
    private = PRIVATE.get(layer, {})
    touched = re.findall(r'(?:\b(?:o|p|peer|origin|first|last)|\])->(\w+)\b', text)
    return sorted({member for member in touched
                   if name not in private.get(member, {name}) and name != 'view'})
