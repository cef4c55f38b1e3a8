# SPDX-License-Identifier: GPL-2.0-or-later
"""Makes leond.json(5) from the section `leon:` of user-data and the facts of the machine.

Pure: apply.py reads and writes files and uses the network. A leaf of leond.json(5) has its name and
form here too and is passed on unchanged for `leond --check`. Therefore no such leaf is listed here.
The lists contain the keys of the cloud (OWN) and short forms of leaves that otherwise need an
object (SHORT). Every error is one sentence, and all errors are found at once.
"""
import hashlib
import ipaddress
import json
import re

from . import fetch

INTERFACE = 'leon0'
BRIDGE = 'br0'
NAME = re.compile(r'[A-Za-z][A-Za-z0-9_.-]{0,14}')
MAC = re.compile(r'[0-9a-f]{2}(:[0-9a-f]{2}){5}')
LABEL = re.compile(r'[!-~]{1,32}')
# Sources of the secret: literal or fetched; alone, or in a token with peers and VNI.
SECRET_SOURCES = ('secret', 'secret-from', 'token', 'token-from')
# Keys that are removed before the rest is passed to leond.
OWN = ('interface', 'address', 'ports', 'bridge', 'data-disk', 'ipsec', *SECRET_SOURCES)


class SectionError(Exception):
    """Error sentences for the operator, one per line."""

    def __init__(self, faults):
        super().__init__('\n'.join(faults))
        self.faults = faults


def as_list(value):
    """A string is a list with one element."""
    if value is None:
        return []
    return value if isinstance(value, list) else [value]


class Reader:
    """Reader of one section; `faults` collects error sentences."""

    def __init__(self, section, machine):
        self.section, self.machine = section, machine
        self.faults = []

    def fault(self, key, sentence):
        self.faults.append(f'leon.{key}: {sentence}')

    def strings(self, key):
        """Returns the list at a key, of strings only."""
        found = as_list(self.section.get(key))
        bad = [item for item in found if not isinstance(item, str)]
        for item in bad:
            self.fault(key, f'{item!r} is no string; put it in quotes')
        return [item for item in found if isinstance(item, str)]

    def name(self, key, default):
        value = self.section.get(key, default)
        if isinstance(value, str) and NAME.fullmatch(value):
            return value
        self.fault(key, f'{value!r} is no name of an interface: 1 to 15 letters, digits and . _ -')
        return default

    def addresses(self):
        found = []
        for text in self.strings('address'):
            try:
                address = ipaddress.ip_interface(text)
            except ValueError:
                self.fault('address', f'{text} is no address with its length, such as 10.99.0.1/24')
                continue
            if '/' not in text:
                self.fault('address', f'{text} has no length; write {text}/24, or {text}/32 where '
                           'this node routes prefixes')
            found.append(address)
        return found

    def ports(self):
        found = []
        for port in self.strings('ports'):
            port = port.lower() if MAC.fullmatch(port.lower()) else port
            if not MAC.fullmatch(port) and not NAME.fullmatch(port):
                self.fault('ports', f'{port} is neither the name nor the MAC address of an interface')
            elif port in (self.machine.get('uplink'), self.machine.get('uplink-mac')):
                self.fault('ports', f'{port} carries the default route of this machine, which would '
                           'be out of reach; give the interface of the local segment')
            else:
                found.append(port)
        return found

    def data_disk(self):
        disk = self.section.get('data-disk')
        if disk is None or isinstance(disk, str) and re.fullmatch(r'/dev/[\w./:@+-]+', disk):
            return disk
        self.fault('data-disk', f'{disk!r} is no disk, such as /dev/vdb or '
                   '/dev/disk/by-label/leon-data')
        return None

    def secret_source(self):
        """(word, text), (word-from, {url, headers}) or (None, None)."""
        given = [key for key in SECRET_SOURCES if key in self.section]
        if not given:
            return None, None
        key = given[-1]
        authentication = self.section.get('authentication') or {}
        if not isinstance(authentication, dict):
            self.fault('authentication', 'is no object')
        elif 'pre-shared-secret' in authentication:
            self.fault(key, 'authentication.pre-shared-secret is given too; give one of them')
        for other in given[:-1]:
            self.fault(key, f'{other} is given too; give one of them')
        if key.startswith('token') and 'vni' in self.section:
            self.fault('vni', 'the token has one; take this one out, or give peer and secret in place '
                       'of the token')
        value = self.section[key]
        if key.endswith('-from'):
            return key, self.location(key, value)
        if not isinstance(value, str):
            self.fault(key, 'is no string; put it in quotes')
        return key, value

    def location(self, key, value):
        where = {'url': value} if isinstance(value, str) else value
        if not isinstance(where, dict) or not isinstance(where.get('url'), str):
            self.fault(key, 'is neither an address nor { url, headers }')
            return None
        for inner in where:
            if inner not in ('url', 'headers'):
                self.fault(f'{key}.{inner}', 'unknown key')
        headers = where.get('headers', {})
        if not isinstance(headers, dict) or \
                not all(isinstance(text, str) for pair in headers.items() for text in pair):
            self.fault(f'{key}.headers', 'is no object of strings')
            headers = {}
        if not is_private(where['url']):
            self.fault(key, 'is sent in the clear; give an address with https:// (http:// '
                       'only for the metadata service of the cloud), or file:///')
        if re.match('file:///(var/)?tmp/', where['url']):
            self.fault(key, 'leon-cloud has a /tmp and a /var/tmp of its own; put the file below /run')
        return {'url': where['url'], 'headers': headers}


