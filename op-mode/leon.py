#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""Operational commands of LEON: the output of leonctl for each interface.

`raw` is the unchanged answer of the daemon, as of `leonctl --json`. A named interface gives a
dictionary. Otherwise the answer is a list of the answers of all interfaces.
"""

import functools
import os
import re
import secrets
import sys
import typing

import vyos.opmode

from vyos.configquery import ConfigTreeQuery
from vyos.utils.commit import commit_in_progress
from vyos.utils.process import rc_cmd

from vyos_leon import boot
from vyos_leon import client
from vyos_leon import keyfile
from vyos_leon import runfile
from vyos_leon import token as joining

base = ['interfaces', 'leon']
# Every user may write here. The script is root.
CAPTURES = '/tmp'
# Words of leonctl and of VyOS.
WORDS = {
    'show': 'show leon',
    'explain path': 'show leon explain',
    'status': 'show leon status',
    'reload': 'commit',
    'invite': 'generate leon invite',
    'generate secret': 'generate leon secret',
}


def _interfaces(interface: typing.Optional[str]) -> list[str]:
    """The named interface, or all interfaces that are not disabled."""
    config = ConfigTreeQuery()
    if not config.exists(base):
        raise vyos.opmode.UnconfiguredSubsystem('No LEON interface is configured')
    if interface is not None:
        names = [interface]
        if not config.exists(base + [interface]):
            raise vyos.opmode.UnconfiguredObject(
                f'Interface {interface} is not configured'
            )
    else:
        names = sorted(config.list_nodes(base), key=lambda name: (len(name), name))
    enabled = [name for name in names if not config.exists(base + [name, 'disable'])]
    if not enabled:
        raise vyos.opmode.UnconfiguredObject(f'{", ".join(names)}: disabled')
    return enabled


def _ask_one(ask: typing.Callable, interface: str, words: tuple[str, ...]):
    try:
        return ask(interface, *words)
    except client.Refused as e:
        # The daemon uses the command names of leonctl.
        text = re.sub(r'`show (\w+)`', r'`show leon \1`', str(e))
        raise vyos.opmode.IncorrectValue(f'{interface}: {text}')
    except client.NotPermitted as e:
        raise vyos.opmode.PermissionDenied(f'{interface}: {e}')
    except client.ClientError as e:
        raise vyos.opmode.DataUnavailable(f'{interface}: {e}')


def _ask(ask: typing.Callable, interface: typing.Optional[str], *words: str):
    """Answers by interface, and the errors of interfaces without an answer. One answer is enough,
    because a node may be a member of one overlay only, and one daemon may be down."""
    answers, errors = {}, []
    for name in _interfaces(interface):
        try:
            answers[name] = _ask_one(ask, name, words)
        except vyos.opmode.Error as e:
            errors.append(e)
    if not answers:
        raise errors[0]
    return answers, errors


def _show(raw: bool, interface: typing.Optional[str], *words: str, options=()):
    if raw:
        request = functools.partial(client.request, options=options)
        answers, _ = _ask(request, interface, *words)
        return list(answers.values()) if interface is None else answers[interface]
    text = functools.partial(client.text, options=options)
    texts, errors = _ask(text, interface, *words)
    if len(texts) + len(errors) > 1:
        texts = {name: f'{name}:\n{text}' for name, text in texts.items()}
    return '\n\n'.join([*texts.values(), *map(str, errors)])


def show_status(raw: bool, interface: typing.Optional[str]):
    shown = _show(raw, interface, 'status')
    return shown if raw else _as_operational_mode(shown)


def _as_operational_mode(text: str) -> str:
    """Replaces the commands of leonctl, which are part of remedies."""
    words = '|'.join(WORDS)
    return re.sub(
        rf'leonctl (?:-i \S+ )?({words})\b', lambda found: WORDS[found[1]], text
    )


def _command(*words: str):
    """The op-mode function of a command without arguments."""

    def show(raw: bool, interface: typing.Optional[str]):
        return _show(raw, interface, *words)

    show.__name__ = '_'.join(words)
    return show


show_nodes = _command('show', 'nodes')
show_peers = _command('show', 'peers')
show_lines = _command('show', 'lines')
show_paths = _command('show', 'paths')
show_policy = _command('show', 'policy')
show_routes = _command('show', 'routes')
show_latency = _command('show', 'latency')
show_fdb = _command('show', 'fdb')
show_segments = _command('show', 'segments')
show_multicast = _command('show', 'multicast')
show_queues = _command('show', 'queues')
show_acceleration = _command('show', 'acceleration')
show_acceleration_connections = _command('show', 'acceleration', 'connections')
show_statistics = _command('show', 'statistics')
show_events = _command('show', 'events')
show_invitations = _command('show', 'invitations')
show_identity = _command('show', 'identity')


def show_ipsec(raw: bool, interface: typing.Optional[str]):
    shown = _show(raw, interface, 'show', 'ipsec')
    if raw:
        return shown
    # leond does not receive the configuration of other nodes, and this command shows the
    # configuration.
    configured = [
        name
        for name in _interfaces(interface)
        if ConfigTreeQuery().exists(base + [name, 'ipsec'])
    ]
    if configured and _is_unreported(interface):
        shown += (
            f'\n\nIPsec is configured on {", ".join(configured)}: where leon-ipsec has not '
            'reported, "show log leon" has the reason.'
        )
    return shown


def _is_unreported(interface: typing.Optional[str]) -> bool:
    answers, _ = _ask(client.request, interface, 'show', 'ipsec')
    return any(answer['reported_seconds'] is None for answer in answers.values())


def show_boot(raw: bool):
    state = boot.state()
    return state if raw else boot.text(state)


def show_explain(raw: bool, node: str, interface: typing.Optional[str]):
    return _show(raw, interface, 'explain', 'path', node)


def show_explain_connection(
    raw: bool, first: str, second: str, interface: typing.Optional[str]
):
    return _show(raw, interface, 'explain', 'connection', first, second)


def show_trace(raw: bool, node: str, interface: typing.Optional[str]):
    return _show(raw, interface, 'trace', node)


def show_ping(raw: bool, node: str, interface: typing.Optional[str]):
    return _show(raw, interface, 'ping', node)


def generate_secret(raw: bool):
    """44 characters without special meaning in a shell or the CLI, which strip-private hides."""
    secret = secrets.token_urlsafe(33)
    return {'secret': secret} if raw else secret


def _check_name(interface: str):
    """The name of an interface that may not be configured yet."""
    if not re.fullmatch('leon[0-9]{1,11}', interface):
        raise vyos.opmode.IncorrectValue(f'"{interface}" is no name of a LEON interface')


def generate_identity(raw: bool, interface: str):
    """Creates the identity key before the first start of leond, so that other nodes can list it."""
    _check_name(interface)
    file = keyfile.path(interface)
    keyfile.prepare(interface)
    # Runs as the daemon's user, because the directory belongs to that user.
    code, output = rc_cmd(
        f'runuser -u {runfile.USER} -- /usr/sbin/leond --generate-identity {file}'
    )
    if code != 0:
        raise vyos.opmode.IncorrectValue(output)
    return {'identity': output, 'file': file} if raw else output


def generate_invite(
    raw: bool,
    interface: typing.Optional[str],
    address: typing.Optional[str],
    uses: typing.Optional[str] = None,
):
    """A token for `leonctl join` or generate_join."""
    return _show(
        raw,
        interface,
        'invite',
        *([address] if address else []),
        options=['--uses', uses] if uses else [],
    )


def generate_join(raw: bool, interface: str, token: str):
    """Commands that make this router a member, to paste in configuration mode. The function
    redeems the token, and the commands contain the secret."""
    _check_name(interface)
    if not token.startswith(('leon1.', 'leon2.', 'leon3.', 'leon4.')):
        raise vyos.opmode.IncorrectValue('A token begins with "leon3."')
    try:
        lines = joining.commands(interface, joining.decode(token))
    except joining.Fault as e:
        raise vyos.opmode.IncorrectValue(_as_operational_mode(str(e)))
    return {'commands': lines} if raw else '\n'.join(lines)


def _open_capture(name: str) -> int:
    """A new file, or the empty file of a capture that failed."""
    if not re.fullmatch(r'\w[\w.-]*', name, re.ASCII):
        raise vyos.opmode.IncorrectValue(
            f'"{name}" is no name for a file in {CAPTURES}: letters, digits and ._- are allowed'
        )
    path = f'{CAPTURES}/{name}'
    try:
        file = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_NOFOLLOW, 0o644)
    except OSError as e:
        raise vyos.opmode.IncorrectValue(f'{path}: {e.strerror}')
    if os.fstat(file).st_size:
        raise vyos.opmode.IncorrectValue(f'{path} exists: choose another name')
    return file


def execute_capture(interface: str, flow: str, save: typing.Optional[str] = None):
    """Becomes leonctl, which prints or writes the records at the end of the capture."""
    _interfaces(interface)
    options = ['-i', interface]
    if save:
        options += ['--write', '-']
        os.dup2(_open_capture(save), 1)
    os.execv(client.LEONCTL, ['leonctl', *options, '--', 'capture', flow])


def _reset(interface: typing.Optional[str], *words: str):
    texts, errors = _ask(client.text, interface, *words)
    for line in [*texts.values(), *errors]:
        print(line)


def reset_acceleration(interface: typing.Optional[str]):
    _reset(interface, 'reset', 'acceleration')


def reset_fdb(interface: typing.Optional[str]):
    _reset(interface, 'reset', 'fdb')


def reset_statistics(interface: typing.Optional[str]):
    _reset(interface, 'reset', 'statistics')


def reset_invitation(invitation: str, interface: typing.Optional[str]):
    _reset(interface, 'reset', 'invitation', invitation)


def reset_node(node: str, interface: typing.Optional[str]):
    _reset(interface, 'reset', 'node', node)


def restart_leon(interface: typing.Optional[str]):
    if commit_in_progress():
        raise vyos.opmode.CommitInProgress(
            'Cannot restart LEON while a commit is in progress'
        )
    for name in _interfaces(interface):
        code, _ = rc_cmd(f'systemctl restart leond@{name}.service')
        if code != 0:
            raise vyos.opmode.DataUnavailable(
                f'leond of {name} does not start: see "show log leon"'
            )


if __name__ == '__main__':
    try:
        res = vyos.opmode.run(sys.modules[__name__])
        if res:
            print(res)
    except (ValueError, vyos.opmode.Error) as e:
        print(e)
        sys.exit(1)
