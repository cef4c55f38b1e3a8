# SPDX-License-Identifier: GPL-2.0-or-later
"""Keeps the connections of charon up to date. Once a second the manager requests the destination
addresses from leond and compares the addresses with the state of charon. Then the manager loads
and unloads the difference, and reports the protected addresses to leond.

The comparison with the actual state covers all disturbances. Examples are a restart of charon, of
the manager or of leond, and a `swanctl --load-all` of another program. VyOS runs the command at
each commit of `vpn ipsec`, and the command unloads everything outside its file. The guard is
compared too, because /etc/nftables.conf of Debian begins with `flush ruleset`.

The constructor gets all interfaces to the system, so tests can supply others.
"""
import ipaddress
import logging
import time
from typing import NamedTuple

from leon_ipsec import connections as want
from leon_ipsec.control import ControlError
from leon_ipsec.guard import GuardError
from leon_ipsec.kernel import KernelError
from leon_ipsec.reasons import TEXT_MAX, Reasons
from leon_ipsec.vici import Refused, ViciError

REPORT_EVERY_S = 10.0  # lifetime of a report in leond: 30 s
STALLED_AFTER_S = 10.0  # an IKE exchange without an answer starts again
START_CHARON_EVERY_S = 10.0
# The lifetime of the connection of an unused address. A restarted leond knows only the configured
# peers at first, and the SAs with other nodes must still exist.
FORGET_AFTER_S = 60.0

log = logging.getLogger('leon-ipsec')


class Uses(NamedTuple):
    """The port and the own addresses of a running leond. A change needs a restart."""

    port: int
    sources: frozenset  # empty: any

    @classmethod
    def of(cls, port, sources):
        return cls(int(port), frozenset(str(ipaddress.ip_address(s)) for s in sources))


