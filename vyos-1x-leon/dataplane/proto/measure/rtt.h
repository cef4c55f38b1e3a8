// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Round-trip times of PINGs, with answers that a member may forge. Control thread. Protocol 4.7.
 */
#pragma once

#include "proto/core.h"

uint32_t rtt_new_id(void); /* id of a PING, never 0 */
/* Round-trip time from send and receive time; 0 if invalid. */
uint32_t rtt_us(const struct overlay *o, mono_t sent, mono_t rx, uint32_t held_ns);
/* One-way values of the same PING and answer. */
void rtt_one_way(const struct overlay *o, struct one_way *w, mono_t sent, mono_t rx,
		 const struct msg_pong *m);
/* Round-trip time as a sample for the link's filter; 0: no sample. */
uint32_t rtt_sample_us(const struct overlay *o, struct peer *p, mono_t sent, mono_t rx,
		       uint32_t held_ns);
