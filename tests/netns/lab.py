# SPDX-License-Identifier: GPL-2.0-or-later
"""An overlay from one dictionary. Keys of a topology:

    sites    {name: {}} in order; per site: config (merged last), v4, v6, hosts (overrides),
             nat (behind a NAT of a kind of NATS; True: port-restricted), lines (True: `first`
             at wan0 and `second` at wan1; or the key `line`)
    strangers  names of machines on the Internet outside the overlay
    rtt_ms   {(a, b): ms}; other pairs have `rtt_ms_default` (10)
    underlay 'v4' (default), 'v6' or 'dual'
    hosts    True (default): a bridge and one host behind every node; False: only leon0
    config   merged into the configuration of every node
    seeds    names of the peers of all other sites (default: the first two)
    secret   pre-shared secret; None for no secret
    timing   'fast' (default: five times the probe rate of production on idle links) or
             'production'

Nothing has a global name: namespaces are descriptors, files are in one temporary directory.
"""
import shutil
import tempfile

import ns
import wan
from host import Host
from node import EMULATED, LeonctlError, Node, PATIENCE, wait_for
from traffic import Stream

__all__ = ['Lab', 'LeonctlError', 'wait_for', 'PAPER', 'PATIENT', 'line_up']

TIMING = {
    'fast': {'measurement': {'interval': 200, 'fast-interval': 100}, 'path': {'hold-time': 1}},
    'production': {},
}
if EMULATED:
    # An emulated machine stalls for longer than the permitted silence of a link.
    TIMING['fast']['measurement']['dead-multiplier'] = 10
SECRET = 'correct horse battery staple'

# Figure 2 of the paper: through Inagi the 32 ms between Fujisawa and Seoul become 21 ms.
PAPER = {
    'sites': {'fujisawa': {}, 'inagi': {}, 'seoul': {}},
    'rtt_ms': {('fujisawa', 'seoul'): 32, ('inagi', 'seoul'): 17, ('fujisawa', 'inagi'): 4},
}


# Configuration for tests without link failures. On a busy machine a node may send its probes late,
# and a late probe must not fail a link.
PATIENT = {'measurement': {'dead-multiplier': 20}}


def line_up(n, **keys):
    """n sites named n0, n1, ..."""
    return {'sites': {f'n{i}': {} for i in range(n)}, **keys}


def merged(base, extra):
    """Returns base with extra merged key by key. Both arguments stay unchanged."""
    result = dict(base)
    for key, value in extra.items():
        if isinstance(value, dict) and isinstance(result.get(key), dict):
            value = merged(result[key], value)
        result[key] = value
    return result


# Kinds of NAT (RFC 3489) as rules of nftables. The first three keep the port of the node. RFC 4787
# says: endpoint-independent mapping, and filtering by nothing, by address, by address and port.
_KEEPS = """
    set contacted { type %s; flags dynamic,timeout; timeout 1m; }
    chain out {
        type filter hook postrouting priority mangle
        oifname "wan0" meta l4proto udp add @contacted { %s }
    }
    chain pre {
        type nat hook prerouting priority dstnat
        iifname "wan0" %s @contacted udp dport 5366 dnat to 192.168.77.2
    }"""
NATS = {
    'full-cone': (_KEEPS % ('inet_service', 'udp sport', 'udp dport'), ''),
    'restricted': (_KEEPS % ('ipv4_addr', 'ip daddr', 'ip saddr'), ''),
    'port-restricted': ('', ''),
    'symmetric': ('', 'fully-random'),  # another mapping for each destination
}


