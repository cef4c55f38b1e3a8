# SPDX-License-Identifier: GPL-2.0-or-later
"""leond with the restrictions of the unit: no root, two capabilities, a filter of system calls
(design.md 7). Unneeded rights are absent, and the remaining rights are sufficient."""
import contextlib
import importlib.util
import json
import os
import re
import shutil
import signal
import stat
import subprocess

import pytest

import confine
import ns
from gateway import NatPmp, granting, wait_state
from lab import PATIENT, SECRET, line_up, wait_for
from node import build_dir

UNIT = 'leond@.service'
pytestmark = pytest.mark.skipif(
    ns.host_uid != 0 or not shutil.which('systemd-analyze') or not shutil.which('setpriv')
    or importlib.util.find_spec('seccomp') is None,
    reason='needs root, systemd-analyze, setpriv and python3-seccomp')


def is_sanitized():
    path = os.path.join(build_dir(), 'meson-info/intro-buildoptions.json')
    with open(path, encoding='utf-8') as f:
        return any(o['name'] == 'b_sanitize' and o['value'] != 'none' for o in json.load(f))


def confined(net, *names):
    """The nodes run with the restrictions of the unit from the next start."""
    ns.open_tun_for_all()
    os.chmod(net.directory, 0o777)
    program = [os.sys.executable, '-B', os.path.abspath(confine.__file__), UNIT]
    for name in names:
        net.node[name].wrapper = program
        net.node[name].config_owner = confine.USER


def status(node):
    with open(f'/proc/{node.process.pid}/status', encoding='ascii') as f:
        return {key: value.strip() for key, _, value in (line.partition(':') for line in f)}


@pytest.fixture
def net(lab):
    if is_sanitized():
        pytest.skip('sanitizers need more system calls')
    net = lab(line_up(3, config=PATIENT), start=False)
    confined(net, 'n0')
    net.start()
    return net.joined()


def test_it_has_two_capabilities_and_no_root(net):
    seen = status(net.node['n0'])
    assert set(seen['Uid'].split()) == {'65534'}
    admin_and_bind = f'{1 << 12 | 1 << 10:016x}'
    for key in ('CapEff', 'CapPrm', 'CapBnd', 'CapAmb'):
        assert seen[key] == admin_and_bind, key
    assert seen['NoNewPrivs'] == '1'
    assert seen['Seccomp'] == '2'


def test_everything_works_confined(net):
    """Frames, relays, every command, a reload with a new device, and a new address."""
    node = net.node['n0']
    net.settle_hosts('n0', 'n1')
    net.settle_hosts('n1', 'n0')
    for words in (['show', 'nodes'], ['show', 'paths'], ['show', 'latency'], ['show', 'fdb'],
                  ['show', 'statistics'], ['show', 'events'], ['show', 'ipsec'],
                  ['explain', 'path', 'n1'], ['trace', 'n1'], ['ping', 'n1']):
        node.ctl(*words)
    node.reload(mtu=1300, mac='02:00:00:00:00:77', **{'loop-guard': {'interval': 500}},
                fdb={'maximum': 64})
    link = node.namespace.run('ip', '-j', 'link', 'show', node.interface).stdout
    assert json.loads(link)[0]['mtu'] == 1300
    assert json.loads(link)[0]['address'] == '02:00:00:00:00:77'
    net.wan.isolate('n1')
    wait_for(lambda: node.state_of(net.node['n1']) == 'unreachable', 20)
    net.wan.isolate('n1', up=True)
    net.joined()
    net.settle_hosts('n0', 'n1')
    assert 'Operation not permitted' not in node.log()
    assert node.statistics()['cipher_library'] == net.node['n1'].statistics()['cipher_library']
    os.kill(node.process.pid, signal.SIGHUP)
    wait_for(lambda: 'configuration unchanged' in node.log(), 10)


def confined_child(node, name):
    """/proc/PID/status of the child, which has no capabilities."""
    with open(f'/proc/{node.process.pid}/task/{node.process.pid}/children', encoding='ascii') as f:
        (child,) = f.read().split()
    with open(f'/proc/{child}/status', encoding='ascii') as f:
        seen = {key: value.strip() for key, _, value in (line.partition(':') for line in f)}
    assert seen['Name'] == name and set(seen['Uid'].split()) == {'65534'}
    assert {int(seen[key], 16) for key in ('CapEff', 'CapPrm', 'CapAmb')} == {0}
    assert seen['NoNewPrivs'] == '1' and seen['Seccomp'] == '2'
    return int(child)


