# SPDX-License-Identifier: GPL-2.0-or-later
"""A virtual machine that boots the image, in the network namespace of a site, with user-data on a
separate disk (NoCloud). Tests reach the machine by SSH, like a cloud machine. The serial console
is a file.

The site acts like a cloud. The machine has a private address, the same at all sites, and the
namespace translates an elastic address to the private address.

Without KVM the machine is emulated. A boot takes a minute on an idle host and many on a busy host.
Deadlines are generous, end early on success, and exclude the time in which an emulator waited for
a CPU. `slow` requests a machine that is slow by its own clock, independent of the load of the host.
The clock counts instructions (-icount) while the machine works.
"""
import json
import os
import shlex
import shutil
import subprocess
import time
from pathlib import Path

import ns

IMAGE_VARIABLE = 'LEON_IMAGE'
BOOT_S = int(os.environ.get('IMAGE_BOOT_S', '900'))
SSH_S = 120
POLL_S = 2
MEMORY_MIB = os.environ.get('IMAGE_MEMORY', '640')
PRIVATE, GATEWAY, WIDTH = '10.0.0.5', '10.0.0.1', 24
# Nanoseconds for an instruction of a slow machine, as a power of two. An instruction takes about
# thirty times as long as on an emulated machine of an idle host. A boot takes half an hour of
# machine time.
SLOW = 6
# Names in Debian and Fedora of the firmware with enrolled keys of Secure Boot.
OVMF = ('/usr/share/OVMF/OVMF_CODE_4M.secboot.fd', '/usr/share/OVMF/OVMF_VARS_4M.ms.fd')
# The firmware without enrolled keys, which starts any loader.
OVMF_OPEN = '/usr/share/OVMF/OVMF_CODE_4M.fd'
AAVMF = ('/usr/share/AAVMF/AAVMF_CODE.ms.fd', '/usr/share/AAVMF/AAVMF_VARS.ms.fd')

NAT = '''table ip elastic {{
    chain in {{
        type nat hook prerouting priority -100
        iifname "wan0" udp dport 5366 dnat to {private}
    }}
    chain out {{
        type nat hook postrouting priority 100
        oifname "wan0" snat to {elastic}
    }}
}}
'''


class Deadline:
    """Seconds from now, without the time in which a machine waited for a CPU of the host."""

    def __init__(self, seconds):
        self.end = time.monotonic() + seconds
        self.held_up = {machine: machine.held_up() for machine in Machine.live}

    def is_over(self):
        waited = [machine.held_up() - before for machine, before in self.held_up.items()
                  if machine in Machine.live]
        return time.monotonic() > self.end + max(waited, default=0)


def wait_for(condition, what, seconds=BOOT_S):
    """Polls condition() and returns the first true value."""
    deadline = Deadline(seconds)
    while True:
        value = condition()
        if value:
            return value
        assert not deadline.is_over(), f'{what}: still not so after {seconds} s'
        time.sleep(POLL_S)


class Key:
    """A pair of SSH keys for a run."""

    def __init__(self, folder):
        self.private = folder / 'key'
        subprocess.run(['ssh-keygen', '-q', '-t', 'ed25519', '-N', '', '-f', self.private], check=True)
        self.public = self.private.with_suffix('.pub').read_text().strip()


class Site:
    """A namespace on the emulated Internet, with a port for a machine."""

    def __init__(self, wan, name):
        self.name = name
        self.namespace = ns.Namespace(name)
        index = wan.add_site(name, self.namespace)
        self.elastic = f'198.18.0.{index + 1}'
        self.namespace.sysctl('ipv4/ip_forward', 1)
        self.namespace.ip('tuntap add dev vm0 mode tap', f'addr add {GATEWAY}/{WIDTH} dev vm0',
                          'link set vm0 up')
        self.namespace.run('nft', '-f', '-',
                           input=NAT.format(private=PRIVATE, elastic=self.elastic))


