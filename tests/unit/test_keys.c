// SPDX-License-Identifier: GPL-2.0-or-later
/* crypto/keys: the envelope in both modes, with valid and invalid datagrams. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <errno.h>
#include <string.h>
#include <time.h>

#include "crypto/keys.h"
#include "golden.h"
#include "sample_msg.h"
#include "sample_session.h"
#include "wire/bytes.h"
#include "wire/frame/guard.h"
#include "wire/datagram/leon.h"

#define SECRET	"correct horse battery staple"
#define VNI	0x012345u
#define VALUE_A 0x1111111111111111ULL
#define VALUE_B 0x2222222222222222ULL
#define BUF_MAX 1500

/* Two nodes of one overlay with a session. */
struct pair {
	struct keyring *keys;
	struct session *a, *b;
};

static struct pair pair_new(const char *secret)
{
	struct pair p = { .keys = sample_keyring(secret, VNI) };

	p.a = sample_session(p.keys, NODE_A, NODE_B, VALUE_A, VALUE_B);
	p.b = sample_session(p.keys, NODE_B, NODE_A, VALUE_B, VALUE_A);
	return p;
}

static void pair_free(struct pair *p)
{
	session_free(p->a);
	session_free(p->b);
	keyring_free(p->keys);
}

/* The path includes node C, so that the test can change `at`. */
static size_t header(uint8_t *buf, bool sealed)
{
	struct leon_hdr h = { .kind = LEON_CONTROL,
			      .flags = sealed ? LEON_F_SEALED : 0,
			      .n_hops = 2,
			      .vni = VNI,
			      .source = NODE_A,
			      .hop = { NODE_C, NODE_B } };

	return leon_encode(&h, buf);
}

/* Makes a datagram from a to b. Returns its length. */
static size_t send_text(struct pair *p, const char *text, uint8_t buf[BUF_MAX])
{
	size_t hdr_len = header(buf, keyring_sealed(p->keys)), len = strlen(text);
	int n;

	memcpy(buf + hdr_len + ENVELOPE_LEN, text, len);
	n = session_seal(p->a, buf, hdr_len, len, BUF_MAX);
	assert_int_equal(n, hdr_len + ENVELOPE_LEN + len +
				    (keyring_sealed(p->keys) ? AEAD_TAG_LEN : 0));
	return (size_t)n;
}

/* Opens a copy, so that one datagram can be opened repeatedly. */
static int receive(struct session *s, const uint8_t *buf, size_t len, const char *text)
{
	uint8_t copy[BUF_MAX], *msg;
	size_t msg_len;
	int err;

	memcpy(copy, buf, len);
	err = session_open(s, copy, LEON_HDR_LEN(2), len, &msg, &msg_len);
	if (!err && text) {
		assert_int_equal(msg_len, strlen(text));
		assert_memory_equal(msg, text, msg_len);
	}
	return err;
}

static void both_directions(const char *secret)
{
	struct pair p = pair_new(secret), q;
	uint8_t buf[BUF_MAX];
	size_t len = send_text(&p, "from a to b", buf);
	uint64_t session;

	assert_int_equal(keyring_sealed(p.keys), secret != NULL);
	assert_true(envelope_session(buf, LEON_HDR_LEN(2), len, &session));
	assert_true(session == VALUE_B);
	assert_true(session_mine(p.b) == VALUE_B && session_theirs(p.b) == VALUE_A);
	assert_int_equal(receive(p.b, buf, len, "from a to b"), 0);
	/* The return direction exchanges the roles of lower and higher node-id. */
	q = (struct pair){ p.keys, p.b, p.a };
	len = send_text(&q, "and back", buf);
	assert_int_equal(receive(p.a, buf, len, "and back"), 0);
	/* An empty message is still authentic. */
	len = send_text(&p, "", buf);
	assert_int_equal(receive(p.b, buf, len, ""), 0);
	pair_free(&p);
}

static void test_both_directions(void **state)
{
	(void)state;
	both_directions(SECRET);
	both_directions(NULL);
	keyring_free(NULL);
	session_free(NULL);
}

