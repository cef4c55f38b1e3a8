// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Port mapping at a gateway with NAT: leond finds the gateway and starts leon-portmap, which
 * requests the mapping. leond checks the reports and announces the mapped address in its record.
 * Exists with `port-mapping` only. Control thread. doc/decisions/076.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "base/addr.h"
#include "base/mono.h"
#include "ipc/portmap_control.h"

struct leond;

void portmap_apply_conf(struct leond *d); /* also the start */
void portmap_second(struct leond *d, mono_t now);
void portmap_stop(struct leond *d);

enum portmap_state {
	PORTMAP_IS_NO_GATEWAY,
	PORTMAP_IS_PUBLIC, /* the source address needs no mapping */
	PORTMAP_IS_REQUESTED,
	PORTMAP_IS_MAPPED,
	PORTMAP_IS_PRIVATE, /* the external address is private, and no node sees it */
	PORTMAP_IS_FAILED,
};
struct portmap_view {
	enum portmap_state state;
	struct ip_addr gateway;	  /* family 0: none */
	struct endpoint external; /* port 0: no mapping */
	uint32_t method;	  /* enum portmap_method */
	mono_t expires_at;	  /* of the mapping */
	const char *reason;	  /* of the last failure; NULL: none */
	uint64_t reports, failures;
};
/* Returns false without `port-mapping`. */
bool portmap_view(const struct leond *d, struct portmap_view *out);
const char *portmap_state_name(enum portmap_state s);
