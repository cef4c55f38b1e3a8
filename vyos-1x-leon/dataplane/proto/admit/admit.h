// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Admission of nodes and addresses: claims of node-ids, room in the node table, trusted identities,
 * limits for addresses of records. Control thread. Protocol 3.4, 3.6; doc/decisions/018.
 */
#pragma once

#include "proto/core.h"

/* --- claim.c: ownership of a node-id; changes nothing --- */

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

/* --- endpoint.c: rate limits for addresses known only from records --- */

void endpoint_init(struct overlay *o);
/* Returns true if a datagram may be sent to an address of the node's record. */
bool endpoint_may_send(struct overlay *o, const struct node *n, const struct endpoint *to);

/* --- eviction.c: eviction from a full node table; changes nothing --- */

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

/* --- trust.c: the trusted identities and the recently refused identities --- */

void trust_init(struct overlay *o);
/* Returns true if the identity is trusted; otherwise counts and reports the refusal. */
bool trust_passes(struct overlay *o, node_id_t id, const uint8_t key[MSG_KEY_LEN]);
/* Reports a refused identity. */
void trust_notify(struct overlay *o, node_id_t id, const uint8_t key[MSG_KEY_LEN]);
/* The list may have changed: forgets the refused identities. */
void trust_forget(struct overlay *o);
