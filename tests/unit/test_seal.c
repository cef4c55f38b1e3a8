// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * crypto/seal: vectors of another implementation (Python's cryptography), and damaged, replayed and
 * old datagrams. Two workers open equal datagrams at one time.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <errno.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "crypto/seal.h"
#include "golden.h"

#define N_WORKERS 3
#define TEXT_LEN  20
#define SEALED	  (TEXT_LEN + SEAL_OVERHEAD)
#define N_MANY	  (3 * SEAL_WINDOW)

static const char aad[] = "header";

/* The two ends of one session. */
struct pair {
	struct seal *a, *b;
};

static struct seal_secrets secrets_of_a(void)
{
	struct seal_secrets s = { .tx_link = 0x1111222233334444, .rx_link = 0x5555666677778888 };

	for (unsigned i = 0; i < sizeof(s.tx_key); i++) {
		s.tx_key[i] = (uint8_t)i;
		s.rx_key[i] = (uint8_t)(0x80 + i);
	}
	return s;
}

static struct pair pair_new(enum seal_cipher cipher)
{
	struct seal_secrets s = secrets_of_a(), t;
	struct pair p;

	t = (struct seal_secrets){ .tx_link = s.rx_link, .rx_link = s.tx_link };
	memcpy(t.tx_key, s.rx_key, sizeof(t.tx_key));
	memcpy(t.rx_key, s.tx_key, sizeof(t.rx_key));
	p.a = seal_new(&s, cipher, 5, N_WORKERS);
	p.b = seal_new(&t, cipher, 5, N_WORKERS);
	return p;
}

static void pair_free(struct pair p)
{
	seal_unref(p.a);
	seal_unref(p.b);
}

static int seal_text(struct seal *s, unsigned worker, const void *text, size_t len, uint8_t *out)
{
	const struct aead_piece piece = { text, len };

	return seal_data(s, worker, aad, sizeof(aad), &piece, 1, out);
}

static int open_text(struct seal *s, unsigned worker, uint8_t *data, size_t len)
{
	return seal_open(s, worker, aad, sizeof(aad), data, len);
}

/* Opens a copy, so that the datagram can be opened again. */
static int open_copy(struct seal *s, unsigned worker, const uint8_t *data)
{
	uint8_t copy[SEALED];

	memcpy(copy, data, SEALED);
	return open_text(s, worker, copy, SEALED);
}

static void expect_hex(const uint8_t *data, const char *hex)
{
	for (size_t i = 0; i < strlen(hex) / 2; i++) {
		unsigned v;

		assert_int_equal(sscanf(hex + 2 * i, "%2x", &v), 1);
		assert_int_equal(data[i], v);
	}
}

static void check_vector(enum seal_cipher cipher, const char *hex)
{
	static const char text[] = "Forty-one bytes of an Ethernet frame here";
	static const uint8_t hdr[14] = { 0x11, 0x02, 0x10, 0x01, 0x23, 0x45, 0xc0,
					 0x00, 0x02, 0x01, 0xc6, 0x33, 0x64, 0x02 };
	/* Three pieces with partial cipher blocks. */
	const struct aead_piece in[] = { { text, 3 }, { text + 3, 21 }, { text + 24, 17 } };
	struct pair p = pair_new(cipher);
	uint8_t out[41 + SEAL_OVERHEAD];

	for (unsigned i = 0; i < 7; i++)
		assert_int_equal(seal_data(p.a, 2, hdr, sizeof(hdr), in, 3, out), sizeof(out));
	expect_hex(out, hex);
	assert_int_equal(strlen(hex) / 2, sizeof(out));
	assert_int_equal(seal_data_epoch(out), 5);
	assert_int_equal(seal_open(p.b, 0, hdr, sizeof(hdr), out, sizeof(out)), 41);
	assert_memory_equal(out + SEAL_NONCE_LEN, text, 41);
	pair_free(p);
}

