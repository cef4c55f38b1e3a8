# SPDX-License-Identifier: GPL-2.0-or-later
"""Commands for an operator about intercepted connections."""
import contextlib
import socket
import time

import pytest

import accel
from accel import ENDLESS, Accelerator, Transfer, describe, metric
from lab import PATIENT, merged, wait_for
from node import LeonctlError
from test_answers import check

# A key of 0.2.0, which is ignored.
CONFIG = merged(accel.CONFIG, {'acceleration': {'power': {'slow': 1}}})
MB = 1 << 20
WITHIN = 60


def pair(lab, config=CONFIG):
    net = lab({'sites': {'a': {}, 'b': {}}, 'rtt_ms_default': 100, 'config': config}).joined()
    net.accel = {}
    return net


def accelerate(net, *names):
    for name in names or net.node:
        net.accel[name] = Accelerator(net.node[name]).start()


@pytest.fixture
def far(lab):
    net = pair(lab)
    accelerate(net)
    try:
        for node in net.node.values():
            wait_for(lambda node=node: reached(node), WITHIN, 'both accelerators are reached')
        yield net
    finally:
        print(describe(net))
    for a in net.accel.values():
        assert a.stop() in (0, -9), a.log()


def reached(node):
    return [n['reached'] for n in node.show('acceleration')['nodes']] == [True]


def shown(node, *words):
    return node.ctl('show', 'acceleration', *words)


def connections(node):
    return shown(node, 'connections')['connections']


def taken(net):
    return [shown(node)['connections'] for node in net.node.values()]


def kinds(node):
    return [e['event'] for e in node.events()]


def explain(node, *ends):
    answer = node.ctl('explain', 'connection', *ends)
    check('explain connection', answer)
    return answer['accelerator']['connections']


def assert_explained(node):
    """The answer has every check of the only connection. The far host is named first."""
    (conn,) = connections(node)
    (found,) = explain(node, conn['far'], conn['near'])
    assert {k: found[k] for k in ('near', 'far', 'state')} == {k: conn[k] for k in ('near', 'far', 'state')}
    checks = found['checks']
    assert [c['check'] for c in checks] == list(shown(node)['plain'])
    assert found['reason'] == next(c['check'] for c in checks if not c['passed'])
    (near,) = (c for c in checks if c['check'] == 'near')
    assert near['passed'] and near['unit'] == 'us' and near['value'] >= near['limit'] == 50_000
    assert explain(node, '192.0.2.1:9', '[2001:db8::1]:9') == []
    with pytest.raises(LeonctlError, match='is not ADDRESS:PORT'):
        explain(node, '192.0.2.1', '192.0.2.2:9')


def test_what_is_fast_enough_is_left_alone(lab):
    """A connection that fills the link without acceleration stays plain. After a pause, the
    connection sends less than the capacity and is intercepted."""
    slow = merged(PATIENT, {'acceleration': {'mode': 'latency', 'threshold': 50}})
    net = lab({'sites': {'a': {}, 'b': {}}, 'rtt_ms_default': 400, 'config': slow}).joined()
    net.accel = {}
    for x, y in (('a', 'b'), ('b', 'a')):
        net.wan.link(x, y, delay_us=200_000, rate_kbit=20_000, queue_us=200_000)
    a, b = net.host['a'], net.host['b']
    t = Transfer(a, b, b.ip4, down=ENDLESS)
    t.wait_more(3 * MB)
    accelerate(net)
    try:
        wait_for(lambda: [(c['state'], c['reason']) for c in connections(net.node['a'])] ==
                 [('plain', 'fast-enough')], WITHIN, 'it is left alone, and why')
        wait_for(lambda: shown(net.node['a'])['fast_enough'] == 1, WITHIN, 'it is counted')
        wait_for(lambda: metric(net.node['a'], 'accel_fast_enough') == 1, WITHIN, 'the metrics say so')
        assert taken(net) == [0, 0]
        assert_explained(net.node['a'])
        t.pause = 4
        wait_for(lambda: taken(net) == [1, 1], WITHIN, 'it is taken behind a pause')
        wait_for(lambda: [c['reason'] for c in connections(net.node['a'])] == [None], WITHIN, 'for no reason')
        t.finish(120).assert_whole()
    finally:
        print(describe(net))
        for accelerator in net.accel.values():
            accelerator.stop()


