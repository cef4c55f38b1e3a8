# SPDX-License-Identifier: GPL-2.0-or-later
"""LISP routers on one link: leon-lisp with the real Open Overlay Router, each in a namespace. The
restrictions of leon-lisp.service that need no service manager apply. The default gateway of the
link forwards nothing."""
import contextlib
import json
import os
import shutil
import signal
import sys
import tempfile

import confine
import ns
from node import TOP, find_program, wait_for

sys.path.insert(0, os.path.join(TOP, 'vyos-1x-leon/python'))
from vyos_leon.lisp import OOR, model  # noqa: E402

UNIT = 'leon-lisp.service'
GATEWAY, MAP_SERVER = '192.0.2.254', '192.0.2.1'
KEY = 'sesame'
# Files of the tree at the paths of the package below /usr.
PROGRAM = '''import sys
sys.path.insert(0, {python!r})
from vyos_leon import client
client.LEONCTL, client.RUN_DIR = {leonctl!r}, {run_dir!r}
from vyos_leon.lisp import manager
sys.argv[0] = 'leon-lisp'
manager.main()
'''


class Link:
    """The bridge between the routers."""

    def __init__(self):
        self.namespace = ns.Namespace('link')
        self.namespace.ip('link add br0 type bridge', 'link set br0 up',
                          f'addr add {GATEWAY}/24 dev br0')
        self.ports = 0

    def connect(self, namespace, address):
        self.ports += 1
        port = f'p{self.ports}'
        ns.connect(namespace, 'u0', self.namespace, port)
        self.namespace.ip(f'link set {port} master br0')
        namespace.ip(f'addr add {address}/24 dev u0', f'route add default via {GATEWAY}')
        for key in ('all', 'default', 'u0'):
            namespace.sysctl(f'ipv4/conf/{key}/rp_filter', 0)
        namespace.sysctl('ipv4/ip_forward', 1)


class Router:
    """A leon-lisp. words: `protocols lisp` in the form of VyOS scripts."""

    def __init__(self, namespace, directory, words, run_dir='/run/leon'):
        self.namespace = namespace
        self.directory = tempfile.mkdtemp(prefix='lisp.', dir=directory)
        self.words = words
        self.process = None
        self.log = os.path.join(self.directory, 'log')
        self.program = os.path.join(self.directory, 'leon-lisp')
        with open(self.program, 'w', encoding='utf-8') as f:
            f.write(PROGRAM.format(python=os.path.join(TOP, 'vyos-1x-leon/python'),
                                   leonctl=find_program('leonctl', 'leonctl'), run_dir=run_dir))
        self.write()

    def write(self, **changes):
        self.words.update(changes)
        with open(os.path.join(self.directory, 'lisp.json'), 'w', encoding='utf-8') as f:
            json.dump(model.build(self.words), f)

    def command(self, action):
        return [sys.executable, '-B', self.program, action, '--directory', self.directory,
                '--templates', os.path.join(TOP, 'templates')]

    def start(self):
        with open(self.log, 'ab') as log:
            self.process = self.namespace.start(
                sys.executable, '-B', os.path.abspath(confine.__file__), UNIT,
                *self.command('run'), stdout=log, stderr=log)
        return self

    def reload(self, **changes):
        self.write(**changes)
        self.process.send_signal(signal.SIGHUP)

    def state(self):
        try:
            with open(os.path.join(self.directory, 'state.json'), encoding='utf-8') as f:
                return json.load(f)
        except OSError:
            return {'state': None, 'pid': None, 'registrations': [], 'map_cache': []}

    def runs(self, within=20):
        wait_for(lambda: self.state()['state'] == 'running', within, 'OOR runs')
        return self.state()['pid']

    def registered(self, number=1, within=30):
        """Confirmed prefixes, or the registered prefixes of a map server, after the expected
        number is reached."""
        def found():
            seen = {r['prefix']: r for r in self.state()['registrations']
                    if r['state'] == 'registered'}
            return seen if len(seen) >= number else None
        return wait_for(found, within, 'registered')

    def rules(self):
        """Rules of both families, and routes in tables that the kernel does not own."""
        text = ''.join(self.namespace.run('ip', f, 'rule').stdout for f in ('-4', '-6'))
        routes = self.namespace.run('ip', 'route', 'show', 'table', 'all').stdout
        return text, [line.strip() for line in routes.splitlines()
                      if ' table ' in line and ' table local' not in line]

    def clean(self):
        """Runs ExecStopPost of the unit, as the service manager does."""
        (after_stop,) = confine.settings(UNIT)['ExecStopPost']
        program, action = after_stop.split()
        assert program == '/usr/libexec/vyos-1x-leon-lisp/leon-lisp'
        self.namespace.run(*self.command(action))

    def stop(self, number=signal.SIGTERM):
        self.process.send_signal(number)
        return self.process.wait(30)

    def said(self):
        if not os.path.exists(self.log):
            return ''
        with open(self.log, encoding='utf-8') as f:
            return f.read()


