# SPDX-License-Identifier: GPL-2.0-or-later
"""The Debian package leon-cloud: the contents, and the installed modules of the program."""
import subprocess

import pytest
from deb import make_release, status


# cloud-init may be missing on a test machine.
INSTALL = ('dpkg', '--force-depends', '--install', '/tmp/leond.deb', '/tmp/leon-cloud.deb')
RIGHT = '#cloud-config\nleon: { peer: 198.51.100.1, node-id: 10.0.0.1, secret: a secret for the tests }\n'


@pytest.fixture(scope='module')
def package(built):
    (found,) = built.glob('leon-cloud_*.deb')
    return found


def test_file_list(package, units, tmp_path):
    subprocess.run(['dpkg-deb', '-x', package, tmp_path], check=True, timeout=300)
    found = {'/' + str(path.relative_to(tmp_path)) for path in tmp_path.rglob('*') if path.is_file()}
    assert {name.removesuffix('.gz') for name in found} == {
        f'{units}/leon-cloud.service',
        '/usr/lib/leon/leon-cloud',
        *(f'/usr/lib/leon/leon_cloud/{name}.py'
          for name in ('__init__', 'apply', 'fetch', 'network', 'section')),
        '/usr/lib/systemd/networkd.conf.d/leon.conf',
        *(f'/usr/share/doc/leon-cloud/{name}' for name in ('changelog', 'cloud.md', 'copyright')),
    }


def test_without_user_data(package, root):
    """The installed program reports the found data and changes nothing."""
    root.put(package, '/tmp/leon-cloud.deb')
    root.run(*INSTALL)
    done = root.run('/usr/lib/leon/leon-cloud')
    assert done.stdout == 'leon: the user-data has no section "leon:", so no overlay was configured\n'
    assert root.run('sh', '-c', 'ls /etc/leon').stdout == ''


def test_leond_refuses_the_leon_cloud_of_0_2_0(package, root):
    """This leon-cloud calls `leond --join`, which does not exist any more."""
    root.put(package, '/tmp/leon-cloud.deb')
    root.run('dpkg', '--force-depends', '--install', *make_release(root, '0.2.0', 'leon-cloud'))
    done = root.run('dpkg', '--install', '/tmp/leond.deb', check=False)
    assert done.returncode == 1 and 'would break leon-cloud' in done.stderr
    # As apt does.
    root.run('dpkg', '--auto-deconfigure', *INSTALL[1:])
    assert status(root, 'leond') == status(root, 'leon-cloud') == 'ii'


@pytest.fixture
def apply(package, root, tmp_path):
    """Installs the packages; a call runs the program with a user-data."""
    root.put(package, '/tmp/leon-cloud.deb')
    root.run(*INSTALL)
    root.run('mkdir', '-p', '/var/lib/cloud/instance', '/run/issue.d', '/run/cloud-init')
    root.run('sh', '-c', """echo '{"v1": {"instance_id": "i-1"}}' >/run/cloud-init/instance-data.json""")
    data = tmp_path / 'user-data'

    def run(text):
        data.write_text(text)
        for name in ('user-data.txt', 'cloud-config.txt'):
            root.put(data, f'/var/lib/cloud/instance/{name}')
        return root.run('/usr/lib/leon/leon-cloud', check=False)
    return run


def test_wrong_and_right_user_data(apply, root):
    """With the real check of leond, to the file that leond reads."""
    wrong = apply('#cloud-config\nleon: { peer: 198.51.100.1, pear: 1 }\n')
    assert wrong.returncode == 1
    assert wrong.stdout.startswith('leon.pear: unknown key; did you mean "peer"?\n')
    right = apply(RIGHT)
    assert right.returncode == 0, right.stdout + right.stderr
    assert root.run('stat', '-c', '%U:%G %a', '/etc/leon/leon0.json').stdout == 'root:leon 640\n'
    assert root.run('leond', '--config', '/etc/leon/leon0.json', '--check').stdout == (
        'configuration OK\n')


def test_purge_and_install_again(apply, root):
    """A new installation configures the machine again, and no file of the former one remains."""
    assert apply(RIGHT.replace('{', '{ address: 10.99.0.1/32, export: 10.1.0.0/16,')).returncode == 0
    root.run('sh', '-c', 'cd /etc && mkdir -p chrony/sources.d && touch chrony/sources.d/leon-cloud.sources && '
             'ls systemd/network/05-leon-* sysctl.d/60-leon-* && mkdir systemd/network/05-leon-br0.network.d')
    root.run('dpkg', '--force-depends', '--purge', 'leon-cloud', 'leond')
    left = root.run('find', '/etc', '/var/lib', '-xdev', '-name', '*leon*').stdout.splitlines()
    assert [name for name in left if not name.startswith('/var/lib/dpkg/')] == []
    root.run(*INSTALL)
    assert apply(RIGHT).returncode == 0
    root.run('test', '-e', '/etc/leon/leon0.json')


def test_an_upgrade_stores_the_hardware(apply, root):
    """A version that did not store the UUID configured the machine."""
    uuid = root.run('cat', '/sys/class/dmi/id/product_uuid', check=False)
    if uuid.returncode:
        pytest.skip('no UUID of the hardware here')
    assert apply(RIGHT).returncode == 0
    root.run('rm', '/var/lib/leon-cloud/machine')
    root.run(*INSTALL)
    assert root.run('cat', '/var/lib/leon-cloud/machine').stdout == uuid.stdout
