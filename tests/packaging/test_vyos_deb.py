# SPDX-License-Identifier: GPL-2.0-or-later
"""The Debian package vyos-1x-leon: contents, and effects on a system with VyOS.

Two packages simulate VyOS (stand_ins.py). The real dpkg installs, upgrades and removes.
"""
import json
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from deb import contents, field
from stand_ins import (
    CACHES,
    COMPLETION,
    CONFIG_TEMPLATES,
    INTERFACE_EXISTS,
    OP_TEMPLATES,
    ORIGINAL,
    VALIDATOR,
    VPN_IPSEC,
    XML_REF,
)

TOP = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(TOP / 'vyos-1x-leon/tools'))

FILES = {
    'UNITS/leon-accel@.service.d/vyos-accel.conf',
    'UNITS/leon-ipsec@.service.d/vyos-ipsec.conf',
    'UNITS/leon-metrics@.service.d/vyos-metrics.conf',
    'UNITS/leond@.service.d/vyos.conf',
    '/opt/vyatta/etc/config-migrate/migrate/leon/0-to-1',
    '/opt/vyatta/etc/config-migrate/migrate/leon/1-to-2',
    '/opt/vyatta/etc/config-migrate/migrate/leon/2-to-3',
    '/opt/vyatta/etc/config-migrate/migrate/leon/3-to-4',
    '/usr/lib/python3/dist-packages/vyos-1x-leon.pth',
    '/usr/lib/python3/dist-packages/vyos/ifconfig/leon.py',
    '/usr/lib/python3/dist-packages/vyos_leon_hook.py',
    '/usr/libexec/vyos/completion/list_interfaces',
    '/usr/libexec/vyos/completion/list_leon_nodes.py',
    '/usr/libexec/vyos/conf_mode/interfaces_leon.py',
    '/usr/libexec/vyos/conf_mode/vpn_ipsec.py',
    '/usr/libexec/vyos/op_mode/leon.py',
    '/usr/libexec/vyos/tests/smoke/cli/test_interfaces_leon.py',
    '/usr/libexec/vyos/validators/file-path',
    '/usr/libexec/vyos/validators/leon-vlan',
    '/usr/libexec/vyos-1x-leon/interface-exists',
    '/usr/libexec/vyos-1x-leon/leon-boot',
    '/usr/share/doc/vyos-1x-leon/README.md',
    '/usr/share/doc/vyos-1x-leon/changelog',
    '/usr/share/doc/vyos-1x-leon/copyright',
    '/usr/share/doc/vyos-1x-leon/vyos-image.md',
    '/usr/share/doc/vyos-1x-leon/vyos-internals.md',
    '/usr/share/doc/vyos-1x-leon/vyos-reference.md',
    '/usr/share/doc/vyos-1x-leon/vyos.md',
    '/usr/share/lintian/overrides/vyos-1x-leon',
    '/usr/share/vyos/config-mode-dependencies/vyos-1x-leon.json',
    '/usr/share/vyos/templates/leon/leond.json.j2',
    '/usr/share/vyos-1x-leon/cache/op_cache.json',
    '/usr/share/vyos-1x-leon/cache/reftree.json',
    '/usr/share/vyos-1x-leon/conf.def',
    '/usr/share/vyos-1x-leon/interface-definitions/interfaces_leon.xml',
    '/usr/share/vyos-1x-leon/interface-definitions/xml-component-version.xml',
}
MODULES = '/usr/lib/python3/dist-packages/vyos_leon/'


@pytest.fixture(scope='module')
def content(vyos_deb, tmp_path_factory):
    return contents(vyos_deb, tmp_path_factory.mktemp('vyos-unpacked'))


# --- contents ---


