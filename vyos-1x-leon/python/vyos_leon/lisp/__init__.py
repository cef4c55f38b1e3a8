# SPDX-License-Identifier: GPL-2.0-or-later
"""`protocols lisp`: Open Overlay Router (OOR) run as VyOS runs its own daemons.

    verify    what an operator can get wrong, and what OOR cannot do
    model     the configuration as the document that leon-lisp reads, and that as OOR's
    overlay   which prefixes LEON says are here, and which node is near
    rules     the policy rules that OOR leaves out, and those that it leaves behind
    state     what OOR's log says of mappings, registrations and the map-cache
    manager   leon-lisp: starts OOR, follows the above, ends it

None of them but manager touches anything but what it is given.
"""

RUN_DIR = '/run/leon-lisp'
DOCUMENT = f'{RUN_DIR}/lisp.json'
STATE = f'{RUN_DIR}/state.json'
UNIT = 'leon-lisp.service'
OOR = '/usr/sbin/oor'
