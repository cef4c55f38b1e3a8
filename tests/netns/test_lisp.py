# SPDX-License-Identifier: GPL-2.0-or-later
"""`protocols lisp` with the real package: sites on one link, a map server that fails and returns,
and LEON prefixes at a map server. Every case ends cleanly."""
import importlib.util
import json
import os
import shutil
import signal
import subprocess

import pytest

import lisp
import ns
from lab import merged, wait_for

pytestmark = [
    pytest.mark.skipif(ns.host_uid != 0, reason='Open Overlay Router wants to be root'),
    pytest.mark.skipif(not lisp.has_oor(), reason='needs openoverlayrouter'),
    pytest.mark.skipif(importlib.util.find_spec('seccomp') is None
                       or not shutil.which('systemd-analyze'),
                       reason='needs python3-seccomp and systemd-analyze'),
]


def nets():
    made = []

    def make(*prefixes, **more):
        ns.open_tun_for_all()
        made.append(lisp.Net(*prefixes, **more))
        return made[-1]
    yield make
    for one in made:
        one.close()


@pytest.fixture
def net():
    """net(PREFIX, ...): a link with a map server for the given prefixes."""
    yield from nets()


SITES = ['10.1.0.0/24', '2001:db8:1::/64'], ['10.2.0.0/24', '2001:db8:2::/64']
ALL = sum(SITES, [])


@pytest.fixture(scope='module')
def two_sites():
    """(net, router of site 1, router of site 2). Each test restores the state."""
    for net in nets():
        made = net(*ALL, instance_id='7')
        a, b = made.site(1, instance_id='7'), made.site(2, instance_id='7')
        a.untouched, b.untouched = a.rules(), b.rules()
        for router in (made.server, a, b):
            router.start()
        for router in (a, b):
            router.runs()
            router.registered(2)
        yield made, a, b


def test_sites_reach_each_other(two_sites):
    made, a, b = two_sites
    # The first packets to an unresolved prefix are lost.
    wait_for(lambda: made.ping(1, '10.2.0.2'), 20, 'a host of the other site')
    wait_for(lambda: made.ping(1, '2001:db8:2::2'), 20, 'the same by IPv6')
    for a_host, other in ((1, '10.2.0.2'), (2, '10.1.0.2'), (1, '2001:db8:2::2')):
        assert made.ping(a_host, other, count=5)
    assert set(made.server.registered(4)) == set(ALL)
    # leon-lisp records an entry of the cache after OOR uses the entry.
    (entry,) = wait_for(lambda: [e for e in a.state()['map_cache'] if e['prefix'] == '10.2.0.0/24'], 20,
                        'the other site is in the map-cache')
    assert [e['address'] for e in entry['locators']] == ['192.0.2.12']
    server = made.hosts[2].start('iperf3', '-s', '-1', stdout=subprocess.PIPE)
    wait_for(lambda: made.hosts[2].run('ss', '-Hltn', 'sport', '=', ':5201').stdout, 10)
    report = json.loads(made.hosts[1].run('iperf3', '-J', '-c', '10.2.0.2', '-n', '10M').stdout)
    server.wait(20)
    # The last bytes of the client may be in flight at the end.
    assert report['end']['sum_received']['bytes'] > 2_000_000
    print(f'{report["end"]["sum_received"]["bits_per_second"] / 1e6:.0f} Mbit/s')
    # Without the rule, packets would go to the default gateway, which drops packets.
    rule = ['pref', 9, 'from', '192.0.2.11', 'lookup', 'main', 'suppress_prefixlength', 0]
    a.namespace.run('ip', 'rule', 'del', *rule)
    assert not made.ping(1, '10.2.0.2')
    a.namespace.run('ip', 'rule', 'add', *rule)
    wait_for(lambda: made.ping(1, '10.2.0.2'), 20, 'with the rule again')
    # The same configuration again, and then a different configuration.
    pid, starts = a.runs(), a.state()['starts']
    a.reload()
    wait_for(lambda: made.ping(1, '10.2.0.2', count=5), 20)
    assert a.state()['pid'] == pid and a.state()['starts'] == starts
    a.reload(locator={'192.0.2.11': {'weight': '7'}})
    wait_for(lambda: a.state()['starts'] == starts + 1 and a.runs() != pid, 20, 'OOR has the change')
    wait_for(lambda: [of['weight'] for r in made.server.state()['registrations']
                      if r['prefix'] == '10.1.0.0/24' for of in r['locators']] == [7], 20, 'so has the server')
    assert lisp.KEY not in a.said() + made.server.said()


