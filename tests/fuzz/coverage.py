#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""Coverage of the product by the fuzz targets. The program replays the committed corpus and the
findings of `make fuzz` in a build with source-based coverage of clang, and prints two tables.

  targets   the run time of each target (from build-fuzz/), and the share of the files of a target
            that all targets together reach.
  decoders  each file that reads foreign input: lines, regions and branches.

`--uncovered [FILE...]` prints the lines without coverage, of the given files or of all decoders.
"""

import argparse
import json
import os
import subprocess
import sys

import run

BUILD = os.path.join(run.TOP, 'build-coverage')
SOURCES = os.path.join(run.TOP, 'vyos-1x-leon/dataplane')

# The subject of each target. Before authentication, except for targets in AFTER.
TARGETS = {
    'accel': ['wire/accel.c', 'ipc/accel_queue.c', 'ipc/accel_report.c'],
    'accel_engine': ['../leon-accel/peer/peer_link.c', '../leon-accel/peer/streams.c',
                     '../leon-accel/peer/peers.c', '../leon-accel/conn/conn.c',
                     '../leon-accel/conn/conns.c', '../leon-accel/conn/conn_words.c',
                     '../leon-accel/conn/migrated.c',
                     '../leon-accel/flow/local_pair.c'],
    'addr': ['base/addr.c'],
    'bundle': ['wire/datagram/leon.c'],
    'capture': ['wire/flow_capture.c'],
    'coalesce': ['fwd/tap/coalesce.c'],
    'conf': ['state/conf/conf.c', 'state/conf/conf_diff.c', 'state/conf/conf_routes.c', 'state/conf/conf_secrets.c'],
    'copy': ['wire/datagram/leon.c', 'fwd/in/copies.c'],
    'database': ['../leonsim/database.c'],
    'eth': ['wire/frame/eth.c', 'wire/frame/arp.c', 'wire/frame/nd.c'],
    'flow': ['../leon-accel/flow/flow.c', '../leon-accel/flow/flow_base.c',
             '../leon-accel/flow/flow_frames.c', '../leon-accel/flow/flow_end.c'],
    'fragment': ['wire/datagram/leon.c'],
    'from_net': ['fwd/in/from_net.c', 'fwd/in/assemble.c', 'fwd/in/relay.c', 'fwd/in/to_segment.c',
                 'fwd/send/bundling.c', 'fwd/in/reasm.c'],
    'from_tap': ['fwd/tap/tap_rx.c', 'fwd/out/from_tap.c', 'fwd/lan/lan_state.h', 'fwd/lan/suppress.c',
                 'fwd/out/flood.c', 'fwd/send/encap.c', 'fwd/tap/tso.c', 'fwd/send/marking.c'],
    'guard': ['wire/frame/guard.c', 'daemon/guard/loop_guard.c'],
    'http': ['../leonctl/live/http.c'],
    'invitation': ['crypto/invitation.c', 'crypto/noise.c', 'state/invitations.c'],
    'jsonr': ['base/json/jsonr.c'],
    'kernel': ['io/netlink/netlink.c', 'io/netlink/netlink_bridge.c', 'io/netlink/netlink_route.c', 'io/udp.c'],
    'leon': ['wire/datagram/leon.c'],
    'matrices': ['../leonsim/trace.c'],
    'members': ['daemon/underlay/cache.c'],
    'msg': ['wire/message/msg.c'],
    'open': ['crypto/keys.c'],
    'overlay': ['proto/session/hello.c', 'proto/peer.c', 'proto/session/identity.c',
                'proto/session/member.c', 'proto/share/rows.c', 'proto/share/sync.c',
                'proto/admit/trust.c', 'proto/overlay.c'],
    'pack': ['../leon-accel/peer/pack.c'],
    'parity': ['wire/datagram/parity.c', 'fwd/in/recovery.c', 'base/gf256.c'],
    'portmap': ['ipc/portmap_control.c'],
    'request': ['daemon/control/cmds.c'],
    'sclp': ['../leon-sclp/format/sclp.c'],
    'sealed': ['fwd/in/incoming.c', 'crypto/seal.c'],
    'mcast': ['wire/frame/mcast.c'],
    'segment': ['wire/datagram/segment.c'],
    'intercepted': ['../leon-accel/frames/intercepted.c'],
    'tcp': ['wire/frame/tcp.c'],
    'tls': ['../leon-tls/framing.c'],
    'token': ['wire/message/token.c'],
}


def tool(name, *arguments):
    return subprocess.run([name + run.LLVM, *arguments], check=True, text=True,
                          stdout=subprocess.PIPE).stdout


def program(name):
    return os.path.join(BUILD, 'tests/fuzz', f'replay_{name}')


def build(names):
    if not os.path.exists(os.path.join(BUILD, 'build.ninja')):
        flags = '-fprofile-instr-generate'
        subprocess.run(['meson', 'setup', BUILD, run.TOP, '--buildtype=debug',
                        f'-Dc_args={flags} -fcoverage-mapping', f'-Dc_link_args={flags}'],
                       env=dict(os.environ, CC='clang' + run.LLVM, LLVM_PROFILE_FILE='/dev/null'),
                       check=True)
    subprocess.run(['ninja', '-C', BUILD, *(f'tests/fuzz/replay_{name}' for name in names)],
                   check=True, stdout=subprocess.DEVNULL)


def replay(names):
    """Path of the profile of all targets together."""
    profiles = []
    for name in names:
        for kind in (run.CORPUS, run.FOUND):
            folder = os.path.join(kind, name)
            if not os.path.isdir(folder) or not os.listdir(folder):
                continue
            raw = os.path.join(BUILD, f'{name}-{len(profiles)}.profraw')
            subprocess.run([program(name), folder, '0'], check=True, stdout=subprocess.DEVNULL,
                           env=dict(os.environ, LLVM_PROFILE_FILE=raw))
            profiles.append(raw)
    merged = os.path.join(BUILD, 'all.profdata')
    tool('llvm-profdata', 'merge', '-sparse', '-o', merged, *profiles)
    return merged


def llvm_cov(command, names, profile, *arguments):
    first, *others = [program(name) for name in names]
    objects = [f'-object={path}' for path in others]
    return tool('llvm-cov', *command, first, *objects, f'-instr-profile={profile}', *arguments)


def summaries(names, profile):
    """{file below dataplane/: {'lines' | 'regions' | 'branches': (covered, count)}}"""
    text = llvm_cov(['export', '-summary-only'], names, profile)
    found = {}
    for entry in json.loads(text)['data'][0]['files']:
        path = os.path.relpath(os.path.join(BUILD, entry['filename']), SOURCES)
        found[path] = {kind: (entry['summary'][kind]['covered'], entry['summary'][kind]['count'])
                       for kind in ('lines', 'regions', 'branches')}
    return found


def percent(pairs):
    covered, count = (sum(column) for column in zip(*pairs))
    return f'{100 * covered / count:5.1f} %' if count else '    - '


def print_targets(names, files, history):
    print(f'{"target":<10}{"CPU min":>9}{"executions":>14}{"edges":>7}{"features":>10}'
          f'{"inputs":>8}{"lines":>9}{"branches":>10}  files')
    for name in names:
        h = history.get(name, {})
        of = [files[path] for path in TARGETS[name]]
        print(f'{name:<10}{h.get("cpu_s", 0) / 60:>9.1f}{h.get("executions", 0):>14}'
              f'{h.get("edges", 0):>7}{h.get("features", 0):>10}{h.get("inputs", 0):>8}'
              f'  {percent([f["lines"] for f in of])}  {percent([f["branches"] for f in of])}'
              f'  {" ".join(TARGETS[name])}')


def print_files(names, files):
    print(f'\n{"decoder":<24}{"lines":>12}{"":>9}{"regions":>10}{"branches":>10}')
    for path in sorted({path for name in names for path in TARGETS[name]}):
        f = files[path]
        print(f'{path:<24}{f["lines"][0]:>6}/{f["lines"][1]:<5} '
              f' {percent([f["lines"]])}   {percent([f["regions"]])}   {percent([f["branches"]])}')


def print_uncovered(names, profile, paths):
    for line in llvm_cov(['export', '-format=lcov'], names, profile).splitlines():
        key, _, value = line.partition(':')
        if key == 'SF':
            path = os.path.relpath(os.path.join(BUILD, value), SOURCES)
            with open(os.path.join(SOURCES, path), encoding='utf-8') as f:
                text = f.read().splitlines()
        elif key == 'DA' and value.endswith(',0') and path in paths:
            number = int(value.split(',')[0])
            print(f'{path}:{number}: {text[number - 1]}')


def main():
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument('--uncovered', nargs='*', metavar='FILE')
    options = parser.parse_args()
    names = run.targets()
    if names != sorted(TARGETS):
        print(f'not in TARGETS, or no target: {set(names) ^ set(TARGETS)}')
        return 1
    build(names)
    profile = replay(names)
    files = summaries(names, profile)
    print_targets(names, files, run.history())
    print_files(names, files)
    if options.uncovered is not None:
        paths = options.uncovered or sorted({p for name in names for p in TARGETS[name]})
        print_uncovered(names, profile, paths)
    return 0


if __name__ == '__main__':
    sys.exit(main())
