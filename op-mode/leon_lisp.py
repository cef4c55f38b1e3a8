#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""Operational commands of LISP, from the state document of leon-lisp. Open Overlay Router has no
interface for queries.

`raw` is the requested part of the state document, `show lisp` in tests/schema/programs.def.
"""

import json
import os
import sys
import time

import vyos.opmode

from vyos.configquery import ConfigTreeQuery
from vyos.utils.commit import commit_in_progress
from vyos.utils.process import rc_cmd

from vyos_leon import lisp as paths

base = ['protocols', 'lisp']
times = ('since', 'received', 'last', 'at')


def _dated(entry: dict) -> dict:
    """The file has monotonic times, because the wall clock may be set."""
    begin = round(time.time() - time.monotonic())
    return {
        key: value + begin if key in times and isinstance(value, int) else value
        for key, value in entry.items()
    }


def _state() -> dict:
    if not ConfigTreeQuery().exists(base):
        raise vyos.opmode.UnconfiguredSubsystem('LISP is not configured')
    try:
        with open(paths.STATE, encoding='utf-8') as file:
            state = json.load(file, object_hook=_dated)
    except (OSError, ValueError):
        raise vyos.opmode.DataUnavailable('LISP does not run: see "show log lisp"')
    # The file remains if leon-lisp is killed, although OOR has ended.
    if state['pid'] is not None and not os.path.exists(f'/proc/{state["pid"]}'):
        raise vyos.opmode.DataUnavailable(
            'Open Overlay Router has ended and is started again: see "show log lisp"'
        )
    return state


def _table(heads: list[str], rows: list[list], empty: str) -> str:
    if not rows:
        return empty
    rows = [heads] + [['-' if c in (None, '') else str(c) for c in row] for row in rows]
    widths = [max(len(row[n]) for row in rows) for n in range(len(heads))]
    return '\n'.join(
        '  '.join(cell.ljust(width) for cell, width in zip(row, widths)).rstrip()
        for row in rows
    )


def _ago(when) -> str:
    if when is None:
        return 'never'
    seconds = max(0, int(time.time()) - when)
    for size, unit in ((86400, 'd'), (3600, 'h'), (60, 'min')):
        if seconds >= size:
            return f'{seconds // size} {unit}'
    return f'{seconds} s'


def _locators(of: list) -> list[list]:
    """Cells of each prefix. A prefix without cells also has one line."""
    return [
        [
            locator['address'],
            locator['priority'],
            locator['weight'],
            {True: 'up', False: 'down', None: ''}[locator.get('up')],
        ]
        for locator in of
    ] or [['', '', '', '']]


def _lines(cells: list, of: list) -> list[list]:
    """The lines of one prefix. Only the first line has the cells of the prefix."""
    found = _locators(of)
    blank = [' '] * len(cells)
    return [(cells if n == 0 else blank) + cell for n, cell in enumerate(found)]


def show_mappings(raw: bool):
    found = _state()['mappings']
    if raw:
        return found
    rows = []
    for one in found:
        cells = [one['prefix'], one['site'], one['source']]
        rows += [line[:-1] for line in _lines(cells, one['locators'])]
    heads = ['Prefix', 'Site', 'From', 'Locator', 'Priority', 'Weight']
    return _table(heads, rows, 'This router has no prefix')


def show_map_cache(raw: bool):
    found = _state()['map_cache']
    if raw:
        return found
    rows = []
    for one in found:
        action = '' if one['locators'] else one['action']
        cells = [one['prefix'], _ago(one['received']), action]
        rows += _lines(cells, one['locators'])
    heads = ['Prefix', 'Learned', 'Action', 'Locator', 'Priority', 'Weight', 'State']
    return _table(heads, rows, 'Nothing was asked for yet')


def show_registrations(raw: bool):
    state = _state()
    found = {'registrations': state['registrations'], 'refused': state['refused']}
    if raw:
        return found
    peer = 'From' if state['role'] == 'map-server' else 'Map server'
    rows = [
        [r['prefix'], r['peer'], r['state'], _ago(r['since']), _ago(r['last'])]
        for r in found['registrations']
    ]
    heads = ['Prefix', peer, 'State', 'For', 'Last']
    text = _table(heads, rows, 'No prefix is registered')
    for one in found['refused']:
        text += (
            f'\nRefused {_ago(one["at"])} ago: {one["prefix"]} from {one["peer"]}, '
            f'{one["reason"]}'
        )
    return text


def show_state(raw: bool):
    state = _state()
    if raw:
        return state
    unanswered = state['unanswered']
    lines = [
        f'State:          {state["state"]} for {_ago(state["since"])}'
        + (f', {state["reason"]}' if state['reason'] else ''),
        f'Role:           {state["role"]}, encapsulation {state["encapsulation"]}'
        + (f', instance {state["instance_id"]}' if state['instance_id'] else ''),
        f'Locators:       {", ".join(of["address"] for of in state["locators"])}',
        f'Map servers:    {", ".join(state["map_servers"]) or "-"}',
        f'Map resolvers:  {", ".join(state["map_resolvers"]) or "-"}',
        f'Prefixes:       {len(state["mappings"])} of this router, '
        f'{len(state["map_cache"])} in the map-cache',
        f'Registered:     '
        f'{sum(r["state"] == "registered" for r in state["registrations"])} of '
        f'{len(state["registrations"])}',
        f'Starts:         {state["starts"]}',
    ]
    if unanswered['count']:
        lines.append(
            f'Unanswered:     {unanswered["count"]} Map-Requests, the last for '
            f'{unanswered["last"]} {_ago(unanswered["at"])} ago'
        )
    for one in state['complaints']:
        lines.append(f'{_ago(one["at"])} ago: {one["text"]}')
    return '\n'.join(lines)


def restart_lisp():
    if not ConfigTreeQuery().exists(base):
        raise vyos.opmode.UnconfiguredSubsystem('LISP is not configured')
    if commit_in_progress():
        raise vyos.opmode.CommitInProgress(
            'Cannot restart LISP while a commit is in progress'
        )
    code, _ = rc_cmd(f'systemctl restart {paths.UNIT}')
    if code != 0:
        raise vyos.opmode.DataUnavailable('LISP does not start: see "show log lisp"')


if __name__ == '__main__':
    try:
        res = vyos.opmode.run(sys.modules[__name__])
        if res:
            print(res)
    except (ValueError, vyos.opmode.Error) as e:
        print(e)
        sys.exit(1)
