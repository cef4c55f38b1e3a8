# SPDX-License-Identifier: GPL-2.0-or-later
#
# fish completion for leon-sclp, which has options only. The options come from the help of
# leon-sclp.
complete -c leon-sclp -a '(leon-sclp --help 2>/dev/null | string match -rag -- "(--[a-z][a-z-]+)" | sort -u)'
