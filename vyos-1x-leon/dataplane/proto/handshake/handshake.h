// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * The handshake (protocol 3.2 to 3.4): HELLOs, keys of sessions and data, signatures, configured
 * peers. session/ receives HELLOs and starts sessions. A "peer" is any node with which this node
 * exchanges messages. Control thread.
 */
#pragma once

#include "proto/core.h"

/* --- handshake.c: the session value on offer to a peer --- */

/* Returns the value; creates a new value if there is none or the value is old. */
struct handshake *handshake_of(struct overlay *o, struct peer *p);
/* The value answers this request of the peer from now on. */
void handshake_answers(struct overlay *o, struct handshake *f, const struct rx_hello *h);
/* The value was sent to this address. */
void handshake_sent(struct handshake *f, const struct via *v);
/* Returns true if a peer that shows the value from this address must receive there. */
bool handshake_returned(const struct handshake *f, const struct endpoint *direct);
void handshake_cancel(struct handshake *f); /* wipes */
/* Withdraws the values that were not paired in time. Pending peers end earlier. */
void handshake_expire(struct overlay *o, mono_t now);

/* --- initiator.c: transmission of HELLOs --- */

struct initiation {
	uint64_t mine, yours;
	const uint8_t *public; /* public key of `mine`; NULL: already paired */
	const struct endpoint *observed;
	uint32_t secret; /* name of the sealing secret; 0: our own */
};

bool initiator_send(struct overlay *o, const struct via *v, const struct initiation *g);
/* Sends a HELLO with the value on offer to the peer. */
void initiator_handshake(struct overlay *o, const struct via *v, struct handshake *f,
			 const struct initiation *g);
/* Sends a HELLO to an address with an unknown node; returns false if it cannot be sent. */
bool initiator_address(struct overlay *o, const struct endpoint *ep, uint64_t value,
		       const struct ephemeral *key);
void initiator_tick(struct overlay *o, struct peer *p, mono_t now);
/* Requests new keys from the peer; tries: number of earlier requests. */
void initiator_rekey(struct overlay *o, struct peer *p, uint32_t tries);
/* Repeats the HELLO of a session that has no message of the peer yet. */
void initiator_confirm(struct overlay *o, struct peer *p);
/* Reports to the peer the endpoint that this node sees. Returns false if the rate limit delays the
 * report. */
bool initiator_observed(struct overlay *o, struct peer *p);

/* --- limit.c: rate limits for opening and answering HELLOs --- */

bool limit_may_open(struct overlay *o, const struct endpoint *from);
/* Returns true if the answer budget of this address is exhausted. */
bool limit_may_answer(struct overlay *o, const struct endpoint *from);

/* --- rekey.c: new keys for sessions in use, by age and volume, and the end of old sessions --- */

void rekey_established(struct overlay *o, struct peer *p);
/* The first message arrived in the current session: the peer has it too. */
void rekey_confirmed(struct overlay *o, struct peer *p);
/* Sends a PING in the current session; the answer shows that the peer has this session too. */
void rekey_speak_up(struct overlay *o, struct peer *p);
/* A message arrived in the previous session. */
void rekey_prev_used(struct overlay *o, struct peer *p);
/* Ends the session with a peer. */
void rekey_expire(struct overlay *o, struct peer *p);
void rekey_periodic(struct overlay *o, mono_t now);
/* Enters the names of the peer's current secrets. */
void rekey_secrets(struct overlay *o, struct peer *p, const struct msg_secrets *m);
/* The configured secrets or data ciphers may have changed. */
void rekey_configure(struct overlay *o, const struct conf *old);
struct keyring *rekey_keyring(const struct overlay *o);
uint8_t rekey_offer(const struct conf *c); /* seal_offer() */

/* --- data.c: keys of data to and from a peer across a session change --- */

/* p->cur is new. renewed: the peer was alive and has the same incarnation. */
void data_established(struct overlay *o, struct peer *p, bool renewed);
/* A message arrived in p->cur. */
void data_confirmed(struct overlay *o, struct peer *p);
/* p->cur is the previous session again. */
void data_went_back(struct overlay *o, struct peer *p);
void data_tick(struct overlay *o, struct peer *p, mono_t now);
void data_end(struct overlay *o, struct peer *p); /* the peer has no session any more */
void data_free(struct peer *p);

/* --- seed.c: configured peers, tried for ever. proto/ calls a configured peer "seed" --- */

void seed_configure(struct overlay *o, const struct conf *old);
void seed_start(struct overlay *o);
void seed_free(struct overlay *o);
/* Withdraws all offered values. */
void seed_withdraw(struct overlay *o);
/* Returns the seed and endpoint to which a value was offered; NULL: none. */
struct seed *seed_of_value(struct overlay *o, uint64_t value, unsigned *index);
struct seed *seed_of_address(struct overlay *o, const struct ip_addr *ip);
/* Returns true for addresses of the host and the mapped address. */
bool seed_is_own(const struct overlay *o, const struct endpoint *ep);

/* --- diagnosis.c: the reason why a configured peer is not reached --- */

/* Records evidence from this address and returns true if it belongs to a configured peer. */
bool diagnosis_note(struct overlay *o, const struct endpoint *from, enum seed_diagnosis what);
/* The HELLO of this node opens, and its ephemeral key is of another curve. */
void diagnosis_other_curve(struct overlay *o, const struct endpoint *from, node_id_t source);
void diagnosis_requested(struct overlay *o, struct seed *s, unsigned index);
/* Returns the diagnosis that is still valid. */
struct diagnosis diagnosis_now(const struct overlay *o, const struct diagnosis *f);
/* A HELLO from this address did not open. */
void diagnosis_not_opened(struct overlay *o, const struct endpoint *from, const struct leon_hdr *h);

/* --- sign.c: signing and verification of messages --- */

void sign_hello(const struct overlay *o, struct msg_hello *h, node_id_t to);
void sign_conflict(const struct overlay *o, struct msg_conflict *c, node_id_t to);
void sign_own(struct overlay *o); /* called after each change of the own record */
/* Verifies with the key that the message names; does not check whether that key is permitted. */
bool sign_holds_hello(const struct overlay *o, node_id_t from, const struct rx_hello *h);
bool sign_holds_conflict(const struct overlay *o, const struct msg_conflict *c, node_id_t from,
			 node_id_t to);
bool sign_holds_record(const struct overlay *o, const struct msg_record *r);
