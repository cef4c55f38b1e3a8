// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * The envelope of control messages: keys from the pre-shared secret, sessions, replay windows.
 * Called by proto/ on the control thread. Input that is not authentic costs at most one key
 * derivation and one AES-GCM pass, and changes no state. doc/protocol.md section 3.
 */
#include "crypto/keys.h"

#include <errno.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>

#include "base/defs.h"
#include "base/mem.h"
#include "wire/bytes.h"
#include "wire/leon.h"

#define KEYRING_SALT	"LEON 1"
#define LABEL_HELLO	"hello"
#define LABEL_SESSION	"session"
#define LABEL_GUARD	"guard"
#define LABEL_DIRECTION "direction"
#define LABEL_DATA	"data"
#define LABEL_LINK	"link"
#define LABEL_NAME	"name"
#define LABEL_MAX	16
#define SALT_LEN	16
#define WORD_BITS	64
#define HELLO_MAX	1280 /* longest HELLO datagram in bytes */

/* Keys derived from one secret. */
struct secret_keys {
	uint32_t id;
	uint8_t hello[AEAD_KEY_LEN], session[AEAD_KEY_LEN], guard[AEAD_KEY_LEN];
};

struct keyring {
	uint32_t vni;
	unsigned n;				/* 0: clear mode */
	struct secret_keys secret[SECRETS_MAX]; /* the own secret is first */
	uint8_t offer;				/* seal_offer() of this node */
	unsigned n_workers;			/* 0: no data channel */
};

struct session {
	uint64_t mine, theirs;
	uint64_t sent; /* counter of the last sealed message */
	struct replay replay;
	struct aead *tx, *rx; /* NULL in the clear mode */
	struct seal *data;    /* NULL in the clear mode and without workers */
};

/* HKDF info: the characters of the label, then the values in big-endian order. */
static size_t label_info(uint8_t *info, const char *label)
{
	size_t len = strlen(label);

	memcpy(info, label, len);
	return len;
}

static void derive(const uint8_t *master, const char *label, uint32_t vni, void *key, size_t len)
{
	uint8_t info[LABEL_MAX + 3];
	size_t n = label_info(info, label);

	put_u24(info + n, vni);
	kdf(master, MASTER_KEY_LEN, KEYRING_SALT, strlen(KEYRING_SALT), info, n + 3, key, len);
}

static void add_secret(struct keyring *k, const uint8_t *master)
{
	struct secret_keys *s = &k->secret[k->n++];
	uint8_t id[4];

	derive(master, LABEL_HELLO, k->vni, s->hello, sizeof(s->hello));
	derive(master, LABEL_SESSION, k->vni, s->session, sizeof(s->session));
	derive(master, LABEL_GUARD, k->vni, s->guard, sizeof(s->guard));
	derive(master, LABEL_NAME, k->vni, id, sizeof(id));
	s->id = (uint32_t)id[0] << 24 | (uint32_t)id[1] << 16 | (uint32_t)id[2] << 8 | id[3];
	s->id += s->id == 0;
}

struct keyring *keyring_new(const uint8_t master[MASTER_KEY_LEN], uint32_t vni)
{
	struct keyring *k = x_new(struct keyring);

	k->vni = vni;
	if (master)
		add_secret(k, master);
	return k;
}

void keyring_accept(struct keyring *k, const uint8_t master[MASTER_KEY_LEN])
{
	if (k->n && k->n < SECRETS_MAX)
		add_secret(k, master);
}

void keyring_ids(const struct keyring *k, uint32_t id[SECRETS_MAX])
{
	for (unsigned i = 0; i < SECRETS_MAX; i++)
		id[i] = k->secret[i].id;
}

void keyring_free(struct keyring *k)
{
	if (!k)
		return;
	x_wipe(k, sizeof(*k));
	free(k);
}

void keyring_copy_data(struct keyring *k, const struct keyring *from)
{
	keyring_set_data(k, from->offer, from->n_workers);
}

void keyring_set_offer(struct keyring *k, uint8_t offer)
{
	k->offer = offer;
}

uint8_t keyring_offer(const struct keyring *k)
{
	return k->offer;
}

bool keyring_sealed(const struct keyring *k)
{
	return k->n > 0;
}

void keyring_set_data(struct keyring *k, uint8_t offer, unsigned n_workers)
{
	k->offer = offer;
	k->n_workers = n_workers;
}

void keyring_guard_auth(const struct keyring *k, const void *data, size_t len, uint8_t out[16])
{
	if (k->n)
		keyed_hash(k->secret[0].guard, data, len, out, 16);
	else
		memset(out, 0, 16);
}

