# SPDX-License-Identifier: GPL-2.0-or-later
"""The two documents of an interface. leond's own document supplies port, VNI, addresses and socket.
The document about IPsec is readable by root only, because leond, which faces the Internet, does not
need the keys of IKE. The keys have the names of the VyOS CLI. Every fault is one sentence.

    {
      "version": 1,
      "ike-group": { "proposal": ["aes256gcm16-prfsha384-ecp384"], "lifetime": 28800,
                     "dead-peer-detection": { "interval": 10 } },
      "esp-group": { "proposal": ["aes256gcm16-ecp384"], "lifetime": 3600 },
      "authentication": { "mode": "pre-shared-secret", "pre-shared-secret": ".." },
      "authentication": { "mode": "x509", "certificate": "FILE or PEM", "private-key": "..",
                          "ca-certificate": ["..."], "local-id": "..", "remote-id": ".." },
      "force-udp-encapsulation": true
    }

`"missing": ["sentence", ...]` replaces all keys except the version and gives the reason why IPsec
is not possible yet. The guard is installed in this case too.
"""
import json
import re
from typing import NamedTuple, Optional

VERSION = 1
PORT = 5366
VNI = 1
SECRET_MIN = 8
# The list of is_obvious() in conf_secrets.c. Case does not matter.
OBVIOUS_SECRETS = frozenset((
    'replace-this-by-your-own', 'output of leonctl generate secret', 'change-me',
    'changeme', 'mysecret', 'my-secret', 'password', 'password123', 'pre-shared-secret',
    'replace-me', 'replaceme', 'top-secret', 'topsecret',
))
IKE_PROPOSALS = ('aes256gcm16-prfsha384-ecp384', 'aes128gcm16-prfsha256-ecp256')
ESP_PROPOSALS = ('aes256gcm16-ecp384', 'aes128gcm16-ecp256')
PROPOSAL = re.compile(r'[a-z0-9_]+(-[a-z0-9_]+)*')


class SettingsError(Exception):
    """One sentence for the operator."""


class Authentication(NamedTuple):
    mode: str
    secret: Optional[str] = None
    certificate: Optional[bytes] = None
    private_key: Optional[bytes] = None
    ca_certificates: tuple = ()
    local_id: Optional[str] = None
    remote_id: Optional[str] = None

    def __repr__(self):
        return f'Authentication(mode={self.mode!r})'


class Settings(NamedTuple):
    interface: str
    port: int
    vni: int
    sources: tuple  # own addresses; empty: any
    socket: str
    ike_proposals: tuple = IKE_PROPOSALS
    ike_lifetime: int = 28800
    dpd_interval: int = 10
    esp_proposals: tuple = ESP_PROPOSALS
    esp_lifetime: int = 3600
    force_encapsulation: bool = False
    authentication: Authentication = Authentication('pre-shared-secret')
    missing: tuple = ()  # reasons for no IPsec; nothing passes


class _Section:
    """A JSON object that records its unused keys."""

    def __init__(self, value, path=''):
        self.path = path
        if not isinstance(value, dict):
            raise SettingsError(f'{path or "the document"} must be an object')
        self.values = value
        self.left = set(value)

    def _key(self, key):
        return f'{self.path}.{key}' if self.path else key

    def get(self, key, kind, default=None, what=''):
        self.left.discard(key)
        if key not in self.values:
            return default
        value = self.values[key]
        if not isinstance(value, kind) or isinstance(value, bool) and kind is int:
            raise SettingsError(f'{self._key(key)} must be {what}')
        return value

    def text(self, key):
        value = self.get(key, str, what='text')
        if value is not None and (not value or '\0' in value):
            raise SettingsError(f'{self._key(key)} must not be empty')
        return value

    def number(self, key, low, high, default):
        value = self.get(key, int, default, f'a number from {low} to {high}')
        if not low <= value <= high:
            raise SettingsError(f'{self._key(key)} must be a number from {low} to {high}')
        return value

    def proposals(self, default):
        value = self.get('proposal', list, list(default), 'a list of proposals')
        for item in value:
            if not isinstance(item, str) or not PROPOSAL.fullmatch(item):
                raise SettingsError(f'{self._key("proposal")} must be a list of proposals such as '
                                    f'{default[0]}')
        if not value:
            raise SettingsError(f'{self._key("proposal")} is empty')
        return tuple(value)

    def section(self, key):
        return _Section(self.get(key, object, {}), self._key(key))

    def end(self):
        if self.left:
            raise SettingsError(f'{self._key(min(self.left))} is not known')