static void vectors(void **state)
{
	(void)state;
	check_vector(
		SEAL_AES_256_GCM,
		"50200000000000071a3c6df4ed0a5fa376d96df805d4afca7cfc8e0da5d2de76f50cb0d017b08e"
		"bcbe07dd69e84f2b8845b9b29bc38a5d2282c72b66576383ff9f");
	check_vector(
		SEAL_CHACHA20_POLY1305,
		"5020000000000007ed87028d480f106c5a5555f3d53ba7c8cbbfc87be55ed4650b3ace5d1d8ca6"
		"4d3b3f41255b1d3ae1568b0319dcdc7b9267048812601753a5c1");
}

/* doc/protocol.md sections 2.5 and 3.2. */
static void document(void **state)
{
	static const struct {
		enum seal_cipher cipher;
		const char *name;
	} block[] = { { SEAL_AES_256_GCM, "data-aes256gcm" },
		      { SEAL_CHACHA20_POLY1305, "data-chacha20poly1305" } };
	const struct aead_piece in = { "Forty-one bytes of an Ethernet frame here", 41 };
	uint8_t material[GOLDEN_MAX], link[8], datagram[14 + 41 + SEAL_OVERHEAD];
	struct seal_secrets s = { 0 };

	(void)state;
	golden("key-of-session", material);
	kdf(material, 32, NULL, 0, "data\xc0\x00\x02\x01\xc6\x33\x64\x02", 12, s.tx_key, 32);
	assert_golden("key-data-a-to-b", s.tx_key, 32);
	kdf(material, 32, NULL, 0, "link\xc0\x00\x02\x01\xc6\x33\x64\x02", 12, link, 8);
	assert_golden("link-a-to-b", link, 8);
	for (unsigned i = 0; i < 2; i++) {
		struct seal *a = seal_new(&s, block[i].cipher, 3, N_WORKERS);

		memcpy(datagram, "\x11\x02\x10\x01\x23\x45\xc0\x00\x02\x01\xc6\x33\x64\x02", 14);
		for (unsigned k = 0; k < 7; k++)
			assert_int_equal(seal_data(a, 2, datagram, 14, &in, 1, datagram + 14),
					 41 + SEAL_OVERHEAD);
		assert_golden(block[i].name, datagram, sizeof(datagram));
		seal_unref(a);
	}
}

static void what_is_damaged_does_not_open(void **state)
{
	static const enum seal_cipher cipher[] = { SEAL_AES_256_GCM, SEAL_CHACHA20_POLY1305 };
	char other[sizeof(aad)];

	(void)state;
	for (unsigned c = 0; c < 2; c++) {
		struct pair p = pair_new(cipher[c]);
		uint8_t out[SEALED], copy[SEALED];

		assert_int_equal(seal_text(p.a, 0, "twenty bytes of text", TEXT_LEN, out), SEALED);
		for (size_t bit = 0; bit < 8 * sizeof(out); bit++) {
			memcpy(copy, out, sizeof(out));
			copy[bit / 8] ^= (uint8_t)(1 << bit % 8);
			assert_int_equal(open_text(p.b, 0, copy, sizeof(copy)), -EBADMSG);
		}
		for (size_t i = 0; i < sizeof(aad); i++) {
			memcpy(copy, out, sizeof(out));
			memcpy(other, aad, sizeof(aad));
			other[i] ^= 1;
			assert_int_equal(seal_open(p.b, 0, other, sizeof(other), copy, SEALED),
					 -EBADMSG);
		}
		for (size_t len = 0; len < sizeof(out); len++) {
			memcpy(copy, out, sizeof(out));
			assert_int_equal(open_text(p.b, 0, copy, len), -EBADMSG);
		}
		/* The reverse direction is refused too, and the datagram is still valid. */
		assert_int_equal(open_copy(p.a, 0, out), -EBADMSG);
		assert_int_equal(open_copy(p.b, 0, out), TEXT_LEN);
		assert_int_equal(open_copy(p.b, 0, out), -EALREADY);
		pair_free(p);
	}
}

