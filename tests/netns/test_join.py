# SPDX-License-Identifier: GPL-2.0-or-later
"""`leonctl init`, `invite`, `join` and `leave` on whole machines: one command makes the first node,
one command makes each further node, and one command undoes either."""
import base64
import json
import re
import time
import zlib

import pytest

from lab import line_up, wait_for
from wan import block_udp
from whole_machine import Machine

TOKEN = 'leon1.AAABAhT2CTE5Mi4wLjIuMRtYEXNlb3VsLmV4YW1wbGUubmV0HGNvcnJlY3QgaG9yc2UgYmF0dGVyeSBzdGFwbGU7Hy_G'


@pytest.fixture
def machines(lab):
    """machines(topology): a machine for each site, without leond."""
    made = []

    def make(topology):
        net = lab(topology, start=False)
        made.extend(Machine(name, node.namespace) for name, node in net.node.items())
        return made
    yield make
    for machine in made:
        machine.close()


@pytest.fixture
def machine(machines):
    return machines(line_up(1, hosts=False))[0]


def config(machine, interface='leon0'):
    return json.loads(machine.text(f'cat /etc/leon/{interface}.json'))


def init(machine, words=''):
    return machine.text(f'leonctl init {words}')


def expiring(seconds, body=b'\0\0\1\1\x14\xf6\x09192.0.2.1\x10correct horse ok'):
    """A token that is valid for some more seconds, as protocol.md describes it."""
    body = (int(time.time()) + seconds).to_bytes(4, 'big') + body
    body += zlib.crc32(b'leon2.' + body).to_bytes(4, 'big')
    return 'leon2.' + base64.urlsafe_b64encode(body).decode().rstrip('=')


def test_one_command_each(machines):
    first, second = machines(line_up(2, hosts=False))
    said = init(first, '--address 10.99.0.1/24')
    token, = re.findall(r'^  leonctl join (leon3\.\S+) --address ADDRESS/24$', said, re.M)
    assert 'admits 8 machines within 24 hours' in said and '198.18.0.1 port 5366' in said
    said = second.text(f'leonctl join {token} --address 10.99.0.2/24 --name second')
    assert re.match(r'/etc/leon/leon0.json: node second \(2[45]\d\.\S+\) joins VNI 1 through 198.18.0.1 port 5366\n'
                    r'leond@leon0 runs, and starts at each boot.\n', said), said
    second.wait_ping('10.99.0.1')
    wait_for(lambda: first.run('leonctl status', check=False).returncode == 0, 30, 'all is well')
    names = {n['name'] for n in json.loads(first.text('leonctl --json show nodes'))['nodes']}
    assert names == {'n0', 'second'}
    for machine in (second, first):
        machine.reboot()
    first.wait_ping('10.99.0.2')


def test_join_where_udp_is_blocked(machines):
    """A one-time token needs UDP, and the error has both commands that need none."""
    first, second = machines(line_up(2, hosts=False))
    token, = re.findall(r'leon3\.\S+', init(first, '--address 10.99.0.1/24'))
    made = {**config(first), 'transport': {'tls': {'listen-port': 443}}}
    first.run('cat >/etc/leon/leon0.json', input=json.dumps(made))
    first.reboot()
    block_udp(second)
    refused = second.run(f'leonctl join {token} --address 10.99.0.2/24', check=False)
    assert refused.returncode == 3 and second.text('ls /etc/leon') == ''
    assert 'Where UDP is blocked, members with `transport tls` need: leonctl invite --with-secret' in refused.stderr
    token = json.loads(first.text('leonctl --json invite --with-secret'))['token']
    for port in ('x', '70000'):
        refused = second.run(f'leonctl join {token} --tls-port {port}', check=False)
        assert refused.returncode == 1 and 'tls-port: expected a number from 1 to 65535' in refused.stderr, refused
    second.run(f'leonctl join {token} --address 10.99.0.2/24 --tls-port 443')
    assert config(second)['transport'] == {'tls': {}}
    second.wait_ping('10.99.0.1')
    assert 'is reached over TLS' in second.text('leonctl status')


def test_what_init_writes(machine):
    init(machine, '-i leon7 --address 10.99.0.1/24 --address fd00::1/64 --name fujisawa '
         '--source-interface wan0')
    made = config(machine, 'leon7')
    secret = made['authentication'].pop('pre-shared-secret')
    assert len(secret) == 44
    assert made.pop('node-id').split('.')[0] in map(str, range(240, 256))
    assert made == {'version': 1, 'interface': 'leon7', 'address': ['10.99.0.1/24', 'fd00::1/64'],
                    'source-interface': 'wan0', 'vni': 1, 'node-name': 'fujisawa', 'authentication': {}}
    # The group of /etc/leon is that of the daemon.
    assert machine.text('stat -c %a:%u:%g /etc/leon/leon7.json') == '640:0:1\n'
    assert machine.text('cat /run/systemctl.log') == 'enable --now leond@leon7\n'
    assert secret != config_of_another(machine)


