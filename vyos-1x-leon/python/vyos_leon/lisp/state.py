# SPDX-License-Identifier: GPL-2.0-or-later
"""The state of OOR from the log, because OOR has no interface for queries: registrations, the
map-cache, and warnings.

The format is the log of OOR 1.3.0 at debug level 1. `now` is a parameter in seconds of the
monotonic clock; the module reads no clock.
"""

import re

ESCAPE = re.compile(r'\x1b\[[0-9;]*m')
LINE = re.compile(r'\[\d+/\d+/\d+ \d+:\d+:\d+\] ([A-Z0-9-]+): ?(.*)')
# For the journal.
LEVELS = {'CRITICAL': 2, 'CRIT': 2, 'ERROR': 3, 'ERR': 3, 'WARNING': 4, 'INFO': 6}

MESSAGE = re.compile(
    r'Received (Map-Reply|Map-Notify|Map-Register|Map-Request|ECM) ?-> .*?'
    r'(?:flags:P=(?P<probe>\d).*)?IP: (?P<sender>\S+) -> '
)
RECORD = re.compile(
    r'Mapping-record -> ttl: (?P<ttl>-?\d+) loc-count: (?P<count>\d+) '
    r'action: (?P<action>\S+) .* eid: (?P<eid>.+)'
)
LOCATOR = re.compile(
    r'Locator-record -> .* p/w: (?P<priority>\d+)/(?P<weight>\d+) .* addr: (?P<address>.+)'
)
EID = r'(?P<eid>.+?)'
EVENTS = {
    'probed': re.compile(rf'Successfully probed RLOC (?P<address>\S+) of cache entry with EID {EID}'),
    'dead': re.compile(
        rf'rloc_probing: No Map-Reply Probe received for locator (?P<address>\S+) and EID: {EID}'
        r' -> Locator state changes to DOWN'
    ),
    'expired': re.compile(rf'Got expiration for EID {EID}'),
    'removed': re.compile(rf'SMR: No Map Reply for EID {EID}\. Removing entry.*'),
    'unanswered': re.compile(rf'No Map-Reply for EID {EID} after \d+ retries\. Aborting!'),
    'confirmed': re.compile(rf'Map-Notify message confirms correct registration of {EID}'),
    'sent': re.compile(
        rf'Sent Map-Register (?:retry )?for mapping {EID} to (?P<server>\S+) '
        r'\((?P<retries>\d+) retries\)'
    ),
    'timed_out': re.compile(rf'Registration of site with EID {EID} timed out'),
    'bad_key': re.compile(rf'Message validation failed for EID {EID} with key .*'),
    'unknown': re.compile(rf'EID {EID} not in configured lisp-sites DB.*'),
    'too_long': re.compile(rf'EID {EID} is a more specific of .*'),
    'other_key': re.compile(rf'EID {EID} part of multi EID Map-Register with different key.*'),
    'malformed': re.compile(r'Map-Server: Failed to process .*'),
}  # fmt: skip
REFUSALS = {
    'bad_key': 'the key is another one',
    'unknown': 'no site has the prefix',
    'too_long': 'the site does not accept more specific prefixes',
    'other_key': 'the other prefixes of the message have another key',
}
# A map server removes a registration without a renewal in the time (RFC 9301).
REGISTRATION_S = 180
COMPLAINTS = 10
# Strangers without a key can cause refusals.
REFUSED_MAX = 100
# Repeated messages about the configuration and about locators of other routers.
NO_COMPLAINTS = ('No Proxy-ETR defined', 'iface_locators_get_element_with_loct')


def plain(text):
    """'10.1.0.0/16' from OOR's notation of an EID, which may begin with an instance."""
    found = re.findall(r'[0-9a-fA-F.:]+/\d+', text)
    return found[-1] if found else text.strip()


def split(line):
    """(level, text) of a line. level is None for a continuation line of a message."""
    line = ESCAPE.sub('', line).rstrip()
    match = LINE.fullmatch(line)
    return (match[1], match[2]) if match else (None, line)


def _up(entry, address, is_up):
    for locator in entry['locators']:
        if locator['address'] == address:
            locator['up'] = is_up


