# bash completion for leonctl                                  -*- shell-script -*-
# SPDX-License-Identifier: GPL-2.0-or-later
# shellcheck shell=bash
#
# Commands come from the help of leonctl, and nodes from the daemon. A new command needs no change
# in this file.

_leonctl_commands() {
	leonctl --help 2>/dev/null |
		sed -n 's/^  \([a-z][a-z -]*[a-z]\).*/\1/p' | sed 's/  .*//'
}

# Prints the words that may follow the given words. "$1" is empty or begins with a space.
_leonctl_next() {
	_leonctl_commands | while read -r command; do
		case " $command " in
		"$1 "*)
			command=" $command"
			command=${command#"$1"}
			command=${command# }
			echo "${command%% *}"
			;;
		esac
	done | sort -u
}

# Prints the values of the keys "$1" in an answer. bash expands the words of compgen -W, and other
# sites choose node-names. Therefore only letters, digits and ._- pass.
_leonctl_values() {
	grep -oE "\"($1)\": ?\"[A-Za-z0-9][A-Za-z0-9._-]*\"" | sed 's/.*"\(.*\)"/\1/'
}

_leonctl_nodes() {
	"$@" --json show nodes 2>/dev/null | _leonctl_values 'node_id|name'
}

_leonctl_invitations() {
	"$@" --json show invitations 2>/dev/null | _leonctl_values invitation
}

# Prints the options of the command "$1".
_leonctl_options() {
	local first
	read -r first _ <<<"$1"
	[[ -n $first ]] && leonctl "$first" --help 2>/dev/null |
		sed -n 1p | grep -oE -e '[[|]--[a-z-]+' | grep -vE 'json|socket' | tr -d '[|'
}

_leonctl_interfaces() {
	local socket
	for socket in /run/leon/*.sock; do
		[ -S "$socket" ] || continue
		socket=${socket##*/}
		[[ ${socket%.sock} == *[!A-Za-z0-9._-]* ]] || echo "${socket%.sock}"
	done
}

_leonctl() {
	local cur=${COMP_WORDS[COMP_CWORD]} prev=${COMP_WORDS[COMP_CWORD - 1]} words='' i
	local ask=(leonctl)
	COMPREPLY=()
	for ((i = 1; i < COMP_CWORD; i++)); do
		case ${COMP_WORDS[i]} in
		-i | --interface | --socket)
			ask+=("${COMP_WORDS[i]}" "${COMP_WORDS[i + 1]}")
			((++i))
			;;
		-w | --address | --bridge | --bytes | --expires | --name | --node | --seconds | \
			--snap | --source-address | --source-interface | --tls-port | --uses | --write)
			((++i))
			;;
		--listen) words+=" --listen" ;;
		-*) ;;
		*) words+=" ${COMP_WORDS[i]}" ;;
		esac
	done
	words=${words#" help"}
	case $prev in
	-i | --interface) mapfile -t COMPREPLY < <(compgen -W "$(_leonctl_interfaces)" -- "$cur") && return ;;
	--socket | -w | --write)
		# With "filenames", bash quotes the special characters of a file name.
		compopt -o filenames 2>/dev/null
		mapfile -t COMPREPLY < <(compgen -f -- "$cur") && return
		;;
	esac
	case $words in
	" explain path" | " trace" | " ping" | " reset node")
		mapfile -t COMPREPLY < <(compgen -W "$(_leonctl_nodes "${ask[@]}")" -- "$cur")
		return
		;;
	esac
	if [[ $words == " reset invitation" ]]; then
		mapfile -t COMPREPLY < <(compgen -W "$(_leonctl_invitations "${ask[@]}")" -- "$cur")
		return
	fi
	if [[ $cur == -* ]] && { [[ -z $words ]] || [[ -n $(_leonctl_options "$words") ]]; }; then
		mapfile -t COMPREPLY < <(compgen -W "--interface --json --socket --version --help
			$(_leonctl_options "$words")" -- "$cur")
		return
	fi
	mapfile -t COMPREPLY < <(compgen -W "$(_leonctl_next "$words")" -- "$cur")
}

complete -F _leonctl leonctl
