// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Probes of direct links: probe intervals, evaluation of answers and silence, link state. Control
 * thread. Protocol 4.7, 6.
 */
#pragma once

#include "proto/core.h"

/* Initialises the state of measure/ for a new peer. */
void probe_init(struct overlay *o, struct peer *p);
void probe_session_up(struct overlay *o, struct peer *p);
void probe_periodic(struct overlay *o, mono_t now);
void probe_tick(struct overlay *o, struct peer *p, mono_t now);
uint32_t probe_interval_ms(const struct overlay *o, const struct peer *p, mono_t now);
void probe_ping(struct overlay *o, struct peer *p, const struct msg_ping *m, const struct via *back,
		size_t len, mono_t rx);
/* Returns true if the answer belongs to a PING of the direct link. */
bool probe_pong(struct overlay *o, struct peer *p, const struct msg_pong *m, bool direct,
		mono_t rx);
/* Data flows over the link. */
void probe_used(struct overlay *o, struct peer *p);
/* The link changed the transport. Each transport has separate measurements. rtt_us: round-trip time
 * of the new transport; 0: unknown. */
void probe_transport_changed(struct overlay *o, struct peer *p, uint32_t rtt_us);
/* The link uses another pair of lines with these measurements and path MTU. Stores the measurements
 * of the previous pair in `before`, and returns its path MTU. */
uint16_t probe_line_changed(struct overlay *o, struct peer *p, const struct link_filter *filter,
			    uint16_t mtu, struct link_filter *before);
/* Data is lost on the link, although PINGs are answered. */
bool probe_data_loss(const struct peer *p);
void probe_link_lost(struct overlay *o, struct peer *p); /* the peer goes away */
