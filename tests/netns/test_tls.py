# SPDX-License-Identifier: GPL-2.0-or-later
"""Links over TLS if UDP is blocked (doc/operations.md, TLS where UDP is blocked)."""
import hashlib
import os
import re
import shutil
import signal
import socket
import ssl
import statistics
import subprocess
import threading
import time

import pytest

import wan
from lab import line_up, wait_for
from node import PATIENCE
from test_export import address, kernel, states
from test_status import status, wait_note
from traffic import Bulk
from wan import block_udp, pass_udp

TLS_PORT = 443
SERVER = {'transport': {'tls': {'listen-port': TLS_PORT}}}


def client(*peers):
    return {'transport': {'tls': {}}, 'peer': {p: {'tls-port': TLS_PORT} for p in peers}}


def pair(lab, server=None, **keys):
    """n0 accepts TLS, and n1 connects to n0."""
    return lab({'sites': {'n0': {'config': server or SERVER}, 'n1': {'config': client('n0')}},
                'seeds': ['n0'], **keys}, start=False)


def transport(node, name):
    return {p['name']: p for p in node.show('peers')['peers']}[name]['transport']


def transport_of(node, other):
    return node.nodes().get(other.node_id, {}).get('transport')


def wait_transport(a, b, want, within=10):
    wait_for(lambda: transport_of(a, b) == want and transport_of(b, a) == want, within,
             f'link {a.name} to {b.name} uses {want}')


def tls_state(node, name):
    return {p['name']: p for p in node.show('peers')['peers']}[name]['tls_state']


def changes(node):
    return [e['text'] for e in node.events('link-transport')]


def hosts_transfer(net, a, b, size=8 << 20, within=60):
    """Sends random bytes over TCP from the host of a to the host of b; both ends hash them."""
    net.settle_hosts(a, b)
    source, far = net.host[a], net.host[b]
    with far.namespace:
        listener = socket.create_server(('0.0.0.0', 40200))
    with source.namespace:
        sender = socket.create_connection((far.ip4, 40200), timeout=within)
    receiver = listener.accept()[0]
    receiver.settimeout(within * PATIENCE)
    data = os.urandom(1 << 20) * (size >> 20)
    thread = threading.Thread(target=lambda: (sender.sendall(data), sender.close()))
    thread.start()
    digest, total = hashlib.sha256(), 0
    while chunk := receiver.recv(1 << 16):
        digest.update(chunk)
        total += len(chunk)
    thread.join()
    receiver.close()
    listener.close()
    assert (total, digest.digest()) == (size, hashlib.sha256(data).digest())


def test_joins_without_udp(lab):
    net = pair(lab)
    block_udp(net.node['n1'])
    begin = time.monotonic()
    net.start()
    net.joined()
    print(f'joined after {time.monotonic() - begin:.1f} s')
    assert transport(net.node['n1'], 'n0') == 'tls'
    wait_transport(net.node['n0'], net.node['n1'], 'tls')
    shown = net.node['n1'].nodes()[net.node['n0'].node_id]
    assert shown['endpoint'] == f'{wan.ip4(0)}:{TLS_PORT}'
    assert '(TLS)' in net.node['n1'].leonctl('show', 'nodes', json_output=False)
    wait_note(net.node['n1'], 'over-tls', 'peer n0 is reached over TLS')
    for a, b in (('n0', 'n1'), ('n1', 'n0')):
        hosts_transfer(net, a, b)


def test_a_node_without_the_transport_is_not_affected(lab):
    net = lab(line_up(2, hosts=False)).joined()
    assert transport(net.node['n1'], 'n0') == 'udp'
    pid = net.node['n0'].process.pid
    with open(f'/proc/{pid}/task/{pid}/children', encoding='ascii') as f:
        assert not f.read().split()
    assert not net.node['n0'].namespace.run('ss', '-Hlnt').stdout.strip()


