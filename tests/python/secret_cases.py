# SPDX-License-Identifier: GPL-2.0-or-later
"""Errors in `authentication`, for test_verify.py: the wrong part of the configuration and the
message."""

SECRET = {'pre_shared_secret': 'correct-horse-battery'}
# A value that removes the node.
GONE = object()

ERRORS = {
    'no secret': (
        {'authentication': GONE},
        'There is no secret: set "authentication pre-shared-secret" to the output of '
        '"generate leon secret", the same at all nodes. "authentication disable" permits an '
        'overlay that any host can read and join.',
    ),
    'a secret and none': (
        {'authentication': {**SECRET, 'disable': {}}},
        'There is a secret and "authentication disable": delete one of them.',
    ),
    'short secret': (
        {'authentication': {'pre_shared_secret': 'seven77'}},
        'The pre-shared secret has 7 characters: set "authentication pre-shared-secret" '
        'to 8 to 128 characters.',
    ),
    'long secret': (
        {'authentication': {'pre_shared_secret': 'x' * 129}},
        'The pre-shared secret has 129 characters: set "authentication '
        'pre-shared-secret" to 8 to 128 characters.',
    ),
    'accepted without own': (
        {'authentication': {'accept_secret': ['correct-horse-battery']}},
        'There is an "authentication accept-secret" and no secret of this node: set '
        '"authentication pre-shared-secret" too.',
    ),
    'accepted is own': (
        {'authentication': {**SECRET, 'accept_secret': SECRET['pre_shared_secret']}},
        'An "authentication accept-secret" is the pre-shared secret itself: delete it, '
        'this node accepts its own secret anyway.',
    ),
    'too many accepted': (
        {'authentication': {**SECRET, 'accept_secret': [f'secret {i}' for i in range(4)]}},
        'There are 4 accepted secrets and at most 3 are possible: delete those that no '
        'node uses any longer.',
    ),
    'list without secret': (
        {'authentication': {'trusted_identity': ['1' * 64]}},
        'Without a secret a list of identities keeps nobody out: set "authentication '
        'pre-shared-secret", or delete "authentication trusted-identity".',
    ),
    'too long a list': (
        {'authentication': {**SECRET, 'trusted_identity': [f'{i:064x}' for i in range(1025)]}},
        'There are 1025 trusted identities and at most 1024 are possible: delete those of '
        'nodes that are gone.',
    ),
    'cipher without secret': (
        {'authentication': GONE, 'encryption': {'cipher': 'aes256gcm'}},
        'Without a secret nothing is encrypted: set "authentication pre-shared-secret", '
        'or delete "encryption cipher".',
    ),
}
