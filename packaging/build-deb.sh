#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
#
# Builds the Debian packages from a copy of this tree, so the tree stays unchanged.
# Usage: build-deb.sh OUTPUT-DIRECTORY [dpkg-buildpackage arguments, default -b]
# Called by `make deb`, .ci and tests/packaging. Packages and build log go to OUTPUT-DIRECTORY.
set -eu

out=${1:?usage: build-deb.sh OUTPUT-DIRECTORY [dpkg-buildpackage arguments]}
shift
[ $# -gt 0 ] || set -- -b
top=$(cd "$(dirname "$0")/.." && pwd)

mkdir -p "$out"
out=$(cd "$out" && pwd)
version=$("$top/packaging/version.sh")
copy=$out/leon-$version
rm -rf "$copy"
mkdir "$copy"
# The copy equals a clean checkout, without version control and build products.
tar -C "$top" -c --exclude-vcs --exclude='./build*' --exclude=__pycache__ --exclude='*.pyc' \
	--exclude=.pytest_cache --exclude=.cache . | tar -C "$copy" -x
# The copy has no git data, so its changelog gets the version.
sed -i "1s/^leon .*;/leon ($version) unstable;/" "$copy/packaging/debian/changelog"

# Prints one line for each step of debhelper, and for each quarter of the files.
progress() {
	awk -W interactive '
	/^   dh_/ { print; fflush() }
	/^\[[0-9]+\/[0-9]+\]/ {
		split(substr($1, 2), n, /[\/\]]/)
		quarter = int(4 * n[1] / n[2])
		if (quarter != last && n[2] > 20) { printf "   compiled %d of %d\n", n[1], n[2]; fflush() }
		last = quarter
	}' 2>/dev/null
}

cd "$copy"
echo "building leon $version, log: $out/build.log"
{ dpkg-buildpackage -us -uc "$@" 2>&1 || echo failed >"$copy.failed"; } | tee "$out/build.log" | progress
if [ -e "$copy.failed" ]; then
	rm "$copy.failed"
	tail -n 50 "$out/build.log" >&2
	echo "build failed: the whole log is $out/build.log" >&2
	exit 1
fi
cd "$out"
rm -rf "$copy"
ls ./*.deb
