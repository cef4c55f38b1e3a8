#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""Commits `interfaces leon leonN`. Thin: vyos_leon.verify has the rules, vyos_leon.model builds the
document of leond, and leond decides which changes need a restart.

Order in apply(): first the device, because leond attaches to it. Then leond, which sets MAC address
and MTU. Then addresses, bridge, VRF and the rest, which need both.
"""

import os
import time

from subprocess import SubprocessError
from sys import exit

from vyos.base import Warning
from vyos.config import Config
from vyos.configdict import get_interface_dict
from vyos.configverify import verify_address
from vyos.configverify import verify_bond_bridge_member
from vyos.configverify import verify_bridge_delete
from vyos.configverify import verify_mirror_redirect
from vyos.configverify import verify_mtu_ipv6
from vyos.configverify import verify_vrf
from vyos.ifconfig import LeonIf
from vyos.pki import encode_private_key
from vyos.pki import load_private_key
from vyos.template import get_esp_ike_cipher
from vyos.template import render_to_string
from vyos.utils.boot import boot_configuration_complete
from vyos.utils.network import get_interface_address
from vyos.utils.network import get_interface_config
from vyos.utils.network import get_vrf_members
from vyos.utils.network import interface_exists
from vyos.utils.network import is_addr_assigned
from vyos.utils.process import call
from vyos.utils.process import rc_cmd
from vyos import ConfigError
from vyos import airbag

from vyos_leon import acceleration
from vyos_leon import boot
from vyos_leon import client
from vyos_leon import ipsec
from vyos_leon import keyfile
from vyos_leon import mac
from vyos_leon import metrics
from vyos_leon import model
from vyos_leon import references
from vyos_leon import routes
from vyos_leon import runfile
from vyos_leon import verify as rules

airbag.enable()

base = ['interfaces', 'leon']
# leond is ready within a second or never. The previous process has 10 s to stop.
START_WAIT_S = 20
PORT_START = '/proc/sys/net/ipv4/ip_unprivileged_port_start'


def get_config(config=None):
    conf = config if config else Config()
    ifname, leon = get_interface_dict(conf, base)
    others = conf.get_config_dict(
        base,
        key_mangling=('-', '_'),
        get_first_key=True,
        no_tag_node_value_mangle=True,
    )
    leon['other_interfaces'] = {k: v for k, v in others.items() if k != ifname}
    for bridge in conf.list_nodes(['interfaces', 'bridge']):
        for name, other in leon['other_interfaces'].items():
            if conf.exists(['interfaces', 'bridge', bridge, 'member', 'interface', name]):
                other.setdefault('is_bridge_member', {})[bridge] = {}
    source = leon.get('source_interface')
    leon['source_is_vrf'] = source is not None and conf.exists(['vrf', 'name', source])
    if 'deleted' in leon:
        everything = conf.get_config_dict(
            [], get_first_key=True, no_tag_node_value_mangle=True
        )
        leon['named_by'] = references.of(everything, ifname)
    else:
        sources = routes.listed(leon.get('source_address', []))
        leon.setdefault('mac', mac.derive(ifname, _permanent_address, sources))
    for word in ('ipsec', 'metrics', *model.objects()):
        # VyOS adds leaves with a default, such as the mode of the authentication.
        if not conf.exists(base + [ifname, word]):
            leon.pop(model.mangled(word), None)
    if 'ipsec' in leon:
        leon['router'] = _router(conf)
    return leon


def _permanent_address(ifname):
    found = get_interface_config(ifname) or {}
    return found.get('permaddr', found.get('address'))


def _open_key(key, passphrase):
    found = load_private_key(key, passphrase)
    return encode_private_key(found) if found else None


def _router(conf):
    def read(path, defaults=False):
        return conf.get_config_dict(
            path,
            key_mangling=('-', '_'),
            get_first_key=True,
            no_tag_node_value_mangle=True,
            with_recursive_defaults=defaults,
        )

    path = ['vpn', 'ipsec']
    # VyOS omits a proposal without encryption or hash, so the defaults belong to the groups.
    vpn = read(path, defaults=True)
    for name, group in vpn.get('ike_group', {}).items():
        # As in vpn_ipsec.py of VyOS: a default does not enable the detection of dead peers.
        if not conf.exists(path + ['ike-group', name, 'dead-peer-detection']):
            group.pop('dead_peer_detection', None)
    for name, group in vpn.get('esp_group', {}).items():
        group['pfs_is_default'] = not conf.exists(path + ['esp-group', name, 'pfs'])
    return ipsec.Router(
        vpn=vpn,
        pki=read(['pki']),
        ciphers=get_esp_ike_cipher,
        open_key=_open_key,
    )


def _addresses_of(ifname, members=()):
    """Addresses for other hosts, without link-local addresses and 127.0.0.1. None if the interface
    does not exist. A VRF has the addresses of its members."""
    found = get_interface_address(ifname)
    if found is None:
        return None
    infos = list(found['addr_info'])
    for member in members:
        infos += (get_interface_address(member) or {}).get('addr_info', [])
    return [a['local'] for a in infos if a['scope'] not in ('link', 'host')]


def _first_port():
    """leon-metrics runs without the privilege for lower ports."""
    try:
        with open(PORT_START) as file:
            return int(file.read())
    except (OSError, ValueError):
        return 1024


def verify(leon):
    if 'deleted' in leon:
        verify_bridge_delete(leon)
        if leon['named_by']:
            raise ConfigError(
                f'{leon["ifname"]} cannot be deleted while the configuration names it: '
                f'delete {", ".join(leon["named_by"])}'
            )
        return None

    host = rules.Host(
        other_interfaces=leon['other_interfaces'], first_port=_first_port()
    )
    if 'source_interface' in leon:
        name = leon['source_interface']
        members = get_vrf_members(name) if leon['source_is_vrf'] else ()
        addresses = _addresses_of(name, members)
        if addresses is None and not boot_configuration_complete():
            # No error, because a boot would lose the interface, and VyOS makes macsec and l2tpv3
            # later. leond waits for the source-interface.
            addresses = []
        host = host._replace(source_interface_addresses=addresses)
    verdict = rules.check(leon, host)
    errors = verdict.errors
    missing = list(ipsec.faults(leon, leon.get('router')))
    if boot_configuration_complete():
        errors = errors + missing + list(ipsec.clashes(leon, leon['other_interfaces']))
        missing = []
    if errors:
        raise ConfigError(' '.join(errors))

    verify_mtu_ipv6(leon)
    verify_address(leon)
    verify_vrf(leon)
    verify_bond_bridge_member(leon)
    verify_mirror_redirect(leon)

    for text in missing:
        # No error, because a boot would lose the interface. The interface exists, and without IPsec
        # the firewall drops all its datagrams.
        Warning(f'{text} Nothing is sent by {leon["ifname"]} until then.')
    for text in verdict.warnings + list(
        ipsec.warnings(leon, leon.get('router'))
    ):
        Warning(text)
    return None


def _check(path):
    """leond checks its configuration before anything changes."""
    code, output = rc_cmd(f'/usr/sbin/leond --check --config {path}')
    if code != 0:
        reason = output.removeprefix(f'{path}: ')
        raise ConfigError(f'leond refuses the configuration: {reason}')


def _keep_identity(ifname):
    try:
        keyfile.prepare(ifname)
    except OSError as e:
        # No error, because a failed boot would lose the configuration. leond has no other key, does
        # not start, and logs the reason.
        Warning(
            f'The identity of {ifname} cannot be kept in {keyfile.DIRECTORY}, and leond '
            f'does not start without it: {e}'
        )


def generate(leon):
    ifname = leon['ifname']
    unused = 'deleted' in leon or 'disable' in leon
    if not unused:
        text = render_to_string('leon/leond.json.j2', model.build(leon))
        runfile.replace(runfile.config_path(ifname), text, _check)
        _keep_identity(ifname)
    if not unused and 'ipsec' in leon:
        ipsec.write(ifname, ipsec.document(leon, leon['router']))
    return None


def _runs_previous_release(ifname):
    """An upgrade keeps the previous leond, with its leon-ipsec, if this release refuses the
    configuration."""
    show = f'systemctl show --property MainPID --value leond@{ifname}.service'
    try:
        return os.readlink(f'/proc/{rc_cmd(show)[1].strip()}/exe').endswith(' (deleted)')
    except OSError:
        return False


def _protect(leon):
    """Runs before leond starts or reloads. From then on the firewall passes only IPsec."""
    ifname = leon['ifname']
    unit = f'leon-ipsec@{ifname}.service'
    verb = 'restart' if _runs_previous_release(ifname) else 'reload-or-restart'
    code, _ = rc_cmd(f'timeout {START_WAIT_S} systemctl {verb} {unit}')
    if code != 0:
        # No error, because a failed boot would lose the configuration. leond does not start either,
        # because its unit requires the firewall.
        call(f'systemctl stop leond@{ifname}.service')
        Warning(
            f'IPsec cannot be set up for {ifname}, and nothing is sent without: see '
            f'"show log leon"'
        )


def _unprotect(leon):
    """Removes connections and keys first, then opens the firewall."""
    ifname = leon['ifname']
    call(f'systemctl stop leon-ipsec@{ifname}.service')
    call(
        f'{ipsec.PROGRAM} --config {runfile.config_path(ifname)} '
        f'--ipsec {ipsec.document_path(ifname)} guard'
    )


def _last_error(ifname, since):
    """The last log line of leond with a reason for its end."""
    code, output = rc_cmd(
        f'journalctl --quiet --output cat --priority err --lines 1 --since @{since} '
        f'--unit leond@{ifname}.service _COMM=leond'
    )
    return output if code == 0 and output else 'see "show log leon"'


def _restart(ifname):
    # The unit may wait for a long time (for example for network-online.target). The deadline limits
    # the wait of a commit, and thus of a boot. systemd continues the start.
    since = int(time.time())
    wait = f'timeout {START_WAIT_S} systemctl restart leond@{ifname}.service'
    code, _ = rc_cmd(wait)
    if code != 0:
        # No error: the missing resource may still appear (for example the address of an interface),
        # and systemd starts leond again. A failed boot would lose the configuration.
        Warning(
            f'leond does not run for {ifname} yet, and is started until it does: '
            f'{_last_error(ifname, since)}'
        )


def _bring_up_to_date(ifname):
    """Applies the change live if leond can, else with a restart. leond decides."""
    if _runs_previous_release(ifname):
        print(f'{ifname} restarts with this release, no frame passes until it has joined again')
        _restart(ifname)
        return
    try:
        answer = client.request(ifname, 'reload')
    except client.Refused as e:
        raise ConfigError(str(e)) from e
    except client.ClientError:
        _restart(ifname)
        return
    for text in answer.get('warnings', []):
        Warning(f'{ifname}: {text}')
    if answer['restart_keys']:
        keys = ', '.join(key.replace('.', ' ') for key in answer['restart_keys'])
        print(f'{ifname} restarts, no frame passes until it has joined again: {keys}')
        _restart(ifname)


def _serve_metrics(leon):
    """The unit waits for leond and requests the metrics. If the address is not available, the unit
    retries."""
    address = metrics.address(leon)
    if 'deleted' not in leon and address and not is_addr_assigned(address):
        # No error, because another interface may get the address later.
        Warning(
            f'Nobody can fetch the metrics of {leon["ifname"]}: no interface of this router has '
            f'the address {address}'
        )
    unused = 'deleted' in leon or 'disable' in leon
    if metrics.replace(leon['ifname'], None if unused else metrics.text(leon)):
        verb = 'restart' if metrics.is_served(leon['ifname']) else 'stop'
        call(f'systemctl {verb} {metrics.unit(leon["ifname"])}')


def _accelerate(leon):
    """leond diverts TCP to a running leon-accel, so leon-accel starts last and stops first."""
    unit = acceleration.unit(leon['ifname'])
    if 'acceleration' not in leon or 'deleted' in leon or 'disable' in leon:
        if acceleration.is_installed():
            call(f'systemctl stop {unit}')
        return
    if not acceleration.is_installed():
        Warning(
            f'No TCP connection of {leon["ifname"]} is accelerated, since leon-accel is not '
            f'installed: install the package leon-accel'
        )
        return
    code, _ = rc_cmd(f'timeout {START_WAIT_S} systemctl start {unit}')
    if code != 0:
        # No error: TCP passes without acceleration.
        Warning(
            f'No TCP connection of {leon["ifname"]} is intercepted, since leon-accel does not '
            f'run: see "show log leon"'
        )


def _arrange_boot(leon):
    """Prepares the boot of an image without the package, which must lose only the LEON interfaces.
    """
    try:
        if 'deleted' not in leon or leon['other_interfaces']:
            boot.arrange()
        elif not boot.is_saved():
            boot.withdraw()
    except (boot.Fault, OSError, SubprocessError) as e:
        Warning(
            f'A boot of an image without LEON would lose every part of the configuration '
            f'that names a LEON interface, static routes and bridges among them: {e}'
        )


def apply(leon):
    # This function changes the files of IPsec and of metrics together with their units. If
    # generate() changed the files and a later step failed, the next commit would see no change.
    _arrange_boot(leon)
    ifname = leon['ifname']
    if 'deleted' in leon or 'disable' in leon:
        _accelerate(leon)
        call(f'systemctl stop leond@{ifname}.service')
        if ipsec.remove(ifname):
            _unprotect(leon)
        runfile.remove(ifname)
    if 'deleted' in leon:
        _serve_metrics(leon)
        if interface_exists(ifname):
            LeonIf(ifname).remove()
        return None

    interface = LeonIf(ifname)
    # Before the interface gets an address: the link-local address depends on the MAC address.
    interface.set_mac(leon['mac'])
    if 'disable' not in leon:
        if 'ipsec' in leon:
            _protect(leon)
        elif ipsec.remove(ifname):
            _unprotect(leon)
        _bring_up_to_date(ifname)
        _accelerate(leon)
    interface.update(leon)
    # The server may listen at an address of this interface.
    _serve_metrics(leon)
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
