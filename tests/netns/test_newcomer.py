# SPDX-License-Identifier: GPL-2.0-or-later
"""The quick start of README.md to the letter: its lines for three sites run as they stand on three
machines, one of them behind NAT. The output is that of the page. Tokens, node-ids and addresses of
the Internet differ, as for every reader."""
import re
from pathlib import Path

import pytest

from lab import wait_for
from whole_machine import Machine

README = Path(__file__).resolve().parents[2] / 'README.md'
PROMPT = re.compile(r'(\w+)# (.+)')
TOKEN = re.compile(r'leon3\.[\w-]+')


def console():
    """[(machine, command, printed lines)] of the block in README.md."""
    (block,) = re.findall(r'```console\n(.*?)```', README.read_text(), re.S)
    steps = []
    for line in block.splitlines():
        prompt = PROMPT.fullmatch(line)
        if prompt:
            steps.append((prompt[1], prompt[2], []))
        else:
            steps[-1][2].append(line)
    return steps


def comparable(text):
    """The text without values that differ from reader to reader."""
    text = TOKEN.sub('TOKEN', text)
    text = re.sub(r'(?m)^  leond  .*', '  leond  VERSION', text)
    text = re.sub(r'\b2[45]\d\.\d+\.\d+\.\d+', 'NODE-ID', text)
    return re.sub(r'\b(198\.18|192\.0)\.\d+\.\d+', 'PUBLIC-ADDRESS', text)


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


def ends_well(machine, command):
    """Commands that report on the overlay may be typed again until the nodes have met."""
    return wait_for(lambda: (done := machine.run(command, check=False)).returncode == 0 and done, 30,
                    f'{command} succeeds')


def test_three_sites(sites):
    steps = console()
    assert {name for name, *_ in steps} == set(sites) and len(steps) > 4
    token = None
    for name, command, shown in steps:
        # A reader pastes the token of the own terminal.
        command = TOKEN.sub(lambda _: token, command)
        changes = command.startswith(('leonctl init', 'leonctl join'))
        done = sites[name].run(command) if changes else ends_well(sites[name], command)
        token = token or TOKEN.search(done.stdout)[0]
        if shown and changes:
            assert comparable(done.stdout).splitlines() == comparable('\n'.join(shown)).splitlines()
        elif shown:
            wait_for(lambda c=command, m=sites[name], s=comparable('\n'.join(shown)):
                     comparable(m.run(c, check=False).stdout).strip() == s, 30, f'{command} prints {shown}')
    reach_each_other(sites)
    for machine in sites.values():
        machine.reboot()
    reach_each_other(sites)


def reach_each_other(sites):
    for machine in sites.values():
        for number in (1, 2, 3):
            machine.wait_ping(f'10.99.0.{number}')
