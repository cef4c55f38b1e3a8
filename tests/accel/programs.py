# SPDX-License-Identifier: GPL-2.0-or-later
"""Servers and clients of third parties, each in the namespace of a host. A Program starts its
server once. fetch() runs the client once and returns the digest of the received bytes, which must
equal program.digest. A client takes several seconds, with a rate limit if the client has the
option.

All files are below one directory. The user `nobody` may enter the directory. No program reads the
configuration of the machine.
"""
import glob
import hashlib
import json
import os
import shutil
import signal
import socket
import subprocess
import threading
import time

from lab import wait_for

RATE = 1 << 20  # bytes/s requested by a client
SIZE = 6 << 20
PATH = os.environ.get('PATH', '') + ':/usr/sbin:/sbin'


def need(program):
    """The path of the program, or None if the program is not installed."""
    found = shutil.which(program, path=PATH)
    others = sorted(glob.glob(f'/usr/lib/postgresql/*/bin/{program}'))
    return found or (others[-1] if others else None)


def digest_of(path):
    with open(path, 'rb') as f:
        return hashlib.file_digest(f, 'sha256').hexdigest()


def bracketed(address):
    return f'[{address}]' if ':' in address else address


class Program:
    """A server at `server`, clients at `client`, both struct Host. address: the listening address.
    """
    needs = ()
    port = 0

    def __init__(self, directory, server, client, address):
        self.directory, self.server, self.client, self.address = directory, server, client, address
        self.n_runs = 0
        os.chmod(directory, 0o755)
        self.data = os.path.join(directory, 'data')
        os.makedirs(self.data)
        self.file = os.path.join(self.data, 'file')
        with open(self.file, 'wb') as f:
            f.write(os.urandom(SIZE))
        self.digest = digest_of(self.file)
        self.processes = []
        self.serve()
        try:
            wait_for(self.answers, 60, f'{type(self).__name__} answers on port {self.port}')
        except AssertionError as e:
            self.end()
            logs = sorted(glob.glob(self.path('*.log')))
            raise AssertionError('\n'.join([str(e), *(open(x, errors='replace').read()[-2000:]
                                                      for x in logs)])) from e

    def path(self, name, text=None):
        found = os.path.join(self.directory, name)
        if text is not None:
            with open(found, 'w', encoding='utf-8') as f:
                f.write(text)
        return found

    def start(self, *command, **keys):
        """In a process group, so end() reaches all workers."""
        with open(self.path('server.log'), 'a', encoding='utf-8') as log:
            self.processes.append(self.server.namespace.start(
                *command, stdin=subprocess.DEVNULL, stdout=log, stderr=log, start_new_session=True, **keys))

    def answers(self):
        with self.server.namespace, socket.socket(
                socket.AF_INET6 if ':' in self.address else socket.AF_INET) as s:
            s.settimeout(1)
            return s.connect_ex((self.address, self.port)) == 0

    def serve(self):
        raise NotImplementedError

    def command(self, out):
        """The command of a client that writes the file to `out`."""
        raise NotImplementedError

    def fetch(self):
        self.n_runs += 1
        out = self.path(f'out{self.n_runs}')
        self.client.namespace.run(*map(str, self.command(out)), timeout=300)
        found = digest_of(out)
        os.unlink(out)
        return found

    def end(self):
        for process in self.processes:
            os.killpg(process.pid, signal.SIGKILL)
            process.wait()


