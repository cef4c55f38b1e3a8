// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Ownership of a node-id: whether the holder of its key is still alive, and which of two claims
 * counts. Changes nothing. Control thread.
 */
#pragma once

#include "proto/core.h"

/* Returns true if the holder of the node-id's key is alive, so that no other key may take the
 * node-id. */
bool claim_is_held(const struct overlay *o, const struct node *n);
/* Name of a record in a SUMMARY. */
struct msg_summary_entry claim_of(const struct msg_record *r);
/* Returns true if the named record with another key may replace the record of this node. */
bool claim_may_replace(const struct overlay *o, const struct node *n,
		       const struct msg_summary_entry *e);
/* Returns true if the named record would be accepted for this node (NULL: unknown). */
bool claim_would_conflict(const struct overlay *o, const struct node *n,
			  const struct msg_summary_entry *e);
