// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Distribution of records, latency rows and multicast groups. Control thread. Protocol 4.3 to 4.8,
 * 4.12, 5.3.
 */
#pragma once

#include "proto/core.h"

/* --- sync.c: anti-entropy: comparison of records and fetching of missing ones --- */

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

/* --- serve.c: answers to fetches, queued and paced --- */

void answer_init(struct overlay *o);
void answer_fetch(struct overlay *o, struct peer *p, const struct msg_fetch *m);
void answer_free(struct overlay *o);

/* --- rows.c: the own latency row to all, those of others into the database --- */

void rows_session_up(struct overlay *o, struct peer *p);
void rows_announce(void *arg, mono_t now);
/* Sends the complete own row to one peer. */
void rows_send_whole(struct overlay *o, struct peer *p);
void rows_take(struct overlay *o, struct peer *p, const struct msg_row *m);
/* Enters the sequence of the peer's own row from a PING or PONG. */
void rows_row_seq(struct overlay *o, struct peer *p, uint32_t row_seq);
/* Sequence of the own row to state to the peer; 0 while its first row is not sent. */
uint32_t rows_seq_for(const struct overlay *o, const struct peer *p);

/* --- multicast.c: multicast groups, the own ones and those of others --- */

void multicast_init(struct overlay *o);
void multicast_free(struct overlay *o);
/* The configuration has changed from `old`. */
void multicast_configure(struct overlay *o, const struct conf *old);
void multicast_take(struct overlay *o, struct peer *p, const struct msg_groups *m);
void multicast_acked(struct overlay *o, struct peer *p, const struct msg_groups_ack *m);
/* Sends the announcement to the peer if it accepts and lacks it, at a random time within
 * `within_ms`. */
void multicast_offer(struct overlay *o, struct peer *p, int64_t within_ms);
/* New keys: the peer may have lost the announcement. */
void multicast_session_up(struct overlay *o, struct peer *p);
/* The announcement of the peer is void: it receives all groups. */
void multicast_forget(struct overlay *o, struct peer *p);
void multicast_tick(struct overlay *o, struct peer *p, mono_t now);
void multicast_peer_free(struct peer *p);
