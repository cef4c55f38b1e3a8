// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * State of direct links: up, unresponsive or down; other transport or lines. Called by probe.c
 * after answers and misses, by line_choice.c, and by session/ for moved and lost peers. Control
 * thread. Protocol 6.
 */
#pragma once

#include "proto/core.h"

/* Longest silence of a link that is up, with any configuration and history. */
#define SILENCE_MAX_MS 30000

/* --- results of probes --- */
void link_state_up(struct overlay *o, struct peer *p);
/* Probes in a row are unanswered; the first is `age_us` old. The link may go down. */
void link_state_silent(struct overlay *o, struct peer *p, int64_t age_us);
/* The first answer after unanswered probes. */
void link_state_responds(struct overlay *o, struct peer *p);
/* Data loss of the link starts or ends. */
void link_state_loss_changed(struct overlay *o, struct peer *p);

/* --- changes of the link --- */
/* The link changed the transport. Each transport has separate measurements. rtt_us: round-trip time
 * of the new transport; 0: unknown. */
void link_state_transport_changed(struct overlay *o, struct peer *p, uint32_t rtt_us);
/* The link uses another pair of lines with these measurements and path MTU. Stores the measurements
 * of the previous pair in `before`, and returns its path MTU. */
uint16_t link_state_line_changed(struct overlay *o, struct peer *p,
				 const struct link_filter *filter, uint16_t mtu,
				 struct link_filter *before);
void link_state_lost(struct overlay *o, struct peer *p); /* the peer goes away */
