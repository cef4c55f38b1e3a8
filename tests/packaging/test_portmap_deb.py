# SPDX-License-Identifier: GPL-2.0-or-later
"""The Debian package leon-portmap: contents, and its libraries, which leond does not need."""
import re
import subprocess

from deb import contents, field

PROGRAM = '/usr/lib/leon/leon-portmap'
FILES = {PROGRAM, *(f'/usr/share/doc/leon-portmap/{name}' for name in ('changelog', 'copyright'))}


def test_contents(portmap_deb, deb, tmp_path):
    found = contents(portmap_deb, tmp_path)
    assert {name.removesuffix('.gz') for name in found} == FILES
    elf = subprocess.run(['readelf', '--wide', '--file-header', '--dyn-syms', found[PROGRAM]],
                         check=True, capture_output=True, text=True, timeout=60).stdout
    assert re.search(r'Type:\s+DYN', elf) and '__stack_chk_fail' in elf
    needed = field(portmap_deb, 'Depends')
    assert 'libnatpmp1' in needed and 'libminiupnpc' in needed and 'leond (=' in needed
    for key in ('Depends', 'Recommends'):
        assert not re.search('portmap|natpmp|miniupnpc', field(deb, key))