def _pem(text, key):
    """A PEM text, or the name of a file with a PEM text."""
    if text is None:
        raise SettingsError(f'authentication.{key} is missing; mode x509 needs it')
    if text.startswith('-----BEGIN'):
        return text.encode()
    try:
        with open(text, 'rb') as f:
            return f.read()
    except OSError as e:
        raise SettingsError(f'authentication.{key}: {text}: {e.strerror}') from None


def _authentication(section):
    mode = section.get('mode', str, 'pre-shared-secret', 'text')
    if mode == 'pre-shared-secret':
        secret = section.text('pre-shared-secret')
        if secret is None or len(secret) < SECRET_MIN:
            raise SettingsError(f'authentication.pre-shared-secret must have {SECRET_MIN} '
                                f'characters or more')
        if secret.lower() in OBVIOUS_SECRETS:
            raise SettingsError('authentication.pre-shared-secret is a placeholder or an obvious '
                                'secret; use the output of: leonctl generate secret')
        found = Authentication(mode, secret=secret)
    elif mode == 'x509':
        authorities = section.get('ca-certificate', list, [], 'a list of files or PEM texts')
        if not authorities or not all(isinstance(item, str) for item in authorities):
            raise SettingsError('authentication.ca-certificate must be a list of files or PEM '
                                'texts')
        found = Authentication(
            mode,
            certificate=_pem(section.text('certificate'), 'certificate'),
            private_key=_pem(section.text('private-key'), 'private-key'),
            ca_certificates=tuple(_pem(item, 'ca-certificate') for item in authorities),
            local_id=section.text('local-id'), remote_id=section.text('remote-id'))
    else:
        raise SettingsError('authentication.mode must be pre-shared-secret or x509')
    section.end()
    return found


def _missing(root):
    value = root.get('missing', list, [], 'a list of sentences')
    if not all(isinstance(item, str) for item in value):
        raise SettingsError('missing must be a list of sentences')
    return tuple(value)


def _daemons(daemon):
    """The part of leond's document that the guard and the manager need."""
    name = daemon['interface']
    return Settings(
        interface=name,
        port=daemon.get('port', PORT),
        vni=daemon.get('vni', VNI),
        sources=tuple(daemon.get('source-address', ())),
        socket=daemon.get('system', {}).get('control-socket', f'/run/leon/{name}.sock'))


def parse(daemon, ipsec):
    """Settings of the two documents, as read by json."""
    root = _Section(ipsec)
    if root.number('version', 1, 1 << 31, 0) != VERSION:
        raise SettingsError(f'version: this leon-ipsec reads version {VERSION}')
    missing = _missing(root)
    if missing:
        root.end()
        return _daemons(daemon)._replace(missing=missing)
    ike, esp = root.section('ike-group'), root.section('esp-group')
    dpd = ike.section('dead-peer-detection')
    found = _daemons(daemon)._replace(
        ike_proposals=ike.proposals(IKE_PROPOSALS),
        ike_lifetime=ike.number('lifetime', 30, 86400, 28800),
        dpd_interval=dpd.number('interval', 2, 86400, 10),
        esp_proposals=esp.proposals(ESP_PROPOSALS),
        esp_lifetime=esp.number('lifetime', 30, 86400, 3600),
        force_encapsulation=root.get('force-udp-encapsulation', bool, False, 'true or false'),
        authentication=_authentication(root.section('authentication')))
    for section in (dpd, ike, esp, root):
        section.end()
    return found


def _read(path):
    try:
        with open(path, encoding='utf-8') as f:
            return json.load(f)
    except OSError as e:
        raise SettingsError(f'{path}: {e.strerror}') from None
    except ValueError as e:
        raise SettingsError(f'{path}: {e}') from None


def load(daemon_path, ipsec_path):
    daemon = _read(daemon_path)
    if not isinstance(daemon, dict) or not isinstance(daemon.get('interface'), str):
        raise SettingsError(f'{daemon_path}: interface is missing')
    try:
        return parse(daemon, _read(ipsec_path))
    except SettingsError as e:
        raise SettingsError(f'{ipsec_path}: {e}') from None
