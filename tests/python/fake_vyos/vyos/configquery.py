# SPDX-License-Identifier: GPL-2.0-or-later
from vyos.config import Config


class ConfigTreeQuery(Config):
    pass
