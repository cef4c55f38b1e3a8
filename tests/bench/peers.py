# SPDX-License-Identifier: GPL-2.0-or-later
"""Other overlays between the two hosts of a benchmark, for figures of the same run. Packages are
from Debian (EasyTier from its crate), without a cipher if possible. A missing peer is left out.

Every start_NAME(net, place) starts an overlay between net.a and net.b. The addresses on the wire
are `place.wire`, and the addresses on the overlay are `place.inner`. Programs die with their
namespaces.
"""
import os
import shutil
import subprocess
import time
from dataclasses import dataclass

WIRE = ('10.1.1.1', '10.1.1.2')
KEY = 'benchbenchbench'


@dataclass
class Place:
    """Place of a peer: a directory, and the addresses on the interfaces."""
    directory: str
    inner: tuple
    wire: tuple = WIRE
    mtu: int = 1400

    def write(self, name, text, mode=0o600):
        path = os.path.join(self.directory, name)
        os.makedirs(os.path.dirname(path), exist_ok=True)
        with open(path, 'w', encoding='utf-8') as f:
            os.fchmod(f.fileno(), mode)
            f.write(text)
        return path

    def log(self, name):
        return open(os.path.join(self.directory, name), 'w', encoding='utf-8')


def launch(space, place, name, *words):
    with place.log(name + '.log') as log:
        return space.start(*words, stdin=subprocess.DEVNULL, stdout=log, stderr=log,
                           cwd=place.directory)


def address(space, interface, inner, mtu=None):
    """Assigns the address as soon as the interface exists."""
    end = time.monotonic() + 10
    while space.run('ip', 'link', 'show', interface, check=False).returncode:
        if time.monotonic() > end:
            raise RuntimeError(f'{interface} does not come')
        time.sleep(0.05)
    if mtu:
        space.ip(f'link set {interface} mtu {mtu}')
    space.ip(f'addr add {inner}/24 dev {interface}', f'link set {interface} up')


def start_n2n(net, place):
    launch(net.a, place, 'supernode', 'supernode', '-l', 7654)
    for space, inner, i in zip((net.a, net.b), place.inner, (1, 2)):
        launch(space, place, f'edge{i}', 'edge', '-d', 'n2n0', '-a', inner, '-c', 'bench',
               '-k', KEY, '-l', f'{place.wire[0]}:7654', '-m', f'02:6e:00:00:00:0{i}', '-M', place.mtu)


def start_tinc(net, place):
    names = ('a', 'b')
    for i, name in enumerate(names):
        place.write(f'{name}/tinc.conf', f'Name={name}\nMode=switch\nInterface=tinc0\n'
                    'DeviceType=tap\nAddressFamily=ipv4\nPingTimeout=10\n'
                    f'BindToAddress={place.wire[i]}\nConnectTo={names[1 - i]}\n')
        place.write(f'{name}/hosts/{name}', f'Address={place.wire[i]}\nCipher=none\nDigest=none\n'
                    'Compression=0\n')
        subprocess.run(['tincd', '-c', os.path.join(place.directory, name), '-K', '2048'],
                       input='\n\n\n', text=True, capture_output=True, check=True)
    for name, other in (names, names[::-1]):
        shutil.copy(os.path.join(place.directory, name, 'hosts', name),
                    os.path.join(place.directory, other, 'hosts', name))
    for space, name, inner in zip((net.a, net.b), names, place.inner):
        directory = os.path.join(place.directory, name)
        launch(space, place, name, 'tincd', '-c', directory, '-D', '--pidfile',
               os.path.join(directory, 'pid'))
        address(space, 'tinc0', inner, place.mtu)


def start_fastd(net, place):
    keys = []
    for _ in range(2):
        made = subprocess.run(['fastd', '--generate-key'], capture_output=True, text=True,
                              check=True).stdout.split()
        keys.append((made[made.index('Secret:') + 1], made[made.index('Public:') + 1]))
    for i, (space, inner) in enumerate(zip((net.a, net.b), place.inner)):
        path = place.write(f'fastd{i}.conf', f'''
            interface "fastd0"; mode tap; method "null"; mtu {place.mtu};
            bind {place.wire[i]}:10000; secret "{keys[i][0]}";
            peer "other" {{ key "{keys[1 - i][1]}"; remote {place.wire[1 - i]}:10000; }}''')
        launch(space, place, f'fastd{i}', 'fastd', '-c', path)
        address(space, 'fastd0', inner)


def start_openvpn(net, place):
    for i, (space, inner) in enumerate(zip((net.a, net.b), place.inner)):
        launch(space, place, f'openvpn{i}', 'openvpn', '--dev', 'ovpn0', '--dev-type', 'tap',
               '--proto', 'udp', '--local', place.wire[i], '--remote', place.wire[1 - i], '--port', 11940,
               '--cipher', 'none', '--auth', 'none', '--tun-mtu', place.mtu, '--nice', 0)
        address(space, 'ovpn0', inner)


