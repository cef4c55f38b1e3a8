# SPDX-License-Identifier: GPL-2.0-or-later
"""Keys are text. A key with the prefix "locked:" opens with the passphrase after the prefix."""


def load_private_key(key, passphrase=None):
    locked, _, wanted = key.partition(':')
    if locked == 'locked' and passphrase != wanted:
        return False
    return key


def encode_private_key(key):
    return f'-----BEGIN PRIVATE KEY-----\n{key}\n-----END PRIVATE KEY-----\n'
