# SPDX-License-Identifier: GPL-2.0-or-later
"""The units of the package under a real systemd: permissions, and connections during start, stop
and restart by systemd. Connections are released, continue or are reset as in doc/acceleration.md.
The other node is in a namespace. `make check-units` runs the tests in a container, and `make
check-vm-units` in a virtual machine with Debian's kernel.
"""
import glob
import os
import signal
import subprocess

import pytest

import ns
from accel import CONFIG, MB, both_ways
from lab import wait_for
from node import build_dir
from traffic import Stream
from units import Process, UnitFar, UnitLab, systemctl

RTT_MS = 100
CAP_NET_ADMIN, CAP_NET_BIND_SERVICE = 1 << 12, 1 << 10
FILTERED = '2'  # seccomp(2)


def dpkg(*words):
    """Without triggers of other packages: man-db would read all manual pages of the machine."""
    subprocess.run(['dpkg', '--no-triggers', '--force-unsafe-io', *words], check=True)


def install(packages):
    dpkg('-i', *packages)


@pytest.fixture(scope='session', autouse=True)
def installed():
    """Installs the packages like an operator, under a running systemd."""
    found = glob.glob(f'{build_dir()}/deb/leond_*.deb') + glob.glob(f'{build_dir()}/deb/leon-accel_*.deb')
    assert len(found) == 2, f'{found}: make deb'
    install(found)
    return found


@pytest.fixture(scope='module')
def far_world(installed):
    lab = UnitLab({'sites': {'a': {}, 'b': {}}, 'config': CONFIG, 'rtt_ms_default': RTT_MS})
    try:
        far = UnitFar(lab)
        try:
            yield far
        finally:
            far.stop()
    finally:
        lab.close()


@pytest.fixture
def taken(far, ends):
    """An intercepted connection with traffic in both directions."""
    t = both_ways(ends)
    far.wait_intercepted()
    yield t
    t.abort()


def assert_taken_anew(far, ends):
    """After any event, a new connection is intercepted."""
    far.ready()
    t = both_ways(ends)
    far.wait_intercepted()
    t.wait_more(MB)
    t.finish(60).assert_whole()
    t.close()


def assert_goes_on(far, t):
    """The connection was never cut and is intercepted again."""
    far.wait_intercepted()
    t.wait_more(MB)
    t.finish(120).assert_whole()
    far.assert_no_resets()


def wait_for_the_next(unit, was, within=60):
    """Waits until systemd has started another process and the process is ready."""
    wait_for(lambda: unit.pid() not in (0, was) and unit.is_active(), within,
             'systemd has started it again')


def assert_both_are_told(t):
    wait_for(lambda: set(t.error) == {'client', 'server'}, 30, 'both ends are reset')


def test_device_of_udev():
    """The units open the device as user leon."""
    assert os.stat('/dev/net/tun').st_mode & 0o777 == 0o666


@pytest.mark.parametrize('name', ['leond', 'leon-accel'])
def test_sandbox(far, name):
    """A private user, few capabilities, filters of system calls, and no writable files."""
    unit = far.node['a'].unit if name == 'leond' else far.accel['a'].unit
    seen = Process(unit.pid())
    assert seen.status['Name'] == name and seen.user() == {'leond': 'leon'}.get(name, name)
    rights = CAP_NET_ADMIN | (CAP_NET_BIND_SERVICE if name == 'leond' else 0)
    assert set(seen.capabilities().values()) == {rights}, seen.capabilities()
    assert seen.status['NoNewPrivs'] == '1' and seen.status['Seccomp'] == FILTERED
    for kind in ('mnt', 'ipc'):
        assert seen.namespace(kind) != os.stat(f'/proc/1/ns/{kind}').st_ino, kind
    assert seen.is_read_only('/usr') and seen.is_read_only('/etc') and seen.is_read_only('/var')
    assert os.listdir(f'{seen.path}/root/home') == []


def test_reaches_no_secret(far):
    """leon-accel parses foreign bytes, and cannot access the secret, the key and the control
    socket."""
    root = f'{Process(far.accel["a"].unit.pid()).path}/root'
    assert os.path.exists(f'{root}/run/leon-accel/leon0.accel')
    for path in ('/etc/leon', '/var/lib/leon', '/run/leon'):
        assert os.stat(root + path).st_mode & 0o777 == 0, path
        assert os.listdir(path) != [] and os.listdir(root + path) == [], path


def test_network_of_its_own(far, ends):
    """leond is in the network namespace of the machine, and leon-accel in an empty namespace."""
    machine = os.stat('/proc/1/ns/net').st_ino
    leond, accel = (Process(x.unit.pid()) for x in (far.node['a'], far.accel['a']))
    assert leond.namespace('net') == machine
    assert accel.namespace('net') not in (machine, ns.host_namespaces['net'])
    assert_taken_anew(far, ends)
    links = subprocess.run(['nsenter', f'--net={accel.path}/ns/net', 'ip', '-br', 'link'], check=True,
                           capture_output=True, text=True).stdout
    assert {line.split()[0] for line in links.splitlines()} == {'lo', 'carrier', 'lan0'}


def test_nothing_was_refused_it(far):
    """In its sandbox, the daemon sets buffers, opens TAPs and loads BBR."""
    log = far.accel['a'].log()
    for fault in ('cannot be set', 'no BBR', 'cannot be used', 'no device'):
        assert fault not in log, log


def test_scheduling(far):
    """LimitRTPRIO= of the unit and the filter permit the scheduling."""
    if Process(far.node['a'].unit.pid()).limit('Max realtime priority') == 0:
        pytest.skip('this machine does not let systemd raise the limit')
    node, system = far.node['a'], far.node['a'].config['system']
    node.reload(system={**system, 'scheduling': 'realtime'})
    assert node.statistics()['scheduling'] == 'realtime'
    node.reload(system=system)


