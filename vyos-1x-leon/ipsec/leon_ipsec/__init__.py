# SPDX-License-Identifier: GPL-2.0-or-later
"""Wraps the datagrams of one leond in IPsec: see doc/ipsec.md and the program leon-ipsec."""
