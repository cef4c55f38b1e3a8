# SPDX-License-Identifier: GPL-2.0-or-later
"""The parts of eval_build.py: the disk image, the counters of nfs-ganesha and the virtual machine.

The virtual machine is User-Mode Linux at Server 3, and the server is at Server 1. Everything ends
with the process that starts it, and all files are below the directories of the caller.
"""
import glob
import os
import re
import shutil
import subprocess
import tempfile
import threading
import time

import seccomp

import build_mix
from eval_nfs import NfsServer, OVERLAY
from lab import wait_for
import wan

HERE = os.path.dirname(os.path.abspath(__file__))
PATHS = {'zero': 0, 'direct': 21.7, 'ideal': 7.6, 'leon': 21.7}  # RTT in ms between servers 1 and 3
GUEST_NET = '10.20.0'
IMAGE_MB = 1024
# A build of tinyconfig reads none of these files, apart from Kconfig and Makefile.
DRIVERS_OUT = '''accessibility block bluetooth clk crypto dma edac gpu hid hwmon hwtracing i2c iio
    infiniband input isdn leds md media memory message mfd misc mmc mtd net nfc nvme pci phy pinctrl
    platform power ptp rapidio rtc s390 scsi soc soundwire spi staging target thermal usb video
    virtio xen'''.split()
OUT = ['sound', 'samples', 'net', 'Documentation', 'rust', 'tools/testing', 'tools/perf']
BUS = '''<busconfig><type>system</type><auth>EXTERNAL</auth>
<listen>unix:path=/run/dbus/system_bus_socket</listen>
<policy context="default"><allow user="*"/><allow own="*"/><allow send_destination="*"/>
<allow receive_sender="*"/></policy></busconfig>
'''
# Programs of the virtual machine must not use AVX: see no_xstate().
NO_AVX = 'GLIBC_TUNABLES=glibc.cpu.hwcaps=' \
    '-AVX,-AVX2,-AVX512F,-AVX512VL,-AVX512BW,-AVX512DQ,-XSAVEC,-XSAVE,' \
    '-AVX_Fast_Unaligned_Load'
PTRACE_GETREGSET, NT_X86_XSTATE, EIO = 0x4204, 0x202, 5


def source():
    """(archive, its top directory) of the Linux source that Debian installed."""
    found = sorted(glob.glob('/usr/src/linux-source-*.tar.xz'))
    if not found:
        raise SystemExit('linux-source is not installed: run `make eval-build`')
    return found[-1], os.path.basename(found[-1])[:-len('.tar.xz')]


def extract(archive, top, directory):
    out = [f'drivers/{d}/*.[chS]' for d in DRIVERS_OUT] + [f'{d}/*.[chSrjt]*' for d in OUT]
    subprocess.run(['tar', 'xf', archive, '-C', directory, '--strip-components=1',
                    *(f'--exclude={top}/{pattern}' for pattern in out)], check=True)
    for arch in os.scandir(os.path.join(directory, 'arch')):
        if not arch.is_dir() or arch.name == 'x86':
            continue
        for where, _, names in os.walk(arch.path):
            for name in names:
                if not name.startswith(('Kconfig', 'Makefile')):
                    os.unlink(os.path.join(where, name))
    subprocess.run(['make', '-s', '-C', directory, 'tinyconfig'], check=True,
                   stdout=subprocess.DEVNULL)
    # The virtual machine builds the tools of the build too.
    subprocess.run(['find', directory, '-name', '*.o', '-delete'], check=True)


def disk_image(cache):
    """An ext4 file system with the source, made once."""
    archive, top = source()
    image = os.path.join(cache, f'{top}-{os.stat(archive).st_size}.img')
    if os.path.exists(image):
        return image
    print(f'disk image of {top}: some minutes, once', flush=True)
    with tempfile.TemporaryDirectory(prefix='tree-', dir=cache) as tree:
        extract(archive, top, tree)
        part = image + '.part'
        subprocess.run(['mke2fs', '-q', '-F', '-t', 'ext4', '-E', 'lazy_itable_init=0', '-d', tree,
                        part, f'{IMAGE_MB}M'], check=True)
        os.rename(part, image)
    return image


class Server(NfsServer):
    """nfs-ganesha with the disk image, and the message bus that carries its counters."""

    def __init__(self, namespace, directory, image):
        self.image, self.namespace = image, namespace
        os.makedirs(directory)
        bus = os.path.join(directory, 'bus.conf')
        with open(bus, 'w', encoding='ascii') as f:
            f.write(BUS)
        super().__init__(namespace, directory, bus)
        wait_for(self.has_counters, 60, 'counters of nfs-ganesha')

    def has_counters(self):
        try:
            return self.operations() is not None
        except RuntimeError:
            return False

    def fresh_disk(self):
        subprocess.run(['cp', '--sparse=always', self.image, os.path.join(self.export, 'disk.img')],
                       check=True)

    def operations(self):
        """NFSv3 operations since the start."""
        answer = self.namespace.run(
            'nsenter', '-t', self.process.pid, '-m', 'dbus-send', '--system', '--print-reply',
            '--dest=org.ganesha.nfsd', '/org/ganesha/nfsd/ExportMgr',
            'org.ganesha.nfsd.exportstats.GetGlobalOPS').stdout
        return build_mix.server_operations(answer)


def no_xstate():
    """Hides the extended state of the processor from UML 6.1, which has no space for the state of
    processors with AMX and would end. Without the extended state, a page fault of a program clears
    the upper halves of the AVX registers, hence NO_AVX."""
    rules = seccomp.SyscallFilter(seccomp.ALLOW)
    rules.add_rule(seccomp.ERRNO(EIO), 'ptrace', seccomp.Arg(0, seccomp.EQ, PTRACE_GETREGSET),
                   seccomp.Arg(2, seccomp.EQ, NT_X86_XSTATE))
    rules.load()