class Nginx(Program):
    """HTTP/2 under TLS 1.3, by curl."""
    needs = ('nginx', 'curl', 'openssl')
    port = 443

    def serve(self):
        key, cert = self.path('key.pem'), self.path('cert.pem')
        subprocess.run(['openssl', 'req', '-x509', '-newkey', 'ec', '-pkeyopt',
                        'ec_paramgen_curve:prime256v1', '-nodes', '-subj', '/CN=leon.test', '-days',
                        '2', '-keyout', key, '-out', cert], check=True, capture_output=True)
        where = bracketed(self.address)
        config = self.path('nginx.conf', f'''
            user root; daemon off; pid {self.path("nginx.pid")}; error_log {self.path("error.log")};
            events {{ }}
            http {{
                access_log off; root {self.data};
                client_body_temp_path {self.path("t1")}; proxy_temp_path {self.path("t2")};
                fastcgi_temp_path {self.path("t3")}; uwsgi_temp_path {self.path("t4")};
                scgi_temp_path {self.path("t5")};
                server {{ listen {where}:80; }}
                server {{ listen {where}:443 ssl http2; ssl_protocols TLSv1.3;
                          ssl_certificate {cert}; ssl_certificate_key {key}; }}
            }}''')
        self.start(need('nginx'), '-c', config)

    def command(self, out):
        return ['curl', '-sSf', '--http2', '--tlsv1.3', '-k', '--limit-rate', RATE, '-o', out,
                f'https://{bracketed(self.address)}/file']


class PlainNginx(Nginx):
    """HTTP/1.1 on port 80, by curl, from a reserved port of the client."""
    port = 80

    def command(self, out):
        return ['curl', '-sSf', '--limit-rate', RATE, '--local-port', '600-900', '-o', out,
                f'http://{bracketed(self.address)}/file']


class Ssh(Program):
    """A file through ssh; scp and rsync are the same server."""
    needs = ('sshd', 'ssh', 'ssh-keygen', 'scp', 'rsync')
    port = 22

    def serve(self):
        os.makedirs('/run/sshd', exist_ok=True)
        for name in ('host', 'user'):
            subprocess.run(['ssh-keygen', '-q', '-t', 'ed25519', '-N', '', '-f', self.path(name)],
                           check=True)
        shutil.copy(self.path('user.pub'), self.path('authorized'))
        config = self.path('sshd_config', f'''
            ListenAddress {bracketed(self.address)}:22
            HostKey {self.path("host")}
            AuthorizedKeysFile {self.path("authorized")}
            PidFile {self.path("sshd.pid")}
            PermitRootLogin yes
            StrictModes no
            UsePAM no
            Subsystem sftp internal-sftp
            MaxStartups 100
            ''')
        self.start(need('sshd'), '-D', '-e', '-f', config)

    def options(self):
        return ['-i', self.path('user'), '-F', 'none', '-o', 'StrictHostKeyChecking=no', '-o',
                'UserKnownHostsFile=/dev/null', '-o', 'LogLevel=ERROR']

    def command(self, out):
        slow = f'for i in $(seq {SIZE >> 20}); do dd if={self.file} bs=1M count=1 skip=$((i - 1)) ' \
            '2>/dev/null; sleep 1; done'
        return ['sh', '-c', 'out=$1; shift; "$@" > "$out"', 'sh', out,
                'ssh', *self.options(), f'root@{self.address}', slow]


class Scp(Ssh):
    def command(self, out):
        return ['scp', '-q', '-l', RATE * 8 // 1000, *self.options(),
                f'root@{bracketed(self.address)}:{self.file}', out]


class Rsync(Ssh):
    def command(self, out):
        return ['rsync', f'--bwlimit={RATE >> 10}', '-e', ' '.join(['ssh', *self.options()]),
                f'root@{bracketed(self.address)}:{self.file}', out]


