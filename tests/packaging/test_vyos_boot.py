# SPDX-License-Identifier: GPL-2.0-or-later
"""A router with LEON interfaces boots an image without the package.

The test runs /config/scripts/vyos-preconfig-bootup.script as root before the configuration is
loaded, as VyOS does at a boot. The roots are temporary, with the real dpkg. An image without the
package is a root after a removal without the maintainer scripts of a removal.
"""
import json

import pytest
from conftest import running
from deb import field_in, make_release
from stand_ins import CACHES, INTERFACE_EXISTS, ORIGINAL
from test_vyos_deb import XML_REF, status, text

KEPT = '/config/leon-boot'
SCRIPT = '/config/scripts/vyos-preconfig-bootup.script'
CONFIG = """interfaces {
    bridge br0 {
        member {
            interface leon1 {
            }
        }
    }
    leon leon0 {
        address 10.99.0.1/24
    }
    leon leon1 {
    }
}
protocols {
    static {
        route 10.1.0.0/16 {
            interface leon0 {
            }
        }
    }
}
// vyos-config-version: "interfaces@33:leon@1"
"""
WITHOUT = 'interfaces {\n    ethernet eth0 {\n    }\n}\n'
OPERATORS = '#!/bin/sh\n# mine\ntouch /tmp/mine\nexit 0\n'


def make_router(vyos):
    """/config as on a router, with a script of the operator; no LEON installed yet."""
    vyos.run('groupadd', '--force', '--system', 'vyattacfg')
    vyos.run('mkdir', '-p', '/config/scripts')
    write(vyos, '/config/config.boot', CONFIG)
    write(vyos, SCRIPT, OPERATORS)
    vyos.run('chmod', '0755', SCRIPT)
    vyos.run('chown', '-R', 'root:vyattacfg', '/config')
    vyos.run('chmod', '2775', '/config')
    return vyos


@pytest.fixture
def router(vyos):
    return make_router(vyos)


@pytest.fixture(scope='session')
def frozen_image(frozen_vyos, tmp_path_factory):
    with running(tmp_path_factory.mktemp('image'), frozen_vyos) as r:
        install(make_router(r))
        forget(r)
        r.freeze()
        yield r


@pytest.fixture
def image(frozen_image, tmp_path):
    """The router with stored packages of LEON, and an image without LEON."""
    with running(tmp_path, frozen_image) as r:
        yield r


def write(root, path, what):
    root.run('sh', '-c', 'printf %s "$2" >"$1"', 'sh', path, what)


def install(root):
    return root.run('dpkg', '--install', '/tmp/vyos-1x-leon.deb').stderr


def forget(root):
    """Removes the packages and their files outside of /config, which another image does not have.
    """
    root.run('env', 'LEON_BOOT=1', 'dpkg', '--remove', 'vyos-1x-leon', 'leond')
    root.run('rm', '-rf', '/etc/leon', '/var/lib/leon')
    assert [status(root, name) for name in ('leond', 'vyos-1x-leon')] == ['rc', 'rc']


def with_accel(root, accel_deb):
    """An installed leon-accel is kept."""
    root.put(accel_deb, '/tmp/leon-accel.deb')
    root.run('dpkg', '--install', '/tmp/leon-accel.deb')
    install(root)
    assert is_there(root, f'{KEPT}/leon-accel.deb')
    root.run('dpkg', '--purge', 'leon-accel')
    forget(root)


def boot(root, *environment):
    """As vyos-router does; messages are in the journal and on the console."""
    root.run('rm', '-f', '/tmp/mine')
    done = root.run('env', *environment, SCRIPT)
    # The script of the operator runs in every case.
    assert root.run('test', '-e', '/tmp/mine').returncode == 0
    return done.stdout + done.stderr


def devices(root):
    links = root.run('ip', '-o', 'link').stdout
    return [name for name in ('leon0', 'leon1') if f' {name}: ' in links]


def is_there(root, path):
    return root.run('test', '-e', path, check=False).returncode == 0


def test_arranged_by_installing(router):
    install(router)
    listing = router.run('stat', '-c', '%U %a %n', KEPT, f'{KEPT}/run', f'{KEPT}/leond.deb').stdout
    assert listing.split('\n')[:3] == [
        f'root 700 {KEPT}', f'root 700 {KEPT}/run', f'root 600 {KEPT}/leond.deb']  # fmt: skip
    assert router.run('head', '-1', SCRIPT).stdout == '#!/bin/sh\n'
    assert 'touch /tmp/mine\nexit 0\n' in text(router, SCRIPT)
    # Only root has access. The daemon has another directory in /config.
    probe = f'import os; print(os.access("{KEPT}", os.R_OK), os.access("/config", os.W_OK))'
    program = f'import os; os.setgroups([]); os.setgid(65534); os.setuid(65534); {probe}'
    assert router.run('/usr/bin/python3', '-c', program).stdout == 'False False\n'


