# SPDX-License-Identifier: GPL-2.0-or-later
"""IPsec on any kernel: the guard fails closed, and user-space ESP of strongSwan protects three
sites. tests/ipsec (make check-ipsec) needs a kernel with ESP."""
import importlib.util
import os
import re
import shutil
import signal
import sys
import time

import pytest

import confine
import ns
from lab import LeonctlError, line_up, wait_for
from node import log_text

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), '../ipsec'))

from strongswan import CHARON, Ear, Protection  # noqa: E402

USERSPACE = os.path.join(os.path.dirname(os.path.abspath(__file__)), '../ipsec/userspace.py')
pytestmark = [
    pytest.mark.skipif(ns.host_uid != 0, reason='charon wants to be root'),
    pytest.mark.skipif(not shutil.which('tcpdump') or not shutil.which('nft'),
                       reason='needs tcpdump and nft'),
]
needs_charon = pytest.mark.skipif(not os.path.exists(CHARON), reason='needs charon-systemd')


@pytest.fixture
def protect():
    """protect(node, ...): the Protection of a node, stopped before the end of the namespace."""
    made = []

    def make(*args, **keys):
        made.append(Protection(*args, **keys))
        return made[-1]
    yield make
    for protection in made:
        protection.close()


@pytest.fixture
def listen():
    ears = []

    def make(node, directory):
        ears.append(Ear(node, directory))
        return ears[-1]
    yield make
    for ear in ears:
        ear.stop()


def dropped(protection, chain):
    """Packets dropped by the first rule of a chain."""
    text = protection.table().split(f'chain {chain} ')[1]
    return int(text.split('counter packets ')[1].split()[0])


@pytest.mark.parametrize('underlay', ['v4', 'v6'])
def test_the_guard_fails_closed(lab, protect, listen, underlay):
    """Without charon no datagram leaves, and unprotected datagrams do not arrive."""
    net = lab(line_up(2, underlay=underlay, hosts=False), start=False)
    guarded, open_ = (net.node[n] for n in ('n0', 'n1'))
    protection = protect(guarded, net.directory)
    protection.guard()
    ear, control = listen(guarded, net.directory), listen(open_, net.directory)
    net.start()
    wait_for(lambda: dropped(protection, 'out') >= 3 and dropped(protection, 'in') >= 3, 20,
             'both ways are tried')
    assert not net.full_mesh()
    # The unprotected node sends in the clear, and the capture records the datagrams.
    wait_for(control.plaintext, 5)
    assert ear.plaintext() == [] and ear.quotes() == []
    assert guarded.show('ipsec')['reported_seconds'] is None
    # A closed port would cause ICMP errors with quoted data.
    guarded.kill()
    before = dropped(protection, 'in')
    wait_for(lambda: dropped(protection, 'in') >= before + 2, 20, 'the other still tries')
    assert ear.plaintext() == [] and ear.quotes() == []
    # After removal from the configuration, the same command opens the guard.
    os.unlink(protection.document)
    guarded.namespace.run(*protection.command('guard'))
    assert 'leon_ipsec' not in protection.table()


def test_the_guard_keeps_the_port_of_a_running_leond(lab, protect, listen):
    """leond uses the former port until its restart."""
    net = lab(line_up(2, hosts=False), start=False)
    guarded = net.node['n0']
    protection = protect(guarded, net.directory)
    protection.start_manager()
    wait_for(lambda: 'sport 5366' in protection.table(), 20, 'the guard is there')
    ear = listen(guarded, net.directory)
    net.start()
    guarded.config['port'] = 7000
    protection.write()
    protection.manager.send_signal(signal.SIGHUP)
    wait_for(lambda: 'sport 7000' in protection.table(), 20, 'the guard has the new port')
    before = protection.dropped('sport 5366')
    wait_for(lambda: protection.dropped('sport 5366') > before, 20, 'leond still tries')
    assert ear.plaintext() == []
    # Another change before the restart.
    protection.values['esp-group'] = {'lifetime': 1000}
    protection.write()
    protection.manager.send_signal(signal.SIGHUP)
    wait_for(lambda: log_text(protection.manager_log).count('configuration has changed') == 2, 20,
             'the manager has both')
    assert 'sport 7000' in protection.table() and 'sport 5366' in protection.table()
    # Before a start of leond.
    protection.guard()
    assert 'sport 7000' in protection.table() and '5366' not in protection.table()


