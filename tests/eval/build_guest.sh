#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
#
# Init process of the virtual machine of eval_build.py. The root is the host, read-only. The disk is
# a file on NFS. Lines with @ go to eval_build.py. Variables: SERVER EXPORT READAHEAD AGAIN TARGETS.
set -eu
export PATH=/usr/sbin:/usr/bin:/sbin:/bin HOME=/tmp LC_ALL=C
export KBUILD_BUILD_TIMESTAMP=@0 KBUILD_BUILD_USER=leon KBUILD_BUILD_HOST=leon
mount -t proc proc /proc
trap 'echo "@status $?"; echo o >/proc/sysrq-trigger; sleep 60' EXIT
mount -t sysfs sys /sys
mount -t tmpfs tmp /tmp
modules=/usr/lib/uml/modules/$(uname -r)
for name in nfsv3 loop; do
	line=$(grep "/$name\.ko" "$modules/modules.dep")
	# modules.dep has the dependencies after the colon, in reverse order.
	for file in $(printf '%s\n' "${line#*:}" | tr ' ' '\n' | tac) "${line%%:*}"; do
		insmod "$modules/$file" 2>/tmp/error || grep -q 'File exists' /tmp/error
	done
done
ip addr add 10.20.0.2/24 dev vec0
ip link set vec0 up
ip route add default via 10.20.0.1
mkdir /tmp/nfs /tmp/disk
options=vers=3,proto=tcp,port=2049,mountport=20048,mountproto=tcp,nolock,hard
mount -i -t nfs -o "$options,addr=$SERVER" "$SERVER:$EXPORT" /tmp/nfs
# Direct I/O avoids a second cache of the image, as cache=none of a hypervisor.
losetup --direct-io=on /dev/loop0 /tmp/nfs/disk.img
echo "$READAHEAD" >/sys/block/loop0/queue/read_ahead_kb
mount -o noatime /dev/loop0 /tmp/disk
cd /tmp/disk
build() { # shellcheck disable=SC2086 # a list
	make $TARGETS </dev/null >/tmp/log 2>&1 || { tail -n 20 /tmp/log; exit 3; }
}
echo @ready && sleep 3 && echo @begin
build
# The log has the names of the objects. A search would read all directories of the disk.
awk '$1 == "CC" || $1 == "AS" { print $2 }' /tmp/log >/tmp/objects
while [ "$AGAIN" -gt 0 ]; do
	part=$((AGAIN < 100 ? AGAIN : 100)) AGAIN=$((AGAIN - 100))
	# The deleted objects are spread over the tree, because compile times differ.
	awk -v part=$part 'int(NR * part / 100) > int((NR - 1) * part / 100)' /tmp/objects | xargs rm -f
	build
done
sync
echo @end && sleep 3
# .s files of kbuild are left out: gcc writes limits into these files that depend on free memory.
echo "@objects $(grep '\.o$' /tmp/objects | xargs cat | sha256sum)"
while read -r line; do echo "@stats $line"; done </proc/self/mountstats
exit 0