def test_nothing_where_no_leon_is_configured(router):
    write(router, '/config/config.boot', WITHOUT)
    install(router)
    assert not is_there(router, KEPT)
    assert text(router, SCRIPT) == OPERATORS


def test_devices_exist_before_the_configuration(router):
    """With the package too, because VyOS checks for existing interfaces. The user of the daemon may
    attach. A second call changes nothing."""
    install(router)
    for _ in range(2):
        assert boot(router) == ''
        assert devices(router) == ['leon0', 'leon1']
    assert is_there(router, KEPT)
    for name in ('leon0', 'leon1'):
        shown = router.run('ip', '-d', 'link', 'show', name).stdout
        assert {'tap', 'persist', 'multi_queue', 'vnet_hdr', 'user'} <= set(shown.split()), shown
        assert ' user leon ' in shown


def test_image_without_the_package_gets_it(image):
    said = boot(image)
    assert 'the packages were installed' in said
    assert [status(image, name) for name in ('leond', 'vyos-1x-leon')] == ['ii', 'ii']
    assert "'vyos-1x-leon'" in text(image, f'{XML_REF}/cache.py')
    for name in ('leond', 'vyos-1x-leon'):
        assert image.run('dpkg', '--verify', name).stdout == ''
    assert image.run('/usr/sbin/leond', '--version').returncode == 0
    assert image.run('stat', '-c', '%G %a', '/etc/leon').stdout == 'leon 750\n'
    assert text(image, '/config/config.boot') == CONFIG
    assert devices(image) == ['leon0', 'leon1']
    # The boot also works from files of an earlier boot.
    forget(image)
    assert 'the packages were installed' in boot(image)


# As VyOS: adds the version of each component that the image has.
MIGRATION = """#!/bin/sh
[ "$(id -gn)" = vyattacfg ] && sed -i '$ s/@33"/@33:leon@4"/' "$1" && echo "migrates $1"
"""


def test_the_configuration_is_migrated_for_the_packages(image):
    """VyOS has migrated it before, for an image without LEON."""
    program = '/usr/libexec/vyos/run-config-migration.py'
    write(image, program, MIGRATION)
    image.run('chmod', '0755', program)
    migrated = CONFIG.replace('leon@1', 'leon@4')
    for path in ('/config/config.boot', '/config/other.boot'):
        write(image, path, CONFIG.replace(':leon@1', ''))
        assert f'migrates {path}' in boot(image, f'BOOTFILE={path}')
        assert text(image, path) == migrated
        forget(image)
    assert 'migrate' not in boot(image)
    # A failed migration has no other effect.
    forget(image)
    write(image, program, '#!/bin/sh\nexit 1\n')
    write(image, '/config/config.boot', CONFIG.replace(':leon@1', ''))
    assert 'config.boot is not migrated' in boot(image)
    assert devices(image) == ['leon0', 'leon1']


def test_image_without_the_packages_gets_leon_accel_too(router, accel_deb):
    with_accel(router, accel_deb)
    assert 'the packages were installed' in boot(router)
    assert status(router, 'leon-accel') == 'ii'
    assert router.run('/usr/sbin/leon-accel', '--version').returncode == 0


def test_leon_accel_that_does_not_fit_costs_nothing_else(router, accel_deb):
    with_accel(router, accel_deb)
    router.run('sh', '-c', f"""
        dpkg-deb -R {KEPT}/leon-accel.deb /tmp/broken
        printf '#!/bin/sh\nexit 1\n' >/tmp/broken/DEBIAN/postinst
        dpkg-deb --root-owner-group --build /tmp/broken {KEPT}/leon-accel.deb
        cd {KEPT} && sha256sum *.deb run >SHA256SUMS""")
    said = boot(router)
    assert 'the packages were installed' in said and 'no TCP connection is accelerated' in said
    assert [status(router, name) for name in ('leond', 'vyos-1x-leon', 'leon-accel')] == ['ii', 'ii', 'rc']


