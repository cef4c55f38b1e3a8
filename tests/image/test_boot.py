# SPDX-License-Identifier: GPL-2.0-or-later
"""Three machines boot the image and form an overlay, with user-data as the only input. Two boot by
BIOS, one by UEFI with Secure Boot. All have the same private address, and elastic addresses. Slow:
`make check-image` is the caller, `make check` is not.
"""
import json
import subprocess

import pytest
from machine import Key, Machine, Site, image, run, wait_for
from wan import Wan

SECRET = 'correct horse battery staple'
# Ten times the figure of the paper, because an emulated machine adds milliseconds.
RTT_MS = {('fujisawa', 'seoul'): 640, ('inagi', 'seoul'): 170, ('fujisawa', 'inagi'): 40}
ADDRESSES = {'fujisawa': '10.99.0.1', 'inagi': '10.99.0.2', 'seoul': '10.99.0.3'}


def user_data(key, leon):
    document = {'ssh_authorized_keys': [key.public]}
    if leon is not None:
        document['leon'] = leon
    return '#cloud-config\n' + json.dumps(document)


class Overlay:
    def __init__(self, folder):
        self.folder, self.image = folder, image()
        self.key = Key(folder)
        self.wan = Wan()
        self.sites = {name: Site(self.wan, name) for name in ADDRESSES}
        self.wan.set_neighbors()
        for (a, b), rtt in RTT_MS.items():
            self.wan.rtt(a, b, rtt * 1000)
        self.count = 0
        self.machines = {}

    def section(self, name, **more):
        peers = [site.elastic for site in self.sites.values()]
        return {'secret': SECRET, 'peer': peers, 'address': f'{ADDRESSES[name]}/24',
                'measurement': {'dead-multiplier': 20}, **more}

    def boot(self, name, leon, **keys):
        self.count += 1
        machine = Machine(self.sites[name], self.folder, self.image, self.key, self.count, **keys)
        self.machines[name] = machine
        return machine.start(user_data(self.key, leon))

    def close(self):
        for machine in list(Machine.live):
            machine.process.kill()
            machine.process.wait()
            Machine.live.remove(machine)
        self.wan.close()


@pytest.fixture(scope='module')
def overlay(tmp_path_factory):
    made = Overlay(tmp_path_factory.mktemp('image'))
    try:
        yield made
    finally:
        made.close()


@pytest.fixture(scope='module')
def data_disk(overlay):
    path = overlay.folder / 'data'
    with open(path, 'wb') as disk:
        disk.truncate(64 << 20)
    return path


@pytest.fixture(scope='module')
def three(overlay, data_disk):
    """The three machines, members of an overlay."""
    overlay.boot('fujisawa', overlay.section('fujisawa'))
    overlay.boot('inagi', overlay.section('inagi'), uefi=True)
    overlay.boot('seoul', overlay.section('seoul', **{'data-disk': '/dev/vdc'}), data_disk=data_disk)
    for name, machine in overlay.machines.items():
        print(f'{name}: SSH after {machine.wait_for_ssh():.0f} s')
    return overlay


def path_to(machine, name):
    answer = machine.leonctl('show', 'paths')
    found = [path for path in (answer or {}).get('paths', []) if path.get('name') == name]
    return found[0] if found else None


def test_relayed_path(three):
    """Seoul is reached through Inagi, with user-data as the only configuration."""
    fujisawa, elastic = three.machines['fujisawa'], three.sites
    wanted = [elastic['inagi'].elastic, elastic['seoul'].elastic]
    wait_for(lambda: (path_to(fujisawa, 'seoul') or {}).get('hops') == wanted,
             'the path from Fujisawa to Seoul leads by way of Inagi')


def test_traffic_takes_it(three):
    """Pings between overlay addresses cross both links of the relay instead of the direct link,
    and take less time."""
    test_relayed_path(three)
    fujisawa = three.machines['fujisawa']
    fujisawa.ssh('ping -c 3 -W 10 10.99.0.3', check=False)
    before = {pair: three.wan.count(*pair)['delivered'] for pair in RTT_MS}
    done = fujisawa.ssh('ping -q -c 40 -i 0.2 -s 1000 -W 10 10.99.0.3', timeout=300)
    after = {pair: three.wan.count(*pair)['delivered'] for pair in RTT_MS}
    crossed = {pair: after[pair] - before[pair] for pair in RTT_MS}
    print(done.stdout.strip().splitlines()[-1], crossed)
    assert crossed['fujisawa', 'inagi'] >= 40 and crossed['inagi', 'seoul'] >= 40
    minimum = float(done.stdout.rpartition('= ')[2].split('/')[0])
    assert 210 <= minimum < 640


