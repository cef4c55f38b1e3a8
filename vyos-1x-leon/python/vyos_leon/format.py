# SPDX-License-Identifier: GPL-2.0-or-later
"""Answers of leond as text for people, character for character as leonctl prints them
(vyos-1x-leon/leonctl/render_*.c), so that an operator who knows one knows the other.

Pure: text(command, answer) is all there is to call. Unknown values are "-"; a column
that is empty in every row is left out.
"""

REPORT_OLD_S = 30  # leond believes a report of leon-ipsec for so long
IPSEC_UNUSED = 'IPsec is not in use: leon-ipsec has not reported.'
UNKNOWN = '-'
GAP = '  '
MATRIX_NODES_MAX = 10


# --- values ---


def _known(value):
    return UNKNOWN if value is None else str(value)


def _str(entry, key):
    return _known(entry.get(key))


def _ms(us):
    # Two places below 10 ms, where they matter.
    return f'{us / 1000:.2f} ms' if us < 10000 else f'{us / 1000:.1f} ms'


def _us(entry, key):
    us = entry.get(key)
    return UNKNOWN if us is None else _ms(us)


def _permille(entry, key):
    value = entry.get(key)
    return UNKNOWN if value is None else f'{value // 10}.{value % 10} %'


def _age(entry, key):
    s = entry.get(key)
    if s is None:
        return UNKNOWN
    if s < 60:
        return f'{s} s'
    if s < 3600:
        return f'{s // 60} min {s % 60} s'
    if s < 86400:
        return f'{s // 3600} h {s % 3600 // 60} min'
    return f'{s // 86400} d {s % 86400 // 3600} h'


def _bytes(entry, key):
    value = entry.get(key)
    if value is None:
        return UNKNOWN
    if value < 1024:
        return f'{value} B'
    for unit in ('KiB', 'MiB', 'GiB', 'TiB'):
        value /= 1024
        if value < 1024 or unit == 'TiB':
            return f'{value:.1f} {unit}'


def _node(entry, id_key, name_key):
    name = entry.get(name_key)
    return f'{name} ({_str(entry, id_key)})' if name else _str(entry, id_key)


def _hops(entry, source):
    hops = entry.get('hop_names') or []
    return ' > '.join([source, *hops] if source else hops) if hops else UNKNOWN


# --- tables ---


def _table(titles, rows):
    """A title that begins with ">" heads a column of numbers."""
    columns = list(zip(*rows))
    used = [i for i, column in enumerate(columns) if any(column)]
    lines = [[title.lstrip('>') for title in titles], *rows]
    width = [max(len(line[i]) for line in lines) for i in range(len(titles))]
    return '\n'.join(
        GAP.join(
            line[i].rjust(width[i]) if titles[i][0] == '>' else line[i].ljust(width[i])
            for i in used
        ).rstrip()
        for line in lines
    )


def _table_or(nothing, titles, rows):
    return _table(titles, rows) if rows else nothing


# --- one function for each command ---


def _ends(node):
    if node.get('session_ends_seconds') is None:
        return 'other secret'
    return f'other secret, session ends in {_age(node, "session_ends_seconds")}'


def _node_notes(node):
    notes = (
        (node.get('transit_disabled'), 'no transit'),
        (node.get('data_loss_permille'), 'loses data'),
        (node.get('lan') == 'blocked', 'LAN blocked'),
        (node.get('encryption') == 'none', 'not encrypted'),
        (node.get('protected') == 'ipsec', 'ipsec'),
        (node.get('secret') == 'other', _ends(node)),
        (node.get('duplicate'), 'node-id used twice'),
    )
    return ', '.join(text for holds, text in notes if holds)


def _nodes(answer):
    titles = (
        'NODE-ID', 'NAME', 'STATE', '>SINCE', 'LINK', '>RTT', '>VARIATION', '>LOSS',
        '>LINK MTU', '>MACS', 'ENDPOINT', 'NOTES',
    )  # fmt: skip
    rows = [
        (
            _str(n, 'node_id'),
            _str(n, 'name'),
            _str(n, 'state'),
            _age(n, 'since_seconds'),
            _str(n, 'link'),
            _us(n, 'rtt_us'),
            _us(n, 'variation_us'),
            _permille(n, 'loss_permille'),
            _str(n, 'link_mtu'),
            _str(n, 'macs'),
            _str(n, 'endpoint') + (' (NAT)' if n.get('behind_nat') else ''),
            _node_notes(n),
        )
        for n in answer['nodes']
    ]
    return _table_or('No node is known.', titles, rows)


