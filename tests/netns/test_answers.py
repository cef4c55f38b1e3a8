# SPDX-License-Identifier: GPL-2.0-or-later
"""Every answer of the control socket has the shape that a schema in tests/schema/ promises."""
import json
import os

import jsonschema
import pytest

from lab import LeonctlError, line_up, wait_for

SCHEMAS = os.path.join(os.path.dirname(os.path.abspath(__file__)), '../schema')
ARGUMENTS = {'explain_path': ['n1'], 'trace': ['n1'], 'ping': ['n1'], 'reset_node': ['n1']}
# Schemas without an answer here: errors of the command line, answers of other programs, and
# answers from test_accel_show.py and test_one_time.py. The errors of the socket are tested below.
OF_OTHERS = ('error', 'leonsim_', 'lisp_', 'status', 'reset_acceleration', 'reset_invitation',
             'explain_connection')
NAMES = sorted(name[:-len('.json')] for name in os.listdir(SCHEMAS)
               if not name.startswith(OF_OTHERS))


def schema_of(name):
    with open(os.path.join(SCHEMAS, f'{name}.json'), encoding='utf-8') as f:
        schema = json.load(f)
    jsonschema.Draft7Validator.check_schema(schema)
    return schema


def strict(schema):
    """The schema with unknown keys as errors, so every key is documented. An object without a list
    `required` has all its keys."""
    if isinstance(schema, dict):
        schema = {key: strict(value) for key, value in schema.items()}
        if 'properties' in schema:
            schema.setdefault('additionalProperties', False)
            schema.setdefault('required', list(schema['properties']))
    elif isinstance(schema, list):
        schema = [strict(value) for value in schema]
    return schema


@pytest.fixture(scope='module')
def net(module_lab):
    net = module_lab(line_up(3)).joined()
    net.settle_hosts('n0', 'n1')
    # Answers about a stopped node have other keys.
    net.node['n2'].stop()
    wait_for(lambda: net.node['n0'].state_of(net.node['n2']) in (None, 'left'), 10, 'n2 left')
    return net


@pytest.mark.parametrize('name', NAMES)
def test_answer_has_the_documented_shape(net, name):
    words = [*name.split('_'), *ARGUMENTS.get(name, [])]
    # A reset of another test is refused until the counters are back.
    answer = wait_for(lambda: net.node['n0'].ctl(*words), 20, f'an answer to {" ".join(words)}')
    jsonschema.validate(answer, strict(schema_of(name)))


def test_errors_have_the_documented_shape(net):
    for request in ({'version': 1, 'command': 'show nothing', 'arguments': {}},
                    {'version': 99, 'command': 'show nodes', 'arguments': {}}, {}, []):
        answer = net.node['n0'].request(json.dumps(request))
        jsonschema.validate(json.loads(answer), strict(schema_of('error')))
    with pytest.raises(LeonctlError):
        net.node['n0'].ctl('show', 'nothing')
