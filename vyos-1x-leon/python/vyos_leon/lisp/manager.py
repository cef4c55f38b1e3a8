# SPDX-License-Identifier: GPL-2.0-or-later
"""leon-lisp: starts Open Overlay Router for `protocols lisp`, follows LEON's prefixes, maintains
the state for `show lisp`, and removes its policy rules. It restarts Open Overlay Router only if its
configuration or an interface with a locator changes.
Run by leon-lisp.service; one thread.

usage: leon-lisp run|clean [--directory DIR] [--templates DIR]
  run     until SIGTERM; SIGHUP reads the document again
  clean   removes the rules of a run that was killed
"""

import argparse
import json
import os
import select
import signal
import socket
import sys
import time

import jinja2

from vyos_leon import client
from vyos_leon.lisp import RUN_DIR
from vyos_leon.lisp import model
from vyos_leon.lisp import overlay
from vyos_leon.lisp import process
from vyos_leon.lisp import rules
from vyos_leon.lisp import state

TEMPLATES = '/usr/share/vyos/templates'
TICK_S = 1
# Interval of queries to LEON, and lifetime of the last answer if LEON restarts.
ASK_S, FORGET_S = 5, 30


class Ended(Exception):
    """OOR has ended unexpectedly, and the unit restarts everything."""


def log(level, text):
    print(f'<{level}>{text}', flush=True)


def notify(text):
    """Notifies the service manager, if present."""
    path = os.environ.get('NOTIFY_SOCKET')
    if path:
        with socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as sock:
            sock.sendto(text.encode(), path.replace('@', '\0', 1) if path[0] == '@' else path)


class Files:
    """All files are in a directory of /run for root only, because the configuration of OOR
    contains keys."""

    def __init__(self, directory, templates):
        self.document = f'{directory}/lisp.json'
        self.config = f'{directory}/oor.conf'
        self.record = f'{directory}/rules.json'
        self.state = f'{directory}/state.json'
        self.templates = jinja2.Environment(
            loader=jinja2.FileSystemLoader(templates),
            trim_blocks=True,
            keep_trailing_newline=True,
        )

    def render(self, content):
        return self.templates.get_template('leon/oor.conf.j2').render(content)

    @staticmethod
    def read(path):
        with open(path, encoding='utf-8') as file:
            return json.load(file)

    @staticmethod
    def write(path, text):
        new = f'{path}.new'
        descriptor = os.open(new, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600)
        with os.fdopen(descriptor, 'w', encoding='utf-8') as file:
            file.write(text)
        os.replace(new, path)

    def clean(self):
        """Removes the rules of an earlier run, which the record describes."""
        try:
            record = self.read(self.record)
        except (OSError, ValueError):
            return
        process.remove_rules(record['locators'], record['prefixes'], record.get('tables', []))
        os.unlink(self.record)

    def clean_all(self):
        """Removes the rules, the state document and OOR's configuration."""
        self.clean()
        for path in (self.state, self.config):
            if os.path.exists(path):
                os.unlink(path)


class Overlays:
    """LEON's answers, refreshed at intervals."""

    def __init__(self):
        self.judged = {}  # interface -> (time, result of overlay.judge())
        self.asked = None
        self.damper = overlay.Damper()

    def _ask(self, interface, siblings, now):
        try:
            answers = [
                client.request(interface, 'show', what) for what in ('routes', 'nodes', 'latency')
            ]
        except (client.ClientError, ValueError):
            when, _ = self.judged.get(interface, (None, {}))
            if when is None or now - when > FORGET_S:
                self.judged[interface] = (now, {})
            return
        self.judged[interface] = (now, overlay.judge(*answers, siblings))

    def ranks(self, document, now, force=False):
        if force or self.asked is None or now - self.asked >= ASK_S:
            self.asked = now
            wanted = [o for site in document['sites'] for o in site['overlays']]
            for one in wanted:
                self._ask(one['interface'], one['nodes'], now)
            names = {one['interface'] for one in wanted}
            self.judged = {k: v for k, v in self.judged.items() if k in names}
        return self.damper.take({k: found for k, (_, found) in self.judged.items()}, now)