def _peer_rows(peer):
    """One for each address, the peer itself in the first of them."""
    addresses = peer['addresses'] or [{}]
    reason = peer.get('reason') or ''
    for i, a in enumerate(addresses):
        yield (
            '' if i else _str(peer, 'name'),
            '' if i else _str(peer, 'state'),
            '' if i else _age(peer, 'since_seconds'),
            '' if i else _node(peer, 'node_id', 'node_name'),
            '' if i else peer.get('description') or '',
            _str(a, 'endpoint'),
            _str(a, 'asked'),
            _age(a, 'asked_seconds'),
            a.get('result') or '',
            (a.get('text') or '') if reason and a else reason,
        )


def _peers(answer):
    titles = (
        'PEER', 'STATE', '>SINCE', 'NODE', 'DESCRIPTION', 'ADDRESS', '>ASKED', '>LAST',
        'ANSWER', 'WHY NOT',
    )  # fmt: skip
    rows = [row for peer in answer['peers'] for row in _peer_rows(peer)]
    nothing = (
        'No peer is configured: this node waits for others to join through it.'
    )
    return _table_or(nothing, titles, rows)


def _exported(path):
    """The first destination, and how many more."""
    exported = path.get('exported') or ['']
    more = len(exported) - 1
    return f'{exported[0]} +{more}' if more else exported[0]


def _paths(answer):
    titles = (
        'DESTINATION', 'NAME', 'PATH', '>LATENCY', '>DIRECT', '>COST', '>BEST COST',
        '>MTU', '>SINCE', '>CHANGES', 'REASON', 'EXPORTED', 'AVOIDED RELAYS',
    )  # fmt: skip
    rows = [
        (
            _str(p, 'destination'),
            _str(p, 'name'),
            _hops(p, answer.get('source_name')),
            _us(p, 'latency_us'),
            _us(p, 'direct_latency_us'),
            _us(p, 'cost_us'),
            _us(p, 'best_cost_us'),
            _str(p, 'mtu'),
            _age(p, 'since_seconds'),
            _str(p, 'changes'),
            _str(p, 'reason'),
            _exported(p),
            ', '.join(p.get('avoided_names') or []),
        )
        for p in answer['paths']
    ]
    return _table_or('No other node is known.', titles, rows)


def _own_prefixes(prefixes):
    titles = ('OWN PREFIX', 'ANNOUNCED', '>SINCE', 'REASON')
    rows = [
        (
            _str(p, 'prefix'),
            'yes' if p['announced'] else 'no',
            _age(p, 'since_seconds'),
            _str(p, 'reason'),
        )
        for p in prefixes
    ]
    return _table_or('', titles, rows)


def _routes(answer):
    titles = (
        'DESTINATION', 'TYPE', 'NODE-ID', 'NAME', 'GATEWAY', '>DISTANCE', '>METRIC',
        '>LATENCY', '>SINCE', 'STATE', 'REASON',
    )  # fmt: skip
    rows = [
        (
            _str(r, 'destination'),
            _str(r, 'type'),
            _str(r, 'node_id'),
            _str(r, 'name'),
            _str(r, 'gateway'),
            _str(r, 'distance'),
            _str(r, 'metric'),
            _us(r, 'latency_us'),
            _age(r, 'since_seconds'),
            _str(r, 'state'),
            r.get('reason') or '',
        )
        for r in answer['routes']
    ]
    nothing = 'No other node announces an address or a prefix.'
    text = _table_or(nothing, titles, rows)
    if not answer.get('exporting'):
        text += f'\n\nNo route is exported: {_str(answer, "reason")}'
    if answer['prefixes']:
        text += '\n\n' + _own_prefixes(answer['prefixes'])
    return text