/* A relay may change `at` and nothing else. */
static void test_tamper(void **state)
{
	struct pair p = pair_new(SECRET);
	uint8_t buf[BUF_MAX];
	size_t len = send_text(&p, "untouched", buf);

	(void)state;
	for (size_t bit = 0; bit < 8 * len; bit++) {
		bool at = bit / 8 == LEON_HOPS_OFFSET && bit % 8 < 4;

		buf[bit / 8] ^= (uint8_t)(1 << bit % 8);
		if (!at)
			assert_int_equal(receive(p.b, buf, len, NULL), -EBADMSG);
		buf[bit / 8] ^= (uint8_t)(1 << bit % 8);
	}
	for (size_t cut = 0; cut < len; cut++)
		assert_int_equal(receive(p.b, buf, cut, NULL), -EBADMSG);
	/* No attempt has moved the window, and the change by the relay is accepted. */
	buf[LEON_HOPS_OFFSET]++;
	assert_int_equal(receive(p.b, buf, len, "untouched"), 0);
	assert_int_equal(receive(p.b, buf, len, NULL), -EALREADY);
	pair_free(&p);
}

/* A forged counter far ahead must not close the window for authentic datagrams. */
static void test_forged_counter(void **state)
{
	struct pair p = pair_new(SECRET);
	uint8_t buf[BUF_MAX], forged[BUF_MAX];
	size_t len = send_text(&p, "first", buf);

	(void)state;
	memcpy(forged, buf, len);
	memset(forged + LEON_HDR_LEN(2) + 8, 0xff, 8);
	assert_int_equal(receive(p.b, forged, len, NULL), -EBADMSG);
	assert_int_equal(receive(p.b, buf, len, "first"), 0);
	pair_free(&p);
}

static void refuse_stranger(struct keyring *k, node_id_t self, node_id_t peer, uint64_t mine,
			    uint64_t theirs)
{
	struct pair p = pair_new(SECRET);
	struct session *other = sample_session(k, self, peer, mine, theirs);
	uint8_t buf[BUF_MAX];
	size_t len = send_text(&p, "secret", buf);

	assert_int_equal(receive(other, buf, len, NULL), -EBADMSG);
	session_free(other);
	pair_free(&p);
}

static void test_wrong_key(void **state)
{
	struct keyring *same = sample_keyring(SECRET, VNI),
		       *secret = sample_keyring("correct horse battery stapl", VNI);
	struct keyring *vni = sample_keyring(SECRET, VNI + 1), *clear = sample_keyring(NULL, VNI);

	(void)state;
	refuse_stranger(secret, NODE_B, NODE_A, VALUE_B, VALUE_A);
	refuse_stranger(vni, NODE_B, NODE_A, VALUE_B, VALUE_A);
	refuse_stranger(clear, NODE_B, NODE_A, VALUE_B, VALUE_A);
	refuse_stranger(same, NODE_C, NODE_A, VALUE_B, VALUE_A);
	refuse_stranger(same, NODE_B, NODE_C, VALUE_B, VALUE_A);
	refuse_stranger(same, NODE_B, NODE_A, VALUE_B, VALUE_A + 1);
	refuse_stranger(same, NODE_B, NODE_A, VALUE_B + 1, VALUE_A);
	/* A datagram that is reflected to its sender. */
	refuse_stranger(same, NODE_A, NODE_B, VALUE_B, VALUE_A);
	keyring_free(same);
	keyring_free(secret);
	keyring_free(vni);
	keyring_free(clear);
}

