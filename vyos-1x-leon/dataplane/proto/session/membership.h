// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Sessions and membership: received HELLOs, the own record and those of others, endpoints of peers.
 * Control thread. Protocol 3 and 5.
 */
#pragma once

#include "proto/core.h"

/* --- hello.c: the receiving half of the handshake, and the start of a session --- */

void hello_input(struct overlay *o, const struct endpoint *from, uint8_t *data, size_t len,
		 const struct leon_hdr *h, size_t hdr_len);
/* A datagram names the value on offer: opens it with the offered session and starts that
 * session. */
int hello_open_offered(struct overlay *o, struct peer *p, const struct endpoint *direct,
		       uint8_t *data, size_t hdr_len, size_t len, uint8_t **msg, size_t *msg_len);

/* --- identity.c: the identity key that a node-id is pinned to --- */

/* Returns true if the signature is from a key that this node may have. */
bool identity_of_hello(struct overlay *o, const struct peer *p, const struct rx_hello *h);
bool identity_of_record(struct overlay *o, struct peer *from, const struct msg_record *r);
/* Pins the node-id to this key. verified: in a session with this node, which is about to start. */
void identity_pin(struct overlay *o, struct node *n, const uint8_t key[MSG_KEY_LEN], bool verified);

/* --- duplicate.c: detection and notification of a duplicate node-id --- */

/* A HELLO with the node-id of a peer in session, from another node or a replay: requests a proof of
 * presence. */
void duplicate_attempt(struct overlay *o, struct peer *p, const struct rx_hello *h);
/* The other node has echoed our value: notifies both. */
void duplicate_proved(struct overlay *o, struct peer *p, const struct rx_hello *h);
/* A HELLO with our own node-id. */
void duplicate_own_hello(struct overlay *o, const struct rx_hello *h);
/* A CONFLICT outside a session, and one in the session with a peer. */
void duplicate_refused(struct overlay *o, node_id_t source, const struct msg_conflict *c,
		       const struct rx_hello *h);
void duplicate_conflict(struct overlay *o, const struct peer *p, const struct msg_conflict *c);
/* Newer versions of our own record arrive repeatedly. */
void duplicate_suspected(struct overlay *o);

/* --- move.c: endpoint mobility of a peer --- */

/* A session started with this HELLO. */
void move_session_up(struct overlay *o, struct peer *p, const struct rx_hello *h);
/* An authentic message that is no replay arrived directly from this address. Follows the peer
 * there, unless the message is older than the current endpoint. */
void move_received(struct overlay *o, struct peer *p, const struct endpoint *from,
		   uint64_t counter);
/* Returns true if the PONG with this id answers a PING sent only to the claimed address, which
 * proves the address. */
bool move_proved(struct overlay *o, struct peer *p, uint32_t id);
/* Further endpoint of the peer from which data counts: of its other transport, verified before, or
 * claimed just now. Data therefore arrives while the two ends change the transport. */
struct endpoint move_backup(const struct peer *p);
/* Repeats PINGs to claimed addresses without an answer. */
void move_periodic(struct overlay *o);

/* --- member.c: records of others and their consequences; leave and forgetting --- */

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

/* --- own.c: the own record --- */

void own_start(struct overlay *o);
/* Rebuilds the record from configuration and addresses; announces it after a change or with
 * `force`. Does nothing before the start and after leaving. */
void own_refresh(struct overlay *o, bool force);
void own_periodic(struct overlay *o, mono_t now);
/* Sends the record to one peer, repeatedly until the digest of the peer confirms the record. */
void own_send(struct overlay *o, struct peer *p);
void own_tick(struct overlay *o, struct peer *p, mono_t now);
/* Sends a leave to all nodes in session; each call repeats it. */
void own_leave(struct overlay *o);
/* Another node has {incarnation, seq} as the own record of this node. */
void own_seen(struct overlay *o, uint64_t incarnation, uint32_t seq);

/* --- lan.c: LAN changes of other nodes; hosts must be relearned --- */

/* Enters a LAN change of the peer's node in these segment classes (struct record_lan). Requires
 * schedule_arm() afterwards. */
void lan_classes_changed(struct overlay *o, struct peer *p, uint64_t classes);
void lan_tick(struct overlay *o, struct peer *p, mono_t now);

/* --- expel.c: removal of nodes whose identity a reload has taken off the list --- */

/* The list may have changed. */
void expel_untrusted(struct overlay *o);

/* --- redeem.c: answers to machines that redeem an invitation (protocol 8.2) --- */

void redeem_input(struct overlay *o, const struct endpoint *from, const uint8_t *data, size_t len,
		  const struct leon_hdr *h);
