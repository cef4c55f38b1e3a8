# SPDX-License-Identifier: GPL-2.0-or-later
"""Rates in VyOS's notation of bandwidths (10mbit), and the rules of `shaper`.

Internally, and in the document of leond, all rates are whole kbit/s. A number without a unit is a
rate in kbit/s. verify.py runs the rules. Pure.
"""

import re

from vyos_leon import leaves

UNIT = 'kbit/s'
# Units in bits per second, as in VyOS.
UNITS = {'bit': 1, 'kbit': 10**3, 'mbit': 10**6, 'gbit': 10**9, 'tbit': 10**12}
FORM = rf'\d+({"|".join(UNITS)})'
PER_KBIT = 1000


def is_rate(leaf):
    return leaf.kind in leaves.NUMBERS and leaf.of['unit'] == UNIT


def kbits(text):
    """Rate in kbit/s of a text that meets the constraint of the CLI. Less than 1 kbit/s counts as
    no rate."""
    number, unit = re.fullmatch(r'(\d+)([a-z]*)', text).groups()
    return int(number) * UNITS[unit] // PER_KBIT if unit else int(number)


def _values(nodes, words):
    """(path, text) of each value at the given words of the document. A word in capitals matches
    any name."""
    if not words:
        yield '', nodes
        return
    first, *rest = words
    names = sorted(nodes) if first.isupper() else [first.replace('-', '_')]
    for name in names:
        if name in nodes:
            word = name if first.isupper() else first
            for path, text in _values(nodes[name], rest):
                yield f'{word} {path}'.rstrip(), text


def rates_are_in_range(config, _):
    """The CLI checks the range of numbers, but only the form of values with a unit."""
    for leaf in filter(is_rate, leaves.LEAVES.values()):
        for path, text in _values(config, leaf.words):
            low, high = leaf.of['low'], leaf.of['high']
            value = kbits(text)
            lost = value == 0 and not re.match('0+(?![0-9])', text)
            if lost or not low <= value <= high:
                yield (
                    f'"{path}" is {text}, which is not between {max(low, 1)} and {high} '
                    f'kbit/s: set another rate.'
                )


def _shaper(config):
    return config.get('shaper', {})


def rates_are_of_nodes(config, _):
    for node, of in sorted(_shaper(config).get('peer', {}).items()):
        if 'rate' not in of:
            yield (
                f'Nothing is said of node {node}: set "shaper peer {node} rate", 0 for no '
                f'limit.'
            )
        if node == config.get('node_id'):
            yield (
                f'Node {node} is this one, which sends nothing to itself: delete "shaper '
                f'peer {node}".'
            )


def nodes_are_few(config, _):
    most = leaves.limits('shaper peer')[1]
    count = len(_shaper(config).get('peer', {}))
    if count > most:
        yield (
            f'There are {count} nodes in "shaper peer" and at most {most} are possible: set '
            f'"shaper per-peer" for most of them.'
        )


def line_is_not_slower(config, _):
    """A warning: a limit that is not below the rate of the access link has no effect."""
    shaper = _shaper(config)
    line, each = (kbits(shaper.get(word, '0')) for word in ('egress', 'per_peer'))
    if line and each >= line:
        yield (
            f'"shaper per-peer" {shaper["per_peer"]} is not below "shaper egress" '
            f'{shaper["egress"]}, which limits all nodes together, so it has no effect: set '
            f'it to less, or delete it.'
        )


ERRORS = (rates_are_in_range, rates_are_of_nodes, nodes_are_few)
WARNINGS = (line_is_not_slower,)