def config_of_another(machine):
    return json.loads(machine.text('leonctl init --print'))['authentication']['pre-shared-secret']


def test_print_writes_nothing(machine):
    made = json.loads(machine.text('leonctl init --print --bridge br0'))
    assert made['bridge'] == 'br0' and made['node-name'] == 'n0'
    assert machine.text('ls /etc/leon; cat /run/systemctl.log 2>/dev/null; true') == ''


def test_nothing_is_overwritten(machine):
    init(machine)
    before = machine.text('cat /etc/leon/leon0.json')
    for command in ('leonctl init', f'leonctl join {TOKEN}'):
        again = machine.run(command, check=False)
        assert again.returncode == 1 and 'exists already and is not overwritten; `leonctl leave`' in again.stderr
    assert machine.text('cat /etc/leon/leon0.json') == before


def test_refusals_leave_nothing_behind(machine):
    for words, say in (('--address 10.99.0.1', 'address: 10.99.0.1 has no prefix length'),
                       ('--address dhcp', 'address: leond runs no DHCP client'),
                       ('--address 10.99.0.1/24 --bridge br0', 'a port of a bridge cannot use an address'),
                       ('--name "two words"', 'node-name: must have'),
                       ('-i a/b', 'interface: must be an interface name'),
                       ('--source-address me', 'source-address: "me" is not')):
        result = machine.run(f'leonctl init {words}', check=False)
        assert result.returncode == 1 and say in result.stderr and result.stdout == '', result
        as_json = json.loads(machine.run(f'leonctl --json init {words}', check=False).stdout)
        assert say in as_json['error']
    assert machine.text('ls /etc/leon') == ''


def test_an_option_of_another_command_is_refused(machine):
    for words in ('show nodes --address 10.99.0.1/24', 'leave --print', 'init --expires 1h', 'init x', 'join'):
        result = machine.run(f'leonctl {words}', check=False)
        assert result.returncode == 2 and result.stderr.count('\n') == 1, result
    assert machine.run('leonctl init --address', check=False).returncode == 2
    assert machine.text('ls /etc/leon') == ''


def test_without_systemd(machine):
    machine.without_systemd()
    said = init(machine)
    assert 'systemd does not run here. Start the node with: leond --config /etc/leon/leon0.json\n' in said
    assert said.endswith('Then print the line for further machines with: leonctl invite\n')
    machine.run('setsid leond --config /etc/leon/leon0.json >/run/leond.log 2>&1 </dev/null & '
                'until leonctl show nodes; do sleep .05; done')
    refused = machine.run('leonctl leave --yes', check=False)
    assert refused.returncode == 1 and 'leond of leon0 runs; end it first' in refused.stderr
    assert config(machine)
    machine.run('pkill -TERM -x leond; while [ -e /run/leon/leon0.sock ]; do sleep .05; done')
    machine.run('leonctl leave --yes')
    assert machine.text('ls /etc/leon /var/lib/leon').split() == ['/etc/leon:', '/var/lib/leon:']


def test_a_unit_that_does_not_start(machine):
    machine.run('touch /run/systemd/fails')
    result = machine.run('leonctl init', check=False)
    assert result.returncode == 1
    assert '`systemctl enable --now leond@leon0` failed; see: journalctl -u leond@leon0' in result.stderr


def test_a_file_that_the_daemon_could_not_read_is_removed(machine):
    """As in a container without CAP_CHOWN."""
    result = machine.run('setpriv --bounding-set -chown leonctl init', check=False)
    assert result.returncode == 4 and 'Operation not permitted' in result.stderr
    assert machine.text('ls /etc/leon') == ''


def test_an_obstacle_is_found_before_the_token_is_used(machines):
    """A full disk, and a refused change of the group."""
    first, second = machines(line_up(2, hosts=False))
    token, = re.findall(r'leon3\.\S+', init(first, '--address 10.99.0.1/24'))

    def used():
        return [i['used'] for i in json.loads(first.text('leonctl --json show invitations'))['invitations']]
    second.run('mount -t tmpfs -o size=4k,mode=0750 none /etc/leon && chgrp 1 /etc/leon')
    second.run('head -c 4096 /dev/zero >/etc/leon/filler')
    result = second.run(f'leonctl join {token}', check=False)
    assert result.returncode == 1 and 'No space left on device' in result.stderr
    assert second.text('ls /etc/leon') == 'filler\n'
    second.run('rm /etc/leon/filler')
    result = second.run(f'setpriv --bounding-set -chown leonctl join {token}', check=False)
    assert result.returncode == 4 and 'Operation not permitted' in result.stderr
    assert second.text('ls /etc/leon') == '' and used() == [[]]
    second.run(f'leonctl join {token} --address 10.99.0.2/24')
    second.wait_ping('10.99.0.1')


