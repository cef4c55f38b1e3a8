# SPDX-License-Identifier: GPL-2.0-or-later
"""Port mapping at the NAT router of a lab. The router gets a public address, and a real miniupnpd
or a NAT-PMP server of the test with any answers."""
import http.client
import http.server
import os
import re
import shutil
import socket
import struct
import subprocess
import threading

import wan
from node import wait_for

MINIUPNPD = shutil.which('miniupnpd')
LAN = '192.168.77.1'
HTTP_PORT = 49152


def public(net, name):
    """The public address of a site. miniupnpd refuses the addresses of the lab, which are reserved
    for benchmarks."""
    return f'44.0.0.{list(net.topology["sites"]).index(name) + 1}'


def own_public_addresses(net):
    """Adds a public address to each NAT router, which all sites can reach."""
    for name, site in net.node.items():
        where = net.router.get(name)
        if where:
            where.ip(f'addr add {public(net, name)}/24 dev wan0')
        else:
            site.namespace.ip('route add 44.0.0.0/24 dev wan0')
    net.wan.set_neighbors((public(net, name), index) for index, name in enumerate(net.topology['sites'])
                          if name in net.router)


class Gateway:
    """miniupnpd of the NAT router of a site. `lines` is more configuration."""

    def __init__(self, net, name, natpmp=True, upnp=True, lines=(), ext_ip=public):
        self.net, self.name, self.router = net, name, net.router[name]
        self.config = os.path.join(net.directory, f'miniupnpd-{name}.conf')
        self.log_file = self.config.replace('.conf', '.log')
        self.process = None
        with open(self.config, 'w', encoding='ascii') as f:
            f.write('\n'.join([
                'ext_ifname=wan0', f'ext_ip={ext_ip(net, name)}' if ext_ip else '#', 'listening_ip=lan0',
                f'http_port={HTTP_PORT}',
                f'enable_natpmp={"yes" if natpmp else "no"}', f'enable_upnp={"yes" if upnp else "no"}',
                'upnp_table_name=portmap', 'upnp_nat_table_name=portmap', 'secure_mode=yes',
                'min_lifetime=1', 'uuid=00000000-0000-0000-0000-000000000001', *lines,
                'allow 1024-65535 192.168.77.0/24 1024-65535', 'deny 0-65535 0.0.0.0/0 0-65535', '']))

    def start(self):
        self.router.run('nft', '-f', '-', input='''
            table inet portmap
            delete table inet portmap
            table inet portmap {
                chain forward { type filter hook forward priority -10; jump miniupnpd; }
                chain prerouting { type nat hook prerouting priority dstnat; jump prerouting_miniupnpd; }
                chain postrouting { type nat hook postrouting priority srcnat; jump postrouting_miniupnpd; }
                chain miniupnpd { }
                chain prerouting_miniupnpd { }
                chain postrouting_miniupnpd { }
            }''')
        with open(self.log_file, 'a', encoding='ascii') as log:
            self.process = self.router.start(
                MINIUPNPD, '-d', '-f', self.config, '-P', self.config.replace('.conf', '.pid'),
                stdin=subprocess.DEVNULL, stdout=log, stderr=log)
        return self

    def stop(self):
        """Ends the daemon as a power failure does, with all mappings."""
        self.process.kill()
        self.process.wait()
        self.router.run('nft', 'delete', 'table', 'inet', 'portmap')

    def occupy(self, port, address):
        """Maps the port to another host of the LAN, by UPnP."""
        values = {'NewRemoteHost': '', 'NewExternalPort': port, 'NewProtocol': 'UDP',
                  'NewInternalPort': port, 'NewInternalClient': address, 'NewEnabled': 1,
                  'NewPortMappingDescription': 'other', 'NewLeaseDuration': 3600}
        body = (f'<?xml version="1.0"?><s:Envelope xmlns:s="http://schemas.xmlsoap.org/soap/envelope/" '
                f's:encodingStyle="http://schemas.xmlsoap.org/soap/encoding/"><s:Body>'
                f'<u:AddPortMapping xmlns:u="{SERVICE}">'
                f'{"".join(f"<{key}>{value}</{key}>" for key, value in values.items())}'
                f'</u:AddPortMapping></s:Body></s:Envelope>')

        def granted():
            try:
                with self.net.node[self.name].namespace:
                    request = http.client.HTTPConnection(LAN, HTTP_PORT, timeout=5, source_address=(address, 0))
                    request.request('POST', '/ctl/IPConn', body, {
                        'Content-Type': 'text/xml', 'SOAPAction': f'"{SERVICE}#AddPortMapping"'})
                return request.getresponse().status == 200
            except OSError:
                return False
        wait_for(granted, 10, f'port {port} is mapped to {address}')

    def mappings(self):
        """{external port: (address, port)} in the rules of the router."""
        rules = self.router.run('nft', 'list', 'table', 'inet', 'portmap').stdout
        found = re.findall(r'dport (\d+) dnat ip to ([\d.]+):(\d+)', rules)
        return {int(port): (ip, int(inside)) for port, ip, inside in found}

    def log(self):
        with open(self.log_file, encoding='utf-8', errors='replace') as f:
            return f.read()


