# SPDX-License-Identifier: GPL-2.0-or-later
"""The Debian package vyos-1x-leon-lisp: contents, and operation with vyos-1x-leon."""
import json
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from deb import contents, field
from stand_ins import CACHES, CONFIG_TEMPLATES, OP_TEMPLATES, XML_REF
from test_vyos_boot import KEPT, boot, forget, install, router  # noqa: F401
from test_vyos_deb import RECORDER, left_behind, status, text

TOP = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(TOP / 'vyos-1x-leon/tools'))

FILES = {
    'UNITS/leon-lisp.service',
    'UNITS/oor.service.d/oor-unused.conf',
    *(f'/usr/lib/python3/dist-packages/vyos_leon/lisp/{path.name}'
      for path in (TOP / 'vyos-1x-leon/python/vyos_leon/lisp').glob('*.py')),
    '/usr/libexec/vyos/conf_mode/protocols_lisp.py',
    '/usr/libexec/vyos/op_mode/leon_lisp.py',
    '/usr/libexec/vyos/tests/smoke/cli/test_protocols_lisp.py',
    '/usr/libexec/vyos-1x-leon-lisp/leon-lisp',
    *(f'/usr/share/doc/vyos-1x-leon-lisp/{name}' for name in ('changelog', 'copyright', 'lisp.md')),
    '/usr/share/lintian/overrides/vyos-1x-leon-lisp',
    '/usr/share/vyos/templates/leon/oor.conf.j2',
    '/usr/share/vyos-1x-leon-lisp/cache/op_cache.json',
    '/usr/share/vyos-1x-leon-lisp/cache/reftree.json',
    '/usr/share/vyos-1x-leon-lisp/interface-definitions/protocols_lisp.xml',
}
BOTH = ('vyos-1x-leon', 'vyos-1x-leon-lisp')


@pytest.fixture(scope='module')
def content(lisp_deb, tmp_path_factory):
    return contents(lisp_deb, tmp_path_factory.mktemp('lisp-unpacked'))


@pytest.fixture
def ready(vyos, lisp_deb):
    """The root `vyos`, with the file of the package."""
    vyos.put(lisp_deb, '/tmp/vyos-1x-leon-lisp.deb')
    return vyos


def has_lisp(root):
    """True if every cache of VyOS has the entries, false if no cache has them."""
    include, op, reference = (json.loads(text(root, path)) for path in CACHES)
    (protocols,) = [c for c in reference['children'] if c['name'] == 'protocols']
    found = {
        'protocols_lisp.py' in include,
        'lisp' in op['show'],
        [c['name'] for c in protocols['children']] == ['lisp'],
        'vyos-1x-leon-lisp' in text(root, f'{XML_REF}/cache.py'),
    }
    assert len(found) == 1
    return found.pop()


def has_leon(root):
    op = json.loads(text(root, CACHES[1]))
    assert ('leon' in op['show']) == ('interfaces_leon.xml' in text(root, f'{XML_REF}/cache.py'))
    return 'leon' in op['show']


# --- contents ---


def test_file_list(content, units):
    found = {
        name.removesuffix('.gz') if name.startswith('/usr/share/doc/') else name
        for name in content
        if not name.startswith((CONFIG_TEMPLATES, OP_TEMPLATES))
    }
    assert found == {name.replace('UNITS', units) for name in FILES}
    for name, path in content.items():
        assert bool(path.stat().st_mode & 0o111) == name.startswith('/usr/libexec/'), name


@pytest.mark.parametrize('mode, folder, source', [
    ('config', CONFIG_TEMPLATES, 'vyos-1x-leon/interface-definitions/protocols_lisp.xml.in'),
    ('op', OP_TEMPLATES, 'op-mode/definitions/lisp.xml.in'),
])  # fmt: skip
def test_templates(content, mode, folder, source):
    import build_templates

    wanted = build_templates.build(mode, build_templates.read_all(mode, [TOP / source]))
    found = {name.removeprefix(f'{folder}/'): path.read_text()
             for name, path in content.items() if name.startswith(folder)}
    assert found == wanted
    assert len(found) > 5 and all('/lisp/' in f'/{name}' for name in found)


def test_dependencies(lisp_deb, vyos_deb):
    depends = field(lisp_deb, 'Depends').split(', ')
    assert f'vyos-1x-leon (= {field(vyos_deb, "Version")})' in depends
    assert 'lisp' not in field(vyos_deb, 'Depends') + field(vyos_deb, 'Recommends')