static void other_keys_and_epochs_are_refused(void **state)
{
	struct seal_secrets s = secrets_of_a();
	struct pair p = pair_new(SEAL_AES_256_GCM);
	struct seal *later = seal_new(&s, SEAL_AES_256_GCM, 6, 1);
	struct seal *chacha = seal_new(&s, SEAL_CHACHA20_POLY1305, 5, 1);
	uint8_t out[SEALED];

	(void)state;
	assert_int_equal(seal_text(later, 0, "twenty bytes of text", TEXT_LEN, out), SEALED);
	assert_int_equal(open_text(p.b, 0, out, SEALED), -EBADMSG);
	assert_int_equal(seal_text(chacha, 0, "twenty bytes of text", TEXT_LEN, out), SEALED);
	assert_int_equal(open_text(p.b, 0, out, SEALED), -EBADMSG);
	seal_unref(later);
	seal_unref(chacha);
	pair_free(p);
}

static void nothing_is_sealed_without_cipher(void **state)
{
	struct pair p = pair_new(SEAL_NONE);
	uint8_t out[SEALED] = { 0x50, [7] = 1 };

	(void)state;
	assert_int_equal(seal_cipher(p.a), SEAL_NONE);
	assert_true(seal_tx_link(p.a) == 0x1111222233334444);
	assert_true(seal_tx_link(p.a) == seal_rx_link(p.b));
	assert_true(seal_rx_link(p.a) == seal_tx_link(p.b));
	assert_int_equal(seal_text(p.a, 0, "text", 4, out), -EIO);
	assert_int_equal(open_text(p.b, 0, out, SEALED), -EBADMSG);
	assert_int_equal(seal_sent(p.a), 0);
	pair_free(p);
	seal_unref(NULL);
	assert_null(seal_ref(NULL));
}

/* Both ends choose equally, in either order of the offers. */
static void expect_agreed(uint8_t a, uint8_t b, enum seal_cipher expected)
{
	assert_int_equal(seal_agree(a, b), expected);
	assert_int_equal(seal_agree(b, a), expected);
}

static void both_ends_agree(void **state)
{
	uint8_t fast = seal_offer(SEAL_CHOICE_AUTO, DH_X25519, false, true);
	uint8_t slow = seal_offer(SEAL_CHOICE_AUTO, DH_X25519, false, false);
	uint8_t aes = seal_offer(SEAL_CHOICE_AES_256_GCM, DH_X25519, false, false);
	uint8_t chacha = seal_offer(SEAL_CHOICE_CHACHA20_POLY1305, DH_P256, false, true);
	uint8_t off = seal_offer(SEAL_CHOICE_AUTO, DH_X25519, true, true);

	(void)state;
	expect_agreed(fast, fast, SEAL_AES_256_GCM);
	expect_agreed(fast, slow, SEAL_CHACHA20_POLY1305);
	expect_agreed(slow, slow, SEAL_CHACHA20_POLY1305);
	expect_agreed(aes, slow, SEAL_AES_256_GCM);
	expect_agreed(chacha, fast, SEAL_CHACHA20_POLY1305);
	expect_agreed(chacha, aes, SEAL_CHACHA20_POLY1305);
	/* The end that wants sealing wins. */
	expect_agreed(off, off, SEAL_NONE);
	expect_agreed(off, fast, SEAL_AES_256_GCM);
	expect_agreed(off, aes, SEAL_AES_256_GCM);
	assert_int_equal(seal_offer_curve(chacha), DH_P256);
	assert_int_equal(seal_offer_curve(fast), DH_X25519);
	/* Offers of a later version. */
	expect_agreed(off | 0xf0, off, SEAL_NONE);
	expect_agreed(fast | 0xf0, fast, SEAL_AES_256_GCM);
	assert_string_equal(seal_cipher_name(SEAL_NONE), "none");
	assert_string_equal(seal_cipher_name(SEAL_AES_256_GCM), "aes256gcm");
	assert_string_equal(seal_cipher_name(SEAL_CHACHA20_POLY1305), "chacha20poly1305");
}