def test_udp_comes_back_without_a_lost_frame(lab):
    net = pair(lab)
    a, b = net.node['n0'], net.node['n1']
    block_udp(b)
    net.start()
    net.joined()
    wait_transport(a, b, 'tls')
    streams = net.streams('n0', 'n1')
    for stream in streams:
        stream.arrived(200)
    pass_udp(b)
    wait_transport(a, b, 'udp')
    for stream in streams:
        stream.arrived(200)
    for stream in streams:
        stream.stop_whole()
    assert tls_state(b, 'n0') == 'connected'
    for node in (a, b):
        wait_for(lambda: changes(node)[-1:] and 'UDP' in changes(node)[-1], 5, 'event')
    # The link changes to the backup transport.
    block_udp(b)
    wait_transport(a, b, 'tls')
    net.settle_hosts('n0', 'n1')
    wait_for(lambda: 'TLS' in changes(b)[-1], 5, 'event')


def test_udp_fails_in_service(lab):
    net = pair(lab)
    a, b = net.node['n0'], net.node['n1']
    net.start()
    net.joined()
    wait_transport(a, b, 'udp')
    assert tls_state(b, 'n0') == 'idle'
    block_udp(b)
    wait_transport(a, b, 'tls', 20)
    net.settle_hosts('n0', 'n1')


def test_bulk_on_a_slow_line_delays_pings_by_little(lab):
    """The backlog of a slow connection is bounded in time, not in bytes."""
    net = pair(lab)
    a, b = net.node['n0'], net.node['n1']
    block_udp(b)
    for node in (a, b):
        node.namespace.ip('link set wan0 mtu 1500')
    net.wan.both('*', '*', delay_us=10 * wan.MS, rate_kbit=2000, queue_us=50 * wan.MS)
    net.start()
    net.joined(60)
    wait_transport(a, b, 'tls')
    net.settle_hosts('n1', 'n0')
    host, far = net.host['n1'], net.host['n0']
    # Reno fills each queue. BBR, the default of some hosts, does not.
    host.namespace.sysctl('ipv4/tcp_congestion_control', 'reno')
    bulk = Bulk(host.namespace, far.namespace, far.ip4)

    def median():
        out = host.namespace.run('ping', '-n', '-i', '0.1', '-c', '60', far.ip4, check=False).stdout
        return statistics.median([float(t) for t in re.findall(r'time=([\d.]+)', out)] or [1e9])
    try:
        wait_for(lambda: bulk.received > 1 << 19, 30, 'TCP runs')
        # At most 20 ms on the line, a queue of 50 ms on the line, and 20 ms in leon-tls and its
        # socket. A busy machine adds its own delay for seconds, a backlog for as long as the bulk
        # lasts.
        wait_for(lambda: median() < 100, 60, 'the bulk delays pings by little')
    finally:
        bulk.stop()


def beside_a_relay(lab):
    """n0 and n1 lose UDP between them only. TLS is slower than the relay n2."""
    net = lab({'sites': {'n0': {'config': SERVER}, 'n1': {'config': client('n0', 'n2')},
                         'n2': {'config': SERVER}},
               'seeds': ['n0', 'n2'], 'hosts': False, 'rtt_ms_default': 10,
               'rtt_ms': {('n0', 'n1'): 40, ('n1', 'n2'): 10, ('n0', 'n2'): 10}}, start=False)
    a, b = net.node['n0'], net.node['n1']
    for node, other in ((a, 1), (b, 0)):
        node.namespace.run('nft', '-f', '-', input=f'''
            table netdev no-udp {{
                chain from {{
                    type filter hook ingress device "wan0" priority 0
                    ip saddr {wan.ip4(other)} meta l4proto udp drop
                }}
            }}''')
    net.start()
    net.joined()
    wait_transport(a, b, 'tls', 20)
    net.wait_path('n1', 'n0', ['n2', 'n0'])
    return net, a, b


def test_relays_with_udp_are_preferred(lab):
    net, _, b = beside_a_relay(lab)
    assert transport(b, 'n2') == 'udp'


