// SPDX-License-Identifier: GPL-2.0-or-later
/* crypto/aead agrees with published vectors for keys and signatures. AES-256-GCM: test_gcm.c. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "crypto/aead.h"
#include "crypto/public_key.h"
#include "sample_dh.h"

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

/* RFC 5869 appendix A.1 to A.3, up to the length of the output of kdf(). */
static void test_hkdf(void **state)
{
	uint8_t ikm[80], salt[80], info[80], want[82], out[64];
	size_t n;

	(void)state;
	memset(ikm, 0x0b, 22);
	unhex("000102030405060708090a0b0c", salt);
	unhex("f0f1f2f3f4f5f6f7f8f9", info);
	n = unhex(
		"3cb25f25faacd57a90434f64d0362f2a2d2d0a90cf1a5a4c5db02d56ecc4c5bf34007208d5b887185865",
		want);
	kdf(ikm, 22, salt, 13, info, 10, out, n);
	assert_memory_equal(out, want, n);
	for (unsigned i = 0; i < 80; i++) {
		ikm[i] = (uint8_t)i;
		salt[i] = (uint8_t)(0x60 + i);
		info[i] = (uint8_t)(0xb0 + i);
	}
	n = unhex("b11e398dc80327a1c8e7f78c596a49344f012eda2d4efad8a050cc4c19afa97c"
		  "59045a99cac7827271cb41c65e590e09da3275600c2f09b8367793a9aca3db71",
		  want);
	assert_int_equal(n, 64);
	kdf(ikm, 80, salt, 80, info, 80, out, n);
	assert_memory_equal(out, want, n);
	memset(ikm, 0x0b, 22);
	n = unhex(
		"8da4e775a563c18f715f802a063c5a31b8a11f5c5ee1879ec3454e5f3c738d2d9d201395faa4b61a96c8",
		want);
	kdf(ikm, 22, NULL, 0, NULL, 0, out, n);
	assert_memory_equal(out, want, n);
}

/* RFC 4231. */
static void test_keyed_hash(void **state)
{
	uint8_t key[32], want[32], out[32];

	(void)state;
	/* RFC 4231 test case 1: a key of 20 bytes 0x0b. HMAC pads a key with zeros to the block
	 * size. */
	memset(key, 0, sizeof(key));
	memset(key, 0x0b, 20);
	unhex("b0344c61d8db38535ca8afceaf0bf12b881dc200c9833da726e9376c2e32cff7", want);
	keyed_hash(key, "Hi There", 8, out, 32);
	assert_memory_equal(out, want, 32);
	memset(out, 0, sizeof(out));
	keyed_hash(key, "Hi There", 8, out, 16);
	assert_memory_equal(out, want, 16);
	assert_int_equal(out[16], 0);
}

static void test_x25519(void **state)
{
	uint8_t a[32] = { 9 }, b[32] = { 7 }, pub_a[32], pub_b[32], want[32], one[32], two[32];

	(void)state;
	/* RFC 7748 section 5.2, the first iteration: scalar and point are both 9. */
	unhex("422c8e7a6227d7bca1350b3e2bb7279f7897b87bb6854b783c60e80311ae3079", want);
	sample_public(DH_X25519, a, pub_a);
	assert_memory_equal(pub_a, want, 32);
	sample_public(DH_X25519, b, pub_b);
	assert_int_equal(dh_shared(DH_X25519, a, pub_b, one), 0);
	assert_int_equal(dh_shared(DH_X25519, b, pub_a, two), 0);
	assert_memory_equal(one, two, 32);
	/* Points of small order. */
	memset(pub_a, 0, 32);
	assert_int_equal(dh_shared(DH_X25519, a, pub_a, one), -EBADMSG);
	pub_a[0] = 1;
	assert_int_equal(dh_shared(DH_X25519, a, pub_a, one), -EBADMSG);
}

