# SPDX-License-Identifier: GPL-2.0-or-later
"""The reason for an unprotected address: a log message of charon about the connection, or a
conclusion from the state of charon. Pure; the text is for `show ipsec` only.
"""
import re

from leon_ipsec import connections as want

TEXT_MAX = 190  # leond stores 199 bytes
KEPT = 1000  # addresses with a stored sentence

# Log messages of charon at the lowest level that report a failure.
FAILURE = re.compile(
    r'notify error|giving up|not responding|mismatch|unacceptable|not acceptable|fail|denied|'
    r'reject|unable|invalid|expired|no (?!matching peer config found).*found|'
    r'no matching peer config found|NO_PROPOSAL_CHOSEN|TS_UNACCEPTABLE', re.IGNORECASE)


class Reasons:
    """The last failure reported by charon, by address. None is the key of unknown initiators."""

    def __init__(self):
        self.last = {}

    def heard(self, settings, addresses, event):
        """An event `log` of charon."""
        text = event.get('msg', '')
        # Content (ENC) and size (NET) of a message are less useful than the result of its
        # processing.
        if event.get('group') in ('ENC', 'NET'):
            return
        if not isinstance(text, str) or not FAILURE.search(text):
            return
        name = event.get('ikesa-name', '')
        address = self._about(settings, addresses, name, text)
        if address is not None or name == want.answering_name(settings):
            if address in self.last or len(self.last) < KEPT:
                self.last[address] = text[:TEXT_MAX]

    @staticmethod
    def _about(settings, addresses, name, text):
        ours = want.prefix(settings)
        if name.startswith(ours) and name[len(ours):] in addresses:
            return name[len(ours):]
        # Before an exchange has a connection, only the text contains the address.
        words = {word.strip('.,:;[]') for word in re.split(r'[\s\[\]]|\.\.\.', text)}
        return next((address for address in addresses if address in words), None)

    def forget(self, protected):
        for address in protected:
            self.last.pop(address, None)

    def problems(self, addresses, started, found, protected):
        """[{address, text}] for each unprotected address. An entry without address is about
        initiators."""
        connecting = {sa.address for sa in found if not sa.established}
        result = []
        for address in sorted(set(addresses) - set(protected)):
            if address in self.last:
                text = self.last[address]
            elif address in connecting:
                text = 'it does not answer to IKE (UDP ports 500 and 4500)'
            elif address in started:
                text = 'no keys yet: nothing was sent to it, or charon is about to ask again'
            else:
                text = 'the other node is to begin, it has the lower node-id'
            result.append({'address': address, 'text': text})
        if None in self.last:
            result.append({'text': f'one that began with us: {self.last[None]}'[:TEXT_MAX]})
        return result
