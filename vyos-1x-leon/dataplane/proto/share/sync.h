// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Anti-entropy: comparison of records and fetching of missing ones. Control thread. Protocol 4.3,
 * 4.4, 4.8.
 */
#pragma once

#include "proto/core.h"

void sync_start(struct overlay *o);
void sync_periodic(struct overlay *o, mono_t now);
void sync_request(struct overlay *o, struct peer *p);
void sync_digest(struct overlay *o, struct peer *p, uint64_t digest);
void sync_summary_request(struct overlay *o, struct peer *p);
void sync_summary(struct overlay *o, struct peer *p, const struct msg_summary *m);
/* Returns true if the record of this node is forwarded to others. */
bool sync_is_listed(const struct node *n);
/* Fetches one origin: from the node itself if it is in session, else from `hint`. */
void sync_want(struct overlay *o, struct peer *origin, struct peer *hint);
/* Requests summaries from all peers again, because refused entries may be acceptable now. */
void sync_again(struct overlay *o);
