# SPDX-License-Identifier: GPL-2.0-or-later
"""Ordinary programs with intercepted, released and re-intercepted connections. Each daemon
restarts in order, and the host of the server moves to a third site and back. Every client ends
successfully with correct bytes. `make eval-accel` runs the tests."""
import itertools
import tempfile
import threading

import pytest

import programs
from accel import CONFIG, Machine, far_apart
from lab import merged, wait_for

RATE_KBIT = 50_000
_numbers = itertools.count(300)


@pytest.fixture(scope='module')
def sites(module_lab):
    """Three sites, 60 ms from each other; the host of b can go on at c."""
    with far_apart(module_lab({'sites': {'a': {}, 'b': {}, 'c': {}}, 'rtt_ms_default': 60,
                               'config': merged(CONFIG, {'path': {'hold-time': 1}})})) as far:
        far.wan.both('*', '*', rate_kbit=RATE_KBIT)
        far.machine = Machine(far.lab, 'b', 'c')
        yield far


@pytest.fixture
def directory():
    """A directory that other users may enter, because a database does not run as root."""
    with tempfile.TemporaryDirectory(prefix='leon-programs-') as made:
        yield made


class Clients:
    """Sequential clients on a thread until stop()."""

    def __init__(self, program):
        self.program, self.done, self.error = program, 0, None
        self.enough = threading.Event()
        self.thread = threading.Thread(target=self._run, daemon=True)
        self.thread.start()

    def _run(self):
        try:
            while not self.enough.is_set():
                assert self.program.fetch() == self.program.digest, 'other bytes'
                self.done += 1
        except BaseException as e:  # pylint: disable=broad-except # check() reports the exception
            self.error = e

    def check(self):
        if self.error:
            raise self.error

    def wait_done(self, n=1):
        enough = self.done + n
        wait_for(lambda: self.done >= enough or self.error, 300, 'a client ends')
        self.check()

    def stop(self):
        self.enough.set()
        self.thread.join(300)
        self.check()
        assert not self.thread.is_alive()


def taken(far):
    return sum(far.count(name, 'intercepted') for name in far.accel)


def wait_intercepted(far, clients):
    """Waits for a further interception."""
    before = taken(far)
    wait_for(lambda: taken(far) > before or clients.error, 120, 'a connection is taken')
    clients.check()


def restart(far, name):
    """Restarts both daemons of a node one after the other."""
    far.accel[name].stop()
    far.base[name] = dict.fromkeys(far.base[name], 0)
    far.accel[name].start()
    wait_for(lambda: set(far.accel[name].carriers()) == {'up'}, 60, 'its carriers are up')


@pytest.mark.parametrize('family', ['ip4', 'ip6'])
@pytest.mark.parametrize('kind', programs.ALL, ids=lambda kind: kind.__name__.lower())
def test_program(sites, directory, kind, family):
    lacking = [name for name in kind.needs if not programs.need(name)]
    if lacking:
        pytest.skip(f'not installed: {", ".join(lacking)}')
    sites.machine.renew(next(_numbers))
    far = sites.ready()
    client, server = far.host['a'], far.host['b']
    program = kind(directory, server, client, getattr(server, family))
    clients = Clients(program)
    try:
        wait_intercepted(far, clients)
        far.accel['a'].ask('reset acceleration')
        wait_intercepted(far, clients)
        for name in 'ab':
            restart(far, name)
            wait_intercepted(far, clients)
        far.node['a'].stop()
        far.lab.start('a')
        wait_for(lambda: set(far.accel['a'].carriers()) == {'up'}, 60, 'carriers are up')
        wait_intercepted(far, clients)
        far.machine.move('eth1', 'eth0', client)
        wait_intercepted(far, clients)
        clients.check()
        far.machine.move('eth0', 'eth1', client)
        wait_intercepted(far, clients)
        clients.wait_done()
        clients.stop()
        # The machine gets other addresses next, and a proxy socket would wait for the old ones.
        far.wait_returned()
    finally:
        clients.enough.set()
        program.end()
        far.machine.go_home()
        print(f'{kind.__name__} {family}: {clients.done} clients, {taken(far)} taken')