def test_file_list(content, units):
    templates = (CONFIG_TEMPLATES, OP_TEMPLATES)
    found = {
        name.removesuffix('.gz') if name.startswith('/usr/share/doc/') else name
        for name in content
        if not name.startswith((*templates, MODULES))
    }
    assert found == {name.replace('UNITS', units) for name in FILES}
    modules = {name.removeprefix(MODULES) for name in content if name.startswith(MODULES)}
    assert modules == {
        str(path.relative_to(TOP / 'vyos-1x-leon/python/vyos_leon'))
        for path in (TOP / 'vyos-1x-leon/python/vyos_leon').glob('*.py')
    }


@pytest.mark.parametrize('mode, folder, sources', [
    ('config', CONFIG_TEMPLATES, 'vyos-1x-leon/interface-definitions'),
    ('op', OP_TEMPLATES, 'op-mode/definitions'),
])  # fmt: skip
def test_templates(content, mode, folder, sources):
    """All output of the generator, and no node.def of a parent, which vyos-1x has."""
    import build_templates

    paths = [path for path in sorted((TOP / sources).glob('*.xml.in')) if 'lisp' not in path.name]
    definitions = build_templates.read_all(mode, paths)
    wanted = build_templates.build(mode, definitions)
    found = {
        name.removeprefix(f'{folder}/'): path.read_text()
        for name, path in content.items()
        if name.startswith(folder)
    }
    assert found == wanted
    assert len(found) > 50
    assert all('/leon/' in f'/{name}' for name in found)


def test_what_is_run_can_be_run(content):
    for name, path in content.items():
        runs = name.startswith('/usr/libexec/')
        assert bool(path.stat().st_mode & 0o111) == runs, name
        assert not path.is_symlink(), name


def test_dependencies(vyos_deb, deb):
    version = field(vyos_deb, 'Version')
    assert version == field(deb, 'Version')
    assert field(vyos_deb, 'Architecture') == 'all'
    depends = {entry.strip() for entry in field(vyos_deb, 'Depends').split(',')}
    assert {'vyos-1x', f'leond (>= {version})', f'leond (<< {version}.1~)'} <= depends
    assert {d.split()[0] for d in depends} == {'vyos-1x', 'leond', 'python3', 'iproute2'}
    assert field(vyos_deb, 'Conflicts') == field(vyos_deb, 'Replaces') == ''


def test_merged_definitions_stand_alone(content):
    text = content['/usr/share/vyos-1x-leon/interface-definitions/interfaces_leon.xml'].read_text()
    assert '#include' not in text and text.count('<defaultValue>') > 20


# --- effects on a system ---

def text(root, path):
    return root.run('cat', path).stdout


def status(root, name='vyos-1x-leon'):
    query = ('dpkg-query', '-W', '-f', '${db:Status-Abbrev}', name)
    return root.run(*query, check=False).stdout.strip()


def left_behind(root):
    """Files with our name, except the files of leond, documents and records of dpkg."""
    found = root.run(
        'find', '/opt/vyatta', '/usr/lib', '/usr/libexec', '/usr/share/vyos', '/lib/systemd',
        '-xdev', '(', '-name', '*leon*', '-o', '-name', '*.vyos', ')',
        '-not', '-path', '/usr/lib/leon*', check=False).stdout.split()  # fmt: skip
    of_leond = {Path(path).name for path in root.run('dpkg', '-L', 'leond').stdout.split()}
    return [path for path in found if Path(path).name not in of_leond]


