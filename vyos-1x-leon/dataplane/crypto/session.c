// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Sessions between two nodes: key derivation, sealing and opening of control messages, replay
 * windows. See keys.h. Called by proto/ on the control thread. doc/protocol.md section 3.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/defs.h"
#include "base/mem.h"
#include "crypto/keys_core.h"
#include "crypto/public_key.h"
#include "wire/bytes.h"

#define LABEL_SESSION	"session"
#define LABEL_DIRECTION "direction"
#define LABEL_DATA	"data"
#define LABEL_LINK	"link"
#define WORD_BITS	64

struct session {
	uint64_t mine, theirs;
	uint64_t sent; /* counter of the last sealed message */
	struct replay replay;
	struct aead *tx, *rx; /* NULL in the clear mode */
	struct seal *data;    /* NULL in the clear mode and without workers */
};

/* --- replay window --- */

/* The bit of a counter is its value modulo the window. Bits outside the window are clear. */
static uint64_t replay_bit(uint64_t counter)
{
	return 1ULL << (counter % WORD_BITS);
}

static size_t replay_word(uint64_t counter)
{
	return counter / WORD_BITS % (REPLAY_WINDOW / WORD_BITS);
}

bool replay_check(const struct replay *r, uint64_t counter)
{
	if (counter > r->highest)
		return true;
	if (counter == 0 || r->highest - counter >= REPLAY_WINDOW)
		return false;
	return !(r->seen[replay_word(counter)] & replay_bit(counter));
}

void replay_note(struct replay *r, uint64_t counter)
{
	if (!replay_check(r, counter))
		return;
	if (counter > r->highest) {
		uint64_t steps = min_of(counter - r->highest, (uint64_t)REPLAY_WINDOW);

		for (uint64_t c = counter - steps + 1; steps--; c++)
			r->seen[replay_word(c)] &= ~replay_bit(c);
		r->highest = counter;
	}
	r->seen[replay_word(counter)] |= replay_bit(counter);
}

/* --- keys --- */

void ephemeral_new(struct ephemeral *e, enum dh_curve curve)
{
	dh_generate(curve, e->secret, e->public);
}

void ephemeral_wipe(struct ephemeral *e)
{
	x_wipe(e, sizeof(*e));
}

/* Concatenates the keys of all common secrets in the order of their names; returns the length. */
static size_t common_secrets(const struct keyring *k, const uint32_t their_ids[SECRETS_MAX],
			     uint8_t *out)
{
	uint32_t before = 0;
	size_t len = 0;

	for (unsigned round = 0; round < SECRETS_MAX; round++) {
		const struct secret_keys *next = NULL;

		for (unsigned i = 0; i < SECRETS_MAX; i++) {
			const struct secret_keys *s = keyring_secret(k, their_ids[i]);

			if (s && s->id > before && (!next || s->id < next->id))
				next = s;
		}
		if (!next)
			break;
		memcpy(out + len, next->session, sizeof(next->session));
		len += sizeof(next->session);
		before = next->id;
	}
	return len;
}

/*
 * Derives the root key of a session from the common secrets, the DH result and the transcript of
 * the handshake. The part of the node with the lower id comes first. Returns 0 or -EBADMSG.
 */
static int session_material(const struct keyring *k, const struct session_terms *t,
			    uint8_t out[AEAD_KEY_LEN])
{
	bool low = t->self < t->peer;
	uint8_t input[SECRETS_MAX * AEAD_KEY_LEN + DH_KEY_LEN], salt[16],
		info[LABEL_MAX + 2 * DH_KEY_LEN + 10];
	size_t len = label_info(info, LABEL_SESSION),
	       input_len = common_secrets(k, t->their_ids, input);

	if (!input_len ||
	    dh_shared(keyring_curve(k), t->ephemeral->secret, t->their_public, input + input_len)) {
		x_wipe(input, sizeof(input));
		return -EBADMSG;
	}
	put_u64(salt, low ? t->mine : t->theirs);
	put_u64(salt + 8, low ? t->theirs : t->mine);
	memcpy(info + len, low ? t->ephemeral->public : t->their_public, DH_KEY_LEN);
	memcpy(info + len + DH_KEY_LEN, low ? t->their_public : t->ephemeral->public, DH_KEY_LEN);
	len += 2 * DH_KEY_LEN;
	put_u32(info + len, low ? t->self : t->peer);
	put_u32(info + len + 4, low ? t->peer : t->self);
	info[len + 8] = low ? k->offer : t->their_offer;
	info[len + 9] = low ? t->their_offer : k->offer;
	kdf(input, input_len + DH_KEY_LEN, salt, sizeof(salt), info, len + 10, out, AEAD_KEY_LEN);
	x_wipe(input, sizeof(input));
	return 0;
}

/* Derives the key of one direction. */
static void derive_one_way(const uint8_t material[AEAD_KEY_LEN], const char *label, node_id_t from,
			   node_id_t to, void *out, size_t out_len)
{
	uint8_t info[LABEL_MAX + 8];
	size_t len = label_info(info, label);

	put_u32(info + len, from);
	put_u32(info + len + 4, to);
	kdf(material, AEAD_KEY_LEN, NULL, 0, info, len + 8, out, out_len);
}

