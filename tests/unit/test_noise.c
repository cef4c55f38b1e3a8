// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * crypto/noise and crypto/invitation: the published vector of the Noise community, and the
 * datagrams of doc/protocol.md, which another implementation made (Python's cryptography). Damaged
 * messages do not open and leave the state for the genuine one.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <errno.h>
#include <string.h>

#include "crypto/invitation.h"
#include "golden.h"
#include "sample_dh.h"

/* Noise_NNpsk0_25519_AESGCM_SHA256 of github.com/haskell-cryptography/cacophony. */
#define PROLOGUE "John Galt"
static const char psk[] = "This is my Austrian perspective!";
static const uint8_t key_i[] = { 0x89, 0x3e, 0x28, 0xb9, 0xdc, 0x6c, 0xa8, 0xd6, 0x11, 0xab, 0x66,
				 0x47, 0x54, 0xb8, 0xce, 0xb7, 0xba, 0xc5, 0x11, 0x73, 0x49, 0xa4,
				 0x43, 0x9a, 0x6b, 0x05, 0x69, 0xda, 0x97, 0x7c, 0x46, 0x4a };
static const uint8_t key_r[] = { 0xbb, 0xdb, 0x4c, 0xdb, 0xd3, 0x09, 0xf1, 0xa1, 0xf2, 0xe1, 0x45,
				 0x69, 0x67, 0xfe, 0x28, 0x8c, 0xad, 0xd6, 0xf7, 0x12, 0xd6, 0x5d,
				 0xc7, 0xb7, 0x79, 0x3d, 0x5e, 0x63, 0xda, 0x6b, 0x37, 0x5b };
static const char message_1[] = "ca35def5ae56cec33dc2036731ab14896bc4c75dbb07a61f879f8e3afa4c7944"
				"7c37a89fc17813788d30df2d59501d6066f5f8aecc3406bbd9829f2d24a531b1";
static const char message_2[] = "95ebc60d2b1fa672c1f46a8aa265ef51bfe38e7ccb39ec5be34069f144808843"
				"2f29d79368ef9de4e1ae7a362fb05bf0ad668e026bf5714554497b3a720461";
static const char final_hash[] = "9f3b1f9afd7767767b5b9d1069844a6154fdbdcc36dfb3e31c0fffc5c973d530";

static struct ephemeral ephemeral_of(enum dh_curve curve, const uint8_t secret[DH_KEY_LEN])
{
	struct ephemeral e;

	memcpy(e.secret, secret, DH_KEY_LEN);
	sample_public(curve, e.secret, e.public);
	return e;
}

static struct ephemeral counting(enum dh_curve curve, uint8_t from)
{
	uint8_t secret[DH_KEY_LEN];

	for (unsigned i = 0; i < DH_KEY_LEN; i++)
		secret[i] = (uint8_t)(from + i);
	return ephemeral_of(curve, secret);
}

static void assert_hex(const char *want, const uint8_t *made, size_t len)
{
	uint8_t bytes[128];

	assert_int_equal(golden_line(want, bytes, sizeof(bytes)), len);
	assert_memory_equal(made, bytes, len);
}

static void the_published_vector(void **state)
{
	static const char text_1[] = "Ludwig von Mises", text_2[] = "Murray Rothbard";
	struct ephemeral i = ephemeral_of(DH_X25519, key_i), r = ephemeral_of(DH_X25519, key_r);
	uint8_t one[16 + NOISE_OVERHEAD], two[15 + NOISE_OVERHEAD], text[16];
	struct noise a, b;
	(void)state;

	noise_begin(&a, DH_X25519, (const uint8_t *)psk, PROLOGUE, strlen(PROLOGUE));
	noise_begin(&b, DH_X25519, (const uint8_t *)psk, PROLOGUE, strlen(PROLOGUE));
	noise_request(&a, &i, text_1, 16, one);
	assert_hex(message_1, one, sizeof(one));
	assert_int_equal(noise_open_request(&b, one, sizeof(one), text), 0);
	assert_memory_equal(text, text_1, 16);
	assert_int_equal(noise_answer(&b, &r, one, text_2, 15, two), 0);
	assert_hex(message_2, two, sizeof(two));
	assert_int_equal(noise_open_answer(&a, &i, two, sizeof(two), text), 0);
	assert_memory_equal(text, text_2, 15);
	assert_hex(final_hash, a.hash, sizeof(a.hash));
	assert_hex(final_hash, b.hash, sizeof(b.hash));
}

/* --- the datagrams of the document --- */

static const struct token token = { .vni = 0x012345,
				    .one_time = true,
				    .value = { 0,  1,  2,  3,  4,  5,  6,  7,  8,  9,  10,
					       11, 12, 13, 14, 15, 16, 17, 18, 19, 20, 21,
					       22, 23, 24, 25, 26, 27, 28, 29, 30, 31 } };

static const struct {
	const char *request, *answer;
} name[] = {
	[DH_X25519] = { "invitation-request", "invitation-answer" },
	[DH_P256] = { "invitation-request-p256", "invitation-answer-p256" },
};

/* The request of the document, as its sender has it. */
static struct invitation_request documented_request(enum dh_curve curve)
{
	static const uint8_t zeros[INVITATION_TEXT_LEN];
	struct invitation_request r = { .own = counting(curve, 0x20) };
	uint8_t want[GOLDEN_MAX];

	assert_int_equal(golden(name[curve].request, want), INVITATION_LEN);
	memcpy(r.datagram, want, INVITATION_AT_NOISE);
	noise_begin(&r.noise, curve, token.value, r.datagram, INVITATION_AT_NOISE);
	noise_request(&r.noise, &r.own, zeros, sizeof(zeros), r.datagram + INVITATION_AT_NOISE);
	assert_golden(name[curve].request, r.datagram, sizeof(r.datagram));
	return r;
}

static void documented_datagrams(enum dh_curve curve)
{
	struct invitation_request r = documented_request(curve);
	uint8_t id[INVITATION_ID_LEN], answer[GOLDEN_MAX];
	struct invitation_text text;
	struct noise n;

	invitation_id(token.value, id);
	assert_memory_equal(id, r.datagram + INVITATION_AT_ID, sizeof(id));
	assert_int_equal(invitation_open_request(&n, !curve, token.value, r.datagram), -EBADMSG);
	assert_int_equal(invitation_open_request(&n, curve, token.value, r.datagram), 0);
	assert_int_equal(golden(name[curve].answer, answer), INVITATION_LEN);
	assert_int_equal(invitation_open_answer(&r, answer, INVITATION_LEN, &text), 0);
	assert_int_equal(text.status, INVITATION_GRANTED);
	assert_string_equal(text.secret, "correct horse battery staple");
	assert_false(text.pbkdf2);
}

static void the_documented_datagrams(void **state)
{
	(void)state;
	documented_datagrams(DH_X25519);
	documented_datagrams(DH_P256);
}

static void from_request_to_secret_with(enum dh_curve curve)
{
	struct token t = token;
	struct invitation_text sent = { .pbkdf2 = true, .secret = "a secret with an é" }, text;
	uint8_t answer[INVITATION_LEN], again[INVITATION_LEN];
	struct invitation_request r;
	struct leon_hdr asked, answered;
	struct noise n;
	size_t hdr_len;

	t.p256 = curve == DH_P256;
	invitation_request(&r, &t);
	assert_int_equal(invitation_open_request(&n, curve, t.value, r.datagram), 0);
	assert_int_equal(invitation_answer(&n, 0xc0000201, r.datagram, &sent, answer), 0);
	assert_int_equal(leon_decode(r.datagram, INVITATION_LEN, &asked, &hdr_len), LEON_OK);
	assert_int_equal(leon_decode(answer, INVITATION_LEN, &answered, &hdr_len), LEON_OK);
	assert_int_equal(answered.hop[0], asked.source);
	assert_int_equal(answered.vni, t.vni);
	/* A second answer to the same request has another key and also opens. */
	assert_int_equal(invitation_open_request(&n, curve, t.value, r.datagram), 0);
	assert_int_equal(invitation_answer(&n, 0xc0000201, r.datagram, &sent, again), 0);
	assert_memory_not_equal(answer, again, INVITATION_LEN);
	assert_int_equal(invitation_open_answer(&r, again, INVITATION_LEN, &text), 0);
	assert_string_equal(text.secret, sent.secret);
	assert_true(text.pbkdf2);
}

static void from_request_to_secret(void **state)
{
	(void)state;
	from_request_to_secret_with(DH_X25519);
	from_request_to_secret_with(DH_P256);
}

static void every_damage(void **state)
{
	struct invitation_request r = documented_request(DH_X25519);
	uint8_t answer[GOLDEN_MAX];
	struct invitation_text text;
	struct noise n;
	(void)state;

	golden("invitation-answer", answer);
	for (size_t i = 0; i < INVITATION_LEN; i++) {
		r.datagram[i] ^= 1;
		assert_int_equal(invitation_open_request(&n, DH_X25519, token.value, r.datagram),
				 -EBADMSG);
		r.datagram[i] ^= 1;
		if (i < INVITATION_AT_ID)
			continue; /* the header of an answer only leads it to the machine */
		answer[i] ^= 1;
		assert_int_equal(invitation_open_answer(&r, answer, INVITATION_LEN, &text),
				 -EBADMSG);
		answer[i] ^= 1;
	}
	assert_int_equal(invitation_open_answer(&r, answer, INVITATION_LEN - 1, &text), -EBADMSG);
	assert_int_equal(invitation_open_answer(&r, answer, INVITATION_LEN, &text), 0);
}

/* The holder of another token, and an observer with the token but without the ephemeral key. */
static void wrong_keys(void **state)
{
	struct invitation_request r = documented_request(DH_X25519);
	uint8_t answer[GOLDEN_MAX], other[TOKEN_VALUE_LEN] = { 1 };
	struct invitation_text text;
	struct noise n;
	(void)state;

	golden("invitation-answer", answer);
	assert_int_equal(invitation_open_request(&n, DH_X25519, other, r.datagram), -EBADMSG);
	r.own = counting(DH_X25519, 0x60);
	assert_int_equal(invitation_open_answer(&r, answer, INVITATION_LEN, &text), -EBADMSG);
}

/* A member never answers a public key of small order. */
static void weak_key(void **state)
{
	static const uint8_t zeros[INVITATION_TEXT_LEN];
	struct ephemeral weak = { .secret = { 0 } };
	uint8_t out[INVITATION_LEN];
	struct noise n;
	(void)state;

	noise_begin(&n, DH_X25519, token.value, "", 0);
	noise_request(&n, &weak, zeros, sizeof(zeros), out);
	noise_begin(&n, DH_X25519, token.value, "", 0);
	assert_int_equal(noise_open_request(&n, out, INVITATION_TEXT_LEN + NOISE_OVERHEAD, out), 0);
	assert_int_equal(noise_answer(&n, &(struct ephemeral){ .secret = { 1 } }, weak.public,
				      zeros, sizeof(zeros), out),
			 -EBADMSG);
}

static void answers_that_say_nothing(void **state)
{
	static const struct invitation_text cases[] = {
		{ .status = (enum invitation_status)2, .secret = "long enough" },
		{ .status = INVITATION_GRANTED, .secret = "short" },
		{ .status = INVITATION_GRANTED, .secret = "no UTF-8 \xff" },
	};
	(void)state;

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct invitation_request r;
		uint8_t answer[INVITATION_LEN];
		struct invitation_text text;
		struct noise n;

		invitation_request(&r, &token);
		invitation_open_request(&n, DH_X25519, token.value, r.datagram);
		assert_int_equal(invitation_answer(&n, 1, r.datagram, &cases[i], answer), 0);
		assert_int_equal(invitation_open_answer(&r, answer, INVITATION_LEN, &text),
				 -EBADMSG);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_published_vector),
		cmocka_unit_test(the_documented_datagrams),
		cmocka_unit_test(from_request_to_secret),
		cmocka_unit_test(every_damage),
		cmocka_unit_test(wrong_keys),
		cmocka_unit_test(weak_key),
		cmocka_unit_test(answers_that_say_nothing),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
