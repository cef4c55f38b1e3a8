# bash completion for leond                                  -*- shell-script -*-
# SPDX-License-Identifier: GPL-2.0-or-later
# shellcheck shell=bash
#
# The program has options only. The options come from its help. Other words are files.

_leond() {
	local cur=${COMP_WORDS[COMP_CWORD]}
	if [[ $cur == -* ]]; then
		mapfile -t COMPREPLY < <(compgen -W "$(leond --help 2>/dev/null | grep -oE -e '--[a-z][a-z-]+' | sort -u)" -- "$cur")
	else
		mapfile -t COMPREPLY < <(compgen -f -- "$cur")
	fi
}

# With "filenames", bash quotes the special characters of a file name.
complete -o filenames -F _leond leond
