// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * New keys for sessions in use: by age, by volume, and after changes of the secrets. hello.c
 * executes the handshake. This module requests it, limits how long the previous keys are accepted,
 * and ends sessions without agreement on new keys. Control thread. Protocol 3.3.
 */
#include "proto/handshake/handshake.h"

#include <assert.h>
#include <string.h>

#include "base/mem.h"
#include "crypto/public_key.h"
#include "proto/measure/measure.h"
#include "proto/view.h"

#define GRACE_MS	 5000  /* grace time for datagrams of the previous session in flight */
#define SETTLE_MS	 3000  /* time after which the peer must use the new session */
#define SECRETS_MS	 10000 /* rekeying period after a change of secrets */
#define NOTIFY_AGAIN_MS	 10000 /* repetition interval towards a peer without a common secret */
#define EXPIRY_MARGIN_MS 120000
#define CONFIRM_MS	 250

void rekey_established(struct overlay *o, struct peer *p)
{
	int64_t ms = o->conf->rekey_ms;

	p->rekey.no_common_secret = false;
	p->rekey.ends = MONO_NEVER;
	p->rekey.tries = 0;
	p->rekey.at = overlay_in(o, ms * 3 / 4, ms);
	p->rekey.expires = mono_add_ms(overlay_now(o), 2 * ms + EXPIRY_MARGIN_MS);
	p->rekey.prev_received = p->rekey.prev_until = MONO_NEVER;
}

void rekey_confirmed(struct overlay *o, struct peer *p)
{
	p->cur_received = true;
	p->prev_sends = false;
	data_confirmed(o, p);
	p->rekey.prev_until = mono_add_ms(overlay_now(o), GRACE_MS);
}

static void drop_prev(struct peer *p)
{
	session_free(p->prev);
	p->prev = NULL;
	p->prev_sends = false;
	p->rekey.prev_until = MONO_NEVER;
}

void rekey_expire(struct overlay *o, struct peer *p)
{
	drop_prev(p);
	session_free(p->cur);
	p->cur = NULL;
	data_end(o, p);
	schedule_hello(o, p, 1000);
}

void rekey_prev_used(struct overlay *o, struct peer *p)
{
	p->rekey.prev_received = overlay_now(o);
	if (!mono_is_never(p->rekey.prev_until))
		p->rekey.prev_until = mono_add_ms(p->rekey.prev_received, GRACE_MS);
}

/*
 * The peer continues in the previous session. It lacks the new one, or two sessions were opened at
 * once and each end adopted a different one. The lower node-id returns to the previous session
 * soon, so that both do not swap sessions for ever. The other node returns only if the first case
 * is certain.
 */
static bool should_go_back(const struct overlay *o, const struct peer *p)
{
	int64_t settle_ms = o->self < p->id ? SETTLE_MS : PENDING_MS;

	return p->prev && !mono_is_never(p->rekey.prev_received) &&
	       mono_sub_ms(p->rekey.prev_received, p->established) > settle_ms;
}

/* Both sessions stay valid for reception, and new keys are requested, which resolve the
 * conflict. */
static void go_back(struct overlay *o, struct peer *p, mono_t now)
{
	struct session *given_up = p->cur;

	p->cur = p->prev;
	p->prev = given_up;
	p->cur_received = true;
	p->prev_sends = false;
	p->established = now;
	p->rekey.prev_received = MONO_NEVER;
	p->rekey.prev_until = mono_add_ms(now, GRACE_MS);
	p->rekey.at = overlay_in(o, 0, CONFIRM_MS);
	data_went_back(o, p);
}

static bool is_due(const struct overlay *o, const struct peer *p, mono_t now)
{
	return !mono_before(now, p->rekey.at) || session_sent(p->cur) >= o->rekey_after;
}

static void notify_secrets(struct overlay *o, struct peer *p)
{
	struct msg m = { .type = MSG_SECRETS };

	keyring_ids(o->keys, m.secrets.name);
	p->rekey.sent_at = overlay_now(o);
	peer_send(o, p, &m);
}

void rekey_speak_up(struct overlay *o, struct peer *p)
{
	bool prev_sends = p->prev_sends;
	struct via v;

	p->prev_sends = false;
	if (via_best(o, p, &v))
		link_ping(o, p, &v, rtt_new_id(), 0);
	p->prev_sends = prev_sends;
}

/* The HELLO that completes the handshake, or the answer to the PING, may have been lost. */
static void confirm_soon(struct overlay *o, struct peer *p, mono_t now)
{
	if (p->cur_received || mono_sub_ms(now, p->established) <= CONFIRM_MS)
		return;
	initiator_confirm(o, p);
	rekey_speak_up(o, p);
}

void rekey_periodic(struct overlay *o, mono_t now)
{
	for (struct peer *p = NULL; (p = peer_next(o, p));) {
		if (!p->cur)
			continue;
		if (p->prev && !mono_is_never(p->rekey.prev_until) &&
		    !mono_before(now, p->rekey.prev_until))
			drop_prev(p);
		if (should_go_back(o, p))
			go_back(o, p, now);
		if (!keyring_sealed(o->keys)) {
			if (peer_is_alive(o, p))
				confirm_soon(o, p, now);
			continue;
		}
		if (p->rekey.no_common_secret &&
		    mono_sub_ms(now, p->rekey.sent_at) > NOTIFY_AGAIN_MS)
			notify_secrets(o, p);
		if (!mono_before(now, p->rekey.expires))
			rekey_expire(o, p); /* no agreement on new keys */
		else if (!p->cur_received)
			confirm_soon(o, p, now);
		else if (is_due(o, p, now) && peer_is_alive(o, p))
			initiator_rekey(o, p, p->rekey.tries++);
	}
}