ONE_PLACE = {'mode': 'latency', 'threshold': 50, 'maximum-connections': 1}


@pytest.fixture
def one_place(lab):
    """Two sites, hosts with windows of 64 KiB, and one place for an intercepted connection."""
    net = lab({'sites': {'a': {}, 'b': {}}, 'rtt_ms_default': 100,
               'config': merged(PATIENT, {'acceleration': ONE_PLACE})}).joined()
    for host in net.host.values():
        host.namespace.sysctl('ipv4/tcp_window_scaling', 0)
    net.accel = {}
    accelerate(net)
    wait_for(lambda: all(reached(n) for n in net.node.values()), WITHIN, 'reached')
    yield net
    print(describe(net))
    for accelerator in net.accel.values():
        accelerator.stop()


def test_what_no_longer_gains_is_given_back(one_place):
    """An idle connection frees its place for a waiting connection. More traffic makes the
    connection eligible again. Finally the RTT is below the threshold."""
    net, (a, b) = one_place, (one_place.host['a'], one_place.host['b'])
    states = {}

    def state(t):
        here = f'{a.ip4}:{t.client.getsockname()[1]}'
        states.update({c['near']: (c['state'], c['reason']) for c in connections(net.node['a'])})
        return states.get(here, ('unknown', None))
    first = Transfer(a, b, b.ip4, down=ENDLESS, pause=0.05)
    wait_for(lambda: state(first)[0] == 'intercepted', WITHIN, 'it is taken')
    other = Transfer(a, b, b.ip4, down=ENDLESS, pause=0.05)
    wait_for(lambda: state(other) == ('plain', 'maximum'), WITHIN, 'there is no place for the other')
    assert state(first)[0] == 'intercepted'
    first.pause, first.block = 1, 1000
    wait_for(lambda: state(first) == ('released', 'no-benefit'), WITHIN, 'it is given back, and why')
    wait_for(lambda: state(other)[0] == 'intercepted', WITHIN, 'the other has its place')
    first.wait_more(2 * 1000)
    assert state(first) == ('released', 'no-benefit')
    other.finish(WITHIN).assert_whole()
    first.pause, first.block = 0.05, 1 << 18
    wait_for(lambda: state(first)[0] == 'intercepted', WITHIN, 'it is taken again')
    for node in net.node.values():
        node.reload(acceleration=merged(ONE_PLACE, {'threshold': 500}))
    wait_for(lambda: state(first)[0] == 'released', WITHIN, 'it is given back below the threshold')
    wait_for(lambda: taken(net) == [0, 0], WITHIN, 'nothing is taken')
    first.finish(WITHIN).assert_whole()
    assert not any(metric(n, 'accel_reset_total') for n in net.node.values())


def asks(server, client, times):
    for _ in range(times):
        for s, other, n in ((client, server, 200), (server, client, 1000)):
            s.sendall(b'x' * n)
            while n:
                n -= len(other.recv(n))


def test_hosts_that_ask_and_answer_are_left_alone(one_place):
    """Request-response traffic stays plain. With bulk data, the connection is intercepted."""
    net, (a, b) = one_place, (one_place.host['a'], one_place.host['b'])
    with b.namespace:
        listener = socket.create_server((b.ip4, 7001))

    def reason(s):
        here = f'{a.ip4}:{s.getsockname()[1]}'
        return [(c['state'], c['reason']) for c in connections(net.node['a']) if c['near'] == here]
    # A busy machine causes retransmissions, which do not count as request-response traffic.
    for _ in range(5):
        with a.namespace:
            client = socket.create_connection((b.ip4, 7001))
        server = listener.accept()[0]
        for s in (client, server):
            s.settimeout(WITHIN)
        asks(server, client, 24)
        # leon-accel updates its data periodically. The reason ends some round trips after the data.
        until = time.monotonic() + 5
        while not (left_alone := reason(client) == [('plain', 'no-benefit')]) and time.monotonic() < until:
            time.sleep(.2)
        if left_alone:
            break
        client.close()
        server.close()
    assert left_alone and taken(net) == [0, 0]
    server.setblocking(False)

    def much():
        with contextlib.suppress(BlockingIOError):
            server.send(b'y' * MB)
        with contextlib.suppress(BlockingIOError):
            client.recv(MB, socket.MSG_DONTWAIT)
        return taken(net) == [1, 1]
    wait_for(much, WITHIN, 'it is taken')
    for s in (client, server, listener):
        s.close()


