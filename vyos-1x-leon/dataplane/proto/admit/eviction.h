// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Eviction from a full node table. Changes nothing; control thread.
 */
#pragma once

#include "proto/core.h"

/* Requirement of a new node in the node table. */
struct eviction {
	bool place; /* needs the place of a member */
	bool slot;  /* needs a slot */
	/* supplier of the record; NODE_ID_NONE: the node is in session */
	node_id_t by;
};
bool eviction_is_needed(const struct overlay *o, const struct eviction *r);
/* Returns the next node to evict; NULL: all present nodes have precedence. */
struct node *eviction_victim(const struct overlay *o, const struct eviction *r);