/* --- secrets --- */

/* Returns true if new keys can be agreed on, by the names of the peer's secrets that it sent
 * last. */
static bool has_one_of_ours(const struct overlay *o, const struct peer *p)
{
	uint32_t ours[SECRETS_MAX];

	keyring_ids(o->keys, ours);
	for (unsigned i = 0; i < SECRETS_MAX; i++)
		for (unsigned k = 0; k < SECRETS_MAX; k++)
			if (ours[i] && ours[i] == p->secrets[k])
				return true;
	return false;
}

/* Returns true after a change. */
static bool note_no_common_secret(struct overlay *o, struct peer *p)
{
	bool was = p->rekey.no_common_secret;

	p->rekey.no_common_secret = keyring_sealed(o->keys) && !has_one_of_ours(o, p);
	if (!p->rekey.no_common_secret)
		p->rekey.ends = MONO_NEVER;
	else if (!was)
		p->rekey.ends = mono_earlier(p->rekey.expires,
					     mono_add_ms(overlay_now(o), SESSION_REVOKED_MS));
	return p->rekey.no_common_secret && !was;
}

void rekey_secrets(struct overlay *o, struct peer *p, const struct msg_secrets *m)
{
	static_assert(SECRETS_MAX == MSG_SECRETS_MAX, "names of secrets");
	memcpy(p->secrets, m->name, sizeof(p->secrets));
	if (note_no_common_secret(o, p) &&
	    bucket_pass(&o->differs_event, overlay_now(o), 6 * NS_PER_S, 60 * NS_PER_S))
		overlay_emit(o, EV_SECRET_NOT_COMMON, p->id, NODE_ID_NONE,
			     SESSION_REVOKED_MS / 1000, NULL);
}

static void master_key(const struct overlay *o, const char *secret, uint8_t out[MASTER_KEY_LEN])
{
	if (o->ops.master_key)
		o->ops.master_key(o->arg, o->conf->derivation, secret, o->conf->vni, out);
	else
		stretch_secret(o->conf->derivation, secret, o->conf->vni, out);
}

uint8_t rekey_offer(const struct conf *c)
{
	enum seal_choice cipher = c->cipher;

	/* With FIPS providers, `auto` is the permitted cipher. */
	if (cipher == SEAL_CHOICE_AUTO && !primitive_is_permitted(PRIMITIVE_CHACHA20_POLY1305))
		cipher = SEAL_CHOICE_AES_256_GCM;
	return seal_offer(cipher, c->curve, c->encryption_disable, aead_aes_is_fast());
}

struct keyring *rekey_keyring(const struct overlay *o)
{
	const struct conf *c = o->conf;
	uint8_t master[MASTER_KEY_LEN];
	struct keyring *k;

	if (c->secret)
		master_key(o, c->secret, master);
	k = keyring_new(c->secret ? master : NULL, c->vni);
	keyring_set_offer(k, rekey_offer(c));
	for (unsigned i = 0; i < c->n_accept; i++) {
		master_key(o, c->accept[i], master);
		keyring_accept(k, master);
	}
	x_wipe(master, sizeof(master));
	return k;
}

/* Returns true if an old secret is missing among the new ones. */
static bool is_one_gone(const uint32_t old[SECRETS_MAX], const uint32_t new[SECRETS_MAX])
{
	for (unsigned i = 0; i < SECRETS_MAX; i++) {
		unsigned k = 0;

		while (k < SECRETS_MAX && new[k] != old[i])
			k++;
		if (old[i] && k == SECRETS_MAX)
			return true;
	}
	return false;
}

/* Offered values contain the previous offer, and some have a session by a withdrawn secret. They
 * must not be paired any more. */
static void cancel_handshakes(struct overlay *o)
{
	for (struct peer *p = NULL; (p = peer_next(o, p));)
		handshake_cancel(&p->handshake);
	for (unsigned i = 0; i < o->n_pending; i++)
		handshake_cancel(&o->pending[i]->handshake);
	seed_withdraw(o);
}

void rekey_configure(struct overlay *o, const struct conf *old)
{
	uint8_t offer = rekey_offer(o->conf);
	bool other_library = o->conf->cipher_library != old->cipher_library;
	bool other_data = other_library || offer != keyring_offer(o->keys);
	uint32_t had[SECRETS_MAX], has[SECRETS_MAX];
	struct keyring *k = rekey_keyring(o);
	mono_t now = overlay_now(o), end = mono_add_ms(now, SESSION_REVOKED_MS);
	bool gone;

	keyring_ids(o->keys, had);
	keyring_ids(k, has);
	if (memcmp(had, has, sizeof(had)) == 0) {
		keyring_free(k);
		k = NULL;
	} else {
		keyring_copy_data(k, o->keys);
		keyring_free(o->keys);
		o->keys = k;
	}
	gone = is_one_gone(had, has);
	if (other_data)
		keyring_set_offer(o->keys, offer);
	if (other_data || gone)
		cancel_handshakes(o);
	if (!k && !other_data && old->rekey_ms == o->conf->rekey_ms)
		return;
	for (struct peer *p = NULL; (p = peer_next(o, p));) {
		int64_t ms = k || other_data ? SECRETS_MS : o->conf->rekey_ms;

		if (!p->cur)
			continue;
		p->rekey.at = mono_earlier(p->rekey.at, overlay_in(o, 0, ms));
		if (gone)
			p->rekey.expires = mono_earlier(p->rekey.expires, end);
		if (k) {
			/* Sent at once in the existing session. The daemon reports the peers
			 * without a common secret in one event. */
			note_no_common_secret(o, p);
			notify_secrets(o, p);
		}
	}
}
