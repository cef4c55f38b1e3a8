# SPDX-License-Identifier: GPL-2.0-or-later
"""MediaWiki with nginx and php-fpm in one namespace and its PostgreSQL in another, from packages of
Debian. All files are below one directory. No program reads the services or sites of the machine,
and none runs as root.
"""
import glob
import os
import secrets
import shutil
import signal
import subprocess

import ns
from lab import wait_for
from web_figures import LOG_PREFIX

CODE = '/usr/share/mediawiki'
DATABASE_PORT = 5432
FIRST_PORT = 8081
PATTERNS = {
    'postgres': '/usr/lib/postgresql/*/bin/postgres', 'initdb': '/usr/lib/postgresql/*/bin/initdb',
    'php-fpm': '/usr/sbin/php-fpm*', 'php': '/usr/bin/php', 'nginx': '/usr/sbin/nginx',
    'hey': '/usr/bin/hey', 'mediawiki': CODE + '/maintenance/install.php'}

FPM = '''
[global]
error_log = {d}/fpm.log
daemonize = no
[wiki]
listen = {d}/fpm.sock
pm = static
pm.max_children = 4
env[MW_CONFIG_FILE] = {d}/LocalSettings.php
env[TMPDIR] = {d}/cache
php_admin_value[sys_temp_dir] = {d}/cache
'''
NGINX = '''
daemon off; worker_processes 1; pid {d}/nginx.pid; error_log {d}/nginx.log;
events {{ worker_connections 64; }}
http {{
    access_log off; include /etc/nginx/mime.types;
    client_body_temp_path {d}/cache/body; proxy_temp_path {d}/cache/proxy;
    fastcgi_temp_path {d}/cache/fastcgi; uwsgi_temp_path {d}/cache/uwsgi;
    scgi_temp_path {d}/cache/scgi;
    {servers}
}}
'''
SERVER = '''
    server {{
        listen 127.0.0.1:{port}; root {code};
        location ~ ^/(index|load)\\.php$ {{
            include /etc/nginx/fastcgi_params;
            fastcgi_param SCRIPT_FILENAME $document_root$fastcgi_script_name;
            fastcgi_param DATABASE {address};
            fastcgi_pass unix:{d}/fpm.sock;
        }}
    }}
'''
# Appended to the settings of MediaWiki's installer. Jobs would run after pages at random.
SETTINGS = '''
if ( isset( $_SERVER['DATABASE'] ) ) { $wgDBserver = $_SERVER['DATABASE']; }
$wgCacheDirectory = '%s/cache';
$wgJobRunRate = 0;
'''


def find(program):
    found = sorted(glob.glob(PATTERNS[program]))
    return found[-1] if found else None


def missing():
    return [program for program in PATTERNS if not find(program)]


def unprivileged():
    """A prefix of a command line. PostgreSQL refuses user 0, also in a user namespace. A change of
    the user clears the signal that a process gets when its parent ends."""
    if ns.host_uid == 0:
        return ['setpriv', '--reuid=nobody', '--regid=nogroup', '--clear-groups', '--pdeathsig=KILL']
    return ['unshare', '--user', '--map-user=1', '--map-group=1', 'setpriv', '--pdeathsig=KILL']


def children(pid):
    with open(f'/proc/{pid}/task/{pid}/children', encoding='ascii') as f:
        return [int(child) for child in f.read().split()]