def test_life_of_the_package(vyos):
    vyos.run('dpkg', '--install', '/tmp/vyos-1x-leon.deb')
    assert status(vyos) == 'ii'
    assert vyos.run('dpkg', '--verify', 'vyos-1x-leon').stdout == ''
    assert "'vyos': 1" in text(vyos, f'{XML_REF}/cache.py')
    definitions = "'vyos-1x-leon': ['interfaces_leon.xml', 'xml-component-version.xml']"
    assert definitions in text(vyos, f'{XML_REF}/cache.py')
    # Files of VyOS without a diversion are unchanged, except the caches.
    changed = vyos.run('dpkg', '--verify', 'vyos-1x').stdout.split()
    assert set(changed) == {'??5??????', f'{XML_REF}/cache.py', *CACHES}

    # An update of VyOS writes to the diverted paths, and an upgrade of our package changes nothing.
    vyos.run('dpkg', '--install', '/tmp/vyos-utils_2.deb')
    vyos.run('dpkg', '--install', '/tmp/vyos-1x-leon.deb')
    assert status(vyos) == 'ii'
    diversions = vyos.run('dpkg-divert', '--list', 'vyos-1x-leon').stdout
    assert diversions.count('diversion of') == 4
    assert 'newer' in text(vyos, f'{VALIDATOR}.vyos')
    assert '# original' in text(vyos, '/usr/libexec/vyos-1x-leon/vyos/vpn_ipsec.py')
    assert 'dpkg-divert' in text(vyos, VPN_IPSEC)

    # A boot loads the migration scripts as modules, which Python compiles.
    compiled = '/opt/vyatta/etc/config-migrate/migrate/leon/__pycache__'
    vyos.run('sh', '-c', f'mkdir {compiled} && : >{compiled}/0-to-1cpython-311.pyc')

    vyos.run('dpkg', '--remove', 'vyos-1x-leon')
    assert status(vyos) == 'rc'
    assert 'newer' in text(vyos, VALIDATOR)
    assert '# original' in text(vyos, VPN_IPSEC)
    assert vyos.run('dpkg-divert', '--list', 'vyos-1x-leon').stdout == ''
    assert text(vyos, f'{XML_REF}/cache.py') == "reference = {'vyos': 1}"
    assert left_behind(vyos) == []
    assert vyos.run('dpkg', '--verify', 'vyos-utils').stdout == ''
    vyos.run('dpkg', '--purge', 'vyos-1x-leon')
    assert status(vyos) in ('', 'un')


def test_caches_of_vyos(vyos):
    """The files contain our entries only while the package is installed."""
    before = {path: json.loads(text(vyos, path)) for path in CACHES}
    for _ in range(2):
        vyos.run('dpkg', '--install', '/tmp/vyos-1x-leon.deb')
        include, op, reference = (json.loads(text(vyos, path)) for path in CACHES)
        assert include.count('interfaces_leon.py') == 1 and 'protocols_lisp.py' not in include
        assert 'sudo' not in op['show']['leon']['nodes']['__node_data']['command']
        (interfaces,) = [c for c in reference['children'] if c['name'] == 'interfaces']
        assert [c['name'] for c in interfaces['children']] == ['ethernet', 'leon']
        # An upgrade of VyOS alone replaces the files.
        vyos.run('dpkg', '--install', '/tmp/vyos-1x_1.deb')
        assert 'interfaces_leon.py' in text(vyos, CACHES[0])
        assert 'show_nodes' in text(vyos, CACHES[1]) and 'leon-vlan' in text(vyos, CACHES[2])
    vyos.run('dpkg', '--remove', 'vyos-1x-leon')
    after = {path: json.loads(text(vyos, path)) for path in CACHES}
    assert after == before


def test_removal_after_vyos_is_gone(vyos):
    vyos.run('dpkg', '--install', '/tmp/vyos-1x-leon.deb')
    vyos.run('dpkg', '--purge', '--force-depends', 'vyos-1x', 'vyos-utils')
    vyos.run('dpkg', '--purge', 'vyos-1x-leon')
    assert status(vyos) in ('', 'un')
    assert left_behind(vyos) == []


def test_installation_before_the_originals(vyos):
    """In an image build, dpkg may unpack our package first."""
    vyos.run('dpkg', '--purge', 'vyos-utils')
    vyos.run('dpkg', '--install', '/tmp/vyos-1x-leon.deb')
    vyos.run('dpkg', '--install', '/tmp/vyos-utils_1.deb')
    assert vyos.run(VALIDATOR, '--strict', '/config/x', check=False).returncode == 3
    assert 'original' in text(vyos, f'{VALIDATOR}.vyos')


