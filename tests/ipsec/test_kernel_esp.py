# SPDX-License-Identifier: GPL-2.0-or-later
"""IPsec on a kernel with ESP: transport mode, trap policies and the guard. `make check-ipsec` runs
the tests in a virtual machine (tests/vm/run.py). Skipped on a kernel without ESP.

Every test captures all packets that leave a site. No LEON datagram may be outside ESP, and no ICMP
error may quote a LEON datagram.
"""
import contextlib
import os
import signal
import subprocess
import time

import pytest

from conftest import FAILED
from strongswan import Ear, Protection, SECRET
import wan
from lab import Lab, merged, wait_for
from traffic import Stream

SITES = ('a', 'b', 'c')
FAR = 90  # seconds, because the virtual machine is emulated


def kernel_has_esp():
    words = 'xfrm state add src 127.0.0.1 dst 127.0.0.1 proto esp spi 0x100 mode transport aead ' \
            'rfc4106(gcm(aes)) 0x0102030405060708090a0b0c0d0e0f1011121314 128'
    return subprocess.run(['ip', *words.split()], capture_output=True, check=False).returncode == 0


pytestmark = pytest.mark.skipif(not kernel_has_esp(), reason='this kernel has no ESP')

TOPOLOGY = {
    'sites': {name: {} for name in SITES}, 'rtt_ms_default': 20,
    # An emulated machine is too slow for probes every 20 ms.
    'config': {'measurement': {'interval': 1000, 'fast-interval': 500, 'dead-multiplier': 5}},
}


class Network:
    """A Lab with protected sites and a capture at each site."""

    def __init__(self, stack, topology=None, document=None, start=True):
        self.lab = Lab(merged(TOPOLOGY, topology or {}), start=False)
        stack.callback(self.lab.close)
        self.ear = {}
        self.site = {}
        for name, node in self.lab.node.items():
            self.site[name] = Protection(node, self.lab.directory, document and document(name))
            stack.callback(self.site[name].close)
        for name, node in self.lab.node.items():
            self.ear[name] = Ear(node, self.lab.directory)
            stack.callback(self.ear[name].stop)
        if start:
            for site in self.site.values():
                site.guard()
                site.charon.start()
                site.start_manager()
            self.lab.start()

    def all_protected(self):
        want = {name: {n.node_id for n in self.lab.node.values() if n is not node}
                for name, node in self.lab.node.items()}
        return all(self.site[name].protected() == want[name] for name in want)

    def joined(self):
        self.lab.joined(within=FAR)
        wait_for(self.all_protected, FAR, 'every link is protected', every=0.5)
        self.lab.settle_hosts('a', 'b', within=FAR)
        return self

    def stream(self, interval=0.02):
        a, b = self.lab.host['a'], self.lab.host['b']
        return Stream(a.namespace, b.namespace, b.ip4, interval=interval).start()

    def flows(self, within=FAR):
        """Seconds until the host of a reaches the host of b."""
        begun = time.monotonic()
        wait_for(lambda: self.lab.host['a'].ping(self.lab.host['b'].ip4), within, 'traffic flows')
        return time.monotonic() - begun

    def goes_on(self, stream, packets=200):
        """Waits until the number of further packets was sent, received or not."""
        goal = len(stream.sent) + packets
        wait_for(lambda: len(stream.sent) >= goal, FAR, f'{packets} packets were sent', every=0.2)

    def check_wire(self):
        for name, ear in self.ear.items():
            assert ear.plaintext() == [], f'{name} sent LEON in the clear'
            assert ear.quotes() == [], f'{name} sent ICMP errors that quote LEON'
        return {name: len(ear.esp()) for name, ear in self.ear.items()}

    def dump(self):
        return '\n'.join(f'=== {name}\n{site.dump()}' for name, site in self.site.items())


@pytest.fixture
def network(request):
    made = []
    with contextlib.ExitStack() as stack:
        def make(*args, **keys):
            made.append(Network(stack, *args, **keys))
            return made[-1]
        yield make
        if request.node.stash.get(FAILED, False):
            for net in made:
                print(net.dump())


def lost(stream):
    return len(stream.sent) - len(stream.received)


def test_the_ear_hears_plaintext(network):
    """Without IPsec, the capture must find plaintext. The absence in other tests is then a proof.
    """
    net = network(start=False)
    net.lab.start()
    net.lab.joined(within=FAR)
    assert all(ear.plaintext() for ear in net.ear.values())