def test_the_guard_forgets_a_port_that_leond_has_left(lab, protect):
    """The manager gets a SIGHUP after the restart of leond, as while it waits for strongSwan."""
    net = lab(line_up(2, hosts=False))
    guarded = net.node['n0']
    protection = protect(guarded, net.directory)
    protection.start_manager()
    wait_for(lambda: guarded.show('ipsec')['reported_seconds'] is not None, 20, 'leond is told')
    protection.manager.send_signal(signal.SIGSTOP)
    guarded.config['port'] = 7000
    protection.guard()
    protection.manager.send_signal(signal.SIGHUP)
    net.restart('n0')
    time.sleep(1.1)  # no wait for an event: longer than the wait of the manager
    protection.manager.send_signal(signal.SIGCONT)
    wait_for(lambda: 'configuration has changed' in log_text(protection.manager_log), 20,
             'the manager has the change')
    wait_for(lambda: '5366' not in protection.table(), 20, 'the former port is free')
    assert 'sport 7000' in protection.table()


@pytest.mark.skipif(importlib.util.find_spec('seccomp') is None, reason='needs python3-seccomp')
@needs_charon
def test_the_manager_works_confined(lab, protect):
    """The manager runs with the restrictions of the unit: root, one capability and a filter of
    system calls. nft, ip and the control socket of leond work."""
    net = lab(line_up(2, hosts=False), start=False)
    node = net.node['n0']
    protection = protect(node, net.directory)
    protection.start_manager([sys.executable, '-B', os.path.abspath(confine.__file__),
                              'leon-ipsec@.service', *protection.command('run')])
    wait_for(lambda: 'leon_ipsec_leon0' in protection.table(), 20, 'the guard is there')
    with open(f'/proc/{protection.manager.pid}/status', encoding='ascii') as f:
        status = dict(line.split(':', 1) for line in f)
    assert int(status['CapEff'], 16) == 1 << 12 and status['Seccomp'].strip() == '2'
    protection.charon.start()
    net.start()

    def loaded():
        connection = protection.charon.ask()
        try:
            return len(connection.call('get-conns')['conns']) == 2
        finally:
            connection.close()
    wait_for(loaded, 20, 'connections are loaded')
    wait_for(lambda: node.show('ipsec')['reported_seconds'] is not None, 20, 'leond is told')
    node.namespace.run('nft', 'flush', 'ruleset')
    wait_for(lambda: 'leon_ipsec_leon0' in protection.table(), 20, 'the guard is there again')
    # The manager searches for SAs of an earlier charon with `ip xfrm`.
    protection.charon.crash()
    protection.charon.start()
    wait_for(loaded, 20, 'connections are loaded again')
    with open(protection.manager_log, encoding='utf-8') as f:
        assert 'not permitted' not in f.read()


def protected_links(node):
    """Values of leon_link_ipsec."""
    return ''.join(re.findall(r'^leon_link_ipsec\{.*\} (\d)$',
                              node.leonctl('metrics', json_output=False), re.MULTILINE))


def test_reports_are_for_root_and_are_shown(lab):
    net = lab(line_up(2, hosts=False)).joined()
    a, b = net.node['n0'], net.node['n1']
    from leon_ipsec import control
    assert a.leonctl('show', 'ipsec', json_output=False) == \
        'IPsec is not in use: leon-ipsec has not reported.\n'
    address = b.config['source-address'][0]
    control.request(a.socket, 'report ipsec', {'protected': [address]})
    assert a.nodes()[b.node_id]['protected'] == 'ipsec'
    assert protected_links(a) == '1'
    assert a.paths()[b.node_id]['protected'] == 'ipsec'
    assert {e['protected'] for e in a.show('ipsec')['endpoints']} == {'ipsec'}
    assert b.nodes()[a.node_id]['protected'] == 'no'
    text = {'problems': [{'address': address, 'text': 'it does not answer'},
                         {'text': 'charon is not there\n<1>forged'}]}
    control.request(a.socket, 'report ipsec', {'protected': [], **text})
    # An address appears once, although the address belongs to a configured peer and to a node.
    (entry,) = a.show('ipsec')['endpoints']
    assert (entry['node_id'], entry['reason']) == (b.node_id, 'it does not answer')
    assert a.show('ipsec')['problems'] == ['charon is not there?<1>forged']
    assert 'problem: charon is not there' in a.leonctl('show', 'ipsec', json_output=False)
    assert protected_links(a) == '0'
    assert a.nodes()[b.node_id]['protected'] == 'no'
    for bad in ({}, {'protected': ['x']}, {'protected': [1]}, {'protected': 'x'},
                {'protected': [], 'problems': ['x']},
                {'protected': [], 'problems': [{'address': 'x', 'text': 'y'}]}):
        with pytest.raises(control.ControlError, match='refuses report ipsec'):
            control.request(a.socket, 'report ipsec', bad)
    with pytest.raises(LeonctlError):
        a.ctl('report', 'ipsec')