@pytest.mark.parametrize('depends, has_libraries', [('leond', True), ('leon-missing', False)])
def test_image_without_the_packages_gets_leon_portmap(router, portmap_deb, depends, has_libraries):
    """An image of VyOS may lack the libraries of leon-portmap. The overlay works without them."""
    router.put(portmap_deb, '/tmp/leon-portmap.deb')
    router.run('sh', '-c', f"""
        dpkg-deb -R /tmp/leon-portmap.deb /tmp/portmap
        sed -i 's/^Depends:.*/Depends: {depends}/' /tmp/portmap/DEBIAN/control
        dpkg-deb --root-owner-group --build /tmp/portmap /tmp/leon-portmap.deb""")
    router.run('dpkg', '--install', '--force-depends', '/tmp/leon-portmap.deb')
    install(router)
    router.run('dpkg', '--purge', 'leon-portmap')
    forget(router)
    said = boot(router)
    assert 'the packages were installed' in said
    assert ('no port is mapped at a gateway' in said) is not has_libraries
    assert status(router, 'vyos-1x-leon') == 'ii'
    assert (status(router, 'leon-portmap') == 'ii') is has_libraries


def test_manual_pages_that_the_image_dropped_do_not_matter(router):
    install(router)
    router.run('rm', '-rf', '/usr/share/man/man8/leond.8.gz', '/usr/share/doc/leond')
    router.run('rm', '-rf', KEPT)
    router.run('/usr/bin/python3', '-m', 'vyos_leon.boot', 'installed')
    forget(router)
    assert 'the packages were installed' in boot(router)
    router.run('rm', '/usr/sbin/leond')
    router.run('rm', '-rf', KEPT)
    done = router.run('/usr/bin/python3', '-m', 'vyos_leon.boot', 'installed', check=False)
    assert done.returncode != 0
    assert '/usr/sbin/leond is missing: install the package leond again' in done.stderr


@pytest.mark.parametrize('what', [
    f'echo >>{KEPT}/leond.deb',
    f'rm {KEPT}/vyos-1x-leon.deb',
    f'chown nobody {KEPT}/leond.deb',
    f'chown nobody {KEPT}',
    f'chmod o+w {KEPT}',
    f'chgrp nogroup {KEPT} && chmod g+w {KEPT}',
    f'mv {KEPT}/leond.deb /tmp/x && ln -s /tmp/x {KEPT}/leond.deb',
    # A VyOS with incompatible tools, and a package that is only half removed.
    f'echo "raise SystemExit(1)" >{XML_REF}/generate_cache.py',
    f'echo "raise SystemExit(1)" | tee {XML_REF}/generate_cache.py >{XML_REF}/update_cache.py',
    # No space, no dpkg, ...
    'printf "#!/bin/sh\nexit 1\n" >/usr/local/sbin/dpkg && chmod 755 /usr/local/sbin/dpkg',
])  # fmt: skip
def test_what_cannot_be_installed_costs_nothing_else(image, what):
    """The names exist, so VyOS loads all related configuration. config.boot stays."""
    image.run('sh', '-c', what)
    said = boot(image)
    assert 'WITHOUT LEON' in said
    image.run('rm', '-f', '/usr/local/sbin/dpkg')
    assert 'ii' not in [status(image, name) for name in ('leond', 'vyos-1x-leon')]
    assert not is_there(image, '/opt/vyatta/share/vyatta-cfg/templates/interfaces/leon')
    assert devices(image) == ['leon0', 'leon1']
    assert text(image, '/config/config.boot') == CONFIG


def test_administrators_of_vyos_may_have_the_directory(image):
    """The actions of VyOS on /config after an upgrade, and of the VyOS package at its
    installation."""
    image.run('chown', '-R', 'root:vyattacfg', '/config')
    image.run('chmod', '-R', '775', '/config')
    assert 'the packages were installed' in boot(image)


def test_removed_by_the_operator_it_stays_away(router):
    """The next boot loads everything except LEON and does not reinstall a removed package."""
    install(router)
    said = router.run('dpkg', '--remove', 'vyos-1x-leon', 'leond').stderr
    assert 'interfaces leon is configured' in said and 'commit-confirm removes the interfaces' in said
    assert 'WITHOUT LEON' in boot(router)
    assert text(router, '/run/motd.d/leon').startswith('WITHOUT LEON')
    assert [status(router, name) for name in ('leond', 'vyos-1x-leon')] == ['rc', 'rc']
    assert devices(router) == ['leon0', 'leon1']
    # Purged, too.
    said = router.run('dpkg', '--purge', 'vyos-1x-leon', 'leond').stderr
    assert '/config/leon and /config/leon-boot stay' in said
    assert is_there(router, f'{KEPT}/run')
    # After a new installation, the package is kept again.
    router.run('dpkg', '--install', '/tmp/leond.deb')
    install(router)
    assert not is_there(router, '/run/motd.d/leon')
    forget(router)
    assert 'the packages were installed' in boot(router)


