// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Ingress shaping (shaper ingress): the rate limit that a receiving node requests from each sender,
 * so that the sum fits its line, by max-min fairness. A sender below its share may increase, and
 * the others get the unused part. Also the valid limit that another node requested from this node.
 * Pure; owned by the embedding structure; control thread. doc/decisions/039.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "base/mono.h"

struct share {
	uint32_t got_kbits; /* recent arrival rate from this sender */
	uint32_t kbits;	    /* share of the sender, or 0 before the first */
};

/* State kept between two divisions. */
struct shares {
	uint32_t withheld_kbits; /* reduction of the rate because of excess arrivals */
};

/* Computes the shares of all senders from their arrival rates and previous shares. An idle sender
 * gets an initial share that reserves nothing. Called every SHARES_EVERY_MS. */
void shares_divide(struct shares *of, struct share *s, unsigned n, uint32_t rate_kbits);

/* Recent growth rate of a byte counter. */
#define SHARE_MARKS 3
struct share_meter {
	struct {
		mono_t at;
		uint64_t bytes;
	} mark[SHARE_MARKS]; /* oldest first */
	unsigned n;
	uint32_t kbits; /* rate at the last note */
};
/* Called every 100 ms; the rate covers the last 300 ms. A counter that decreases has been reset. */
#define SHARES_EVERY_MS 100
uint32_t share_meter_note(struct share_meter *m, uint64_t bytes, mono_t now);

/* Rate limit requested by another node, valid until the end. */
struct share_request {
	uint32_t kbits; /* 0: no limit */
	mono_t until;
};
/* Enters a request. Returns true if the limit changed. */
bool share_receive(struct share_request *s, uint32_t kbits, mono_t until);
/* Returns true if the limit has just expired. */
bool share_expire(struct share_request *s, mono_t now);