def test_how_they_booted(three):
    """The state inside: firmware, size of the disk, clock, units, and no failures."""
    for name, machine in three.machines.items():
        assert machine.ssh('cloud-init status --wait', check=False, timeout=1200).returncode in (0, 2)
        secure = machine.ssh('cat /sys/firmware/efi/efivars/SecureBoot-* | od -An -tu1', check=False)
        assert (secure.stdout.split()[-1:] == ['1']) is (name == 'inagi')
        size = int(machine.ssh('df --output=size -B1 / | tail -1').stdout)
        assert size > 3.5e9, 'the root file system did not grow'
        units = machine.ssh('systemctl --failed --no-legend --plain').stdout
        assert units == '', units
        for unit in ('frr', 'strongswan', 'chrony', 'ssh', 'leond@leon0', 'unattended-upgrades'):
            assert machine.ssh(f'systemctl is-active {unit}').stdout.strip() == 'active', unit
        assert machine.ssh('sudo stat -c "%U %a" /etc/leon/leon0.json').stdout == 'root 640\n'


def test_machines_are_not_alike(three):
    """Contents of an image are public, so secrets must differ between machines."""
    keys, machine_ids, identities = set(), set(), set()
    for machine in three.machines.values():
        keys.add(machine.ssh('cat /etc/ssh/ssh_host_ed25519_key.pub').stdout.split()[1])
        machine_ids.add(machine.ssh('cat /etc/machine-id').stdout)
        identities.add(machine.ssh('sudo sha256sum /var/lib/leon/leon0.identity').stdout)
    assert (len(keys), len(machine_ids), len(identities)) == (3, 3, 3)


def test_replaced_machine_keeps_its_identity(three, data_disk):
    """A new machine with the data disk of the old machine is the same node for other nodes."""
    old = three.machines['seoul'].ssh('sudo cat /var/lib/leon/leon0.identity').stdout
    three.machines['seoul'].stop()
    new = three.boot('seoul', three.section('seoul', **{'data-disk': '/dev/vdc'}), data_disk=data_disk)
    new.wait_for_ssh()
    wait_for(lambda: new.ssh('systemctl is-active leond@leon0', check=False).returncode == 0,
             'leond runs')
    assert new.ssh('sudo cat /var/lib/leon/leon0.identity').stdout == old
    wait_for(lambda: path_to(three.machines['fujisawa'], 'seoul'), 'Seoul is back')
    assert 'identity-changed' not in json.dumps(three.machines['fujisawa'].leonctl('show', 'events'))


def stop_all():
    for machine in list(Machine.live):
        machine.stop()


def test_a_slow_machine_comes_up(overlay):
    """A machine needs half an hour of machine time to boot, like a small instance without CPU
    credits. No service gives up, and leond runs."""
    stop_all()
    machine = overlay.boot('fujisawa', overlay.section('fujisawa'), slow=True)
    machine.wait_for_ssh()
    wait_for(lambda: machine.ssh('systemctl is-active leond@leon0', check=False).returncode == 0,
             'leond runs')
    wait_for(lambda: machine.ssh('systemctl is-system-running', check=False).stdout.strip() in
             ('running', 'degraded'), 'the boot is over')
    print(machine.ssh('cat /proc/uptime; systemd-analyze time').stdout)
    assert machine.ssh('systemctl --failed --no-legend --plain').stdout == ''
    given_up = machine.ssh('sudo journalctl -b -o cat | grep -E "timed out|Timed out|due to start"',
                           check=False).stdout
    assert given_up == '', given_up
    machine.stop()


def test_wrong_user_data_leaves_a_machine_that_is_reached(overlay):
    stop_all()
    machine = overlay.boot('fujisawa', {'peer': '198.51.100.1', 'pear': 1})
    machine.wait_for_ssh()
    sentence = 'leon.pear: unknown key'
    wait_for(lambda: sentence in machine.console(), 'the console has the fault')
    wait_for(lambda: 'leon: nothing was configured.' in machine.console(), 'what to do')
    assert machine.ssh('test -e /etc/leon/leon0.json', check=False).returncode == 1
    assert machine.ssh('systemctl is-failed leon-cloud', check=False).stdout.strip() == 'failed'
    machine.stop()


def test_image_has_no_keys(tmp_path):
    """The image file has no host key of SSH, no identity, no machine-id."""
    raw = image().with_suffix('.raw')
    root = tmp_path / 'root.ext4'
    offset, length = 128 << 20, raw.stat().st_size - (129 << 20)
    run('dd', f'if={raw}', f'of={root}', 'bs=1M', f'skip={offset >> 20}', f'count={length >> 20}',
        'conv=sparse')

    def listing(folder):
        return subprocess.run(['debugfs', '-R', f'ls -p {folder}', root], check=True,
                              capture_output=True, text=True).stdout

    assert 'sshd_config' in listing('/etc/ssh') and 'ssh_host' not in listing('/etc/ssh')
    assert listing('/var/lib/leon') == ''
    assert 'leon0' not in listing('/etc/leon')
    machine_id = subprocess.run(['debugfs', '-R', 'cat /etc/machine-id', root], check=True,
                                capture_output=True, text=True).stdout
    assert machine_id == ''
