# SPDX-License-Identifier: GPL-2.0-or-later
"""Multicast programs with snooping and the querier of LEON: OSPF and PIM (FRR), VRRP (keepalived),
PTP (ptp4l), mDNS (avahi), multicast streams (iperf, smcroute). A missing program skips its test."""
import os
import shutil
import signal
import subprocess
import time

import pytest

import ns
from frr import DAEMONS, Frr
from lab import PATIENT, merged, wait_for
from multicast import Listener, Sender
from test_multicast import arrives, check_copies, groups_of, state

SNOOPING = merged(PATIENT, {'multicast': {'snooping': True, 'querier': True}})
GROUP = '239.1.1.1'
PTP_GROUP = '224.0.1.129'


def need(*programs):
    for name in programs:
        if not shutil.which(name):
            pytest.skip(f'{name} is not installed')


@pytest.fixture(scope='module')
def sites(module_lab):
    """Three sites with known listeners, after two queries of the querier."""
    net = module_lab({'sites': dict.fromkeys('abc', {}), 'config': SNOOPING}).joined()
    for name in net.node:
        for family in ('ipv4', 'ipv6'):
            wait_for(lambda n=name, f=family: state(net.node[n], f) in ('known', 'router'), 120,
                     f'{name} knows its {family} listeners')
    return net


class Program:
    """A process of a host, with its output."""

    def __init__(self, host, *command, **keys):
        self.output = []
        self.path = os.path.join('/tmp', f'leon-{os.getpid()}-{os.path.basename(command[0])}-{host.name}')
        with open(self.path, 'w', encoding='utf-8') as out:
            self.process = host.namespace.start(*command, stdin=subprocess.DEVNULL, stdout=out,
                                                stderr=subprocess.STDOUT, **keys)

    def text(self):
        with open(self.path, encoding='utf-8', errors='replace') as f:
            return f.read()

    def close(self):
        if self.process.poll() is None:
            self.process.send_signal(signal.SIGTERM)
            try:
                self.process.wait(timeout=5)
            except subprocess.TimeoutExpired:
                self.process.kill()
                self.process.wait()
        os.unlink(self.path)


def test_ospf(sites, keep):
    """Hellos to 224.0.0.5 and 224.0.0.6 without a membership that a switch sees."""
    config = '''
        interface eth0
         ip ospf hello-interval 1
         ip ospf dead-interval 4
        router ospf
         network 10.10.0.0/16 area 0'''
    routers = [keep(Frr(host.namespace, f'{config}\n ospf router-id 10.0.0.{i}',
                        daemons=('zebra', 'ospfd')))
               for i, host in enumerate(sites.host.values(), 1)]
    for router in routers:
        wait_for(lambda r=router: r.text('ip ospf neighbor').count('Full/') +
                 r.text('ip ospf neighbor').count('2-Way/') == 2, 60, 'two neighbors')


def test_pim(lab, keep):
    """Sites with a PIM router receive all groups, and the reports of other sites."""
    if not os.path.exists(os.path.join(DAEMONS, 'pimd')):
        pytest.skip('pimd of FRR is not installed')
    net = lab({'sites': dict.fromkeys('abc', {}), 'config': SNOOPING}).joined()
    routers = [keep(Frr(net.host[n].namespace, 'interface eth0\n ip pim\n ip igmp',
                        daemons=('zebra', 'pimd'))) for n in 'ab']
    for router in routers:
        wait_for(lambda r=router: len(r.show('ip pim neighbor').get('eth0', {})) == 1, 60,
                 'a PIM neighbor')
    for name in 'ab':
        wait_for(lambda n=name: state(net.node[n]) == 'router', 20, f'{name} has a router')
    net.host['c'].namespace.sysctl('ipv4/conf/eth0/force_igmp_version', 2)
    listener = keep(Listener(net.host['c'], GROUP))
    wait_for(lambda: GROUP in routers[0].text('ip igmp groups'), 30, 'the router has the group')
    assert arrives(keep(Sender(net.host['a'], GROUP)), listener)


KEEPALIVED = '''
global_defs {{
  router_id {name}
}}
vrrp_instance leon {{
  state BACKUP
  interface eth0
  virtual_router_id 51
  priority {priority}
  advert_int 1
  virtual_ipaddress {{
    10.10.9.9/16
  }}
}}
'''