@needs_charon
def test_the_reason_is_shown(lab, protect):
    """The IKE secrets of two sites differ, then one site is absent."""
    extra = 'kernel-netlink { fwmark = !0x42 }\n socket-default { fwmark = 0x42 }\n' \
            'kernel-libipsec { allow_peer_ts = yes }'
    net = lab(line_up(2, hosts=False), start=False)
    sites = {}
    for name, node in net.node.items():
        sites[name] = protect(node, net.directory, kernel='kernel-libipsec kernel-netlink',
                              extra=extra)
        sites[name].values['authentication']['pre-shared-secret'] += name
        sites[name].write()
        sites[name].charon.start()
        sites[name].start_manager([sys.executable, '-B', USERSPACE, node.config_file,
                                   sites[name].document, sites[name].charon.socket])
    net.start()

    def reason(name):
        """The answer of `show ipsec` about a single address or about all addresses."""
        answer = net.node[name].show('ipsec')
        return ' '.join([e['reason'] or '' for e in answer['endpoints']] + answer['problems'])
    try:
        wait_for(lambda: 'AUTHENTICATION_FAILED' in reason('n0') + reason('n1'), 60,
                 'the one that began says why')
        wait_for(lambda: 'MAC mismatched' in reason('n0') + reason('n1'), 60,
                 'the one that answered says why')
    except AssertionError:
        print('\n'.join(site.dump() for site in sites.values()))
        raise
    sites['n0'].charon.crash()
    wait_for(lambda: 'charon' in reason('n0'), 30, 'that charon is gone is shown')


@needs_charon
def test_three_sites_in_user_space_esp(lab, protect, listen):
    """The manager follows leond, and charon follows the manager. All sites have SAs with each
    other, and every LEON datagram is inside ESP. A later site gets SAs too."""
    extra = 'kernel-netlink { fwmark = !0x42 }\n socket-default { fwmark = 0x42 }\n' \
            'kernel-libipsec { allow_peer_ts = yes }'
    net = lab(line_up(3), start=False)
    sites = {}
    for name, node in net.node.items():
        sites[name] = protect(node, net.directory, kernel='kernel-libipsec kernel-netlink',
                              extra=extra)
        sites[name].write()
        sites[name].charon.start()
        sites[name].start_manager([sys.executable, '-B', USERSPACE, node.config_file,
                                   sites[name].document, sites[name].charon.socket])

    def mesh(*names):
        ids = {net.node[n].node_id for n in names}
        return all(sites[n].protected() >= ids - {net.node[n].node_id} for n in names)
    net.start('n0', 'n1')
    try:
        wait_for(lambda: mesh('n0', 'n1'), 60, 'two sites are protected')
        net.start('n2')
        wait_for(lambda: mesh('n0', 'n1', 'n2'), 60, 'the third site is protected')
    except AssertionError:
        print('\n'.join(site.dump() for site in sites.values()))
        raise
    net.joined()
    net.settle_hosts('n0', 'n2')
    # Without the guard, datagrams before the SAs are in the clear. All later datagrams must be
    # encrypted.
    ears = [listen(node, net.directory) for node in net.node.values()]
    wait_for(lambda: len(net.host['n0'].ping(net.host['n2'].ip4, count=50, interval=0.01)) == 50, 20,
             'fifty of fifty are answered')
    wait_for(lambda: all(ear.esp() for ear in ears), 10, 'every ear hears ESP')
    assert [ear.plaintext()[:3] for ear in ears] == [[], [], []]
