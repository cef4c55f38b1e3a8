# SPDX-License-Identifier: GPL-2.0-or-later
"""Connection plugin of Ansible for the roots of conftest.py. test_ansible.py is the caller."""
import shlex
import subprocess

from ansible.plugins.connection import local

DOCUMENTATION = '''
    name: root
    short_description: runs commands in a temporary Debian root
    description: The local connection behind a command that enters the root.
    extends_documentation_fragment: [connection_pipelining]
    options:
      enter:
        description: Command that enters the root.
        required: true
        vars: [{name: root_enter}]
'''


class Connection(local.Connection):
    transport = 'root'

    def entered(self, *command):
        return [*shlex.split(self.get_option('enter')), *command]

    def exec_command(self, cmd, in_data=None, sudoable=True):
        return super().exec_command(shlex.join(self.entered('sh', '-c', cmd)), in_data, sudoable)

    def put_file(self, in_path, out_path):
        with open(in_path, 'rb') as data:
            subprocess.run(self.entered('tee', out_path), stdin=data, stdout=subprocess.DEVNULL, check=True)