def is_private(url):
    """Returns true if no third party can read the download in transit. fetch.py checks the
    addresses of a name."""
    match = re.fullmatch(r'(https|http|file)://([^/]*)(/.*)?', url)
    if not match:
        return False
    scheme, host = match[1], match[2]
    if scheme == 'file':
        return host == '' and bool(match[3])
    return bool(host) and (scheme == 'https' or host == 'metadata.google.internal' or
                           host.strip('[]') in fetch.METADATA)


def peer_object(values, reader):
    """Returns `peer: [198.51.100.1, seoul.example.net:5366]` as the object of leond.json(5)."""
    peers = {}
    for value in values:
        match = isinstance(value, str) and re.fullmatch(
            r'(?:\[(?P<six>[0-9a-fA-F:.]+)\]|(?P<host>[^\s:\[\]]+))(?::(?P<port>\d+))?'
            r'|(?P<bare>[0-9a-fA-F:.]+)', value)
        if not match:
            reader.fault('peer', f'{value!r} is no address or name, with or without :PORT')
            continue
        address = match['six'] or match['host'] or match['bare']
        peers[f'peer{len(peers) + 1}'] = {'address': address,
                                          **({'port': int(match['port'])} if match['port'] else {})}
    return peers


def export_object(values, _):
    return {'next-hop': {}, 'prefix': values}


def import_object(values, reader):
    if all(isinstance(value, str) for value in values):
        return {'prefix': {value: {} for value in values}}
    reader.fault('import', 'is no list of prefixes such as 10.0.0.0/8')
    return {}


# Leaves that may be a string or a list here, and are an object for leond.
SHORT = {'peer': peer_object, 'export': export_object, 'import': import_object}


def drawn_number(machine):
    """Returns a node-id in 240.0.0.0/4 for a machine without IPv4, as `leonctl join` does. The same
    machine keeps its node-id."""
    if not machine.get('uplink'):
        return None
    seed = (machine.get('uplink-mac') or '') + machine.get('hostname', '')
    number = int(hashlib.sha256(seed.encode()).hexdigest(), 16)
    return str(ipaddress.IPv4Address(0xf0000001 + number % 0x0ffffffe))


def leond_document(reader, plan):
    """Returns leond.json(5) without the secret."""
    section, machine = reader.section, reader.machine
    document = {'version': 1, 'interface': plan.interface}
    label = machine.get('hostname', '').split('.')[0]
    if LABEL.fullmatch(label):
        document['node-name'] = label
    for key, value in section.items():
        if key in OWN:
            continue
        short = SHORT.get(key)
        document[key] = short(as_list(value), reader) \
            if short and isinstance(value, (str, list)) else value
    if 'source-address' not in document and 'source-interface' not in document \
            and machine.get('uplink'):
        document['source-interface'] = machine['uplink']
    number = machine.get('public-address') or machine.get('address')
    # leond uses the address of another source-interface.
    if not number and document.get('source-interface') == machine.get('uplink'):
        number = drawn_number(machine)
    if 'node-id' not in document and 'source-address' not in document and number:
        document['node-id'] = number
    if plan.bridge and not plan.ports:
        document['bridge'] = plan.bridge
    if plan.addresses and not plan.bridge:
        document.setdefault('overlay-address', [str(address.ip) for address in plan.addresses])
    return document


