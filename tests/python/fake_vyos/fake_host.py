# SPDX-License-Identifier: GPL-2.0-or-later
"""The router that the fake vyos package works on: what it has, what was done to it.

Reset by the fixture `host` of conftest.py. Everything in fake_vyos/ is our own and
knows only what our scripts need of VyOS; the shapes of names and results are VyOS's.
"""


class Host:
    def __init__(self):
        # The configuration in the session, as nested dictionaries with the words of the
        # CLI.
        self.config = {}
        # The one that runs; a commit leads from this to that.
        self.running = {}
        self.booting = False
        # Defaults of an interface, as VyOS spells them, those a test is about.
        self.defaults = {}
        # Network devices, each with its addresses as `ip -json` has them.
        self.devices = {}
        # Interfaces of each VRF.
        self.vrf_members = {}
        # Of network cards, as `ip -json link` has them.
        self.hardware = {}
        # What was done, in order: tuples of a verb and what it was done to.
        self.journal = []
        # Programs by their first words: (exit code, output). Absent: success without
        # output.
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
