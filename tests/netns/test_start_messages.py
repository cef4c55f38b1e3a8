# SPDX-License-Identifier: GPL-2.0-or-later
"""A daemon that cannot start names the cause and the remedy in its log."""
import os
import signal
import subprocess

import pytest

import ns
from lab import LeonctlError, line_up, wait_for
from node import detect_duplicates, leond_program


def ended(node):
    """Log of a daemon that ended by itself."""
    node.launch()
    wait_for(lambda: not node.alive(), 20, 'leond ended')
    node.killed = True  # its status is no failure of the test
    return node.log()


def test_source_address_of_another_host(lab):
    node = lab(line_up(1, hosts=False), start=False).node['n0']
    node.config['source-address'] = ['203.0.113.77']
    text = ended(node)
    assert 'source-address is not an address of this host' in text and 'node-id' in text


def test_source_address_during_duplicate_address_detection(lab):
    node = lab(line_up(1, hosts=False), start=False).node['n0']
    node.config.update({'source-address': ['2001:db8::1'], 'node-id': '10.0.0.1'})
    detect_duplicates(node)
    node.namespace.ip('addr add 2001:db8::1/64 dev wan0')
    assert 'duplicate address detection is pending' in ended(node)


def test_port_in_use(lab):
    net = lab(line_up(1, hosts=False), start=False)
    node = net.node['n0']
    other = node.namespace.start('/usr/bin/python3', '-c',
                                 'import socket; s = socket.socket(type=socket.SOCK_DGRAM); '
                                 's.bind(("0.0.0.0", 5366)); print(flush=True); input()',
                                 stdin=subprocess.PIPE, stdout=subprocess.PIPE)
    try:
        other.stdout.readline()
        assert 'a second overlay needs another `port`' in ended(node)
    finally:
        other.kill()
        other.wait()


def reads_its_configuration(node):
    folder = f'/proc/{node.process.pid}/fd'
    try:
        return node.config_file in [os.readlink(f'{folder}/{name}') for name in os.listdir(folder)]
    except FileNotFoundError:
        return False


def test_a_reload_during_the_start(lab):
    """SIGHUP waits for the event loop. A long file delays the loop. A busy machine may miss the
    time of reading, and then tests another reload."""
    node = lab(line_up(1, hosts=False), start=False).node['n0']
    write_config = node.write_config

    def write_long_config():
        write_config()
        with open(node.config_file, 'a', encoding='ascii') as f:
            f.write(' ' * 4_000_000)
    node.write_config = write_long_config
    for n in range(1, 4):
        node.launch()
        while not reads_its_configuration(node) and node.log().count('started version=') < n:
            assert node.alive(), node.log()
        node.process.send_signal(signal.SIGHUP)
        wait_for(lambda n=n: not node.alive() or node.log().count('configuration unchanged') == n, 20, 'reload')
        assert node.alive()
        node.stop()


def test_check_names_the_file_and_the_nearest_key(lab):
    node = lab(line_up(1, hosts=False), start=False).node['n0']
    node.config['node_name'] = 'x'
    node.write_config()
    result = subprocess.run([leond_program(), '--config', node.config_file, '--check'],
                            capture_output=True, text=True, check=False)
    assert result.returncode == 1
    assert result.stderr == f'{node.config_file}: node_name: unknown key; did you mean "node-name"?\n'


def test_a_configuration_without_a_source_of_the_node_id(lab):
    """Status 78 keeps systemd from further starts."""
    node = lab(line_up(1, hosts=False)).node['n0']
    missing = {**dict.fromkeys(('node-id', 'source-address', 'source-interface')),
               'line': {'first': {'interface': 'wan0'}}}
    with pytest.raises(LeonctlError, match='node-id: missing'):
        node.reload(**missing)
    for words, status in ((['--check'], 1), ([], 78)):
        result = subprocess.run([leond_program(), '--config', node.config_file, *words],
                                capture_output=True, text=True, check=False)
        assert result.returncode == status
        assert result.stderr == (f'{node.config_file}: node-id: missing; set node-id, an IPv4 source-address, a '
                                 'source-interface, or an IPv4 address of the first line\n')


@pytest.mark.parametrize('device, say', [
    ('true', 'no /dev/net/tun: run `modprobe tun`'),
    ('mknod -m 0 /dev/net/tun c 10 200', 'the user of leond cannot open /dev/net/tun; udev sets mode 0666')])
def test_no_device_for_interfaces(lab, device, say):
    """Only a process with CAP_DAC_OVERRIDE can open a device of mode 0."""
    if ns.host_uid != 0:
        pytest.skip('making a device is for root')
    node = lab(line_up(1, hosts=False), start=False).node['n0']
    node.wrapper = ('unshare', '--mount', 'sh', '-ec', f'mount -t tmpfs none /dev/net; {device}; exec "$@"', 'sh',
                    'setpriv', '--bounding-set=-dac_override', '--inh-caps=-dac_override')
    assert f'({say})' in ended(node)


def test_a_configuration_for_all_eyes(lab):
    """After the remedy in the warning, the user of the unit can read the file."""
    node = lab(line_up(1, hosts=False), start=False).node['n0']
    node.start()
    assert 'chown root:leon' not in node.log()
    os.chmod(node.config_file, 0o644)
    node.ctl('reload')
    assert f'all users can read {node.config_file}, which contains the pre-shared secret: ' \
        'chown root:leon and chmod 0640' in node.log()
