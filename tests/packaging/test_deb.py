# SPDX-License-Identifier: GPL-2.0-or-later
"""The Debian package leond: contents, dependencies, and effects on a system.

The test contains the file list and the dependencies, so no change is accidental.
"""
import gzip
import json
import re
import shutil
import subprocess
import time
from pathlib import Path

import pytest
from deb import contents, field

TOP = Path(__file__).resolve().parents[2]

# Completion for bash and fish. Completion for zsh is one file for all programs.
PROGRAMS = 'leonctl', 'leond', 'leonsim'
FILES = {
    '/etc/leon/',
    'UNITS/leon-ipsec@.service',
    'UNITS/leon-metrics@.service',
    'UNITS/leond@.service',
    '/usr/bin/leonctl',
    '/usr/bin/leonsim',
    '/usr/lib/leon/leon-ipsec',
    '/usr/lib/leon/leon-tls',
    '/usr/lib/leon/restart-instances',
    *(f'/usr/lib/leon/leon_ipsec/{name}.py' for name in (
        '__init__', 'connections', 'control', 'guard', 'kernel', 'manager', 'reasons', 'settings',
        'vici')),
    '/usr/lib/MULTIARCH/wireshark/plugins/leon.lua',
    '/usr/lib/sysusers.d/leond.conf',
    '/usr/lib/tmpfiles.d/leond.conf',
    '/usr/sbin/leond',
    *(f'/usr/share/bash-completion/completions/{name}.bash' for name in PROGRAMS),
    *(f'/usr/share/fish/vendor_completions.d/{name}.fish' for name in PROGRAMS),
    '/usr/share/zsh/vendor-completions/_leonctl',
    '/usr/share/leond/leond.schema.json',
    '/usr/share/doc/leond/CHANGELOG.md',
    '/usr/share/doc/leond/README.md',
    '/usr/share/doc/leond/one-hour.md',
    '/usr/share/doc/leond/architecture.md',
    '/usr/share/doc/leond/behaviour.md',
    '/usr/share/doc/leond/glossary.md',
    '/usr/share/doc/leond/changelog',
    '/usr/share/doc/leond/copyright',
    *(f'/usr/share/doc/leond/images/{name}' for name in (
        'bench.svg', 'map.png', 'paths-aside-hold.svg', 'paths-aside-noise.svg', 'web.svg')),
    '/usr/share/doc/leond/ipsec.md',
    '/usr/share/doc/leond/measurements.md',
    '/usr/share/doc/leond/operations.md',
    '/usr/share/doc/leond/protocol.md',
    '/usr/share/doc/leond/reference.md',
    '/usr/share/doc/leond/releases.md',
    '/usr/share/doc/leond/security.md',
    '/usr/share/doc/leond/routing.md',
    '/usr/share/doc/leond/segments.md',
    '/usr/share/doc/leond/traffic.md',
    '/usr/share/doc/leond/troubleshooting.md',
    '/usr/share/doc/leond/tutorial.md',
    '/usr/share/doc/leond/examples/grafana/leon-overlay.json',
    '/usr/share/doc/leond/examples/leon0.json',
    '/usr/share/doc/leond/examples/prometheus/leon.rules.yml',
    '/usr/share/doc/leond/examples/prometheus/prometheus.yml',
    '/usr/share/man/man5/leond.json.5.gz',
    '/usr/share/man/man8/leon-ipsec.8.gz',
    '/usr/share/man/man1/leonsim.1.gz',
    '/usr/share/man/man8/leonctl.8.gz',
    '/usr/share/man/man8/leond.8.gz',
}
# Libraries of a VyOS image (design.md section 5), and no others.
LIBRARIES = {'libc6', 'libjson-c5', 'libmnl0', 'libssl3', 'libsystemd0'}


def test_a_failed_build_names_its_log(tmp_path):
    done = subprocess.run([TOP / 'packaging/build-deb.sh', tmp_path, '--no-such-option'], capture_output=True,
                          text=True, check=False)
    assert done.returncode == 1 and f'the whole log is {tmp_path}/build.log' in done.stderr
    assert 'no-such-option' in (tmp_path / 'build.log').read_text()
    assert not list(tmp_path.glob('*.failed'))


