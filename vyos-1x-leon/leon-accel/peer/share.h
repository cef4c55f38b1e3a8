// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * The share of a node in the table of tracked connections, and the choice of a connection to remove
 * from a full share. Owned by a peer, called by conns.c. Single-threaded.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

struct conn;

/* A connection is unanswered until both hosts have sent a segment with ACK. The list has the
 * unanswered connections in order of insertion. */
struct node_share {
	unsigned n;	     /* Number of tracked connections of the node. */
	int64_t held;	     /* Bytes of held frames of the connections of the node. */
	struct conn *oldest; /* The first element of the list. */
};

/* A connection is an element of the list of one share. */
struct share_link {
	struct conn *older, *newer;
	bool is_listed;
	bool near_acked, far_acked; /* The host has sent a segment with ACK. */
};

/*
 * Choudhury and Hahne's dynamic threshold (1998): a node has at most as many connections as places
 * are free. One node has half of the table at most, so another node always finds a place.
 */
bool share_is_used(const struct node_share *s, unsigned all, unsigned maximum);

/* The same threshold for bytes of held frames. Returns false if the node holds too many. */
bool share_hold(struct node_share *s, int64_t bytes, int64_t all, int64_t maximum);

/* Counts the connection for the node. */
void share_add(struct node_share *s, struct conn *c);
/* Ends share_add(). */
void share_remove(struct node_share *s, struct conn *c);
/* Notes the TCP flags of a segment. An answered connection leaves the list. */
void share_note(struct node_share *s, struct conn *c, bool from_near, uint8_t flags);
/* The oldest unanswered plain connection, or NULL. */
struct conn *share_oldest(struct node_share *s);