def test_a_broken_connection_is_replaced_beside_a_relay(lab):
    """The relay keeps the session, so no handshake brings the link back."""
    _, a, b = beside_a_relay(lab)
    for node in (b, a):
        os.kill(tls_pid(node), signal.SIGKILL)
        wait_for(lambda: transport(b, 'n0') is None, 10, 'noticed')
        wait_for(lambda: transport(b, 'n0') == 'tls', 40, 'connected again')


def test_other_members_are_reached_through_relays(lab):
    net = lab({'sites': {'n0': {'config': SERVER}, 'n1': {'config': client('n0')}, 'n2': {}},
               'seeds': ['n0']}, start=False)
    block_udp(net.node['n1'])
    net.start()
    net.joined()
    net.wait_path('n1', 'n2', ['n0', 'n2'])
    hosts_transfer(net, 'n1', 'n2')


IMPORT = {'overlay-address': ['10.99.0.1'], 'import': {'prefix': {'0.0.0.0/0': {'le': 32}}}}


def exporting(*prefixes):
    return {'overlay-address': ['10.99.0.2'], 'export': {
        'unconditional': {}, 'prefix': [*prefixes, '203.0.113.0/24']}}


def is_not_swallowed(net, prefix, importer, exporter):
    address(net, importer)
    net.joined()
    node = net.node[importer]
    wait_for(lambda: '203.0.113.0/24' in kernel(node), 10, 'the other prefix is a route')
    wait_for(lambda: states(node)[(prefix, net.node[exporter].node_id)] == 'underlay', 5, 'refused')
    assert prefix not in kernel(node)


def test_an_imported_prefix_does_not_swallow_the_connection(lab):
    """n1 announces the network of its own underlay address, which n0 knows from TCP only."""
    net = pair(lab, {**SERVER, **IMPORT}, hosts=False)
    a, b = net.node['n0'], net.node['n1']
    b.config.update(exporting('198.18.0.0/16'))
    block_udp(b)
    net.start()
    is_not_swallowed(net, '198.18.0.0/16', 'n0', 'n1')
    assert transport_of(a, b) == 'tls'


def test_an_imported_prefix_does_not_swallow_the_proxy(lab):
    net = pair(lab, {**SERVER, **exporting(f'{wan.ip4(2)}/32')}, hosts=False)
    net.node['n1'].config.update(IMPORT, transport={'tls': {'proxy': f'http://{wan.ip4(2)}'}})
    net.start()
    is_not_swallowed(net, f'{wan.ip4(2)}/32', 'n1', 'n0')


def test_both_ends_begin_a_connection(lab):
    config = {'transport': {'tls': {'listen-port': TLS_PORT}}}
    net = lab({'sites': {name: {'config': {**config, 'peer': {other: {'tls-port': TLS_PORT}}}}
                         for name, other in (('n0', 'n1'), ('n1', 'n0'))}}, start=False)
    a, b = net.node['n0'], net.node['n1']
    block_udp(b)
    net.start()
    net.joined()
    wait_transport(a, b, 'tls')
    # Both connections are up, and the link stays with one.
    wait_for(lambda: (tls_state(a, 'n1'), tls_state(b, 'n0')) == ('connected', 'connected'), 20, 'both')
    stream = net.stream('n0', 'n1')
    before = len(changes(a) + changes(b))
    stream.arrived(400)
    stream.stop_whole()
    assert len(changes(a) + changes(b)) == before


def test_ipv6_and_large_frames(lab):
    net = pair(lab, underlay='v6')
    a, b = net.node['n0'], net.node['n1']
    block_udp(b)
    net.start()
    net.joined()
    wait_transport(a, b, 'tls')
    assert b.nodes()[a.node_id]['endpoint'] == f'[{wan.ip6(0)}]:{TLS_PORT}'
    # TCP carries datagrams of any size, so a frame of 1500 bytes is not split.
    wait_for(lambda: b.nodes()[a.node_id]['link_mtu'] >= 1552, 20, 'MTU')
    net.settle_hosts('n0', 'n1')
    wait_for(lambda: net.host['n0'].ping(net.host['n1'].ip4, size=1472, within=3,
                                         forbid_fragments=True), 30, 'a full frame')
    pass_udp(b)
    wait_transport(a, b, 'udp')
    assert b.nodes()[a.node_id]['link_mtu'] <= 1452
    hosts_transfer(net, 'n0', 'n1')


