# SPDX-License-Identifier: GPL-2.0-or-later
#
# fish completion for leon-accel, which has options only. The options come from the help of
# leon-accel.
complete -c leon-accel -a '(leon-accel --help 2>/dev/null | string match -rag -- "(--[a-z][a-z-]+)" | sort -u)'
