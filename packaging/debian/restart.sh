#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# debian/rules puts this text in place of RESTART in four maintainer scripts. The services of VyOS
# read their files again. During an image build, no service runs.
if [ -d /run/systemd/system ]; then
	systemctl --system daemon-reload >/dev/null || true
	for unit in vyos-configd vyos-commitd vyos-http-api; do
		deb-systemd-invoke try-restart "$unit.service" 2>/dev/null || true
	done
	# systemd reports vyos-configd as active before vyos-configd serves requests. A commit in
	# this time, also at boot, does not write the configuration of FRR. vyos-configd sets the
	# link when it is ready.
	for _ in $(seq 60); do
		case $(readlink /etc/default/vyos-configd-env) in
		*-env-set) break ;;
		esac
		[ "$(systemctl is-active vyos-configd.service 2>/dev/null)" = active ] || break
		sleep 1
	done
fi