class Datagrams:
    """A UDP server in a thread. answer(datagram) returns the datagrams to send."""

    def __init__(self, endpoint, answer):
        self.answer = answer
        self.socket = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
        self.socket.bind(endpoint)
        self.thread = threading.Thread(target=self._run, daemon=True)
        self.thread.start()

    def _run(self):
        while True:
            try:
                request, client = self.socket.recvfrom(2000)
            except OSError:
                return
            if not request:
                return
            for datagram in self.answer(request):
                self.socket.sendto(datagram, client)

    def close(self):
        # close() does not wake a thread in recvfrom(); shutdown() does, and fails all the same.
        try:
            self.socket.shutdown(socket.SHUT_RDWR)
        except OSError:
            pass
        self.thread.join()
        self.socket.close()


class NatPmp:
    """A NAT-PMP server on the NAT router. answer(opcode, request) returns the datagrams to send."""

    def __init__(self, router, answer):
        self.requests, self.answer = [], answer
        with router:
            self.server = Datagrams((LAN, 5351), self._serve)

    def _serve(self, request):
        self.requests.append(request)
        return self.answer(request[1], request)

    def close(self):
        self.server.close()


SERVICE = 'urn:schemas-upnp-org:service:WANIPConnection:1'


def description(control, base=''):
    """A UPnP description of a gateway with this control address."""
    return f'''<?xml version="1.0"?><root xmlns="urn:schemas-upnp-org:device-1-0">{base}<device>
        <deviceType>urn:schemas-upnp-org:device:InternetGatewayDevice:1</deviceType><deviceList><device>
        <deviceType>urn:schemas-upnp-org:device:WANConnectionDevice:1</deviceType><serviceList><service>
        <serviceType>{SERVICE}</serviceType><controlURL>{control}</controlURL>
        </service></serviceList></device></deviceList></device></root>'''.encode()


class Upnp:
    """A UPnP device in a namespace. It answers each search with a location, and each HTTP request
    with answer(path): bytes, or a generator of bytes."""

    def __init__(self, namespace, address, location, answer):
        self.location, self.paths = location, []
        with namespace:
            self.search = Datagrams(('239.255.255.250', 1900), self._found)
            self.search.socket.setsockopt(socket.IPPROTO_IP, socket.IP_ADD_MEMBERSHIP,
                                          socket.inet_aton('239.255.255.250') + socket.inet_aton(address))
            self.server = http.server.ThreadingHTTPServer((address, HTTP_PORT), self._handler(answer))
        self.thread = threading.Thread(target=self.server.serve_forever, daemon=True)
        self.thread.start()

    def _handler(self, answer):
        paths = self.paths

        class Handler(http.server.BaseHTTPRequestHandler):
            def do_GET(self):
                paths.append(self.path)
                body = answer(self.path)
                try:
                    self.send_response(200)
                    self.send_header('Content-Type', 'text/xml')
                    self.end_headers()
                    for part in [body] if isinstance(body, bytes) else body:
                        self.wfile.write(part)
                except OSError:
                    pass  # the program closed the connection

            do_POST = do_GET

            def log_message(self, *_):
                pass
        return Handler

    def _found(self, request):
        kind = re.search(rb'ST: *(\S+)', request)[1]
        return [b'HTTP/1.1 200 OK\r\nST: %s\r\nUSN: uuid:1::%s\r\nLOCATION: %s\r\n\r\n' % (
            kind, kind, self.location.encode())]

    def close(self):
        self.server.shutdown()
        self.server.server_close()
        self.thread.join()
        self.search.close()


def granting(address, port=None, lifetime=10, result=0):
    """An answer function: a well-formed server with these values."""
    def answer(opcode, request):
        if opcode == 0:
            return [struct.pack('!BBHI4s', 0, 128, result, 1, socket.inet_aton(address))]
        inside, outside, _ = struct.unpack('!HHI', request[4:12])
        return [struct.pack('!BBHIHHI', 0, 128 + opcode, result, 1, inside, port or outside, lifetime)]
    return answer


def mapping(node):
    return node.statistics()['port_mapping']


def wait_state(node, state, within=15):
    """The object `port_mapping` of `show statistics` in this state."""
    return wait_for(lambda: mapping(node)['state'] == state and mapping(node), within,
                    f'port mapping of {node.name} is {state}')


def locators(node, of=None):
    """Addresses of a node in its record, as `node` has it."""
    return node.nodes().get((of or node).node_id, {}).get('locators', [])


__all__ = ['Gateway', 'LAN', 'NatPmp', 'Upnp', 'HTTP_PORT', 'description', 'granting', 'locators', 'mapping', 'own_public_addresses', 'public',
           'wait_state', 'wan']