/* Forward secrecy: the secret and all values do not reveal a wiped key. */
static void test_ephemeral_keys(void **state)
{
	struct keyring *k = sample_keyring(SECRET, VNI);
	struct pair p = pair_new(SECRET);
	uint8_t buf[BUF_MAX], none[DH_KEY_LEN] = { 0 }, one[DH_KEY_LEN] = { 1 };
	size_t len = send_text(&p, "secret", buf);
	struct ephemeral a, fresh, again;
	struct session_terms t = { NODE_B, NODE_A, VALUE_B, VALUE_A, &fresh, a.public, 0, { 0 } };
	struct session *s;

	(void)state;
	sample_ephemeral(NODE_A, DH_X25519, &a);
	ephemeral_new(&fresh, DH_X25519);
	ephemeral_new(&again, DH_X25519);
	assert_memory_not_equal(fresh.public, again.public, DH_KEY_LEN);
	assert_null(session_new(k, &t)); /* no common secret */
	keyring_ids(k, t.their_ids);
	s = session_new(k, &t);
	assert_non_null(s);
	assert_int_equal(receive(s, buf, len, NULL), -EBADMSG);
	session_free(s);
	/* Invalid public keys would give a zero result with any secret. */
	t.their_public = none;
	assert_null(session_new(k, &t));
	t.their_public = one;
	assert_null(session_new(k, &t));
	/* A key of the other curve. */
	t.their_public = a.public;
	t.their_offer = seal_offer(SEAL_CHOICE_AUTO, DH_P256, true, false);
	assert_null(session_new(k, &t));
	ephemeral_wipe(&fresh);
	assert_memory_equal(fresh.secret, none, DH_KEY_LEN);
	pair_free(&p);
	keyring_free(k);
}

static void window(const char *secret)
{
	static uint8_t kept[REPLAY_WINDOW + 2][128];
	struct pair p = pair_new(secret);
	size_t len = 0;

	/* Counters 1 to WINDOW + 1; the last arrives first. */
	for (unsigned i = 1; i <= REPLAY_WINDOW + 1; i++) {
		uint8_t buf[BUF_MAX];

		len = send_text(&p, "x", buf);
		memcpy(kept[i], buf, len);
	}
	assert_int_equal(receive(p.b, kept[REPLAY_WINDOW + 1], len, "x"), 0);
	assert_int_equal(receive(p.b, kept[1], len, NULL), -EALREADY);
	for (unsigned i = 2; i <= REPLAY_WINDOW; i++)
		assert_int_equal(receive(p.b, kept[i], len, "x"), 0);
	for (unsigned i = 1; i <= REPLAY_WINDOW + 1; i++)
		assert_int_equal(receive(p.b, kept[i], len, NULL), -EALREADY);
	pair_free(&p);
}

static void test_window(void **state)
{
	(void)state;
	window(SECRET);
	window(NULL);
}

/* The window agrees with a list of all noted counters. */
static void test_replay_model(void **state)
{
	static bool noted[20000];
	struct replay r = { 0 };
	uint64_t highest = 0, rnd = 1, at = 1;

	(void)state;
	assert_false(replay_check(&r, 0));
	for (unsigned i = 0; i < 30000 && at < 18000; i++) {
		rnd = rnd * 6364136223846793005ULL + 1442695040888963407ULL;
		uint64_t c = at + (rnd >> 40) % 1100;
		bool fresh = c > highest || (highest - c < REPLAY_WINDOW && !noted[c]);

		assert_int_equal(replay_check(&r, c), fresh);
		if (fresh) {
			replay_note(&r, c);
			noted[c] = true;
			highest = c > highest ? c : highest;
			assert_false(replay_check(&r, c));
		}
		at += (rnd >> 33) % 8 == 0;
	}
	assert_true(highest > 2000);
}

static void test_replay_jumps(void **state)
{
	struct replay r = { 0 };

	(void)state;
	for (uint64_t c = 1; c <= REPLAY_WINDOW; c++)
		replay_note(&r, c);
	/* A step by exactly one window and by the whole range leaves nothing of the old state. */
	replay_note(&r, 2 * REPLAY_WINDOW);
	assert_false(replay_check(&r, REPLAY_WINDOW));
	assert_true(replay_check(&r, REPLAY_WINDOW + 1));
	replay_note(&r, UINT64_MAX);
	assert_false(replay_check(&r, UINT64_MAX));
	assert_true(replay_check(&r, UINT64_MAX - 1));
	assert_true(replay_check(&r, UINT64_MAX - REPLAY_WINDOW + 1));
	assert_false(replay_check(&r, UINT64_MAX - REPLAY_WINDOW));
	/* An old counter changes nothing. */
	replay_note(&r, 5);
	assert_true(r.highest == UINT64_MAX);
}