@pytest.mark.parametrize('underlay', ['v4', 'v6'])
def test_everything_is_in_esp(network, underlay):
    net = network({'underlay': underlay}).joined()
    stream = net.stream()
    stream.arrived(150, FAR)
    stream.stop()
    assert lost(stream) == 0
    # The probes detect the overhead of IPsec, because the kernel refuses packets beyond the path
    # MTU.
    mtus = {n['link_mtu'] for n in net.lab.node['a'].show('nodes')['nodes'] if n['link'] == 'up'}
    plain = 1472 if underlay == 'v4' else 1452
    print('link MTU inside IPsec', mtus, 'of', plain)
    assert all(plain - 80 < mtu < plain for mtu in mtus)
    big = net.lab.host['a'].ping(net.lab.host['b'].ip4, size=1472, forbid_fragments=True, within=5)
    assert big, 'a frame of 1500 bytes passes'
    esp = net.check_wire()
    print('ESP packets', esp)
    assert all(n > 20 for n in esp.values())


def test_nothing_passes_without_charon(network):
    """The guard alone fails closed and opens with charon."""
    net = network(start=False)
    for site in net.site.values():
        site.guard()
    net.lab.start()
    for name, site in net.site.items():
        wait_for(lambda s=site: s.dropped('udp sport') >= 10, FAR, f'the guard of {name} drops')
    assert not net.lab.full_mesh()
    for site in net.site.values():
        site.charon.start()
        site.start_manager()
    net.joined()
    net.check_wire()


@pytest.mark.parametrize('how', ['stop', 'crash'])
def test_charon_goes_and_comes_back_under_traffic(network, how):
    net = network().joined()
    stream = net.stream()
    for round_ in range(2):
        getattr(net.site['a'].charon, how)()
        net.goes_on(stream)
        net.site['a'].charon.start()
        print(how, 'round', round_, 'flows again after', round(net.flows(), 1), 's')
    wait_for(net.all_protected, FAR, 'every link is protected', every=0.5)
    stream.stop()
    print(how, 'lost', lost(stream), 'of', len(stream.sent), 'ESP', net.check_wire())


def test_the_guard_returns_after_a_flush_of_nft(network):
    """/etc/nftables.conf of Debian begins with `flush ruleset`. charon then stops."""
    net = network().joined()
    site = net.site['a']
    site.node.namespace.run('nft', 'flush', 'ruleset')
    wait_for(lambda: 'leon_ipsec_leon0' in site.table(), FAR, 'the guard is there again')
    site.charon.stop()
    wait_for(lambda: site.dropped('udp sport') >= 10, FAR, 'the guard drops')
    net.check_wire()


def test_foreign_reload_unloads_ours(network):
    """`swanctl --load-all`, which VyOS runs at each commit of `vpn ipsec`: SAs stay, and the
    connections return."""
    net = network().joined()
    stream = net.stream()
    charon = net.site['a'].charon
    empty = os.path.join(net.lab.directory, 'swanctl.conf')
    with open(empty, 'w', encoding='ascii') as f:
        f.write('connections {\n}\n')
    result = net.lab.node['a'].namespace.run('swanctl', '--load-all', '--uri',
                                             f'unix://{charon.socket}', '--file', empty, check=False)
    assert 'unloaded' in result.stdout, result.stdout + result.stderr

    def loaded():
        connection = charon.ask()
        try:
            return len(connection.call('get-conns')['conns']) >= 3 and \
                connection.call('get-shared').get('keys')
        finally:
            connection.close()
    wait_for(loaded, 30, 'connections and secret are loaded again')
    stream.arrived(100, FAR)
    stream.stop()
    print('lost', lost(stream), 'of', len(stream.sent))
    # An emulated machine loses some packets without IPsec, too.
    assert lost(stream) <= len(stream.sent) // 200
    net.check_wire()


def test_rekey_loses_nothing(network):
    """Both sides rekey, every few seconds, at random moments."""
    def quick(_):
        return {'version': 1, 'ike-group': {'lifetime': 40}, 'esp-group': {'lifetime': 30},
                'authentication': {'mode': 'pre-shared-secret', 'pre-shared-secret': SECRET}}
    net = network(document=quick).joined()
    stream = net.stream()

    def log_of_both():
        return net.site['a'].charon.log() + net.site['b'].charon.log()
    wait_for(lambda: log_of_both().count('CHILD_SA closed') >= 12 and
             'rekeyed between' in log_of_both(), 300, 'rekeyed often', every=1)
    stream.stop(linger=3)
    log = log_of_both()
    print('lost', lost(stream), 'of', len(stream.sent), 'CHILD_SA rekeys',
          log.count('CHILD_SA closed'), 'IKE_SA', log.count('rekeyed between'))
    assert lost(stream) == 0
    net.check_wire()


def test_the_manager_may_be_restarted(network):
    """An upgrade: connections, SAs and the guard stay, no frame is lost."""
    net = network().joined()
    stream = net.stream()
    net.site['a'].stop_manager()
    assert 'leon_ipsec_leon0' in net.site['a'].table()
    stream.arrived(100, FAR)
    net.site['a'].start_manager()
    wait_for(net.all_protected, FAR)
    stream.arrived(100, FAR)
    stream.stop()
    assert lost(stream) == 0
    net.check_wire()


