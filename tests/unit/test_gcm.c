// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * AES-256-GCM of crypto/aead by both libraries: published vectors, damaged messages, and equal
 * bytes for random texts. The tests of ipsec-mb are skipped only on a processor without AES
 * instructions and in a build without ipsec-mb.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "crypto/aead.h"
#include "random.h"

#define TEXT_MAX 9000
#define AAD_MAX	 64
#define PIECES	 4

static void select_ipsec_mb(void)
{
	char why_not[200] = "";

	if (!aead_may_use_ipsec_mb(why_not, sizeof(why_not))) {
		printf("ipsec-mb: %s\n", why_not);
		if (aead_aes_is_fast() && !strstr(why_not, "built without"))
			fail();
		skip();
	}
	aead_use_ipsec_mb(true);
}

static int select_libcrypto(void **state)
{
	(void)state;
	aead_use_ipsec_mb(false);
	return 0;
}

static size_t unhex(const char *hex, uint8_t *out)
{
	size_t n = strlen(hex) / 2;

	for (size_t i = 0; i < n; i++) {
		unsigned v;

		assert_int_equal(sscanf(hex + 2 * i, "%2x", &v), 1);
		out[i] = (uint8_t)v;
	}
	return n;
}

/* McGrew and Viega, "The Galois/Counter Mode of Operation", test cases 13 to 16 (256-bit keys),
 * then four of NIST's vectors for validation (gcmEncryptExtIV256). */
static const struct gcm_vector {
	const char *key, *nonce, *aad, *text, *sealed;
} gcm_vectors[] = {
	{ "0000000000000000000000000000000000000000000000000000000000000000",
	  "000000000000000000000000", "", "", "530f8afbc74536b9a963b4f1c4cb738b" },
	{ "0000000000000000000000000000000000000000000000000000000000000000",
	  "000000000000000000000000", "", "00000000000000000000000000000000",
	  "cea7403d4d606b6e074ec5d3baf39d18d0d1c8a799996bf0265b98b5d48ab919" },
	{ "feffe9928665731c6d6a8f9467308308feffe9928665731c6d6a8f9467308308",
	  "cafebabefacedbaddecaf888", "",
	  "d9313225f88406e5a55909c5aff5269a86a7a9531534f7da2e4c303d8a318a72"
	  "1c3c0c95956809532fcf0e2449a6b525b16aedf5aa0de657ba637b391aafd255",
	  "522dc1f099567d07f47f37a32a84427d643a8cdcbfe5c0c97598a2bd2555d1aa"
	  "8cb08e48590dbb3da7b08b1056828838c5f61e6393ba7a0abcc9f662898015ad"
	  "b094dac5d93471bdec1a502270e3cc6c" },
	{ "feffe9928665731c6d6a8f9467308308feffe9928665731c6d6a8f9467308308",
	  "cafebabefacedbaddecaf888", "feedfacedeadbeeffeedfacedeadbeefabaddad2",
	  "d9313225f88406e5a55909c5aff5269a86a7a9531534f7da2e4c303d8a318a72"
	  "1c3c0c95956809532fcf0e2449a6b525b16aedf5aa0de657ba637b39",
	  "522dc1f099567d07f47f37a32a84427d643a8cdcbfe5c0c97598a2bd2555d1aa"
	  "8cb08e48590dbb3da7b08b1056828838c5f61e6393ba7a0abcc9f662"
	  "76fc6ece0f4e1768cddf8853bb2d551b" },
	{ "b52c505a37d78eda5dd34f20c22540ea1b58963cf8e5bf8ffa85f9f2492505b4",
	  "516c33929df5a3284ff463d7", "", "", "bdc1ac884d332457a1d2664f168c76f0" },
	{ "31bdadd96698c204aa9ce1448ea94ae1fb4a9a0b3c9d773b51bb1822666b8f22",
	  "0d18e06c7c725ac9e362e1ce", "", "2db5168e932556f8089a0622981d017d",
	  "fa4362189661d163fcd6a56d8bf0405ad636ac1bbedd5cc3ee727dc2ab4a9489" },
	{ "92e11dcdaa866f5ce790fd24501f92509aacf4cb8b1339d50c9c1240935dd08b",
	  "ac93a1a6145299bde902f21a", "1e0889016f67601c8ebea4943bc23ad6",
	  "2d71bcfa914e4ac045b2aa60955fad24",
	  "8995ae2e6df3dbf96fac7b7137bae67feca5aa77d51d4a0a14d9c51e1da474ab" },
	{ "463b412911767d57a0b33969e674ffe7845d313b88c6fe312f3d724be68e1fca",
	  "611ce6f9a6880750de7da6cb",
	  "0a682fbc6192e1b47a5e0868787ffdafe5a50cead3575849990cdd2ea9b3597749403efb4a56684f"
	  "0c6bde352d4aeec5",
	  "e7d1dcf668e2876861940e012fe52a98dacbd78ab63c08842cc9801ea581682ad54af0c34d0d7f6f"
	  "59e8ee0bf4900e0fd85042",
	  "8886e196010cb3849d9c1a182abe1eeab0a5f3ca423c3669a4a8703c0f146e8e956fb122e0d721b8"
	  "69d2b6fcd4216d7d4d3758"
	  "2469cecd70fd98fec9264f71df1aee9a" },
};

