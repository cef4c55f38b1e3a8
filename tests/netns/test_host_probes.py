# SPDX-License-Identifier: GPL-2.0-or-later
"""After a change of a LAN, nodes probe the hosts of the LAN (decision 029). The probe is harmless:
a host during duplicate address detection keeps its address."""
import ipaddress
import re
import struct
import time

from lab import PATIENT, line_up, merged, wait_for
from test_forwarders import cable
from traffic import Tap, ethernet

NOBODY = ipaddress.ip_address('fe80::4c:45ff:fe4f:4e01').packed
ETH_V6 = b'\x86\xdd'
SOLICITATION = 135


def flags(host):
    """Flags of the global address: 'tentative' during detection, 'dadfailed' after a conflict."""
    text = host.namespace.run('ip', '-6', 'addr', 'show', 'dev', 'eth0').stdout
    return re.search(re.escape(host.ip6) + r'/64 (.*)', text).group(1).split()


def takes_its_address_anew(host):
    """Duplicate address detection lasts for minutes instead of a second."""
    host.namespace.sysctl('ipv6/conf/eth0/accept_dad', 1)
    host.namespace.sysctl('ipv6/conf/eth0/dad_transmits', 200)
    host.namespace.ip(f'addr del {host.ip6}/64 dev eth0', f'addr add {host.ip6}/64 dev eth0')
    assert 'tentative' in flags(host)


def probe(host, mac):
    """The solicitation of another machine during duplicate address detection of the address."""
    target = ipaddress.ip_address(host.ip6).packed
    group = bytes.fromhex('ff0200000000000000000001ff') + target[13:]
    body = bytes([SOLICITATION, 0, 0, 0]) + bytes(4) + target
    pseudo = bytes(16) + group + struct.pack('!II', len(body), 58) + body
    total = sum(struct.unpack(f'!{len(pseudo) // 2}H', pseudo))
    total = (total & 0xffff) + (total >> 16)
    total = ~((total & 0xffff) + (total >> 16)) & 0xffff
    body = body[:2] + struct.pack('!H', total) + body[4:]
    header = struct.pack('!IHBB', 6 << 28, len(body), 58, 255) + bytes(16) + group
    return ethernet('33:33:ff:' + ':'.join(f'{b:02x}' for b in target[13:]), mac, 0x86dd,
                    header + body)


def test_a_host_that_takes_its_address_keeps_it(lab):
    net = lab(line_up(3, config=merged(PATIENT, {'loop-guard': {'interval': 200}})))
    # The router at the site of the host forwards, and therefore sends probes.
    net.node['n0'].reload(loop_guard={'interval': 200, 'preference': 200})
    net.joined()
    host, far = net.host['n0'], net.host['n2']
    wait_for(lambda: far.ping(host.ip6), 20, 'the address is known')
    takes_its_address_anew(host)
    target = ipaddress.ip_address(host.ip6).packed
    tap = Tap(host.namespace, 'eth0')
    try:
        cable(net, 'n0', 'n1')
        wait_for(lambda: tap.frames(
            lambda f: f[12:14] == ETH_V6 and f[54] == SOLICITATION and f[22:38] == NOBODY and
            f[62:78] == target, within=0.1), 20, 'the host is asked where it is')
    finally:
        tap.close()
    time.sleep(0.2)
    assert 'tentative' in flags(host) and 'dadfailed' not in flags(host)
    # A real claim of the address causes a conflict.
    out = Tap(far.namespace, 'eth0')
    try:
        out.send(probe(host, far.mac))
        wait_for(lambda: 'dadfailed' in flags(host), 20, 'a probe is heeded')
    finally:
        out.close()