static size_t hello(const struct keyring *k, const char *text, uint8_t buf[BUF_MAX])
{
	size_t hdr_len = header(buf, keyring_sealed(k)), len = strlen(text);
	int n;

	memcpy(buf + hdr_len + ENVELOPE_HELLO_LEN, text, len);
	n = hello_seal(k, 0, buf, hdr_len, len, BUF_MAX);
	assert_true(n > 0);
	return (size_t)n;
}

static int receive_hello(const struct keyring *k, const uint8_t *buf, size_t len, const char *text)
{
	uint8_t copy[BUF_MAX], *msg;
	size_t msg_len;
	uint32_t secret;
	int err;

	memcpy(copy, buf, len);
	err = hello_open(k, &secret, copy, LEON_HDR_LEN(2), len, &msg, &msg_len);
	if (!err && text) {
		assert_int_equal(msg_len, strlen(text));
		assert_memory_equal(msg, text, msg_len);
	}
	return err;
}

static void test_hello(void **state)
{
	struct keyring *k = sample_keyring(SECRET, VNI),
		       *other = sample_keyring("something else", VNI);
	uint8_t buf[BUF_MAX], again[BUF_MAX];
	size_t len = hello(k, "hello", buf);
	uint64_t session = 1;

	(void)state;
	assert_true(envelope_session(buf, LEON_HDR_LEN(2), len, &session));
	assert_true(session == 0);
	assert_int_equal(receive_hello(k, buf, len, "hello"), 0);
	assert_int_equal(receive_hello(other, buf, len, NULL), -EBADMSG);
	for (size_t bit = 0; bit < 8 * len; bit++) {
		bool at = bit / 8 == LEON_HOPS_OFFSET && bit % 8 < 4;

		buf[bit / 8] ^= (uint8_t)(1 << bit % 8);
		assert_int_equal(receive_hello(k, buf, len, NULL), at ? 0 : -EBADMSG);
		buf[bit / 8] ^= (uint8_t)(1 << bit % 8);
	}
	for (size_t cut = 0; cut < len; cut++)
		assert_int_equal(receive_hello(k, buf, cut, NULL), -EBADMSG);
	/* Another salt gives another key, so equal texts have different ciphertexts. */
	assert_int_equal(hello(k, "hello", again), len);
	assert_memory_not_equal(buf + len - 21, again + len - 21, 21);
	keyring_free(k);
	keyring_free(other);
}

/* Rotation of the secret: a node with both secrets opens all datagrams. */
static void test_rotation(void **state)
{
	struct keyring *old = sample_keyring("the old secret", VNI),
		       *both = sample_keyring("the new secret", VNI),
		       *fresh = sample_keyring("the new secret", VNI);
	uint32_t secret, id[SECRETS_MAX];
	uint8_t buf[BUF_MAX], copy[BUF_MAX], auth[16], *msg;
	struct session_terms t = { .self = NODE_A, .peer = NODE_B, .mine = 1, .theirs = 2 };
	struct ephemeral a, b;
	struct session *s;
	size_t len, msg_len;

	(void)state;
	keyring_accept(both, sample_master("the old secret", VNI));
	for (unsigned i = 0; i < 2 * SECRETS_MAX; i++)
		keyring_accept(fresh, sample_master("one more than there is room for", VNI));
	len = hello(old, "hello", buf);
	memcpy(copy, buf, len);
	assert_int_equal(hello_open(both, &secret, copy, LEON_HDR_LEN(2), len, &msg, &msg_len), 0);
	assert_memory_equal(msg, "hello", 5);
	keyring_ids(old, id);
	assert_true(secret == id[0] && secret != 0 && id[1] == 0);
	assert_int_equal(receive_hello(fresh, buf, len, NULL), -EBADMSG);
	/* The answer uses the secret of the request. Other datagrams use the own secret. */
	len = header(buf, true);
	memcpy(buf + len + ENVELOPE_HELLO_LEN, "answer", 6);
	len = (size_t)hello_seal(both, secret, buf, len, 6, BUF_MAX);
	assert_int_equal(receive_hello(old, buf, len, "answer"), 0);
	len = hello(both, "hello", buf);
	assert_int_equal(receive_hello(fresh, buf, len, "hello"), 0);
	assert_int_equal(receive_hello(old, buf, len, NULL), -EBADMSG);
	keyring_guard_auth(old, "data", 4, auth);
	assert_true(keyring_guard_check(both, "data", 4, auth));
	assert_true(keyring_guard_check(old, "data", 4, auth));
	assert_false(keyring_guard_check(fresh, "data", 4, auth));
	auth[15] ^= 1;
	assert_false(keyring_guard_check(both, "data", 4, auth));
	/* A node with the old secret and a node with both have a session. Two nodes without a
	 * common secret have none. */
	sample_ephemeral(NODE_A, DH_X25519, &a);
	sample_ephemeral(NODE_B, DH_X25519, &b);
	t.ephemeral = &a;
	t.their_public = b.public;
	keyring_ids(old, t.their_ids);
	assert_null(session_new(fresh, &t));
	s = session_new(both, &t);
	assert_non_null(s);
	session_free(s);
	keyring_free(old);
	keyring_free(both);
	keyring_free(fresh);
}