static void run_gcm(const struct gcm_vector *t)
{
	uint8_t key[32], nonce[12], aad[64], text[64], sealed[80], buf[80];
	size_t aad_len = unhex(t->aad, aad), len = unhex(t->text, text);
	size_t sealed_len = unhex(t->sealed, sealed);
	struct aead *a;

	unhex(t->key, key);
	unhex(t->nonce, nonce);
	a = aead_new(key);
	/* One context seals and opens repeatedly, and in place. */
	for (int i = 0; i < 2; i++) {
		memcpy(buf, text, len);
		assert_int_equal(aead_seal(a, nonce, aad, aad_len, buf, len, buf), 0);
		assert_memory_equal(buf, sealed, sealed_len);
		assert_int_equal(aead_open(a, nonce, aad, aad_len, buf, sealed_len, buf), 0);
		assert_memory_equal(buf, text, len);
	}
	/* A flipped bit at any position makes opening fail, and no plain text is left in the
	 * buffer. */
	for (size_t bit = 0; bit < 8 * sealed_len; bit += 5) {
		memcpy(buf, sealed, sealed_len);
		buf[bit / 8] ^= (uint8_t)(1 << bit % 8);
		assert_int_equal(aead_open(a, nonce, aad, aad_len, buf, sealed_len, buf), -EBADMSG);
		for (size_t i = 0; i < len; i++)
			assert_int_equal(buf[i], 0);
	}
	/* Valid data still opens after the failures. */
	assert_int_equal(aead_open(a, nonce, aad, aad_len, sealed, sealed_len, buf), 0);
	nonce[11] ^= 1;
	assert_int_equal(aead_open(a, nonce, aad, aad_len, sealed, sealed_len, buf), -EBADMSG);
	nonce[11] ^= 1;
	aad[aad_len] = 0;
	assert_int_equal(aead_open(a, nonce, aad, aad_len + 1, sealed, sealed_len, buf), -EBADMSG);
	for (size_t cut = 0; cut < AEAD_TAG_LEN; cut++)
		assert_int_equal(aead_open(a, nonce, aad, aad_len, sealed, cut, buf), -EBADMSG);
	aead_free(a);
}

static void run_vectors(void)
{
	for (size_t i = 0; i < sizeof(gcm_vectors) / sizeof(gcm_vectors[0]); i++)
		run_gcm(&gcm_vectors[i]);
}

static void test_vectors_libcrypto(void **state)
{
	(void)state;
	assert_string_equal(aead_library(), "libcrypto");
	run_vectors();
	aead_free(NULL);
}

static void test_vectors_ipsec_mb(void **state)
{
	(void)state;
	select_ipsec_mb();
	assert_string_equal(aead_library(), "ipsec-mb");
	run_vectors();
}

