# SPDX-License-Identifier: GPL-2.0-or-later
"""The image for arm64. An emulated machine boots the image by UEFI and joins a leond of the host,
by user-data alone. The overlay therefore has two architectures. Slow: `make check-image-arm` is
the caller.
"""
import json

import pytest
from machine import Key, Machine, Site, image, wait_for
from node import Node, leonctl_program
from ns import Namespace
from wan import Wan

SECRET = 'correct horse battery staple'
ARM, HERE = '10.99.0.1', '10.99.0.2'


@pytest.fixture(scope='module')
def wan():
    made = Wan()
    try:
        yield made
    finally:
        made.close()


@pytest.fixture(scope='module')
def pair(wan, tmp_path_factory):
    """The emulated machine, and the node here."""
    folder = tmp_path_factory.mktemp('arm64')
    site, namespace = Site(wan, 'graviton'), Namespace('here')
    address = f'198.18.0.{wan.add_site("here", namespace) + 1}'
    wan.set_neighbors()
    wan.rtt('graviton', 'here', 20000)
    node = Node('here', namespace, {
        'version': 1, 'interface': 'leon0', 'source-address': [address], 'node-name': 'here',
        'authentication': {'pre-shared-secret': SECRET}, 'peer': {'graviton': {'address': site.elastic}},
        'measurement': {'dead-multiplier': 20}}, str(folder))
    node.start()
    namespace.ip(f'addr add {HERE}/24 dev leon0')
    key = Key(folder)
    machine = Machine(site, folder, image('arm64'), key, 1, arch='arm64')
    machine.start('#cloud-config\n' + json.dumps({'ssh_authorized_keys': [key.public], 'leon': {
        'secret': SECRET, 'peer': [address], 'address': f'{ARM}/24',
        'measurement': {'dead-multiplier': 20}}}))
    try:
        yield machine, node
    finally:
        machine.process.kill()
        machine.process.wait()
        Machine.live.remove(machine)
        node.stop()


def test_it_is_reached_and_is_arm64(pair):
    machine, _ = pair
    print(f'SSH after {machine.wait_for_ssh():.0f} s')
    assert machine.ssh('uname -m; dpkg --print-architecture').stdout.split() == ['aarch64', 'arm64']
    wait_for(lambda: machine.ssh('systemctl is-active leond@leon0', check=False).returncode == 0,
             'leond runs')
    wait_for(lambda: 'login: ' in machine.console(), 'a login prompt on the serial console')


def test_two_architectures_are_an_overlay(pair):
    machine, node = pair
    wait_for(lambda: any(path['name'] == 'graviton' and path['hops'] for path in node.paths().values()),
             f'{leonctl_program()} shows a path to the machine')
    wait_for(lambda: node.namespace.run('ping', '-c', '3', '-W', '10', ARM, check=False).returncode == 0,
             'pings cross the overlay')
    done = machine.ssh(f'ping -q -c 20 -i 0.3 -s 1400 -W 10 {HERE}', timeout=300).stdout
    print(done.strip().splitlines()[-1])
    assert ' 0% packet loss' in done
    assert node.trouble() == []