class Manager:
    def __init__(self, files):
        self.files = files
        self.document = files.read(files.document)
        self.overlays = Overlays()
        self.oor, self.text, self.tracker = None, None, None
        self.interfaces = {}  # locator -> process.Interface, at the start of OOR
        self.mappings = []
        self.reason, self.since, self.starts = 'starts', int(time.monotonic()), 0
        self.shown = None

    def reload(self):
        """Reads the document. An unreadable document changes nothing."""
        try:
            self.document = self.files.read(self.files.document)
        except (OSError, ValueError) as e:
            log(3, f'the old configuration stays: {e}')
        self.overlays.asked = None

    def _interfaces(self):
        """locator -> process.Interface with the locator, if OOR can use the interface."""
        here = process.interfaces(self.document['role'])
        locators = [of['address'] for of in self.document['locators']]
        return {a: here[a] for a in locators if a in here and rules.has_table(here[a].index)}

    def _wanted(self, here, now):
        """(configuration of OOR, mappings), or the reason for a missing configuration."""
        missing = [of['address'] for of in self.document['locators'] if of['address'] not in here]
        if not here:
            return None, f'no interface that is up has {", ".join(missing)} as last address'
        ranks = self.overlays.ranks(self.document, now)
        mappings = model.mappings(self.document, ranks, missing)
        if not mappings:
            return None, 'LEON announces no prefix of a site'
        content = model.oor(self.document, mappings, next(iter(here.values())).name)
        return self.files.render(content), mappings

    def _halt(self):
        if self.oor:
            self.oor.stop()
            self.oor = None
        self.text = None
        self.files.clean()

    def _start(self, text, mappings, here):
        self._halt()
        self.files.write(self.files.config, text)
        is_xtr = self.document['role'] == 'xtr'
        locators = list(here)
        prefixes = [m['prefix'] for m in mappings] if is_xtr else []
        tables = [rules.TABLE_OF_INTERFACE + interface.index for interface in here.values()]
        record = {'locators': locators, 'prefixes': prefixes, 'tables': tables}
        # Recorded before any rule exists.
        self.files.write(self.files.record, json.dumps(record))
        failed = process.add_rules(locators, prefixes)
        if failed:
            log(3, f'policy rules: {failed}')
        self.tracker = state.Tracker(self.document['role'])
        self.oor = process.Oor(self.files.config)
        self.text, self.mappings, self.interfaces = text, mappings, here
        self.starts += 1
        self._say(None)
        log(6, f'OOR runs with {len(mappings)} prefixes, locators {", ".join(here)}')

    def _say(self, reason):
        if reason != self.reason:
            self.reason, self.since = reason, int(time.monotonic())
            if reason:
                log(4, f'OOR does not run: {reason}')
            notify(f'STATUS={reason or "runs"}')

    def _follow(self):
        """Reads OOR's log and ends with OOR."""
        if not self.oor:
            return
        # Reads the state first, so no earlier line of OOR is missed.
        ended = self.oor.ended()
        for line in self.oor.lines():
            said = self.tracker.feed(line, int(time.monotonic()))
            if said:
                log(*said)
        if ended:
            raise Ended(f'OOR ended with status {self.oor.process.returncode}')

    def show(self):
        now = int(time.monotonic())
        found = {
            'version': 1,
            'state': 'running' if self.oor else 'waiting',
            'reason': self.reason,
            'since': self.since,
            'pid': self.oor.process.pid if self.oor else None,
            'starts': self.starts,
            'role': self.document['role'],
            'encapsulation': self.document['encapsulation'],
            'instance_id': self.document['instance_id'],
            'locators': self.document['locators'],
            'map_servers': [s['address'] for s in self.document['map_servers']],
            'map_resolvers': self.document['map_resolvers'],
            'mappings': self.mappings if self.oor else [],
        }
        tracker = self.tracker if self.oor else state.Tracker(self.document['role'])
        return {**found, **tracker.show(now)}

    def _is_outdated(self, here):
        """A map server needs no restart for an added address, and a restart loses registrations."""
        before, self.interfaces = self.interfaces, here
        if self.document['role'] != 'map-server':
            return here != before
        return here.keys() != before.keys() or any(
            here[a][:2] != before[a][:2] or set(before[a].ipv4) - set(here[a].ipv4) for a in here
        )

    def tick(self):
        self._follow()
        here = self._interfaces()
        text, found = self._wanted(here, time.monotonic())
        if text is None:
            if self.oor:
                self._halt()
            self._say(found)
        elif text != self.text or self._is_outdated(here):
            self._start(text, found, here)
        shown = json.dumps(self.show())
        if shown != self.shown:
            self.shown = shown
            self.files.write(self.files.state, shown)
        notify('WATCHDOG=1')

    def wait(self, wakeup):
        """Waits for an event, at most one second."""
        watched = [wakeup] + ([self.oor.master] if self.oor else [])
        ready, _, _ = select.select(watched, [], [], TICK_S)
        if ready and wakeup not in ready:
            # All lines of a message are read together.
            time.sleep(0.1)

    def end(self):
        self._halt()
        self.files.clean_all()


def _wake_on_signals():
    """(descriptor that is readable after a signal, set of received signals)."""
    came = set()
    read, write = os.pipe()
    os.set_blocking(read, False)
    os.set_blocking(write, False)
    signal.set_wakeup_fd(write)
    for number in (signal.SIGTERM, signal.SIGINT, signal.SIGHUP):
        signal.signal(number, lambda n, _: came.add(n))
    return read, came


def run(files):
    wakeup, came = _wake_on_signals()
    files.clean_all()
    manager = Manager(files)
    notify('READY=1')
    try:
        while not came & {signal.SIGTERM, signal.SIGINT}:
            if signal.SIGHUP in came:
                came.discard(signal.SIGHUP)
                manager.reload()
            manager.tick()
            manager.wait(wakeup)
            try:
                os.read(wakeup, 64)
            except BlockingIOError:
                pass
    finally:
        manager.end()


def main():
    parser = argparse.ArgumentParser(usage=__doc__)
    parser.add_argument('action', choices=('run', 'clean'))
    parser.add_argument('--directory', default=RUN_DIR)
    parser.add_argument('--templates', default=TEMPLATES)
    arguments = parser.parse_args()
    files = Files(arguments.directory, arguments.templates)
    if arguments.action == 'clean':
        files.clean_all()
        return
    try:
        run(files)
    except (Ended, OSError, ValueError) as e:
        log(3, str(e))
        sys.exit(1)


if __name__ == '__main__':
    main()
