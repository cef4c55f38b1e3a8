# SPDX-License-Identifier: GPL-2.0-or-later
"""The quick start of README.md without any change. Its lines for three sites run unchanged on three
machines, one of them behind NAT. The output equals the output in README.md. Tokens, node-ids and
addresses of the Internet differ, as for every reader. tests/packaging has the same with the
package."""
import pytest

from lab import wait_for
from quick_start import console, follow
from whole_machine import Machine


@pytest.fixture
def sites(lab):
    net = lab({'sites': {'fujisawa': {}, 'inagi': {}, 'seoul': {'nat': True}}, 'hosts': False,
               'rtt_ms_default': 10}, start=False)
    made = {}
    try:
        for name, node in net.node.items():
            made[name] = Machine(name, node.namespace)
        yield made
    finally:
        for machine in made.values():
            machine.close()


def test_three_sites(sites):
    def run(name, command):
        done = sites[name].run(command, check=False)
        return done.returncode, done.stdout
    steps = console()
    assert {name for name, *_ in steps} == set(sites) and len(steps) > 4
    follow(run, wait_for)
    reach_each_other(sites)
    for machine in sites.values():
        machine.reboot()
    reach_each_other(sites)


def reach_each_other(sites):
    for machine in sites.values():
        for number in (1, 2, 3):
            machine.wait_ping(f'10.99.0.{number}')
