# SPDX-License-Identifier: GPL-2.0-or-later
"""The Terraform files of packaging/deploy, without the providers. `make check-deploy` has those."""
import re
from pathlib import Path

import pytest

FILES = sorted((Path(__file__).resolve().parents[2] / 'packaging/deploy').glob('*/main.tf'))


@pytest.mark.parametrize('path', FILES, ids=lambda path: path.parent.name)
def test_a_further_site_leaves_the_other_machines_alone(path):
    """The user-data of each machine lists all sites. A provider restarts the machine for a change
    of the argument, or replaces the machine. A change of `metadata` (Google) does neither."""
    resources = re.findall(r'^resource .*?^}$', path.read_text(), re.M | re.S)
    (machine,) = (text for text in resources if 'user-data.yaml.tftpl' in text)
    argument = re.findall(r'^  (\w+) +=', machine.partition('user-data.yaml.tftpl')[0], re.M)[-1]
    assert argument == 'metadata' or f'ignore_changes = [{argument}]' in machine
