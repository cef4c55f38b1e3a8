# SPDX-License-Identifier: GPL-2.0-or-later
"""leonctl top on a terminal: draws, follows the size of the terminal and restarts of the daemon,
and restores the terminal."""
import fcntl
import os
import pty
import select
import signal
import struct
import subprocess
import termios

import pytest

from lab import line_up, wait_for
from node import leonctl_program

ENTER, LEAVE, HOME, REST = '\x1b[?1049h', '\x1b[?1049l', '\x1b[H', '\x1b[J'


class Terminal:
    def __init__(self, node, rows=24, columns=100):
        self.master, slave = pty.openpty()
        self.resize(rows, columns)
        self.before = termios.tcgetattr(self.master)
        self.text = ''
        self.process = subprocess.Popen([leonctl_program(), '--socket', node.socket, 'top'], stdin=slave,
                                        stdout=slave, stderr=slave, start_new_session=True)
        os.close(slave)

    def resize(self, rows, columns):
        fcntl.ioctl(self.master, termios.TIOCSWINSZ, struct.pack('HHHH', rows, columns, 0, 0))

    def read(self):
        while select.select([self.master], [], [], 0.05)[0]:
            try:
                self.text += os.read(self.master, 65536).decode()
            except OSError:
                break
        return self.text

    def screen(self):
        """Lines of the last complete picture."""
        whole = self.read().rsplit(REST, 1)[0]
        return whole.rsplit(HOME, 1)[-1].replace('\x1b[K', '').split('\r\n')

    def shows(self, what, within=30):
        wait_for(lambda: any(what in line for line in self.screen()), within, f'"{what}" on the screen')

    def key(self, key):
        os.write(self.master, key)

    def ended(self, within=30):
        wait_for(lambda: (self.read(), self.process.poll() is not None)[1], within, 'top ends')
        self.read()  # the output between both
        assert self.text.startswith(ENTER) and LEAVE in self.text[-40:]
        assert termios.tcgetattr(self.master)[3] == self.before[3]
        return self.process.returncode

    def close(self):
        if self.process.poll() is None:
            self.process.kill()
            self.process.wait()
        os.close(self.master)


@pytest.fixture
def terminal():
    open_ones = []

    def make(*args):
        open_ones.append(Terminal(*args))
        return open_ones[-1]
    yield make
    for one in open_ones:
        one.close()


def test_what_is_seen(lab, terminal):
    net = lab(line_up(2, hosts=False)).joined()
    top = terminal(net.node['n0'])
    top.shows('n0 > n1')
    wait_for(lambda: top.screen()[0].startswith('leon0  n0   2 nodes, 1 of 1 others reached'), 30)
    top.shows('from hosts 0.0 kbit/s')  # a rate needs two samples
    top.shows('node n1 (198.18.0.2) is reachable')
    top.resize(6, 40)
    os.kill(top.process.pid, signal.SIGWINCH)
    wait_for(lambda: len(top.screen()) <= 6 and max(map(len, top.screen())) <= 40, 30, 'the smaller size')
    net.node['n0'].stop()
    top.resize(24, 100)
    top.shows('leond is not running')
    assert top.process.poll() is None
    net.start('n0')
    top.shows('n0 > n1', 60)
    top.key(b'q')
    assert top.ended() == 0


@pytest.mark.parametrize('number', [signal.SIGTERM, signal.SIGINT, signal.SIGHUP])
def test_a_signal_leaves_the_terminal_as_it_was(lab, terminal, number):
    top = terminal(lab(line_up(1, hosts=False)).node['n0'])
    top.shows('no other node is known')
    top.process.send_signal(number)
    assert top.ended() == 0


def test_without_a_terminal(lab):
    node = lab(line_up(1, hosts=False)).node['n0']
    result = subprocess.run([leonctl_program(), '--socket', node.socket, 'top'], capture_output=True,
                            text=True, check=False, stdin=subprocess.DEVNULL)
    assert (result.returncode, result.stdout) == (2, '') and 'top needs a terminal' in result.stderr