def test_port_mapping_has_no_capability(lab, keep):
    """leon-portmap works confined, and has the limit of memory."""
    if is_sanitized():
        pytest.skip('sanitizers need more system calls')
    net = lab({'sites': {'n0': {}, 'n1': {'nat': True, 'config': {'port-mapping': {}}}}, 'seeds': ['n0'],
               'hosts': False}, start=False)
    confined(net, 'n1')
    keep(NatPmp(net.router['n1'], granting('44.1.1.1')))
    net.start()
    node = net.node['n1']
    wait_state(node, 'mapped')
    child = confined_child(node, 'leon-portmap')
    with open(f'/proc/{child}/limits', encoding='ascii') as f:
        limits = {line[:25].strip(): line[25:].split()[:2] for line in f}
    assert limits['Max data size'] == [str(64 << 20)] * 2
    assert limits['Max core file size'] == ['0'] * 2


def test_tls_has_no_capability(lab):
    if is_sanitized():
        pytest.skip('sanitizers need more system calls')
    net = lab({'sites': {'n0': {'config': {'transport': {'tls': {'listen-port': 443}}}},
                         'n1': {'config': {'transport': {'tls': {}}, 'peer': {'n0': {'tls-port': 443}}}}},
               'seeds': ['n0'], 'hosts': False}, start=False)
    confined(net, 'n0', 'n1')
    net.node['n1'].namespace.run('nft', '-f', '-', input='''
        table netdev no-udp {
            chain to { type filter hook egress device "wan0" priority 0; meta l4proto udp drop; }
        }''')
    net.start()
    net.joined()
    for node, other in (('n0', 'n1'), ('n1', 'n0')):
        node, other = net.node[node], net.node[other]
        assert node.nodes()[other.node_id]['transport'] == 'tls'
        confined_child(node, 'leon-tls')


def scheduling(node):
    """{function of the threads: {(policy, priority), ...}}."""
    found = {'control': set(), 'worker': set(), 'other': set()}
    for thread in os.listdir(f'/proc/{node.process.pid}/task'):
        with open(f'/proc/{node.process.pid}/task/{thread}/comm', encoding='utf-8') as f:
            kind = 'worker' if f.read().startswith('leon-worker') else 'other'
        if int(thread) == node.process.pid:
            kind = 'control'
        found[kind].add((os.sched_getscheduler(int(thread)) & ~os.SCHED_RESET_ON_FORK,
                         os.sched_getparam(int(thread)).sched_priority))
    return found


@contextlib.contextmanager
def busy_processors():
    """Programs with normal scheduling use all processors."""
    programs = [subprocess.Popen(['sh', '-c', 'while :; do :; done'])
                for _ in os.sched_getaffinity(0)]
    try:
        yield
    finally:
        for program in programs:
            program.kill()
            program.wait()


def works(*command):
    return subprocess.run(command, check=False, capture_output=True).returncode == 0


def may_be_realtime():
    with open('/proc/sys/kernel/sched_rt_runtime_us', encoding='ascii') as f:
        return works('chrt', '-r', '2', 'true') and int(f.read()) >= 0


@pytest.mark.skipif(not may_be_realtime(), reason='no real-time scheduling here')
def test_frames_do_not_wait_for_other_programs(net):
    """The control thread uses real-time scheduling if the unit permits, and a worker after a wait
    for a processor. A reload changes the policy. In a container without real-time rights, root runs
    the node."""
    node = net.node['n0' if works('prlimit', '--rtprio=2', 'true') else 'n1']
    normal = {(os.SCHED_OTHER, 0)}
    realtime = {'control': {(os.SCHED_RR, 2)}, 'worker': {(os.SCHED_RR, 1)}, 'other': normal}
    assert scheduling(node)['control'] == realtime['control']
    assert node.ctl('show', 'statistics')['scheduling'] == 'realtime'
    stream = net.stream(node.name, 'n2')
    before = node.counter('prioritized')
    with busy_processors():
        wait_for(lambda: node.counter('prioritized') > before and scheduling(node) == realtime, 30,
                 'a worker that waits has priority')
    stream.stop()
    system = node.config['system']
    answer = node.reload(system={**system, 'scheduling': 'normal'})
    assert answer['changes'] == ['scheduling']
    wait_for(lambda: scheduling(node) == dict.fromkeys(realtime, normal), 10, 'normal scheduling')
    assert node.ctl('show', 'statistics')['scheduling'] == 'normal'
    node.reload(system=system)
    assert scheduling(node)['control'] == realtime['control']


def test_where_nothing_is_permitted_it_says_so_and_runs(lab):
    if is_sanitized():
        pytest.skip('sanitizers need more system calls')
    net = lab(line_up(2), start=False)
    confined(net, 'n0')
    # As in a container, the manager cannot raise the limit.
    net.node['n0'].wrapper = ['prlimit', '--rtprio=0:0', 'setpriv',
                              '--bounding-set=-sys_resource', *net.node['n0'].wrapper]
    net.start()
    net.joined()
    node = net.node['n0']
    assert node.ctl('show', 'statistics')['scheduling'] == 'normal'
    assert 'LimitRTPRIO' in node.log()
    assert set().union(*scheduling(node).values()) == {(os.SCHED_OTHER, 0)}