class Manager:
    def __init__(self, settings, outside, clock=time.monotonic):
        """`outside` has ask_daemon(command, arguments), connect() and listen() to charon,
        remove_stale(port, sources), install_guard(settings, uses), has_guard(interface),
        start_charon()."""
        self.settings = settings
        self.uses = Uses.of(settings.port, settings.sources)  # the guard has rules of both
        self.outside = outside
        self.clock = clock
        self.vici = None
        self.listener = None
        self.reasons = Reasons()
        self.problems = []
        self.own_id = None
        self.remotes = {}
        self.first_seen = {}  # address: first time of use by leond
        self.last_seen = {}  # address: last time of use by leond
        self.started = set()  # addresses with a connection that was loaded before
        self.loaded = {}  # name: the connection as loaded
        self.key_id = None  # name of the private key in charon
        self.connecting = {}  # unique id of an IKE SA: first time in state connecting
        self.reported = None
        self.reported_at = None
        self.started_charon_at = None
        self.said = {}  # topic: last logged sentence, logged again after a change

    # --- log ---

    def _say(self, topic, text, level=logging.WARNING):
        if self.said.get(topic) != text:
            self.said[topic] = text
            log.log(level, '%s', text)

    def _fine(self, topic, text):
        if self.said.pop(topic, None) is not None:
            log.info('%s', text)

    # --- leond ---

    def _follow_daemon(self):
        """Reads the addresses of leond. The connections stay while leond does not run."""
        try:
            answer = self.outside.ask_daemon('show ipsec', {})
            known = want.remotes(answer)
            uses = self.uses
            if 'port' in answer:  # not of an earlier leond
                uses = Uses.of(answer['port'], answer['source_addresses'])
            self.own_id = answer['node_id']
        except ControlError as e:
            self._say('leond', str(e), logging.INFO)
            return
        except (KeyError, TypeError, ValueError) as e:
            self._say('leond', f'leond sent endpoints that make no sense: {e!r}')
            return
        self._fine('leond', 'leond answers')
        if uses != self.uses and self._guard(self.settings, uses):
            self.uses = uses
        now = self.clock()
        self.last_seen.update({address: now for address in known})
        for address, remote in self.remotes.items():
            if now - self.last_seen[address] < FORGET_AFTER_S:
                known.setdefault(address, remote)
        self.last_seen = {a: self.last_seen[a] for a in known}
        self.first_seen = {a: self.first_seen.get(a, now) for a in known}
        self.started &= set(known)
        self.remotes = known

    def _guard(self, settings, uses):
        """Returns false after a failure."""
        try:
            self.outside.install_guard(settings, uses)
        except GuardError as e:
            self._say('guard', str(e), logging.ERROR)
            return False
        self._fine('guard', 'nft accepts the guard')
        return True

    def _keep_guard(self):
        try:
            present = self.outside.has_guard(self.settings.interface)
        except GuardError as e:
            self._say('nft', str(e), logging.ERROR)
            return
        self._fine('nft', 'nft answers')
        if not present and self._guard(self.settings, self.uses):
            log.warning('another program removed the guard; it is installed again')

    def _report(self, protected):
        now = self.clock()
        due = self.reported_at is None or now - self.reported_at >= REPORT_EVERY_S
        general = [{'text': text[:TEXT_MAX]} for topic, text in sorted(self.said.items())
                   if topic not in ('leond', 'report')]
        report = {'protected': protected, 'problems': general + self.problems}
        if report == self.reported and not due:
            return
        try:
            self.outside.ask_daemon('report ipsec', report)
        except ControlError as e:
            self._say('report', str(e), logging.INFO)
            self.reported = None
            return
        self.said.pop('report', None)
        self.reported, self.reported_at = report, now

    # --- charon ---

    def _charon_lost(self, error):
        self._say('charon', f'{error}; datagrams without an SA are dropped until it is back')
        for connection in (self.vici, self.listener):
            if connection:
                connection.close()
        self.vici = self.listener = None
        self.loaded = {}
        self.connecting = {}
        now = self.clock()
        if self.started_charon_at is None or \
                now - self.started_charon_at >= START_CHARON_EVERY_S:
            self.started_charon_at = now
            self.outside.start_charon()

    def _connect(self):
        self.vici = self.outside.connect()
        self.listener = self.outside.listen()
        self.loaded = {}
        found = self.vici.stream('list-sas', 'list-sa', {'noblock': 'yes'})
        if not self._present(self.vici) and not want.sas(self.settings, found):
            # charon has no connection and no SA of the interface, so state in the kernel belongs to
            # an earlier charon. A load of an equal connection would not install its trap again.
            removed = self.outside.remove_stale(self.settings.port, self.settings.sources)
            if removed:
                log.warning('removed %d SAs and policies that an earlier charon left behind',
                            removed)
        self._fine('charon', 'charon answers')

    def _ready(self, remote):
        """True if the node may initiate to the remote. The result stays true, because the node-id
        of a configured peer becomes known only after the connection is up."""
        waited = self.clock() - self.first_seen[remote.address]
        if want.goes_first(self.own_id, remote) or waited >= want.SECOND_STARTS_AFTER_S:
            self.started.add(remote.address)
        return remote.address in self.started

    def _load_credentials(self):
        auth = self.settings.authentication
        if auth.mode == 'pre-shared-secret':
            keys = self.vici.call('get-shared').get('keys', [])
            # At the start too, because the secret may have changed while the manager did not run.
            if not self.loaded or want.secret_id(self.settings) not in keys:
                self.vici.call('load-shared', want.shared_secret(self.settings))
        elif not self.loaded or self.key_id not in self.vici.call('get-keys').get('keys', []):
            answer = self.vici.call('load-key', {'type': 'any', 'data': auth.private_key})
            self.key_id = answer.get('id')

    def _present(self, vici):
        """Names of the connections of the interface in charon."""
        conns = vici.call('get-conns').get('conns', [])
        return {name for name in conns if want.is_ours(self.settings, name)}

    def _load_connections(self):
        present = self._present(self.vici)
        self.loaded = {name: c for name, c in self.loaded.items() if name in present}
        self._load_credentials()
        wanted = want.wanted(self.settings, self.own_id, self.remotes, self._ready)
        for name in sorted(present - set(wanted)):
            self.vici.call('unload-conn', {'name': name})
            self.loaded.pop(name, None)
            log.info('unloaded %s', name)
        for name, connection in wanted.items():
            if self.loaded.get(name) != connection:
                self.vici.call('load-conn', {name: connection})
                self.loaded[name] = connection
                log.info('loaded %s', name)

    def _end_abandoned(self, found):
        """Ends SAs with addresses that leond has removed. SAs of other initiators stay, because
        leond learns a node only from the first datagrams."""
        names = {want.connection_name(self.settings, a) for a in self.remotes}
        for sa in found:
            if sa.name != want.answering_name(self.settings) and sa.name not in names:
                self._terminate(sa)

    def _terminate(self, sa):
        try:
            self.vici.call('terminate', {'ike-id': sa.unique_id, 'force': 'yes', 'timeout': '-1'})
        except Refused:
            pass  # the SA has already ended

    def _restart_stalled(self, found):
        """Ends long connection attempts. The back-off of charon finally exceeds a minute, and a
        returned peer should not wait."""
        now = self.clock()
        connecting = {sa.unique_id: sa for sa in found if not sa.established}
        self.connecting = {i: self.connecting.get(i, now) for i in connecting}
        for unique_id, since in self.connecting.items():
            if now - since >= STALLED_AFTER_S:
                self._terminate(connecting[unique_id])

    def _run_charon(self):
        if self.vici is None:
            self._connect()
        self._load_connections()
        found = want.sas(self.settings,
                         self.vici.stream('list-sas', 'list-sa', {'noblock': 'yes'}))
        self._end_abandoned(found)
        self._restart_stalled(found)
        protected = sorted({sa.address for sa in found if sa.protects})
        self._explain(found, protected)
        return protected

    def _explain(self, found, protected):
        for event in self.listener.drain():
            self.reasons.heard(self.settings, self.remotes, event)
        self.reasons.forget(protected)
        self.problems = self.reasons.problems(self.remotes, self.started, found, protected)

    # --- main cycle ---

    def _is_missing(self):
        """A resource of IPsec is not configured. The guard drops all datagrams during the time."""
        if not self.settings.missing:
            self._fine('missing', 'all that IPsec needs is configured')
            return False
        self._say('missing', f'nothing is sent, as there is no IPsec: '
                             f'{" ".join(self.settings.missing)}')
        return True

    def start(self):
        """Installs the guard, also for a leond that has not restarted since a change."""
        self._follow_daemon()
        self.outside.install_guard(self.settings, self.uses)

    def tick(self):
        self._follow_daemon()
        self._keep_guard()
        if self._is_missing():
            self._report([])
            return
        if self.own_id is None:
            return
        protected, self.problems = [], []
        try:
            protected = self._run_charon()
            self._fine('refused', 'charon accepts the configuration')
        except ViciError as e:
            self._charon_lost(e)
        except Refused as e:
            self._say('refused', f'charon refuses {e}')
        except KernelError as e:
            self._say('kernel', str(e))
        self._report(protected)

    def change(self, settings):
        """Applies another configuration: first the guard, then the dependent parts."""
        if settings == self.settings or not self._guard(settings, self.uses):
            return
        old, self.settings = self.settings, settings
        self.loaded = {}
        if self.vici and settings.authentication != old.authentication:
            self._forget_secret(old)
        log.info('the configuration has changed')

    def _forget_secret(self, settings):
        try:
            if settings.authentication.mode == 'pre-shared-secret':
                self.vici.call('unload-shared', {'id': want.secret_id(settings)})
        except (ViciError, Refused) as e:
            self._say('charon', str(e))

    def withdraw(self):
        """IPsec was removed from the configuration: unloads everything from charon."""
        try:
            vici = self.vici or self.outside.connect()
            for name in self._present(vici):
                vici.call('unload-conn', {'name': name})
            for sa in want.sas(self.settings, vici.stream('list-sas', 'list-sa')):
                vici.call('terminate', {'ike-id': sa.unique_id, 'timeout': '-1'})
            if self.settings.authentication.mode == 'pre-shared-secret':
                vici.call('unload-shared', {'id': want.secret_id(self.settings)})
        except (ViciError, Refused) as e:
            log.info('charon: %s', e)
        self._report([])
