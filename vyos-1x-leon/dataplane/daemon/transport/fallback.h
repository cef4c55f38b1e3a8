// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Transports of the links to configured peers with `tls-port`: TLS if UDP gets no answer for 3 s,
 * UDP again as soon as it answers. The node that began a connection decides, and the other one
 * follows. Control thread. doc/decisions/076.
 */
#pragma once

#include <stdint.h>

struct leond;

void fallback_start(struct leond *d);
/* The list of peers or `transport` changed. Called after seeds_reset() and streams_apply_conf(). */
void fallback_apply_conf(struct leond *d);
void fallback_stop(struct leond *d);

/* State of the connection to configured peer i. */
struct fallback_view {
	const char *state;  /* "idle", "connecting", "connected"; NULL: the peer has no tls-port */
	const char *reason; /* end of the last connection or attempt; NULL: none */
};
struct fallback_view fallback_view(const struct leond *d, uint32_t i);
