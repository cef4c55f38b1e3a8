# SPDX-License-Identifier: GPL-2.0-or-later
"""Arithmetic, counters and stored runs of tests/eval/eval_build.py."""
import os
import sys

import pytest

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path[:0] = [os.path.join(HERE, '../eval'), os.path.join(HERE, '../netns')]

import build_mix  # noqa: E402

# As dbus-send prints the answer of nfs-ganesha 4.3 for GetGlobalOPS.
TOTAL = '''method return time=1795898049.694915 sender=:1.0 -> destination=:1.1 serial=4 reply_serial=2
   boolean true
   string "OK"
   struct {
      uint64 1795898048
      uint64 726275456
   }
   struct {
      string "NFSv3"
      uint64 6240
      string "NFSv40"
      uint64 0
   }
'''
MOUNTSTATS = '''device proc mounted on /proc with fstype proc
device 198.18.0.1:/export mounted on /tmp/nfs with fstype nfs statvers=1.1
  events: 0 0 0
  xprt:   tcp 0 0 1 0 3 100 100 0 100 0 2 0 0
  per-op statistics
          NULL: 1 1 0 44 24 0 0 0 0
       GETATTR: 10 10 0 1160 1120 1 220 230 0
          READ: 1000 1000 0 148000 4224000 30 21800 22000 0
         WRITE: 0 0 0 0 0 0 0 0 0
device none mounted on /x with fstype tmpfs
'''
RTT = {'zero': 0.1, 'direct': 21.8, 'ideal': 7.7, 'leon': 7.8}


def runs_of(compute, operations, extra_ms=None):
    extra_ms = extra_ms or {}
    return [{'path': path, 'rtt_ms': rtt, 'operations': operations,
             'seconds': compute + operations * (rtt + extra_ms.get(path, 0)) / 1000}
            for path, rtt in RTT.items() for _ in range(3)]


def test_paper():
    compute, trips = build_mix.law_of(build_mix.PAPER_MINUTES, build_mix.PAPER_RTT_MS)
    assert compute == pytest.approx(48, abs=0.1)
    assert trips == pytest.approx(85_500, abs=100)
    assert build_mix.share(compute * 60, trips, 21.7) == pytest.approx(build_mix.SHARE, abs=0.01)
    assert build_mix.PAPER_RATIO == pytest.approx(0.745, abs=0.001)


def test_calibration():
    assert build_mix.compute_more(34.06, 1000, 21.8) == 0
    # A share of 1.28 needs twice the computing time, a share of .32 half of it.
    assert build_mix.compute_more(17.03, 1000, 21.8) == 100
    assert build_mix.compute_more(68.12, 1000, 21.8) == -50


def test_server_counters():
    assert build_mix.server_operations(TOTAL) == 6240
    with pytest.raises(ValueError, match='no NFSv3 activity'):
        build_mix.server_operations('boolean false\n string "Export does not have any: no NFSv3 activity"')


def test_client_counters():
    assert build_mix.client_operations(MOUNTSTATS) == {'GETATTR': (10, 22.0), 'READ': (1000, 21.8)}
    with pytest.raises(ValueError, match='no NFS mount'):
        build_mix.client_operations('device proc mounted on /proc with fstype proc\n')


def test_verdict_of_the_law():
    rows = build_mix.verdict(runs_of(34.06, 1000))
    assert [row[-1] for row in rows] == [True] * len(rows)
    assert len(rows) == 6


@pytest.mark.parametrize('extra, missed', [
    ({'leon': 1.4}, {'LEON / ideal relay', 'measured / predicted, leon'}),
    ({'direct': 4}, {'measured / predicted, direct', 'LEON / direct'}),
])
def test_verdict_of_a_slow_path(extra, missed):
    assert missed == {row[0] for row in build_mix.verdict(runs_of(34.06, 1000, extra)) if not row[-1]}


def test_verdict_of_another_mix():
    rows = {row[0]: row for row in build_mix.verdict(runs_of(17, 1000))}
    assert not rows['k x RTT / C, direct'][-1]
    assert rows['measured / predicted, leon'][-1]


@pytest.fixture
def results(tmp_path):
    pytest.importorskip('seccomp')
    import eval_build
    return eval_build.Results(str(tmp_path / 'runs.json'), {'targets': 'vmlinux'}, fresh=False)


def build(results, path, operations=1000):
    """A run with a computing time of 17.03 s for every 100 % of the objects."""
    compute = 17.03 * (1 + results.data['again'] / 100)
    results.add({'path': path, 'rtt_ms': RTT[path], 'again': results.data['again'],
                 'operations': operations, 'seconds': compute + operations * RTT[path] / 1000})


def test_runs_in_order_after_calibration(results):
    seen = []
    while path := results.next_path(2):
        seen.append((path, results.data['again']))
        build(results, path)
    # The first mix waits too long; twice the computing time is right.
    assert seen == [('zero', 0), ('direct', 0), ('zero', 100), ('direct', 100), ('ideal', 100),
                    ('leon', 100), ('zero', 100), ('direct', 100), ('ideal', 100), ('leon', 100)]
    assert all(row[-1] for row in build_mix.verdict(results.of()))


def test_stored_runs_continue(results):
    build(results, 'zero')
    again = type(results)(results.path, {'targets': 'vmlinux'}, fresh=False)
    assert again.next_path(2) == 'direct'
    with pytest.raises(SystemExit, match='another size'):
        type(results)(results.path, {'targets': 'init/'}, fresh=False)


def test_too_few_operations(results):
    build(results, 'zero', 100)
    build(results, 'direct', 100)
    with pytest.raises(SystemExit, match='readahead'):
        results.next_path(2)


def test_noise_ends_the_calibration(results):
    """Mixes that never fit end after a bounded number of runs."""
    while not results.data['calibrated']:
        count = len(results.data['runs'])
        assert count < 20
        path = results.next_path(1)
        build(results, path, 1000 * (count + 2))
        results.next_path(1)