class Lab:
    live = []  # all running labs, for the report of a failure

    def __init__(self, topology, start=True):
        self.topology = topology
        self.directory = tempfile.mkdtemp(prefix='leon-')
        self.node, self.host, self.router, self.stranger, self.spare = {}, {}, {}, {}, []
        self.wan = None
        Lab.live.append(self)
        try:
            self._build()
            if start:
                self.start()
        except BaseException:
            self.close(check=False)
            raise

    # --- construction ---

    def new_namespace(self, name):
        return ns.Namespace(name)

    def new_node(self, name, namespace, config):
        return Node(name, namespace, config, self.directory)

    def _build(self):
        self.wan = wan.Wan(seed=self.topology.get('seed', 1))
        for index, (name, options) in enumerate(self.topology['sites'].items()):
            namespace = self.new_namespace(name)
            self.spare.append(namespace)
            self._add_site(index, name, namespace, options)
            self.node[name] = self.new_node(name, namespace, self._config(index, name, options))
        for name, options in self.topology['sites'].items():
            if options.get('lines'):
                self._add_line(name, options)
        for name in self.topology.get('strangers', ()):
            self.stranger[name] = ns.Namespace(name)
            self.spare.append(self.stranger[name])
            self.wan.add_site(name, self.stranger[name], v4=True, v6=True)
        self.wan.set_neighbors()
        default = self.topology.get('rtt_ms_default', 10)
        self.wan.link('*', '*', delay_us=default * wan.MS / 2)
        for (a, b), ms in self.topology.get('rtt_ms', {}).items():
            self.wan.rtt(a, b, ms * wan.MS)

    def _families(self, options):
        underlay = self.topology.get('underlay', 'v4')
        return {'v4': options.get('v4', underlay != 'v6'), 'v6': options.get('v6', underlay != 'v4')}

    def _add_site(self, index, name, namespace, options):
        kind = options.get('nat')
        if kind:
            self._add_nat(name, namespace, 'port-restricted' if kind is True else kind)
        else:
            self.wan.add_site(name, namespace, **self._families(options))
        if options.get('hosts', self.topology.get('hosts', True)):
            # Snooping would drop multicast for the overlay.
            namespace.ip('link add br0 type bridge stp_state 0 forward_delay 0 mcast_snooping 0',
                         'link set br0 mtu 1500 up')
            namespace.sysctl('ipv6/conf/br0/disable_ipv6', 1)
            self.host[name] = Host('host-' + name, namespace, index + 1)

    def _add_line(self, name, options):
        """A second interface `wan1`, which is the site NAME-2 of the Internet."""
        node = self.node[name]
        index = self.wan.add_site(f'{name}-2', node.namespace, 'wan1', **self._families(options))
        first = node.config.pop('source-address')
        lines = options['lines'] if isinstance(options['lines'], dict) else \
            {'first': {'interface': 'wan0'}, 'second': {'interface': 'wan1'}}
        node.config.update({'node-id': first[0], 'line': lines})
        node.second = wan.ip4(index)

    def _add_nat(self, name, namespace, kind):
        """A masquerading router is between the node and the Internet, as at home."""
        rules, flags = NATS[kind]
        router = self.router[name] = ns.Namespace('nat-' + name)
        self.spare.append(router)
        self.wan.add_site(name, router)
        ns.connect(router, 'lan0', namespace, 'wan0')
        router.ip('addr add 192.168.77.1/24 dev lan0')
        router.sysctl('ipv4/ip_forward', 1)
        router.run('nft', '-f', '-', input=f'''
            table ip nat {{
                {rules}
                chain post {{
                    type nat hook postrouting priority srcnat
                    oifname "wan0" masquerade {flags}
                }}
            }}
            table ip filter {{
                chain input {{
                    type filter hook input priority filter; policy drop
                    ct state established,related accept
                    iifname != "wan0" accept
                }}
                chain forward {{
                    type filter hook forward priority filter; policy drop
                    ct state established,related accept
                    iifname "lan0" accept
                    ct status dnat accept
                }}
            }}''')
        namespace.ip('addr add 192.168.77.2/24 dev wan0', 'route add default via 192.168.77.1')

    def _config(self, index, name, options):
        families = self._families(options)
        sources = [wan.ip4(index)] * families['v4'] + [wan.ip6(index)] * families['v6']
        config = {
            'version': 1, 'interface': 'leon0', 'source-address': sources, 'node-name': name,
            'system': {'workers': 1, 'log-level': 'info'},
        }
        if options.get('nat'):
            config['source-address'] = ['192.168.77.2']
        if options.get('nat') or not families['v4']:
            config['node-id'] = f'10.0.0.{index + 1}'
        names = list(self.topology['sites'])
        peers = {}
        for seed in self.topology.get('seeds', names[:2]):
            other = names.index(seed)
            if other == index:
                continue
            both = self._families(self.topology['sites'][seed])
            address = wan.ip4(other) if families['v4'] and both['v4'] else wan.ip6(other)
            peers[seed] = {'address': address}
        config['peer'] = peers
        secret = self.topology.get('secret', SECRET)
        if secret:
            config['authentication'] = {'pre-shared-secret': secret}
        if EMULATED:
            # The clock of an emulated machine advances while the machine has no CPU. Real-time
            # processes would then leave no CPU time.
            config['system']['scheduling'] = 'normal'
        config = merged(config, TIMING[self.topology.get('timing', 'fast')])
        config = merged(config, self.topology.get('config', {}))
        return merged(config, options.get('config', {}))

    # --- life ---

    def launch(self, *names):
        for name in names or self.node:
            self.node[name].launch()

    def start(self, *names):
        """Starts all nodes, or the named nodes, and attaches leon0 as the topology requires."""
        self.launch(*names)
        for name in names or self.node:
            self.attach(name)

    def attach(self, name, within=30):
        """Waits for leon0 of a launched node and adds the port to the bridge."""
        node = self.node[name]

        def there():
            if not node.alive():
                raise AssertionError(f'leond of {name} ended with status {node.process.returncode}'
                                     f':\n{node.log()[-3000:]}')
            return node.show('nodes')
        wait_for(there, within, f'leond of {name} answers on its socket')
        lines = [f'link set {node.interface} up']
        if name in self.host:
            lines.insert(0, f'link set {node.interface} master br0')
        node.namespace.ip(*lines)

    def restart(self, name):
        self.node[name].stop()
        self.start(name)

    def full_mesh(self, names=None):
        """True if each live node reaches every other node and has the record. A record may arrive
        after the link is up."""
        nodes = [self.node[n] for n in names or self.node if self.node[n].alive()]
        for a in nodes:
            known = a.nodes()
            for b in nodes:
                seen = known.get(b.node_id, {})
                if a is not b and (seen.get('state') != 'reachable' or seen['incarnation'] is None):
                    return False
        return True

    def lives(self, name):
        """{other: incarnation of this node known to the other node, or None}"""
        node = self.node[name]
        return {n: other.nodes().get(node.node_id, {}).get('incarnation')
                for n, other in self.node.items() if n != name and other.alive()}

    def back(self, name, before, within=30):
        """Waits until all nodes are joined and know a later incarnation of the restarted node.
        `before` is the result of lives(). A node may still regard the old incarnation as
        reachable."""
        wait_for(lambda: self.full_mesh() and all(
            life is not None and life != before.get(other) for other, life in self.lives(name).items()),
            within, f'{name} is back, by what all say')

    def listening(self, names=None):
        """Nodes with a loop guard that blocks all traffic, directly after the start on the LAN."""
        nodes = [self.node[n] for n in names or self.node if self.node[n].alive()]
        return [n.name for n in nodes if n.name in self.host and
                n.statistics()['loop_guard']['state'] == 'listening']

    def joined(self, within=30, names=None):
        # Queries to many nodes use CPU time, and the queried nodes need the CPU.
        wait_for(lambda: self.full_mesh(names), within, 'every node reaches every other',
                 every=0.05 * max(1, len(self.node) // 10))
        wait_for(lambda: not self.listening(names), within, 'every node has listened to its LAN')
        return self

    def names(self, node_ids):
        """Node-ids to site names."""
        known = {node.node_id: name for name, node in self.node.items()}
        return [known.get(i, i) for i in node_ids or []]

    def hops(self, a, b):
        return self.names(self.node[a].hops(self.node[b]))

    def wait_path(self, a, b, via, within=20):
        """Waits until the path from a to b has the nodes of this list, without a."""
        wait_for(lambda: self.hops(a, b) == list(via), within,
                 f'path {a} to {b} is {list(via)} (is {self._hops_or_error(a, b)})')

    def _hops_or_error(self, a, b):
        try:
            return self.hops(a, b)
        except LeonctlError as e:
            return str(e)

    def settle_hosts(self, a, b, within=10):
        """Waits until both hosts and the FDBs know each other."""
        wait_for(lambda: self.host[a].ping(self.host[b].ip4, within=0.5), within,
                 f'host of {a} reaches host of {b}')

    def stream(self, a, b, **keys):
        """A running Stream from the host of a to the host of b, after neighbor resolution."""
        self.settle_hosts(a, b)
        host, far = self.host[a], self.host[b]
        return Stream(host.namespace, far.namespace, far.ip4, **keys).start()

    def streams(self, a, b, interval=0.002):
        """A stream from a to b, and a stream in the return direction."""
        return [self.stream(a, b, interval=interval),
                self.stream(b, a, interval=interval, port=40001)]

    def late_ms(self):
        return self.wan.late_us() / 1000

    def dump(self):
        return [(name, node.dump()) for name, node in self.node.items()]

    def close(self, check=True):
        """Ends everything. With check, every leond must end cleanly without an error in the log.
        Without check, nothing is left either, but errors are ignored."""
        trouble = []
        for name, node in self.node.items():
            try:
                node.expected_trouble = not check
                node.stop(within=20 * PATIENCE)
            except AssertionError as e:
                trouble.append(str(e))
            trouble += [f'{name}: {line}' for line in node.trouble()]
        for host in self.host.values():
            host.close()
        if self.wan:
            self.wan.close()
        for namespace in self.spare:
            namespace.close()
        shutil.rmtree(self.directory, ignore_errors=True)
        if self in Lab.live:
            Lab.live.remove(self)
        if check and trouble:
            raise AssertionError('\n'.join(trouble))