def tls_pid(node):
    pid = node.process.pid
    with open(f'/proc/{pid}/task/{pid}/children', encoding='ascii') as f:
        return int(f.read().split()[0])


@pytest.mark.parametrize('name', ['n0', 'n1'])
def test_one_end_restarts(lab, name):
    net = pair(lab)
    block_udp(net.node['n1'])
    net.start()
    net.joined()
    before = net.lives(name)
    net.restart(name)
    net.back(name, before)
    wait_transport(net.node['n0'], net.node['n1'], 'tls', 20)
    net.settle_hosts('n0', 'n1')


@pytest.mark.parametrize('name', ['n0', 'n1'])
def test_the_program_dies(lab, name):
    net = pair(lab)
    block_udp(net.node['n1'])
    net.start()
    net.joined()
    net.settle_hosts('n0', 'n1')
    os.kill(tls_pid(net.node[name]), signal.SIGKILL)
    wait_for(lambda: transport(net.node['n1'], 'n0') is None, 10, 'noticed')
    wait_for(lambda: 'leon-tls ended' in net.node[name].log(), 10, 'logged')
    wait_for(lambda: transport(net.node['n1'], 'n0') == 'tls', 30, 'connected again')
    net.settle_hosts('n0', 'n1')
    assert net.node[name].alive()


def test_the_other_end_vanishes(lab):
    net = pair(lab)
    block_udp(net.node['n1'])
    net.start()
    net.joined()
    net.wan.isolate('n0')
    wait_for(lambda: transport(net.node['n1'], 'n0') is None, 20, 'noticed')
    net.wan.isolate('n0', up=True)
    wait_for(lambda: transport(net.node['n1'], 'n0') == 'tls', 40, 'connected again')


def test_a_named_peer_is_dialed_again_after_a_reload(lab, tmp_path):
    """A reload keeps the addresses of the name of a reached peer."""
    net = pair(lab, hosts=False)
    b = net.node['n1']
    hosts = tmp_path / 'hosts'
    hosts.write_text(f'127.0.0.1 localhost\n{wan.ip4(0)} tokyo.leon.example\n')
    b.prepare = b.namespace.bind_over(str(hosts), '/etc/hosts')
    named = {'n0': {'address': 'tokyo.leon.example', 'tls-port': TLS_PORT}}
    b.config['peer'] = named
    block_udp(b)
    net.start()
    net.joined()
    # leond resolves the name until its periodic check finds the peer reached.
    wait_for(lambda: b.show('peers')['peers'][0]['since_seconds'] >= 10, 40, 'reached for a while')
    b.reload(peer={**named, 'other': {'address': '198.18.99.99'}})
    os.kill(tls_pid(net.node['n0']), signal.SIGKILL)
    wait_for(lambda: transport(b, 'n0') is None, 10, 'noticed')
    wait_for(lambda: transport(b, 'n0') == 'tls', 40, 'connected again')
    del named['n0']['tls-port']
    b.reload(peer=named)
    assert len(b.show('peers')['peers'][0]['addresses']) == 1, 'the connection is closed'


def test_settings_are_reloaded(lab):
    net = pair(lab, hosts=False)
    a, b = net.node['n0'], net.node['n1']
    block_udp(b)
    net.start()
    net.joined()
    wait_transport(a, b, 'tls')
    a.reload(transport={'tls': {'listen-port': 8443}})
    b.reload(peer={'n0': {'address': wan.ip4(0), 'tls-port': 8443}})
    wait_for(lambda: (b.nodes()[a.node_id]['endpoint'] or '').endswith(':8443'), 30, 'other port')
    wait_transport(a, b, 'tls')
    answer = b.reload(transport=None, peer={'n0': {'address': wan.ip4(0)}})
    assert 'transport.tls' in str(answer), answer


# --- strangers ---

