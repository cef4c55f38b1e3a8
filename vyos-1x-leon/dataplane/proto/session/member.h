// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Membership: records of others and their consequences, room for them, leave and forgetting.
 * Control thread. Protocol 5.1, 5.2.
 */
#pragma once

#include "proto/core.h"

void member_session_up(struct overlay *o, struct peer *p);
void member_record(struct overlay *o, struct peer *p, const struct msg_record *r);
/* Assigns a node to a pending peer; returns false if the node table is full. */
bool member_bind(struct overlay *o, struct peer *p);
/* Drops all state of a node that is, or becomes, a tombstone. Adds it to `gone` if hosts may have
 * been learned behind it; member_purge() follows before its slot is free. */
void member_clear(struct overlay *o, struct node *n, struct slot_set *gone);
void member_purge(struct overlay *o, const struct slot_set *gone);
void member_periodic(struct overlay *o, mono_t now);
/* Fetches the records of nodes in session that are no members. */
void member_fetch_missing(struct overlay *o);
