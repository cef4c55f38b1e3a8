# SPDX-License-Identifier: GPL-2.0-or-later
"""The demonstration shows the promised facts, stays on request and ends on request."""
import os
import re
import select
import signal
import subprocess
import sys
import time

import pytest

from node import TOP, build_dir, leonctl_program, leond_program

HERE = os.path.dirname(os.path.abspath(__file__))


def read_until(stream, words, within):
    """Output up to the given words."""
    text, end = '', time.monotonic() + within
    while words not in text:
        left = end - time.monotonic()
        if left <= 0 or not select.select([stream], [], [], left)[0]:
            raise AssertionError(f'{words!r} did not come within {within} s:\n{text}')
        piece = os.read(stream.fileno(), 65536).decode()
        assert piece, f'ended before {words!r}:\n{text}'
        text += piece
    return text


def in_the_foreground():
    """A shell starts background jobs with SIGINT ignored, and children inherit the setting."""
    signal.signal(signal.SIGINT, signal.default_int_handler)


def test_make_builds_only_the_programs_of_the_demo():
    """A build of everything takes minutes on a fresh machine."""
    plan = subprocess.run(['make', '-n', '-C', TOP, 'demo'], capture_output=True, text=True, check=True).stdout
    (line,) = re.findall(r'^ninja -C build (.+)$', plan, re.M)
    used = [leond_program(), leonctl_program(), os.path.join(build_dir(), 'tests/netns/wanem')]
    assert [os.path.join(build_dir(), target) for target in line.split()] == used
    assert all(os.path.exists(program) for program in used)


def test_demonstration():
    if not os.path.exists(leond_program()):
        pytest.skip(f'no {leond_program()}')
    with subprocess.Popen([sys.executable, '-B', os.path.join(HERE, 'demo.py'), '--stay'],
                          stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                          start_new_session=True, preexec_fn=in_the_foreground) as demo:
        try:
            shown = read_until(demo.stdout, 'show nodes\n\n', 400)
            assert 'fujisawa > inagi > seoul' in shown
            assert re.search(r'a gap of \d+ ms', shown)
            command = re.search(r'fujisawa +10\.10\.0\.1 +(.*) bash', shown).group(1)
            inside = subprocess.run([*command.split(), 'ping', '-c', '1', '10.10.0.3'],
                                    capture_output=True, text=True, check=False)
            assert ' 0% packet loss' in inside.stdout, inside
            directory = re.search(r'--socket (\S+)/\w+\.sock', shown).group(1)
            assert os.path.exists(directory)
            # The signal goes to all foreground processes, as from a terminal.
            os.killpg(demo.pid, signal.SIGINT)
            rest = demo.communicate(timeout=120)[0].decode()
        finally:
            demo.kill()
    assert demo.returncode == 0, rest
    assert 'Everything is removed again' in rest
    assert 'Traceback' not in rest
    assert not os.path.exists(directory)
