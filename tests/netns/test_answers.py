# SPDX-License-Identifier: GPL-2.0-or-later
"""Every answer of the control socket has exactly the keys and types of leonctl/show/show.def."""
import json
import re
from pathlib import Path

import jsonschema
import pytest

from lab import LeonctlError, line_up, wait_for
from show_def import answers, schema_of

PROTOCOL = Path(__file__).resolve().parents[2] / 'vyos-1x-leon/doc/protocol.md'
ARGUMENTS = {'explain path': ['n1'], 'trace': ['n1'], 'ping': ['n1'], 'reset node': ['n1']}
# Answers checked by test_status.py, test_accel_show.py, test_one_time.py and test_capture.py.
OF_OTHERS = ('status', 'reset acceleration', 'reset invitation', 'explain connection', 'capture start',
             'capture read', 'capture stop')


def check(command, answer):
    jsonschema.validate(answer, schema_of(command))


@pytest.fixture(scope='module')
def net(module_lab):
    net = module_lab(line_up(3)).joined()
    net.settle_hosts('n0', 'n1')
    # Answers about a stopped node have other keys.
    net.node['n2'].stop()
    wait_for(lambda: net.node['n0'].state_of(net.node['n2']) in (None, 'left'), 10, 'n2 left')
    return net


@pytest.mark.parametrize('command', sorted(answers().keys() - set(OF_OTHERS)))
def test_answer_has_the_documented_shape(net, command):
    words = [*command.split(), *ARGUMENTS.get(command, [])]
    # A reset of another test is refused until the counters are back.
    answer = wait_for(lambda: net.node['n0'].ctl(*words), 20, f'an answer to {" ".join(words)}')
    check(command, answer)


def test_statistics_count_every_message(net):
    """protocol.md has a section for each message."""
    titles = re.findall(r'^### 4[.]\d+ (.*)', PROTOCOL.read_text(), re.M)
    control = net.node['n0'].statistics()['control']
    for key in ('tx_by_type', 'rx_by_type'):
        assert {name.upper() for name in control[key]} == {
            name for title in titles for name in re.findall(r'\b[A-Z]{2,}[A-Z-]*', title)}


def test_errors_have_the_documented_shape(net):
    for request in ({'version': 1, 'command': 'show nothing', 'arguments': {}},
                    {'version': 99, 'command': 'show nodes', 'arguments': {}}, {}, []):
        answer = json.loads(net.node['n0'].request(json.dumps(request)))
        assert answer == {'version': 1, 'error': answer['error']} and answer['error']
    with pytest.raises(LeonctlError):
        net.node['n0'].ctl('show', 'nothing')