class Servers:
    """web: the namespace of nginx and MediaWiki. database: that of PostgreSQL. addresses: {path:
    address of PostgreSQL, as seen from `web`}; nginx has a port for each."""

    def __init__(self, web, database, directory, addresses):
        self.web, self.database, self.directory, self.addresses = web, database, directory, addresses
        self.port = {path: FIRST_PORT + i for i, path in enumerate(addresses)}
        self.running = []
        os.makedirs(os.path.join(directory, 'cache'))
        if ns.host_uid == 0:
            os.chmod(os.path.dirname(directory), 0o755)
            for made in (directory, os.path.join(directory, 'cache')):
                shutil.chown(made, 'nobody', 'nogroup')
        self.database_log = self.path('postgres.log')

    def path(self, name, content=None):
        path = os.path.join(self.directory, name)
        if content is not None:
            with open(path, 'w', encoding='utf-8') as f:
                f.write(content)
        return path

    def url(self, path, page):
        return f'http://127.0.0.1:{self.port[path]}/index.php?{page}'

    def _start(self, namespace, log, *command):
        """Starts a server in pid and IPC namespaces of its own. Workers and shared memory therefore
        end with the server."""
        with open(self.path(log), 'wb') as out:
            self.running.append(namespace.start(
                'unshare', '--pid', '--ipc', '--fork', '--kill-child', *unprivileged(), *command,
                stdin=subprocess.DEVNULL, stdout=out, stderr=out, cwd='/'))

    def _run(self, namespace, *command):
        return namespace.run(*unprivileged(), 'env', f'HOME={self.directory}', f'TMPDIR={self.directory}/cache',
                             *command, timeout=300, cwd='/')

    def start_database(self, password):
        base, secret = os.path.join(self.directory, 'base'), self.path('password', password + '\n')
        self._run(self.database, find('initdb'), '-D', base, '-U', 'wiki', '-A', 'scram-sha-256',
                  f'--pwfile={secret}', '-E', 'UTF8', '--locale=C')
        with open(os.path.join(base, 'pg_hba.conf'), 'a', encoding='utf-8') as f:
            f.write('host all all 0.0.0.0/0 scram-sha-256\n')
        self._start(self.database, 'postgres.log', find('postgres'), '-D', base, '-h', '0.0.0.0',
                    '-p', DATABASE_PORT, '-k', self.directory, '-c', 'fsync=off',
                    '-c', 'dynamic_shared_memory_type=mmap', '-c', f'log_line_prefix={LOG_PREFIX}',
                    '-c', 'log_connections=on', '-c', 'log_statement=all')
        wait_for(lambda: 'ready to accept connections' in self.log(), 60,
                 f'PostgreSQL is ready (its log: {self.database_log})')

    def install(self, address):
        """MediaWiki's installer makes the tables, the main page and the settings."""
        password = secrets.token_hex(8)
        self.start_database(password)
        self._run(self.web, find('php'), find('mediawiki'), '--confpath', self.directory,
                  '--dbtype', 'postgres', '--dbserver', address, '--dbport', DATABASE_PORT,
                  '--dbname', 'wiki', '--dbuser', 'wiki', '--dbpass', password,
                  '--installdbuser', 'wiki', '--installdbpass', password, '--scriptpath', '',
                  '--server', 'http://127.0.0.1', '--pass', secrets.token_hex(8), 'Measured', 'admin')
        with open(self.path('LocalSettings.php'), 'a', encoding='utf-8') as f:
            f.write(SETTINGS % self.directory)

    def start_web(self):
        servers = ''.join(SERVER.format(port=self.port[path], code=CODE, address=address, d=self.directory)
                          for path, address in self.addresses.items())
        self._start(self.web, 'fpm.out', find('php-fpm'), '-y',
                    self.path('fpm.conf', FPM.format(d=self.directory)))
        self._start(self.web, 'nginx.out', find('nginx'), '-p', self.directory, '-e', self.path('nginx.log'),
                    '-c', self.path('nginx.conf', NGINX.format(d=self.directory, servers=servers)))
        wait_for(lambda: os.path.exists(self.path('fpm.sock')) and os.path.exists(self.path('nginx.pid')), 60,
                 f'nginx and php-fpm run (their logs: {self.directory})')

    def log(self, offset=0):
        with open(self.database_log, encoding='utf-8', errors='replace') as f:
            f.seek(offset)
            return f.read()

    def log_end(self):
        return os.path.getsize(self.database_log)

    def stop(self):
        """Returns after the end of all servers and workers. unshare ends after its child, the first
        process of the pid namespace, and that process ends last."""
        for process in self.running:
            if process.poll() is None:
                for pid in children(process.pid) or [process.pid]:
                    os.kill(pid, signal.SIGKILL)
            process.wait()
        self.running.clear()