static void each_worker_counts_for_itself(void **state)
{
	struct pair p = pair_new(SEAL_AES_256_GCM);
	uint8_t out[SEALED], first[8];

	(void)state;
	assert_int_equal(seal_text(p.a, 0, "twenty bytes of text", TEXT_LEN, out), SEALED);
	expect_hex(out, "5000000000000001");
	assert_int_equal(open_text(p.b, 2, out, SEALED), TEXT_LEN);
	assert_int_equal(seal_text(p.a, 2, "twenty bytes of text", TEXT_LEN, out), SEALED);
	expect_hex(out, "5020000000000001");
	memcpy(first, out + SEAL_NONCE_LEN, sizeof(first));
	assert_int_equal(open_text(p.b, 0, out, SEALED), TEXT_LEN);
	assert_int_equal(seal_text(p.a, 2, "twenty bytes of text", TEXT_LEN, out), SEALED);
	expect_hex(out, "5020000000000002");
	assert_memory_not_equal(first, out + SEAL_NONCE_LEN, sizeof(first));
	assert_int_equal(seal_sent(p.a), 3);
	assert_int_equal(seal_sent(p.b), 0);
	/* The worker number exceeds the number of workers of the object. */
	assert_int_equal(seal_text(p.a, N_WORKERS, "text", 4, out), -EIO);
	pair_free(p);
}

static void references_keep_it(void **state)
{
	struct pair p = pair_new(SEAL_AES_256_GCM);
	struct seal *snapshot = seal_ref(p.a);
	uint8_t out[SEALED];

	(void)state;
	seal_unref(p.a);
	assert_int_equal(seal_text(snapshot, 0, "twenty bytes of text", TEXT_LEN, out), SEALED);
	pair_free(p);
}

/* Seals n consecutive datagrams of one worker. */
static uint8_t *seal_many(struct seal *s, unsigned worker, unsigned n)
{
	uint8_t *all = calloc(n, SEALED);

	for (unsigned i = 0; i < n; i++)
		assert_int_equal(seal_text(s, worker, "twenty bytes of text", TEXT_LEN,
					   all + i * SEALED),
				 SEALED);
	return all;
}

static void any_order_within_the_window(void **state)
{
	struct pair p = pair_new(SEAL_AES_256_GCM);
	uint8_t *all = seal_many(p.a, 0, SEAL_WINDOW);

	(void)state;
	/* The reverse order is the largest reordering. All repetitions are refused. */
	for (unsigned i = SEAL_WINDOW; i-- > 0;)
		assert_int_equal(open_copy(p.b, i % N_WORKERS, all + i * SEALED), TEXT_LEN);
	for (unsigned i = 0; i < SEAL_WINDOW; i++)
		assert_int_equal(open_copy(p.b, 0, all + i * SEALED), -EALREADY);
	free(all);
	pair_free(p);
}

static void too_old_is_refused(void **state)
{
	struct pair p = pair_new(SEAL_AES_256_GCM);
	uint8_t *all = seal_many(p.a, 1, N_MANY);
	unsigned last = N_MANY - 1, taken = 0;

	(void)state;
	/* Counters from 1 to the end of the window except every third, then far ahead. */
	for (unsigned i = 0; i < SEAL_WINDOW; i++)
		if (i % 3)
			assert_int_equal(open_copy(p.b, 0, all + i * SEALED), TEXT_LEN);
	for (unsigned i = SEAL_WINDOW; i < N_MANY; i++)
		if (i % 3)
			assert_int_equal(open_copy(p.b, 0, all + i * SEALED), TEXT_LEN);
	for (unsigned i = 0; i <= last; i++) {
		int n = open_copy(p.b, 0, all + i * SEALED);

		if (i % 3 || i + SEAL_WINDOW + 64 < last)
			assert_int_equal(n, -EALREADY);
		else if (i + SEAL_WINDOW > last)
			assert_int_equal(n, TEXT_LEN);
		taken += n == TEXT_LEN;
	}
	assert_in_range(taken, SEAL_WINDOW / 3, SEAL_WINDOW / 3 + 32);
	free(all);
	pair_free(p);
}