def documented_configurations():
    """The JSON blocks of the pages, for copying and pasting."""
    for page in ('tutorial.md', 'operations.md'):
        text = (TOP / 'vyos-1x-leon/doc' / page).read_text()
        for i, block in enumerate(re.findall(r'^```json\n(.*?)^```$', text, re.M | re.S)):
            yield pytest.param(block, id=f'{Path(page).stem}-{i}')


def test_links_between_documents(built, tmp_path):
    """Each relative link of an installed page leads to a file or folder of a package."""
    for package in built.glob('*.deb'):
        if '-dbgsym_' not in package.name:
            contents(package, tmp_path)
    links = [(page, target) for page in (tmp_path / 'usr/share/doc').rglob('*.md')
             for target in re.findall(r'\]\(([^)#\s]+)[^)]*\)', page.read_text()) if '://' not in target]
    assert {'../leond/operations.md', '../leon-accel/acceleration.md', 'images/map.png', 'decisions/'} <= {
        target for _, target in links}
    assert [f'{page.relative_to(tmp_path)}: {target}' for page, target in links
            if not (page.parent / target).exists()] == []


def test_file_list(unpacked, units):
    found = set()
    for path in unpacked.rglob('*'):
        name = '/' + str(path.relative_to(unpacked))
        if name.startswith('/usr/share/doc/leond/decisions'):
            continue  # a file for each record
        if path.is_dir():
            if not any(path.iterdir()):
                found.add(name + '/')
        else:
            # debhelper compresses the changelog. Documents have links to each other.
            found.add(name.removesuffix('.gz') if name.endswith('/changelog.gz') else name)
    triplet = subprocess.run(['dpkg-architecture', '-qDEB_HOST_MULTIARCH'], capture_output=True, text=True,
                             check=True, timeout=60).stdout.strip()
    assert found == {name.replace('UNITS', units).replace('MULTIARCH', triplet) for name in FILES}
    assert len(list((unpacked / 'usr/share/doc/leond/decisions').glob('0*.md'))) >= 7


def test_dependencies(deb):
    # Debian 13 renamed libraries with 64-bit time.
    depends = {entry.split()[0].removesuffix('t64') for entry in field(deb, 'Depends').split(',')}
    assert depends - {'systemd'} == LIBRARIES
    # Loaded at the start if it is installed, so it is no dependency.
    amd64 = field(deb, 'Architecture') == 'amd64'
    assert field(deb, 'Recommends') == ('libipsec-mb2 | libipsec-mb1' if amd64 else '')
    assert field(deb, 'Pre-Depends') == ''
    assert field(deb, 'Breaks') == 'leon-cloud (<< 0.3.0~)'
    assert field(deb, 'Conflicts') == field(deb, 'Replaces') == ''


def test_programs_are_hardened(unpacked):
    for program in ('usr/sbin/leond', 'usr/bin/leonctl'):
        elf = subprocess.run(
            ['readelf', '--wide', '--dynamic', '--file-header', '--dyn-syms', unpacked / program],
            check=True, capture_output=True, text=True, timeout=300,
        ).stdout
        assert re.search(r'Type:\s+DYN', elf), f'{program} is not position independent'
        assert 'BIND_NOW' in elf or 'Flags: NOW' in elf, f'{program} has a writable GOT'
        assert '__stack_chk_fail' in elf, f'{program} has no stack protector'
        assert 'RUNPATH' not in elf and 'RPATH' not in elf


def test_wireshark_finds_the_dissector(unpacked):
    """`tshark -G folders` names the directory."""
    assert len(list(unpacked.glob('usr/lib/*/wireshark/plugins/leon.lua'))) == 1


def test_versions_agree(deb, unpacked):
    version = field(deb, 'Version')
    done = subprocess.run(
        [unpacked / 'usr/sbin/leond', '--version'], capture_output=True, text=True, timeout=300
    )
    assert done.stdout.split() == ['leond', version]
    with gzip.open(unpacked / 'usr/share/doc/leond/changelog.gz', 'rt') as changelog:
        assert changelog.readline().startswith(f'leon ({version}) ')


