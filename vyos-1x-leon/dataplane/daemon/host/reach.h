// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Which configured peers are reached, and why others are not. Control thread.
 */
#pragma once

#include "daemon/leond.h"

struct reach {
	const struct conf_peer *peer;
	struct overlay_seed seed;
	const char *state; /* "reached", "trying", "unresolved", "self", "disabled" */
	mono_t since;
	enum seed_finding best; /* what is known of that of its addresses of which most is known */
	int error;
};
void reach_look(struct leond *d, uint32_t i, struct reach *out);
const char *reach_finding_name(enum seed_finding f);
const char *reach_finding_text(enum seed_finding f, int error);
/* A sentence; NULL where it is reached or not asked for. */
const char *reach_reason(const struct leond *d, uint32_t i, const struct reach *r, char *buf,
			 size_t len);
void reach_run(struct leond *d, mono_t now); /* once a second */
