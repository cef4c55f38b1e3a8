# SPDX-License-Identifier: GPL-2.0-or-later
"""leond and leon-tls, if leon-tls hangs or is missing."""
import os
import signal

from lab import wait_for
from node import tls_program
from test_tls import pair, tls_pid, transport
from wan import block_udp


def test_the_program_hangs(lab):
    net = pair(lab)
    block_udp(net.node['n1'])
    net.start()
    net.joined()
    os.kill(tls_pid(net.node['n1']), signal.SIGSTOP)
    wait_for(lambda: 'leon-tls has not answered for 15 s' in net.node['n1'].log(), 30, 'noticed')
    wait_for(lambda: transport(net.node['n1'], 'n0') == 'tls', 30, 'connected again')
    net.settle_hosts('n0', 'n1')


def test_the_program_is_missing_for_a_moment(lab, tmp_path, monkeypatch):
    """As during an upgrade of the package."""
    program = tmp_path / 'leon-tls'
    monkeypatch.setattr('node.tls_program', lambda: program)
    net = pair(lab, hosts=False)
    block_udp(net.node['n1'])
    net.start()
    for node in net.node.values():
        wait_for(lambda n=node: 'leon-tls cannot be started: No such file' in n.log(), 10, 'it is missing')
    program.symlink_to(tls_program())
    wait_for(lambda: transport(net.node['n1'], 'n0') == 'tls', 15, 'connected')