def test_lintian_is_silent(built):
    """One run over all packages, because each run loads all checks."""
    packages = [path for path in built.glob('*.deb') if '-dbgsym_' not in path.name]
    control = (TOP / 'packaging/debian/control').read_text()
    assert {path.name.split('_')[0] for path in packages} == set(re.findall('^Package: (.*)', control, re.M))
    if not shutil.which('lintian'):
        pytest.skip('lintian is not installed')
    done = subprocess.run(
        ['lintian', '--allow-root', '--fail-on', 'error,warning', '--tag-display-limit', '0', *packages],
        capture_output=True, text=True, timeout=300,
    )
    assert (done.returncode, done.stdout) == (0, ''), done.stdout + done.stderr


@pytest.mark.parametrize('name', ['leond', 'leon-ipsec', 'leon-metrics'])
def test_unit_is_valid(unpacked, units, name):
    """systemd accepts each line, and the named programs are in the package."""
    if not shutil.which('systemd-analyze'):
        pytest.skip('systemd-analyze is not installed')
    unit = unpacked / units.lstrip('/') / f'{name}@.service'
    commands = set(re.findall(r'^Exec\w+=[-+!@:]*(\S+)', unit.read_text(), re.M))
    commands |= set(re.findall(r'exec (/\S+)', unit.read_text()))
    commands -= {'/bin/sh', '/bin/kill'}
    assert commands
    for command in commands:
        assert (unpacked / command.lstrip('/')).is_file(), f'{command} is not in the package'
    done = subprocess.run(
        ['systemd-analyze', 'verify', '--man=no', '--recursive-errors=no', f'--root={unpacked}',
         f'{name}@leon0.service'],
        capture_output=True, text=True, timeout=300,
    )
    complaints = [line for line in done.stderr.splitlines()
                  if '/bin/sh' not in line and '/bin/kill' not in line]
    assert complaints == []


# The tasks of the units require the remaining exposure: networks, netlink, CAP_NET_ADMIN, disks.
MOST_EXPOSED = {'leond@': 2.0, 'leon-accel@': 1.7, 'leon-ipsec@': 1.6, 'leon-metrics@': 1.6,
                'leon-lisp': 2.3, 'leon-cloud': 2.5}
UNIT_FILES = [*(TOP / 'packaging').rglob('*@.service'), *(TOP / 'packaging').rglob('leon-*[a-z].service')]


def test_every_unit_has_its_limit():
    assert {path.name.removesuffix('.service') for path in UNIT_FILES} == set(MOST_EXPOSED)


@pytest.mark.parametrize('file', UNIT_FILES, ids=lambda path: path.name)
def test_unit_is_confined(tmp_path, file):
    if not shutil.which('systemd-analyze'):
        pytest.skip('systemd-analyze is not installed')
    most = MOST_EXPOSED[file.name.removesuffix('.service')]
    copy = tmp_path / file.name.replace('@', '@leon0')
    shutil.copy(file, copy)
    done = subprocess.run(
        ['systemd-analyze', 'security', '--offline=yes', f'--threshold={most * 10:.0f}', copy],
        capture_output=True, text=True, timeout=300,
    )
    assert done.returncode == 0, done.stdout
    assert 'Overall exposure level' in done.stdout


@pytest.mark.parametrize('name', ['systemd/leon-ipsec@.service', 'image/cloud/leon-cloud.service'])
def test_unit_reads_keys_in_the_home_of_root(name):
    """`leon-ipsec check` and `guard` run outside the unit and read them."""
    assert 'ProtectHome=read-only\n' in (TOP / 'packaging' / name).read_text()


@pytest.mark.parametrize('block', documented_configurations())
def test_documented_configurations(unpacked, tmp_path, block):
    file = tmp_path / 'leon0.json'
    json.loads(block)
    # The placeholder is refused; see tests/unit/test_conf.c.
    file.write_text(block.replace('OUTPUT OF leonctl generate secret', 'a secret for the tests'))
    file.chmod(0o600)
    done = subprocess.run(
        [unpacked / 'usr/sbin/leond', '--config', file, '--check'],
        capture_output=True, text=True, timeout=300,
    )
    assert (done.returncode, done.stdout) == (0, 'configuration OK\n'), done.stderr


