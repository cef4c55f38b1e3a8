# SPDX-License-Identifier: GPL-2.0-or-later
"""leon-cloud.service under a real systemd. In the sandbox, the service writes the configuration,
formats and mounts the disk of the identity key for all processes, and starts leond. `make
check-units` runs the tests.
"""
import glob
import json
import os
import subprocess

import pytest

from node import build_dir, wait_for
from units import Unit, systemctl

USER_DATA = '''#cloud-config
leon: {{ peer: 198.51.100.1, node-id: {node}, secret-from: file:///root/leon-secret{more} }}
'''
SECRET = 'a secret that root has in a file'
DISK_MIB = 16


def run(*words):
    return subprocess.run(words, check=True, capture_output=True, text=True).stdout.strip()


@pytest.fixture(scope='module')
def installed():
    found = [path for name in ('leond', 'leon-cloud') for path in glob.glob(f'{build_dir()}/deb/{name}_*.deb')]
    assert len(found) == 2, f'{found}: make deb'
    # cloud-init may be missing on a test machine.
    run('dpkg', '--no-triggers', '--force-unsafe-io', '--force-depends', '-i', *found)
    systemctl('daemon-reload')
    os.makedirs('/run/cloud-init', exist_ok=True)
    os.makedirs('/var/lib/cloud/instance', exist_ok=True)
    write('/root/leon-secret', SECRET)
    yield
    # tests/vm/test_units.py leaves leon-accel installed after a failed test.
    run('dpkg', '--no-triggers', '--force-unsafe-io', '--purge', 'leon-cloud', 'leon-accel', 'leond')


def write(path, text):
    with open(path, 'w', encoding='utf-8') as file:
        file.write(text)


@pytest.fixture
def disk(tmp_path):
    """A blank disk. Skips the test if the container has no access to a disk."""
    image = tmp_path / 'disk'
    with open(image, 'wb') as file:
        file.truncate(DISK_MIB << 20)
    for number in range(8):
        if not os.path.exists(f'/dev/loop{number}'):
            subprocess.run(['mknod', f'/dev/loop{number}', 'b', '7', str(number)], check=False)
    if not os.path.exists('/dev/loop-control'):
        subprocess.run(['mknod', '/dev/loop-control', 'c', '10', '237'], check=False)
    done = subprocess.run(['losetup', '--find', '--show', image], capture_output=True, text=True, check=False)
    if done.returncode != 0:
        pytest.skip(f'no loop device: {done.stderr.strip()}')
    yield done.stdout.strip()
    subprocess.run(['nsenter', '--target', '1', '--mount', 'umount', '/var/lib/leon'], check=False)
    run('losetup', '--detach', done.stdout.strip())


def ip(*words):
    """In the network namespace of systemd, which the test process has left."""
    return run('nsenter', '--target', '1', '--net', 'ip', *words)


@pytest.fixture
def port():
    """A local port, and systemd-networkd."""
    ip('link', 'add', 'port0', 'type', 'veth', 'peer', 'name', 'port1')
    systemctl('start', 'systemd-networkd.service')
    yield 'port0'
    systemctl('stop', 'leond@leon0.service', 'systemd-networkd.socket', 'systemd-networkd.service')
    for name in ('port0', 'br0'):
        ip('link', 'delete', name)


def bridge_of(port):
    """The MAC address of the bridge with the port, or None."""
    links = {link['ifname']: link for link in json.loads(ip('-j', 'link'))}
    return links.get(links[port].get('master'), {}).get('address')


def start(instance, user_data):
    """The files of cloud-init, and the unit after cloud-init."""
    for name in ('user-data.txt', 'cloud-config.txt'):
        write(f'/var/lib/cloud/instance/{name}', user_data)
    write('/run/cloud-init/instance-data.json', f'{{"v1": {{"instance_id": "{instance}"}}}}')
    systemctl('reset-failed', 'leon-cloud.service', check=False)  # the limit of starts
    systemctl('restart', 'leon-cloud.service', check=False)
    return Unit('leon-cloud.service')


def move_to_other_hardware():
    write('/var/lib/leon-cloud/machine', 'the UUID of the original\n')


def boot(instance, more='', node='10.0.0.1'):
    unit = start(instance, USER_DATA.format(more=more, node=node))
    assert unit.property('Result') == 'success', unit.log()


def assert_configured():
    assert run('stat', '-c', '%U:%G %a', '/etc/leon/leon0.json') == 'root:leon 640'
    assert SECRET in open('/etc/leon/leon0.json', encoding='utf-8').read()
    assert systemctl('is-enabled', 'leond@leon0.service') == 'enabled'


def test_configures_in_its_sandbox(installed):
    boot('i-1')
    assert_configured()
    assert open('/var/lib/leon-cloud/instance-id', encoding='utf-8').read() == 'i-1\n'
    # A copy of the disk is another node; only leond may enter the directory.
    os.makedirs('/var/lib/leon', exist_ok=True)
    write('/var/lib/leon/leon0.identity', 'of the first one')
    run('chown', '-R', 'leon:leon', '/var/lib/leon')
    run('chmod', '0700', '/var/lib/leon')
    leond = Unit('leond@leon0.service')
    before = leond.pid()
    move_to_other_hardware()
    boot('i-2')
    assert 'leon-cloud.service' in leond.property('After')
    systemctl('start', leond.name)  # waits for the job of leon-cloud
    assert before != leond.pid()
    leond.stop()
    assert not os.path.exists('/var/lib/leon/leon0.identity') or \
        open('/var/lib/leon/leon0.identity', encoding='utf-8').read() != 'of the first one'


def test_fault_is_above_the_login_prompt(installed):
    unit = start('i-3', '#cloud-config\nleon: { pear: 1 }\n')
    assert unit.property('Result') == 'exit-code', unit.log()
    assert open('/run/issue.d/leon.issue', encoding='utf-8').read().startswith('leon.pear: unknown key; ')


def test_a_copy_with_faulty_user_data_does_not_run(installed):
    boot('i-5')
    Unit('leond@leon0.service').stop()
    move_to_other_hardware()
    start('i-6', '#cloud-config\nleon: { pear: 1 }\n')
    systemctl('start', 'leond@leon0.service')
    assert Unit('leond@leon0.service').property('ConditionResult') == 'no'
    assert not os.path.exists('/var/lib/leon/leon0.identity')
    assert os.path.exists('/etc/leon/leon0.json.original')


def test_bridge_of_a_copy_has_another_mac_address(installed, port):
    """systemd-networkd has made the bridge of the original before."""
    boot('i-7', f', ports: {port}')
    original = wait_for(lambda: bridge_of(port), 20, 'a bridge')
    systemctl('stop', 'leond@leon0.service')
    move_to_other_hardware()
    boot('i-8', f', ports: {port}', node='10.0.0.2')
    wait_for(lambda: bridge_of(port) not in (None, original), 20, 'another bridge')


def test_data_disk_is_mounted_for_all(installed, disk):
    """The mount is visible outside the sandbox, and fstab has an entry for the next boot."""
    boot('i-4', f', data-disk: {disk}')
    assert_configured()
    # The test process has private mounts too.
    fstype, options = run('findmnt', '--task', '1', '-n', '-o', 'FSTYPE,OPTIONS', '/var/lib/leon').split()
    assert fstype == 'ext4'
    assert {'nodev', 'nosuid', 'noexec'} <= set(options.split(','))
    assert '/var/lib/leon ext4 nofail,' in open('/etc/fstab', encoding='utf-8').read()
    systemctl('stop', 'leond@leon0.service')
