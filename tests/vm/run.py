#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""Runs a command in a virtual machine with Debian's kernel and the files of this machine.

Usage: run.py [--systemd] COMMAND [ARGUMENT...]. Ends with the exit status of the command and
prints its output. With --systemd, systemd is the first process of the virtual machine. systemd
starts udev and the basic services, without the services of this machine, and runs the command.

The kernel below `make check` may lack VRF, VLAN devices and ESP, or may be newer than common
kernels. A crash of charon leaves kernel state, which is harmful on a machine in use. The kernel is
the package of Debian, unpacked below build/vm and never installed. The root is the root of this
machine through 9p, below a tmpfs. The virtual machine reads all files and changes only the
directory in VM_OUTPUT, mounted at /output. Needs qemu-system-x86, busybox-static, kmod. `make
check-vm`, `check-vm-units`, `check-ipsec` and `bench-vm` are the callers.

    VM_SUITE        release of Debian with the kernel, such as trixie; default: the host's release.
    VM_ACCELERATOR  kvm or tcg; default: kvm after a successful trial boot, else emulation
    VM_MEMORY       MiB, 1536
    VM_TIMEOUT      seconds until the machine counts as hung, 3600
"""
import glob
import lzma
import os
import shlex
import subprocess
import sys
import tempfile

TOP = os.path.abspath(os.path.join(os.path.dirname(__file__), '../..'))
CACHE = os.path.join(os.environ.get('LEON_BUILD') or os.path.join(TOP, 'build'), 'vm')
MEMORY_MIB = os.environ.get('VM_MEMORY', '1536')
TIMEOUT_S = int(os.environ.get('VM_TIMEOUT', '3600'))
TRIAL_S = 20
MIRROR = 'http://deb.debian.org/debian'
KEYRING = '/usr/share/keyrings/debian-archive-keyring.gpg'
TRIAL_WORD = 'vm: the trial boot is through'
STATUS = 'vm-status'
KEPT = ('LEON_BUILD', 'PYTHONPATH')

# Modules for the file system that holds the other modules.
EARLY = ('virtio_pci', '9pnet_virtio', '9p', 'overlay')
# Modules that no udev loads, together with their dependencies.
LATER = ('tun', 'veth', 'bridge', 'vrf', '8021q', 'vxlan', 'esp4', 'esp6', 'xfrm_user', 'af_key',
         'nf_tables', 'nft_xfrm', 'nft_ct', 'gcm', 'seqiv', 'ghash_generic', 'sch_netem',
         'af_packet', 'wireguard')

INIT = '''#!/bin/busybox sh
/bin/busybox mkdir -p /proc /sys /dev /host /cover /root
/bin/busybox mount -t proc proc /proc
/bin/busybox mount -t devtmpfs dev /dev
for module in {early}; do /bin/busybox insmod $module || echo "vm: $module cannot be loaded"; done
options=trans=virtio,version=9p2000.L,msize=512000,cache=loose
/bin/busybox mount -t 9p -o ro,$options root /host
/bin/busybox mount -t tmpfs cover /cover
/bin/busybox mkdir -p /cover/upper /cover/work
/bin/busybox mount -t overlay -o lowerdir=/host,upperdir=/cover/upper,workdir=/cover/work root /root
/bin/busybox umount /proc
/bin/busybox mkdir -p /root/output
/bin/busybox mount -t 9p -o rw,trans=virtio,version=9p2000.L,msize=512000 output /root/output
exec /bin/busybox switch_root /root /output/.init
'''

TRIAL_INIT = f'''#!/bin/busybox sh
/bin/busybox mkdir -p /dev
/bin/busybox mount -t devtmpfs dev /dev
echo "{TRIAL_WORD}" >/dev/console
/bin/busybox poweroff -f
'''

SECOND = '''#!/bin/sh
export PATH=/usr/sbin:/usr/bin:/sbin:/bin HOME=/root LANG=C.UTF-8
mount -t proc proc /proc
mount -t sysfs sys /sys
mount -t devtmpfs dev /dev
mkdir -p /dev/pts /dev/shm
mount -t devpts devpts /dev/pts
for where in /dev/shm /run; do mount -t tmpfs tmpfs $where; done
mkdir -p /run/lock /lib/modules
ln -sfn {modules} /lib/modules/$(uname -r)
for module in {later}; do modprobe $module || echo "vm: no module $module"; done
mkdir -p /dev/net
test -e /dev/net/tun || mknod /dev/net/tun c 10 200
hostname guest
'''

COMMAND = '''
cat >/run/command <<'END'
#!/bin/sh
export PATH=/usr/sbin:/usr/bin:/sbin:/bin HOME=/root LANG=C.UTF-8
cd {directory}
{environment}
{command}
echo $? >/output/{status}
sync
exec busybox poweroff -f
END
chmod 755 /run/command
'''

# As in the rules of udev.
ALONE = '''
chmod 666 /dev/net/tun
ip link set lo up
exec /run/command
'''

# No enabled services of this machine, no login terminals and no timers of apt. A container mark of
# this machine is hidden, so services of real machines may start.
BY_SYSTEMD = '''
mkdir -p /run/systemd/system
ln -s /dev/null /run/systemd/system/timers.target
rm -f /.dockerenv /usr/sbin/policy-rc.d
cat >/run/systemd/system/vm.service <<'END'
[Unit]
Description=The command of tests/vm
After=basic.target
Requires=basic.target

[Service]
Type=exec
ExecStart=/run/command
StandardOutput={output}
StandardError={output}
TTYPath=/dev/console
END
exec /lib/systemd/systemd --unit=vm.service --show-status=no --log-target=journal
'''


def apt_options(suite, work):
    """Options of apt for another suite, with lists and caches in `work`; none without a suite."""
    if not suite:
        return []
    for folder in ('lists', 'cache/archives/partial'):
        os.makedirs(f'{work}/{folder}')
    with open(f'{work}/sources.list', 'w', encoding='utf-8') as f:
        f.write(f'deb [signed-by={KEYRING}] {MIRROR} {suite} main\n')
    return [f'-oDir::Etc::SourceList={work}/sources.list', '-oDir::Etc::SourceParts=/dev/null',
            f'-oDir::State::Lists={work}/lists', f'-oDir::Cache={work}/cache',
            '-oAcquire::Languages=none', '-oAPT::Sandbox::User=root']


def depends(package, options):
    """Packages that a package names under Depends."""
    text = subprocess.run(['apt-cache', *options, 'depends', package], check=True,
                          capture_output=True, text=True).stdout
    return [line.split()[-1] for line in text.splitlines() if ' Depends: ' in line]


def download_kernel(suite, work):
    """Unpacks the kernel to which linux-image-amd64 of the suite refers today. Newer kernels are
    several packages."""
    options = apt_options(suite, work)
    if suite:
        subprocess.run(['apt-get', '-q', *options, 'update'], check=True, stdout=subprocess.DEVNULL)
    (image,) = [p for p in depends('linux-image-amd64', options) if p.startswith('linux-image-')]
    parts = [p for p in depends(image, options) if p.startswith('linux-')]
    subprocess.run(['apt-get', '-q', *options, 'download', image, *parts], cwd=work, check=True,
                   stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    for package in glob.glob(f'{work}/*.deb'):
        subprocess.run(['dpkg-deb', '-x', package, f'{work}/kernel'], check=True)
    if not os.path.exists(f'{work}/kernel/lib'):
        os.symlink('usr/lib', f'{work}/kernel/lib')
    return f'{work}/kernel'


def kernel():
    """(vmlinuz, directory of modules), unpacked and indexed once."""
    suite = os.environ.get('VM_SUITE', '')
    target = f'{CACHE}/kernel-{suite}' if suite else f'{CACHE}/kernel'
    if not os.path.exists(target):
        os.makedirs(CACHE, exist_ok=True)
        with tempfile.TemporaryDirectory(dir=CACHE) as work:
            unpacked = download_kernel(suite, work)
            version = os.listdir(f'{unpacked}/lib/modules')[0]
            subprocess.run(['/sbin/depmod', '-b', unpacked, version], check=True)
            os.rename(unpacked, target)
    (modules,) = glob.glob(f'{target}/lib/modules/*')
    (vmlinuz,) = glob.glob(f'{target}/boot/vmlinuz-*') or glob.glob(f'{modules}/vmlinuz')
    print(f'vm: Linux {os.path.basename(modules)}', flush=True)
    return vmlinuz, modules


def with_dependencies(names, modules):
    """Paths of the modules in loading order."""
    base, version = os.path.dirname(os.path.dirname(os.path.dirname(modules))), \
        os.path.basename(modules)
    paths = []
    for name in names:
        text = subprocess.run(['/sbin/modprobe', '-d', base, '-S', version, '--show-depends', name],
                              check=True, capture_output=True, text=True).stdout
        for line in text.splitlines():
            words = line.split()
            if words[0] == 'insmod' and words[1] not in paths:
                paths.append(words[1])
    return paths


def cpio(files):
    """An archive in the "newc" form for the kernel: {name: (mode, bytes)}."""
    out = bytearray()
    for number, (name, (mode, data)) in enumerate([*files.items(), ('TRAILER!!!', (0, b''))]):
        raw = name.encode() + b'\0'
        fields = (number, mode, 0, 0, 1, 0, len(data), 0, 0, 0, 0, len(raw), 0)
        out += b'070701' + b''.join(b'%08X' % field for field in fields) + raw
        out += bytes(-len(out) % 4) + data
        out += bytes(-len(out) % 4)
    return bytes(out)


def initramfs(init, modules=()):
    """An archive of busybox, the modules at the top, and init with the module names as {early}."""
    files = {'bin': (0o040755, b''), 'dev': (0o040755, b'')}
    names = []
    for path in modules:
        names.append('/' + os.path.basename(path).removesuffix('.xz'))
        with (lzma.open if path.endswith('.xz') else open)(path, 'rb') as f:
            files[names[-1][1:]] = (0o100644, f.read())
    with open('/bin/busybox', 'rb') as f:
        files['bin/busybox'] = (0o100755, f.read())
    files['init'] = (0o100755, init.format(early=' '.join(names)).encode())
    return cpio(files)


def qemu(accelerator, vmlinuz, archive, *devices):
    return ['qemu-system-x86_64', '-nodefaults', '-no-user-config', '-no-reboot',
            '-display', 'none', '-machine', f'q35,accel={accelerator}', '-cpu', 'max',
            '-smp', '2', '-m', MEMORY_MIB,
            '-serial', 'stdio', '-device', 'virtio-rng-pci', '-kernel', vmlinuz, '-initrd', archive,
            '-append', 'console=ttyS0 quiet panic=-1 mitigations=off', *devices]


def choose_accelerator(vmlinuz, output):
    """Nested virtualization is often offered without working. The kernel of the test must first
    boot with kvm in a few seconds. Emulation always works."""
    chosen = os.environ.get('VM_ACCELERATOR')
    if chosen:
        return chosen
    if not os.access('/dev/kvm', os.R_OK | os.W_OK):
        return 'tcg'
    archive = f'{output}/.trial'
    with open(archive, 'wb') as f:
        f.write(initramfs(TRIAL_INIT))
    try:
        done = subprocess.run(qemu('kvm', vmlinuz, archive), stdin=subprocess.DEVNULL, text=True,
                              stdout=subprocess.PIPE, stderr=subprocess.STDOUT, errors='replace',
                              timeout=TRIAL_S, check=False)
        works = TRIAL_WORD in done.stdout
    except subprocess.TimeoutExpired:
        works = False
    os.unlink(archive)
    print('vm: kvm is used' if works else 'vm: kvm is offered and does not work, emulating',
          flush=True)
    return 'kvm' if works else 'tcg'


def script(command, more):
    """Makes /run/command, which ends the machine."""
    exported = {'LEON_GUEST': '1', **more}
    exported.update({name: os.environ[name] for name in KEPT if name in os.environ})
    lines = [f'export {name}={shlex.quote(value)}' for name, value in exported.items()]
    return COMMAND.format(directory=os.getcwd(), environment='\n'.join(lines), status=STATUS,
                          command=shlex.join(command))


def status_of(output):
    """Exit status of the command, or None if the command did not run."""
    try:
        with open(f'{output}/{STATUS}', encoding='ascii') as f:
            return int(f.read())
    except (FileNotFoundError, ValueError):
        return None


def boot(command, output, by_systemd):
    """Exit status of the command, or None if the virtual machine did not run the command."""
    vmlinuz, modules = kernel()
    accelerator = choose_accelerator(vmlinuz, output)
    keep = {'LEON_EMULATED': '1'} if accelerator == 'tcg' else {}
    with open(f'{output}/.init', 'w', encoding='utf-8') as f:
        f.write(SECOND.format(modules=modules, later=' '.join(LATER)))
        f.write(script(command, keep))
        f.write(BY_SYSTEMD.format(output='tty') if by_systemd else ALONE)
        os.fchmod(f.fileno(), 0o755)
    with open(f'{output}/.initramfs', 'wb') as f:
        f.write(initramfs(INIT, with_dependencies(EARLY, modules)))
    share = 'local,security_model=none,multidevs=remap'
    subprocess.run(qemu(
        accelerator, vmlinuz, f'{output}/.initramfs',
        '-fsdev', f'{share},id=root,path=/,readonly=on',
        '-device', 'virtio-9p-pci,fsdev=root,mount_tag=root',
        '-fsdev', f'{share},id=output,path={output}',
        '-device', 'virtio-9p-pci,fsdev=output,mount_tag=output'),
        stdin=subprocess.DEVNULL, timeout=TIMEOUT_S, check=True)
    return status_of(output)


def main():
    by_systemd = sys.argv[1:2] == ['--systemd']
    command = sys.argv[2:] if by_systemd else sys.argv[1:]
    if not command:
        sys.exit(__doc__)
    with tempfile.TemporaryDirectory() as scratch:
        output = os.path.abspath(os.environ.get('VM_OUTPUT') or scratch)
        os.makedirs(output, exist_ok=True)
        status = boot(command, output, by_systemd)
        for name in ('.init', '.initramfs', STATUS):
            if os.path.exists(f'{output}/{name}'):
                os.unlink(f'{output}/{name}')
    if status is None:
        sys.exit('vm: the guest ended before the command did')
    sys.exit(status)


if __name__ == '__main__':
    main()
