# SPDX-License-Identifier: GPL-2.0-or-later
"""The Debian package leon-cloud: the contents, and the installed modules of the program."""
import subprocess

import pytest


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
    # cloud-init may be missing on a test machine.
    root.run('dpkg', '--force-depends', '--install', '/tmp/leond.deb', '/tmp/leon-cloud.deb')
    done = root.run('/usr/lib/leon/leon-cloud')
    assert done.stdout == 'leon: the user-data has no section "leon:", so no overlay was configured\n'
    assert root.run('sh', '-c', 'ls /etc/leon').stdout == ''


def test_wrong_and_right_user_data(package, root, tmp_path):
    """With the real check of leond, to the file that leond reads."""
    root.put(package, '/tmp/leon-cloud.deb')
    root.run('dpkg', '--force-depends', '--install', '/tmp/leond.deb', '/tmp/leon-cloud.deb')
    root.run('mkdir', '-p', '/var/lib/cloud/instance', '/run/issue.d')
    data = tmp_path / 'user-data'

    def apply(text):
        data.write_text(text)
        for name in ('user-data.txt', 'cloud-config.txt'):
            root.put(data, f'/var/lib/cloud/instance/{name}')
        return root.run('/usr/lib/leon/leon-cloud', check=False)

    wrong = apply('#cloud-config\nleon: { peer: 198.51.100.1, pear: 1 }\n')
    assert wrong.returncode == 1
    assert wrong.stdout.startswith('leon.pear: unknown key; did you mean "peer"?\n')
    right = apply('#cloud-config\nleon: { peer: 198.51.100.1, node-id: 10.0.0.1, '
                  'secret: a secret for the tests }\n')
    assert right.returncode == 0, right.stdout + right.stderr
    assert root.run('stat', '-c', '%U:%G %a', '/etc/leon/leon0.json').stdout == 'root:leon 640\n'
    assert root.run('leond', '--config', '/etc/leon/leon0.json', '--check').stdout == (
        'configuration OK\n')