static void test_clear_mode(void **state)
{
	struct keyring *k = sample_keyring(NULL, VNI), *sealed = sample_keyring(SECRET, VNI);
	struct pair p = pair_new(NULL);
	uint8_t buf[BUF_MAX], auth[16];
	const uint8_t zero[16] = { 0 };
	size_t len = hello(k, "hello", buf);

	(void)state;
	assert_int_equal(len, LEON_HDR_LEN(2) + ENVELOPE_HELLO_LEN + 5);
	assert_int_equal(receive_hello(k, buf, len, "hello"), 0);
	assert_int_equal(receive_hello(sealed, buf, len, NULL), -EBADMSG);
	/* A sealed datagram must not be read as a clear message. */
	len = hello(sealed, "hello", buf);
	assert_int_equal(receive_hello(k, buf, len, NULL), -EBADMSG);
	/* Without a tag, only the session value is checked. */
	len = send_text(&p, "in clear", buf);
	assert_memory_equal(buf + len - 8, "in clear", 8);
	buf[LEON_HDR_LEN(2)] ^= 1;
	assert_int_equal(receive(p.b, buf, len, NULL), -EBADMSG);
	buf[LEON_HDR_LEN(2)] ^= 1;
	assert_int_equal(receive(p.b, buf, len, "in clear"), 0);
	memset(auth, 0xa5, sizeof(auth));
	keyring_guard_auth(k, "data", 4, auth);
	assert_memory_equal(auth, zero, 16);
	pair_free(&p);
	keyring_free(k);
	keyring_free(sealed);
}

static void test_room(void **state)
{
	struct pair p = pair_new(SECRET);
	uint8_t buf[BUF_MAX];
	size_t hdr_len = header(buf, true);
	uint64_t session;

	(void)state;
	memset(buf + hdr_len, 0, sizeof(buf) - hdr_len);
	assert_int_equal(session_seal(p.a, buf, hdr_len, 10, hdr_len + 16 + 10 + 15), -ENOSPC);
	assert_int_equal(session_seal(p.a, buf, hdr_len, 10, hdr_len + 16 + 10 + 16), hdr_len + 42);
	assert_int_equal(session_seal(p.a, buf, hdr_len, SIZE_MAX, BUF_MAX), -ENOSPC);
	assert_int_equal(hello_seal(p.keys, 0, buf, hdr_len, 10, hdr_len + 24 + 10 + 15), -ENOSPC);
	assert_int_equal(hello_seal(p.keys, 0, buf, hdr_len, 10, hdr_len + 24 + 10 + 16),
			 hdr_len + 50);
	assert_false(envelope_session(buf, hdr_len, hdr_len + 7, &session));
	assert_false(envelope_session(buf, hdr_len, 0, &session));
	pair_free(&p);
}