def server(lab):
    """A node that accepts TLS, and a machine outside the overlay."""
    net = pair(lab, hosts=False, strangers=['stranger'])
    net.start()
    net.joined()
    wait_for(lambda: net.node['n0'].namespace.run('ss', '-Hlnt').stdout.strip(), 10, 'listens')
    return net, net.node['n0'], net.stranger['stranger']


def connect(stranger, timeout=5):
    with stranger:
        return socket.create_connection((wan.ip4(0), TLS_PORT), timeout=timeout)


def over_tls(raw):
    context = ssl.create_default_context()
    context.check_hostname, context.verify_mode = False, ssl.CERT_NONE
    return context.wrap_socket(raw)


def counts(node):
    return node.statistics()['tls']


def open_streams(node):
    return node.statistics()['tls']['connections']


def test_a_stranger_meets_a_tls_server(lab):
    net, node, stranger = server(lab)
    seen = stranger.run('openssl', 's_client', '-connect', f'{wan.ip4(0)}:{TLS_PORT}', '-alpn',
                        'h2,http/1.1', input='', timeout=20)
    text = seen.stdout + seen.stderr
    assert 'ALPN protocol: http/1.1' in text and re.search('CN ?= ?localhost', text), text
    for word in ('leon', 'n0'):
        assert word not in text.lower().split(), text


@pytest.mark.parametrize('said', [
    b'GET / HTTP/1.1\r\nHost: x\r\n\r\n',   # a length of 18245 bytes
    b'\0\0\0\0',                            # a frame without bytes
    b'\0\4\0\1abcd',                        # the reserved byte is not 0
    b'\xff\xff\0\0' + bytes(70000),
], ids=['http', 'empty', 'reserved', 'long'])
def test_garbage_ends_the_connection(lab, said):
    net, node, stranger = server(lab)
    with over_tls(connect(stranger)) as link:
        link.sendall(said)
        link.settimeout(20)
        assert link.recv(100) == b''
    assert node.alive() and net.node['n1'].alive()


def test_frames_of_a_stranger_get_no_answer(lab):
    net, node, stranger = server(lab)
    with over_tls(connect(stranger)) as link:
        for size in (1, 100, 1400, 9216):
            link.sendall(size.to_bytes(2, 'big') + b'\0\0' + os.urandom(size))
        # A header of LEON with this VNI, and bytes that do not open.
        link.sendall((200).to_bytes(2, 'big') + b'\0\0' + bytes.fromhex('1401000100000001') + os.urandom(192))
        link.settimeout(60)
        begin = time.monotonic()
        assert link.recv(100) == b''
        assert time.monotonic() - begin >= 5  # its time as a stranger, less the age of a tick
    wait_for(lambda: counts(node)['expired'] >= 1, 10, 'expired')
    assert node.drops()


def test_a_stranger_may_not_send_much(lab):
    net, node, stranger = server(lab)
    frame = (9000).to_bytes(2, 'big') + b'\0\0' + bytes(9000)
    with over_tls(connect(stranger, 60)) as link:
        with pytest.raises(OSError):
            for _ in range(100000):
                link.sendall(frame)
    # The limit of bytes applies, not the limit of time.
    wait_for(lambda: counts(node)['expired'] == 1, 2, 'counted')


def test_slow_handshakes_hold_nothing(lab):
    net, node, stranger = server(lab)
    block_udp(net.node['n1'])
    links = [connect(stranger) for _ in range(6)]
    for link in links[:3]:
        link.sendall(b'\x16\3\1')  # the first bytes of a ClientHello
    # A member joins at the same time.
    wait_transport(node, net.node['n1'], 'tls', 30)
    for link in links:
        link.settimeout(60)
        assert link.recv(100) == b''
        link.close()
    wait_for(lambda: open_streams(node) == 1, 10, 'nothing is left')


