#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
#
# Refuses error-prone functions, notes of authors in the code, files without an SPDX line, and long
# shell scripts. The current directory does not matter. Prints the findings.
set -u

cd "$(dirname "$0")/../.." || exit 2
failed=0

sources() {
	find vyos-1x-leon tests op-mode packaging .ci -type f "$@" ! -path '*/__pycache__/*' 2>/dev/null
}

complain() { # TITLE, matches on standard input
	matches=$(cat)
	[ -n "$matches" ] || return 0
	printf '%s\n%s\n' "$1" "$matches"
	failed=1
}

calls='(strcpy|strcat|sprintf|vsprintf|gets|atoi|atol|strtok|system|popen|alloca)\('
matches=$(sources -name '*.[ch]' -exec grep -nEH "(^|[^a-zA-Z0-9_])$calls" {} +)
complain 'banned function:' <<END
$matches
END

notes='TO''DO|FIX''ME|XX''X'
matches=$(sources \( -name '*.[ch]' -o -name '*.py' -o -name '*.sh' \) -exec grep -nEHw "$notes" {} +)
complain 'note to self:' <<END
$matches
END

matches=$(sources \( -name '*.[ch]' -o -name '*.py' -o -name '*.sh' -o -name meson.build \) \
	-size +0 -exec grep -L 'SPDX-License-Identifier: GPL-2.0-or-later' {} +)
complain 'no SPDX line:' <<END
$matches
END

matches=$(sources -exec awk 'FNR == 1 { shell = /^#!.*[\/ ](ba|da)?sh( |$)/ }
	shell && FNR == 51 { print FILENAME }' {} +)
complain 'shell script longer than 50 lines (write it in Python):' <<END
$matches
END

exit $failed