def test_map_server_dies_and_comes_back(two_sites):
    made, a, b = two_sites
    wait_for(lambda: made.ping(1, '10.2.0.2'), 20)
    made.server.stop(signal.SIGKILL)
    made.server.clean()
    # Entries of the map-cache remain.
    assert made.ping(1, '10.2.0.2', count=3)
    # A router that starts now has no map resolver.
    a.reload(locator={'192.0.2.11': {'priority': '2'}})
    wait_for(lambda: [r['state'] for r in a.state()['registrations']] == ['no-answer'] * 2, 20)
    assert not made.ping(1, '10.2.0.2')
    # The map request must have failed before. A map server without knowledge of the site sends a
    # negative answer, valid for a minute.
    unanswered = wait_for(lambda: a.state()['unanswered']['last'], 30, 'nobody answers')
    assert unanswered.startswith('10.2.0.2')
    b.reload(locator={'192.0.2.12': {'priority': '2'}})
    made.server.start()
    for router, prefixes in zip((a, b), SITES):
        assert set(router.registered(2, 60)) == set(prefixes)
    wait_for(lambda: made.ping(1, '10.2.0.2'), 60, 'the sites reach each other again')


def test_another_address_of_the_interface_comes_and_goes(two_sites):
    """OOR cannot use a locator before the last address."""
    made, a, _ = two_sites
    a.namespace.ip('addr add 192.0.2.77/24 dev u0')
    wait_for(lambda: a.state()['state'] == 'waiting', 20)
    assert a.rules() == a.untouched
    a.namespace.ip('addr del 192.0.2.77/24 dev u0')
    a.runs()
    wait_for(lambda: made.ping(1, '10.2.0.2', count=3), 30, 'LISP works again')
    wait_for(lambda: {of['address'] for r in made.server.state()['registrations']
                      if r['prefix'] == '10.1.0.0/24' for of in r['locators']} == {'192.0.2.11'}, 20)


def test_a_site_uses_its_other_locator(net):
    """The second uplink has a lower priority, and goes down."""
    made = net(*SITES[0])
    a = made.site(1)
    a.write(locator={'192.0.2.11': {}, '192.0.2.41': {'priority': '2'}})
    ns.connect(a.namespace, 'u1', made.link.namespace, 'second')
    made.link.namespace.ip('link set second master br0')
    a.namespace.ip('addr add 192.0.2.41/24 dev u1')
    made.server.start()
    a.start()

    def locators():
        return {of['address'] for r in made.server.state()['registrations']
                if r['prefix'] == '10.1.0.0/24' for of in r['locators']}
    wait_for(lambda: locators() == {'192.0.2.11', '192.0.2.41'}, 30, 'both')
    a.namespace.ip('link set u1 down')
    wait_for(lambda: locators() == {'192.0.2.11'}, 30, 'the first')
    assert a.state()['state'] == 'running'
    a.namespace.ip('link set u1 up')
    wait_for(lambda: locators() == {'192.0.2.11', '192.0.2.41'}, 30, 'both again')


def has_ended(pid):
    """An orphan stays a zombie if the first process of a container does not reap it."""
    try:
        with open(f'/proc/{pid}/stat', encoding='ascii') as f:
            return f.read().rpartition(')')[2].split()[0] == 'Z'
    except (FileNotFoundError, ProcessLookupError):
        return True