/* Compares in constant time. */
static bool is_equal(const uint8_t *a, const uint8_t *b, size_t len)
{
	uint8_t differ = 0;

	for (size_t i = 0; i < len; i++)
		differ |= (uint8_t)(a[i] ^ b[i]);
	return differ == 0;
}

bool keyring_guard_check(const struct keyring *k, const void *data, size_t len,
			 const uint8_t auth[16])
{
	uint8_t want[16] = { 0 };
	bool ok = k->n == 0 && is_equal(auth, want, sizeof(want));

	for (unsigned i = 0; i < k->n; i++) {
		keyed_hash(k->secret[i].guard, data, len, want, sizeof(want));
		ok |= is_equal(auth, want, sizeof(want));
	}
	return ok;
}

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

void ephemeral_new(struct ephemeral *e)
{
	random_bytes(e->secret, sizeof(e->secret));
	dh_public(e->secret, e->public);
}

void ephemeral_wipe(struct ephemeral *e)
{
	x_wipe(e, sizeof(*e));
}

static const struct secret_keys *find_secret(const struct keyring *k, uint32_t id)
{
	for (unsigned i = 0; id && i < k->n; i++)
		if (k->secret[i].id == id)
			return &k->secret[i];
	return NULL;
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
			const struct secret_keys *s = find_secret(k, their_ids[i]);

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

	if (!input_len || dh_shared(t->ephemeral->secret, t->their_public, input + input_len)) {
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

	if (k->n && (!is_cipher_permitted(k, t) || session_material(k, t, material)))
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

/*
 * Builds the associated data: header and envelope, with the nibble that relays change set to zero.
 * Returns its length, at most LEON_HDR_LEN_MAX + ENVELOPE_HELLO_LEN.
 */
static size_t associate(const uint8_t *buf, size_t hdr_len, size_t envelope_len, uint8_t *aad)
{
	memcpy(aad, buf, hdr_len + envelope_len);
	aad[LEON_HOPS_OFFSET] &= LEON_HOPS_MASK;
	return hdr_len + envelope_len;
}

/* Checks common to every received datagram: size and mode (sealed or clear). */
static bool is_openable(const uint8_t *buf, size_t hdr_len, size_t len, size_t envelope_len,
			bool sealed)
{
	size_t tag_len = sealed ? AEAD_TAG_LEN : 0;

	if (hdr_len < LEON_HDR_FIXED || hdr_len > LEON_HDR_LEN_MAX ||
	    len < hdr_len + envelope_len + tag_len)
		return false;
	return sealed == !!(buf[LEON_FLAGS_OFFSET] & LEON_F_SEALED);
}

/* Returns the length of the complete datagram, or -ENOSPC. */
static int sealed_len(size_t hdr_len, size_t envelope_len, size_t msg_len, size_t buf_len,
		      bool sealed)
{
	size_t around = hdr_len + envelope_len + (sealed ? AEAD_TAG_LEN : 0);

	if (hdr_len < LEON_HDR_FIXED || hdr_len > LEON_HDR_LEN_MAX || buf_len > INT_MAX ||
	    around > buf_len || msg_len > buf_len - around)
		return -ENOSPC;
	return (int)(around + msg_len);
}

/* Seals the message in place behind header and envelope with the given nonce and key. */
static int seal_in_place(struct aead *a, const uint8_t *nonce, uint8_t *buf, size_t hdr_len,
			 size_t envelope_len, size_t msg_len)
{
	uint8_t aad[LEON_HDR_LEN_MAX + ENVELOPE_HELLO_LEN];
	size_t aad_len = associate(buf, hdr_len, envelope_len, aad);
	uint8_t *text = buf + aad_len;

	return aead_seal(a, nonce, aad, aad_len, text, msg_len, text);
}

static int open_in_place(struct aead *a, const uint8_t *nonce, uint8_t *buf, size_t hdr_len,
			 size_t envelope_len, size_t len)
{
	uint8_t aad[LEON_HDR_LEN_MAX + ENVELOPE_HELLO_LEN];
	size_t aad_len = associate(buf, hdr_len, envelope_len, aad);
	uint8_t *text = buf + aad_len;

	return aead_open(a, nonce, aad, aad_len, text, len - aad_len, text);
}

static void session_nonce(uint64_t counter, uint8_t nonce[AEAD_NONCE_LEN])
{
	memset(nonce, 0, 4);
	put_u64(nonce + 4, counter);
}

int session_seal(struct session *s, uint8_t *buf, size_t hdr_len, size_t msg_len, size_t buf_len)
{
	int len = sealed_len(hdr_len, ENVELOPE_LEN, msg_len, buf_len, s->tx != NULL);
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
	err = seal_in_place(s->tx, nonce, buf, hdr_len, ENVELOPE_LEN, msg_len);
	return err ? err : len;
}

int session_open(struct session *s, uint8_t *buf, size_t hdr_len, size_t len, uint8_t **msg,
		 size_t *msg_len)
{
	bool sealed = s->rx != NULL;
	uint8_t nonce[AEAD_NONCE_LEN];
	uint64_t counter;

	if (!is_openable(buf, hdr_len, len, ENVELOPE_LEN, sealed) ||
	    get_u64(buf + hdr_len) != s->mine)
		return -EBADMSG;
	counter = get_u64(buf + hdr_len + 8);
	if (counter == 0)
		return -EBADMSG;
	if (!replay_check(&s->replay, counter))
		return -EALREADY;
	session_nonce(counter, nonce);
	if (sealed && open_in_place(s->rx, nonce, buf, hdr_len, ENVELOPE_LEN, len))
		return -EBADMSG;
	replay_note(&s->replay, counter);
	*msg = buf + hdr_len + ENVELOPE_LEN;
	*msg_len = len - hdr_len - ENVELOPE_LEN - (sealed ? AEAD_TAG_LEN : 0);
	return 0;
}

/* Derives the key of one HELLO; a stranger controls its salt only. Each key seals one message, so
 * the nonce may be zero. */
static struct aead *hello_key(const struct secret_keys *secret, const uint8_t salt[SALT_LEN])
{
	uint8_t key[AEAD_KEY_LEN];
	struct aead *a;

	keyed_hash(secret->hello, salt, SALT_LEN, key, sizeof(key));
	a = aead_new(key);
	x_wipe(key, sizeof(key));
	return a;
}

static const uint8_t hello_nonce[AEAD_NONCE_LEN];

int hello_seal(const struct keyring *k, uint32_t secret, uint8_t *buf, size_t hdr_len,
	       size_t msg_len, size_t buf_len)
{
	int len = sealed_len(hdr_len, ENVELOPE_HELLO_LEN, msg_len, buf_len, k->n > 0);
	const struct secret_keys *s = find_secret(k, secret);
	struct aead *a;
	int err;

	if (len < 0)
		return len;
	memset(buf + hdr_len, 0, ENVELOPE_HELLO_LEN);
	if (!k->n)
		return len;
	random_bytes(buf + hdr_len + 8, SALT_LEN);
	a = hello_key(s ? s : &k->secret[0], buf + hdr_len + 8);
	err = seal_in_place(a, hello_nonce, buf, hdr_len, ENVELOPE_HELLO_LEN, msg_len);
	aead_free(a);
	return err ? err : len;
}

/* Tries each secret on a copy, because a failed open clears its buffer. */
static int open_with_any(const struct keyring *k, uint32_t *secret, uint8_t *buf, size_t hdr_len,
			 size_t len)
{
	uint8_t copy[HELLO_MAX];
	int err = -EBADMSG;

	if (len > sizeof(copy))
		return -EBADMSG;
	for (unsigned i = 0; i < k->n && err; i++) {
		struct aead *a = hello_key(&k->secret[i], buf + hdr_len + 8);

		memcpy(copy, buf, len);
		err = open_in_place(a, hello_nonce, copy, hdr_len, ENVELOPE_HELLO_LEN, len);
		aead_free(a);
		*secret = k->secret[i].id;
	}
	if (!err)
		memcpy(buf, copy, len);
	return err;
}

int hello_open(const struct keyring *k, uint32_t *secret, uint8_t *buf, size_t hdr_len, size_t len,
	       uint8_t **msg, size_t *msg_len)
{
	int err;

	*secret = 0;
	if (!is_openable(buf, hdr_len, len, ENVELOPE_HELLO_LEN, k->n > 0) ||
	    get_u64(buf + hdr_len) != 0)
		return -EBADMSG;
	err = k->n ? open_with_any(k, secret, buf, hdr_len, len) : 0;
	if (err)
		return err;
	*msg = buf + hdr_len + ENVELOPE_HELLO_LEN;
	*msg_len = len - hdr_len - ENVELOPE_HELLO_LEN - (k->n ? AEAD_TAG_LEN : 0);
	return 0;
}

bool envelope_session(const uint8_t *buf, size_t hdr_len, size_t len, uint64_t *session)
{
	if (hdr_len > len || len - hdr_len < 8)
		return false;
	*session = get_u64(buf + hdr_len);
	return true;
}
