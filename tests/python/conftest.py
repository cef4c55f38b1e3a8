# SPDX-License-Identifier: GPL-2.0-or-later
"""Paths, a simulated router (fake_vyos/) and a simulated leond."""

import importlib.util
import json
import os
import shutil
import socket
import sys
import tempfile
import threading
from pathlib import Path

import pytest

TOP = Path(__file__).resolve().parents[2]
BUILD = Path(os.environ.get('LEON_BUILD', TOP / 'build'))
LEONCTL = BUILD / 'vyos-1x-leon/leonctl/leonctl'
sys.dont_write_bytecode = True
sys.path[:0] = [
    str(TOP / 'vyos-1x-leon/python'),
    str(TOP / 'vyos-1x-leon/ipsec'),
    str(TOP / 'tests/python/fake_vyos'),
    str(TOP / 'tests/schema'),
]

import fake_host  # noqa: E402
import vyos_leon_hook  # noqa: E402, F401 (as vyos-1x-leon.pth)
from vyos_leon import boot, client, keyfile, metrics, runfile  # noqa: E402


@pytest.fixture(scope='session')
def load_script():
    """Loads a script of the tree as a module, like the configuration daemon of VyOS."""

    def load(path):
        path = TOP / path
        spec = importlib.util.spec_from_file_location(path.stem, path)
        module = importlib.util.module_from_spec(spec)
        spec.loader.exec_module(module)
        return module

    return load


@pytest.fixture
def host(monkeypatch):
    monkeypatch.setenv('VYOS_TAGNODE_VALUE', 'leon0')
    return fake_host.reset()


@pytest.fixture
def run_dir(monkeypatch):
    """/run/leon of the test. The path is short, because the name of a socket has at most 107
    bytes."""
    folder = tempfile.mkdtemp(prefix='leon.')
    monkeypatch.setattr(client, 'RUN_DIR', folder)
    assert LEONCTL.exists(), f'no {LEONCTL}: run make first'
    monkeypatch.setattr(client, 'LEONCTL', str(LEONCTL))
    monkeypatch.setattr(runfile, 'RUN_DIR', folder)
    monkeypatch.setattr(metrics, 'RUN_DIR', f'{folder}/metrics')
    monkeypatch.setattr(runfile, 'USER', os.getuid())
    monkeypatch.setattr(runfile, 'GROUP', os.getgid())
    keys = tempfile.mkdtemp(prefix='leon.')
    monkeypatch.setattr(keyfile, 'DIRECTORY', f'{keys}/leon')
    # Builds packages from installed files: tests/packaging/test_vyos_boot.py.
    monkeypatch.setattr(boot, '_keep', lambda: None)
    monkeypatch.setattr(boot, 'DIRECTORY', f'{keys}/leon-boot')
    monkeypatch.setattr(boot, 'SCRIPT', f'{keys}/scripts/preconfig')
    monkeypatch.setattr(boot, 'SAVED', f'{keys}/config.boot')
    monkeypatch.setattr(boot, 'ACTIVE', f'{keys}/active')
    monkeypatch.setattr(boot, 'OWNER', os.getuid())
    yield Path(folder)
    shutil.rmtree(folder)
    shutil.rmtree(keys)


class FakeDaemon:
    """Answers each connection with the next element of `answers`: a dictionary, raw bytes, or None
    for no answer. The last element repeats without end. Keeps the requests."""

    def __init__(self, path, answers):
        self.requests = []
        self.answers = answers
        self.listener = socket.socket(socket.AF_UNIX)
        self.listener.bind(str(path))
        self.listener.listen()
        self.thread = threading.Thread(target=self._serve)
        self.thread.start()

    def _serve(self):
        while True:
            try:
                connection, _ = self.listener.accept()
            except OSError:
                return
            with connection:
                self.requests.append(json.loads(connection.makefile('rb').readline()))
                answer = (
                    self.answers.pop(0) if len(self.answers) > 1 else self.answers[0]
                )
                if isinstance(answer, dict):
                    answer = json.dumps(answer).encode() + b'\n'
                if answer:
                    connection.sendall(answer)

    def close(self):
        if self.listener.fileno() < 0:
            return
        self.listener.shutdown(socket.SHUT_RDWR)
        self.listener.close()
        self.thread.join()


@pytest.fixture
def daemon(run_dir):
    """daemon(*answers, interface='leon0') starts a FakeDaemon."""
    started = []

    def start(*answers, interface='leon0'):
        started.append(FakeDaemon(run_dir / f'{interface}.sock', list(answers)))
        return started[-1]

    yield start
    for one in started:
        one.close()
