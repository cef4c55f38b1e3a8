# SPDX-License-Identifier: GPL-2.0-or-later
"""Rates as VyOS writes bandwidths. Package and daemon agree on the meaning, and the command
definitions accept the same values."""
import json
import os
import re
import subprocess
from pathlib import Path

import pytest
from vyos_leon import leaves, rates

LEOND = (Path(os.environ.get('LEON_BUILD', Path(__file__).resolve().parents[2] / 'build')) /
         'vyos-1x-leon/dataplane/leond')
KBITS = {'0': 0, '47500': 47500, '1000bit': 1, '1999bit': 1, '500kbit': 500, '10mbit': 10000,
         '1gbit': 1000000, '4tbit': 4000000000, '0mbit': 0, '007mbit': 7000}


@pytest.mark.parametrize('text', KBITS)
def test_kbits(text):
    assert rates.kbits(text) == KBITS[text]


def test_which_leaves_are_rates():
    assert {path for path, leaf in leaves.LEAVES.items() if rates.is_rate(leaf)} == {
        'policy critical duplicate budget', 'policy critical parity budget', 'shaper egress',
        'shaper ingress', 'shaper per-peer', 'shaper peer NODE rate'}


@pytest.mark.parametrize('text, right', [
    *((text, True) for text in KBITS if re.fullmatch(rates.FORM, text)),
    *((text, False) for text in ('', 'mbit', '10', '10mbps', '10Mbit', '1.5mbit', '-1mbit', ' 1mbit',
                                 '10%', '1mbit ', '999bit', '5tbit', '9' * 30 + 'kbit')),
])
def test_the_daemon_takes_the_same(tmp_path, text, right):
    file = tmp_path / 'leon0.json'
    file.write_text(json.dumps({'version': 1, 'interface': 'leon0', 'node-id': '192.0.2.1',
                                'authentication': {'disable': True},
                                'shaper': {'egress': text}}))
    file.chmod(0o600)
    done = subprocess.run([LEOND, '--config', file, '--check'], capture_output=True, text=True,
                          timeout=60, check=False)
    assert (done.returncode == 0) == right, done.stderr
    assert right or 'shaper.egress: ' in done.stderr