/* The code makes the session datagram of the document from the ping of the document. */
static void test_document_session(void **state)
{
	struct pair p = pair_new(SECRET);
	uint8_t buf[BUF_MAX], plain[GOLDEN_MAX], sealed[GOLDEN_MAX], key[GOLDEN_MAX],
		nonce[AEAD_NONCE_LEN] = { 0 };
	struct leon_hdr h = { .kind = LEON_CONTROL,
			      .flags = LEON_F_SEALED,
			      .n_hops = 1,
			      .vni = VNI,
			      .source = NODE_A,
			      .hop = { NODE_B } };
	size_t hdr_len = leon_encode(&h, buf), plain_len = golden("msg-ping", plain), len;
	struct aead *a;
	int n;

	(void)state;
	memcpy(buf + hdr_len + ENVELOPE_LEN, plain, plain_len);
	n = session_seal(p.a, buf, hdr_len, plain_len, BUF_MAX);
	assert_golden("datagram-ping", buf, (size_t)n);
	/* The key, nonce and associated data of the document are sufficient to open it. */
	assert_int_equal(golden("key-a-to-b", key), AEAD_KEY_LEN);
	len = golden("datagram-ping", sealed);
	memcpy(nonce + 4, sealed + hdr_len + 8, 8);
	a = aead_new(key);
	assert_int_equal(aead_open(a, nonce, sealed, hdr_len + ENVELOPE_LEN,
				   sealed + hdr_len + ENVELOPE_LEN, len - hdr_len - ENVELOPE_LEN,
				   buf),
			 0);
	assert_memory_equal(buf, plain, plain_len);
	aead_free(a);
	pair_free(&p);
}

static void test_document_hello(void **state)
{
	struct keyring *k = sample_keyring(SECRET, VNI);
	uint8_t sealed[GOLDEN_MAX], plain[GOLDEN_MAX], *msg;
	size_t len = golden("datagram-hello", sealed), plain_len = golden("msg-hello", plain),
	       msg_len;
	uint32_t secret;

	(void)state;
	assert_int_equal(hello_open(k, &secret, sealed, LEON_HDR_LEN(1), len, &msg, &msg_len), 0);
	assert_int_equal(msg_len, plain_len);
	assert_memory_equal(msg, plain, plain_len);
	keyring_free(k);
}

static void derive(const char *name, const char *label, uint8_t key[AEAD_KEY_LEN])
{
	uint8_t info[16] = { 0 };
	size_t n = strlen(label);

	memcpy(info, label, n);
	memcpy(info + n, "\x01\x23\x45", 3);
	kdf(sample_master(SECRET, VNI), MASTER_KEY_LEN, "LEON 1", 6, info, n + 3, key,
	    AEAD_KEY_LEN);
	assert_golden(name, key, AEAD_KEY_LEN);
}

static int64_t cpu_ns(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &ts);
	return ts.tv_sec * 1000000000LL + ts.tv_nsec;
}

/* A guess at a secret costs a thousand times more than with HKDF alone. The second stretching of
 * the own secret is free. */
static void test_a_guess_is_dear(void **state)
{
	struct stretcher *s = stretcher_new();
	uint8_t master[MASTER_KEY_LEN], again[MASTER_KEY_LEN], key[AEAD_KEY_LEN];
	int64_t dear, cheap, start = cpu_ns();

	(void)state;
	stretch_secret(STRETCH_SCRYPT, SECRET, VNI, master);
	dear = cpu_ns() - start;
	assert_golden("master-key", master, sizeof(master));
	start = cpu_ns();
	for (unsigned i = 0; i < 1000; i++)
		kdf(SECRET, strlen(SECRET), "LEON 1", 6, "guard", 5, key, sizeof(key));
	cheap = cpu_ns() - start;
	assert_true(dear > cheap);
	stretcher_master(s, STRETCH_SCRYPT, SECRET, VNI, again);
	assert_memory_equal(master, again, sizeof(master));
	start = cpu_ns();
	for (unsigned i = 0; i < 20; i++)
		stretcher_master(s, STRETCH_SCRYPT, SECRET, VNI, again);
	assert_true(cpu_ns() - start < dear);
	assert_memory_equal(master, again, sizeof(master));
	stretcher_master(s, STRETCH_SCRYPT, SECRET, VNI + 1, again);
	assert_memory_not_equal(master, again, sizeof(master));
	stretcher_master(s, STRETCH_SCRYPT, SECRET " ", VNI, again);
	assert_memory_not_equal(master, again, sizeof(master));
	/* The cache distinguishes the two derivations. */
	stretcher_master(s, STRETCH_PBKDF2, SECRET, VNI, again);
	assert_golden("master-key-pbkdf2", again, sizeof(again));
	stretcher_free(s);
}

