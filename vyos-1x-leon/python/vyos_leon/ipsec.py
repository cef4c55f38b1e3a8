# SPDX-License-Identifier: GPL-2.0-or-later
"""The rules of `interfaces leon leonN ipsec`, and the document of leon-ipsec
(vyos-1x-leon/ipsec/leon_ipsec/settings.py).

Pure except for two functions of VyOS that are parameters. One function converts proposals to names
of strongSwan, the other decrypts private keys. Only root reads the document, because leond does
not need the keys of IKE.
"""

import json
import os
from typing import Callable, NamedTuple

from vyos_leon.leaves import default
from vyos_leon.routes import listed

RUN_DIR = '/run/leon-ipsec'
PROGRAM = '/usr/lib/leon/leon-ipsec'
# VyOS accepts less for an ike-group, and leon-ipsec refuses it.
LIFETIME_MIN_S = 30
# The list of is_obvious() in conf_secrets.c, which leon-ipsec refuses, too. Case does not matter.
OBVIOUS_SECRETS = frozenset((
    'replace-this-by-your-own', 'output of leonctl generate secret', 'change-me',
    'changeme', 'mysecret', 'my-secret', 'password', 'password123', 'pre-shared-secret',
    'replace-me', 'replaceme', 'top-secret', 'topsecret',
))
SECRET_MODE, X509_MODE = 'pre-shared-secret', 'x509'


class Router(NamedTuple):
    """The other sections of the configuration, and functions of VyOS."""

    vpn: dict = {}  # `vpn ipsec`
    pki: dict = {}  # `pki`
    # vyos.template.get_esp_ike_cipher(group, ike_group)
    ciphers: Callable = None
    # Converts a key and a passphrase to PEM without encryption; None for a wrong passphrase.
    open_key: Callable = None


def document_path(interface):
    return f'{RUN_DIR}/{interface}.json'


def _authentication(config):
    return config['ipsec'].get('authentication', {})


def _mode(config):
    return _authentication(config).get('mode', SECRET_MODE)


def _group(config, router, kind):
    """The group, or None if the group is not configured or does not exist."""
    name = config['ipsec'].get(f'{kind}_group')
    return name and router.vpn.get(f'{kind}_group', {}).get(name)


def _proposals(config, router, kind):
    group = _group(config, router, kind)
    if kind == 'ike':
        return router.ciphers(group)
    ike = _group(config, router, 'ike')
    found = list(router.ciphers(group, ike))
    if group.get('pfs_is_default'):
        # 0.2.0 offers no group, and IKEv2 renews no keys if one end requires a group.
        found += router.ciphers({**group, 'pfs': 'disable'}, ike)
    return found


def _pem(kind, text):
    return f'-----BEGIN {kind}-----\n{text}\n-----END {kind}-----\n'


# --- faults ---


def _group_faults(config, router):
    for kind in ('ike', 'esp'):
        name = config['ipsec'].get(f'{kind}_group')
        if not name:
            yield (
                f'"ipsec" has no {kind}-group: set "ipsec {kind}-group" to one of '
                f'"vpn ipsec {kind}-group".'
            )
            continue
        group = _group(config, router, kind)
        if group is None:
            yield (
                f'There is no {kind}-group {name}: set "ipsec {kind}-group" to one of '
                f'"vpn ipsec {kind}-group", or set that one.'
            )
        elif not group.get('proposal'):
            yield (
                f'The {kind}-group {name} has no proposal: set "vpn ipsec {kind}-group '
                f'{name} proposal".'
            )
        elif group.get('key_exchange') == 'ikev1':
            yield (
                f'The ike-group {name} is for IKEv1 and LEON uses IKEv2: set "vpn ipsec '
                f'ike-group {name} key-exchange ikev2", or another ike-group.'
            )
        elif int(group.get('lifetime', LIFETIME_MIN_S)) < LIFETIME_MIN_S:
            yield (
                f'The lifetime of the {kind}-group {name} is too short: set "vpn ipsec '
                f'{kind}-group {name} lifetime" to {LIFETIME_MIN_S} seconds or more.'
            )


def _secret_faults(config):
    secret = _authentication(config).get('pre_shared_secret')
    if secret is None:
        yield (
            'IPsec has no secret: set "ipsec authentication pre-shared-secret", or '
            '"ipsec authentication mode x509".'
        )
    elif secret.lower() in OBVIOUS_SECRETS:
        yield (
            'The secret of IPsec is a placeholder or an obvious secret: set "ipsec authentication '
            'pre-shared-secret" to the output of "leonctl generate secret".'
        )


def _x509_faults(config, router):
    x509 = _authentication(config).get('x509', {})
    authorities = listed(x509.get('ca_certificate', []))
    if not authorities:
        yield (
            'IPsec has no authority: set "ipsec authentication x509 ca-certificate".'
        )
    for name in authorities:
        if 'certificate' not in router.pki.get('ca', {}).get(name, {}):
            yield (
                f'There is no CA certificate {name}: set "pki ca {name} certificate", or '
                f'correct "ipsec authentication x509 ca-certificate".'
            )
    name = x509.get('certificate')
    if not name:
        yield 'IPsec has no certificate: set "ipsec authentication x509 certificate".'
        return
    own = router.pki.get('certificate', {}).get(name, {})
    if 'certificate' not in own or 'key' not in own.get('private', {}):
        yield (
            f'The certificate {name} or its private key is missing: set "pki '
            f'certificate {name} certificate" and "private key", or correct "ipsec '
            f'authentication x509 certificate".'
        )
    elif router.open_key(own['private']['key'], x509.get('passphrase')) is None:
        yield (
            f'The private key of certificate {name} cannot be read: set "ipsec '
            f'authentication x509 passphrase" if it has one.'
        )