def enable_all(root) -> list:
    """Makes the links of `systemctl enable` for leon0, for each unit with an [Install] section."""
    listed = root.run('dpkg', '--listfiles', 'leond').stdout.split()
    links = []
    for unit in (Path(name) for name in listed if name.endswith('@.service')):
        for wants in re.findall(r'^WantedBy=(.+)$', root.run('cat', str(unit)).stdout, re.M):
            folder = f'/etc/systemd/system/{wants}.wants'
            links.append(f'{folder}/{unit.name.replace("@", "@leon0")}')
            root.run('mkdir', '-p', folder)
            root.run('ln', '-s', str(unit), links[-1])
    assert any('/leond@' in link for link in links)
    return links


def test_life_of_the_package(root):
    """Install, upgrade, remove, install again, purge: with the real dpkg."""
    def status() -> str:
        query = ('dpkg-query', '-W', '-f', '${db:Status-Abbrev}', 'leond')
        return root.run(*query, check=False).stdout.strip()

    root.run('dpkg', '--install', '/tmp/leond.deb')
    assert status() == 'ii'
    assert root.run('stat', '-c', '%U:%G %a', '/etc/leon').stdout == 'root:leon 750\n'
    passwd = root.run('getent', 'passwd', 'leon').stdout.strip().split(':')
    assert passwd[5:] == ['/nonexistent', '/usr/sbin/nologin']
    assert root.run('leond', '--version').stdout.startswith('leond ')
    assert root.run('dpkg', '--verify', 'leond').stdout == ''
    # The identity of a node before its first start.
    (command,) = re.findall('^    (.* --generate-identity .*)$', (TOP / 'vyos-1x-leon/doc/operations.md').read_text(), re.M)
    assert re.fullmatch('[0-9a-f]{64}\n', root.run(*command.split()).stdout)
    assert root.run('stat', '-c', '%U:%G %a', '/var/lib/leon').stdout == 'leon:leon 700\n'

    # Files of the operator: a configuration, links of `systemctl enable`, and files of a stopped
    # daemon.
    root.run('sh', '-c', 'echo "{}" >/etc/leon/leon0.json && chmod 0711 /etc/leon')
    root.run('mkdir', '/run/leon')
    assert root.run('stat', '-c', '%U:%G %a', '/run/leon-accel').stdout == 'leon:leon-accel 3770\n'
    links = enable_all(root)

    # An upgrade keeps all files, modes included.
    root.run('dpkg', '--install', '/tmp/leond.deb')
    assert status() == 'ii'
    assert root.run('cat', '/etc/leon/leon0.json').stdout == '{}\n'
    assert root.run('stat', '-c', '%U:%G %a', '/etc/leon').stdout == 'root:leon 711\n'

    # Removal deletes the programs and keeps the files of the operator.
    root.run('dpkg', '--remove', 'leond')
    assert status() == 'rc'
    assert root.run('test', '-e', '/usr/sbin/leond', check=False).returncode != 0
    assert root.run('cat', '/etc/leon/leon0.json').stdout == '{}\n'
    assert all(root.run('test', '-L', link, check=False).returncode == 0 for link in links)

    # Purge deletes the files of the operator too.
    root.run('dpkg', '--install', '/tmp/leond.deb')
    root.run('sh', '-ec', 'mkdir -p /var/lib/leon && mount -t tmpfs disk /var/lib/leon && mkdir /var/lib/leon/lost+found')
    root.run('dpkg', '--purge', 'leond')
    assert status() in ('', 'un')
    assert root.run('ls', '/var/lib/leon').stdout == ''
    assert root.run('test', '-e', '/etc/leon', check=False).returncode != 0
    for name in ('leon', 'leon-accel'):
        assert root.run('test', '-e', f'/run/{name}', check=False).returncode != 0
    assert [link for link in links if root.run('test', '-L', link, check=False).returncode == 0] == []
    left = root.run('sh', '-c', 'find /etc /usr /lib /var/lib/dpkg/info -xdev -name "leond*"')
    assert left.stdout == ''


