#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""Cost of an idle node: CPU, memory, descriptors, threads and control traffic of leond as shipped,
alone and with 12 and 40 nodes. Also the memory of an added node and of 10,000 MAC addresses. All
nodes run on this machine. CPU is the time of the processes, so other load has little effect below
full load. At full load, datagrams wait and are processed in batches, at a lower cost than on a
real router. The column `busy` has the load.

The bench predicts the cost of a larger overlay from the largest measured one. The prediction has
two parts. The first part is the measured cost of a datagram times the datagrams of a node in the
simulation (tests/sim/sim_control). The second part is the memory of the added nodes. On a machine
with eight cores or more: --nodes 1 12 100.

--interval is `measurement interval` in ms, and `fast-interval` is a tenth. At 10000, 100 nodes use
40 % of two cores. --simulate compares the control traffic of real nodes with the simulation.

    LEON_BUILD=build tests/bench/bench_footprint.py [--nodes 1 12 40] [--seconds 30] [--json FILE]
    LEON_BUILD=build tests/bench/bench_footprint.py --nodes 100 --interval 10000 --simulate
"""
import argparse
import json
import os
import statistics
import subprocess
import sys
import tempfile
import time

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), '../netns'))

import matrix  # noqa: E402
import ns  # noqa: E402
import wan  # noqa: E402
from lab import Lab, line_up, wait_for  # noqa: E402
from node import build_dir  # noqa: E402
from traffic import Tap, ethernet, mac_bytes  # noqa: E402

GROUP = 2
MACS = 10000
ROOM = 131072
INTERVAL_MS = 1000  # default of `measurement interval`
SETTLE = 30  # intervals, as in sim_control
SITES = 90  # that matrix.planetlab() has
LEAST_MS = 0.05
JITTER = 0.02
LOSS_PERMILLE = 1
UDP_IP_LEN = 28
COLUMNS = (('nodes', 'nodes', '', 5, 0), ('joined_s', 'joined', 's', 6, 0),
           ('cpu_percent', 'cpu', '%', 6, 2), ('cpu_percent_worst', 'worst', '%', 6, 2),
           ('cpu_us_per_datagram', 'cpu/dgram', 'us', 9, 1),
           ('switches_per_datagram', 'switches', '/dgram', 8, 2),
           ('rss_kib', 'rss', 'KiB', 6, 0), ('pss_kib', 'pss', 'KiB', 6, 0),
           ('private_kib', 'private', 'KiB', 7, 0), ('descriptors', 'fds', '', 4, 0),
           ('threads', 'threads', '', 7, 0), ('tx_datagrams_s', 'tx', 'dgram/s', 7, 1),
           ('tx_bytes_s', 'tx', 'byte/s', 7, 0), ('rx_datagrams_s', 'rx', 'dgram/s', 7, 1),
           ('path_runs_s', 'paths', '/s', 6, 1),
           ('machine_busy_percent', 'busy', '%', 5, 0))


def cpu_and_switches(pid):
    """utime + stime of all threads in ns (count of the scheduler), and the context switches."""
    ns_, switches = 0, 0
    for thread in os.listdir(f'/proc/{pid}/task'):
        with open(f'/proc/{pid}/task/{thread}/schedstat', encoding='ascii') as f:
            ns_ += int(f.read().split()[0])
        with open(f'/proc/{pid}/task/{thread}/status', encoding='ascii') as f:
            switches += sum(int(line.split()[1]) for line in f if 'ctxt_switches' in line)
    return ns_, switches


def memory(pid):
    """KiB: resident, shared pages divided among the sharing processes, and private."""
    with open(f'/proc/{pid}/smaps_rollup', encoding='ascii') as f:
        kib = {line.split(':')[0]: int(line.split()[1]) for line in f if line.endswith(' kB\n')}
    return {'rss_kib': kib['Rss'], 'pss_kib': kib['Pss'],
            'private_kib': kib['Private_Clean'] + kib['Private_Dirty']}


def machine():
    """Ticks of all processors: busy, and all."""
    with open('/proc/stat', encoding='ascii') as f:
        ticks = [int(n) for n in f.readline().split()[1:9]]
    return sum(ticks) - ticks[3] - ticks[4], sum(ticks)


def look(nodes):
    seen = []
    for node in nodes:
        control = node.statistics()['control']
        seen.append((time.monotonic(), *cpu_and_switches(node.process.pid), control))
    return seen


def costs(node, before, after):
    """Cost of a node between two samples."""
    seconds = after[0] - before[0]
    cpu, switches = after[1] - before[1], after[2] - before[2]
    rate = {key: (after[3][key] - before[3][key]) / seconds
            for key in ('tx_messages', 'tx_bytes', 'rx_messages', 'path_runs')}
    datagrams = seconds * (rate['tx_messages'] + rate['rx_messages'])
    proc = f'/proc/{node.process.pid}'
    return {'cpu_percent': cpu / seconds / 1e7,
            'cpu_us_per_datagram': cpu / 1000 / datagrams if datagrams else 0.0,
            'switches_per_datagram': switches / datagrams if datagrams else 0.0,
            **memory(node.process.pid),
            'descriptors': len(os.listdir(proc + '/fd')),
            'threads': len(os.listdir(proc + '/task')),
            'tx_datagrams_s': rate['tx_messages'],
            'tx_bytes_s': rate['tx_bytes'] + UDP_IP_LEN * rate['tx_messages'],
            'rx_datagrams_s': rate['rx_messages'], 'path_runs_s': rate['path_runs']}


def rates_by_type(before, after):
    """Messages a second that a mean node sends, by type."""
    total = {}
    for first, last in zip(before, after):
        for kind, n in last[3]['tx_by_type'].items():
            rate = (n - first[3]['tx_by_type'].get(kind, 0)) / (last[0] - first[0]) / len(after)
            total[kind] = total.get(kind, 0) + rate
    return total


def round_trips(n):
    """Above SITES nodes share the sites, as in the simulation."""
    rtt = matrix.planetlab(min(n, SITES))
    return {(f'n{a}', f'n{b}'): max(rtt[a % SITES][b % SITES], LEAST_MS)
            for a in range(n) for b in range(a)}


def topology(n, interval=INTERVAL_MS, **config):
    return line_up(n, hosts=False, timing='production', rtt_ms=round_trips(n),
                   config={'system': {'workers': 2}, **config,
                           'measurement': {'interval': interval, 'fast-interval': interval // 10}})


def add_jitter(net):
    """Jitter and loss of sim_control."""
    for (a, b), ms in net.topology['rtt_ms'].items():
        net.wan.both(a, b, jitter_us=int(ms * wan.MS / 2 * JITTER), loss_permille=LOSS_PERMILLE)


def measure(n, seconds, interval, jitter):
    """A row of the table."""
    begin = time.monotonic()
    net = Lab(topology(n, interval), start=False)
    try:
        if jitter:
            add_jitter(net)
        # A few nodes at a time, as in a growing overlay. A simultaneous start would measure the
        # machine.
        names = list(net.node)
        for first in range(0, n, GROUP):
            net.launch(*names[first:first + GROUP])
            for name in names[first:first + GROUP]:
                net.attach(name, within=300)
            net.joined(within=600, names=names[:first + GROUP])
        joined = time.monotonic() - begin
        time.sleep(SETTLE * interval / 1000)  # not a wait for an event: the idle state is measured
        nodes = list(net.node.values())
        before, busy = look(nodes), machine()
        time.sleep(seconds)
        busy = [now - then for now, then in zip(machine(), busy)]
        after = look(nodes)
        found = [costs(*what) for what in zip(nodes, before, after)]
    except BaseException:
        net.close(check=False)
        raise
    net.close(check=n < 50)  # on full processors, some nodes miss the deadline
    cpu = sorted(node['cpu_percent'] for node in found)
    row = {key: statistics.median(node[key] for node in found) for key in found[0]}
    return {'nodes': n, 'joined_s': joined, **row, 'by_type': rates_by_type(before, after),
            'cpu_percent_worst': cpu[-1],
            'cpu_percent_quartiles': [cpu[len(cpu) // 4], cpu[3 * len(cpu) // 4]],
            'machine_busy_percent': 100 * busy[0] / max(1, busy[1])}


def simulate(n, interval):
    """Settled control traffic of a node among n nodes of the simulation."""
    program = os.path.join(build_dir(), 'tests/sim/sim_control')
    with tempfile.NamedTemporaryFile('r', encoding='utf-8') as f:
        subprocess.run([program, '--settled', '--json', f.name, '--interval', str(interval),
                        str(n)], stdout=subprocess.DEVNULL, check=True)
        run = json.load(f)['runs'][0]
    return {'nodes': n, 'tx_datagrams_s': run['messages_per_s_per_node'],
            'tx_bytes_s': run['bytes_per_s_per_node'], 'by_type': run['messages_per_s_by_type']}


def print_comparison(row, simulated):
    parts = [f'{name} {row[key]:.1f} : {simulated[key]:.1f} = {row[key] / simulated[key]:.2f}'
             for key, name in (('tx_datagrams_s', 'datagrams/s'), ('tx_bytes_s', 'bytes/s'))]
    parts += [f'{kind} {row["by_type"].get(kind, 0):.2f} : {rate:.2f} a second'
              for kind, rate in simulated['by_type'].items() if rate >= 0.05]
    print(f'among {row["nodes"]}, real : simulated: {", ".join(parts)}', flush=True)


def predict(n, largest, kib_per_node):
    """Predicted cost of a node among n nodes, from the traffic of the simulation."""
    simulated = simulate(n, INTERVAL_MS)
    return {**simulated,
            'cpu_percent':
                2 * simulated['tx_datagrams_s'] * largest['cpu_us_per_datagram'] / 1e4,
            'private_kib': largest['private_kib'] + kib_per_node * (n - largest['nodes'])}


# --- MAC addresses ---

def teach(net, n):
    """n1 learns n hosts behind n0. The frames have the address of n1 as destination, so no frame
    is flooded."""
    port = Tap(net.node['n0'].namespace, 'leon0')
    target = net.node['n1'].statistics()['mac']
    template = ethernet(target, '02:dd:00:00:00:00', 0x88b5, b'one of many')
    wanted = min(n, net.node['n1'].show('fdb')['maximum'])

    def known():
        return net.node['n1'].statistics()['memory']['fdb_entries'] >= wanted

    def taught():
        for first in range(0, n, 500):
            for i in range(first, min(n, first + 500)):
                port.send(template[:6] + mac_bytes(f'02dd{i:08x}') + template[12:])
            time.sleep(0.01)  # the ring of events holds some thousands
        return known()
    Tap(net.node['n1'].namespace, 'leon0').send(
        ethernet(net.node['n0'].statistics()['mac'], target, 0x88b5, b'here I am'))
    wait_for(taught, 120, f'n1 knows {wanted} MACs', every=0.5)


def measure_macs():
    """Private KiB of a node before, with and after MAC addresses, and for different table sizes."""
    found = {}
    for name, config in (('', {'fdb': {'aging': 20}}), ('large_', {'fdb': {'maximum': ROOM}})):
        net = Lab(topology(2, **config))
        try:
            net.joined(within=60)
            node = net.node['n1']
            found[f'{name}before'] = memory(node.process.pid)['private_kib']
            if not name:
                teach(net, MACS)
                found['with_10000'] = memory(node.process.pid)['private_kib']
                wait_for(lambda: node.statistics()['memory']['fdb_entries'] == 0, 120,
                         'all MACs are forgotten', every=0.5)
                found['after_aging'] = memory(node.process.pid)['private_kib']
                found['maximum'] = node.show('fdb')['maximum']
                teach(net, found['maximum'] + 2000)
                found['full'] = memory(node.process.pid)['private_kib']
        except BaseException:
            net.close(check=False)
            raise
        net.close()
    found['room_per_10000_kib'] = (found['large_before'] - found['before']) * MACS / \
        (ROOM - found['maximum'])
    return found


def print_head():
    for part in (1, 2):
        print(' '.join(f'{column[part]:>{column[3]}}' for column in COLUMNS))


def print_row(row):
    print(' '.join(f'{row[key]:{width}.{digits}f}' for key, _, _, width, digits in COLUMNS),
          flush=True)


def print_macs(macs):
    print(f'private KiB of a node: {macs["before"]}; with {MACS} MACs {macs["with_10000"]}, aged '
          f'{macs["after_aging"]}, FDB full ({macs["maximum"]}) {macs["full"]}; room for 10000 more '
          f'{macs["room_per_10000_kib"]:.0f}')


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument('--nodes', type=int, nargs='*', default=[1, 12, 40])
    parser.add_argument('--seconds', type=float, default=30)
    parser.add_argument('--predict', type=int, default=100, metavar='N')
    parser.add_argument('--interval', type=int, metavar='MS', default=INTERVAL_MS)
    parser.add_argument('--simulate', action='store_true')
    parser.add_argument('--json', help='file for all figures')
    arguments = parser.parse_args()
    ns.enter_lab()
    print('Each value is the median of the nodes, `worst` the highest of all.')
    print_head()
    rows = []
    for n in arguments.nodes:
        rows.append(measure(n, arguments.seconds, arguments.interval, arguments.simulate))
        print_row(rows[-1])
        if arguments.simulate:
            rows[-1]['simulated'] = simulate(n, arguments.interval)
            print_comparison(rows[-1], rows[-1]['simulated'])
    result = {'rows': rows}
    if len(rows) > 1:
        first, last = rows[0], rows[-1]
        more = (last['private_kib'] - first['private_kib']) / (last['nodes'] - first['nodes'])
        result['private_kib_per_node'] = more
        result['predicted'] = row = predict(arguments.predict, last, more)
        print(f'memory of an added node: {more:.0f} KiB')
        print(f'among {row["nodes"]}, predicted: {row["cpu_percent"]:.2f} % of a core, '
              f'{row["private_kib"]:.0f} KiB private, {row["tx_datagrams_s"]:.0f} datagrams and '
              f'{row["tx_bytes_s"]:.0f} bytes sent a second')
    if not arguments.simulate:
        result['macs'] = macs = measure_macs()
        print_macs(macs)
    if arguments.json:
        with open(arguments.json, 'w', encoding='utf-8') as f:
            json.dump(result, f, indent=1)


if __name__ == '__main__':
    main()
