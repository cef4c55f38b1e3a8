// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Round-trip times from PINGs that a liar may have answered. Control thread. Protocol 4.7.
 */
#pragma once

#include "proto/core.h"

uint32_t rtt_new_id(void); /* of a PING, never 0 */
/* Round-trip time from send and receive time; 0 where it cannot be one. */
uint32_t rtt_us(const struct overlay *o, mono_t sent, mono_t rx, uint32_t held_ns);
/* What the same PING and its answer say of each direction. */
void rtt_ways(const struct overlay *o, struct one_way *w, mono_t sent, mono_t rx,
	      const struct msg_pong *m);
/* The same as a sample for the link's filter; 0: it is none. */
uint32_t rtt_sample_us(const struct overlay *o, struct peer *p, mono_t sent, mono_t rx,
		       uint32_t held_ns);
