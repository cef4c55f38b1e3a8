# SPDX-License-Identifier: GPL-2.0-or-later
"""A running OOR, and the commands around OOR. manager.py calls the module on a single thread."""

import ctypes
import json
import os
import pty
import signal
import subprocess
import time
import tty
from typing import NamedTuple

from vyos_leon.lisp import OOR
from vyos_leon.lisp import rules

PR_SET_PDEATHSIG = 1
STOP_S = 5
LINE_MAX = 65536


def _end_with_parent():
    ctypes.CDLL(None).prctl(PR_SET_PDEATHSIG, signal.SIGKILL, 0, 0, 0)


class Oor:
    """Starts OOR with a pseudo-terminal for the output, because OOR would buffer 4 KiB for a pipe.
    """

    def __init__(self, config):
        self.master, slave = pty.openpty()
        tty.setraw(slave)
        os.set_blocking(self.master, False)
        self.rest = b''
        try:
            self.process = subprocess.Popen(
                [OOR, '-f', config],
                stdin=subprocess.DEVNULL,
                stdout=slave,
                stderr=slave,
                preexec_fn=_end_with_parent,
            )
        except OSError:
            os.close(self.master)
            raise
        finally:
            os.close(slave)

    def lines(self):
        """The output since the last call, for at most a second, because OOR may write without
        end."""
        end = time.monotonic() + 1
        while time.monotonic() < end:
            try:
                data = os.read(self.master, LINE_MAX)
            except OSError:
                break
            if not data:
                break
            *whole, self.rest = (self.rest + data)[-LINE_MAX:].split(b'\n')
            for line in whole:
                yield line.decode(errors='replace').rstrip('\r')

    def ended(self):
        return self.process.poll() is not None

    def stop(self):
        """Ends OOR regularly if possible, so OOR removes its rules and devices."""
        if not self.ended():
            self.process.terminate()
            try:
                self.process.wait(STOP_S)
            except subprocess.TimeoutExpired:
                self.process.kill()
        self.process.wait()
        os.close(self.master)


def _ip(family, lines):
    """Continues after a failed line, and returns the failures."""
    done = subprocess.run(
        ['ip', f'-{family}', '-force', '-batch', '-'],
        input='\n'.join([*lines, '']),
        capture_output=True,
        text=True,
        timeout=30,
    )
    return done.stderr.strip()


def _ip_json(*words):
    done = subprocess.run(
        ['ip', '-json', '-N', *words], capture_output=True, text=True, timeout=30
    )
    try:
        return json.loads(done.stdout or '[]')
    except ValueError:
        return []


class Interface(NamedTuple):
    """An interface that is up. A change requires a restart of OOR. OOR regards each new IPv4
    address as its locator, and each removed address as the loss of its locator."""

    name: str
    index: int
    ipv4: list


def interfaces(role):
    """address -> Interface with the address, for each address that OOR uses. A map server receives
    at all addresses of its interface."""
    found = {}
    for link in _ip_json('address', 'show', 'up'):
        addresses = [info['local'] for info in link.get('addr_info', []) if 'local' in info]
        ipv4 = [a for a in addresses if '.' in a]
        used = addresses if role == 'map-server' else rules.locators(addresses).values()
        # `ip` prints an interface that is not up as an empty object.
        for address in used:
            found[address] = Interface(link['ifname'], link['ifindex'], ipv4)
    return found


def add_rules(locators, prefixes):
    """The failures, empty without any."""
    wanted = rules.wanted(locators, prefixes)
    for family in (4, 6):
        lines = [rule.words('add') for rule in wanted if rule.family == family]
        failed = _ip(family, lines) if lines else ''
        if failed:
            return failed
    return ''


def remove_rules(locators, prefixes, tables):
    """Removes all rules, also of a killed OOR. A rule may exist several times."""
    for family in (4, 6):
        present = _ip_json(f'-{family}', 'rule')
        left = rules.leftovers(present, locators, prefixes, tables)
        if left:
            _ip(family, left)