def test_removed_without_configuration_leaves_nothing(router):
    install(router)
    router.run('mkdir', '/config/leon')
    write(router, '/config/config.boot', WITHOUT)
    assert 'configured' not in router.run('dpkg', '--remove', 'vyos-1x-leon').stderr
    assert not is_there(router, KEPT)
    assert text(router, SCRIPT) == OPERATORS
    assert is_there(router, '/config/leon')
    router.run('dpkg', '--purge', 'vyos-1x-leon')
    assert not is_there(router, '/config/leon')


def test_purge_of_the_daemon_leaves_nothing(router):
    router.run('mkdir', '-p', '/var/lib/leon', '/run/leon', '/etc/leon')
    router.run('touch', '/var/lib/leon/leon0.identity', '/etc/leon/leon0.json')
    router.run('dpkg', '--remove', 'leond')
    assert is_there(router, '/var/lib/leon/leon0.identity')
    router.run('dpkg', '--purge', 'leond')
    for path in ('/var/lib/leon', '/run/leon', '/etc/leon'):
        assert not is_there(router, path)


def test_downgrade_and_upgrade(router):
    """A downgrade and an upgrade, each in one command. The configuration, the entries in the caches
    of VyOS and the copies for the next boot stay. The copies are those of the installed release."""
    names = ('leond', 'vyos-1x-leon')
    install(router)
    router.run('sh', '-c', 'mkdir -p /var/lib/leon /config/leon && echo key >/config/leon/leon0.identity')
    present, older = field_in(router, 'leond', 'Version'), '0.0.1'
    for version, files in ((older, make_release(router, older, *names)),
                           (present, [f'/tmp/{name}.deb' for name in names])):
        router.run('dpkg', '--install', *files)
        for name in names:
            query = ('dpkg-query', '-W', '-f', '${Version} ${db:Status-Abbrev}', name)
            assert router.run(*query).stdout.split() == [version, 'ii']
            kept = router.run('dpkg-deb', '-f', f'{KEPT}/{name}.deb', 'Version').stdout.strip()
            assert kept == version
        include, op, reference = (json.loads(text(router, path)) for path in CACHES)
        assert include.count('interfaces_leon.py') == 1 and 'leon' in op['show']
        (interfaces,) = [c for c in reference['children'] if c['name'] == 'interfaces']
        assert [c['name'] for c in interfaces['children']] == ['ethernet', 'leon']
        # Releases before 0.3.0 have no validator of 2026.
        diversions = router.run('dpkg-divert', '--list', 'vyos-1x-leon').stdout
        assert diversions.count('diversion of') == (3 if version == older else 4)
        assert text(router, '/config/leon/leon0.identity') == 'key\n'
        assert text(router, '/config/config.boot') == CONFIG


def without_validator(root, deb):
    """Makes a package like 0.2.0, which has no validator of 2026."""
    root.run('sh', '-ec', f"""
        rm -rf /tmp/without; dpkg-deb -R {deb} /tmp/without; cd /tmp/without
        rm usr/libexec/vyos-1x-leon/interface-exists
        sed -i '/-e .*interface-exists/d; /ln .*interface-exists/d' DEBIAN/preinst DEBIAN/postinst
        sed -i 's# [^ ]*/interface-exists##' DEBIAN/preinst
        sed -i '/interface-exists/d' DEBIAN/md5sums
        sed -i '/^validator=/,/^fi/d' DEBIAN/postrm
        dpkg-deb --root-owner-group --build . {deb}""")


