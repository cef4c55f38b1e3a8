// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Reachability of configured peers, with the reason. Control thread.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "base/mono.h"
#include "proto/overlay_seeds.h"

struct leond;

struct reach {
	const struct conf_peer *peer;
	struct overlay_seed seed;
	const char *state; /* "reached", "trying", "unresolved", "self", "disabled" */
	mono_t since;
	mono_t resolved_at;	   /* last answer with addresses */
	const char *resolve_error; /* of the last answer; empty: none */
	enum seed_diagnosis best;  /* most specific diagnosis of its addresses */
	int error;
};
void reach_look(struct leond *d, uint32_t i, struct reach *out);
const char *reach_diagnosis_name(enum seed_diagnosis f);
#define REACH_TEXT_LEN 160
const char *reach_diagnosis_text(enum seed_diagnosis f, int error, char buf[REACH_TEXT_LEN]);
/* Returns a sentence; NULL if the peer is reached or disabled. */
const char *reach_reason(const struct reach *r, char buf[REACH_TEXT_LEN]);
/* Returns true if the peer has another wire version or another curve, and the sentence. */
bool reach_is_impossible(struct leond *d, uint32_t i, char buf[REACH_TEXT_LEN]);
void reach_run(struct leond *d, mono_t now); /* called once a second */
