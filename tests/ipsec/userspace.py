#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""leon-ipsec for a charon with user-space ESP (kernel-libipsec), for kernels without ESP.

Usage: userspace.py CONFIG IPSEC VICI. The manager is the real program. User-space ESP lacks some
features, so the wrapper changes requests to charon. Tunnel mode replaces transport mode, and
started connections replace trap policies. The guard is left out, because its rules need the IPsec
policies of the kernel.
"""
import os
import sys
import time

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)),
                                '../../vyos-1x-leon/ipsec'))

from leon_ipsec import control, settings, vici  # noqa: E402
from leon_ipsec.manager import Manager  # noqa: E402


class Vici(vici.Vici):
    def call(self, command, message=None):
        if command == 'load-conn':
            for connection in message.values():
                connection['encap'] = 'yes'
                for child in connection['children'].values():
                    start = 'start' if child['start_action'] == 'trap' else 'none'
                    child.update(mode='tunnel', start_action=start, close_action=start,
                                 dpd_action='clear')
        return super().call(command, message)


class Outside:
    def __init__(self, socket_path, vici_path):
        self.socket_path, self.vici_path = socket_path, vici_path

    def ask_daemon(self, command, values):
        return control.request(self.socket_path, command, values)

    def connect(self):
        return Vici(self.vici_path)

    def listen(self):
        return vici.Listener(self.vici_path, 'log')

    def remove_stale(self, port, sources):
        return 0

    def install_guard(self, changed, former):
        pass

    def has_guard(self, interface):
        return True

    def start_charon(self):
        pass


def main():
    config, ipsec, vici_path = sys.argv[1:]
    found = settings.load(config, ipsec)
    manager = Manager(found, Outside(found.socket, vici_path))
    while True:
        manager.tick()
        time.sleep(0.5)


if __name__ == '__main__':
    main()
