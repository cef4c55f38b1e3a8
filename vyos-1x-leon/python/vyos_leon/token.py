# SPDX-License-Identifier: GPL-2.0-or-later
"""`set` commands from a token of `leonctl invite`, for the operational mode. leonctl decodes
the token."""

import json
import re
import subprocess

LEONCTL = '/usr/bin/leonctl'
# Keys that the command itself has, or that VyOS does not have.
OMITTED = ('version', 'interface', 'bridge')


class Fault(Exception):
    """The sentence of leonctl."""


def decode(token):
    """The configuration of leond. The token is on no command line of this process."""
    done = subprocess.run(
        [LEONCTL, 'join', '--print', '-'], input=token, capture_output=True, text=True, timeout=60
    )
    if done.returncode != 0:
        raise Fault(done.stderr.strip().removeprefix('leonctl: '))
    return json.loads(done.stdout)


def _words(value):
    if isinstance(value, dict):
        return [[key, *rest] for key, inner in value.items() for rest in _words(inner)]
    if isinstance(value, list):
        return [words for inner in value for words in _words(inner)]
    return [[]] if value is True else [[str(value)]]


def _quoted(word):
    # The operator pastes the line into a shell, and another site chooses the word.
    if not re.fullmatch('[ -&(-~]*', word):
        raise Fault(
            'The token has a character that a command of VyOS cannot contain: a single quote, a '
            'control character or one outside ASCII. Use another secret in the overlay.'
        )
    return word if word.replace('-', '').replace('.', '').isalnum() else f"'{word}'"


def commands(interface, document):
    kept = {key: value for key, value in document.items() if key not in OMITTED}
    lines = (['set', 'interfaces', 'leon', interface, *words] for words in _words(kept))
    return [' '.join(map(_quoted, line)) for line in lines]