def test_source_interface_needs_no_more(lab):
    if is_sanitized():
        pytest.skip('sanitizers need more system calls')
    net = lab(line_up(2), start=False)
    confined(net, 'n0')
    config = net.node['n0'].config
    config['node-id'] = net.node['n0'].node_id
    config['source-interface'] = 'wan0'
    del config['source-address']
    net.start()
    net.joined()


def test_a_call_outside_the_filter_is_refused():
    """The process has the filter of the unit, which refuses system calls that leond never makes."""
    probe = ('import ctypes, errno, os\n'
             'for path in ("/", "/proc"):\n'
             '    try: os.chroot(path)\n'
             '    except PermissionError: print("refused")\n')
    done = subprocess.run([os.sys.executable, '-B', os.path.abspath(confine.__file__), UNIT,
                           '/usr/bin/python3', '-c', probe], capture_output=True, text=True,
                          check=False)
    assert done.stdout.split() == ['refused', 'refused'], done.stderr
    assert 'chroot' not in confine.allowed_calls(UNIT)
    assert {'sendmmsg', 'recvmmsg', 'ppoll'} <= confine.allowed_calls(UNIT)


def test_a_checkout_that_only_root_may_enter(tmp_path):
    """The user of the unit needs no access to the directory of the program."""
    closed = tmp_path / 'closed'
    closed.mkdir(mode=0o700)
    program = shutil.copy('/usr/bin/id', closed)
    done = subprocess.run([os.sys.executable, '-B', os.path.abspath(confine.__file__), UNIT,
                           program, '-un'], capture_output=True, text=True, check=False)
    assert done.stdout.split() == [confine.USER], done.stderr


@pytest.mark.skipif(not shutil.which('strace'), reason='needs strace')
def test_no_call_of_a_whole_life_is_outside_the_filter(lab, tmp_path):
    """Start, operation, reload, stop: the filter must permit every system call."""
    if is_sanitized():
        pytest.skip('sanitizers need more system calls')
    net = lab(line_up(2), start=False)
    trace = tmp_path / 'calls'
    net.node['n0'].wrapper = ['strace', '-f', '-qq', '-c', '-U', 'name', '-o', str(trace)]
    net.start()
    net.joined(within=60)
    net.settle_hosts('n0', 'n1')
    net.node['n0'].reload(mtu=1300)
    tracer = net.node['n0'].process
    with open(f'/proc/{tracer.pid}/task/{tracer.pid}/children', encoding='ascii') as f:
        os.kill(int(f.read().split()[0]), signal.SIGTERM)
    assert tracer.wait(30) == 0
    calls = set(re.findall(r'^(\w+)$', trace.read_text(), re.M)) - {'syscall', 'total'}
    assert {'recvmmsg', 'openat'} & calls
    # execve() belongs to the service manager.
    assert calls - confine.allowed_calls(UNIT) == set()


def memory(pid):
    """All writable memory of the process."""
    with open(f'/proc/{pid}/maps', encoding='ascii') as maps, open(f'/proc/{pid}/mem', 'rb') as mem:
        for line in maps:
            start, end = (int(x, 16) for x in line.split()[0].split('-'))
            if ' rw' in line and '[v' not in line:
                mem.seek(start)
                try:
                    yield mem.read(end - start)
                except OSError:
                    continue


def test_a_secret_is_in_memory_once(lab):
    """Only the configuration holds the secret. Buffers of the file, of the parser and of the old
    configuration are wiped, also after reloads."""
    net = lab(line_up(2), start=False)
    net.start()
    net.joined()
    node = net.node['n0']
    for mtu in (1300, 1280, 1300):
        node.reload(mtu=mtu)
    found = sum(part.count(SECRET.encode()) for part in memory(node.process.pid))
    assert found == 1


def test_no_core_dump_and_modes_of_files(net):
    node = net.node['n0']
    # The files below /proc of an undumpable process belong to root.
    assert os.stat(f'/proc/{node.process.pid}/environ').st_uid == 0
    assert stat.S_IMODE(os.stat(node.socket).st_mode) == 0o660
    node.stop()
    members = node.socket.replace('.sock', '.members')
    assert stat.S_IMODE(os.stat(members).st_mode) == 0o600


def test_a_secret_that_everybody_may_read_is_reported(net):
    node = net.node['n2']
    os.chmod(node.config_file, 0o644)
    node.ctl('reload')
    wait_for(lambda: 'all users can read' in node.log(), 5)
