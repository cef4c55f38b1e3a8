#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
#
# Prints the version of this tree. The first entry of debian/changelog has the version of a release.
# If the entry is UNRELEASED, the output also has the day and the commit: 0.3.0~git20261125.1376b18.
# dpkg sorts such a version before the release. `git archive` writes day and commit into this file.
# Any other tree without git has the version 0.3.0~git. Called by meson, build-deb.sh, release.py
# and build.py.
set -eu

top=$(cd "$(dirname "$0")/.." && pwd)
entry=$(sed -n '1s/^leon (\([^)]*\)) \([A-Za-z]*\).*/\1 \2/p' "$top/packaging/debian/changelog")
version=${entry% *}
if [ "${entry#* }" != UNRELEASED ]; then
	echo "$version"
	exit
fi
# shellcheck disable=SC2016 # git replaces the text.
commit='$Format:%cs.%H$'
if [ -e "$top/.git" ]; then
	# In a container, the directory may belong to another user.
	commit=$(git -c safe.directory="$top" -C "$top" log -1 --format=%cs.%H 2>/dev/null) || commit=
fi
# 2026-11-25.1376b18a... becomes 20261125.1376b18.
echo "$version~git$(echo "$commit" | sed -n 's/^\(....\)-\(..\)-\(..\.[0-9a-f]\{7\}\).*/\1\2\3/p')"
