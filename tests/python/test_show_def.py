# SPDX-License-Identifier: GPL-2.0-or-later
"""show.def describes the answers that the tests of leonctl's tables have, and all commands."""
import json
import re
from pathlib import Path

import jsonschema
import pytest

from show_def import answers, schema_of

TOP = Path(__file__).resolve().parents[2]
UNIT = TOP / 'tests/unit'
SHOWN = re.findall(r'check\("(\w+)", "([a-z ]+)"', (UNIT / 'test_render.c').read_text())


@pytest.mark.parametrize('command', answers())
def test_schema_is_valid(command):
    jsonschema.Draft7Validator.check_schema(schema_of(command))


@pytest.mark.parametrize('name, command', SHOWN)
def test_sample_has_known_keys_and_values(name, command):
    """A sample may lack keys."""
    answer = json.loads((UNIT / f'render/{name}.json').read_text())
    errors = jsonschema.Draft7Validator(schema_of(command)).iter_errors(answer)
    assert [str(error) for error in errors if error.validator != 'required'] == []


def test_samples_are_all_shown():
    assert {name for name, _ in SHOWN} == {path.stem for path in UNIT.glob('render/*.json')}


def test_answers_of_all_commands():
    table = (TOP / 'vyos-1x-leon/dataplane/daemon/answer/commands.def').read_text()
    commands = set(re.findall(r'^COMMAND\("([a-z ]+)"', table, re.M))
    # leonctl makes `status` of other answers. leon-ipsec reports, and no command shows the answer.
    assert commands - {'report ipsec'} == answers().keys() - {'status'}


def test_changes_of_a_reload():
    text = (TOP / 'vyos-1x-leon/dataplane/daemon/control/actions.c').read_text()
    words = re.findall(r'"([a-z-]+)"', text.split('names[] = {')[1].split('}')[0])
    assert words and words == schema_of('reload')['properties']['changes']['items']['enum']


@pytest.mark.parametrize('wrong', [
    {'seen_seconds': -1}, {'seen_seconds': '1'}, {'seen_seconds': None}, {'endpoint': 5}, {'same_identity': 1},
    {'reported_by': 'inagi'}, {'key': 1},
])
def test_wrong_answers_are_found(wrong):
    schema = schema_of('show identity')['properties']['duplicate']
    good = {'seen_seconds': 3, 'endpoint': None, 'same_identity': True, 'reported_by': '10.0.0.1'}
    jsonschema.validate(good, schema)
    jsonschema.validate(None, schema)
    for answer in ({**good, **wrong}, {}):
        with pytest.raises(jsonschema.ValidationError):
            jsonschema.validate(answer, schema)
