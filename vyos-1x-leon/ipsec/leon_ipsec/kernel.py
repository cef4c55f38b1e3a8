# SPDX-License-Identifier: GPL-2.0-or-later
"""What a charon that crashed leaves in the kernel: SAs that its successor does not know, with
policies that keep using them, while the other side has thrown its half away. They are removed
before the successor gets its connections, so that the next datagram asks for new keys."""
import re
import subprocess

POLICY = re.compile(r'src (?P<src>\S+) dst (?P<dst>\S+) (?P<ports>.*)')


class KernelError(Exception):
    """`ip xfrm` cannot be used; one sentence."""


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
    """`ip xfrm` indents all lines of an entry but the first."""
    return [block.splitlines() for block in re.split(r'\n(?=\S)', text.strip()) if block.strip()]


def stale(policies, states, port):
    """Arguments of `ip xfrm` that remove the policies for this UDP port in transport mode, and
    the SAs that belong to them (the same reqid). Policies come first: nothing uses an SA without
    one."""
    commands, reqids = [], set()
    for lines in _blocks(policies):
        text = ' '.join(line.strip() for line in lines)
        match = POLICY.match(lines[0].strip())
        direction = re.search(r'\bdir (in|out)\b', text)
        ours = match and direction and 'mode transport' in text and re.search(
            rf'proto udp (?:.* )?{"sport" if direction[1] == "out" else "dport"} {port}\b',
            match['ports'] + ' ')
        if not ours:
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


def remove_stale(port):
    """Number of entries removed."""
    commands = stale(_ip('xfrm', 'policy', 'list'), _ip('xfrm', 'state', 'list'), port)
    for words in commands:
        try:
            _ip('xfrm', *words)
        except KernelError:
            # Expired by itself in between.
            continue
    return len(commands)
