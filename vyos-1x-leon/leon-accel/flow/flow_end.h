// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * The state of a host of a connection, as seen in frames: numbers, windows, timestamps, options.
 * Part of struct flow; single-threaded.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "base/addr.h"
#include "base/mono.h"
#include "wire/accel.h"
#include "wire/frame/tcp.h"

struct flow_end {
	bool seen;	    /* A segment with ACK was seen, so the fields below are valid. */
	bool began;	    /* The SYN of the host was seen. */
	uint32_t start;	    /* Sequence number behind the SYN. */
	uint32_t next;	    /* Sequence number behind the last byte or FIN. */
	uint32_t acked;	    /* Last acknowledgement of the host. */
	uint16_t window;    /* Last window, as in the header. */
	uint16_t widest;    /* Largest window, not scaled. */
	uint8_t scale_seen; /* Lower bound of its window scale, from the bytes in flight. */
	bool has_ts;
	/* The latest timestamp, and the first timestamp of the comparison. */
	uint32_t ts_val, ts_first;
	mono_t ts_at, ts_first_at;
	/* ts_val is of a proxy socket, and the far host has not reached it since the release. */
	bool ts_raised;
	struct accel_options syn; /* Options of the SYN, from either node. */
	bool sack_seen;
	uint16_t largest;  /* Payload of the largest segment in bytes. */
	bool fin;	   /* The host has sent FIN. */
	uint32_t segments; /* Number of segments with data. */
	uint32_t recent;   /* Number of recent segments with data, halved now and then. */
	uint32_t again;	   /* Number of recent retransmissions, halved together with `recent`. */
	struct mac mac;	   /* MAC address in frames of the near LAN. */
};

/* Sets the state to unknown. */
void flow_end_begin(struct flow_end *e);
/* The host sent a SYN, with or without ACK. */
void flow_end_syn(struct flow_end *e, const struct tcp_view *t, mono_t now);
/* Notes the header of a segment. Its payload counts with the next segment. */
void flow_end_receive(struct flow_end *e, const struct tcp_view *t, mono_t now);
/* A segment of the host was passed on. gso_size as in struct flow_frame. */
void flow_end_took(struct flow_end *e, const struct tcp_view *t, uint16_t gso_size);
/* The near host permitted the bytes in flight, which gives a lower bound of the window scale. */
void flow_end_see_window(struct flow_end *near, const struct flow_end *far);
/*
 * Window scale of a near host without an observed SYN. It is the larger of the lower bound and the
 * shift that makes the widest window at most 64 KiB. A host that scales states such a window for an
 * empty buffer. With a shift of 0, its 64 KiB would be some hundred bytes, less than a segment, and
 * the kernel would send that number at each timeout. A host that does not scale discards data
 * beyond its window, and the kernel repeats the data.
 */
uint8_t flow_end_scale(const struct flow_end *e);
/*
 * Reports whether the timestamps count milliseconds, like those of a proxy socket. If a connection
 * is released to a host with a slower clock, the other host discards all its segments as old (PAWS,
 * RFC 7323). A much faster clock is ahead by half of all numbers after a while, with the same
 * effect.
 */
bool flow_end_clock_fits(const struct flow_end *e);
