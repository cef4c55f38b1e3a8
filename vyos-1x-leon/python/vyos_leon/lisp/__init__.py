# SPDX-License-Identifier: GPL-2.0-or-later
"""`protocols lisp`: runs Open Overlay Router (OOR) as VyOS runs daemons.

    verify    rules of the configuration, and limits of OOR
    model     the configuration as the document of leon-lisp, and as configuration of OOR
    overlay   prefixes from LEON, and the nearest node of each prefix
    rules     policy rules that OOR does not create, and remaining rules of OOR
    state     mappings, registrations and the map-cache from the log of OOR
    manager   leon-lisp: starts OOR, watches the sources above, ends OOR.

Only manager has side effects.
"""

RUN_DIR = '/run/leon-lisp'
DOCUMENT = f'{RUN_DIR}/lisp.json'
STATE = f'{RUN_DIR}/state.json'
UNIT = 'leon-lisp.service'
OOR = '/usr/sbin/oor'