def _own_duplicate(d):
    if not d:
        return ''
    clone = ', and this identity: a clone' if d['same_identity'] else ''
    at = f', at {d["endpoint"]}' if d['endpoint'] else ''
    by = f', as told by {d["reported_by"]}' if d['reported_by'] else ''
    return (
        f'\n\nAnother node uses the node-id of this one{clone}{at}, '
        f'seen {_age(d, "seen_seconds")} ago{by}.'
    )


def _identity(answer):
    restricted = answer['restricted']
    titles = ('IDENTITY', 'NODE-ID', 'NAME', 'STATE', 'LISTED')
    rows = [
        (
            _str(i, 'identity'),
            _str(i, 'node_id'),
            _str(i, 'name'),
            _str(i, 'state'),
            ('yes' if i.get('listed') else 'no') if restricted else '',
        )
        for i in answer['identities']
    ]
    table = _table_or('No identity is known.', titles, rows)
    rule = (
        'Only listed identities may be members.'
        if restricted
        else 'No list is configured: whoever has the secret may be a member.'
    )
    return (
        f'identity of this node: {_str(answer, "identity")}\n'
        f'kept in: {_str(answer, "file")}\n\n'
        f'{table}\n\n{rule}{_own_duplicate(answer.get("duplicate"))}'
    )


def _ipsec(answer):
    if answer['reported_seconds'] is None:
        return IPSEC_UNUSED
    titles = ('ADDRESS', '>PORT', 'NODE-ID', 'NAME', 'PROTECTED', 'REASON')
    keys = ('address', 'port', 'node_id', 'name', 'protected', 'reason')
    rows = [tuple(_str(e, key) for key in keys) for e in answer['endpoints']]
    table = _table_or('No address of another node is known.', titles, rows)
    problems = ''.join(f'problem: {text}\n' for text in answer['problems'])
    late = answer['reported_seconds'] > REPORT_OLD_S
    return (
        f'{table}\n\n{problems}last report of leon-ipsec: {_age(answer, "reported_seconds")}'
        + (' ago: it does not run, see its log' if late else '')
    )


def _fdb(answer):
    titles = ('MAC', '>VLAN', 'NODE-ID', 'NAME', '>AGE', '>MOVES', 'NOTES')
    rows = [
        (
            _str(e, 'mac'),
            _str(e, 'vlan'),
            _str(e, 'node_id'),
            _str(e, 'name'),
            _age(e, 'age_seconds'),
            _str(e, 'moves'),
            ('local ' if e.get('local') else '')
            + ('frozen' if e.get('frozen') else ''),
        )
        for e in answer['entries']
    ]
    table = _table_or('No MAC is known.', titles, rows)
    count, maximum = _str(answer, 'count'), _str(answer, 'maximum')
    return f'{table}\n\n{count} of at most {maximum} entries'


def _events(answer):
    titles = ('TIME', '>AGE', 'EVENT', 'WHAT HAPPENED')
    rows = [
        (_str(e, 'at'), _age(e, 'age_seconds'), _str(e, 'event'), _str(e, 'text'))
        for e in answer['events']
    ]
    return _table_or('Nothing has happened yet.', titles, rows)


def _latency(answer):
    """A matrix (row: who measured) while it fits a terminal, a list of links beyond
    that."""
    call = {n['node_id']: n.get('name') or n['node_id'] for n in answer['nodes']}
    small = len(call) <= MATRIX_NODES_MAX
    return _matrix(answer, call) if small else _links(answer, call)


def _matrix_cell(origin, to, entry):
    if origin == to:
        return '.'
    if entry is None:
        return UNKNOWN
    if not entry.get('up'):
        return UNKNOWN if entry.get('rtt_us') is None else 'down'
    return _us(entry, 'rtt_us')


def _matrix(answer, call):
    rows = []
    for row in answer['rows']:
        entries = {e['node']: e for e in row['entries']}
        origin = row['origin']
        cells = [_matrix_cell(origin, to, entries.get(to)) for to in call]
        rows.append((call.get(origin, origin), *cells))
    return _table(('FROM \\ TO', *('>' + name for name in call.values())), rows)