def test_many_connections(lab):
    net, node, stranger = server(lab)
    block_udp(net.node['n1'])
    wait_transport(node, net.node['n1'], 'tls', 30)
    # From many addresses, each with a separate share.
    addresses = [f'198.18.77.{i}' for i in range(1, 101)]
    stranger.ip(*(f'addr add {a}/32 dev wan0' for a in addresses))
    links = []
    with open(f'/proc/{tls_pid(node)}/status', encoding='ascii') as f:
        before = int(re.search(r'VmRSS:\s+(\d+)', f.read())[1])
    try:
        for i in range(10000):
            with stranger:
                link = socket.socket()
            link.setblocking(False)
            link.bind((addresses[i % len(addresses)], 0))
            link.connect_ex((wan.ip4(0), TLS_PORT))
            links.append(link)
            if len(links) > 2000:
                links.pop(0).close()
        pid = tls_pid(node)
        with open(f'/proc/{pid}/status', encoding='ascii') as f:
            after = int(re.search(r'VmRSS:\s+(\d+)', f.read())[1])
        assert len(os.listdir(f'/proc/{pid}/fd')) < 100
        # 10,000 connections without a limit would need ten times as much.
        assert after - before < 64 << 10, f'{before} to {after} KiB'
        assert transport_of(node, net.node['n1']) == 'tls'
    finally:
        for link in links:
            link.close()
    wait_for(lambda: counts(node)['accepted'] > 10, 10, 'accepted some')
    # Places for members again.
    before = net.lives('n1')
    net.restart('n1')
    net.back('n1', before, 60)
    wait_transport(node, net.node['n1'], 'tls', 40)


def is_closed(link):
    link.setblocking(False)
    try:
        return link.recv(1) == b''
    except BlockingIOError:
        return False
    except ConnectionError:
        return True


def test_a_full_share_does_not_lock_members_out(lab):
    """Strangers and a member share an address, as behind a NAT or a proxy in front of leond."""
    net, node, _ = server(lab)
    member, done = net.node['n1'], threading.Event()

    def hold():
        links = [connect(member.namespace) for _ in range(8)]
        while not done.wait(0.1):
            for i, link in enumerate(links):
                if is_closed(link):
                    link.close()
                    links[i] = connect(member.namespace)
        for link in links:
            link.close()
    thread = threading.Thread(target=hold)
    thread.start()
    try:
        block_udp(member)
        net.restart('n1')
        wait_transport(node, member, 'tls', 60)
    finally:
        done.set()
        thread.join()


def test_a_renewed_certificate_is_presented(lab, tmp_path):
    certificate, key = tmp_path / 'tls.crt', tmp_path / 'tls.key'
    tls = {'listen-port': TLS_PORT, 'certificate': str(certificate), 'private-key': str(key)}
    net = pair(lab, {'transport': {'tls': tls}}, hosts=False, strangers=['stranger'])
    a, b = net.node['n0'], net.node['n1']

    def renew():
        a.namespace.run('openssl', 'req', '-x509', '-newkey', 'ec', '-pkeyopt',
                        'ec_paramgen_curve:P-256', '-nodes', '-subj', '/CN=www.leon.example',
                        '-keyout', key, '-out', certificate, '-days', '2')
        return ssl.PEM_cert_to_DER_cert(certificate.read_text())

    def presented():
        with over_tls(connect(net.stranger['stranger'])) as link:
            return link.getpeercert(binary_form=True)
    first = renew()
    block_udp(b)
    net.start()
    net.joined()
    wait_transport(a, b, 'tls')
    before = tls_pid(a), changes(b)
    assert presented() == first
    second = renew()
    a.reload()
    wait_for(lambda: presented() == second, 10, 'the new certificate')
    # Files that do not belong together.
    key.write_text('')
    a.reload()
    wait_for(lambda: 'the present certificate stays' in a.log(), 10, 'logged')
    assert presented() == second
    assert (tls_pid(a), changes(b)) == before, 'the connection of the member stays'


def test_a_certificate_that_cannot_be_used_ends_no_link(lab):
    net = pair(lab, hosts=False)
    a, b = net.node['n0'], net.node['n1']
    block_udp(b)
    net.start()
    net.joined()
    for node, keys in ((a, SERVER), (b, client('n0'))):
        tls = {**keys['transport']['tls'], 'certificate': '/none.crt', 'private-key': '/none.key'}
        node.reload(transport={'tls': tls})
        wait_for(lambda n=node: 'the present certificate stays' in n.log(), 10, 'logged')
    wait_transport(a, b, 'tls', 40)