def cpu_seconds(root):
    """CPU time of a process, its descendants and those that ended."""
    parent, ticks = {}, {}
    for entry in os.listdir('/proc'):
        if entry.isdigit():
            try:
                with open(f'/proc/{entry}/stat', encoding='utf-8', errors='replace') as f:
                    words = f.read().rpartition(')')[2].split()
            except OSError:
                continue
            parent[int(entry)] = int(words[1])
            ticks[int(entry)] = sum(int(word) for word in words[11:15])

    def inside(pid):
        while pid in parent:
            if pid == root:
                return True
            pid = parent[pid]
        return False
    return sum(n for pid, n in ticks.items() if inside(pid)) / os.sysconf('SC_CLK_TCK')


def pressure_us():
    """Time with a process that waited for a CPU, in us; None if the kernel has no PSI."""
    try:
        with open('/proc/pressure/cpu', encoding='ascii') as f:
            return int(re.search(r'some .*total=(\d+)', f.read())[1])
    except OSError:
        return None


def prepare_guest_net(net):
    site = net.node['server3'].namespace
    site.run('ip', 'tuntap', 'add', 'guest0', 'mode', 'tap')
    site.ip(f'addr add {GUEST_NET}.1/24 dev guest0', 'link set guest0 up')
    for name in OVERLAY:
        namespace = net.node[name].namespace
        namespace.sysctl('ipv4/ip_forward', 1)
        # A window of the server that shrinks while the compiler computes would add round trips.
        namespace.sysctl('ipv4/tcp_slow_start_after_idle', 0)


def take_path(net, path):
    """Sets the round-trip time of the Internet and the route of the virtual machine. Returns the
    address of the server."""
    net.wan.rtt('server1', 'server3', PATHS[path] * wan.MS)
    if path == 'leon':
        net.wait_path('server1', 'server3', ['server2', 'server3'], within=120)
        net.wait_path('server3', 'server1', ['server2', 'server1'], within=120)
    gateway = OVERLAY['server3'] if path == 'leon' else wan.ip4(2)
    net.node['server1'].namespace.run('ip', 'route', 'replace', f'{GUEST_NET}.0/24', 'via', gateway)
    return OVERLAY['server1'] if path == 'leon' else wan.ip4(0)


class Guest:
    """One life of the virtual machine: boot, build, power off. `figures` are those of the build."""

    def __init__(self, net, server, address, mix, timeout):
        self.server, self.before, self.ready = server, {}, 0
        self.figures, self.stats, self.tail = {}, [], []
        self.directory = tempfile.mkdtemp(prefix='guest-', dir=net.directory)
        init = os.path.join(self.directory, 'init')
        with open(init, 'w', encoding='ascii') as f:
            f.write(f'#!/bin/sh\nexport SERVER={address} EXPORT={server.export}'
                    f' READAHEAD={mix["readahead_kb"]} AGAIN={mix["again"]}'
                    f' TARGETS="{mix["targets"]}"\n'
                    f'exec {os.path.join(HERE, "build_guest.sh")}\n')
        os.chmod(init, 0o755)
        # In a private pid namespace, so all processes inside end together. On one CPU, because each
        # system call inside switches between two processes, which costs most between idle CPUs.
        self.process = net.node['server3'].namespace.start(
            'taskset', '--cpu-list', max(os.sched_getaffinity(0)),
            'unshare', '--pid', '--fork', '--kill-child', '--mount-proc', 'linux.uml',
            f'mem={mix["memory_mb"]}M', 'rootfstype=hostfs', 'ro', 'quiet', f'init={init}',
            'con=null', 'con0=null,fd:1', 'vec0:transport=tap,ifname=guest0,depth=64,gro=1',
            f'uml_dir={self.directory}', NO_AVX, prepare=no_xstate, stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, errors='replace')
        watch = threading.Timer(timeout, self.process.kill)
        watch.start()
        try:
            for line in self.process.stdout:
                self.hear(line.rstrip())
        finally:
            watch.cancel()
            self.process.kill()
            self.process.wait()
            shutil.rmtree(self.directory, ignore_errors=True)
        if self.figures.get('status') != 0:
            raise SystemExit('the build failed or took too long:\n' + '\n'.join(self.tail))
        self.figures['client'] = build_mix.client_operations('\n'.join(self.stats))

    def now(self):
        return {'seconds': time.monotonic(), 'operations': self.server.operations(),
                'cpu': cpu_seconds(self.process.pid), 'pressure': pressure_us()}

    def hear(self, line):
        word, _, rest = line.partition(' ')
        if word == '@ready':
            self.before = self.now()
            self.ready = self.before['seconds']
        elif word == '@begin':
            self.before['seconds'] = time.monotonic()
        elif word == '@end':
            now = self.now()
            self.figures.update({key: now[key] - self.before[key]
                                 for key in ('seconds', 'operations', 'cpu')})
            if now['pressure'] is not None:
                waited = (now['pressure'] - self.before['pressure']) / 1e6
                self.figures['pressure'] = waited / (now['seconds'] - self.ready)
        elif word == '@objects':
            self.figures['objects'] = rest.split()[0]
        elif word == '@stats':
            self.stats.append(rest if ':' not in rest else ' ' + rest)
        elif word == '@status':
            self.figures['status'] = int(rest)
        else:
            self.tail = (self.tail + [line])[-25:]
