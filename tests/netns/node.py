# SPDX-License-Identifier: GPL-2.0-or-later
"""A leond in a namespace: configuration, start and stop, log, and answers of leonctl."""
import json
import os
import re
import shutil
import signal
import socket
import subprocess
import time

TOP = os.path.join(os.path.dirname(os.path.abspath(__file__)), '../..')

SANITIZERS = {
    'ASAN_OPTIONS': 'detect_leaks=1:abort_on_error=0:exitcode=99:detect_stack_use_after_return=0',
    'UBSAN_OPTIONS': 'halt_on_error=1:print_stacktrace=1:exitcode=99',
    'TSAN_OPTIONS': 'halt_on_error=1:exitcode=99',
}
TROUBLE = re.compile(r'(ERROR|WARNING): \w+Sanitizer|runtime error:|SUMMARY: |Assertion|\bBUG\b')


class LeonctlError(RuntimeError):
    """leonctl ended with a status other than 0."""


# tests/vm/run.py sets LEON_EMULATED on an emulated machine.
EMULATED = 'LEON_EMULATED' in os.environ
SLOWNESS = 4 if EMULATED else 1
# Deadlines of a quiet machine with a margin, multiplied by SLOWNESS on a busy machine.
PATIENCE = 3 * SLOWNESS


def wait_for(predicate, within, what='', every=0.05):
    """Polls until the predicate returns a true value, and returns the value. Errors of leonctl
    count as false, because the daemon may not run yet."""
    within *= PATIENCE
    end = time.monotonic() + within
    while True:
        try:
            seen = predicate()
        except LeonctlError as e:
            seen, error = None, e
        else:
            error = None
        if seen:
            return seen
        if time.monotonic() > end:
            name = what or getattr(predicate, '__name__', 'condition')
            raise AssertionError(f'not within {within} s: {name}; last seen: {error or seen!r}')
        time.sleep(every)


def build_dir():
    """LEON_BUILD, or build/ at the top of the tree."""
    return os.path.abspath(os.environ.get('LEON_BUILD') or os.path.join(TOP, 'build'))


def find_program(name, directory):
    return os.path.join(build_dir(), 'vyos-1x-leon', directory, name)


def leond_program():
    return find_program('leond', 'dataplane')


def leonctl_program():
    return find_program('leonctl', 'leonctl')


def tls_program():
    return find_program('leon-tls', 'leon-tls')


def portmap_program():
    return find_program('leon-portmap', 'leon-portmap')


def log_text(path):
    """The content of a log file, empty without a file."""
    try:
        with open(path, encoding='utf-8', errors='replace') as f:
            return f.read()
    except FileNotFoundError:
        return ''


def cpu_seconds(process):
    with open(f'/proc/{process.pid}/stat', encoding='ascii') as f:
        user, system = f.read().rsplit(')', 1)[1].split()[11:13]
    return (int(user) + int(system)) / os.sysconf('SC_CLK_TCK')


def deafened(node, *lines):
    """Executes the commands among thousands of other changes, so leond loses notifications."""
    flood = [f'addr {verb} 10.66.{i // 250}.{i % 250}/32 dev lo'
             for verb in ('add', 'del') for i in range(1500)]
    os.kill(node.process.pid, signal.SIGSTOP)
    try:
        node.namespace.ip(*flood, *lines)
    finally:
        os.kill(node.process.pid, signal.SIGCONT)


def detect_duplicates(node):
    """Duplicate address detection of new addresses lasts for minutes."""
    node.namespace.sysctl('ipv6/conf/wan0/accept_dad', 1)
    node.namespace.sysctl('ipv6/conf/wan0/dad_transmits', 200)


