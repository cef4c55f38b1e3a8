# SPDX-License-Identifier: GPL-2.0-or-later
"""Removes kernel state of a crashed charon: SAs unknown to the next charon, and policies with
these SAs. The other side has already deleted its SAs. The manager removes the state before new
connections are loaded, so the next datagram requests new keys."""
import ipaddress
import re
import subprocess

POLICY = re.compile(r'src (?P<src>\S+) dst (?P<dst>\S+) (?P<ports>.*)')


class KernelError(Exception):
    """`ip xfrm` does not work; the text is one sentence."""


def _ip(*words):
    try:
        result = subprocess.run(['ip', *words], text=True, capture_output=True, check=False,
                                timeout=30)
    except (OSError, subprocess.TimeoutExpired) as e:
        raise KernelError(f'ip cannot be run: {e}') from None
    if result.returncode != 0:
        raise KernelError(f'ip {" ".join(words)}: {result.stderr.strip()}')
    return result.stdout


def _blocks(text):
    """Splits the output into entries. `ip xfrm` indents all lines of an entry except the first."""
    return [block.splitlines() for block in re.split(r'\n(?=\S)', text.strip()) if block.strip()]


def stale(policies, states, port, sources=()):
    """Arguments of `ip xfrm` that remove the policies for the UDP port in transport mode, and the
    SAs with an equal reqid. Another interface may use the port at other own addresses. Policies
    come first, because an SA without a policy is unused."""
    commands, reqids = [], set()
    own = {str(ipaddress.ip_address(source)) for source in sources}
    for lines in _blocks(policies):
        text = ' '.join(line.strip() for line in lines)
        match = POLICY.match(lines[0].strip())
        direction = re.search(r'\bdir (in|out)\b', text)
        ours = match and direction and 'mode transport' in text and re.search(
            rf'proto udp (?:.* )?{"sport" if direction[1] == "out" else "dport"} {port}\b',
            match['ports'] + ' ')
        if not ours:
            continue
        if own and match['src' if direction[1] == 'out' else 'dst'].split('/')[0] not in own:
            continue
        commands.append(['policy', 'delete', *lines[0].split(), 'dir', direction[1]])
        reqids.update(re.findall(r'reqid (\d+)', text))
    for lines in _blocks(states):
        text = ' '.join(line.strip() for line in lines)
        match = re.match(r'src (\S+) dst (\S+) .*?proto esp spi (\S+) reqid (\d+)', text)
        if match and match[4] in reqids and 'mode transport' in text:
            commands.append(['state', 'delete', 'src', match[1], 'dst', match[2], 'proto', 'esp',
                             'spi', match[3]])
    return commands


def remove_stale(port, sources):
    """Number of entries removed."""
    commands = stale(_ip('xfrm', 'policy', 'list'), _ip('xfrm', 'state', 'list'), port, sources)
    for words in commands:
        try:
            _ip('xfrm', *words)
        except KernelError:
            # The entry expired during the loop.
            continue
    return len(commands)
