#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# Replaces RESTART in four maintainer scripts (debian/rules). VyOS reads its files again. No daemon
# runs while an image is built.
if [ -d /run/systemd/system ]; then
	systemctl --system daemon-reload >/dev/null || true
	for unit in vyos-configd vyos-commitd vyos-http-api; do
		deb-systemd-invoke try-restart "$unit.service" 2>/dev/null || true
	done
	# systemd calls vyos-configd active before it serves. A commit in that time does not write the
	# configuration of FRR, also the commit of a boot. vyos-configd sets the link when it serves.
	for _ in $(seq 60); do
		case $(readlink /etc/default/vyos-configd-env) in
		*-env-set) break ;;
		esac
		[ "$(systemctl is-active vyos-configd.service 2>/dev/null)" = active ] || break
		sleep 1
	done
fi