class Node:
    """leond of one site. `config` is the whole configuration. A change takes effect at the next
    start or with reload()."""

    def __init__(self, name, namespace, config, directory):
        self.name = name
        self.namespace = namespace
        self.config = config
        self.interface = config['interface']
        self.socket = os.path.join(directory, f'{name}.sock')
        self.config_file = os.path.join(directory, f'{name}.json')
        self.log_file = os.path.join(directory, f'{name}.log')
        config.setdefault('system', {})['control-socket'] = self.socket
        config.setdefault('identity-file', os.path.join(directory, f'{name}.identity'))
        self.process = None
        self.prepare = None          # run in the child before leond, e.g. a private /etc/hosts
        self.wrapper = []            # a program around leond
        self.program = None          # another leond than the binary of the build
        self.portmap = None          # another leon-portmap
        self.config_owner = None  # owner of the configuration, root if not set
        self.expected_trouble = False  # the test wants an abnormal end
        self.killed = False

    @property
    def node_id(self):
        return self.config.get('node-id') or \
            next(a for a in self.config['source-address'] if ':' not in a)

    # --- life ---

    def _document(self):
        """Disables authentication in a lab without a secret, as older releases have no such key."""
        stated = {} if self.program else {'authentication': {'disable': True}}
        return {**stated, **self.config}

    def write_config(self):
        temporary = self.config_file + '.new'
        with open(temporary, 'w', encoding='utf-8') as f:
            os.fchmod(f.fileno(), 0o600)
            if self.config_owner:
                shutil.chown(temporary, self.config_owner)
            json.dump(self._document(), f, indent=1)
        os.rename(temporary, self.config_file)

    def launch(self):
        """Starts leond without a wait."""
        assert self.process is None or self.process.poll() is not None
        self.write_config()
        self.killed = False
        with open(self.log_file, 'a', encoding='utf-8') as log:
            self.process = self.namespace.start(
                *self.wrapper, self.program or leond_program(), '--config', self.config_file, stdin=subprocess.DEVNULL,
                stdout=log, stderr=log, prepare=self.prepare,
                env={**os.environ, **SANITIZERS, 'LEON_TLS_PROGRAM': tls_program(),
                     'LEON_PORTMAP_PROGRAM': self.portmap or portmap_program()})

    def start(self, within=10):
        self.launch()

        def answers():
            if self.process.poll() is not None:
                raise AssertionError(f'leond of {self.name} ended with status '
                                     f'{self.process.returncode}:\n{self.log()[-2000:]}')
            return self.show('nodes')
        wait_for(answers, within, f'leond of {self.name} answers on its socket')
        return self

    def _end(self, number, within):
        if self.process is None or self.process.poll() is not None:
            return None if self.process is None else self.process.returncode
        self.process.send_signal(signal.SIGCONT)
        self.process.send_signal(number)
        try:
            return self.process.wait(within)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait()
            if self.expected_trouble:
                return None
            raise AssertionError(f'leond of {self.name} did not end within {within} s '
                                 f'of {signal.Signals(number).name}') from None

    def stop(self, within=10 * PATIENCE):
        """A clean end with a leave, within the stop timeout of systemd on a quiet machine."""
        status = self._end(signal.SIGTERM, within)
        if status not in (None, 0) and not self.killed and not self.expected_trouble:
            raise AssertionError(f'leond of {self.name} ended with status {status}:\n'
                                 f'{self.log()[-4000:]}')

    def kill(self):
        """Kills leond without a leave."""
        self.killed = self.killed or self.alive()
        self._end(signal.SIGKILL, 10 * PATIENCE)

    def alive(self):
        return self.process is not None and self.process.poll() is None

    def reload(self, **changes):
        """Writes the changed configuration and reloads the daemon."""
        for key, value in changes.items():
            key = key.replace('_', '-')
            if value is None:
                self.config.pop(key, None)
            else:
                self.config[key] = value
        self.write_config()
        # Status 1: a refusal, or an answer with keys that need a restart.
        result = subprocess.run([leonctl_program(), '--socket', self.socket, '--json', 'reload'],
                                capture_output=True, text=True, check=False, timeout=60)
        answer = json.loads(result.stdout)
        if 'error' in answer:
            raise LeonctlError(f'{self.name}: leonctl reload: {answer["error"]}')
        return answer

    # --- observation ---

    def leonctl(self, *words, json_output=True, timeout=60):
        """The text output of leonctl."""
        command = [leonctl_program(), '--socket', self.socket]
        if json_output:
            command.append('--json')
        result = subprocess.run([*command, *map(str, words)], capture_output=True, text=True,
                                check=False, timeout=timeout, env={**os.environ, **SANITIZERS})
        if result.returncode != 0:
            raise LeonctlError(f'{self.name}: leonctl {" ".join(map(str, words))}: status '
                               f'{result.returncode}: {result.stderr.strip() or result.stdout.strip()}')
        return result.stdout

    def request(self, line):
        """The answer of the control socket to a line, without leonctl."""
        with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as s:
            s.settimeout(10 * PATIENCE)
            s.connect(self.socket)
            s.sendall(line.encode() + b'\n')
            with s.makefile() as answer:
                return answer.readline()

    def ctl(self, *words):
        return json.loads(self.leonctl(*words))

    def show(self, what):
        """The answer of the control socket, because a poll by leonctl costs 10 ms of processor."""
        try:
            answer = json.loads(self.request(json.dumps({'version': 1, 'command': f'show {what}'})))
        except (OSError, ValueError) as e:
            raise LeonctlError(f'{self.name}: show {what}: {e}') from e
        if 'error' in answer:
            raise LeonctlError(f'{self.name}: show {what}: {answer["error"]}')
        return answer

    def paths(self):
        """{destination node-id: entry of show paths}"""
        return {p['destination']: p for p in self.show('paths')['paths']}

    def hops(self, other):
        """Node-ids of the path to the other node, destination last; None without a path."""
        path = self.paths().get(other.node_id)
        return path['hops'] if path and path['hops'] else None

    def nodes(self):
        return {n['node_id']: n for n in self.show('nodes')['nodes']}

    def identity(self):
        """The public key of the node."""
        return self.ctl('show', 'identity')['identity']

    def state_of(self, other):
        node = self.nodes().get(other.node_id)
        return node and node['state']

    def fdb(self):
        return {(e['vlan'], e['mac']): e for e in self.show('fdb')['entries']}

    def events(self, kind=None):
        return [e for e in self.show('events')['events'] if kind in (None, e.get('event'), e.get('kind'))]

    def statistics(self):
        return self.show('statistics')

    def drops(self, name=None):
        drops = self.statistics()['drops']
        return drops if name is None else drops[name]

    def counter(self, name):
        return self.statistics()['counters'][name]

    def log(self):
        return log_text(self.log_file)

    def trouble(self):
        """Lines of sanitizers and failed assertions in the log."""
        return [line for line in self.log().splitlines() if TROUBLE.search(line)]

    def dump(self):
        """Information for a person after a failure."""
        parts = [f'config: {json.dumps({**self.config, "authentication": "..."})}']
        if self.alive():
            for what in ('nodes', 'paths', 'latency', 'statistics', 'fdb', 'events'):
                try:
                    text = self.leonctl('show', what, json_output=False, timeout=5)
                    parts.append(f'show {what}:\n{text[-6000:]}')
                except (LeonctlError, subprocess.TimeoutExpired, OSError) as e:
                    parts.append(f'show {what}: {e}')
        else:
            parts.append(f'not running, status {self.process and self.process.returncode}')
        parts.append('ip link:\n' + self.namespace.run('ip', '-s', 'link', check=False).stdout)
        parts.append(f'log:\n{self.log()[-12000:]}')
        return '\n'.join(parts)