def test_vrrp(sites, keep, tmp_path):
    """Advertisements to 224.0.0.18: one of two routers has the address, and the other takes it."""
    need('keepalived')
    routers = {}
    for name, priority in (('a', 150), ('c', 100)):
        file = tmp_path / f'{name}.conf'
        file.write_text(KEEPALIVED.format(name=name, priority=priority))
        routers[name] = keep(Program(
            sites.host[name], 'keepalived', '--dont-fork', '--log-console', '--vrrp', '-f', file,
            '-p', tmp_path / f'{name}.pid', '-r', tmp_path / f'{name}.vrrp'))

    def holders():
        return [n for n in 'ac' if '10.10.9.9' in sites.host[n].namespace.run('ip', 'addr').stdout]
    wait_for(lambda: holders() == ['a'], 30, 'the router with the higher priority has the address')
    # Longer than three advertisements: the other router receives them.
    end = time.monotonic() + 5
    while time.monotonic() < end:
        assert holders() == ['a']
        time.sleep(0.2)
    routers['a'].process.kill()
    sites.host['a'].namespace.run('ip', 'addr', 'del', '10.10.9.9/16', 'dev', 'eth0', check=False)
    wait_for(lambda: holders() == ['c'], 30, 'the other router takes the address')


def test_ptp(sites, keep, tmp_path):
    """224.0.1.129 is no link-local group: sites with a clock receive it, others do not."""
    need('ptp4l')
    clocks = {}
    for name, priority in (('a', 10), ('c', 200)):
        # free_running: the clock of this machine stays as it is.
        clocks[name] = keep(Program(
            sites.host[name], 'ptp4l', '-i', 'eth0', '-4', '-S', '-m', '--free_running=1',
            f'--priority1={priority}', f'--uds_address={tmp_path}/{name}'))
    wait_for(lambda: 'MASTER' in clocks['a'].text(), 30, 'a is the master clock')
    wait_for(lambda: 'on RS_SLAVE' in clocks['c'].text(), 60, 'c follows the clock at a')
    assert PTP_GROUP in groups_of(sites.node['a'], sites.node['c'])
    assert PTP_GROUP not in groups_of(sites.node['a'], sites.node['b'])


AVAHI = '''
[server]
host-name=leona
use-ipv6=no
allow-interfaces=eth0
enable-dbus=no
[publish]
publish-addresses=yes
'''
MDNS_QUERY = bytes(4) + b'\0\1' + bytes(6) + b'\5leona\5local\0' + b'\0\1\0\1'


def test_mdns(sites, keep, tmp_path):
    """A host at another site finds the host of avahi: 224.0.0.251 goes to all sites."""
    need('avahi-daemon')
    (tmp_path / 'avahi.conf').write_text(AVAHI)

    def own_run():
        ns.own_mounts()
        ns.mount('run', '/run', 'tmpfs', 0)
        os.makedirs('/run/avahi-daemon')
    keep(Program(sites.host['a'], 'avahi-daemon', '-f', tmp_path / 'avahi.conf', '--no-chroot',
                 '--no-drop-root', '--no-rlimits', prepare=own_run))
    asker = keep(Sender(sites.host['c'], '224.0.0.251', port=5353))
    asker.socket.settimeout(0.5)
    address = bytes(int(x) for x in sites.host['a'].ip4.split('.'))

    def answered():
        asker.socket.sendto(MDNS_QUERY, asker.to)
        try:
            return address in asker.socket.recv(2048)
        except OSError:
            return False
    wait_for(answered, 30, 'leona.local has an address')


def test_iperf(sites, keep):
    """A stream of iperf reaches two sites without loss, and the third receives nothing."""
    need('iperf')
    for host in sites.host.values():
        host.namespace.ip('route replace 224.0.0.0/4 dev eth0')
    servers = [keep(Program(sites.host[n], 'iperf', '-s', '-u', '-B', '239.1.2.3', '-i', '1',
                    '-w', '2M'))
               for n in 'bc']
    wait_for(lambda: all('239.1.2.3' in groups_of(sites.node['a'], sites.node[n]) for n in 'bc'),
             30, 'both sites have announced the group')
    client = keep(Program(sites.host['a'], 'iperf', '-c', '239.1.2.3', '-u', '-T', '4', '-t', '3',
                          '-b', '2M'))
    client.process.wait(timeout=30)
    for server in servers:
        wait_for(lambda s=server: '(0%)' in s.text(), 10, 'the server reports no loss')
    assert '239.1.2.3' not in groups_of(sites.node['b'], sites.node['a'])


def test_smcroute(sites, keep, tmp_path):
    """smcrouted joins and leaves a group on behalf of its host."""
    need('smcrouted')
    file = tmp_path / 'smcroute.conf'
    file.write_text('mgroup from eth0 group 239.1.2.4\n')
    daemon = keep(Program(sites.host['b'], 'smcrouted', '-n', '-N', '-I', 'leon-test', '-f', file,
                          '-u', tmp_path / 'socket', '-P', tmp_path / 'pid'))
    wait_for(lambda: '239.1.2.4' in groups_of(sites.node['a'], sites.node['b']), 30,
             f'the group is announced ({daemon.text()})')
    check_copies(sites, keep(Sender(sites.host['a'], '239.1.2.4')), b=20, c=0)
    daemon.process.terminate()
    daemon.process.wait(timeout=10)
    wait_for(lambda: '239.1.2.4' not in groups_of(sites.node['a'], sites.node['b']), 30,
             'the group has ended')
