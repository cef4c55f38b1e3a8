// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * One of the two hosts of a connection, as far as its frames say: numbers, windows, timestamps,
 * options. Part of struct flow; one thread.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "base/addr.h"
#include "base/mono.h"
#include "wire/accel.h"
#include "wire/tcp.h"

struct flow_end {
	bool seen;	    /* a segment with an ACK, so that all below is known */
	bool began;	    /* its SYN was seen */
	uint32_t start;	    /* behind that */
	uint32_t next;	    /* behind the last that it sent */
	uint32_t acked;	    /* its last acknowledgement */
	uint16_t window;    /* as it is in the header */
	uint16_t widest;    /* of all that it stated, not scaled */
	uint8_t scale_seen; /* its windows are scaled by this at least: so much is in flight */
	bool has_ts;
	uint32_t ts_val, ts_first; /* of its timestamps the latest, and the one that is compared */
	mono_t ts_at, ts_first_at;
	struct accel_options syn; /* from its SYN, or what the other node saw of it */
	bool sack_seen;
	uint16_t largest;  /* segment with data */
	bool fin;	   /* it has no more to send */
	uint32_t segments; /* with data */
	uint32_t lately;   /* of them, halved now and then */
	uint32_t again;	   /* that it sent twice, halved with them */
	struct mac mac;	   /* as frames on the near LAN have it */
};

/* Nothing is known. */
void flow_end_begin(struct flow_end *e);
/* It began a connection, or answered that. */
void flow_end_syn(struct flow_end *e, const struct tcp_view *t, mono_t now);
/* What every segment says; what it sends is counted by the next one. */
void flow_end_hear(struct flow_end *e, const struct tcp_view *t, mono_t now);
/* A segment of it was passed on; gso_size as in struct flow_frame. */
void flow_end_took(struct flow_end *e, const struct tcp_view *t, uint16_t gso_size);
/* The near host granted what is in flight to it: so its windows are scaled by that at least. */
void flow_end_see_window(struct flow_end *near, const struct flow_end *far);
/*
 * Timestamps count milliseconds, as those of a stand-in do. When a connection is given back to a
 * host whose clock is slower, the other host takes all that it says for old (PAWS, RFC 7323); one
 * that is much faster is half of all numbers ahead after a while, which is the same.
 */
bool flow_end_clock_fits(const struct flow_end *e);