def test_vyos_configures_itself(machine):
    machine.run('rm /etc/os-release; printf "NAME=VyOS\\nID=vyos\\n" >/etc/os-release')
    result = machine.run('leonctl init -i leon3', check=False)
    assert result.returncode == 1 and 'set interfaces leon leon3' in result.stderr
    assert machine.text('ls /etc/leon') == ''
    machine.run('leonctl init --print')


def test_leave_removes_what_init_made(machine):
    init(machine)
    files = '/etc/leon/leon0.json /var/lib/leon/leon0.identity'
    machine.run(f'ls {files}')
    refused = machine.run('leonctl leave', check=False)
    assert refused.returncode == 1 and 'confirm with --yes' in refused.stderr
    machine.run(f'ls {files}')
    assert json.loads(machine.text('leonctl --json leave --yes'))['left']
    assert machine.text('cat /run/systemctl.log').splitlines()[-1] == 'disable --now leond@leon0'
    assert machine.text('ls -A /etc/leon /var/lib/leon').split() == ['/etc/leon:', '/var/lib/leon:']
    assert machine.text('ls /run/leon') == ''
    again = machine.run('leonctl leave --yes', check=False)
    assert again.returncode == 1 and '/etc/leon/leon0.json: No such file' in again.stderr
    init(machine)


def test_leave_follows_the_configuration(machine):
    machine.run('''leonctl init --print | sed 's|"version"|"identity-file": "/var/lib/leon/key", "version"|' >/etc/leon/leon0.json
        chmod 600 /etc/leon/leon0.json; systemctl enable --now leond@leon0; ls /var/lib/leon/key''')
    machine.run('leonctl leave --yes')
    assert machine.text('ls /var/lib/leon') == ''


def test_leave_with_a_broken_configuration(machine):
    init(machine)
    machine.run('echo "{" >/etc/leon/leon0.json; leonctl leave --yes')
    assert machine.text('ls /etc/leon; ls /var/lib/leon') == ''


def test_leave_keeps_the_files_of_another_interface(machine):
    init(machine)
    machine.run('cp -p /etc/leon/leon0.json /etc/leon/leon1.json')
    refused = machine.run('leonctl -i leon1 leave --yes', check=False)
    assert refused.returncode == 1 and 'is a configuration of leon0' in refused.stderr
    machine.run('ls /etc/leon/leon1.json /var/lib/leon/leon0.identity')


def test_an_expired_token_is_refused(machine):
    result = machine.run(f'leonctl join {expiring(-30)}', check=False)
    assert result.returncode == 1 and machine.text('ls /etc/leon') == ''
    assert re.fullmatch(r'leonctl: the token expired at \S+ \S+ UTC; make a new one on a member: leonctl invite\n',
                        result.stderr)
    machine.run(f'leonctl join {expiring(600)}')


def test_how_long_a_token_is_valid(machine):
    init(machine)
    for words, seconds in (('', 86400), ('--expires 90s', 90), ('--expires 30m', 1800), ('--expires 7d', 604800)):
        answer = json.loads(machine.text(f'leonctl --json invite --with-secret {words} 192.0.2.1'))
        end = int.from_bytes(base64.urlsafe_b64decode(answer['token'][6:] + '==')[:4], 'big')
        assert abs(end - time.time() - seconds) < 30 and answer['expires'][:4] >= '2024'
        answer = json.loads(machine.text(f'leonctl --json invite {words} 192.0.2.1'))
        other = int.from_bytes(base64.urlsafe_b64decode(answer['token'][6:] + '==')[:4], 'big')
        assert answer['token'].startswith('leon3.') and abs(other - end) < 30
    answer = json.loads(machine.text('leonctl --json invite --with-secret --expires never 192.0.2.1'))
    assert answer['expires'] is None and answer['token'].startswith('leon1.')
    for bad in ('1', 'h', '1w', '0s', '-1h', '99999d', '1h1m', 'x'):
        result = machine.run(f'leonctl invite --expires {bad}', check=False)
        assert result.returncode == 2 and 'is no time such as 30m' in result.stderr


def test_a_token_on_the_command_line_is_hidden(machine):
    """Other users see the arguments of a process; leonctl overwrites the token before it waits."""
    machine.run('echo "cat /proc/\\$PPID/cmdline >/run/seen" >/run/systemctl; sed -i "1i #!/bin/sh" /run/systemctl; '
                f'chmod 755 /run/systemctl; PATH=/run:$PATH leonctl join {TOKEN}')
    seen = machine.text('cat /run/seen')
    assert seen.startswith('leonctl\0join\0***') and 'leon1' not in seen
