# SPDX-License-Identifier: GPL-2.0-or-later
"""The files of a node. A wrong object at a path of a file stops the start with a clear message.
The daemon neither hangs nor uses a guessable identity."""
import os
import re
import subprocess

import pytest

from lab import line_up, wait_for
from node import PATIENCE, leond_program

OTHERS = {'fifo': os.mkfifo, 'directory': os.mkdir,
          'device': lambda path: os.symlink('/dev/zero', path)}


def one(lab):
    return lab(line_up(1, hosts=False), start=False).node['n0']


def refused(node, within=30):
    """leond ends without a signal. Returns the lines with the reason."""
    node.expected_trouble = True
    node.launch()
    try:
        status = node.process.wait(within * PATIENCE)
    except subprocess.TimeoutExpired:
        raise AssertionError(f'leond neither ran nor ended:\n{node.log()}') from None
    assert status == 1, node.log()
    node.process = None
    return [line for line in node.log().splitlines() if line.startswith('<3>')]


@pytest.mark.parametrize('kind', OTHERS)
def test_no_file_where_the_cache_should_be(lab, kind):
    node = one(lab)
    cache = re.sub(r'\.sock$', '.members', node.socket)
    OTHERS[kind](cache)
    node.start(30)
    assert f'{cache} is ignored: it is ' in node.log()


@pytest.mark.parametrize('kind', OTHERS)
def test_no_file_where_the_identity_should_be(lab, kind):
    node = one(lab)
    OTHERS[kind](node.config['identity-file'])
    said, = refused(node)
    assert node.config['identity-file'] in said and 'it is ' in said


@pytest.mark.parametrize('kind', OTHERS)
def test_no_file_where_the_configuration_should_be(lab, kind):
    node = one(lab)
    node.write_config()
    os.unlink(node.config_file)
    OTHERS[kind](node.config_file)
    result = node.namespace.run(leond_program(), '--check', '--config', node.config_file, check=False,
                                timeout=20)
    assert result.returncode == 1
    assert result.stderr == f'{node.config_file}: it is not a regular file\n'
    os.rename(node.config_file, node.config_file + '.aside')


def test_an_identity_that_others_may_read(lab):
    node = one(lab)
    path = node.config['identity-file']
    node.start()
    before = node.identity()
    node.stop()
    for mode in (0o644, 0o640, 0o604):
        os.chmod(path, mode)
        said, = refused(node)[-1:]
        assert path in said and 'chmod 600' in said
    os.chmod(path, 0o600)
    node.start()
    assert node.identity() == before


def test_an_identity_that_is_none(lab):
    node = one(lab)
    path = node.config['identity-file']
    for text in ('', 'x' * 64 + '\n', '0' * 63 + '\n', '0' * 64 + '\n0', '0' * 64):
        with open(path, 'w', encoding='ascii') as f:
            os.fchmod(f.fileno(), 0o600)
            f.write(text)
        said, = refused(node)[-1:]
        assert path in said and 'does not contain an identity key' in said
    # The command from the message for read-only file systems.
    with open(path, 'w', encoding='ascii') as f:
        subprocess.run(['openssl', 'rand', '-hex', '32'], stdout=f, check=True)
    node.start()
    assert node.identity()


def test_an_identity_that_cannot_be_kept(lab):
    """Without the directory, on a read-only file system without a key, and on a read-only file
    system with a key."""
    node = one(lab)
    path = node.config['identity-file']
    place = path + '.d'
    node.config['identity-file'] = f'{place}/key'
    said, = refused(node)[-1:]
    assert f'{place}/key cannot be created: No such file or directory' in said
    os.mkdir(place)

    node.wrapper = ['unshare', '-m', 'sh', '-c',
                    f'mount --bind {place} {place} && mount -o remount,ro,bind {place} && exec "$@"', '-']
    said, = refused(node)[-1:]
    assert 'the file system is read-only' in said
    with open(f'{place}/key', 'w', encoding='ascii') as f:
        os.fchmod(f.fileno(), 0o600)
        f.write('11' * 32 + '\n')
    node.start()
    assert node.identity()
    node.expected_trouble = False


def test_the_cache_is_written_when_it_can_be_again(lab):
    net = lab(line_up(2, hosts=False)).joined()
    node = net.node['n0']
    cache = re.sub(r'\.sock$', '.members', node.socket)
    os.mkdir(cache)
    os.mkdir(cache + '/in the way')

    def said(what):
        return [line for line in node.log().splitlines() if cache in line and what in line]

    wait_for(lambda: said('cannot be written'), 150, 'the failure is said')
    os.rename(cache, cache + '.aside')
    wait_for(lambda: os.path.isfile(cache), 150, 'the members are written')
    wait_for(lambda: said('is written again'), 10, 'and that is said')
    assert len(said('cannot be written')) == 1
