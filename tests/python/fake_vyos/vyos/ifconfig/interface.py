# SPDX-License-Identifier: GPL-2.0-or-later
from fake_host import host


class Interface:
    iftype = None
    definition = {
        'section': '',
        'prefixes': [],
        'vlan': False,
        'bondable': False,
        'broadcast': False,
        'bridgeable': False,
        'eternal': '',
    }
    registered = {}

    @classmethod
    def register(cls, klass):
        for prefix in klass.definition['prefixes']:
            cls.registered[prefix] = klass
        return klass

    def __init__(self, ifname):
        self.ifname = ifname
        if ifname not in host.devices:
            assert self.iftype, 'a device of no type cannot be made'
            self._create()
            host.devices[ifname] = []

    def _cmd(self, command):
        host.run(command)

    def set_mac(self, mac):
        host.journal.append(('mac', mac))

    def update(self, config):
        assert config['mac']
        host.journal.append(('update', self.ifname))

    def remove(self):
        host.journal.append(('remove', self.ifname))
        del host.devices[self.ifname]