static struct aead *direction_key(const uint8_t material[AEAD_KEY_LEN], node_id_t from,
				  node_id_t to)
{
	uint8_t key[AEAD_KEY_LEN];
	struct aead *a;

	derive_one_way(material, LABEL_DIRECTION, from, to, key, sizeof(key));
	a = aead_new(key);
	x_wipe(key, sizeof(key));
	return a;
}

static uint64_t derive_link(const uint8_t material[AEAD_KEY_LEN], node_id_t from, node_id_t to)
{
	uint8_t value[8];

	derive_one_way(material, LABEL_LINK, from, to, value, sizeof(value));
	return get_u64(value);
}

uint8_t session_epoch_mask(node_id_t self, node_id_t peer)
{
	return self < peer ? 0x5 : 0xa;
}

/* Each node chooses two of the four bits. */
static uint8_t epoch_of(const struct session_terms *t)
{
	uint8_t mask = session_epoch_mask(t->self, t->peer);

	return (uint8_t)((t->mine & mask) | (t->theirs & (0xf ^ mask)));
}

static struct seal *derive_data(const struct keyring *k, const uint8_t material[AEAD_KEY_LEN],
				const struct session_terms *t)
{
	struct seal_secrets s = { .tx_link = derive_link(material, t->self, t->peer),
				  .rx_link = derive_link(material, t->peer, t->self) };
	struct seal *data;

	derive_one_way(material, LABEL_DATA, t->self, t->peer, s.tx_key, sizeof(s.tx_key));
	derive_one_way(material, LABEL_DATA, t->peer, t->self, s.rx_key, sizeof(s.rx_key));
	data = seal_new(&s, seal_agree(k->offer, t->their_offer), epoch_of(t), k->n_workers);
	x_wipe(&s, sizeof(s));
	return data;
}

/* Returns false if libcrypto refuses the cipher that a peer requires, such as ChaCha20-Poly1305
 * with a FIPS provider. */
static bool is_cipher_permitted(const struct keyring *k, const struct session_terms *t)
{
	return k->n_workers == 0 ||
	       seal_agree(k->offer, t->their_offer) != SEAL_CHACHA20_POLY1305 ||
	       primitive_is_permitted(PRIMITIVE_CHACHA20_POLY1305);
}

struct session *session_new(const struct keyring *k, const struct session_terms *t)
{
	struct session *s;
	uint8_t material[AEAD_KEY_LEN];

	if (k->n && (keyring_curve(k) != seal_offer_curve(t->their_offer) ||
		     !is_cipher_permitted(k, t) || session_material(k, t, material)))
		return NULL;
	s = x_new(struct session);
	s->mine = t->mine;
	s->theirs = t->theirs;
	if (!k->n)
		return s;
	s->tx = direction_key(material, t->self, t->peer);
	s->rx = direction_key(material, t->peer, t->self);
	if (k->n_workers)
		s->data = derive_data(k, material, t);
	x_wipe(material, sizeof(material));
	return s;
}

void session_free(struct session *s)
{
	if (!s)
		return;
	aead_free(s->tx);
	aead_free(s->rx);
	seal_unref(s->data);
	x_wipe(s, sizeof(*s));
	free(s);
}

uint64_t session_mine(const struct session *s)
{
	return s->mine;
}

uint64_t session_theirs(const struct session *s)
{
	return s->theirs;
}

struct seal *session_data(const struct session *s)
{
	return s->data;
}

uint64_t session_sent(const struct session *s)
{
	return s->sent + (s->data ? seal_sent(s->data) : 0);
}

static void session_nonce(uint64_t counter, uint8_t nonce[AEAD_NONCE_LEN])
{
	memset(nonce, 0, 4);
	put_u64(nonce + 4, counter);
}

int session_seal(struct session *s, uint8_t *buf, size_t hdr_len, size_t msg_len, size_t buf_len)
{
	int len = envelope_sealed_len(hdr_len, ENVELOPE_LEN, msg_len, buf_len, s->tx != NULL);
	uint8_t nonce[AEAD_NONCE_LEN];
	int err;

	if (len < 0)
		return len;
	/* The counter advances before any failure, so no nonce is used twice. */
	s->sent++;
	put_u64(buf + hdr_len, s->theirs);
	put_u64(buf + hdr_len + 8, s->sent);
	if (!s->tx)
		return len;
	session_nonce(s->sent, nonce);
	err = envelope_seal(s->tx, nonce, buf, hdr_len, ENVELOPE_LEN, msg_len);
	return err ? err : len;
}

int session_open(struct session *s, uint8_t *buf, size_t hdr_len, size_t len, uint8_t **msg,
		 size_t *msg_len)
{
	bool sealed = s->rx != NULL;
	uint8_t nonce[AEAD_NONCE_LEN];
	uint64_t counter;

	if (!envelope_is_openable(buf, hdr_len, len, ENVELOPE_LEN, sealed) ||
	    get_u64(buf + hdr_len) != s->mine)
		return -EBADMSG;
	counter = get_u64(buf + hdr_len + 8);
	if (counter == 0)
		return -EBADMSG;
	if (!replay_check(&s->replay, counter))
		return -EALREADY;
	session_nonce(counter, nonce);
	if (sealed && envelope_open(s->rx, nonce, buf, hdr_len, ENVELOPE_LEN, len))
		return -EBADMSG;
	replay_note(&s->replay, counter);
	*msg = buf + hdr_len + ENVELOPE_LEN;
	*msg_len = len - hdr_len - ENVELOPE_LEN - (sealed ? AEAD_TAG_LEN : 0);
	return 0;
}
