# SPDX-License-Identifier: GPL-2.0-or-later
"""The Python side of LEON on VyOS, without VyOS: nothing here imports a module of VyOS,
so all of it runs, and is tested, anywhere.

client   asks a running leond, by leonctl
leaves   what the configuration has: paths, forms, limits, defaults
model    VyOS's configuration dictionary as the document that leond reads
verify   what an operator can get wrong, one sentence each
runfile  puts the document in its place
"""