def test_what_is_taken_is_shown(far):
    a, b = far.node['a'], far.node['b']
    hosts = far.host
    for host in hosts.values():
        host.namespace.sysctl('ipv4/tcp_window_scaling', 0)
    t = Transfer(hosts['a'], hosts['b'], hosts['b'].ip4, down=ENDLESS)
    wait_for(lambda: taken(far) == [1, 1], WITHIN, 'intercepted')
    enough = t.count['client'] + 8 * MB
    wait_for(lambda: t.count['client'] > enough, WITHIN, 'it flows')
    wait_for(lambda: shown(a)['in']['bytes'] > 6 * MB, WITHIN, 'it is counted')
    # The answers of two nodes belong to different moments.
    wait_for(lambda: all(c['in']['bytes'] + c['out']['bytes'] > 6 * MB for n in (a, b) for c in connections(n)),
             WITHIN, 'it is shown')
    (here,), (there,) = connections(a), connections(b)
    assert here['state'] == there['state'] == 'intercepted' and here['times_intercepted'] == 1
    assert here['near'] == there['far'] and here['near'].startswith(hosts['a'].ip4 + ':')
    assert here['far'] == there['near'] == f'{hosts["b"].ip4}:{t.server.getsockname()[1]}'
    assert here['node_id'] == b.node_id and there['node_id'] == a.node_id
    # The bytes are random, so compression saves nothing and costs little.
    assert here['in']['bytes'] > 6 * MB and here['out']['bytes'] == 0
    assert 900 < here['ratio_permille'] <= 1000
    assert abs(there['out']['bytes'] - there['out']['carried_bytes']) < there['out']['bytes'] / 50
    # 64 KiB in each round trip of 100 ms: 8 MiB take at least 12.8 s.
    assert here['time']['without_ms'] >= here['in']['bytes'] / 65536 * 95
    assert 0 < here['time']['with_ms'] <= here['time']['without_ms']
    time, energy = here['time'], here['energy']
    assert energy['without_mj'] == pytest.approx(10.1 * time['without_ms'], abs=20)
    saved = time['without_ms'] - time['with_ms']
    assert time['saved_ms'] == saved
    assert energy['with_mj'] == pytest.approx(13.6 * time['with_ms'] + saved, abs=20)
    check('show acceleration', shown(a))
    check('show acceleration connections', shown(a, 'connections'))
    assert metric(a, 'accel_up') == 1 and metric(a, 'accel_connections') == 1
    assert metric(a, 'accel_intercepted_total') == 1
    for node in (a, b):
        wait_for(lambda node=node: node.events('tcp-intercepted'), WITHIN, 'an event')
        assert [e['value'] for e in node.events('tcp-intercepted')] == [1]
    # A manual release: all connections are released and marked, and the transfer continues.
    answer = a.ctl('reset', 'acceleration')
    assert answer['connections'] == 1
    check('reset acceleration', answer)
    for node in (a, b):
        wait_for(lambda node=node: shown(node)['counted']['released'] == 1, WITHIN, 'released')
        wait_for(lambda node=node: 'tcp-released' in kinds(node), WITHIN, 'an event')
    t.finish(WITHIN).assert_whole()
    t.close()
    wait_for(lambda: taken(far) == [0, 0], WITHIN, 'none is left')
    assert metric(a, 'accel_reset_total') == 0