def test_unit(content, units, tmp_path):
    """systemd accepts each line, and the started program is in the package."""
    if not shutil.which('systemd-analyze'):
        pytest.skip('systemd-analyze is not installed')
    unit = tmp_path / units.lstrip('/') / 'leon-lisp.service'
    program = tmp_path / 'usr/libexec/vyos-1x-leon-lisp/leon-lisp'
    for path in (unit, program):
        path.parent.mkdir(parents=True)
        shutil.copy(content[f'/{path.relative_to(tmp_path)}'], path)
    done = subprocess.run(
        ['systemd-analyze', 'verify', '--man=no', '--recursive-errors=no', f'--root={tmp_path}',
         'leon-lisp.service'], capture_output=True, text=True, timeout=300,
    )
    assert [line for line in done.stderr.splitlines()
            if 'leon-lisp' in line and '/bin/kill' not in line] == []


# --- effects on a system ---


def test_leon_alone_has_no_lisp(ready):
    ready.run('dpkg', '--install', '/tmp/vyos-1x-leon.deb')
    assert has_leon(ready) and not has_lisp(ready)
    assert ready.run('find', '/usr', '/opt', '/lib', '-xdev', '-name', '*lisp*', '-path', '*leon*',
                     check=False).stdout == ''


def test_life_of_the_package(ready):
    before = [text(ready, path) for path in CACHES]
    ready.run('dpkg', '--install', *(f'/tmp/{name}.deb' for name in BOTH))
    assert has_leon(ready) and has_lisp(ready)
    program = 'import vyos_leon.lisp.model, vyos_leon.lisp.verify'
    ready.run('/usr/bin/python3', '-c', program)
    # dpkg refuses to remove LEON before LISP. LEON stays after the removal of LISP.
    assert ready.run('dpkg', '--remove', 'vyos-1x-leon', check=False).returncode != 0
    ready.run('dpkg', '--remove', 'vyos-1x-leon-lisp')
    assert has_leon(ready) and not has_lisp(ready)
    ready.run('dpkg', '--install', '/tmp/vyos-1x-leon-lisp.deb')
    ready.run('dpkg', '--purge', *BOTH)
    assert [json.loads(text(ready, path)) for path in CACHES] == [json.loads(t) for t in before]
    assert left_behind(ready) == []


def package_of_before(root):
    """A vyos-1x-leon with LISP, as in 0.2.0. Its caches are one file for each mode."""
    root.run('sh', '-ec', """
        dpkg-deb -R /tmp/vyos-1x-leon.deb /tmp/before
        dpkg-deb -x /tmp/vyos-1x-leon-lisp.deb /tmp/before
        cd /tmp/before/usr/share
        mv vyos-1x-leon-lisp/interface-definitions/protocols_lisp.xml vyos-1x-leon/interface-definitions
        rm -r doc/vyos-1x-leon-lisp lintian/overrides/vyos-1x-leon-lisp vyos-1x-leon-lisp
        mkdir -p /tmp/before/usr/libexec/vyos-1x-leon
        mv /tmp/before/usr/libexec/vyos-1x-leon-lisp/leon-lisp /tmp/before/usr/libexec/vyos-1x-leon
        rmdir /tmp/before/usr/libexec/vyos-1x-leon-lisp
        sed -i -e 's/^Version: .*/Version: 0.2.0/' -e '/^Depends:/s/leond ([^)]*)/leond/g' \\
            /tmp/before/DEBIAN/control
        dpkg-deb --root-owner-group --build /tmp/before /tmp/before.deb""")


@pytest.mark.parametrize('order', [BOTH, BOTH[::-1]], ids=','.join)
def test_upgrade_from_one_package_to_two(ready, order):
    package_of_before(ready)
    ready.run('dpkg', '--install', '/tmp/before.deb')
    done = ready.run('dpkg', '--auto-deconfigure', '--install', *(f'/tmp/{name}.deb' for name in order))
    assert [status(ready, name) for name in order] == ['ii', 'ii']
    assert has_leon(ready) and has_lisp(ready)
    owner = ready.run('dpkg', '-S', '/usr/libexec/vyos/conf_mode/protocols_lisp.py').stdout
    assert owner.startswith('vyos-1x-leon-lisp:')
    assert 'is missing' not in done.stderr