def test_no_installation_on_an_older_vyos(vyos):
    """Migrations and `monitor leon capture` fail on VyOS 1.4."""
    vyos.run('touch', '/usr/lib/python3/dist-packages/vyos/migrator.py')
    done = vyos.run('dpkg', '--install', '/tmp/vyos-1x-leon.deb', check=False)
    assert done.returncode != 0 and 'LEON needs VyOS 1.5' in done.stderr
    assert status(vyos) == 'in'
    assert left_behind(vyos) == [] and 'original' in text(vyos, VALIDATOR)


def test_no_installation_without_a_reference_tree(vyos):
    """A node unknown to the Python of VyOS stops every commit, so the installation must fail."""
    vyos.run('sh', '-c', f'echo "raise SystemExit(1)" >{XML_REF}/generate_cache.py')
    done = vyos.run('dpkg', '--install', '/tmp/vyos-1x-leon.deb', check=False)
    assert done.returncode != 0
    assert status(vyos) == 'iF'
    vyos.run('dpkg', '--remove', 'vyos-1x-leon')
    assert 'original' in text(vyos, VALIDATOR)


@pytest.mark.parametrize('arguments, accepted', [
    ('--lookup-path /sys/class/net --directory leon0', True),
    ('--lookup-path /sys/class/net --directory leon4711', True),
    ('--lookup-path /sys/class/net --directory leon', False),
    ('--lookup-path /sys/class/net --directory leon0x', False),
    ('--lookup-path /sys/class/net --directory leon0/../eth0', False),
    ('--lookup-path /sys/class/net --directory eth0', False),
    ('--lookup-path /config --directory leon0', False),
    ('--directory leon0', False),
    ('leon0', False),
])  # fmt: skip
def test_validator(content, tmp_path, arguments, accepted):
    original = tmp_path / 'file-path.vyos'
    original.write_text(ORIGINAL)
    original.chmod(0o755)
    script = content[VALIDATOR].read_text().replace(f'{VALIDATOR}.vyos', str(original))
    done = subprocess.run(
        ['sh', '-c', script, 'file-path', *arguments.split()], capture_output=True, text=True,
        timeout=300,
    )
    if accepted:
        assert (done.returncode, done.stdout) == (0, '')
    else:
        assert (done.returncode, done.stdout) == (3, f'original {arguments}\n')


@pytest.mark.parametrize('name, accepted', [
    ('leon0', True), ('leon4711', True), ('leon', False), ('leon0x', False), ('eth0', False), ('', False),
    ('leon0/../eth0', False),
])  # fmt: skip
def test_validator_of_2026(vyos, name, accepted):
    """An upgrade of VyOS adds the validator after the installation of our package."""
    vyos.run('dpkg', '--install', '/tmp/vyos-1x-leon.deb')
    vyos.run('dpkg', '--install', '/tmp/vyos-1x-2026.deb')
    done = vyos.run(INTERFACE_EXISTS, name, check=False)
    assert (done.returncode, done.stdout) == (
        (0, '') if accepted else (3, f'original {name}\n'))  # fmt: skip
    vyos.run('dpkg', '--remove', 'vyos-1x-leon')
    assert 'original' in text(vyos, INTERFACE_EXISTS)


@pytest.mark.parametrize('arguments, ours, theirs', [
    ('', True, True),
    ('--bridgeable', True, True),
    ('--bridgeable --no-vlan-subinterfaces', True, True),
    ('--broadcast', True, True),
    ('--bondable', False, True),
    ('--type ethernet', False, True),
    ('--type leon', True, False),
])  # fmt: skip
def test_completion(vyos, arguments, ours, theirs):
    vyos.run('dpkg', '--install', '/tmp/vyos-1x-leon.deb')
    vyos.run('mkdir', '-p', '/sys/class/net/leon0', '/sys/class/net/leon12', '/sys/class/net/lo')
    words = vyos.run(COMPLETION, *arguments.split(), check=False).stdout.split()
    assert ({'leon0', 'leon12'} <= set(words)) == ours
    assert ('original' in words) == theirs
    assert 'lo' not in words


