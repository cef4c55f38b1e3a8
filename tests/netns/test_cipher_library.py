# SPDX-License-Identifier: GPL-2.0-or-later
"""The library that computes AES-256-GCM: ipsec-mb if it is usable, otherwise libcrypto with the
reason in the log. Both interoperate (system cipher-library)."""
import os
import platform
import subprocess

import pytest

from lab import PATIENT, line_up, wait_for
from node import LeonctlError, build_dir, leond_program
from test_start_messages import ended

SONAMES = ('libIPSec_MB.so.1', 'libIPSec_MB.so.2')
STUB = os.path.join(build_dir(), 'tests/netns/ipsec_mb_stub.so')
REFUSED_STATUS = 78


def has_aes():
    with open('/proc/cpuinfo', encoding='ascii') as f:
        return platform.machine() == 'x86_64' and ' aes ' in f.read()


pytestmark = pytest.mark.skipif(not has_aes() or not os.path.exists(STUB),
                                reason='no AES instructions, or a build without ipsec-mb')


def broken(folder, defect):
    """Words before a command that put another file in place of each ipsec-mb."""
    for name in SONAMES:
        if defect == 'empty':
            (folder / name).write_bytes(b'')
        else:
            (folder / name).symlink_to(STUB)
    return ['env', f'LD_LIBRARY_PATH={folder}', f'LEON_STUB={defect}']


def pair(lab, words=(), **system):
    """Two nodes. The first runs with these words and keys, the second with libcrypto."""
    net = lab(line_up(2, config=PATIENT), start=False)
    first, second = net.node.values()
    first.wrapper = list(words)
    first.config['system'].update(system)
    second.config['system']['cipher-library'] = 'libcrypto'
    net.start()
    return net


def library(node):
    """The library of the statistics, which the metrics and the table agree with."""
    name = node.statistics()['cipher_library']
    assert f',cipher_library="{name}"}} 1\n' in node.ctl('metrics')['text']
    table = node.leonctl('show', 'statistics', json_output=False)
    assert f'AES-256-GCM by {name}\n' in table
    return name


def sealed(node):
    return min(node.counter('sealed_tx'), node.counter('sealed_rx'))


def frames_pass(net):
    """Sealed frames pass in both directions."""
    net.settle_hosts('n0', 'n1')
    before = sealed(net.node['n0'])
    net.settle_hosts('n1', 'n0')
    wait_for(lambda: sealed(net.node['n0']) > before, 10, 'n0 counts sealed frames')
    for node in net.node.values():
        assert node.drops('seal_not_authentic') == 0


def test_both_libraries_interoperate(lab):
    net = pair(lab).joined()
    assert library(net.node['n0']) == 'ipsec-mb'
    assert 'cipher-library=ipsec-mb' in net.node['n0'].log()
    assert library(net.node['n1']) == 'libcrypto'
    assert 'cipher-library=libcrypto\n' in net.node['n1'].log()
    frames_pass(net)


@pytest.mark.parametrize('defect, reason', [
    ('empty', 'libIPSec_MB.so.1: file too short'),
    ('version', 'libIPSec_MB.so.1 is not of version 1.3 to 2.0'),
    ('self-test', 'libIPSec_MB.so.1 fails the self-test or does not support the processor'),
    ('results', 'results differ from those of libcrypto')])
def test_falls_back(lab, tmp_path, defect, reason):
    """One line of the log has the reason, and a configuration that requires the library is
    refused."""
    words = broken(tmp_path, defect)
    net = pair(lab, words).joined()
    node = net.node['n0']
    assert library(node) == 'libcrypto'
    lines = [line for line in node.log().splitlines() if 'cipher-library' in line]
    assert len(lines) == 1 and 'ipsec-mb cannot be used: ' in lines[0] and reason in lines[0]
    frames_pass(net)
    with pytest.raises(LeonctlError, match='system.cipher-library: ipsec-mb cannot be used'):
        node.reload(system={**node.config['system'], 'cipher-library': 'ipsec-mb'})
    assert node.alive() and library(node) == 'libcrypto'


def test_required_and_missing_is_refused(lab, tmp_path):
    """One sentence by --check and at the start."""
    words = broken(tmp_path, 'empty')
    node = lab(line_up(1, hosts=False), start=False).node['n0']
    node.wrapper = words
    node.config['system']['cipher-library'] = 'ipsec-mb'
    node.write_config()
    done = subprocess.run([*words, leond_program(), '--check', '--config', node.config_file],
                          capture_output=True, text=True, timeout=60, check=False)
    assert done.returncode == 1 and len(done.stderr.splitlines()) == 1
    assert 'system.cipher-library: ipsec-mb cannot be used: ' in done.stderr
    assert done.stderr.endswith('; set auto\n')
    assert 'ipsec-mb cannot be used' in ended(node)
    assert node.process.returncode == REFUSED_STATUS


def test_changes_live(lab):
    """Each change causes new keys, and frames continue."""
    net = pair(lab, **{'cipher-library': 'libcrypto'}).joined()
    node = net.node['n0']
    frames_pass(net)
    for choice in ('ipsec-mb', 'libcrypto'):
        exchanges = node.statistics()['control']['key_exchanges']
        answer = node.reload(system={**node.config['system'], 'cipher-library': choice})
        assert answer['changes'] == ['keys']
        assert library(node) == choice
        wait_for(lambda before=exchanges: node.statistics()['control']['key_exchanges'] > before,
                 30, 'new keys')
        frames_pass(net)