def xtr(locator, *prefixes, **more):
    return {'locator': {locator: {}}, 'map_server': {MAP_SERVER: {}},
            'site': {'s': {'authentication_key': KEY, 'prefix': list(prefixes)}}, **more}


def map_server(*prefixes, **more):
    return {'role': 'map-server', 'locator': {MAP_SERVER: {}},
            'site': {'s': {'authentication_key': KEY, 'prefix': list(prefixes)}}, **more}


class Net:
    """A map server, tunnel routers, and a host behind each router."""

    def __init__(self, *prefixes, **more):
        self.stack = contextlib.ExitStack()
        self.directory = tempfile.mkdtemp(prefix='leon-lisp.')
        self.stack.callback(self._remove_files)
        self.routers = []
        self.link = Link()
        self.stack.callback(self.link.namespace.close)
        self.server = self.router('ms', MAP_SERVER, map_server(*prefixes, **more))
        self.hosts = {}

    def namespace(self, name):
        made = ns.Namespace(name)
        self.stack.callback(made.close)
        return made

    def router(self, name, address, words, namespace=None, **more):
        namespace = namespace or self.namespace(name)
        self.link.connect(namespace, address)
        self.routers.append(Router(namespace, self.directory, words, **more))
        return self.routers[-1]

    def _remove_files(self):
        # The file of the last Open Overlay Router. All instances share a single file without the
        # private /tmp of the unit.
        with contextlib.suppress(FileNotFoundError):
            os.unlink('/tmp/oor-ipc')
        shutil.rmtree(self.directory, ignore_errors=True)

    def site(self, number, **more):
        """A tunnel router 192.0.2.1N with 10.N.0.0/24 and 2001:db8:N::/64."""
        prefixes = [f'10.{number}.0.0/24', f'2001:db8:{number}::/64']
        router = self.router(f'x{number}', f'192.0.2.1{number}',
                             xtr(f'192.0.2.1{number}', *prefixes, **more))
        host = self.namespace(f'h{number}')
        ns.connect(router.namespace, 'lan', host, 'eth0')
        router.namespace.sysctl('ipv6/conf/all/forwarding', 1)
        router.namespace.ip(f'addr add 10.{number}.0.1/24 dev lan',
                            f'addr add 2001:db8:{number}::1/64 dev lan nodad')
        host.ip(f'addr add 10.{number}.0.2/24 dev eth0', f'route add default via 10.{number}.0.1',
                f'addr add 2001:db8:{number}::2/64 dev eth0 nodad',
                f'route add default via 2001:db8:{number}::1')
        self.hosts[number] = host
        return router

    def ping(self, a, address, count=1):
        """True if all pings are answered."""
        return self.hosts[a].run('ping', '-n', '-c', count, '-i', 0.2, '-W', 2, address,
                                 check=False).returncode == 0

    def close(self):
        """pytest shows the printed output of a failed test."""
        for router in self.routers:
            print(f'--- {router.namespace.name}: {json.dumps(router.state())}\n{router.said()}')
        self.stack.close()


def has_oor():
    return os.path.exists(OOR)