def test_restart_of_leond(far, taken):
    """Connections are released before the stop. leon-accel continues and intercepts again."""
    was = far.accel['a'].unit.pid()
    systemctl('restart', far.node['a'].unit.name)
    far.lab.attach('a')
    assert far.count('a', 'released') == 1
    assert_goes_on(far, taken)
    assert far.accel['a'].unit.pid() == was


def test_restart_of_leon_accel(far, taken):
    """Connections are released before the stop. The next process intercepts again."""
    systemctl('restart', far.accel['a'].unit.name)
    far.base['a'] = dict.fromkeys(far.base['a'], 0)
    assert far.count('b', 'released') == 1
    assert_goes_on(far, taken)


def test_stop_of_leon_accel(far, ends, taken):
    """The connection is released and continues plain."""
    assert far.accel['a'].stop() == 0
    wait_for(lambda: far.accel['b'].show()['connections_intercepted'] == 0, 20, 'released')
    taken.wait_more(MB)
    taken.finish(120).assert_whole()
    assert far.count('b', 'reset') == 0
    assert far.node['a'].unit.is_active()


def test_stop_of_leond(far, taken):
    """The connection is released within TimeoutStopSec=. The hosts wait until leond returns."""
    far.node['a'].stop()
    assert far.node['a'].unit.property('Result') == 'success'
    assert far.count('a', 'released') == 1 and far.taken() == [0, 0]
    far.lab.start('a')
    assert_goes_on(far, taken)


def test_upgrade(far, taken, installed):
    """dpkg restarts all running units one after the other."""
    before = [x.unit.pid() for x in (far.node['a'], far.accel['a'])]
    install(installed)
    far.lab.attach('a')
    after = [x.unit.pid() for x in (far.node['a'], far.accel['a'])]
    assert 0 not in after and not set(before) & set(after)
    far.base['a'] = dict.fromkeys(far.base['a'], 0)
    assert_goes_on(far, taken)


def gap_s(far, ends, stop_and_start):
    """Seconds without packets from b to a while leond of a is stopped; the minimum of three
    measurements."""
    gaps = []
    for _ in range(3):
        flow = Stream(ends[1].namespace, ends[0].namespace, ends[0].ip4, interval=0.01).start()
        flow.arrived(100, within=60)
        stop_and_start()
        flow.arrived(100, within=60)
        flow.stop()
        gaps.append(flow.gap()[0] - flow.stall)
    return min(gaps)


def test_gap_of_an_upgrade(far, ends, installed):
    """The device stays, as on VyOS. dpkg adds nothing to the gap of a restart, although it replaces
    all files. The loop guard of a bridge port adds its listening time."""
    node = far.node['a']
    far.accel['a'].stop()
    node.stop()
    node.namespace.ip('tuntap add leon0 mode tap multi_queue vnet_hdr user leon')
    far.lab.start('a')
    try:
        ways = {'restart': lambda: systemctl('restart', node.unit.name), 'dpkg': lambda: install(installed)}
        with_guard = gap_s(far, ends, ways['dpkg'])
        node.reload(loop_guard={'disable': True})
        gap = {name: gap_s(far, ends, way) for name, way in ways.items()}
        print(f'gap with loop guard: dpkg {with_guard:.2f} s; without: dpkg {gap["dpkg"]:.2f} s, '
              f'restart of the unit {gap["restart"]:.2f} s')
        assert gap['dpkg'] < 2 * gap['restart']
        assert with_guard > gap['dpkg']
    finally:
        node.reload(loop_guard={})
        node.stop()
        node.namespace.ip('link del leon0')
        far.lab.start('a')
        far.accel['a'].start()


def test_kill_of_leon_accel(far, ends, taken):
    """Both ends receive RST, and systemd starts the next process."""
    unit = far.accel['a'].unit
    had, was = unit.restarts(), unit.pid()
    far.accel['a'].kill()
    assert_both_are_told(taken)
    wait_for_the_next(unit, was)
    assert unit.restarts() == had + 1
    assert_taken_anew(far, ends)


def test_kill_of_leond(far, ends, taken):
    """systemd starts the next process. leon-accel continues and intercepts new connections."""
    unit, accel = far.node['a'].unit, far.accel['a'].unit.pid()
    had, was = unit.restarts(), unit.pid()
    far.node['a'].kill()
    wait_for_the_next(unit, was)
    far.lab.attach('a')
    assert unit.restarts() == had + 1
    taken.abort()
    assert_taken_anew(far, ends)
    assert far.accel['a'].unit.pid() == accel


def test_leon_accel_that_hangs(far, ends, taken):
    """leond continues without leon-accel, and the watchdog of systemd ends the hung process."""
    unit = far.accel['a'].unit
    was = unit.pid()
    os.kill(was, signal.SIGSTOP)
    assert_both_are_told(taken)
    wait_for_the_next(unit, was)
    assert 'Watchdog timeout' in unit.log()
    assert_taken_anew(far, ends)


def test_removal(far, ends, taken):
    """dpkg stops all units. Intercepted connections are released first."""
    dpkg('-r', 'leon-accel', 'leond')
    assert far.accel['b'].show()['connections_intercepted'] == 0
    assert far.count('b', 'reset') == 0 and not taken.error
    log = far.node['a'].log() + far.accel['a'].log()
    assert 'Failed with result' not in log.rpartition('stopping')[2]
    for unit in (far.node['a'].unit, far.accel['a'].unit):
        assert not unit.is_active()