# --- proxy ---

class Proxy:
    """An HTTP proxy with the method CONNECT only."""

    def __init__(self, namespace, port=3128, status='200 OK', login=None, names=None):
        self.requests, self.status, self.login, self.names = [], status, login, names or {}
        with namespace:
            self.listener = socket.create_server(('0.0.0.0', port))
        self.namespace = namespace
        threading.Thread(target=self._run, daemon=True).start()

    def _run(self):
        while True:
            try:
                client_side = self.listener.accept()[0]
            except OSError:
                return
            threading.Thread(target=self._serve, args=(client_side,), daemon=True).start()

    def _serve(self, near):
        head = b''
        while b'\r\n\r\n' not in head:
            head += near.recv(1)
        self.requests.append(head.decode())
        status = self.status
        if self.login and f'Basic {self.login}' not in head.decode():
            status = '407 Proxy Authentication Required'
        host, port = head.split()[1].decode().rsplit(':', 1)
        if not status.startswith('200'):
            near.sendall(f'HTTP/1.1 {status}\r\n\r\n'.encode())
            near.close()
            return
        with self.namespace:
            far = socket.create_connection((self.names.get(host, host).strip('[]'), int(port)))
        near.sendall(f'HTTP/1.1 {status}\r\nVia: test\r\n\r\n'.encode())
        for a, b in ((near, far), (far, near)):
            threading.Thread(target=self._copy, args=(a, b), daemon=True).start()

    @staticmethod
    def _copy(a, b):
        try:
            while data := a.recv(1 << 16):
                b.sendall(data)
        except OSError:
            pass
        for s in (a, b):
            try:
                s.shutdown(socket.SHUT_RDWR)
            except OSError:
                pass

    def close(self):
        self.listener.close()


def behind_proxy(lab, url):
    net = pair(lab, strangers=['proxy'], hosts=False)
    inner = net.node['n1']
    inner.config['transport'] = {'tls': {'proxy': url}}
    # The network passes only connections to the proxy.
    inner.namespace.run('nft', '-f', '-', input=f'''
        table netdev no-udp {{
            chain to {{
                type filter hook egress device "wan0" priority 0
                ip daddr != {wan.ip4(2)} drop
                meta l4proto != tcp drop
            }}
        }}''')
    return net, net.stranger['proxy']


def test_through_a_proxy(lab):
    net, machine = behind_proxy(lab, f'http://anna:secret@{wan.ip4(2)}:3128')
    proxy = Proxy(machine, login='YW5uYTpzZWNyZXQ=')
    try:
        net.start()
        net.joined()
        wait_transport(net.node['n0'], net.node['n1'], 'tls')
        assert proxy.requests[0].startswith(f'CONNECT {wan.ip4(0)}:{TLS_PORT} HTTP/1.1\r\n')
    finally:
        proxy.close()


def test_a_peer_whose_name_only_the_proxy_knows(lab):
    net, machine = behind_proxy(lab, f'http://{wan.ip4(2)}:3128')
    proxy = Proxy(machine, names={'tokyo.leon.example': wan.ip4(0)})
    inner = net.node['n1']
    inner.config['peer'] = {'n0': {'address': 'tokyo.leon.example', 'tls-port': TLS_PORT}}
    try:
        net.start()
        wait_transport(net.node['n0'], inner, 'tls', 30)
        wait_for(lambda: inner.events('peer-unresolved'), 20, 'the resolver has answered')
        time.sleep(2 * PATIENCE)  # the state of peers follows within 2 s
        before = len(inner.events('peer-unresolved'))
        peer = dict(inner.config['peer']['n0'], description='Tokyo')
        inner.reload(peer={'n0': peer})
        time.sleep(3)  # time for the resolver
        assert len(inner.events('peer-unresolved')) == before, 'the peer is reached'
        inner.reload(peer={'n0': {'address': 'tokyo.leon.example'}})
        assert inner.show('peers')['peers'][0]['addresses'] == [], 'the connection is closed'
    finally:
        proxy.close()


