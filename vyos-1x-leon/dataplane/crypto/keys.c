// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Keys from the pre-shared secrets, and the sealing of HELLO. session.c has the sessions. Called by
 * proto/ on the control thread. Input that is not authentic costs at most one key derivation and
 * one AES-GCM pass for each secret, and changes no state. doc/protocol.md section 3.
 */
#include "crypto/keys.h"

#include <errno.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "crypto/keys_core.h"
#include "wire/bytes.h"
#include "wire/datagram/leon.h"

#define KEYRING_SALT  "LEON 1"
#define LABEL_HELLO   "hello"
#define LABEL_SESSION "session"
#define LABEL_GUARD   "guard"
#define LABEL_NAME    "name"
#define SALT_LEN      16
#define HELLO_MAX     1280 /* longest HELLO datagram in bytes */

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
	s->id = get_u32(id);
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

enum dh_curve keyring_curve(const struct keyring *k)
{
	return seal_offer_curve(k->offer);
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

const struct secret_keys *keyring_secret(const struct keyring *k, uint32_t id)
{
	for (unsigned i = 0; id && i < k->n; i++)
		if (k->secret[i].id == id)
			return &k->secret[i];
	return NULL;
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
	int len = envelope_sealed_len(hdr_len, ENVELOPE_HELLO_LEN, msg_len, buf_len, k->n > 0);
	const struct secret_keys *s = keyring_secret(k, secret);
	struct aead *a;
	int err;

	if (len < 0)
		return len;
	memset(buf + hdr_len, 0, ENVELOPE_HELLO_LEN);
	if (!k->n)
		return len;
	random_bytes(buf + hdr_len + 8, SALT_LEN);
	a = hello_key(s ? s : &k->secret[0], buf + hdr_len + 8);
	err = envelope_seal(a, hello_nonce, buf, hdr_len, ENVELOPE_HELLO_LEN, msg_len);
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
		err = envelope_open(a, hello_nonce, copy, hdr_len, ENVELOPE_HELLO_LEN, len);
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
	if (!envelope_is_openable(buf, hdr_len, len, ENVELOPE_HELLO_LEN, k->n > 0) ||
	    get_u64(buf + hdr_len) != 0)
		return -EBADMSG;
	err = k->n ? open_with_any(k, secret, buf, hdr_len, len) : 0;
	if (err)
		return err;
	*msg = buf + hdr_len + ENVELOPE_HELLO_LEN;
	*msg_len = len - hdr_len - ENVELOPE_HELLO_LEN - (k->n ? AEAD_TAG_LEN : 0);
	return 0;
}

/* --- envelope: size checks, associated data and sealing of control messages --- */

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

bool envelope_is_openable(const uint8_t *buf, size_t hdr_len, size_t len, size_t envelope_len,
			  bool sealed)
{
	size_t tag_len = sealed ? AEAD_TAG_LEN : 0;

	if (hdr_len < LEON_HDR_FIXED || hdr_len > LEON_HDR_LEN_MAX ||
	    len < hdr_len + envelope_len + tag_len)
		return false;
	return sealed == !!(buf[LEON_FLAGS_OFFSET] & LEON_F_SEALED);
}

int envelope_sealed_len(size_t hdr_len, size_t envelope_len, size_t msg_len, size_t buf_len,
			bool sealed)
{
	size_t around = hdr_len + envelope_len + (sealed ? AEAD_TAG_LEN : 0);

	if (hdr_len < LEON_HDR_FIXED || hdr_len > LEON_HDR_LEN_MAX || buf_len > INT_MAX ||
	    around > buf_len || msg_len > buf_len - around)
		return -ENOSPC;
	return (int)(around + msg_len);
}

int envelope_seal(struct aead *a, const uint8_t *nonce, uint8_t *buf, size_t hdr_len,
		  size_t envelope_len, size_t msg_len)
{
	uint8_t aad[LEON_HDR_LEN_MAX + ENVELOPE_HELLO_LEN];
	size_t aad_len = associate(buf, hdr_len, envelope_len, aad);
	uint8_t *text = buf + aad_len;

	return aead_seal(a, nonce, aad, aad_len, text, msg_len, text);
}

int envelope_open(struct aead *a, const uint8_t *nonce, uint8_t *buf, size_t hdr_len,
		  size_t envelope_len, size_t len)
{
	uint8_t aad[LEON_HDR_LEN_MAX + ENVELOPE_HELLO_LEN];
	size_t aad_len = associate(buf, hdr_len, envelope_len, aad);
	uint8_t *text = buf + aad_len;

	return aead_open(a, nonce, aad, aad_len, text, len - aad_len, text);
}

bool envelope_session(const uint8_t *buf, size_t hdr_len, size_t len, uint64_t *session)
{
	if (hdr_len > len || len - hdr_len < 8)
		return false;
	*session = get_u64(buf + hdr_len);
	return true;
}