def test_completion_without_interfaces(vyos):
    vyos.run('dpkg', '--install', '/tmp/vyos-1x-leon.deb')
    assert vyos.run(COMPLETION, check=False).stdout.split() == ['original']


def test_python_knows_the_interface(vyos):
    """In every Python process, without an import of our modules."""
    vyos.run('dpkg', '--install', '/tmp/vyos-1x-leon.deb')
    program = 'import vyos.ifconfig; print(vyos.ifconfig.LeonIf.definition["section"])'
    assert vyos.run('/usr/bin/python3', '-c', program).stdout == 'leon\n'
    vyos.run('dpkg', '--remove', 'vyos-1x-leon')
    done = vyos.run('/usr/bin/python3', '-c', program, check=False)
    assert 'AttributeError' in done.stderr


RECORDER = '#!/bin/sh\necho "$(basename "$0") $*" >>/tmp/told\n'


def test_what_a_running_system_is_told(vyos, tmp_path):
    recorder = tmp_path / 'recorder'
    recorder.write_text(RECORDER)
    for name in ('systemctl', 'ip'):
        vyos.put(recorder, f'/usr/local/sbin/{name}')
        vyos.run('chmod', '0755', f'/usr/local/sbin/{name}')
    # Files of the daemons, and a foreign device with a similar name.
    vyos.run('mkdir', '-p', '/run/systemd/system', '/run/leon', '/sys/class/net/leon0',
             '/sys/class/net/leon1', '/opt/vyatta/config/active/interfaces/leon/leon0')
    vyos.run('touch', '/sys/class/net/leon0/tun_flags', '/run/leon/leon0.json')
    vyos.run('ln', '-s', 'vyos-configd-env-set', '/etc/default/vyos-configd-env')

    def told_by(*dpkg):
        vyos.run('sh', '-c', ': >/tmp/told')
        done = vyos.run('dpkg', *dpkg)
        return text(vyos, '/tmp/told').splitlines(), done.stderr

    restarts = [
        'systemctl --system daemon-reload',
        'systemctl try-restart vyos-configd.service',
        'systemctl try-restart vyos-commitd.service',
        'systemctl try-restart vyos-http-api.service',
    ]
    told, _ = told_by('--install', '/tmp/vyos-1x-leon.deb')
    assert told == restarts
    told, _ = told_by('--install', '/tmp/vyos-1x-leon.deb')
    assert told == restarts
    assert vyos.run('test', '-e', '/run/leon/leon0.json').returncode == 0

    told, warning = told_by('--remove', 'vyos-1x-leon')
    assert told == [
        'systemctl stop leon-accel@*.service',
        'systemctl stop leond@*.service', 'systemctl stop leon-ipsec@*.service',
        'systemctl stop leon-metrics@*.service', 'ip link delete dev leon0', *restarts]  # fmt: skip
    assert 'interfaces leon is configured' in warning
    assert vyos.run('test', '-e', '/run/leon/leon0.json', check=False).returncode != 0


# Serves after the third question of a maintainer script, or never.
CONFIGD = """#!/bin/sh
link=/etc/default/vyos-configd-env
case "$*" in
"try-restart vyos-configd.service") ln -sfn vyos-configd-env-unset $link; : >/tmp/asked ;;
"is-active vyos-configd.service")
    echo >>/tmp/asked
    [ "$(wc -l </tmp/asked)" != 3 ] || ln -sfn vyos-configd-env-STATE $link
    echo STATUS ;;
esac
"""


