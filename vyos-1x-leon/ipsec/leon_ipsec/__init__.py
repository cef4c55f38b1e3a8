# SPDX-License-Identifier: GPL-2.0-or-later
"""Protects the datagrams of one leond with IPsec: see doc/ipsec.md and the program leon-ipsec."""