def test_validator_of_2026_stays_without_ours(router):
    """After a downgrade to 0.2.0, and after a failed upgrade from 0.2.0."""
    names = ('leond', 'vyos-1x-leon')
    older = make_release(router, '0.2.0', *names)
    without_validator(router, older[1])
    router.run('dpkg', '--install', '/tmp/vyos-1x-2026.deb')
    install(router)
    assert router.run(INTERFACE_EXISTS, 'leon0', check=False).returncode == 0
    router.run('dpkg', '--install', *older)

    def assert_of_vyos():
        assert router.run('cat', INTERFACE_EXISTS).stdout == ORIGINAL
        assert router.run('dpkg', '--verify', 'vyos-2026').stdout == ''
        assert INTERFACE_EXISTS not in router.run('dpkg-divert', '--list', 'vyos-1x-leon').stdout

    assert_of_vyos()
    # A file of another package stops dpkg during the unpacking of our package.
    router.run('sh', '-ec', """
        mkdir -p /tmp/other/DEBIAN /tmp/other/usr/libexec/vyos-1x-leon
        touch /tmp/other/usr/libexec/vyos-1x-leon/interface-exists
        printf 'Package: other\nVersion: 1\nArchitecture: all\nMaintainer: x <x@example.net>\n' \
            >/tmp/other/DEBIAN/control
        echo 'Description: x' >>/tmp/other/DEBIAN/control
        dpkg-deb --build /tmp/other /tmp/other.deb; dpkg --install /tmp/other.deb""")
    packages = [f'/tmp/{name}.deb' for name in names]
    assert router.run('dpkg', '--install', *packages, check=False).returncode != 0
    assert_of_vyos()
    router.run('dpkg', '--purge', 'other')
    router.run('dpkg', '--install', *packages)
    assert router.run(INTERFACE_EXISTS, 'leon0', check=False).returncode == 0
    assert router.run(INTERFACE_EXISTS, 'eth9', check=False).returncode == 3


def test_it_ends_with_the_configuration(router):
    """After deletion, save and reboot, the boot removes everything that no configuration needs."""
    install(router)
    write(router, '/config/config.boot', WITHOUT)
    # One boot loads another file. The saved configuration decides.
    write(router, '/tmp/other.boot', CONFIG)
    boot(router, 'BOOTFILE=/tmp/other.boot')
    assert is_there(router, KEPT)
    boot(router)
    assert not is_there(router, KEPT)
    assert text(router, SCRIPT) == OPERATORS
    write(router, '/tmp/other.boot', WITHOUT)
    write(router, '/config/config.boot', CONFIG)
    router.run('/usr/bin/python3', '-m', 'vyos_leon.boot', 'installed')
    boot(router, 'BOOTFILE=/tmp/other.boot')
    assert is_there(router, KEPT)


def test_what_is_configured_runs_after_an_installation(router, tmp_path):
    """After removal and installation, only a commit of leon0 would start the daemon."""
    recorder = tmp_path / 'recorder'
    recorder.write_text('#!/bin/sh\necho "$VYOS_TAGNODE_VALUE $*" >>/tmp/told\n')
    router.put(recorder, '/usr/local/sbin/sg')
    router.run('chmod', '0755', '/usr/local/sbin/sg')
    router.run('mkdir', '-p', '/run/systemd/system', '/run/leon', '/sys/class/net/leon2',
               '/opt/vyatta/config/active/interfaces/leon/leon0',
               '/opt/vyatta/config/active/interfaces/leon/leon1',
               '/opt/vyatta/config/active/interfaces/leon/leon2')  # fmt: skip
    # leon1 runs: it has its document, and leond's own package restarts it. The document of leon2 is
    # of another release and refused.
    write(router, '/run/leon/leon1.json',
          '{"version": 1, "interface": "leon1", "source-address": ["127.0.0.1"],'
          ' "authentication": {"pre-shared-secret": "a secret for the tests"}}')
    write(router, '/run/leon/leon2.json', '{"version": 1, "gone": 1}')
    router.run('touch', '/run/leon/leon2.sock', '/tmp/told')
    said = install(router)
    # leon0 has no device: the package was removed, and a commit may have followed.
    assert 'leon0 run again' in said and 'before you use rollback or commit-confirm' in said
    told = text(router, '/tmp/told').splitlines()
    assert [line.split()[0] for line in told] == ['leon0', 'leon2']
    assert all(line.endswith('/interfaces_leon.py') for line in told)
    # Without the socket, the script restarts leond.
    assert not is_there(router, '/run/leon/leon2.sock')
    recorder.write_text('#!/bin/sh\necho "the sentence of the commit"\nexit 1\n')
    router.put(recorder, '/usr/local/sbin/sg')
    router.run('touch', '/run/leon/leon2.sock')
    said = router.run('dpkg', '--install', '/tmp/vyos-1x-leon.deb').stderr
    assert 'leon2 does not run this release' in said and 'configure; load; commit' in said
    assert is_there(router, '/run/leon/leon2.sock')
