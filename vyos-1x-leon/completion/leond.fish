# SPDX-License-Identifier: GPL-2.0-or-later
#
# fish completion for leond, which has options only. The options come from the help of leond.
complete -c leond -a '(leond --help 2>/dev/null | string match -rag -- "(--[a-z][a-z-]+)" | sort -u)'
