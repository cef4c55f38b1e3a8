# SPDX-License-Identifier: GPL-2.0-or-later
"""What a cloud tells a new machine about LEON becomes its configuration: see apply.py."""
