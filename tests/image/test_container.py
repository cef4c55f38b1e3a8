# SPDX-License-Identifier: GPL-2.0-or-later
"""The container image of `make image-container`: two containers on two hosts of a lab make an
overlay with `leonctl init` and `leonctl join`. CAP_NET_ADMIN is the only capability. A container is
the root of the image in private namespaces, so no container engine is necessary.
"""
import json
import os
import re
import shutil
import subprocess
import tarfile
import textwrap
from pathlib import Path

import pytest

from lab import Lab, line_up, wait_for

TOP = Path(__file__).resolve().parents[2]
QUADLET = '/usr/libexec/podman/quadlet'

# podman run --cap-drop all --cap-add NET_ADMIN; chroot needs the other capability.
LIMIT = 'setpriv --bounding-set -all,+net_admin,+sys_chroot,+setpcap'


def newest():
    found = sorted((TOP / 'build/image').glob('leon-*.oci.tar'), key=os.path.getmtime)
    if not found:
        pytest.skip('no image in build/image: run "make image-container"')
    return found[-1]


@pytest.fixture(scope='module')
def image(tmp_path_factory):
    """(configuration, folder with the root) of the image"""
    folder = tmp_path_factory.mktemp('image')
    with tarfile.open(newest()) as archive:
        archive.extractall(folder / 'oci')
    blobs = folder / 'oci/blobs'

    def blob(digest):
        return blobs / digest.replace(':', '/')
    index = json.loads((folder / 'oci/index.json').read_text())
    manifest = json.loads(blob(index['manifests'][0]['digest']).read_text())
    root = folder / 'root'
    root.mkdir()
    for layer in manifest['layers']:
        subprocess.run(['tar', '-C', root, '-xf', blob(layer['digest'])], check=True)
    return json.loads(blob(manifest['config']['digest']).read_text()), root


class Container:
    def __init__(self, namespace, config, root, folder):
        self.namespace, self.root = namespace, folder / 'root'
        shutil.copytree(root, self.root, symlinks=True, ignore=shutil.ignore_patterns('dev', 'proc'))
        # A container engine makes a place for each volume.
        for name in ('/dev/net', '/proc', *config['Volumes']):
            (self.root / name[1:]).mkdir(parents=True, exist_ok=True)
        self.leond, self.log = None, folder / 'leond.log'

    def command(self, *words, limit=''):
        setup = f'mount --bind /dev "$1/dev"; mount -t proc none "$1/proc"; exec {limit} chroot "$@"'
        return ['unshare', '--mount', '--pid', '--fork', '--kill-child', 'sh', '-c', setup, 'sh', self.root, *words]

    def run(self, *words, check=True):
        return self.namespace.run(*self.command(*words), check=check)

    def start(self, config):
        words = config['Entrypoint'] + config['Cmd']
        with open(self.log, 'wb') as log:
            self.leond = self.namespace.start(*self.command(*words, limit=LIMIT), stdin=subprocess.DEVNULL,
                                              stdout=log, stderr=subprocess.STDOUT)

        def answers():
            assert self.leond.poll() is None, self.log.read_text()
            return self.run('leonctl', 'show', 'nodes', check=False).returncode == 0
        wait_for(answers, 20, 'leond answers')


def test_the_image_is_small_and_complete(image):
    config, root = image
    assert config['config']['Entrypoint'] == ['/usr/sbin/leond']
    assert set(config['config']['Volumes']) == {'/etc/leon', '/var/lib/leon', '/run/leon'}
    assert newest().stat().st_size < 200 << 20
    assert bool(list(root.glob('usr/lib/*/libIPSec_MB.so.2'))) == (config['architecture'] == 'amd64')
    assert not list((root / 'var/lib/apt/lists').glob('*Packages')) and not (root / 'leon-build').exists()


def test_two_containers_are_an_overlay(image, tmp_path):
    config, root = image
    net = Lab(line_up(2, hosts=False), start=False)
    try:
        first, second = (Container(node.namespace, config['config'], root, tmp_path / name) for name, node in net.node.items())
        said = first.run('leonctl', 'init', '--address', '10.99.0.1/24', '--name', 'first').stdout
        assert 'Start the node with: leond --config /etc/leon/leon0.json' in said
        first.start(config['config'])
        token = first.run('leonctl', 'invite').stdout.strip()
        second.run('leonctl', 'join', token, '--address', '10.99.0.2/24', '--name', 'second')
        second.start(config['config'])
        wait_for(lambda: second.namespace.run('ping', '-c', '1', '-W', '1', '10.99.0.1', check=False).returncode == 0,
                 30, 'the first container answers the second one')
    finally:
        net.close(check=False)


def test_documented_unit_for_quadlet(tmp_path):
    """Quadlet makes the unit of the page. Debian 12 has no Quadlet; QUADLET names the program of
    another release."""
    program = os.environ.get('QUADLET', QUADLET)
    if not os.path.exists(program):
        pytest.skip(f'no {program}: podman of Debian 13')
    page = (TOP / 'vyos-1x-leon/doc/operations.md').read_text()
    (text,) = re.findall(r'^    # /etc/containers/systemd/leond.container\n((?:    .*\n|\n)+)', page, re.M)
    (tmp_path / 'leond.container').write_text(textwrap.dedent(text))
    done = subprocess.run([program, '-dryrun'], capture_output=True, text=True, check=True,
                          env={'QUADLET_UNIT_DIRS': str(tmp_path), 'PATH': os.environ['PATH']})
    assert 'Warning' not in done.stderr and 'unsupported' not in done.stderr, done.stderr
    (start,) = re.findall(r'^ExecStart=(.*)$', done.stdout, re.M)
    for words in ('--network host', '--cap-drop all', '--cap-add net_admin', '--device /dev/net/tun',
                  '-v /run/leon:/run/leon', '--sdnotify=container'):
        assert words in start