static void loss_moves_the_window(void **state)
{
	struct pair p = pair_new(SEAL_AES_256_GCM);
	uint8_t *all = seal_many(p.a, 0, N_MANY);

	(void)state;
	assert_int_equal(open_copy(p.b, 0, all), TEXT_LEN);
	assert_int_equal(open_copy(p.b, 0, all + (size_t)(N_MANY - 1) * SEALED), TEXT_LEN);
	/* Datagrams before the gap stay marked as opened. */
	assert_int_equal(open_copy(p.b, 0, all), -EALREADY);
	assert_int_equal(open_copy(p.b, 0, all + (size_t)(N_MANY - 1) * SEALED), -EALREADY);
	free(all);
	pair_free(p);
}

/* Each worker of the sender has its own window. */
static void windows_do_not_mix(void **state)
{
	struct pair p = pair_new(SEAL_AES_256_GCM);
	uint8_t *all = seal_many(p.a, 0, N_MANY), *other = seal_many(p.a, 1, 1);

	(void)state;
	for (unsigned i = 0; i < N_MANY; i++)
		assert_int_equal(open_copy(p.b, 0, all + i * SEALED), TEXT_LEN);
	assert_int_equal(open_copy(p.b, 0, other), TEXT_LEN);
	assert_int_equal(open_copy(p.b, 0, other), -EALREADY);
	free(all);
	free(other);
	pair_free(p);
}

struct racer {
	struct seal *seal;
	unsigned worker;
	const uint8_t *all;
	uint8_t *taken; /* opened, by datagram */
};

static void *race(void *arg)
{
	struct racer *r = arg;

	for (unsigned i = 0; i < N_MANY; i++) {
		/* Exchanges neighbors, so that both threads access one word of the window. */
		unsigned at = r->worker ? i ^ 1 : i;

		r->taken[at] = open_copy(r->seal, r->worker, r->all + at * SEALED) == TEXT_LEN;
	}
	return NULL;
}

static void workers_share_a_window(void **state)
{
	struct pair p = pair_new(SEAL_AES_256_GCM);
	uint8_t *all = seal_many(p.a, 0, N_MANY);
	struct racer r[2];
	pthread_t thread[2];
	unsigned once = 0;

	(void)state;
	for (unsigned i = 0; i < 2; i++) {
		r[i] = (struct racer){ p.b, i, all, calloc(N_MANY, 1) };
		assert_int_equal(pthread_create(&thread[i], NULL, race, &r[i]), 0);
	}
	for (unsigned i = 0; i < 2; i++)
		assert_int_equal(pthread_join(thread[i], NULL), 0);
	for (unsigned i = 0; i < N_MANY; i++) {
		/* No datagram is opened twice. A thread may miss a datagram only if the other
		 * thread is a window ahead and has opened it. */
		assert_false(r[0].taken[i] && r[1].taken[i]);
		once += r[0].taken[i] || r[1].taken[i];
	}
	assert_int_equal(once, N_MANY);
	free(r[0].taken);
	free(r[1].taken);
	free(all);
	pair_free(p);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(vectors),
		cmocka_unit_test(document),
		cmocka_unit_test(what_is_damaged_does_not_open),
		cmocka_unit_test(other_keys_and_epochs_are_refused),
		cmocka_unit_test(nothing_is_sealed_without_cipher),
		cmocka_unit_test(both_ends_agree),
		cmocka_unit_test(each_worker_counts_for_itself),
		cmocka_unit_test(references_keep_it),
		cmocka_unit_test(any_order_within_the_window),
		cmocka_unit_test(too_old_is_refused),
		cmocka_unit_test(loss_moves_the_window),
		cmocka_unit_test(windows_do_not_mix),
		cmocka_unit_test(workers_share_a_window),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