class Postgres(Program):
    """COPY of a table to the client and back into another."""
    needs = ('initdb', 'postgres', 'psql', 'setpriv')
    port = 5432

    def serve(self):
        base = self.path('base')
        os.makedirs(base)
        shutil.chown(base, 'nobody', 'nogroup')
        as_nobody = ['setpriv', '--reuid=nobody', '--regid=nogroup', '--clear-groups']
        subprocess.run([*as_nobody, need('initdb'), '-D', base, '-U', 'leon', '-A', 'trust', '-E',
                        'UTF8', '--locale=C'], check=True, capture_output=True, cwd='/')
        with open(os.path.join(base, 'pg_hba.conf'), 'a', encoding='utf-8') as f:
            f.write('host all all 0.0.0.0/0 trust\nhost all all ::/0 trust\n')
        self.start(*as_nobody, need('postgres'), '-D', base, '-h', self.address, '-k', base, '-c',
                   'fsync=off', cwd='/')
        self.rows = 60000
        text = ''.join(f'{i}\t{hashlib.sha256(b"%d" % i).hexdigest()}\n' for i in range(self.rows))
        self.digest = hashlib.sha256(text.encode()).hexdigest()
        wait_for(self.answers, 60, 'PostgreSQL answers')
        wait_for(lambda: self.psql('select 1', check=False).returncode == 0, 60, 'it is ready')
        self.psql('create table f (n int, h text); insert into f select n, '
                  "encode(sha256(n::text::bytea), 'hex') from generate_series(0, "
                  f'{self.rows - 1}) n')

    def psql(self, command, check=True):
        return self.server.namespace.run('psql', '-X', '-q', '-h', self.address, '-U', 'leon', '-d',
                                         'postgres', '-c', command, check=check)

    def command(self, out):
        """Down by COPY, up into another table, and down again in pieces."""
        pieces = [f'{out}.{n}' for n in range(0, self.rows, 10000)]
        script = self.path('script.sql', f'''
            \\copy f to '{out}.all'
            create temp table g (n int, h text);
            \\copy g from '{out}.all'
            ''' + ''.join(f'''
            \\copy (select * from g where n / 10000 = {i} order by n) to '{piece}'
            select pg_sleep(1);
            ''' for i, piece in enumerate(pieces)))
        return ['sh', '-ec', f'psql -X -q -v ON_ERROR_STOP=1 -h {self.address} -U leon -d postgres '
                f'-f {script} >/dev/null; cat {" ".join(pieces)} > {out}; rm {out}.*']


class Mqtt(Program):
    """Messages of QoS 1, for which duplicates are permitted."""
    needs = ('mosquitto', 'mosquitto_pub', 'mosquitto_sub')
    port = 1883
    number = 60

    def serve(self):
        config = self.path('mosquitto.conf', f'''
            listener 1883 {self.address}
            allow_anonymous true
            max_queued_messages 0
            ''')
        self.start(need('mosquitto'), '-c', config)
        self.digest = hashlib.sha256(repr(list(range(self.number))).encode()).hexdigest()

    def fetch(self):
        self.n_runs += 1
        topic = f't/{self.n_runs}'
        told, log = [], self.path(f'client{self.n_runs}.log')
        with open(log, 'w', encoding='utf-8') as trace, self.client.namespace.start(
                'stdbuf', '-oL', 'mosquitto_sub', '-d', '-h', self.address, '-q', '1', '-t', topic, '-i',
                f's{self.n_runs}', '-c', stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                text=True) as sub:
            reader = threading.Thread(target=lambda: told.extend(sub.stdout), daemon=True)
            reader.start()
            pub = None
            try:
                # A topic without a subscription keeps nothing.
                wait_for(lambda: any(line.startswith('Subscribed') for line in told), 60,
                         'the subscription is acknowledged')
                pub = self.client.namespace.start(
                    'mosquitto_pub', '-d', '-h', self.address, '-q', '1', '-t', topic, '-i',
                    f'p{self.n_runs}', '-l', stdin=subprocess.PIPE, stdout=trace, stderr=trace,
                    text=True)
                for i in range(self.number):
                    pub.stdin.write(f'{i} ' + 'x' * 20000 + '\n')
                    pub.stdin.flush()
                    time.sleep(.1)
                pub.stdin.close()
                wait_for(lambda: len(self.received(told)) == self.number, 60, 'all messages came')
            finally:
                sub.kill()
                if pub:
                    pub.kill()
                    pub.wait()
        return hashlib.sha256(repr(sorted(self.received(told))).encode()).hexdigest()

    @staticmethod
    def received(told):
        """The numbers of the messages among the lines of mosquitto_sub."""
        found = [line.split() for line in list(told) if line[0].isdigit()]
        assert all(words[1] == 'x' * 20000 for words in found)
        return {int(words[0]) for words in found}


