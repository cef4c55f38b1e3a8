#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""Commits `protocols lisp`. Thin: vyos_leon.lisp.verify has the rules, vyos_leon.lisp.model builds
the document of leon-lisp, and leon-lisp decides if Open Overlay Router must restart.
"""

import ipaddress
import json
import os

from sys import exit

from vyos.base import Warning
from vyos.config import Config
from vyos.utils.boot import boot_configuration_complete
from vyos.utils.process import call
from vyos.utils.process import rc_cmd
from vyos import ConfigError
from vyos import airbag

from vyos_leon import lisp as paths
from vyos_leon.lisp import model
from vyos_leon.lisp import verify as rules

airbag.enable()

base = ['protocols', 'lisp']
START_WAIT_S = 20


def _read(conf, path):
    return conf.get_config_dict(
        path,
        key_mangling=('-', '_'),
        get_first_key=True,
        no_tag_node_value_mangle=True,
    )


def get_config(config=None):
    conf = config if config else Config()
    lisp = {'words': _read(conf, base), 'deleted': not conf.exists(base)}
    # In the spelling of the kernel.
    locators = lisp['words'].get('locator', {})
    lisp['words']['locator'] = {str(ipaddress.ip_address(a)): of for a, of in locators.items()}
    leon = _read(conf, ['interfaces', 'leon'])
    lisp['leon'] = tuple(n for n, words in leon.items() if 'disable' not in words)
    static = _read(conf, ['protocols', 'static', 'table'])
    lisp['tables'] = {f'protocols static table {number}': int(number) for number in static}
    for name, words in _read(conf, ['vrf', 'name']).items():
        if 'table' in words:
            lisp['tables'][f'vrf name {name}'] = int(words['table'])
    lisp['local_rules'] = tuple(
        number
        for word in ('local-route', 'local-route6')
        for number in _read(conf, ['policy', word, 'rule'])
    )
    options = _read(conf, ['firewall', 'global-options'])
    lisp['source_validation'] = options.get('source_validation')
    lisp['has_oor'] = os.path.exists(paths.OOR)
    return lisp


def _interfaces(locators):
    """Locator -> rules.Interface."""
    code, output = rc_cmd('ip -json -details address')
    found = {}
    for link in json.loads(output or '[]') if code == 0 else []:
        addresses = tuple(i['local'] for i in link.get('addr_info', []) if 'local' in i)
        is_in_vrf = link.get('linkinfo', {}).get('info_slave_kind') == 'vrf'
        vrf = link.get('master') if is_in_vrf else None
        interface = rules.Interface(link['ifname'], link['ifindex'], addresses, vrf)
        found.update({a: interface for a in addresses if a in locators})
    return found


def verify(lisp):
    if lisp['deleted']:
        return None
    host = rules.Host(
        interfaces=_interfaces(lisp['words'].get('locator', {})),
        leon=lisp['leon'],
        tables=lisp['tables'],
        local_rules=lisp['local_rules'],
        source_validation=lisp['source_validation'],
        has_oor=lisp['has_oor'],
    )
    verdict = rules.check(lisp['words'], host, boot_configuration_complete())
    if verdict.errors:
        raise ConfigError(' '.join(verdict.errors))
    for text in verdict.warnings:
        Warning(text)
    return None


def _write(path, text):
    os.makedirs(os.path.dirname(path), mode=0o700, exist_ok=True)
    new = f'{path}.new'
    descriptor = os.open(new, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600)
    with os.fdopen(descriptor, 'w') as file:
        file.write(text)
    os.replace(new, path)


def generate(lisp):
    if not lisp['deleted']:
        text = json.dumps(model.build(lisp['words']), indent=1)
        _write(paths.DOCUMENT, text + '\n')
    return None


def apply(lisp):
    if lisp['deleted']:
        call(f'systemctl stop {paths.UNIT}')
        if os.path.exists(paths.DOCUMENT):
            os.unlink(paths.DOCUMENT)
        return None
    if not lisp['has_oor']:
        return None
    wait = f'timeout {START_WAIT_S} systemctl reload-or-restart {paths.UNIT}'
    code, _ = rc_cmd(wait)
    if code != 0:
        # No error, because a failed boot would lose the configuration. systemd tries again.
        Warning('LISP does not run yet, and is started until it does: see "show log lisp"')
    return None


if __name__ == '__main__':
    try:
        c = get_config()
        verify(c)
        generate(c)
        apply(c)
    except ConfigError as e:
        print(e)
        exit(1)