@pytest.mark.parametrize('state, status, asked', [
    ('set', 'active', 3), ('unset', 'active', 60), ('unset', 'inactive', 1)],
    ids=['serves', 'never serves', 'is inactive'])  # fmt: skip
def test_it_waits_until_configd_serves(vyos, lisp_deb, tmp_path, state, status, asked):
    """Before vyos-configd serves, a commit does not write the configuration of FRR."""
    vyos.put(lisp_deb, '/tmp/vyos-1x-leon-lisp.deb')
    configd = CONFIGD.replace('STATE', state).replace('STATUS', status)
    for name, program in (('systemctl', configd), ('sleep', '#!/bin/sh\n')):
        (tmp_path / name).write_text(program)
        vyos.put(tmp_path / name, f'/usr/local/sbin/{name}')
        vyos.run('chmod', '0755', f'/usr/local/sbin/{name}')
    vyos.run('mkdir', '-p', '/run/systemd/system')
    for verb, package in (('--install', '/tmp/vyos-1x-leon.deb'),
                          ('--install', '/tmp/vyos-1x-leon-lisp.deb'),
                          ('--remove', 'vyos-1x-leon-lisp'), ('--remove', 'vyos-1x-leon')):
        vyos.run('dpkg', verb, package)
        assert text(vyos, '/tmp/asked').count('\n') == asked
        link = vyos.run('readlink', '/etc/default/vyos-configd-env').stdout
        assert link == f'vyos-configd-env-{state}\n'
        vyos.run('rm', '/tmp/asked')


def test_an_image_build_leaves_the_host_alone(vyos, tmp_path):
    """No systemd runs in the root. The devices in /sys belong to the machine."""
    recorder = tmp_path / 'recorder'
    recorder.write_text(RECORDER)
    for name in ('systemctl', 'ip'):
        vyos.put(recorder, f'/usr/local/sbin/{name}')
        vyos.run('chmod', '0755', f'/usr/local/sbin/{name}')
    vyos.run('mkdir', '-p', '/sys/class/net/leon0')
    vyos.run('touch', '/sys/class/net/leon0/tun_flags', '/tmp/told')
    vyos.run('dpkg', '--install', '/tmp/vyos-1x-leon.deb')
    vyos.run('dpkg', '--remove', 'vyos-1x-leon')
    assert text(vyos, '/tmp/told') == ''


def test_drop_in_points_the_unit_at_run(content, deb, units, tmp_path):
    """systemd reads the unit of leond with our drop-in: one command, one condition, both in /run.
    """
    unit = tmp_path / units.lstrip('/') / 'leond@.service'
    subprocess.run(['dpkg-deb', '-x', deb, tmp_path], check=True, timeout=300)
    lines = unit.read_text().splitlines()
    name = f'{units}/leond@.service.d/vyos.conf'
    lines += content[name].read_text().splitlines()
    for key in ('ConditionPathExists', 'ExecStart'):
        values = []
        for line in lines:
            found = re.fullmatch(rf'{key}=(.*)', line)
            if found:
                # An empty value clears the earlier values.
                values = values + [found[1]] if found[1] else []
        assert len(values) == 1 and values[0].endswith('/run/leon/%i.json'), (key, values)
    if shutil.which('systemd-analyze'):
        shutil.copytree(content[name].parent, unit.parent / 'leond@.service.d')
        done = subprocess.run(
            ['systemd-analyze', 'verify', '--man=no', '--recursive-errors=no',
             f'--root={tmp_path}', 'leond@leon0.service'],
            capture_output=True, text=True, timeout=300,
        )
        assert [line for line in done.stderr.splitlines() if 'vyos.conf' in line] == []


def test_dependencies_are_merged_by_name(content):
    """VyOS merges all files of the directory, so our file needs a unique name."""
    path = content['/usr/share/vyos/config-mode-dependencies/vyos-1x-leon.json']
    assert json.loads(path.read_text())['qos']['leon'] == ['interfaces_leon']
