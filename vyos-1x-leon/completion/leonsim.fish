# SPDX-License-Identifier: GPL-2.0-or-later
#
# fish completion for leonsim, which has options only. The options come from the help of leonsim.
complete -c leonsim -a '(leonsim --help 2>/dev/null | string match -rag -- "(--[a-z][a-z-]+)" | sort -u)'