class Plan:
    """The files to write: see apply.py."""

    def __init__(self, reader):
        section = reader.section
        self.interface = reader.name('interface', INTERFACE)
        self.addresses = reader.addresses()
        self.ports = reader.ports()
        # Without ports, the bridge is that of another program, and leond joins it.
        self.bridge = reader.name('bridge', BRIDGE) if self.ports or 'bridge' in section else None
        self.data_disk = reader.data_disk()
        self.secret_kind, self.secret = reader.secret_source()
        self.ipsec = section.get('ipsec')
        if self.ipsec is not None and not isinstance(self.ipsec, dict):
            reader.fault('ipsec', 'is no object; see leon-ipsec(8)')
        if self.bridge and 'export' in section and 'overlay-address' not in section:
            reader.fault('export', 'a node that routes prefixes has leon0 to itself, and one with '
                         'ports or a bridge has it in a bridge; take out one of them')
        if self.bridge and self.addresses and not self.ports:
            reader.fault('address', 'a port of a bridge has no address; give ports too, or set the '
                         f'address where {self.bridge} is made')
        self.document = leond_document(reader, self)
        self.routes = 'export' in self.document or 'import' in self.document

    def with_secret(self, secret):
        """Returns the whole document of leond. Without a secret here, the secret of the section is
        used."""
        if secret is None:
            return self.document
        return {**self.document, 'authentication': joined(
            self.document.get('authentication'), {'pre-shared-secret': secret})}

    def with_token(self, invited):
        """Returns the whole document of leond. invited: the document that `leonctl join` makes of
        the token, except name, node-id and interface, which are those of this machine."""
        return {**self.document, 'vni': invited['vni'],
                'peer': joined(invited['peer'], self.document.get('peer', {})),
                **{key: joined(self.document.get(key), invited[key])
                   for key in ('authentication', 'encryption') if key in invited}}


def joined(first, second):
    """Merges the keys of both. A value that is no object is left to the check of leond."""
    if not isinstance(second, dict):
        return second
    return {**(first if isinstance(first, dict) else {}), **second}


def plan(section, machine):
    """Reads a section. machine: the known facts, such as hostname, uplink (interface of the default
    route), uplink-mac, address (IPv4 address of the uplink), public-address."""
    if not isinstance(section, dict):
        raise SectionError(['leon: is no object; write keys below it, such as peer and secret'])
    odd = [key for key in section if not isinstance(key, str)]
    if odd:
        raise SectionError([f'leon.{key}: unknown key' for key in odd])
    for key, value in section.items():
        try:
            json.dumps(value)
        except (TypeError, ValueError) as error:
            # A date without quotes, for example.
            raise SectionError([f'leon.{key}: {error}; put the value in quotes'])
    reader = Reader(section, machine)
    made = Plan(reader)
    if reader.faults:
        raise SectionError(reader.faults)
    return made


def public_address(instance):
    """Returns the elastic or external IPv4 address in cloud-init's instance data, or None. The
    address is unique in the Internet. Two sites may use one private address."""
    data = (instance.get('ds') or {}).get('meta_data') or {}
    candidates = [data.get('public-ipv4'), data.get('public_ipv4')]
    ec2 = (instance.get('ds') or {}).get('ec2_metadata') or {}
    candidates.append(ec2.get('public-ipv4'))
    for path in (('imds', 'network', 'interface', 0, 'ipv4', 'ipAddress', 0, 'publicIpAddress'),
                 ('instance', 'networkInterfaces', 0, 'accessConfigs', 0, 'externalIp'),
                 ('network-interfaces', 0, 'access-configs', 0, 'external-ip')):
        candidates.append(reached(data, path))
    for text in candidates:
        try:
            return str(ipaddress.IPv4Address(text))
        except ValueError:
            continue
    return None


def reached(value, path):
    for step in path:
        try:
            value = value[step]
        except (KeyError, IndexError, TypeError):
            return None
    return value