static void too_long(void)
{
	const uint8_t key[32] = { 0 }, nonce[12] = { 0 };
	struct aead *a = aead_new(key);
	uint8_t byte = 0;

	/* The length is refused before any byte is read. */
	assert_int_equal(aead_seal(a, nonce, NULL, 0, &byte, 1u << 31, &byte), -EIO);
	assert_int_equal(aead_seal(a, nonce, &byte, 1u << 31, &byte, 1, &byte), -EIO);
	aead_free(a);
}

static void test_too_long_libcrypto(void **state)
{
	(void)state;
	too_long();
}

static void test_too_long_ipsec_mb(void **state)
{
	(void)state;
	select_ipsec_mb();
	too_long();
}

/* A key with a context of each library. */
struct pair {
	struct aead *libcrypto, *ipsec_mb;
};

static struct pair pair_new(enum aead_cipher cipher)
{
	uint8_t seal_key[32], open_key[32];
	struct pair p;

	for (unsigned i = 0; i < 32; i++) {
		seal_key[i] = (uint8_t)random_below(256);
		open_key[i] = seal_key[i];
	}
	aead_use_ipsec_mb(false);
	p.libcrypto = aead_new_pair(cipher, seal_key, open_key);
	select_ipsec_mb();
	p.ipsec_mb = aead_new_pair(cipher, seal_key, open_key);
	return p;
}

static void pair_free(struct pair *p)
{
	aead_free(p->libcrypto);
	aead_free(p->ipsec_mb);
}

struct message {
	uint8_t nonce[12], aad[AAD_MAX], text[TEXT_MAX], sealed[TEXT_MAX + 16], buf[TEXT_MAX + 16];
	size_t aad_len, len;
};

static void random_fill(uint8_t *p, size_t len)
{
	for (size_t i = 0; i < len; i++)
		p[i] = (uint8_t)random_below(256);
}

/* Cuts the text into pieces, of which some are empty. */
static unsigned cut(const struct message *m, struct aead_piece in[PIECES])
{
	unsigned n = 1 + random_below(PIECES);
	size_t at = 0;

	for (unsigned i = 0; i < n; at += in[i].len, i++) {
		in[i].data = m->text + at;
		in[i].len = i + 1 < n ? random_below((uint32_t)(m->len - at) + 1) : m->len - at;
	}
	return n;
}

/* A refused message leaves no text. */
static void refuse(struct aead *a, const struct message *m, uint8_t *buf)
{
	assert_int_equal(aead_open(a, m->nonce, m->aad, m->aad_len, buf, m->len + 16, buf),
			 -EBADMSG);
	for (size_t i = 0; i < m->len; i++)
		assert_int_equal(buf[i], 0);
}

static void damage(struct aead *a, struct message *m)
{
	memcpy(m->buf, m->sealed, m->len + 16);
	m->buf[m->len + random_below(16)] ^= (uint8_t)(1 << random_below(8));
	refuse(a, m, m->buf);
	if (m->len) {
		memcpy(m->buf, m->sealed, m->len + 16);
		m->buf[random_below((uint32_t)m->len)] ^= 0x10;
		refuse(a, m, m->buf);
	}
	if (m->aad_len) {
		unsigned at = random_below((uint32_t)m->aad_len);

		memcpy(m->buf, m->sealed, m->len + 16);
		m->aad[at] ^= 1;
		refuse(a, m, m->buf);
		m->aad[at] ^= 1;
	}
	m->nonce[random_below(12)] ^= 1;
	memcpy(m->buf, m->sealed, m->len + 16);
	refuse(a, m, m->buf);
}