static void test_document_keys(void **state)
{
	uint8_t key[AEAD_KEY_LEN], session[AEAD_KEY_LEN], salt[16], input[64],
		info[81] = { 0 }, material[AEAD_KEY_LEN];
	struct ephemeral a, b;

	(void)state;
	derive("key-hello", "hello", key);
	derive("key-guard", "guard", key);
	derive("key-session", "session", session);
	memset(salt, 0x11, 8);
	memset(salt + 8, 0x22, 8);
	sample_ephemeral(NODE_A, DH_X25519, &a);
	sample_ephemeral(NODE_B, DH_X25519, &b);
	assert_golden("ephemeral-a", a.public, DH_KEY_LEN);
	assert_golden("ephemeral-b", b.public, DH_KEY_LEN);
	assert_int_equal(dh_shared(DH_X25519, a.secret, b.public, input + 32), 0);
	assert_golden("dh", input + 32, DH_KEY_LEN);
	memcpy(input, session, 32);
	memcpy(info, "session", 7);
	memcpy(info + 7, a.public, 32);
	memcpy(info + 39, b.public, 32);
	memcpy(info + 71, "\xc0\x00\x02\x01\xc6\x33\x64\x02", 8);
	kdf(input, 64, salt, 16, info, 81, material, 32);
	assert_golden("key-of-session", material, 32);
	kdf(material, 32, NULL, 0, "direction\xc0\x00\x02\x01\xc6\x33\x64\x02", 17, key, 32);
	assert_golden("key-a-to-b", key, 32);
	kdf(material, 32, NULL, 0, "direction\xc6\x33\x64\x02\xc0\x00\x02\x01", 17, key, 32);
	assert_golden("key-b-to-a", key, 32);
}

static void test_document_p256(void **state)
{
	uint8_t input[64], salt[16], info[81], material[AEAD_KEY_LEN];
	struct keyring *k = sample_keyring(SECRET, VNI);
	struct ephemeral a, b;
	struct session *s;
	uint8_t link[8];

	(void)state;
	derive("key-session", "session", input);
	memset(salt, 0x11, 8);
	memset(salt + 8, 0x22, 8);
	sample_ephemeral(NODE_A, DH_P256, &a);
	sample_ephemeral(NODE_B, DH_P256, &b);
	assert_golden("ephemeral-p256-a", a.public, DH_KEY_LEN);
	assert_golden("ephemeral-p256-b", b.public, DH_KEY_LEN);
	assert_int_equal(dh_shared(DH_P256, a.secret, b.public, input + 32), 0);
	assert_golden("dh-p256", input + 32, DH_KEY_LEN);
	memcpy(info, "session", 7);
	memcpy(info + 7, a.public, 32);
	memcpy(info + 39, b.public, 32);
	memcpy(info + 71, "\xc0\x00\x02\x01\xc6\x33\x64\x02\x10\x10", 10);
	kdf(input, 64, salt, 16, info, 81, material, 32);
	assert_golden("key-of-session-p256", material, 32);
	/* A value that the session derives from its key. */
	kdf(material, 32, NULL, 0, "link\xc0\x00\x02\x01\xc6\x33\x64\x02", 12, link, 8);
	keyring_set_data(k, seal_offer(SEAL_CHOICE_AUTO, DH_P256, true, false), 1);
	s = sample_session(k, NODE_A, NODE_B, VALUE_A, VALUE_B);
	assert_int_equal(seal_tx_link(session_data(s)), get_u64(link));
	session_free(s);
	s = sample_session(k, NODE_B, NODE_A, VALUE_B, VALUE_A);
	assert_int_equal(seal_rx_link(session_data(s)), get_u64(link));
	session_free(s);
	keyring_free(k);
}