def test_withdrawn(network):
    """IPsec is removed from the configuration at all sites: charon unloads the connections, the
    guard ends, and traffic is in the clear."""
    net = network().joined()
    for site in net.site.values():
        os.unlink(site.document)
        site.stop_manager()
    for site in net.site.values():
        assert 'leon_ipsec' not in site.table()
        connection = site.charon.ask()
        assert connection.call('get-conns').get('conns', []) == []
        connection.close()
    wait_for(lambda: not any(site.charon.sas() for site in net.site.values()), 30)
    net.flows()
    assert net.ear['a'].plaintext()


def test_another_secret_stays_out(network):
    """A node with another IKE secret receives nothing, and no plaintext leaves towards the node."""
    def other(name):
        return {'version': 1, 'authentication': {
            'mode': 'pre-shared-secret', 'pre-shared-secret': SECRET if name != 'c' else 'x' * 20}}
    net = network(document=other)
    net.lab.joined(names=['a', 'b'], within=FAR)
    refused = net.site['c'].charon
    wait_for(lambda: refused.log().count('AUTHENTICATION_FAILED') >= 3, FAR, 'c was refused thrice')
    assert not net.lab.full_mesh()
    assert not refused.children()
    net.check_wire()


def test_certificates(network, tmp_path):
    def pki(*words):
        return subprocess.run(['pki', *words], check=True, capture_output=True).stdout
    (tmp_path / 'ca.key').write_bytes(pki('--gen', '--type', 'ecdsa', '--size', '256', '--outform',
                                          'pem'))
    (tmp_path / 'ca.pem').write_bytes(pki('--self', '--ca', '--in', str(tmp_path / 'ca.key'),
                                          '--type', 'ecdsa', '--dn', 'O=LEON, CN=CA', '--outform',
                                          'pem'))
    for name in SITES:
        (tmp_path / f'{name}.key').write_bytes(pki('--gen', '--type', 'ecdsa', '--size', '256',
                                                   '--outform', 'pem'))
        (tmp_path / f'{name}.pem').write_bytes(pki(
            '--issue', '--in', str(tmp_path / f'{name}.key'), '--type', 'priv', '--cacert',
            str(tmp_path / 'ca.pem'), '--cakey', str(tmp_path / 'ca.key'), '--dn',
            f'O=LEON, CN={name}', '--outform', 'pem'))

    def document(name):
        return {'version': 1, 'authentication': {
            'mode': 'x509', 'certificate': str(tmp_path / f'{name}.pem'),
            'private-key': (tmp_path / f'{name}.key').read_text(),
            'ca-certificate': [str(tmp_path / 'ca.pem')], 'remote-id': 'O=LEON, CN=*'}}
    net = network(document=document).joined()
    assert 'ECDSA' in net.site['a'].charon.log()
    net.check_wire()


def test_behind_nat(network):
    """One node is behind a masquerading router: ESP in UDP."""
    net = network({'sites': {'c': {'nat': True}}}, start=False)
    net.ear.pop('c').stop()
    for site in net.site.values():
        site.guard()
        site.charon.start()
        site.start_manager()
    net.lab.start()
    net.lab.joined(within=FAR)
    wait_for(lambda: net.lab.node['c'].node_id in net.site['a'].protected(), FAR)
    net.check_wire()


def test_a_new_socket_port_needs_the_guard_again(network):
    """SIGHUP after the port changed: the guard follows, and leond has the former port until its
    restart."""
    net = network().joined()
    site = net.site['a']
    site.node.config['port'] = 5400
    site.write()
    site.manager.send_signal(signal.SIGHUP)
    wait_for(lambda: 'udp sport 5400' in site.table(), 30)
    assert 'udp sport 5366' in site.table()
    net.lab.restart('a')
    wait_for(lambda: 'udp sport 5366' not in site.table(), 30)


@pytest.mark.parametrize('underlay', ['v4', 'v6'])
def test_icmp_errors_do_not_quote(network, underlay):
    """A leond dies. Datagrams from ESP then meet a closed port, and the kernel answers with an
    ICMP error that quotes plaintext. The guard drops the error and counts the drop."""
    net = network({'underlay': underlay}).joined()
    net.lab.node['a'].kill()
    rule = 'icmpv6 type' if underlay == 'v6' else 'icmp type'

    def stopped():
        return net.site['a'].dropped(rule) >= 2
    wait_for(stopped, FAR, 'the rule has stopped errors')
    net.check_wire()


def test_an_attacker_in_the_clear_is_dropped(network):
    """A forged datagram outside ESP never reaches leond."""
    net = network({'strangers': ['mallory']}).joined()
    stranger = net.lab.stranger['mallory']
    stranger.run('python3', '-c', 'import socket; s=socket.socket(socket.AF_INET,socket.SOCK_DGRAM);'
                 f'[s.sendto(b"x"*50,("{wan.ip4(0)}",5366)) for _ in range(20)]')
    assert net.site['a'].dropped('udp dport') >= 20
    assert net.lab.node['a'].drops('bad_version') == 0
    net.check_wire()
