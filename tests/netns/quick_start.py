# SPDX-License-Identifier: GPL-2.0-or-later
"""The quick start of README.md: its lines for three sites, and the comparison of the output of
another reader. Callers: test_newcomer.py here and in tests/packaging."""
import re
from pathlib import Path

README = (Path(__file__).resolve().parents[2] / 'README.md').read_text(encoding='utf-8')
PROMPT = re.compile(r'(\w+)# (.+)')
TOKEN = re.compile(r'leon3\.[\w-]+')


def console():
    """[(machine, command, printed lines)] of the block in README.md."""
    (block,) = re.findall(r'```console\n(.*?)```', README, re.S)
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


def follow(run, wait_for):
    """Types the commands of the block, with the token of the own terminal. run(machine, command)
    returns (exit status, output). Reports on the overlay may be typed again until the nodes have
    met."""
    token, last = None, []
    for name, command, shown in console():
        command = TOKEN.sub(lambda _: token, command)
        want = comparable('\n'.join(shown)).strip()
        if command.startswith(('leonctl init', 'leonctl join')):
            code, text = run(name, command)
            assert code == 0 and comparable(text).strip() == want, text
            token = token or TOKEN.search(text)[0]
            continue

        def is_as_shown(name=name, command=command, want=want):
            code, text = run(name, command)
            last[:] = [code, text]
            return code == 0 and (not want or comparable(text).strip() == want)
        try:
            wait_for(is_as_shown, 60, f'{command} is as in README.md')
        except AssertionError as error:
            raise AssertionError(f'{error}\n{last}') from error
