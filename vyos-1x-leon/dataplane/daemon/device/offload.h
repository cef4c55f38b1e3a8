// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Offloads of the device and the sockets (system offload). Control thread.
 */
#pragma once

#include "base/mono.h"

struct leond;
struct snap_offload;

enum offload {
	OFFLOAD_UDP_GSO,
	OFFLOAD_UDP_GRO,
	OFFLOAD_TSO,
	OFFLOAD_USO,
	OFFLOAD_CHECKSUM,
	N_OFFLOADS,
};

/* Called after device and sockets are open, and after a reload. */
void offload_apply_conf(struct leond *d);
/* Offloads that the workers must not use. */
struct snap_offload offload_disabled(const struct leond *d);
void offload_look(struct leond *d, mono_t now); /* called once a second */

/* Word in JSON and metrics. */
const char *offload_name(enum offload o);
/* Reason for which an offload is not used; NULL: it is used. */
const char *offload_unused(const struct leond *d, enum offload o);
