# SPDX-License-Identifier: GPL-2.0-or-later
"""The machine of test_cloud.py: a folder, a list of commands, and prepared answers."""
import errno
import json
import os
import subprocess
import sys
from pathlib import Path

import yaml

TOP = Path(__file__).resolve().parents[2]
BUILD = Path(os.environ.get('LEON_BUILD') or TOP / 'build')
sys.path.insert(0, str(TOP / 'packaging/image/cloud'))

from leon_cloud import apply, section  # noqa: E402

SECRET = 'a secret for the tests'


class Machine(apply.Machine):
    """A folder as root. leond --check is real, and other programs return prepared results."""

    def __init__(self, root):
        self.root, self.clock = root, 0
        self.ran, self.said, self.answers = [], [], {}
        self.fetched = []
        self.full = ()  # names of files that find no space
        self.pages = {}
        (root / 'etc').mkdir()
        (root / 'etc/fstab').write_text('UUID=1 / ext4 defaults 0 1\n')

    def run(self, *command, given=None):
        self.ran.append(' '.join(command))
        folder = {'leond': 'dataplane', 'leonctl': 'leonctl'}.get(command[0])
        if folder:
            return super().run(str(BUILD / 'vyos-1x-leon' / folder / command[0]), *command[1:], given=given)
        for start, (status, out, err) in self.answers.items():
            if self.ran[-1].startswith(start):
                return subprocess.CompletedProcess(command, status, out, err)
        return subprocess.CompletedProcess(command, 0, '', '')

    def fetch(self, url, headers, timeout):
        self.fetched.append((url, headers))
        page = self.pages.get(url)
        if page is None or isinstance(page, Exception):
            raise page or OSError('nobody there')
        return page

    def wait(self, seconds):
        self.clock += seconds

    def now(self):
        return self.clock

    def say(self, text):
        self.said.append(text)

    def prepare(self, name, text, mode=0o644, group=None):
        if name.lstrip('/') in self.full:
            raise OSError(errno.ENOSPC, 'No space left on device')
        return super().prepare(name, text, mode)

    def tell(self, leon, number='i-1', cloud='nocloud'):
        """The files of cloud-init: user-data, and data of the instance. A section without
        authentication gets a secret."""
        if isinstance(leon, dict) and not leon.keys() & {*section.SECRET_SOURCES, 'authentication'}:
            leon = {'secret': SECRET, **leon}
        folder = self.root / 'var/lib/cloud/instance'
        folder.mkdir(parents=True, exist_ok=True)
        text = leon if isinstance(leon, str) else '#cloud-config\n' + yaml.safe_dump({'leon': leon})
        (folder / 'user-data.txt').write_text(text)
        (folder / 'cloud-config.txt').write_text(text)
        (self.root / 'run/cloud-init').mkdir(parents=True, exist_ok=True)
        (self.root / 'run/cloud-init/instance-data-sensitive.json').write_text(json.dumps(
            {'v1': {'instance_id': number, 'cloud_name': cloud, 'local_hostname': 'seoul'}}))

    def document(self):
        return json.loads(self.read('etc/leon/leon0.json'))