def test_a_proxy_that_refuses_is_named(lab):
    net, machine = behind_proxy(lab, f'http://{wan.ip4(2)}')
    proxy = Proxy(machine, status='403 Forbidden')
    try:
        net.start()

        def reason():
            return net.node['n1'].show('peers')['peers'][0]['tls_reason']
        wait_for(lambda: reason() == 'the proxy answers 403', 20, 'reason')
        wait_for(lambda: [p for p in status(net.node['n1'])[1]['problems']
                          if p['why'].endswith('; TLS failed: the proxy answers 403')], 30, 'a finding')
    finally:
        proxy.close()


@pytest.mark.skipif(not shutil.which('tinyproxy'), reason='tinyproxy is not installed')
def test_through_tinyproxy(lab, tmp_path):
    net, machine = behind_proxy(lab, f'http://{wan.ip4(2)}:8888')
    config = tmp_path / 'tinyproxy.conf'
    config.write_text('Port 8888\nTimeout 600\nMaxClients 10\nConnectPort 443\nLogLevel Error\n')
    process = machine.start('tinyproxy', '-d', '-c', config, stdout=subprocess.DEVNULL)
    try:
        net.start()
        net.joined()
        wait_transport(net.node['n0'], net.node['n1'], 'tls')
    finally:
        process.kill()
        process.wait()


HAPROXY = """
defaults
    mode tcp
    timeout connect 5s
    timeout client 1h
    timeout server 1h
frontend https
    bind :443
    tcp-request inspect-delay 5s
    tcp-request content accept if { req.ssl_hello_type 1 }
    use_backend leon if { req.ssl_sni -i tokyo.leon.example }
    default_backend web
backend leon
    server leond %s:8443
backend web
    server web 127.0.0.1:8444
"""


@pytest.mark.skipif(not shutil.which('haproxy'), reason='haproxy is not installed')
def test_beside_a_web_server(lab, tmp_path):
    """haproxy has port 443, and distributes connections by the name in the ClientHello."""
    server = {'transport': {'tls': {'listen-port': 8443}}}
    net = pair(lab, server)
    inner, outer = net.node['n1'], net.node['n0']
    inner.config['peer'] = {'n0': {'address': 'tokyo.leon.example', 'tls-port': 443}}
    hosts, config = tmp_path / 'hosts', tmp_path / 'haproxy.cfg'
    hosts.write_text(f'127.0.0.1 localhost\n{wan.ip4(0)} tokyo.leon.example www.leon.example\n')
    inner.prepare = inner.namespace.bind_over(str(hosts), '/etc/hosts')
    config.write_text(HAPROXY % wan.ip4(0))
    key, page = tmp_path / 'web.pem', tmp_path / 'index.html'
    outer.namespace.run('openssl', 'req', '-x509', '-newkey', 'ec', '-pkeyopt',
                        'ec_paramgen_curve:P-256', '-nodes', '-subj', '/CN=www.leon.example',
                        '-keyout', key, '-out', key, '-days', '2')
    page.write_text('the web page')
    started = [outer.namespace.start('haproxy', '-db', '-f', config),
               outer.namespace.start('openssl', 's_server', '-quiet', '-accept', '8444', '-cert',
                                     key, '-key', key, '-WWW', cwd=tmp_path,
                                     stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)]
    try:
        block_udp(inner)
        net.start()
        net.joined()
        wait_transport(outer, inner, 'tls')
        hosts_transfer(net, 'n1', 'n0')

        def web():
            return inner.namespace.run('curl', '-sk', '--resolve',
                                       f'www.leon.example:443:{wan.ip4(0)}',
                                       'https://www.leon.example/index.html', check=False).stdout
        wait_for(lambda: 'the web page' in web(), 20, 'the web server answers')
    finally:
        for process in started:
            process.kill()
            process.wait()
