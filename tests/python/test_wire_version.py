# SPDX-License-Identifier: GPL-2.0-or-later
"""A change of the wire has another wire version: the test vectors of protocol.md are those of the
version in wire/datagram/leon.h. LEON_WRITE_GOLDEN=1 records new vectors."""
import json
import os
import re

from conftest import TOP

DATAPLANE = TOP / 'vyos-1x-leon/dataplane'
VERSION = re.search(r'#define LEON_VERSION\s+(\d+)', (DATAPLANE / 'wire/datagram/leon.h').read_text())[1]
GOLDEN = TOP / f'tests/python/golden/wire-{VERSION}.json'


def vectors():
    text = (TOP / 'vyos-1x-leon/doc/protocol.md').read_text(encoding='utf-8')
    found = re.findall(r'^```hex (\S+)\n(.*?)^```', text, re.M | re.S)
    # These formats have versions of their own.
    own = ('accel-', 'guard', 'token')
    return {name: re.sub(r'#.*|\s', '', body) for name, body in found
            if not name.startswith(own)}


def test_the_wire_changes_with_its_version():
    now = vectors()
    before = json.loads(GOLDEN.read_text()) if GOLDEN.exists() else {}
    changed = sorted(name for name, text in before.items() if now.get(name) != text)
    assert not changed, (f'{changed} changed: nodes of this wire version read them otherwise. '
                         'Append attributes, or raise LEON_VERSION (doc/releases.md)')
    if os.environ.get('LEON_WRITE_GOLDEN'):
        GOLDEN.write_text(json.dumps(now, indent=1, sort_keys=True) + '\n')
        before = now
    assert set(now) == set(before), 'record the new vectors: LEON_WRITE_GOLDEN=1'
