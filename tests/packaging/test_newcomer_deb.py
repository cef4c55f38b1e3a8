# SPDX-License-Identifier: GPL-2.0-or-later
"""A newcomer with three Debian roots, one of them behind NAT. README.md's line installs the
package, and its lines for three sites follow unchanged. The output equals the output in README.md.
The script tests/packaging/systemctl is the substitute of systemd.
"""
import os
import re
import subprocess
import sys
import time

import pytest
from conftest import Root
from packages import TOP
from role import Site

sys.path.append(str(TOP / 'tests/netns'))

from quick_start import README, follow  # noqa: E402

# Each router has an address 254 in its networks.
NETWORKS = {'fujisawa': ('192.0.2.1', 'internet'), 'inagi': ('198.51.100.1', 'internet'),
            'seoul': ('192.168.7.2', 'nat'), 'nat': ('203.0.113.1', 'internet')}
MASQUERADE = 'table ip nat { chain out { type nat hook postrouting priority 100; oifname "wan" masquerade; }; }'


class Router:
    """A network namespace that forwards."""

    def __init__(self):
        self.holder = subprocess.Popen(['unshare', '--net', 'sh', '-c', 'echo 1 >/proc/sys/net/ipv4/ip_forward; echo; '
                                        'exec sleep infinity'], stdout=subprocess.PIPE)
        self.holder.stdout.readline()
        self.init = str(self.holder.pid)

    def close(self):
        self.holder.kill()
        self.holder.wait()


def ip(place, *words):
    subprocess.run(['nsenter', f'--target={place.init}', '--net', 'ip', *words], check=True)


def connect(name, place, router):
    """The link of a place to its router, with a default route."""
    address = NETWORKS[name][0]
    gateway = f'{address.rpartition(".")[0]}.254'
    ip(place, 'link', 'add', 'wan', 'type', 'veth', 'peer', 'name', name, 'netns', router.init)
    ip(router, 'address', 'add', f'{gateway}/24', 'dev', name)
    ip(place, 'address', 'add', f'{address}/24', 'dev', 'wan')
    for where, link in ((router, name), (place, 'wan'), (place, 'lo')):
        ip(where, 'link', 'set', link, 'up')
    ip(place, 'route', 'add', 'default', 'via', gateway)


@pytest.fixture
def places(tmp_path):
    if os.geteuid() != 0:
        pytest.skip('installing a package needs several user ids: run as root')
    made = {}
    try:
        for router in ('internet', 'nat'):
            made[router] = Router()
        for name in set(NETWORKS) - set(made):
            (tmp_path / name).mkdir()
            made[name] = Root(tmp_path / name, name=name)
        for name, (_, router) in NETWORKS.items():
            connect(name, made[name], made[router])
        subprocess.run(['nsenter', f'--target={made["nat"].init}', '--net', 'nft', MASQUERADE], check=True)
        yield made
    finally:
        for place in made.values():
            place.close()


def wait_for(condition, seconds, what):
    deadline = time.monotonic() + seconds * 4
    while not (result := condition()):
        assert time.monotonic() < deadline, f'not within {seconds * 4} s: {what}'
        time.sleep(0.2)
    return result


def test_package_and_three_sites(places, deb):
    (install,) = re.findall(r'`(apt install \./leond_\S+\.deb)`', README)
    for name in ('fujisawa', 'inagi', 'seoul'):
        places[name].put(deb, f'/tmp/{deb.name}')
        Site(name, places[name])
        places[name].run('sh', '-ec', f'cd /tmp && {install}')

    def run(name, command):
        done = places[name].run('sh', '-c', command, check=False)
        return done.returncode, done.stdout
    follow(run, wait_for)
