# SPDX-License-Identifier: GPL-2.0-or-later
"""Interception and release on hosts and links of many kinds; `make eval-accel` runs the tests."""
import pytest

from accel import CONFIG, ENDLESS, Transfer, far_apart


@pytest.fixture
def far(lab):
    with far_apart(lab({'sites': {'a': {}, 'b': {}}, 'rtt_ms_default': 100,
                        'config': CONFIG})) as made:
        yield made


HOSTS = {
    'modern': {},
    'no timestamps': {'ipv4/tcp_timestamps': 0},
    'no SACK': {'ipv4/tcp_sack': 0},
    'no scaling': {'ipv4/tcp_window_scaling': 0},
}


@pytest.mark.parametrize('family', ['ip4', 'ip6'])
@pytest.mark.parametrize('kind', HOSTS)
def test_hosts(far, family, kind):
    for host in far.host.values():
        for key, value in HOSTS[kind].items():
            host.namespace.sysctl(key, value)
    a, b = far.host['a'], far.host['b']
    t = Transfer(a, b, getattr(b, family), up=ENDLESS, down=ENDLESS, pause=0.05)
    far.cycle(t, 3)
    t.finish(60).assert_whole()
    far.assert_no_resets()


@pytest.mark.parametrize('trouble', [{'loss_permille': 1}, {'loss_permille': 5},
                                     {'reorder_permille': 20}])
def test_bad_lines(far, trouble):
    far.wan.both('a', 'b', delay_us=50000, **trouble)
    a, b = far.host['a'], far.host['b']
    t = Transfer(a, b, b.ip4, up=ENDLESS, down=ENDLESS, pause=0.05)
    far.cycle(t, 3)
    t.finish(120).assert_whole()
    far.assert_no_resets()


def test_one_end_is_done(far):
    """A half-closed connection is intercepted and released."""
    a, b = far.host['a'], far.host['b']
    t = Transfer(a, b, b.ip4, down=ENDLESS, pause=0.05)
    far.cycle(t, 2)
    t.finish(60).assert_whole()
    far.assert_no_resets()