def start_nebula(net, place):
    """Versions before 1.12 ignore the keys of offloads."""
    def cert(*words):
        subprocess.run(['nebula-cert', *words], cwd=place.directory, capture_output=True,
                       check=True)
    cert('ca', '-name', 'bench')
    for i, inner in enumerate(place.inner):
        cert('sign', '-name', f'n{i}', '-ip', f'{inner}/24')
    for i, space in enumerate((net.a, net.b)):
        other = 1 - i
        directory = place.directory
        lighthouse = (f'{{am_lighthouse: false, hosts: ["{place.inner[0]}"]}}' if i else
                      '{am_lighthouse: true}')
        path = place.write(f'n{i}.yml', f'''
pki: {{ca: {directory}/ca.crt, cert: {directory}/n{i}.crt, key: {directory}/n{i}.key}}
static_host_map: {{"{place.inner[other]}": ["{place.wire[other]}:4242"]}}
lighthouse: {lighthouse}
listen: {{host: {place.wire[i]}, port: 4242, batch: 64, read_buffer: 10485760, write_buffer: 10485760,
          udp_offloads: true}}
tun: {{dev: nebula0, mtu: {place.mtu}, tx_queue: 1000, use_offloads: true}}
firewall:
  outbound: [{{port: any, proto: any, host: any}}]
  inbound: [{{port: any, proto: any, host: any}}]
''')
        launch(space, place, f'n{i}', 'nebula', '-config', path)


def wireguard(net, place, names, inner):
    """Keys and addresses of the two ends, on interfaces that exist or come soon."""
    keys = []
    for i in range(2):
        private = subprocess.run(['wg', 'genkey'], capture_output=True, text=True, check=True)
        public = subprocess.run(['wg', 'pubkey'], input=private.stdout, capture_output=True,
                                text=True, check=True)
        keys.append((place.write(f'wg{i}.key', private.stdout), public.stdout.strip()))
    for i, (space, name) in enumerate(zip((net.a, net.b), names)):
        address(space, name, inner[i], place.mtu)
        words = ('wg', 'set', name, 'listen-port', 51820, 'private-key', keys[i][0], 'peer',
                 keys[1 - i][1], 'allowed-ips', '0.0.0.0/0', 'endpoint', f'{place.wire[1 - i]}:51820')
        end = time.monotonic() + 10
        while space.run(*words, check=False).returncode:
            if time.monotonic() > end:
                raise RuntimeError('WireGuard does not take its keys')
            time.sleep(0.1)


def start_wireguard_go(net, place):
    names = [f'wgbench{os.getpid()}{i}'[-15:] for i in range(2)]
    for i, (space, name) in enumerate(zip((net.a, net.b), names)):
        launch(space, place, f'wg{i}', 'env', 'WG_I_PREFER_BUGGY_USERSPACE_TO_POLISHED_KMOD=1',
               'wireguard-go', '-f', name)
    wireguard(net, place, names, place.inner)


def start_wireguard(net, place):
    """WireGuard of the kernel, and VXLAN over it: Ethernet as with LEON."""
    ends = ('10.4.0.1', '10.4.0.2')
    for space in (net.a, net.b):
        space.ip('link add wg0 type wireguard')
    wireguard(net, place, ('wg0', 'wg0'), ends)
    for i, space in enumerate((net.a, net.b)):
        space.ip(f'link add vxlan2 type vxlan id 20 local {ends[i]} remote {ends[1 - i]} '
                 'dstport 4790 dev wg0')
        address(space, 'vxlan2', place.inner[i])


def start_easytier(net, place):
    """The second node has the first node as peer. No other node exists. `cargo install easytier`.
    """
    for i, (space, inner) in enumerate(zip((net.a, net.b), place.inner)):
        others = ('--peers', f'udp://{place.wire[0]}:11010') if i else ()
        launch(space, place, f'easytier{i}', 'easytier-core', '--ipv4', inner, '--dev-name', 'et0',
               '--network-name', 'bench', '--network-secret', KEY, '--hostname', f'n{i}',
               '--listeners', f'udp://{place.wire[i]}:11010', *others, '--disable-encryption',
               '--disable-ipv6', '--multi-thread', '--mtu', place.mtu)


# Name in tables, required program, start function.
PEERS = {
    'n2n': ('n2n (Twofish)', 'edge', start_n2n),
    'tinc': ('tinc, no cipher', 'tincd', start_tinc),
    'fastd': ('fastd, null', 'fastd', start_fastd),
    'openvpn': ('OpenVPN tap, no cipher', 'openvpn', start_openvpn),
    'nebula': ('nebula (encrypts, L3)', 'nebula', start_nebula),
    'wireguard-go': ('wireguard-go (encr., L3)', 'wireguard-go', start_wireguard_go),
    'wireguard': ('WireGuard and VXLAN', 'wg', start_wireguard),
    'easytier': ('EasyTier, no cipher, L3', 'easytier-core', start_easytier),
}


def start(net, name, directory, inner, wire=WIRE):
    """True if the peer runs. Otherwise False, with the reason: not installed or not started."""
    _, program, begin = PEERS[name]
    if not shutil.which(program):
        return False, f'{program} is not installed'
    place = Place(os.path.join(directory, name), inner, wire)
    os.mkdir(place.directory)
    try:
        begin(net, place)
    except (RuntimeError, subprocess.CalledProcessError, OSError, ValueError) as e:
        return False, f'does not start: {e}'
    return True, ''