def test_nothing_stays_behind(two_sites):
    _, a, b = two_sites
    for router in (a, b):
        router.runs()
    text, routes = a.rules()
    for rule in ('9:\tfrom 192.0.2.11 lookup main', '98:\tfrom 10.1.0.0/24 lookup main',
                 '99:\tfrom all to 10.1.0.0/24 lookup main', '100:\tfrom 10.1.0.0/24 lookup 100'):
        assert rule in text
    assert any('via 192.0.2.254' in r for r in routes)
    pid = a.state()['pid']
    # All processes at once, as kill -9 of the processes of the unit.
    a.stop(signal.SIGKILL)
    wait_for(lambda: has_ended(pid), 10, 'OOR ends with leon-lisp')
    assert a.rules() != a.untouched and '100:\tfrom 10.1.0.0/24 lookup 100' in a.rules()[0]
    a.clean()
    assert a.rules() == a.untouched
    # OOR dies alone. leon-lisp notices, cleans up and fails, and the unit restarts both.
    os.kill(b.state()['pid'], signal.SIGKILL)
    assert b.process.wait(20) == 1
    assert b.rules() == b.untouched and 'OOR ended with status -9' in b.said()
    # An orderly stop keeps a similar rule of the operator.
    a.start().runs()
    a.namespace.ip('rule add pref 100 from 10.1.0.0/24 lookup 77')
    assert a.stop() == 0
    assert a.rules()[0].count('lookup 77') == 1
    a.namespace.ip('rule del pref 100')
    assert a.rules() == a.untouched
    for router in (a, b):
        router.start().runs()


def test_what_is_wrong_is_said(net):
    """leon-lisp waits for a missing locator. A wrong key is refused and not logged."""
    made = net(*SITES[0])
    a = made.site(1)
    a.namespace.ip('addr del 192.0.2.11/24 dev u0')
    a.words['site']['s']['authentication_key'] = 'wrong'
    a.write()
    made.server.start()
    a.start()
    wait_for(lambda: a.state()['state'] == 'waiting', 20)
    assert a.state()['reason'] == 'no interface that is up has 192.0.2.11 as last address'
    a.namespace.ip('addr add 192.0.2.11/24 dev u0', f'route replace default via {lisp.GATEWAY}')
    a.runs()
    one, *_ = wait_for(lambda: made.server.state().get('refused'), 20, 'refused')
    assert one['prefix'] == '10.1.0.0/24' and one['peer'] == '192.0.2.11'
    assert one['reason'] == 'the key is another one'
    wait_for(lambda: {r['state'] for r in a.state()['registrations']} == {'no-answer'}, 20)
    # OOR logs the correct key.
    assert lisp.KEY not in made.server.said() and lisp.KEY not in json.dumps(made.server.state())


PREFIX = '10.50.0.0/24'


def test_leon_says_what_is_registered(net, lab):
    """a and b announce the same prefix, and c is nearer to a. A LISP site outside reaches the
    prefix through a. Node b is registered with a lower priority until its end."""
    sites = {name: {} for name in 'abc'}
    for number, name in enumerate('ab', 1):
        sites[name] = {'config': {'overlay-address': [f'10.99.0.{number}'],
                                  'export': {'prefix': [PREFIX], 'unconditional': {}}}}
    overlay = lab(merged({'sites': sites, 'hosts': False},
                         {'rtt_ms': {('a', 'b'): 30, ('a', 'c'): 5, ('b', 'c'): 60}})).joined()
    made = net(*SITES[0], PREFIX)
    outside = made.site(1)
    at = {'a': '192.0.2.31', 'b': '192.0.2.32'}
    routers = {}
    for name, other in (('a', 'b'), ('b', 'a')):
        node = overlay.node[name]
        node.namespace.ip('addr add 10.50.0.1/32 dev lo',
                          f'addr add {node.config["overlay-address"][0]}/32 dev leon0')
        words = lisp.xtr(at[name])
        words['site']['s']['redistribute'] = {'leon': {'leon0': {'node': {
            overlay.node[other].node_id: {'locator': [at[other]]}}}}}
        run_dir = os.path.join(made.directory, name)
        os.mkdir(run_dir)
        os.symlink(node.socket, f'{run_dir}/leon0.sock')
        routers[name] = made.router(name, at[name], words, namespace=node.namespace,
                                    run_dir=run_dir)
    for router in (made.server, outside, *routers.values()):
        router.start()

    def locators():
        found = made.server.state()['registrations']
        return {of['address']: of['priority']
                for r in found if r['prefix'] == PREFIX for of in r['locators']}
    wait_for(lambda: locators() == {at['a']: 1, at['b']: 2}, 60, 'both, the nearer one first')
    outside.registered()
    wait_for(lambda: made.ping(1, '10.50.0.1'), 30, 'from outside')
    # LEON reports the failure at once, before the registration expires.
    overlay.node['b'].kill()
    wait_for(lambda: locators() == {at['a']: 1}, 60, 'the dead node is no locator any more')
    wait_for(lambda: made.ping(1, '10.50.0.1'), 30, 'from outside again')
