# SPDX-License-Identifier: GPL-2.0-or-later
"""Keys are text; one that begins with "locked:" opens with the passphrase behind it."""


def load_private_key(key, passphrase=None):
    locked, _, wanted = key.partition(':')
    if locked == 'locked' and passphrase != wanted:
        return False
    return key


def encode_private_key(key):
    return f'-----BEGIN PRIVATE KEY-----\n{key}\n-----END PRIVATE KEY-----\n'