class Machine:
    live = []

    def __init__(self, site, folder, image, key, number, uefi=False, data_disk=None, slow=False,
                 arch='amd64'):
        self.name = f'{site.name}-{number}'
        self.site, self.key, self.number = site, key, number
        self.folder = folder / self.name
        self.folder.mkdir()
        self.serial = self.folder / 'console'
        self.image, self.uefi, self.data_disk = image, uefi, data_disk
        self.slow, self.arch = slow, arch
        self.process = None
        self.begin = None

    def start(self, user_data):
        """Boots; user_data is the text."""
        self.make_seed(user_data)
        disk = self.folder / 'disk.qcow2'
        run('qemu-img', 'create', '-q', '-f', 'qcow2', '-F', 'qcow2', '-b', self.image, disk, '4G')
        command = [*self.board(), '-accel', 'tcg,tb-size=256', *self.clock(), '-m', MEMORY_MIB, '-smp', '1',
                   '-nographic', '-nodefaults', '-monitor', 'none', '-serial', f'file:{self.serial}',
                   '-drive', f'if=virtio,file={disk},format=qcow2,cache=unsafe',
                   '-drive', f'if=virtio,file={self.folder}/seed,format=raw,readonly=on',
                   '-netdev', 'tap,id=n,ifname=vm0,script=no,downscript=no',
                   '-device', f'virtio-net-pci,netdev=n,mac=52:54:00:00:00:{os.urandom(1).hex()}',
                   '-object', 'rng-random,id=r,filename=/dev/urandom', '-device',
                   'virtio-rng-pci,rng=r', '-no-reboot']
        if self.data_disk:
            command += ['-drive', f'if=virtio,file={self.data_disk},format=raw,cache=unsafe']
        self.begin = time.monotonic()
        self.process = self.site.namespace.start(*command, stdin=subprocess.DEVNULL,
                                                 stdout=subprocess.DEVNULL)
        Machine.live.append(self)
        return self

    def board(self):
        """The emulator, and machine, processor and firmware."""
        if self.arch == 'arm64':
            # A processor of Graviton 1, because the emulation of newer processors is slow.
            return ['qemu-system-aarch64', '-machine', 'virt', '-cpu', 'cortex-a72', *self.flash(*AAVMF)]
        words = ['qemu-system-x86_64', '-cpu', 'max', '-machine', 'q35,smm=on' if self.uefi else 'q35']
        if self.uefi:
            words += ['-global', 'driver=cfi.pflash01,property=secure,value=on', *self.flash(*OVMF)]
        return words

    def flash(self, code, variables):
        own = shutil.copy(variables, self.folder / 'vars.fd')
        return ['-drive', f'if=pflash,unit=0,format=raw,readonly=on,file={code}',
                '-drive', f'if=pflash,unit=1,format=raw,file={own}']

    def clock(self):
        return ['-icount', f'shift={SLOW},sleep=on'] if self.slow else []

    def make_seed(self, user_data):
        """A FAT with the label for cloud-init."""
        parts = {
            'user-data': user_data,
            'meta-data': json.dumps({'instance-id': self.name, 'local-hostname': self.site.name,
                                     'public-ipv4': self.site.elastic}),
            'network-config': json.dumps({'version': 2, 'ethernets': {'one': {
                'match': {'name': 'en*'}, 'addresses': [f'{PRIVATE}/{WIDTH}'],
                'routes': [{'to': '0.0.0.0/0', 'via': GATEWAY}]}}}),
        }
        seed = self.folder / 'seed'
        run('mkfs.vfat', '-n', 'CIDATA', '-C', seed, '1024')
        for name, text in parts.items():
            (self.folder / name).write_text(text)
            run('mcopy', '-i', seed, self.folder / name, f'::{name}')

    def console(self):
        return self.serial.read_text(errors='replace') if self.serial.exists() else ''

    def held_up(self):
        """Seconds for which the emulator was ready to run and waited for a processor."""
        waited = [0]
        for task in Path('/proc', str(self.process.pid), 'task').glob('*/schedstat'):
            try:
                waited.append(int(task.read_text().split()[1]) / 1e9)
            except (OSError, IndexError):
                continue  # the thread has just ended
        return max(waited)

    def ssh(self, command, check=True, timeout=SSH_S):
        """Runs a command as the user debian and returns the result. A command beyond the timeout
        is killed."""
        process = self.site.namespace.start(
            'ssh', '-i', self.key.private, '-o', 'StrictHostKeyChecking=no', '-o',
            'UserKnownHostsFile=/dev/null', '-o', 'ConnectTimeout=60', '-o', 'BatchMode=yes', '-o',
            'LogLevel=ERROR', f'debian@{PRIVATE}', command, text=True, stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        deadline = Deadline(timeout)
        while True:
            try:
                out, err = process.communicate(timeout=POLL_S)
                break
            except subprocess.TimeoutExpired:
                if deadline.is_over():
                    process.kill()
        self.site.namespace.processes.remove(process)
        assert not check or process.returncode == 0, \
            f'{self.name}: {command}: {process.returncode}\n{out}{err}'
        return subprocess.CompletedProcess(command, process.returncode, out, err)

    def leonctl(self, *words):
        """The answer in JSON, or None without an answer."""
        done = self.ssh('sudo leonctl --json ' + shlex.join(words), check=False)
        return json.loads(done.stdout) if done.returncode == 0 else None

    def wait_for_ssh(self):
        """Seconds from the start until a login succeeds."""
        def logged_in():
            assert self.process.poll() is None, f'{self.name} has ended: {self.console()[-2000:]}'
            return self.ssh('true', check=False, timeout=60).returncode == 0
        wait_for(logged_in, f'{self.name} is reached by SSH')
        return time.monotonic() - self.begin

    def stop(self):
        """Ends the machine in good order, or by force after a timeout."""
        if self.process.poll() is None:
            self.ssh('sudo systemctl poweroff', check=False, timeout=60)
            deadline = Deadline(300)
            while self.process.poll() is None and not deadline.is_over():
                time.sleep(POLL_S)
            self.process.kill()
            self.process.wait()
        if self in Machine.live:
            Machine.live.remove(self)


def run(*command):
    return subprocess.run([str(word) for word in command], check=True, capture_output=True, text=True)


def image(arch='amd64'):
    """The qcow2 named by LEON_IMAGE, or the file in build/image."""
    given = os.environ.get(IMAGE_VARIABLE)
    if given:
        return Path(given).resolve()
    found = sorted((Path(__file__).resolve().parents[2] / 'build/image').glob(f'leon-*-{arch}.qcow2'))
    assert found, 'no image: run "make image" first (arm64: "make image-arm"), or name one with LEON_IMAGE'
    return found[-1]
