// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Diagnosis of a configured peer that is not reached. Control thread.
 */
#pragma once

#include "proto/core.h"

/* Records evidence from this address and returns true if it belongs to a configured peer. */
bool diagnosis_note(struct overlay *o, const struct endpoint *from, enum seed_diagnosis what);
/* The HELLO of this node opens, and its ephemeral key is of another curve. */
void diagnosis_other_curve(struct overlay *o, const struct endpoint *from, node_id_t source);
void diagnosis_requested(struct overlay *o, struct seed *s, unsigned index);
/* Returns the diagnosis that is still valid. */
struct diagnosis diagnosis_now(const struct overlay *o, const struct diagnosis *f);
/* A HELLO from this address did not open. */
void diagnosis_not_opened(struct overlay *o, const struct endpoint *from, const struct leon_hdr *h);
