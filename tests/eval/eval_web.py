#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""The evaluation of the paper as a person sees it: pages of MediaWiki at Server 1 with PostgreSQL
at Server 3. MediaWiki sends one statement after another, so a page takes C + k x RTT. The
round-trip times are those of eval_nfs.py: 21.7 ms direct, 7.6 ms by the relay Server 2.

One php-fpm serves all variants, which differ only in the address of the database. The addresses are
at a cable without delay, at the Internet, and at LEON with its relay. A further address is at an
emulated link with the RTT of the relayed path. The client is hey, one page after another. Rounds
are interleaved. The output has medians, spread and ratios, and tests/bench/plot_web.py draws the
JSON file.

    make eval-web [EVAL_ARGS='--rounds 5 --json FILE']
"""
import argparse
import contextlib
import json
import os
import platform
import re
import signal
import statistics
import sys
import time

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(HERE, '../netns'))

import ns  # noqa: E402
import wan  # noqa: E402
import web_figures  # noqa: E402
from eval_nfs import OVERLAY, SITES  # noqa: E402
from lab import Lab, wait_for  # noqa: E402
from wiki import Servers, find, missing  # noqa: E402

RELAYED_MS = 7.6
PAGES = {'view': 'title=Main_Page', 'history': 'title=Main_Page&action=history',
         'edit': 'title=Main_Page&action=edit'}
THERE, BACK = ('server1', 'server3'), ('server3', 'server1')
# Of Server 3, as seen from Server 1.
ADDRESSES = {'local': '10.30.0.3', 'direct': wan.ip4(2), 'leon': OVERLAY['server3'], 'ideal': '10.20.0.3'}


def add_cable(net):
    web, database = net.node['server1'].namespace, net.node['server3'].namespace
    ns.connect(web, 'cable0', database, 'cable0')
    for namespace, number in ((web, 1), (database, 3)):
        namespace.ip(f'addr add 10.30.0.{number}/24 dev cable0')


def add_ideal(net):
    """A link of the emulator with the RTT of the relayed path."""
    ends = [(net.node[name].namespace, name + '-ideal', number)
            for name, number in (('server1', 1), ('server3', 3))]
    index = [net.wan.add_site(site, namespace, 'ideal0', v4=False) for namespace, site, _ in ends]
    for i, (namespace, _, number) in enumerate(ends):
        namespace.ip(f'addr add 10.20.0.{number}/24 dev ideal0',
                     f'neigh replace 10.20.0.{ends[1 - i][2]} lladdr {wan.mac(index[1 - i])} dev ideal0 '
                     'nud permanent')
    net.wan.rtt(ends[0][1], ends[1][1], RELAYED_MS * wan.MS)


def prepare(net):
    for name, address in OVERLAY.items():
        net.node[name].namespace.ip(f'addr add {address}/24 dev leon0')
    add_cable(net)
    add_ideal(net)
    for a, b in (THERE, BACK):
        net.wait_path(a, b, ['server2', b], within=60)


def rtt_ms(net, address):
    out = net.node['server1'].namespace.run('ping', '-c', '20', '-i', '0.1', address).stdout
    return statistics.median(float(ms) for ms in re.findall(r'time=([\d.]+) ms', out))


def load(servers, path, page, number, rate):
    """Page times, and the round trips of a page."""
    before = servers.log_end()
    command = [find('hey'), '-n', number, '-c', 1, '-q', rate, '-o', 'csv', servers.url(path, PAGES[page])]
    ms = web_figures.response_times(servers.web.run(*command, timeout=600).stdout)
    if len(ms) != number:
        raise RuntimeError(f'hey loaded {len(ms)} of {number} pages')

    def counted():
        found = web_figures.round_trips(servers.log(before))
        return found if found['connections'] >= number else None
    found = wait_for(counted, 10, f'the log of PostgreSQL has {number} connections')
    return {'ms': ms, 'round_trips': found['round_trips'] / number}


def relayed(net):
    """True if both directions go through the relay."""
    return all(net.hops(a, b) == ['server2', b] for a, b in (THERE, BACK))


def changes(net):
    return [net.node[a].paths()[net.node[b].node_id]['changes'] for a, b in (THERE, BACK)]


def one_round(net, servers, arguments):
    """None if a path of LEON was not through the relay all the time."""
    before = changes(net)
    result = {page: {path: load(servers, path, page, arguments.pages, arguments.rate) for path in ADDRESSES}
              for page in PAGES}
    return result if relayed(net) and changes(net) == before else None


def warm(servers):
    """Every worker compiles the code and fills the caches of MediaWiki."""
    for page in PAGES:
        for path in ADDRESSES:
            load(servers, path, page, 4, 100)


def start(stack):
    """The overlay and the servers, which end with the stack."""
    net = Lab(SITES)
    stack.callback(net.close, check=False)
    net.joined(60)
    prepare(net)
    ends = [net.node[name].namespace for name in ('server1', 'server3')]
    servers = Servers(*ends, os.path.join(net.directory, 'wiki'), ADDRESSES)
    stack.callback(servers.stop)
    servers.install(ADDRESSES['local'])
    servers.start_web()
    warm(servers)
    return net, servers


def measure(net, servers, arguments):
    conditions = {'pages': arguments.pages, 'cores': os.cpu_count(), 'kernel': platform.release(),
                  'load': [os.getloadavg()[0]]}
    rtt = {path: rtt_ms(net, address) for path, address in ADDRESSES.items()}
    print(net.node['server1'].leonctl('show', 'paths', json_output=False), flush=True)
    rounds = []
    for i in range(arguments.rounds):
        begin = time.monotonic()
        found = one_round(net, servers, arguments)
        rounds += [found] if found else []
        conditions['load'].append(os.getloadavg()[0])
        print(f'round {i + 1} of {arguments.rounds}: {time.monotonic() - begin:.0f} s, load average '
              f'{conditions["load"][-1]:.1f}{"" if found else ", not counted: a path of LEON changed"}',
              flush=True)
    if not rounds:
        sys.exit('a path of LEON changed in every round')
    conditions['rounds'] = len(rounds)
    return {'about': conditions, 'rtt_ms': rtt, 'rounds': rounds,
            'rows': web_figures.summary(PAGES, rounds, rtt)}


def end(received, _):
    """Ends by an exception, because the default action would leave the directory."""
    signal.signal(received, signal.SIG_IGN)
    sys.exit(128 + received)


def at_least_1(text):
    if not text.isdecimal() or int(text) < 1:
        raise argparse.ArgumentTypeError(f'{text} is no number of at least 1')
    return int(text)


def new_file(path):
    """Opens the file before the measurement, because a later failure would lose the figures."""
    try:
        with open(path, 'a', encoding='utf-8'):
            return path
    except OSError as e:
        raise argparse.ArgumentTypeError(str(e)) from e


def main():
    parser = argparse.ArgumentParser(description=__doc__.split('\n', maxsplit=1)[0])
    parser.add_argument('--rounds', type=at_least_1, default=5)
    parser.add_argument('--pages', type=at_least_1, default=20, help='of a kind on a path in a round')
    parser.add_argument('--rate', type=at_least_1, default=4, help='at most, pages/s')
    parser.add_argument('--json', type=new_file, help='all figures into this file')
    arguments = parser.parse_args()
    lacking = missing()
    if lacking:
        sys.exit(f'{", ".join(lacking)} not installed: run `make eval-web`')
    for number in (signal.SIGTERM, signal.SIGHUP):
        signal.signal(number, end)
    ns.enter_lab()
    with contextlib.ExitStack() as stack:
        figures = measure(*start(stack), arguments)
    print('\n' + web_figures.table(figures['rows']))
    if arguments.json:
        with open(arguments.json, 'w', encoding='utf-8') as f:
            json.dump(figures, f, indent=1)


if __name__ == '__main__':
    main()