static void compare(const struct pair *p, struct message *m)
{
	struct aead_piece in[PIECES];
	unsigned n = cut(m, in);

	assert_int_equal(
		aead_seal_pieces(p->libcrypto, m->nonce, m->aad, m->aad_len, in, n, m->sealed), 0);
	assert_int_equal(aead_seal_pieces(p->ipsec_mb, m->nonce, m->aad, m->aad_len, in, n, m->buf),
			 0);
	assert_memory_equal(m->buf, m->sealed, m->len + 16);
	/* One piece, in place. */
	memcpy(m->buf, m->text, m->len);
	assert_int_equal(
		aead_seal(p->ipsec_mb, m->nonce, m->aad, m->aad_len, m->buf, m->len, m->buf), 0);
	assert_memory_equal(m->buf, m->sealed, m->len + 16);
	assert_int_equal(aead_open(p->libcrypto, m->nonce, m->aad, m->aad_len, m->buf, m->len + 16,
				   m->buf),
			 0);
	assert_memory_equal(m->buf, m->text, m->len);
	memset(m->buf, 0, m->len);
	assert_int_equal(aead_open(p->ipsec_mb, m->nonce, m->aad, m->aad_len, m->sealed,
				   m->len + 16, m->buf),
			 0);
	assert_memory_equal(m->buf, m->text, m->len);
	damage(p->ipsec_mb, m);
}

/* Each length up to TEXT_MAX, with one pair of contexts for all. */
static void test_equal_bytes(void **state)
{
	static struct message m;
	struct pair p = pair_new(AEAD_AES_256_GCM);

	(void)state;
	random_fill(m.text, TEXT_MAX);
	for (m.len = 0; m.len <= TEXT_MAX; m.len++) {
		random_fill(m.nonce, sizeof(m.nonce));
		m.aad_len = random_below(AAD_MAX + 1);
		random_fill(m.aad, m.aad_len);
		compare(&p, &m);
	}
	pair_free(&p);
}

/* The packet path seals a head in place, and a body from another buffer behind it. */
static void test_head_in_place(void **state)
{
	static struct message m = { .len = 1400, .aad_len = 24 };
	struct pair p = pair_new(AEAD_AES_256_GCM);

	(void)state;
	random_fill(m.text, m.len);
	for (size_t head = 0; head <= 70; head++) {
		const struct aead_piece in[] = { { m.buf, head }, { m.text + head, m.len - head } };

		memcpy(m.buf, m.text, head);
		assert_int_equal(
			aead_seal_pieces(p.ipsec_mb, m.nonce, m.aad, m.aad_len, in, 2, m.buf), 0);
		assert_int_equal(aead_seal(p.libcrypto, m.nonce, m.aad, m.aad_len, m.text, m.len,
					   m.sealed),
				 0);
		assert_memory_equal(m.buf, m.sealed, m.len + 16);
	}
	pair_free(&p);
}

/* ipsec-mb is for AES-256-GCM only. */
static void test_chacha(void **state)
{
	static struct message m = { .len = 100 };
	struct pair p = pair_new(AEAD_CHACHA20_POLY1305);

	(void)state;
	compare(&p, &m);
	pair_free(&p);
}

/* A context keeps its library if another one is selected. */
static void test_change(void **state)
{
	const uint8_t key[32] = { 7 }, nonce[12] = { 0 };
	struct aead *old, *new;
	uint8_t buf[16] = "x";

	(void)state;
	select_ipsec_mb();
	old = aead_new(key);
	aead_use_ipsec_mb(false);
	new = aead_new(key);
	assert_int_equal(aead_seal(old, nonce, NULL, 0, "text", 0, buf), 0);
	assert_int_equal(aead_open(new, nonce, NULL, 0, buf, 16, buf), 0);
	aead_free(old);
	assert_int_equal(aead_seal(new, nonce, NULL, 0, "text", 0, buf), 0);
	aead_free(new);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_teardown(test_vectors_libcrypto, select_libcrypto),
		cmocka_unit_test_teardown(test_vectors_ipsec_mb, select_libcrypto),
		cmocka_unit_test_teardown(test_too_long_libcrypto, select_libcrypto),
		cmocka_unit_test_teardown(test_too_long_ipsec_mb, select_libcrypto),
		cmocka_unit_test_teardown(test_equal_bytes, select_libcrypto),
		cmocka_unit_test_teardown(test_head_in_place, select_libcrypto),
		cmocka_unit_test_teardown(test_chacha, select_libcrypto),
		cmocka_unit_test_teardown(test_change, select_libcrypto),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