/* Vector 0 of P-256 of the primitive test of NIST for SP 800-56A. */
static void test_p256(void **state)
{
	uint8_t secret[32], theirs[32], own[32], want[32], made[32];

	(void)state;
	unhex("7d7dc5f71eb29ddaf80d6214632eeae03d9058af1fb6d22ed80badb62bc1a534", secret);
	unhex("700c48f77f56584c5cc632ca65640db91b6bacce3a4df6b42ce7cc838833d287", theirs);
	unhex("ead218590119e8876b29146ff89ca61770c4edbbf97d38ce385ed281d8a6b230", own);
	unhex("46fc62106420ff012e54a434fbdd2d25ccc5852060561e68040dd7778997bd7b", want);
	sample_public(DH_P256, secret, made);
	assert_memory_equal(made, own, 32);
	assert_int_equal(dh_shared(DH_P256, secret, theirs, made), 0);
	assert_memory_equal(made, want, 32);
	/* No key; an x without a point; an x above the prime. */
	memset(theirs, 0, 32);
	assert_int_equal(dh_shared(DH_P256, secret, theirs, made), -EBADMSG);
	theirs[31] = 1;
	assert_int_equal(dh_shared(DH_P256, secret, theirs, made), -EBADMSG);
	memset(theirs, 0xff, 32);
	assert_int_equal(dh_shared(DH_P256, secret, theirs, made), -EBADMSG);
}

static void test_generated_keys(void **state)
{
	uint8_t a[2][32], b[2][32], one[32], two[32];

	(void)state;
	for (enum dh_curve curve = DH_X25519; curve <= DH_P256; curve++) {
		dh_generate(curve, a[0], a[1]);
		dh_generate(curve, b[0], b[1]);
		assert_memory_not_equal(a[1], b[1], 32);
		sample_public(curve, a[0], one);
		assert_memory_equal(one, a[1], 32);
		assert_int_equal(dh_shared(curve, a[0], b[1], one), 0);
		assert_int_equal(dh_shared(curve, b[0], a[1], two), 0);
		assert_memory_equal(one, two, 32);
	}
}

static void test_ed25519(void **state)
{
	uint8_t secret[32], public[32], want[64], signature[64];
	const uint8_t byte = 0x72;

	(void)state;
	/* RFC 8032 section 7.1, TEST 1: the empty message. */
	unhex("9d61b19deffd5a60ba844af492ec2cc44449c5697b326919703bac031cae7f60", secret);
	unhex("d75a980182b10ab7d54bfed3c964073a0ee172f3daa62325af021a68f707511a", want);
	sign_public(secret, public);
	assert_memory_equal(public, want, 32);
	unhex("e5564300c360ac729086e2cc806e828a84877f1eb8e5d974d873e065224901555fb8821590a33bac"
	      "c61e39701cf9b46bd25bf5f0595bbe24655141438e7a100b",
	      want);
	sign_make(secret, "", 0, signature);
	assert_memory_equal(signature, want, 64);
	assert_true(sign_verify(public, "", 0, signature));
	assert_false(sign_verify(public, &byte, 1, signature));
	for (unsigned bit = 0; bit < 8 * sizeof(signature); bit++) {
		signature[bit / 8] ^= (uint8_t)(1 << bit % 8);
		assert_false(sign_verify(public, "", 0, signature));
		signature[bit / 8] ^= (uint8_t)(1 << bit % 8);
	}
	/* Bytes that are not a valid key. */
	memset(public, 0xff, 32);
	assert_false(sign_verify(public, "", 0, signature));
}

static void test_random(void **state)
{
	uint8_t a[32] = { 0 }, b[32] = { 0 };

	(void)state;
	random_bytes(a, sizeof(a));
	random_bytes(b, sizeof(b));
	assert_memory_not_equal(a, b, sizeof(a));
	assert_true(random_u64_nonzero() != random_u64_nonzero());
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_hkdf),	       cmocka_unit_test(test_keyed_hash),
		cmocka_unit_test(test_x25519),	       cmocka_unit_test(test_p256),
		cmocka_unit_test(test_generated_keys), cmocka_unit_test(test_ed25519),
		cmocka_unit_test(test_random),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
