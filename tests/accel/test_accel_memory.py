# SPDX-License-Identifier: GPL-2.0-or-later
"""Memory of leon-accel at a node with 16 distant nodes. acceleration.md states the bound."""
import re

from accel import CONFIG, ENDLESS, Transfer, far_apart
from lab import wait_for

FAR_NODES, CONNECTIONS_EACH = 16, 3
MB = 1 << 20
BOUND_MB = 768
RTT_MS = 200
# Sixteen access links together stay below the capacity of two cores.
LINK_KBIT = 4000


def process_mb(accelerator):
    """The largest resident set of the process up to now."""
    with open(f'/proc/{accelerator.process.pid}/status', encoding='ascii') as f:
        return int(re.search(r'VmHWM:\s+(\d+) kB', f.read())[1]) / 1024


def kernel_mb(accelerator):
    """Socket memory in the namespace of the process: receive, transmit, queued and backlog."""
    text = accelerator.namespace.run('ss', '-tmnH').stdout
    return sum(int(n) for memory in re.findall(r'skmem:\(([^)]*)\)', text)
               for n in re.findall(r'\b(?:r|t|f|w|bl)(\d+)', memory)) / MB


def test_sixteen_distant_nodes(module_lab):
    """Hosts send in both directions through 48 intercepted connections, and no host reads. Then all
    hosts read. Process and kernel buffers stay below the documented bound, and no connection
    ends."""
    names = [f'far{i}' for i in range(FAR_NODES)]
    lab = module_lab({'sites': {'hub': {}, **{n: {} for n in names}}, 'config': CONFIG,
                      'rtt_ms': {('hub', n): RTT_MS for n in names}})
    lab.wan.link('*', '*', rate_kbit=LINK_KBIT)
    with far_apart(lab, start=False) as far:
        lab.joined(120)
        for a in far.accel.values():
            a.start()
        hub = far.accel['hub']
        wait_for(lambda: hub.carriers().count('up') == FAR_NODES, 120, 'all inter-proxy connections are up')
        transfers = []
        for n in names:
            lab.settle_hosts('hub', n, 30)
            for _ in range(CONNECTIONS_EACH):
                t = Transfer(lab.host['hub'], lab.host[n], lab.host[n].ip4, up=ENDLESS, down=ENDLESS)
                t.reading.clear()
                transfers.append(t)
        wait_for(lambda: hub.show()['connections_intercepted'] == len(transfers), 120, 'all connections are intercepted')
        peak = 0.0

        def is_idle():
            nonlocal peak, before
            peak = max(peak, kernel_mb(hub))
            counters = hub.counters()
            now = counters['bytes_in'], counters['bytes_out']
            was, before = before, now
            return was == now
        before = None
        wait_for(is_idle, 180, 'all windows are full', every=2)
        print(f'not read: process {process_mb(hub):.0f} MB, kernel {peak:.0f} MB')
        for t in transfers:
            t.enough.set()
            t.reading.set()

        def done():
            nonlocal peak
            peak = max(peak, kernel_mb(hub))
            return not any(thread.is_alive() for t in transfers for thread in t.threads)
        wait_for(done, 600, 'all is read', every=1)
        print(f'at most: process {process_mb(hub):.0f} MB, kernel {peak:.0f} MB')
        for t in transfers:
            t.assert_whole()
            t.close()
        assert process_mb(hub) + peak < BOUND_MB
        for name, a in far.accel.items():
            assert a.counters()['reset'] == 0, name