static void test_document_guard(void **state)
{
	struct keyring *k = sample_keyring(SECRET, VNI);
	struct guard_frame g = { .src = { { 0x02, 0, 0, 0, 0, 1 } },
				 .vni = VNI,
				 .node = NODE_A,
				 .incarnation = 0x0006123456789abcULL,
				 .sequence = 1 };
	uint8_t frame[GUARD_FRAME_MAX];
	size_t len = guard_encode(&g, frame);

	(void)state;
	keyring_guard_auth(k, guard_signed(frame), GUARD_SIGNED_LEN, g.auth);
	assert_int_equal(guard_encode(&g, frame), len);
	assert_golden("guard", frame, len);
	/* A guard frame of VLAN 10 that arrived at a port without the tag is authentic too. */
	g.sequence++;
	g.tag = 10;
	g.segment = 10;
	g.flags = GUARD_READY | GUARD_FORWARDS | guard_interval_flags(1000);
	g.received[0] = guard_mark(NODE_B, 0x0006123456789abd);
	guard_encode(&g, frame);
	keyring_guard_auth(k, guard_signed(frame), GUARD_SIGNED_LEN, g.auth);
	len = guard_encode(&g, frame);
	assert_golden("guard-tagged", frame, len);
	memmove(frame + 12, frame + 16, len - 16);
	assert_int_equal(guard_decode(frame, len - 4, &g), 0);
	assert_int_equal(g.tag, 0);
	assert_int_equal(g.segment, 10);
	assert_true(keyring_guard_check(k, guard_signed(frame), GUARD_SIGNED_LEN, g.auth));
	keyring_free(k);
}

#define IPV6_PAYLOAD (1280 - 40 - 8) /* UDP payload on a link with the smallest MTU of IPv6 */

/* The longest sealed message on the longest path fits, with the value of the link in front. */
static void longest_message_fits_the_smallest_link(void **state)
{
	struct pair p = pair_new(SECRET);
	uint8_t buf[BUF_MAX] = { 0 };
	struct leon_hdr h = { .kind = LEON_CONTROL,
			      .flags = LEON_F_SEALED,
			      .n_hops = LEON_HOPS_MAX,
			      .vni = VNI,
			      .source = NODE_A,
			      .hop = { NODE_C, 5, 6, NODE_B } };
	size_t hdr_len = leon_encode(&h, buf);
	int len = session_seal(p.a, buf, hdr_len, MSG_LEN_MAX, sizeof(buf));

	(void)state;
	assert_true(len > 0);
	assert_int_equal(leon_insert_link(buf, (size_t)len, h.n_hops, 1), IPV6_PAYLOAD);
	pair_free(&p);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_both_directions),
		cmocka_unit_test(test_tamper),
		cmocka_unit_test(test_ephemeral_keys),
		cmocka_unit_test(test_rotation),
		cmocka_unit_test(test_forged_counter),
		cmocka_unit_test(test_wrong_key),
		cmocka_unit_test(test_window),
		cmocka_unit_test(test_replay_model),
		cmocka_unit_test(test_replay_jumps),
		cmocka_unit_test(test_hello),
		cmocka_unit_test(test_clear_mode),
		cmocka_unit_test(test_room),
		cmocka_unit_test(test_document_session),
		cmocka_unit_test(test_document_hello),
		cmocka_unit_test(test_a_guess_is_dear),
		cmocka_unit_test(test_document_keys),
		cmocka_unit_test(test_document_p256),
		cmocka_unit_test(test_document_guard),
		cmocka_unit_test(longest_message_fits_the_smallest_link),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