def faults(config, router):
    """One sentence for each fault."""
    if 'ipsec' not in config:
        return
    yield from _group_faults(config, router)
    if _mode(config) == X509_MODE:
        yield from _x509_faults(config, router)
    else:
        yield from _secret_faults(config)


def clashes(config, others):
    """One sentence for each other interface that cannot work together with this interface."""
    if 'disable' in config:
        return

    def are_equal(word):
        unset = str(default(word))
        return config.get(word, unset) == other.get(word, unset)

    for name, other in sorted(others.items()):
        protected = [c for c in (config, other) if 'ipsec' in c]
        if 'disable' in other or not protected:
            continue
        if are_equal('port') and 'source_interface' in config and 'source_interface' in other:
            yield (
                f'{name} has the same port, and IPsec protects a port on all interfaces: set '
                f'"port" to another one, or "source-address" at both.'
            )
        if are_equal('vni') and [_mode(c) for c in protected] == [SECRET_MODE] * 2:
            yield (
                f'{name} has an IPsec secret for the same VNI: set "vni" to another one, or '
                f'"ipsec authentication mode x509".'
            )


def users(interfaces):
    """LEON interfaces with groups of `vpn ipsec`, in the order of the names."""
    return {name: c for name, c in sorted(interfaces.items()) if 'ipsec' in c}


def _faults_of_all(interfaces, vpn):
    return [
        f'{name}: {text}'
        for name, config in interfaces.items()
        for text in _group_faults(config, Router(vpn=vpn))
    ]


def new_group_faults(interfaces, old, new):
    """Groups of LEON interfaces that a change of `vpn ipsec` removes. Earlier missing groups do
    not count."""
    before = _faults_of_all(interfaces, old)
    return [text for text in _faults_of_all(interfaces, new) if text not in before]


def users_of_changed_groups(interfaces, old, new):
    for name, config in interfaces.items():
        if any(
            _group(config, Router(vpn=old), kind) != _group(config, Router(vpn=new), kind)
            for kind in ('ike', 'esp')
        ):
            yield name


def warnings(config, router):
    if 'ipsec' not in config:
        return
    secret = _authentication(config).get('pre_shared_secret')
    if secret and secret == config.get('authentication', {}).get('pre_shared_secret'):
        yield (
            'IPsec has the secret of "authentication": who gets one has both. Set '
            'another "ipsec authentication pre-shared-secret".'
        )
    used = listed(router.vpn.get('interface', []))
    if used and config.get('source_interface') not in used:
        yield (
            f'IKE uses {", ".join(used)} only: set "vpn ipsec interface" to the one that '
            f'leads to other nodes as well, if it is not among them.'
        )


# --- the document ---


def _write_authentication(config, router):
    auth = _authentication(config)
    if _mode(config) == SECRET_MODE:
        return {'mode': SECRET_MODE, 'pre-shared-secret': auth['pre_shared_secret']}
    x509 = auth['x509']
    own = router.pki['certificate'][x509['certificate']]
    found = {
        'mode': X509_MODE,
        'certificate': _pem('CERTIFICATE', own['certificate']),
        'private-key': router.open_key(own['private']['key'], x509.get('passphrase')),
        'ca-certificate': [
            _pem('CERTIFICATE', router.pki['ca'][name]['certificate'])
            for name in listed(x509['ca_certificate'])
        ],
    }
    for word in ('local-id', 'remote-id'):
        if word.replace('-', '_') in auth:
            found[word] = auth[word.replace('-', '_')]
    return found


def _write_group(config, router, kind):
    group = _group(config, router, kind)
    found = {'proposal': list(_proposals(config, router, kind))}
    if 'lifetime' in group:
        found['lifetime'] = int(group['lifetime'])
    interval = group.get('dead_peer_detection', {}).get('interval')
    if interval:
        found['dead-peer-detection'] = {'interval': int(interval)}
    return found


def document(config, router):
    """The document of leon-ipsec. A boot does not refuse a configuration with faults. The document
    then contains the faults: nothing is sent outside IPsec, and IPsec is not available."""
    missing = list(faults(config, router))
    if missing:
        return json.dumps({'version': 1, 'missing': missing}, indent=4) + '\n'
    found = {
        'version': 1,
        'ike-group': _write_group(config, router, 'ike'),
        'esp-group': _write_group(config, router, 'esp'),
        'authentication': _write_authentication(config, router),
    }
    if 'force_udp_encapsulation' in config['ipsec']:
        found['force-udp-encapsulation'] = True
    return json.dumps(found, indent=4) + '\n'


def write(interface, text):
    """Writes the document atomically, in a directory that only root can enter."""
    os.makedirs(RUN_DIR, mode=0o700, exist_ok=True)
    temporary = f'{document_path(interface)}.new'
    descriptor = os.open(temporary, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600)
    with os.fdopen(descriptor, 'w', encoding='utf-8') as file:
        file.write(text)
    os.replace(temporary, document_path(interface))


def remove(interface):
    """Removes the document; True if there was one."""
    try:
        os.unlink(document_path(interface))
    except FileNotFoundError:
        return False
    return True