@pytest.mark.parametrize('is_configured', [True, False], ids=['configured', 'not configured'])
def test_upgrade_of_leon_alone(ready, is_configured):
    """The upgrade removes LISP from the caches. If LISP is configured, a message names its
    package."""
    package_of_before(ready)
    ready.run('dpkg', '--install', '/tmp/before.deb')
    if is_configured:
        ready.run('mkdir', '-p', '/opt/vyatta/config/active/protocols/lisp')
    done = ready.run('dpkg', '--install', '/tmp/vyos-1x-leon.deb')
    assert has_leon(ready) and not has_lisp(ready)
    assert ('Install vyos-1x-leon-lisp' in done.stderr) == is_configured


def test_what_a_running_system_is_told(ready, tmp_path):
    ready.run('dpkg', '--install', '/tmp/vyos-1x-leon.deb')
    recorder = tmp_path / 'recorder'
    recorder.write_text(RECORDER)
    ready.put(recorder, '/usr/local/sbin/systemctl')
    ready.run('chmod', '0755', '/usr/local/sbin/systemctl')
    ready.run('mkdir', '-p', '/run/systemd/system', '/run/leon-lisp',
              '/opt/vyatta/config/active/protocols/lisp')
    ready.run('touch', '/run/leon-lisp/lisp.json')
    ready.run('ln', '-s', 'vyos-configd-env-set', '/etc/default/vyos-configd-env')
    vyos_units = [f'systemctl try-restart {name}.service'
                  for name in ('vyos-configd', 'vyos-commitd', 'vyos-http-api')]
    reload = 'systemctl --system daemon-reload'

    def told_by(*dpkg):
        ready.run('sh', '-c', ': >/tmp/told')
        done = ready.run('dpkg', *dpkg)
        return text(ready, '/tmp/told').splitlines(), done.stderr

    told, _ = told_by('--install', '/tmp/vyos-1x-leon-lisp.deb')
    assert told == [reload, *vyos_units, 'systemctl try-restart leon-lisp.service']
    told, warning = told_by('--remove', 'vyos-1x-leon-lisp')
    assert told == ['systemctl stop leon-lisp.service', reload, *vyos_units]
    assert 'protocols lisp is configured' in warning
    assert ready.run('test', '-e', '/run/leon-lisp/lisp.json', check=False).returncode != 0


# --- a boot of an image without the packages ---


def with_lisp(root, lisp_deb):
    """An installed vyos-1x-leon-lisp is kept."""
    root.put(lisp_deb, '/tmp/vyos-1x-leon-lisp.deb')
    install(root)
    root.run('dpkg', '--install', '/tmp/vyos-1x-leon-lisp.deb')
    assert root.run('test', '-e', f'{KEPT}/vyos-1x-leon-lisp.deb').returncode == 0
    root.run('env', 'LEON_BOOT=1', 'dpkg', '--purge', 'vyos-1x-leon-lisp')
    forget(root)


def test_image_without_the_packages_gets_lisp_too(router, lisp_deb):  # noqa: F811
    with_lisp(router, lisp_deb)
    for _ in range(2):
        assert 'the packages were installed' in boot(router)
        assert [status(router, name) for name in BOTH] == ['ii', 'ii']
        assert has_lisp(router)
        # The copy is complete again, for the next image.
        router.run('env', 'LEON_BOOT=1', 'dpkg', '--purge', 'vyos-1x-leon-lisp')
        forget(router)


def test_lisp_that_does_not_fit_costs_nothing_else(router, lisp_deb):  # noqa: F811
    with_lisp(router, lisp_deb)
    router.run('sh', '-c', f"""
        dpkg-deb -R {KEPT}/vyos-1x-leon-lisp.deb /tmp/broken
        printf '#!/bin/sh\nexit 1\n' >/tmp/broken/DEBIAN/postinst
        dpkg-deb --root-owner-group --build /tmp/broken {KEPT}/vyos-1x-leon-lisp.deb
        cd {KEPT} && sha256sum *.deb run >SHA256SUMS""")
    said = boot(router)
    assert 'the packages were installed' in said and 'protocols lisp is not loaded' in said
    assert [status(router, name) for name in ('leond', 'vyos-1x-leon')] == ['ii', 'ii']
    assert status(router, 'vyos-1x-leon-lisp') in ('', 'un', 'rc')
