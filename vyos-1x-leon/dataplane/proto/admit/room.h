// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Who gets a place in the node table when it is full. Decides and changes nothing; control thread.
 */
#pragma once

#include "proto/core.h"

/* What somebody needs in the node table. */
struct room {
	bool place;   /* of a member */
	bool slot;    /* it has none yet */
	node_id_t by; /* who brought its record; NODE_ID_NONE: it comes in session itself */
};
bool room_lacks(const struct overlay *o, const struct room *r);
/* Who has to go next for it; NULL: all that are there are worth more. */
struct node *room_victim(const struct overlay *o, const struct room *r);
