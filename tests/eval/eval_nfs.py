#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""The evaluation of the paper (section 5, Tables 3 and 4): NFSv3 between Server 1 and Server 3,
directly over the Internet and over LEON with Server 2 as relay. Table 4 implies the round-trip
times: 21.7 ms direct, 7.6 ms relayed. The access link of Server 3 has 42 Mbit/s.

The server is nfs-ganesha and the client libnfs (nfsload.c), because both need no kernel with NFS.
The seek column of the paper mostly measures a cached file, so random 4 KiB operations of five jobs
replace the column. Rounds are interleaved, direct and LEON. The output has medians, spread and
ratios.

    make eval [EVAL_ARGS='--rounds 3']
"""
import argparse
import json
import os
import shutil
import socket
import statistics
import subprocess
import sys
import time

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(HERE, '../netns'))

import ns  # noqa: E402
import wan  # noqa: E402
from lab import Lab, wait_for  # noqa: E402
from node import build_dir  # noqa: E402

SITES = {
    'sites': {'server1': {}, 'server2': {}, 'server3': {}},
    'rtt_ms': {('server1', 'server3'): 21.7, ('server1', 'server2'): 3.8,
               ('server2', 'server3'): 3.8},
    'hosts': False, 'timing': 'production', 'config': {'path': {'hold-time': 3}},
}
CAP_KBIT = 42_000
OVERLAY = {'server1': '10.10.0.1', 'server3': '10.10.0.3'}
PORTS = {'nfs': 2049, 'mount': 20048}
# From Tables 3 and 4 of the paper. The seek operations are a different measure without a
# comparison.
PAPER = {'create': (23, 65), 'info': (46, 132), 'delete': (46, 132),
         'read': (4537, 4726), 'write': (5372, 5198), 'random': (None, None)}
UNIT = {'create': '/s', 'info': '/s', 'delete': '/s', 'read': 'KB/s', 'write': 'KB/s',
        'random': '/s'}

GANESHA = '''
NFS_CORE_PARAM {{
    Protocols = 3;
    NFS_Port = {nfs};
    MNT_Port = {mount};
    Enable_NLM = false;
    Enable_RQUOTA = false;
}}
EXPORT {{
    Export_Id = 1;
    Path = "{path}";
    Pseudo = "/export";
    Access_Type = RW;
    Squash = None;
    SecType = sys;
    Protocols = 3;
    Transports = TCP;
    FSAL {{ Name = VFS; }}
}}
LOG {{ Default_Log_Level = WARN; }}
'''

# In a private mount namespace, because both programs leave files in /run.
SERVER = '''
mount -t tmpfs none /run && mkdir -p /run/rpcbind /run/ganesha /var/run/ganesha
mount -t tmpfs none /var/lib/nfs && mkdir -p /var/lib/nfs/ganesha
if [ -n "$4" ]; then mkdir /run/dbus && dbus-daemon --config-file="$4" --nofork --nopidfile & fi
rpcbind -f -w & exec ganesha.nfsd -F -f "$1" -L "$2" -p "$3"
'''


def need(program):
    found = shutil.which(program, path=os.environ['PATH'] + ':/usr/sbin:/sbin')
    if not found:
        sys.exit(f'{program} is not installed: run `make eval`')
    return found


def answers(namespace, address, port):
    with namespace, socket.socket() as s:
        s.settimeout(1)
        return s.connect_ex((address, port)) == 0


class NfsServer:
    """nfs-ganesha with one export in a namespace, on every address of the namespace. `bus` is the
    configuration of a message bus of the server, or ''."""

    def __init__(self, namespace, directory, bus=''):
        self.export = os.path.join(directory, 'export')
        os.makedirs(self.export)
        config = os.path.join(directory, 'ganesha.conf')
        with open(config, 'w', encoding='utf-8') as f:
            f.write(GANESHA.format(path=self.export, **PORTS))
        self.log = os.path.join(directory, 'ganesha.log')
        # In a private pid namespace, so rpcbind ends with the server.
        self.process = namespace.start(
            'unshare', '--mount', '--pid', '--fork', '--kill-child', '--propagation', 'private',
            'sh', '-c', SERVER, 'sh', config, self.log, os.path.join(directory, 'ganesha.pid'), bus,
            stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        wait_for(lambda: all(answers(namespace, '127.0.0.1', p) for p in PORTS.values()), 60,
                 f'nfs-ganesha answers (its log: {self.log})')


def prepare(net):
    for name, address in OVERLAY.items():
        net.node[name].namespace.ip(f'addr add {address}/24 dev leon0')
    for other in ('server1', 'server2'):
        net.wan.both(other, 'server3', rate_kbit=CAP_KBIT)
    net.wait_path('server1', 'server3', ['server2', 'server3'], within=60)
    net.wait_path('server3', 'server1', ['server2', 'server1'], within=60)


def rtt_ms(net, address):
    out = net.node['server3'].namespace.run('ping', '-c', '10', '-i', '0.1', '-q', address).stdout
    return float(out.rsplit('=', 1)[1].split('/')[1])


def measure(net, server, address, arguments):
    program = os.path.join(build_dir(), 'tests/eval/nfsload')
    run = net.node['server3'].namespace.run(
        program, address, server.export, arguments.files, arguments.megabytes, arguments.seconds,
        timeout=600)
    return json.loads(run.stdout)


def ratio(of, to):
    return f'{of / to:.2f}' if of and to else '-'


def report(rounds, ping):
    print(f'\nround-trip time: Internet {ping["direct"]:.1f} ms, LEON {ping["leon"]:.1f} ms\n')
    print(f'{"":<8} {"unit":<5} {"direct":>9} {"LEON":>9} {"ratio":>6} {"spread":>13}'
          f'   {"paper":>13} {"ratio":>6}')
    for what, (paper_direct, paper_leon) in PAPER.items():
        direct = statistics.median(r['direct'][what] for r in rounds)
        leon = statistics.median(r['leon'][what] for r in rounds)
        each = [r['leon'][what] / r['direct'][what] for r in rounds]
        paper = f'{paper_direct} / {paper_leon}' if paper_leon else '-'
        print(f'{what:<8} {UNIT[what]:<5} {direct:>9.1f} {leon:>9.1f} {ratio(leon, direct):>6}'
              f' {min(each):>6.2f}-{max(each):<6.2f}   {paper:>13} {ratio(paper_leon, paper_direct):>6}')


def main():
    parser = argparse.ArgumentParser(description=__doc__.split('\n', maxsplit=1)[0])
    parser.add_argument('--rounds', type=int, default=3)
    parser.add_argument('--files', type=int, default=60, help='created, asked for, deleted')
    parser.add_argument('--megabytes', type=int, default=16, help='written and read')
    parser.add_argument('--seconds', type=int, default=5, help='of random access')
    parser.add_argument('--json', help='all figures into this file')
    arguments = parser.parse_args()
    for program in ('ganesha.nfsd', 'rpcbind'):
        need(program)
    ns.enter_lab()
    net = Lab(SITES)
    try:
        net.joined(60)
        prepare(net)
        server = NfsServer(net.node['server1'].namespace, os.path.join(net.directory, 'nfs'))
        address = {'direct': wan.ip4(0), 'leon': OVERLAY['server1']}
        ping = {how: rtt_ms(net, where) for how, where in address.items()}
        rounds = []
        for i in range(arguments.rounds):
            begin = time.monotonic()
            rounds.append({how: measure(net, server, where, arguments)
                           for how, where in address.items()})
            print(f'round {i + 1} of {arguments.rounds}: {time.monotonic() - begin:.0f} s', flush=True)
        if net.hops('server1', 'server3') != ['server2', 'server3']:
            print('note: the path changed while this ran')
    finally:
        net.close(check=False)
    report(rounds, ping)
    if arguments.json:
        with open(arguments.json, 'w', encoding='utf-8') as f:
            json.dump({'ping_ms': ping, 'rounds': rounds}, f, indent=1)


if __name__ == '__main__':
    main()
