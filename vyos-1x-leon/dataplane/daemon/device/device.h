// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * The interface: MTU, MAC, state, master. Control thread.
 */
#pragma once

#include "base/mono.h"

struct leond;
struct nl_event;

/* Returns 0, or -errno after logging. */
int device_set_mac(struct leond *d);
int device_start(struct leond *d);
void device_look(struct leond *d); /* for changes between device_start() and the monitor */
void device_apply_conf(struct leond *d);
/* Restores bridge and addresses at each reload: another program may have removed them. */
void device_renew(struct leond *d);
void device_run_mtu(struct leond *d, mono_t now);
void device_changed(struct leond *d, const struct nl_event *ev); /* life/watch.c */