def test_what_systemd_is_told(root, tmp_path):
    """Nothing starts after the first installation. An upgrade restarts running units, and a
    removal stops the units."""
    recorder = tmp_path / 'systemctl'
    recorder.write_text('#!/bin/sh\necho "$@" >>/tmp/told\n')
    root.put(recorder, '/usr/local/sbin/systemctl')
    root.run('chmod', '0755', '/usr/local/sbin/systemctl')
    root.run('mkdir', '-p', '/run/systemd/system')

    def told_by(*dpkg: str) -> list:
        root.run('sh', '-c', ': >/tmp/told')
        root.run('dpkg', *dpkg)
        lines = root.run('cat', '/tmp/told').stdout.splitlines()
        return [line for line in lines if 'leon' in line]

    assert told_by('--install', '/tmp/leond.deb') == []
    assert told_by('--install', '/tmp/leond.deb') == [
        'stop leon-accel@*.service',
        'list-units --plain --no-legend --state=active leond@*.service',
        'try-restart leon-ipsec@*.service', 'try-restart leond@*.service',
        'try-restart leon-metrics@*.service']
    assert told_by('--remove', 'leond') == [
        'stop leond@*.service leon-ipsec@*.service leon-metrics@*.service']


def test_upgrade_with_a_refused_configuration(root, tmp_path):
    """This instance keeps the previous release, the others restart, and dpkg prints the reason."""
    recorder = tmp_path / 'systemctl'
    recorder.write_text('#!/bin/sh\necho "$@" >>/tmp/told\n'
                        '[ "$1" != list-units ] || printf "leond@leon%s.service loaded\\n" 0 1 2 3 4 5\n')
    root.put(recorder, '/usr/local/sbin/systemctl')
    root.run('chmod', '0755', '/usr/local/sbin/systemctl')
    root.run('mkdir', '-p', '/run/systemd/system')
    root.run('dpkg', '--install', '/tmp/leond.deb')
    good = ('{"version": 1, "interface": "leon1", "source-address": ["127.0.0.1"],'
            ' "authentication": {"pre-shared-secret": "a secret for the tests"}}')
    secret = '{"version": 1, "authentication": {"pre-shared-secret": "%s"}}'
    for name, document in (('leon0', '{"version": 1, "interface": "leon0", "gone": 1}'), ('leon1', good),
                           ('leon2', good.replace('leon1', 'leon2')), ('leon3', good), ('leon4', good),
                           ('leon3.ipsec', secret % 'OUTPUT OF leonctl generate secret'),
                           ('leon4.ipsec', secret % 'another secret for the tests')):
        (tmp_path / name).write_text(document)
        root.put(tmp_path / name, f'/etc/leon/{name}.json')
        root.run('chown', 'root:leon', f'/etc/leon/{name}.json')
        root.run('chmod', '0640', f'/etc/leon/{name}.json')
    # As on VyOS.
    root.run('sh', '-ec', 'mkdir -p /run/leon /run/leon-ipsec; cp -p /etc/leon/leon3.json /run/leon/leon5.json;'
             ' cp /etc/leon/leon3.ipsec.json /run/leon-ipsec/leon5.json')
    # The daemon has the user leon.
    root.run('chmod', '0600', '/etc/leon/leon2.json')
    root.run('sh', '-c', ': >/tmp/told')
    done = root.run('dpkg', '--install', '/tmp/leond.deb')
    told = root.run('cat', '/tmp/told').stdout.splitlines()
    assert [line for line in told if re.match('try-restart leon(d|-ipsec)@', line)] == [
        f'try-restart {unit}@{name}.service' for name in ('leon1', 'leon4') for unit in ('leon-ipsec', 'leond')]
    assert 'leon0 still runs the previous release: /etc/leon/leon0.json: ' in done.stderr
    assert 'gone' in done.stderr and 'systemctl restart leond@leon0.service' in done.stderr
    assert re.search('leon2 still runs the previous release: .*: Permission denied', done.stderr)
    assert re.search('leon3 still runs the previous release: .*/leon3.ipsec.json: .* is a placeholder', done.stderr)
    assert 'then: systemctl restart leon-ipsec@leon3.service leond@leon3.service\n' in done.stderr
    assert re.search('/run/leon/leon5.json: leon-ipsec: .* is a placeholder.*\n  Commit a correction', done.stderr)
    done = root.run('leond', '--config', '/etc/leon/leon0.json', check=False)
    assert done.returncode == 78 and 'gone' in done.stderr
    assert 'RestartPreventExitStatus=78\n' in root.run(
        'sh', '-c', 'cat /lib/systemd/system/leond@.service').stdout


