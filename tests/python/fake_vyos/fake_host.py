# SPDX-License-Identifier: GPL-2.0-or-later
"""The router of the fake vyos package: the state and the actions.

The fixture `host` of conftest.py resets the module. fake_vyos/ is our own code and covers only the
needs of our scripts; names and results have the shapes of VyOS.
"""


class Host:
    def __init__(self):
        # The configuration in the session, as nested dictionaries with the words of the
        # CLI.
        self.config = {}
        # The running configuration. A commit changes from the running to the new configuration.
        self.running = {}
        self.booting = False
        # Defaults of an interface, in the form of VyOS, if a test needs defaults.
        self.defaults = {}
        # Network devices with addresses in the form of `ip -json`.
        self.devices = {}
        # Interfaces of each VRF.
        self.vrf_members = {}
        # Network cards in the form of `ip -json link`.
        self.hardware = {}
        # Actions in order: tuples of a verb and an object.
        self.journal = []
        # Programs by their first words: (exit code, output). Others succeed without output.
        self.programs = {}
        self.commit_in_progress = False

    def verbs(self):
        return [entry[0] for entry in self.journal]

    def run(self, command):
        self.journal.append(('run', command))
        for words, result in self.programs.items():
            if command.startswith(words):
                return result() if callable(result) else result
        return 0, ''


host = Host()


def reset():
    host.__init__()
    return host