GANESHA = '''
NFS_CORE_PARAM {{ Protocols = 3; NFS_Port = 2049; MNT_Port = 20048; Enable_NLM = false;
                  Enable_RQUOTA = false; Bind_addr = {address}; }}
EXPORT {{ Export_Id = 1; Path = "{path}"; Pseudo = "/export"; Access_Type = RW; Squash = None;
          SecType = sys; Protocols = 3; Transports = TCP; PrivilegedPort = true;
          FSAL {{ Name = VFS; }} }}
LOG {{ Default_Log_Level = WARN; }}
'''
# In a private mount namespace, because both programs leave files in /run.
NFS_SERVER = '''
mount -t tmpfs none /run && mkdir -p /run/rpcbind /run/ganesha /var/run/ganesha
mount -t tmpfs none /var/lib/nfs && mkdir -p /var/lib/nfs/ganesha
rpcbind -f -w & exec ganesha.nfsd -F -f "$1" -L "$2" -p "$3"
'''


class Nfs(Program):
    """NFSv3 from a reserved port, which the server insists on."""
    needs = ('ganesha.nfsd', 'rpcbind', 'nfs-cp')
    port = 2049

    def serve(self):
        config = self.path('ganesha.conf', GANESHA.format(path=self.data, address=self.address))
        self.start('unshare', '--mount', '--pid', '--fork', '--kill-child', '--propagation',
                   'private', 'sh', '-c', NFS_SERVER, 'sh', config, self.path('ganesha.log'),
                   self.path('ganesha.pid'))

    def command(self, out):
        # libnfs 4 takes no bracketed address.
        url = f'nfs://{self.address}{self.data}/file?nfsport=2049&mountport=20048'
        return ['nfs-cp', url, out]


class Smb(Program):
    """SMB 3 from port 445, by smbclient."""
    needs = ('smbd', 'smbclient')
    port = 445

    def serve(self):
        for name in ('lock', 'private', 'cache', 'state', 'pid'):
            os.makedirs(self.path(name))
        config = self.path('smb.conf', f'''
            [global]
            interfaces = {self.address}
            bind interfaces only = no
            smb ports = 445
            disable netbios = yes
            map to guest = Bad User
            guest account = root
            lock directory = {self.path("lock")}
            private dir = {self.path("private")}
            cache directory = {self.path("cache")}
            state directory = {self.path("state")}
            pid directory = {self.path("pid")}
            ncalrpc dir = {self.path("pid")}/ncalrpc
            log file = {self.path("smbd.log")}
            [share]
            path = {self.data}
            guest ok = yes
            force user = root
            ''')
        self.start(need('smbd'), '-F', '-s', config, '--no-process-group')

    def command(self, out):
        # A name instead of an address, because smbclient accepts no bracketed address.
        return ['smbclient', '-N', '-s', self.path('smb.conf'), '-I', self.address, '//server/share',
                '-c', f'get file {out}']


class Iperf3(Program):
    """iperf3 counts bytes and compares none. The server stops the count after a message of another
    connection, which may overtake the bytes in proxy sockets: about 5 MiB."""
    needs = ('iperf3',)
    port = 5201

    def serve(self):
        self.start('iperf3', '-s', '-B', self.address)
        self.digest = 'whole'

    def fetch(self):
        self.n_runs += 1
        n = 24 << 20
        text = self.client.namespace.run('iperf3', '-c', self.address, '-n', n, '-b', '12M', '-J',
                                         timeout=300).stdout
        end = json.loads(text)['end']
        assert 'sum_received' in end, text[-4000:]
        return 'whole' if end['sum_received']['bytes'] >= n / 2 else f'{end["sum_received"]}'


ALL = [Nginx, PlainNginx, Ssh, Scp, Rsync, Postgres, Mqtt, Nfs, Smb, Iperf3]