def _links(answer, call):
    titles = ('FROM', 'TO', 'LINK', '>RTT', '>VARIATION', '>LOSS', '>MTU')
    rows = [
        (
            call.get(row['origin'], row['origin']),
            call.get(e['node'], e['node']),
            'up' if e.get('up') else 'down',
            _us(e, 'rtt_us'),
            _us(e, 'variation_us'),
            _permille(e, 'loss_permille'),
            _str(e, 'mtu'),
        )
        for row in answer['rows']
        for e in row['entries']
        if e.get('up') or e.get('rtt_us') is not None
    ]
    return _table(titles, rows)


def _counters(numbers):
    rows = [(k, str(v)) for k, v in numbers.items() if isinstance(v, int) and v != 0]
    return _table_or('all zero', ('COUNTER', '>VALUE'), rows)


def _drops(answer):
    rows = [
        (_str(d, 'reason'), _str(d, 'count'), _str(d, 'text'))
        for d in answer['drop_reasons']
    ]
    return _table_or('nothing', ('REASON', '>DROPPED', 'MEANING'), rows)


def _guard(guard):
    text = f'{_str(guard, "state")} for {_age(guard, "since_seconds")}'
    if guard.get('other') is not None:
        text += f', other node on this LAN: {_node(guard, "other", "other_name")}'
    if guard.get('local_loop'):
        text += ', LOCAL LOOP: own frames come back'
    return text


def _head(answer):
    """What an operator asks first, one line each."""
    memory = answer['memory']
    offloads = answer['offloads']
    yield (
        'node',
        (
            f'{_node(answer, "node_id", "name")}, '
            f'leond {_str(answer, "daemon_version")}, '
            f'up {_age(answer, "uptime_seconds")}'
        ),
    )
    yield (
        'interface',
        (
            f'{_str(answer, "interface")}, MAC {_str(answer, "mac")}, '
            f'MTU {_str(answer, "interface_mtu")} '
            f'({_str(answer, "interface_mtu_source")})'
            + (', port of a bridge' if answer.get('bridge_port') else '')
        ),
    )
    yield (
        'overlay',
        (
            f'VNI {_str(answer, "vni")}, UDP port {_str(answer, "port")}, '
            + ('pre-shared' if answer.get('authenticated') else 'NO pre-shared')
            + ' secret'
        ),
    )
    yield 'workers', _str(answer, 'workers')
    yield (
        'offloads',
        ' '.join(
            f'{name} {"on" if offloads.get(name) else "off"}'
            for name in ('tso', 'uso', 'udp_gso', 'udp_gro')
        ),
    )
    yield 'loop guard', _guard(answer['loop_guard'])
    yield (
        'memory',
        (
            f'{_bytes(memory, "resident_bytes")} resident, '
            f'{_bytes(memory, "reassembly_bytes")} in reassembly'
        ),
    )
    yield (
        'tables',
        (
            f'{_str(memory, "nodes")} of {_str(memory, "nodes_maximum")} nodes, '
            f'{_str(memory, "fdb_entries")} of {_str(memory, "fdb_maximum")} FDB '
            f'entries, {_str(memory, "neighbors")} neighbors'
        ),
    )
    yield 'counted since', f'{_age(answer, "counted_seconds")} ago'


def _statistics(answer):
    return '\n'.join(
        [f'{key:<16}{value}' for key, value in _head(answer)]
        + ['', 'Packet path', _counters(answer['counters'])]
        + ['', 'Dropped', _drops(answer)]
        + ['', 'Control messages', _counters(answer['control'])]
    )


def _candidates(answer):
    titles = ('ROLE', 'PATH', '>COST', '>LATENCY', '>RELAYS COST', '>MTU')
    rows = [
        (
            ', '.join(c['roles']),
            _hops(c, _str(answer, 'source_name')),
            'down' if c.get('cost_us') is None else _us(c, 'cost_us'),
            _us(c, 'latency_us'),
            _us(c, 'relay_cost_us'),
            _str(c, 'mtu'),
        )
        for c in answer['candidates']
    ]
    return _table(titles, rows) if rows else ''


def _candidate_links(answer):
    """Every link of the candidates once."""
    titles = ('LINK', '>RTT', '>VARIATION', '>LOSS', '>LOSS COST', '>COST')
    links = {}
    for candidate in answer['candidates']:
        for link in candidate['links']:
            links.setdefault((link['from'], link['to']), link)
    rows = [
        (
            f'{_str(link, "from_name")} > {_str(link, "to_name")}',
            _us(link, 'rtt_us'),
            _us(link, 'variation_us'),
            _permille(link, 'loss_permille'),
            _us(link, 'loss_cost_us'),
            'down' if link.get('cost_us') is None else _us(link, 'cost_us'),
        )
        for link in links.values()
    ]
    return _table(titles, rows) if rows else ''


