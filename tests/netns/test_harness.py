# SPDX-License-Identifier: GPL-2.0-or-later
"""The harness does not change the host and leaves no state."""
import contextlib
import os

import pytest

import ns
import wan
from lab import Lab, PAPER
from node import LeonctlError, wait_for
from traffic import Tap, ethernet


def inode(path):
    return os.stat(path).st_ino


def processes_in(namespaces):
    """Pids of processes in one of these network namespaces."""
    found = []
    for pid in filter(str.isdigit, os.listdir('/proc')):
        try:
            if inode(f'/proc/{pid}/ns/net') in namespaces:
                found.append(int(pid))
        except OSError:
            continue
    return found


@contextlib.contextmanager
def inodes_of(namespaces):
    """Inode numbers, which the kernel reuses for namespaces of other tests only afterwards."""
    held = [os.dup(n.fd) for n in namespaces]
    yield {os.fstat(fd).st_ino for fd in held}
    for fd in held:
        os.close(fd)


def children():
    with open(f'/proc/self/task/{os.getpid()}/children', encoding='ascii') as f:
        return f.read().split()


def test_tests_run_in_namespaces_of_their_own():
    for kind in ('net', 'mnt'):
        assert inode(f'/proc/self/ns/{kind}') != ns.host_namespaces[kind]


def test_network_ends_without_a_trace():
    before = children()
    emulator, site = wan.Wan(), ns.Namespace('site')
    emulator.add_site('site', site)
    sleeper = site.start('sleep', '1000')
    with inodes_of([site, emulator.namespace]) as inodes:
        assert sleeper.pid in processes_in(inodes)
        emulator.close()
        site.close()
        assert not processes_in(inodes)
    assert children() == before


def test_lab_ends_without_a_trace(lab):
    before = children()
    net = lab(PAPER)
    namespaces = [*net.spare, net.wan.namespace, *(h.namespace for h in net.host.values())]
    directory = net.directory
    with inodes_of(namespaces) as inodes:
        assert len(processes_in(inodes)) == 4 and os.listdir(directory)
        net.close()
        assert not processes_in(inodes)
    assert children() == before
    assert not os.path.exists(directory)
    assert net not in Lab.live


def test_wait_for_says_what_did_not_happen():
    with pytest.raises(AssertionError, match='the sky falls.*last seen: 0'):
        wait_for(lambda: 0, 0.1, 'the sky falls')

    def refused():
        raise LeonctlError('no daemon')
    with pytest.raises(AssertionError, match='no daemon'):
        wait_for(refused, 0.1)


def test_frames_that_arrived_count_after_the_end(keep):
    site = keep(ns.Namespace('site'))
    site.ip('link add veth0 type veth peer name veth1', 'link set veth0 up', 'link set veth1 up')
    # The kernel drops frames without an error until the link is active.
    wait_for(lambda: 'state UP' in site.run('ip', 'link', 'show', 'veth0').stdout, 10, 'the link is up')
    out, into = keep(Tap(site, 'veth0')), keep(Tap(site, 'veth1'))
    for number in range(9):
        out.send(ethernet('02:00:00:00:00:02', '02:00:00:00:00:01', 0x88b6, bytes([number])))

    def ours(frame):
        return frame[12:14] == b'\x88\xb6'
    wait_for(lambda: into.frames(ours, within=0), 5)
    (second,) = into.frames(ours)
    assert second[14] == 1 and len(into.frames(ours, until=99, within=0)) == 7