class Tracker:
    """Parser of the lines of an OOR from the start."""

    def __init__(self, role):
        self.role = role
        self.map_cache = {}
        self.registrations = {}
        self.refused = {}
        self.unanswered = {'count': 0, 'last': None, 'at': None}
        self.complaints = []
        # The message of the next records, and the undecided part.
        self.message, self.sender, self.is_probe = None, None, False
        self.record, self.pending = None, []

    def feed(self, line, now):
        """(level, text) for the operator, or None."""
        level, text = split(line)
        if text.startswith(NO_COMPLAINTS):
            return None
        if level in LEVELS:
            self._complain(level, text, now)
            return (LEVELS[level], text) if text.strip() else None
        self._take(text.strip(), now)
        return None

    def _complain(self, level, text, now):
        if LEVELS[level] <= 4:
            self.complaints = [*self.complaints, {'at': now, 'text': text}][-COMPLAINTS:]

    def _take(self, text, now):
        match = MESSAGE.match(text)
        if match:
            self._decide(now)
            self.message, self.sender = match[1], match['sender'].rstrip(',')
            self.is_probe = match['probe'] == '1'
            return
        match = RECORD.fullmatch(text)
        if match:
            self._begin_record(match, now)
            return
        match = LOCATOR.fullmatch(text)
        if match and self.record is not None:
            self.record['locators'].append({
                'address': match['address'].strip(), 'priority': int(match['priority']),
                'weight': int(match['weight']), 'up': True,
            })  # fmt: skip
            return
        for name, event in EVENTS.items():
            match = event.fullmatch(text)
            if match:
                getattr(self, f'_on_{name}', self._on_refused)(match, now, name)
                return
        if text.startswith('Map-Notify'):
            self._decide(now)

    def _begin_record(self, match, now):
        self.record = {
            # OOR prints the field of 32 bits with a sign.
            'prefix': plain(match['eid']), 'ttl_minutes': int(match['ttl']) % 2**32,
            'action': match['action'], 'received': now, 'locators': [],
        }  # fmt: skip
        if self.message == 'Map-Reply' and not self.is_probe:
            self.map_cache[self.record['prefix']] = self.record
        elif self.message == 'Map-Register':
            self.pending.append(self.record)

    def _decide(self, now):
        """A Map-Register counts as accepted without an error message."""
        for record in self.pending:
            prefix = record['prefix']
            known = self.registrations.get(prefix, {})
            self.registrations[prefix] = {
                'prefix': prefix, 'peer': self.sender, 'state': 'registered',
                'since': known.get('since', now), 'last': now, 'retries': 0,
                'locators': record['locators'],
            }  # fmt: skip
            self.refused.pop(prefix, None)
        self.message, self.record, self.pending = None, None, []

    def _on_refused(self, match, now, name):
        prefix = plain(match['eid'])
        self.pending = [r for r in self.pending if r['prefix'] != prefix]
        self.refused.pop(prefix, None)
        self.refused[prefix] = {
            'prefix': prefix, 'peer': self.sender, 'at': now, 'reason': REFUSALS[name]
        }  # fmt: skip
        if len(self.refused) > REFUSED_MAX:
            del self.refused[next(iter(self.refused))]

    def _on_malformed(self, _match, _now, _name):
        """OOR logs a record before it reads the locators."""
        self.pending = [r for r in self.pending if r is not self.record]

    def _on_probed(self, match, _now, _name):
        entry = self.map_cache.get(plain(match['eid']))
        if entry:
            _up(entry, match['address'], True)

    def _on_dead(self, match, _now, _name):
        entry = self.map_cache.get(plain(match['eid']))
        if entry:
            _up(entry, match['address'], False)

    def _on_expired(self, match, _now, _name):
        self.map_cache.pop(plain(match['eid']), None)

    _on_removed = _on_expired

    def _on_unanswered(self, match, now, _name):
        self.unanswered = {
            'count': self.unanswered['count'] + 1, 'last': plain(match['eid']), 'at': now
        }  # fmt: skip

    def _on_timed_out(self, match, _now, _name):
        self.registrations.pop(plain(match['eid']), None)

    def _on_sent(self, match, now, _name):
        """OOR repeats each message until a confirmation."""
        key = (plain(match['eid']), match['server'])
        known = self.registrations.setdefault(key, {
            'prefix': key[0], 'peer': key[1], 'state': 'pending', 'since': now, 'last': None,
            'retries': 0, 'locators': [],
        })  # fmt: skip
        known['retries'] = int(match['retries'])
        if known['retries'] and known['state'] != 'no-answer':
            known.update(state='no-answer', since=now)

    def _on_confirmed(self, match, now, _name):
        key = (plain(match['eid']), self.sender)
        known = self.registrations.setdefault(key, {
            'prefix': key[0], 'peer': key[1], 'state': 'pending', 'since': now, 'last': None,
            'retries': 0, 'locators': [],
        })  # fmt: skip
        if known['state'] != 'registered':
            known.update(state='registered', since=now)
        known.update(last=now, retries=0)

    def _living(self, now):
        for entry in self.map_cache.values():
            if now - entry['received'] <= entry['ttl_minutes'] * 60:
                yield entry

    def show(self, now):
        """The part of the state document from this log."""
        if self.role == 'map-server':
            self.registrations = {
                prefix: r for prefix, r in self.registrations.items()
                if now - r['last'] <= REGISTRATION_S
            }  # fmt: skip
        registered = self.registrations.values()
        return {
            'map_cache': sorted(self._living(now), key=lambda e: e['prefix']),
            'registrations': sorted(registered, key=lambda r: (r['prefix'], r['peer'])),
            'refused': sorted(self.refused.values(), key=lambda r: r['prefix']),
            'unanswered': self.unanswered,
            'complaints': self.complaints,
        }
