# SPDX-License-Identifier: GPL-2.0-or-later
"""Rules of `vlan` and `segment`: the VLANs of a node and their segments of the overlay. verify.py
runs the rules. Pure.
"""

from vyos_leon.leaves import limits
from vyos_leon.routes import listed

VLANS_MAX = limits('vlan')[1]
NO_VLAN = 4095


def vlan_ranges_run_upwards(config, _):
    for vlan in listed(config.get('vlan', [])):
        first, _, last = vlan.partition('-')
        if last and int(first) > int(last):
            yield f'VLANs "{vlan}" run downwards: set "vlan {last}-{first}".'


def vlans_are_few_entries(config, _):
    count = len(listed(config.get('vlan', [])))
    if count > VLANS_MAX:
        yield (
            f'There are {count} entries in "vlan" and at most {VLANS_MAX} are possible: '
            f'set ranges such as "vlan 20-29".'
        )


# --- segments ---


def _segments(config):
    return config.get('segment', {})


def segments_have_vlan_and_id(config, _):
    for name, segment in _segments(config).items():
        for word, what in (
            ('vlan', 'the VLAN that it has here, 0 for untagged frames'),
            ('id', 'the number that it has at all nodes'),
        ):
            if word not in segment:
                yield f'Segment {name} has no {word}: set "segment {name} {word}" to {what}.'


def segments_are_apart(config, _):
    for word in ('vlan', 'id'):
        first = {}
        for name, segment in sorted(_segments(config).items()):
            value = segment.get(word)
            other = first.setdefault(value, name)
            if value is not None and other != name:
                yield (
                    f'Segments {other} and {name} have the same {word} {value}: set another '
                    f'for one of them.'
                )


def _served(config):
    for vlan in listed(config.get('vlan', [])):
        first, _, last = vlan.partition('-')
        yield from range(int(first), int(last or first) + 1)


def segments_take_no_number_of_a_vlan(config, _):
    served = set(_served(config))
    mapped = {int(s['vlan']) for s in _segments(config).values() if 'vlan' in s}
    for name, segment in sorted(_segments(config).items()):
        number = int(segment.get('id', 0))
        if number == NO_VLAN:
            yield f'Segment {name} has id {NO_VLAN}, which no VLAN tag can have: set another.'
        if number in served - mapped:
            yield (
                f'Segment {name} has id {number}, and so has VLAN {number}, which "vlan" names: '
                f'set a segment for that VLAN, or delete it from "vlan".'
            )


def segments_are_not_accelerated(config, _):
    if _segments(config) and 'acceleration' in config:
        yield (
            '"segment" and "acceleration" cannot be used together: acceleration does not know '
            'of other VLANs. Delete one of the two.'
        )


def overlays_meet_once(config, host):
    """No error: two overlays with different other sites may meet in a bridge."""
    for bridge in config.get('is_bridge_member', {}):
        for name, other in host.other_interfaces.items():
            if bridge in other.get('is_bridge_member', {}) and 'disable' not in other:
                yield (
                    f'{name} and {config["ifname"]} are members of {bridge}: if another site '
                    f'bridges both overlays too, they form a loop, which the loop guard does '
                    f'not detect. Delete one of the two members there or here.'
                )


ERRORS = (
    vlan_ranges_run_upwards,
    vlans_are_few_entries,
    segments_have_vlan_and_id,
    segments_are_apart,
    segments_take_no_number_of_a_vlan,
    segments_are_not_accelerated,
)
WARNINGS = (overlays_meet_once,)
