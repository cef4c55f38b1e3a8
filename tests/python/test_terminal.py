# SPDX-License-Identifier: GPL-2.0-or-later
"""Programs at a terminal: file names after the Tab key, and `leonctl top` after Ctrl-Z."""
import contextlib
import os
import pty
import select
import subprocess
import time

import pytest
from conftest import FakeDaemon
from test_leonctl import COMPLETION, OTHERS, path_of_programs

PROMPT = 'ready> '
ENTER, LEAVE = '\x1b[?1049h', '\x1b[?25h\x1b[?1049l'


class Terminal:
    """A program at a terminal of its own."""

    def __init__(self, directory, *words):
        self.main, side = pty.openpty()
        self.text = ''
        self.process = subprocess.Popen(
            ['setsid', '--ctty', *words], stdin=side, stdout=side, stderr=side, cwd=directory,
            env={**os.environ, 'PATH': path_of_programs(), 'PS1': PROMPT, 'TERM': 'dumb', 'HISTFILE': ''})
        os.close(side)

    def type(self, keys):
        os.write(self.main, keys.encode())

    def wait(self, what, within=30):
        """Returns the output up to this text."""
        end = time.monotonic() + within
        while what not in self.text:
            assert select.select([self.main], [], [], max(0, end - time.monotonic()))[0], self.text
            self.text += os.read(self.main, 65536).decode()
        before, _, self.text = self.text.partition(what)
        return before

    def run(self, line):
        self.type(f'{line}\n')
        return self.wait(PROMPT)

    def close(self):
        self.process.kill()
        self.process.wait()
        os.close(self.main)


@pytest.fixture
def shell(tmp_path):
    one = Terminal(tmp_path, 'bash', '--norc', '--noprofile', '-i')
    one.wait(PROMPT)
    yield one
    one.close()


@pytest.mark.parametrize('program, option', [*((p, '') for p in OTHERS), ('leonctl', '--socket '), ('leonctl', '-w ')])
def test_tab_quotes_file_names(shell, tmp_path, program, option):
    """A function in place of the program prints its last argument."""
    (tmp_path / 'my;true file').touch()
    shell.run(f'source {COMPLETION.parent / program}.bash')
    shell.run(f'{program}() {{ printf "<%s>" "${{@: -1}}"; }}')
    assert '<my;true file>' in shell.run(f'{program} {option}my\t')


@pytest.fixture
def socket(tmp_path):
    with contextlib.closing(FakeDaemon(tmp_path / 's', [{'version': 1, 'error': 'no'}])):
        yield 's'


def test_top_stops_and_continues(shell, socket):
    shell.type(f'leonctl --socket {socket} top\n')
    shell.wait(ENTER)
    shell.wait('waiting')
    shell.type('\x1a')
    shell.wait(LEAVE)
    assert 'Stopped' in shell.wait(PROMPT)
    shell.type('fg\n')
    shell.wait(ENTER)
    shell.wait('waiting')
    shell.type('q')
    shell.wait(LEAVE)
    shell.wait(PROMPT)


def test_top_without_a_shell_does_not_stop(socket, tmp_path):
    """No shell could continue it."""
    with contextlib.closing(Terminal(tmp_path, 'leonctl', '--socket', socket, 'top')) as top:
        top.wait(ENTER)
        top.wait('waiting')
        top.type('\x1a')
        top.wait(LEAVE)
        top.wait(ENTER)
        top.type('q')
        top.wait(LEAVE)
        assert top.process.wait(timeout=30) == 0