def as_user(user: str, *groups: str) -> tuple:
    drop = ('setpriv', f'--reuid={user}', '--inh-caps=-all', '--ambient-caps=-all')
    return (*drop, '--regid=nogroup', '--groups=' + (','.join(groups) or 'nogroup'))


def wait_until(condition, seconds: float = 60):
    deadline = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < deadline, 'still not so'
        time.sleep(0.05)


def test_daemon_runs_with_what_the_unit_grants(root, tmp_path):
    """As the user leon with two capabilities: starts, answers permitted clients, reloads, ends."""
    root.run('dpkg', '--install', '/tmp/leond.deb')
    unit = root.run('cat', '/lib/systemd/system/leond@.service').stdout
    # A wanted unit without work would log a line at each start.
    assert 'Wants=network-online.target\n' in unit
    # A running manager reads the changed port.
    assert 'systemctl --no-block reload-or-restart leon-ipsec@%i.service; exec' in unit
    assert {'User=leon', 'RuntimeDirectoryMode=0750', 'UMask=0077'} <= set(unit.splitlines())
    (granted,) = re.findall('^AmbientCapabilities=(.*)$', unit, re.M)
    granted = ','.join('+' + name.removeprefix('CAP_').lower() for name in granted.split())

    config = tmp_path / 'leon0.json'
    config.write_text('{"version": 1, "interface": "leon0", "source-address": ["127.0.0.1"],'
                      ' "authentication": {"pre-shared-secret": "a secret for the tests"}}')
    root.put(config, '/etc/leon/leon0.json')
    root.run('chown', 'root:leon', '/etc/leon/leon0.json')
    root.run('chmod', '0640', '/etc/leon/leon0.json')
    for directory in ('/run/leon', '/var/lib/leon'):
        root.run('install', '-d', '-o', 'leon', '-g', 'leon', '-m', '0750', directory)
    root.run('ip', 'link', 'set', 'lo', 'up')

    leond = root.start(
        'setpriv', '--reuid=leon', '--regid=leon', '--clear-groups', '--no-new-privs',
        '--bounding-set=-all,' + granted, '--inh-caps=-all,' + granted,
        '--ambient-caps=-all,' + granted, 'sh', '-c',
        'umask 0077; echo $$ >/run/leon/pid; '
        'exec leond --config /etc/leon/leon0.json 2>/run/leon/log',
    )
    ask = ('leonctl', '--socket', '/run/leon/leon0.sock')
    try:
        def answers() -> bool:
            assert leond.poll() is None
            return root.run(*ask, 'show', 'nodes', check=False).returncode == 0

        wait_until(answers)
        assert 'state UNKNOWN' in root.run('ip', 'link', 'show', 'leon0').stdout

        member, stranger = as_user('nobody', 'leon'), as_user('nobody')
        assert root.run(*member, *ask, 'show', 'nodes').returncode == 0
        assert root.run(*member, *ask, 'reload', check=False).returncode == 1
        assert root.run(*stranger, *ask, 'show', 'nodes', check=False).returncode == 4
        assert root.run(*as_user('leon'), *ask, 'reload').returncode == 0
        root.run('kill', root.run('cat', '/run/leon/pid').stdout.strip())
        assert leond.wait(timeout=60) == 0
    finally:
        print(root.run('cat', '/run/leon/log', check=False).stdout)
    assert root.run('ip', 'link', 'show', 'leon0', check=False).returncode != 0