def _change(answer):
    rule = answer['thresholds']
    hold_ms = answer.get('hold_remaining_ms') or 0
    if answer.get('cost_to_beat_us') is None:
        yield 'the first path that works is taken'
    else:
        yield (
            f'another path must cost at most {_us(answer, "cost_to_beat_us")}: better '
            f'than the one in use by {_str(rule, "threshold_percent")} % and by '
            f'{_us(rule, "threshold_minimum_us")}'
        )
    if hold_ms > 0:
        yield (
            f'voluntary changes wait for another {hold_ms / 1000:.1f} s '
            f'(hold-time {rule["hold_time_ms"] / 1000:.0f} s)'
        )
    yield (
        f'at most {_str(rule, "maximum_relays")} relays, each costs '
        f'{_us(rule, "relay_cost_us")}; a broken path is left at once'
    )


def _avoided(answer):
    names = ', '.join(answer.get('avoided_names') or [])
    return (
        [f'{"avoided relays":<16}{names}: data was lost on the way through them']
        if names
        else []
    )


def _explain(answer):
    source, destination = (
        _str(answer, 'source_name'),
        _node(answer, 'destination', 'name'),
    )
    return '\n'.join(
        [
            f'From {source} to {destination}',
            f'{"in use":<16}since {_age(answer, "since_seconds")} '
            f'({_str(answer, "since")}), put in use by: {_str(answer, "chosen_by")}, '
            f'{_str(answer, "changes")} changes',
            f'{"last decision":<16}{_str(answer, "reason")}: '
            f'{_str(answer, "reason_text")}',
            *_avoided(answer),
            '',
            'Candidates',
            _candidates(answer),
            '',
            'Links (cost = RTT + variation + loss cost)',
            _candidate_links(answer),
            '',
            'To change',
            *_change(answer),
        ]
    )


def _rtt_or_error(entry):
    return (
        _us(entry, 'rtt_us')
        if entry.get('rtt_us') is not None
        else _str(entry, 'error')
    )


def _trace(answer):
    rows = [
        (_str(h, 'hop'), _str(h, 'node_id'), _str(h, 'name'), _rtt_or_error(h))
        for h in answer['hops']
    ]
    return _table(('>HOP', 'NODE-ID', 'NAME', '>RTT'), rows)


def _ping(answer):
    to = _node(answer, 'destination', 'name')
    lines = [
        f'{to}: sequence {_str(r, "sequence")}, {_rtt_or_error(r)}'
        for r in answer['replies']
    ]
    lines.append(
        f'{_str(answer, "sent")} sent, {_str(answer, "received")} received, '
        f'{_permille(answer, "loss_permille")} loss, minimum/average/maximum '
        f'{_us(answer, "min_us")} / {_us(answer, "avg_us")} / {_us(answer, "max_us")}'
    )
    return '\n'.join(lines)


def _reset_fdb(answer):
    return f'{_str(answer, "interface")}: {_str(answer, "removed")} FDB entries removed'


def _reset_statistics(answer):
    return f'{_str(answer, "interface")}: statistics count from now on'


def _reset_node(answer):
    return (
        f'{_str(answer, "interface")}: {_str(answer, "removed")} FDB entries of '
        f'{_node(answer, "node_id", "name")} removed, its link is probed'
    )


FORMATTERS = {
    'show nodes': _nodes,
    'show peers': _peers,
    'show paths': _paths,
    'show routes': _routes,
    'show ipsec': _ipsec,
    'show latency': _latency,
    'show fdb': _fdb,
    'show statistics': _statistics,
    'show events': _events,
    'show identity': _identity,
    'explain path': _explain,
    'trace': _trace,
    'ping': _ping,
    'reset fdb': _reset_fdb,
    'reset statistics': _reset_statistics,
    'reset node': _reset_node,
}


def text(command, answer):
    """Without a newline at the end."""
    return FORMATTERS[command](answer)
