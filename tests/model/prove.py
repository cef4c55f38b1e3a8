#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""Runs the model of the handshake (handshake.vp) with Verifpal and compares every answer with the
expected answer. Decision 071 explains the answers.

Each case changes lines of the model. A case gives the attacker an additional ability, or removes a
part of the protocol. After a removal, Verifpal must find the attack that the part prevents.
Otherwise a model that finds nothing would pass too.

`make prove` installs Verifpal with cargo into build/verifpal and calls the program with the path
of the executable. The exit code is 1 if an answer differs.
"""

import argparse
import os
import re
import subprocess
import sys
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))
SECONDS = 600  # for a case; the longest case takes a tenth of the limit

# Lines of the model, changed by cases.
PSK_A = 'knows private psk, ska'
PHASE = 'queries['
SIGNED_1 = 'sig1 = SIGN(ska, HASH(ida, idb, sa, none, pa))'
HELLO_1 = 'CONCAT(sa, none, pa, sig1)'
VERIFIED_2 = '_ = SIGNVERIF(pkb, HASH(idb, ida, sb_a, yours_2, pb_a), sig2_a)?'
VERIFIED_3 = '_ = SIGNVERIF(pka, HASH(ida, idb, sa_b, yours_3, pa_b), sig3_b)?'


def leak(principal, values, phase=None):
    """The attacker gets values of a principal, from a later phase on or from the start."""
    text = f'principal {principal}[\n\tleaks {values}\n]\n\n'
    if phase:
        return [(PHASE, f'phase[{phase}]\n\n{text}{PHASE}')]
    return [('// The identities are', f'{text}// The identities are')]


def in_clear():
    """HELLOs are not sealed. An attacker with the secret gains nothing more, and the analysis ends
    in seconds."""
    change = []
    for number, plain, ends in ((1, HELLO_1, 'ida, idb'), (2, 'CONCAT(sb, sa_1, pb, sig2)', 'idb, ida'),
                                (3, 'CONCAT(sa, sb_a, pa, sig3)', 'ida, idb')):
        seal = f'(MAC(HASH(psk, l_hello), salt{number}), none, '
        change += [(f'AEAD_ENC{seal}{plain}, CONCAT({ends}))', plain),
                   (f'opened{number} = AEAD_DEC{seal}hello{number}, CONCAT({ends}))?', ''),
                   (f'SPLIT(opened{number})', f'SPLIT(hello{number})')]
    return change


def without_dh():
    return [('DH_KEX(pb_a, ea)', 'none'), ('DH_KEX(pa_b, eb)', 'none')]


def without_signatures():
    return [(VERIFIED_2, ''), (VERIFIED_3, '')]


def key_not_signed():
    return [('sb, sa_1, pb))', 'sb, sa_1))'), ('sb_a, yours_2, pb_a)', 'sb_a, yours_2)'),
            ('sa, sb_a, pa))', 'sa, sb_a))'), ('sa_b, yours_3, pa_b)', 'sa_b, yours_3)')]


def rekey():
    """A opens with the value of B in the current session. The attacker knows the secret and all
    keys and values of the session."""
    old = [('ida, idb, l_hello, l_session, l_ab, l_ba, none, one\n\tknows private psk, ska',
            'ida, idb, l_hello, l_session, l_ab, l_ba, none, one, old_b\n\tknows private psk, ska'),
           (SIGNED_1, SIGNED_1.replace('none', 'old_b')),
           (HELLO_1, HELLO_1.replace('none', 'old_b'))]
    return in_clear() + old + leak('A', 'psk')


# (question, changes, verdicts). A verdict belongs to a query of the model, in order: secrecy of the
# data of A, of B, authenticity of the data of A, of B. 1 means an attack.
CASES = [
    ('a stranger on the path', [], '0000'),
    ('identities: a member on the path has the secret', in_clear() + leak('A', 'psk'), '0000'),
    ('key compromise: the secret and A\'s identity key are known', in_clear() + leak('A', 'psk, ska'),
     '0110'),
    ('key compromise: the secret and B\'s identity key are known',
     in_clear() + leak('A', 'psk') + leak('B', 'skb'), '1001'),
    ('forward secrecy: the secret and both identity keys become known later',
     leak('A', 'psk, ska', 1) + [('phase[1]\n', 'phase[1]\n\nprincipal B[\n\tleaks skb\n]\n')],
     '0000'),
    ('X25519 is broken and the secret is not known', leak('A', 'ea', 1) +
     [('phase[1]\n', 'phase[1]\n\nprincipal B[\n\tleaks eb\n]\n')], '0000'),
    ('X25519 is broken and the secret becomes known', leak('A', 'psk, ea', 1) +
     [('phase[1]\n', 'phase[1]\n\nprincipal B[\n\tleaks eb\n]\n')], '1100'),
    ('new keys: the secret and the session before are known', rekey(), '0000'),
    ('a changed protocol: no X25519, the secret becomes known later',
     without_dh() + leak('A', 'psk', 1), '1100'),
    ('a changed protocol: signatures are not verified, the secret is known',
     in_clear() + without_signatures() + leak('A', 'psk'), '1111'),
    ('a changed protocol: A verifies no signature, the secret is known',
     in_clear() + [(VERIFIED_2, '')] + leak('A', 'psk'), '1001'),
    ('a changed protocol: ephemeral keys are not signed, the secret is known',
     in_clear() + key_not_signed() + leak('A', 'psk'), '1111'),
]


def changed(model, changes):
    for old, new in changes:
        if model.count(old) != 1:
            sys.exit(f'prove: the model has {model.count(old)} times: {old}')
        model = model.replace(old, new)
    return model


def verdicts(verifpal, model, sessions):
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, 'case.vp')
        with open(path, 'w', encoding='utf-8') as f:
            f.write(model)
        done = subprocess.run([verifpal, 'verify', path, '--result-code', f'--sessions={sessions}'],
                              stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
                              timeout=SECONDS, check=False)
    code = re.fullmatch(r'c(\d)c(\d)a(\d)a(\d)', done.stdout.strip().rsplit('\n', 1)[-1].strip())
    return ''.join(code.groups()) if code else done.stdout


def main():
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument('--sessions', type=int, default=1, help='of each node at a time')
    parser.add_argument('--only', help='cases with these words')
    parser.add_argument('verifpal')
    options = parser.parse_args()
    with open(os.path.join(HERE, 'handshake.vp'), encoding='utf-8') as f:
        model = f.read()
    failed = 0
    cases = [case for case in CASES if not options.only or options.only in case[0]]
    for name, changes, expected in cases:
        found = verdicts(options.verifpal, changed(model, changes), options.sessions)
        failed += found != expected
        print(f'prove {name}: {"as expected" if found == expected else "FAILED"} ({found}'
              f'{"" if found == expected else ", expected " + expected})', flush=True)
    print(f'{len(cases) - failed} passed, {failed} failed')
    return 1 if failed or not cases else 0


if __name__ == '__main__':
    sys.exit(main())