def open_many(a, b, n):
    """n connections from host a to host b, all at once."""
    with b.namespace:
        listener = socket.create_server((b.ip4, 7000), backlog=n)
    with a.namespace:
        clients = [socket.socket() for _ in range(n)]
    for s in clients:
        s.setblocking(False)
        s.connect_ex((b.ip4, 7000))
    listener.settimeout(WITHIN)
    servers = [listener.accept()[0] for _ in clients]
    for s in servers:
        s.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    return [listener, *clients], servers


def test_the_table_is_paged(far):
    """More than two pages of 64 connections, complete and without duplicates."""
    n = 140
    began = time.monotonic()
    others, servers = open_many(far.host['a'], far.host['b'], n)

    def all_taken():
        for s in servers:
            s.send(b'x')
        return taken(far) == [n, n]
    wait_for(all_taken, WITHIN, 'intercepted', every=0.3)
    for node in far.node.values():
        wait_for(lambda node=node: [c['state'] for c in connections(node)] == ['intercepted'] * n, WITHIN, 'all are shown')
        seen = connections(node)
        assert len({(c['near'], c['far']) for c in seen}) == len(seen) == n
        assert 'and' not in node.leonctl('show', 'acceleration', 'connections', json_output=False)
    # The number of events is limited by the seconds, not by the connections.
    wait_for(lambda: sum(e['value'] for e in far.node['a'].events('tcp-intercepted')) >= n, WITHIN, 'events')
    events = far.node['a'].events('tcp-intercepted')
    assert sum(e['value'] for e in events) == n
    assert len(events) <= time.monotonic() - began + 2 and len(events) < n
    for s in [*others, *servers]:
        s.close()


def test_off(lab):
    net = pair(lab, PATIENT)
    a = net.node['a']
    assert shown(a)['state'] == shown(a, 'connections')['state'] == 'off'
    with pytest.raises(LeonctlError, match='not configured'):
        a.ctl('reset', 'acceleration')
    assert metric(a, 'accel_up') is None


def test_switched_off_while_a_host_does_not_read(far):
    """A connection with data that the host has not read stays intercepted until the host reads."""
    a, hosts = far.node['a'], far.host
    t = Transfer(hosts['a'], hosts['b'], hosts['b'].ip4, up=ENDLESS)
    wait_for(lambda: taken(far) == [1, 1], WITHIN, 'it is intercepted')
    t.reading.clear()
    wait_for(lambda: shown(a)['undelivered_bytes'] > MB, WITHIN, 'the host does not read')
    a.reload(acceleration=None)
    assert shown(a)['state'] == shown(a, 'connections')['state'] == 'releasing'
    assert 'leon-accel releases the intercepted connections' in a.leonctl(
        'show', 'acceleration', json_output=False)
    t.reading.set()
    wait_for(lambda: shown(a)['state'] == 'off', WITHIN, 'it is released')
    t.finish(60).assert_whole()
    assert 'accelerator-gone' not in kinds(a)


def test_gone_and_back(lab):
    net = pair(lab)
    a = net.node['a']
    assert shown(a)['state'] == shown(a, 'connections')['state'] == 'absent'
    assert connections(a) == []
    with pytest.raises(LeonctlError, match='does not run'):
        a.ctl('reset', 'acceleration')
    assert metric(a, 'accel_up') == 0
    accelerate(net)
    wait_for(lambda: all(reached(n) for n in net.node.values()), WITHIN, 'reached')
    wait_for(lambda: {'accelerator-started', 'accelerator-reached'} <= set(kinds(a)), WITHIN, 'it is told of')
    net.accel['b'].kill()
    wait_for(lambda: 'accelerator-lost' in kinds(a), WITHIN, 'a lost that of b')
    wait_for(lambda: 'accelerator-gone' in kinds(net.node['b']), WITHIN, 'b lost its own')
    wait_for(lambda: shown(net.node['b'])['state'] == 'absent' and not reached(a), WITHIN, 'it is shown')
    accelerate(net, 'b')
    wait_for(lambda: reached(a) and reached(net.node['b']), WITHIN, 'all is as before')
    for one in net.accel.values():
        assert one.stop() == 0
