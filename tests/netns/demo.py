#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""LEON on one machine: the three sites and the Internet latencies of figure 2 of the paper, with a
host behind each site. The status is 0 only if frames took the faster relayed path and found another
path after a failure. The demonstration needs no other machine, changes no network of the host, and
removes all its state.

    make demo                 watch the demonstration
    make demo DEMO=--stay     explore the running overlay afterwards
"""
import argparse
import os
import re
import shutil
import signal
import statistics
import subprocess
import sys
import textwrap
import time

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))

import ns  # noqa: E402
from lab import PAPER, Lab, merged  # noqa: E402
from node import LeonctlError, leonctl_program, leond_program  # noqa: E402
from traffic import Stream  # noqa: E402

WIDTH = min(100, shutil.get_terminal_size((92, 24)).columns)
OBJECTS = 50
HTTP_PORT = 8000

# All other settings are as shipped; a hold-down of 10 seconds would be long for viewers.
TOPOLOGY = merged(PAPER, {'timing': 'production', 'config': {'path': {'hold-time': 3}}})

SERVER = f'''
import http.server, signal, socketserver
# Ctrl-C is for the demonstration, which ends its servers itself.
signal.signal(signal.SIGINT, signal.SIG_IGN)
class Small(http.server.BaseHTTPRequestHandler):
    def do_GET(self):
        body = b"a small object of this page\\n" * 20
        self.send_response(200)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)
    def log_message(self, *words):
        pass
class Server(socketserver.ThreadingTCPServer):
    allow_reuse_address = daemon_threads = True
server = Server(("", {HTTP_PORT}), Small)
print("ready", flush=True)
server.serve_forever()
'''

CLIENT = f'''
import sys, time, urllib.request
def page():
    begin = time.monotonic()
    for i in range({OBJECTS}):
        urllib.request.urlopen("http://%s:{HTTP_PORT}/%d" % (sys.argv[1], i), timeout=10).read()
    return time.monotonic() - begin
urllib.request.urlopen("http://%s:{HTTP_PORT}/warm-up" % sys.argv[1], timeout=10).read()
print(page())
'''


class Failed(Exception):
    """An expected result of the demonstration is missing."""


def say(text=''):
    # Each string is a paragraph. The function wraps long sentences.
    print(textwrap.fill(text, WIDTH) if text else '', flush=True)


def heading(number, text):
    print(f'\n{number}. {text}\n{"-" * (len(text) + 3)}', flush=True)


def shell(site, words, text):
    """Prints a command of a shell at the site, and the output."""
    print(f'\n  {site}$ {words}')
    print(textwrap.indent(text.rstrip(), '  ') + '\n', flush=True)


def leonctl(net, site, *words):
    shell(site, 'leonctl ' + ' '.join(words), net.node[site].leonctl(*words, json_output=False))


def wan_address(net, site):
    return net.node[site].config['source-address'][0]


def ping(namespace, address, count=20):
    """The shortest round-trip time, because a busy machine adds delay."""
    text = namespace.run('ping', '-n', '-q', '-c', count, '-i', '0.1', address).stdout
    found = re.search(r'= ([\d.]+)/', text)
    if not found:
        raise Failed(f'no answer from {address}')
    return float(found.group(1))


def fetch_page(namespace, address):
    return float(namespace.run('/usr/bin/python3', '-c', CLIENT, address).stdout)


def bar(label, value, most, unit):
    length = max(1, round(40 * value / most))
    print(f'  {label:<26} {"#" * length:<40} {value:6.1f} {unit}')


def wait_path(net, a, b, via, within=60):
    try:
        net.wait_path(a, b, via, within)
        net.wait_path(b, a, [*reversed(via[:-1]), a], within)
    except AssertionError as e:
        raise Failed(str(e)) from None


def introduce(net):
    heading(1, 'Three sites and an Internet between them')
    say('Round-trip times of the Internet here: Fujisawa - Seoul 32 ms, Inagi - Seoul 17 ms, '
        'Fujisawa - Inagi 4 ms. By way of Inagi, Seoul is only 21 ms from Fujisawa; the Internet '
        'does not know, LEON finds out.')
    net.joined(60)
    net.settle_hosts('fujisawa', 'seoul', within=20)
    say('All three leond are up and know each other; a host behind each is in one Ethernet.')
    leonctl(net, 'fujisawa', 'show', 'nodes')


def faster_path(net):
    heading(2, 'The faster path')
    fujisawa, seoul = net.node['fujisawa'], net.host['seoul']
    wait_path(net, 'fujisawa', 'seoul', ['inagi', 'seoul'])
    leonctl(net, 'fujisawa', 'show', 'paths')
    leonctl(net, 'fujisawa', 'explain', 'path', 'seoul')
    leonctl(net, 'fujisawa', 'trace', 'seoul')
    relayed = net.node['inagi'].counter('relayed_datagrams')
    direct = ping(fujisawa.namespace, wan_address(net, 'seoul'))
    through = ping(net.host['fujisawa'].namespace, seoul.ip4)
    relayed = net.node['inagi'].counter('relayed_datagrams') - relayed
    say('ping, 10 times, average:')
    bar('Internet', direct, direct, 'ms')
    bar('LEON, host to host', through, direct, 'ms')
    say()
    say(f'Inagi relayed {relayed} datagrams meanwhile.')
    if relayed < 20:
        raise Failed('the frames did not go through Inagi')
    if through >= direct:
        raise Failed('LEON was not faster than the Internet')


def many_small_requests(net):
    heading(3, 'What it means for a program')
    for namespace in (net.node['seoul'].namespace, net.host['seoul'].namespace):
        server = namespace.start('/usr/bin/python3', '-c', SERVER, stdout=subprocess.PIPE)
        server.stdout.readline()
    say(f'A page with {OBJECTS} small objects, fetched from Seoul one after the other, each over '
        'a new connection (median of 3):')
    direct, through = [], []
    for _ in range(3):
        direct.append(fetch_page(net.node['fujisawa'].namespace, wan_address(net, 'seoul')))
        through.append(fetch_page(net.host['fujisawa'].namespace, net.host['seoul'].ip4))
    direct, through = statistics.median(direct), statistics.median(through)
    bar('Internet', direct, direct, 's')
    bar('LEON, host to host', through, direct, 's')
    print(f'\n  {direct / through:.2f} times as fast')


def failure(net):
    heading(4, 'The relay dies')
    host, far = net.host['fujisawa'], net.host['seoul']
    flow = Stream(host.namespace, far.namespace, far.ip4).start()
    flow.arrived(200)
    say('200 packets a second flow from Fujisawa to Seoul through Inagi. Now leond of Inagi is '
        'killed (SIGKILL: it has no time to say good-bye).')
    net.node['inagi'].kill()
    try:
        flow.arrived(200, within=20)
    except AssertionError as e:
        raise Failed(str(e)) from None
    finally:
        flow.stop()
    seconds, lost = flow.gap()
    wait_path(net, 'fujisawa', 'seoul', ['seoul'])
    say()
    say(f'{lost} packets were lost, a gap of {1000 * seconds:.0f} ms; then traffic flowed over the '
        f'direct path. (In all: {len(flow.sent)} sent, {flow.lost} lost.)')
    leonctl(net, 'fujisawa', 'show', 'paths')
    return seconds


def recovery(net):
    heading(5, 'The relay comes back')
    net.start('inagi')
    begin = time.monotonic()
    net.joined(60)
    wait_path(net, 'fujisawa', 'seoul', ['inagi', 'seoul'])
    say(f'Inagi is started again; {time.monotonic() - begin:.1f} s later its site is part of the '
        'Ethernet again and frames go through it.')
    leonctl(net, 'fujisawa', 'show', 'paths')
    rtt = ping(net.host['fujisawa'].namespace, net.host['seoul'].ip4)
    if rtt >= 32:
        raise Failed(f'{rtt:.1f} ms is not the faster path')
    return rtt


def stay(net):
    heading(6, 'Look around')
    say('Everything stays until you press Ctrl-C. In another terminal (as the same user):')
    print('\n  the hosts behind the nodes, for a ping or a shell:')
    for name, host in net.host.items():
        print(f'    {name:<9} {host.ip4:<10} {host.namespace.enter_command()} bash')
    print('\n  the nodes themselves, with leon0, br0 and wan0:')
    for name, node in net.node.items():
        print(f'    {name:<9} {wan_address(net, name):<10} {node.namespace.enter_command()} bash')
    print('\n  what they say:')
    for node in net.node.values():
        print(f'    {leonctl_program()} --socket {node.socket} show nodes')
    print(flush=True)
    while True:
        signal.pause()


def check_this_machine():
    for program in (leond_program(), leonctl_program()):
        if not os.path.exists(program):
            raise Failed(f'{program} is not there: run `make` first')
    if not os.access('/dev/net/tun', os.R_OK | os.W_OK):
        raise Failed('this user may not open /dev/net/tun: try as root')


def demonstrate(arguments):
    check_this_machine()
    try:
        ns.enter_lab()
    except OSError as e:
        raise Failed(f'this user may not make network namespaces ({e}): try as root') from None
    net = Lab(TOPOLOGY)
    try:
        introduce(net)
        faster_path(net)
        many_small_requests(net)
        gap = failure(net)
        rtt = recovery(net)
        heading('Done', 'Summary')
        say(f'The relayed path was taken, survived the death of its relay with a gap of '
            f'{1000 * gap:.0f} ms, and is in use again at {rtt:.1f} ms instead of 32.')
        if arguments.stay:
            try:
                stay(net)
            except KeyboardInterrupt:
                print()
    except BaseException:
        for name, node in net.node.items():
            if sys.exc_info()[0] is not KeyboardInterrupt:
                print(f'\nlast words of {name}:\n{textwrap.indent(node.log()[-1500:], "  ")}')
        net.close(check=False)
        raise
    net.close()


def main():
    parser = argparse.ArgumentParser(description='Three sites, one Ethernet, the faster path.')
    parser.add_argument('--stay', action='store_true',
                        help='keep everything up at the end, to look around in it')
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))
    try:
        demonstrate(parser.parse_args())
    except KeyboardInterrupt:
        print('\nstopped')
        return 130
    except (Failed, AssertionError, LeonctlError, RuntimeError) as e:
        print(f'\nThe demonstration failed: {e}', file=sys.stderr)
        return 1
    print('\nEverything is removed again.')
    return 0


if __name__ == '__main__':
    sys.exit(main())
