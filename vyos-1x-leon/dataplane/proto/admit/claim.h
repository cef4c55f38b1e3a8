// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Who may have a node-id: whether the key that has it here is still about, and which of two claims
 * counts. Decides and changes nothing. Control thread.
 */
#pragma once

#include "proto/core.h"

/* Is the holder of the key that the node-id has here still about, so that nobody else may have
 * it? */
bool claim_is_held(const struct overlay *o, const struct node *n);
/* How a SUMMARY names a record. */
struct msg_summary_entry claim_of(const struct msg_record *r);
/* May the record named so, under another key, come in the place of this node's? */
bool claim_may_replace(const struct overlay *o, const struct node *n,
		       const struct msg_summary_entry *e);
/* Would the record named so be taken over for this node (NULL: unknown)? */
bool claim_would_be_taken(const struct overlay *o, const struct node *n,
			  const struct msg_summary_entry *e);
