# SPDX-License-Identifier: GPL-2.0-or-later
"""Header fields and mark of LEON's own datagrams: `parameters` and `fwmark`, applied live."""
import json
import re
import subprocess

from lab import line_up, wait_for
from node import leonctl_program, leond_program
import wan

# Prints header fields of each datagram to the port, one JSON object per line.
WATCH = '''
import json, socket, struct, sys
v6, address = sys.argv[1] == "6", sys.argv[2]
if v6:
    s = socket.socket(socket.AF_INET6, socket.SOCK_DGRAM)
    s.setsockopt(socket.IPPROTO_IPV6, socket.IPV6_RECVTCLASS, 1)
    s.setsockopt(socket.IPPROTO_IPV6, socket.IPV6_RECVHOPLIMIT, 1)
    s.bind((address, 5366))
else:
    s = socket.socket(socket.AF_INET, socket.SOCK_RAW, socket.IPPROTO_UDP)
    s.bind((address, 0))
while True:
    data, control, _, _ = s.recvmsg(65536, 256)
    if v6:
        seen = {kind: struct.unpack("i", value)[0] for _, kind, value in control}
        print(json.dumps({"tclass": seen[socket.IPV6_TCLASS],
                          "hoplimit": seen[socket.IPV6_HOPLIMIT]}), flush=True)
    else:
        print(json.dumps({"tos": data[1], "ttl": data[8],
                          "df": bool(data[6] & 0x40)}), flush=True)
'''


class Watcher:
    """Datagrams for a machine that is a configured peer but not a node."""

    def __init__(self, namespace, family, address, path):
        self.path = path
        with open(path, 'w', encoding='ascii') as out:
            self.process = namespace.start('/usr/bin/python3', '-c', WATCH, family, address,
                                           stdout=out)

    def last(self):
        lines = open(self.path, encoding='ascii').read().splitlines()
        return json.loads(lines[-1]) if lines else None

    def wait(self, want):
        wait_for(lambda: self.last() == want, 60, f'{want} arrives (last: {self.last()})')

    def close(self):
        self.process.kill()
        self.process.wait()


def alone(lab, address, underlay='v4'):
    net = lab(line_up(1, hosts=False, strangers=['watcher'], underlay=underlay,
                      config={'peer': {'watcher': {'address': address}}}), start=False)
    return net, net.node['n0'], net.stranger['watcher']


def again(node, number):
    """Contacts the peer at once without the pause, because a new peer changes the list."""
    node.config['peer']['other'] = {'address': f'198.18.98.{number}'}
    answer = node.reload()
    assert answer['restart_keys'] == [] and answer['verdict'] == 'applied'
    return answer


def test_ipv4_header(lab, tmp_path):
    net, node, machine = alone(lab, wan.ip4(1))
    watcher = Watcher(machine, '4', wan.ip4(1), tmp_path / 'seen')
    try:
        net.start()
        watcher.wait({'tos': 0, 'ttl': 64, 'df': True})
        node.config['parameters'] = {'ip': {'tos': 184, 'ttl': 33, 'df': 'unset'}}
        assert 'datagrams' in again(node, 1)['changes']
        watcher.wait({'tos': 184, 'ttl': 33, 'df': False})
        node.config.pop('parameters')
        again(node, 2)
        watcher.wait({'tos': 0, 'ttl': 64, 'df': True})
    finally:
        watcher.close()


def test_ipv6_header(lab, tmp_path):
    net, node, machine = alone(lab, wan.ip6(1), underlay='v6')
    watcher = Watcher(machine, '6', wan.ip6(1), tmp_path / 'seen')
    try:
        # The same from the start.
        node.config['parameters'] = {'ipv6': {'tclass': 96, 'hoplimit': 12}}
        net.start()
        watcher.wait({'tclass': 96, 'hoplimit': 12})
        node.config.pop('parameters')
        again(node, 1)
        watcher.wait({'tclass': 0, 'hoplimit': 64})
    finally:
        watcher.close()


def test_data_of_all_workers_is_marked(lab):
    """Every datagram, control and data, of both workers; the change loses no frame."""
    net = lab(line_up(2, config={'system': {'workers': 2}})).joined()
    net.settle_hosts('n0', 'n1')
    node = net.node['n0']
    node.namespace.run('nft', '-f', '-', input='''
        table inet look {
            counter marked { }
            counter other { }
            chain out {
                type filter hook output priority filter
                udp dport 5366 meta mark 7 counter name marked return
                udp dport 5366 counter name other
            }
        }''')

    def counters():
        text = node.namespace.run('nft', '-j', 'list', 'counters').stdout
        return {c['counter']['name']: c['counter']['packets']
                for c in json.loads(text)['nftables'] if 'counter' in c}
    wait_for(lambda: counters()['other'] > 3, 10, 'sent without a mark')
    assert counters()['marked'] == 0
    assert node.reload(fwmark=7)['changes'] == ['datagrams']
    before = counters()['other']
    assert net.host['n0'].ping(net.host['n1'].ip4, count=20, within=10)
    wait_for(lambda: counters()['marked'] > 20, 20, 'sent with the mark')
    assert counters()['other'] - before <= 2  # in flight during the change of the sockets
    net.joined()


def test_paths_are_measured_with_df_unset(lab):
    net = lab(line_up(2, config={'parameters': {'ip': {'df': 'unset'}}})).joined()
    net.settle_hosts('n0', 'n1')
    wait_for(lambda: net.node['n0'].nodes()[net.node['n1'].node_id]['link_mtu'] >= 1400, 30, 'MTU')


def test_secret_and_identity_are_generated(tmp_path):
    made = [subprocess.run([leonctl_program(), 'generate', 'secret'], check=True, text=True,
                           capture_output=True).stdout for _ in range(2)]
    assert made[0] != made[1] and all(re.fullmatch(r'[A-Za-z0-9_-]{44}\n', text) for text in made)
    file = tmp_path / 'leon0.identity'
    command = [leond_program(), '--generate-identity', file]
    public = subprocess.run(command, check=True, text=True, capture_output=True).stdout.strip()
    assert re.fullmatch('[0-9a-f]{64}', public) and file.stat().st_mode & 0o777 == 0o600
    before = file.read_bytes()
    again_ = subprocess.run(command, check=False, text=True, capture_output=True)
    assert again_.returncode == 1 and 'is there already' in again_.stderr
    assert file.read_bytes() == before


def test_generated_identity_is_the_one_that_is_used(lab):
    net = lab(line_up(1, hosts=False), start=False)
    node = net.node['n0']
    public = subprocess.run([leond_program(), '--generate-identity', node.config['identity-file']],
                            check=True, text=True, capture_output=True).stdout.strip()
    net.start()
    assert node.show('identity')['identity'] == public
