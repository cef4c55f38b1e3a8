# SPDX-License-Identifier: GPL-2.0-or-later
"""Makes the configuration of LEON from the user-data of a cloud: see apply.py."""
