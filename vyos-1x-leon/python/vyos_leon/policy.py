# SPDX-License-Identifier: GPL-2.0-or-later
"""Rules of `policy critical`: the selection of critical frames and their treatment. verify.py runs
the rules. Pure.
"""

from vyos_leon.leaves import limits
from vyos_leon.routes import listed

MACS_MAX = limits('policy critical mac')[1]
ETHERTYPES_MAX = limits('policy critical ethertype')[1]
SERVICES_MAX = limits('policy critical protocol')[1]
# By name and by number, as in leond (state/conf/conf_policy.c).
WITH_PORTS = {'tcp', '6', 'udp', '17', 'dccp', '33', 'sctp', '132', 'udplite', '136'}
LISTS = {'dscp', 'vlan', 'mac', 'ethertype', 'protocol'}
TREATMENTS = {'duplicate', 'parity'}


def _critical(config):
    return config.get('policy', {}).get('critical', {})


def _ports(protocol):
    return listed(protocol.get('port', []))


# --- errors ---


def critical_frames_are_named(config, _):
    critical = _critical(config)
    treatments = sorted(TREATMENTS & set(critical))
    if treatments and not LISTS & set(critical):
        yield (
            f'"policy critical {treatments[0]}" says what is done with critical frames and '
            'nothing says which they are: set "policy critical dscp", "vlan", "mac", '
            '"ethertype" or "protocol".'
        )


def one_treatment(config, _):
    if set(_critical(config)) >= TREATMENTS:
        yield (
            '"policy critical duplicate" and "policy critical parity" exclude each other: '
            'delete one of them.'
        )


def ports_are_of_protocols_that_have_them(config, _):
    for name, protocol in _critical(config).get('protocol', {}).items():
        if _ports(protocol) and name not in WITH_PORTS:
            yield (
                f'Protocol {name} has no ports: delete "policy critical protocol {name} '
                f'port".'
            )


def critical_lists_are_short(config, _):
    critical = _critical(config)
    services = [len(_ports(p)) or 1 for p in critical.get('protocol', {}).values()]
    for what, count, most in (
        ('MAC addresses', len(listed(critical.get('mac', []))), MACS_MAX),
        ('EtherTypes', len(listed(critical.get('ethertype', []))), ETHERTYPES_MAX),
        ('protocols and ports', sum(services), SERVICES_MAX),
    ):
        if count > most:
            yield (
                f'"policy critical" has {count} {what} and at most {most} are possible: '
                f'let their sender mark the frames and set "policy critical dscp".'
            )


# --- warnings ---


def something_is_done(config, _):
    critical = _critical(config)
    if LISTS & set(critical) and not TREATMENTS & set(critical):
        yield (
            '"policy critical" names frames and nothing is done for them: set "policy '
            'critical duplicate" or "policy critical parity".'
        )


ERRORS = (
    critical_frames_are_named,
    one_treatment,
    ports_are_of_protocols_that_have_them,
    critical_lists_are_short,
)
WARNINGS = (something_is_done,)
