# SPDX-License-Identifier: GPL-2.0-or-later
import os

import jinja2

TOP = os.path.dirname(os.path.abspath(__file__)) + '/../../../..'


def render_to_string(template, content):
    """With the options of VyOS's environment."""
    environment = jinja2.Environment(
        loader=jinja2.FileSystemLoader(TOP + '/templates'),
        trim_blocks=True,
        undefined=jinja2.ChainableUndefined,
    )
    return environment.get_template(template).render(content)


def get_esp_ike_cipher(group, ike_group=None):
    """Without the names of groups of strongSwan, which VyOS knows."""
    found = []
    for _, proposal in group.get('proposal', {}).items():
        if not {'encryption', 'hash'} <= set(proposal):
            continue
        text = f'{proposal["encryption"]}-{proposal["hash"]}'
        if 'dh_group' in proposal:
            text += f'-{proposal["dh_group"]}'
        elif ike_group and group.get('pfs', 'disable') != 'disable':
            text += '-pfs'
        found.append(text)
    return found
