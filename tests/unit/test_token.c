// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * wire/message/token: invite tokens. The token of doc/protocol.md has the documented content, and
 * any damage is detected. Each refusal is a sentence that does not contain the token.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <string.h>

#include "base/defs.h"
#include "golden.h"
#include "wire/message/token.h"

#define SECRET "correct horse battery staple"

static const char golden_text[] =
	"leon1.AAABAhT2CTE5Mi4wLjIuMRtYEXNlb3VsLmV4YW1wbGUubmV0HGNvcnJlY3QgaG9yc2UgYmF0dGVyeSBzdGFwbGU7"
	"Hy_G";

static const struct token sample = {
	.vni = 1,
	.n_seeds = 2,
	.seed = { { "192.0.2.1", 5366 }, { "seoul.example.net", 7000 } },
	.secret = SECRET,
};

static void assert_same(const struct token *a, const struct token *b)
{
	assert_int_equal(a->expires, b->expires);
	assert_int_equal(a->vni, b->vni);
	assert_int_equal(a->n_seeds, b->n_seeds);
	for (unsigned i = 0; i < a->n_seeds; i++) {
		assert_string_equal(a->seed[i].host, b->seed[i].host);
		assert_int_equal(a->seed[i].port, b->seed[i].port);
	}
	assert_string_equal(a->secret, b->secret);
}

static const char *decode(const char *text, struct token *out)
{
	return token_decode(text, strlen(text), out);
}

/* An independent decoder of base64url. */
static size_t decoded(const char *text, uint8_t *out)
{
	static const char digits[] =
		"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_";
	size_t bit = 0;

	for (; *text; text++, bit += 6)
		for (size_t i = 0; i < 6; i++)
			if ((size_t)(strchr(digits, *text) - digits) >> (5 - i) & 1)
				out[(bit + i) / 8] |= (uint8_t)(0x80 >> ((bit + i) % 8));
	return bit / 8;
}

static void the_one_of_the_document(void **state)
{
	uint8_t bytes[GOLDEN_MAX] = { 0 }, want[GOLDEN_MAX];
	char text[TOKEN_TEXT_MAX];
	struct token t;
	(void)state;

	assert_true(token_encode(&sample, text));
	assert_string_equal(text, golden_text);
	assert_null(decode(golden_text, &t));
	assert_same(&t, &sample);
	assert_int_equal(decoded(golden_text + strlen(TOKEN_PREFIX), bytes), golden("token", want));
	assert_memory_equal(bytes, want, golden("token", want));
}

static void the_largest(void **state)
{
	struct token t = { .vni = 0xffffff, .n_seeds = TOKEN_SEEDS_MAX }, back;
	char text[TOKEN_TEXT_MAX];
	(void)state;

	for (unsigned i = 0; i < TOKEN_SEEDS_MAX; i++) {
		memset(t.seed[i].host, 'a' + (int)i, TOKEN_HOST_MAX);
		t.seed[i].port = (uint16_t)(65535 - i);
	}
	memset(t.secret, '~', TOKEN_SECRET_MAX);
	assert_true(token_encode(&t, text));
	assert_null(decode(text, &back));
	assert_same(&t, &back);
}

static void out_of_range(void **state)
{
	struct token t = sample;
	char text[TOKEN_TEXT_MAX];
	(void)state;

	t.vni = 1 << 24;
	assert_false(token_encode(&t, text));
	t = sample;
	t.n_seeds = 0;
	assert_false(token_encode(&t, text));
	t = sample;
	t.seed[1].port = 0;
	assert_false(token_encode(&t, text));
	t = sample;
	t.seed[0].host[0] = '\0';
	assert_false(token_encode(&t, text));
	t = sample;
	t.secret[7] = '\0';
	assert_false(token_encode(&t, text));
	t = sample;
	t.secret[3] = '\xff'; /* no UTF-8 */
	assert_false(token_encode(&t, text));
}

/* The one-time token of the document has no secret. */
static void one_time(void **state)
{
	static const char text[] =
		"leon3.AAAAAAAAAQEU9gkxOTIuMC4yLjEAAQIDBAUGBwgJCgsMDQ4PEBESExQVFhc"
		"YGRobHB0eH1IsL7s";
	struct token t = { .vni = 1,
			   .n_seeds = 1,
			   .seed = { { "192.0.2.1", 5366 } },
			   .one_time = true,
			   .secret = SECRET },
		     back;
	uint8_t bytes[GOLDEN_MAX] = { 0 }, want[GOLDEN_MAX];
	char made[TOKEN_TEXT_MAX];
	(void)state;

	for (unsigned i = 0; i < TOKEN_VALUE_LEN; i++)
		t.value[i] = (uint8_t)i;
	assert_true(token_encode(&t, made));
	assert_string_equal(made, text);
	assert_int_equal(decoded(text + strlen(TOKEN_ONE_TIME), bytes),
			 golden("token-one-time", want));
	assert_memory_equal(bytes, want, golden("token-one-time", want));
	t.secret[0] = '\0';
	assert_null(decode(text, &back));
	assert_same(&t, &back);
	assert_true(back.one_time);
	assert_memory_equal(back.value, t.value, TOKEN_VALUE_LEN);
	t.expires = 1800000000;
	assert_true(token_encode(&t, made));
	assert_null(decode(made, &back));
	assert_int_equal(back.expires, t.expires);
	made[4] = '2';
	assert_non_null(decode(made, &back));
}

/* The form of a one-time token carries the curve. */
static void one_time_p256(void **state)
{
	static const char text[] =
		"leon4.AAAAAAAAAQEU9gkxOTIuMC4yLjEAAQIDBAUGBwgJCgsMDQ4PEBESExQVFhc"
		"YGRobHB0eH1ZUc7k";
	struct token t;
	char made[TOKEN_TEXT_MAX];
	(void)state;

	assert_null(decode(text, &t));
	assert_true(t.one_time && t.p256);
	assert_int_equal(t.value[31], 31);
	assert_true(token_encode(&t, made));
	assert_string_equal(made, text);
	t.p256 = false;
	assert_true(token_encode(&t, made));
	assert_int_equal(strncmp(made, TOKEN_ONE_TIME, strlen(TOKEN_ONE_TIME)), 0);
}

static void with_an_expiry(void **state)
{
	struct token t = sample, back;
	char text[TOKEN_TEXT_MAX];
	(void)state;

	t.expires = 1800000000;
	assert_true(token_encode(&t, text));
	assert_int_equal(strncmp(text, "leon2.", 6), 0);
	assert_null(decode(text, &back));
	assert_same(&t, &back);
	/* The time cannot be removed by another digit. */
	text[4] = '1';
	assert_non_null(decode(text, &back));
}

/* Mail and user-data break lines. */
static void white_space(void **state)
{
	char text[sizeof(golden_text) * 3];
	struct token t;
	size_t n = 0;
	(void)state;

	for (const char *p = golden_text; *p; p++) {
		text[n++] = *p;
		text[n] = "\n\r\t "[n % 4];
		n++;
	}
	assert_null(token_decode(text, n, &t));
	assert_same(&t, &sample);
}

/* Each replaced, omitted and truncated character is detected, and *out stays unchanged. */
static void any_damage(void **state)
{
	char text[sizeof(golden_text)];
	size_t len = strlen(golden_text);
	struct token t = { .vni = 77 };
	(void)state;

	for (size_t i = 0; i < len; i++) {
		memcpy(text, golden_text, sizeof(text));
		text[i] = text[i] == 'x' ? 'y' : 'x';
		assert_non_null(decode(text, &t));
		memcpy(text, golden_text, sizeof(text));
		memmove(text + i, text + i + 1, len - i);
		assert_non_null(decode(text, &t));
		assert_non_null(token_decode(golden_text, i, &t));
	}
	for (size_t i = strlen(TOKEN_PREFIX); i + 1 < len; i++) {
		memcpy(text, golden_text, sizeof(text));
		text[i] = golden_text[i + 1];
		text[i + 1] = golden_text[i];
		assert_true(text[i] == text[i + 1] || decode(text, &t));
	}
	assert_int_equal(t.vni, 77);
}

static void one_clear_sentence(void **state)
{
	static const struct {
		const char *text, *say;
	} cases[] = {
		{ "", "there is no token" },	      { " \n", "there is no token" },
		{ "correct horse", "begins with" },   { "leon.AAAA", "begins with" },
		{ "leonx1.AAAA", "begins with" },     { "leon5.AAAA", "another version" },
		{ "leon12.AAAA", "another version" }, { "leon1.", "truncated" },
		{ "leon1.AAA", "truncated" },	      { "leon1.!!!!", "truncated" },
	};
	struct token t;
	(void)state;

	for (size_t i = 0; i < array_size(cases); i++) {
		const char *said = decode(cases[i].text, &t);

		assert_non_null(said);
		if (!strstr(said, cases[i].say))
			fail_msg("\"%s\": \"%s\"", cases[i].text, said);
	}
	assert_non_null(token_decode("leon1.\0AAAA", 11, &t));
}

/* A correct checksum does not make the content valid. */
static void whole_and_wrong(void **state)
{
	/* A token without a seed, and a seed without a port, made with zlib.crc32 and base64. */
	static const char *const texts[] = {
		"leon1.AAABAAhwYXNzd29yZKfNRnE",
		"leon1.AAABAQAACTE5Mi4wLjIuMQhwYXNzd29yZPiWM1U",
	};
	struct token t;
	(void)state;

	for (size_t i = 0; i < array_size(texts); i++) {
		assert_non_null(decode(texts[i], &t));
		assert_non_null(strstr(decode(texts[i], &t), "make a new token"));
	}
}

static void too_long(void **state)
{
	static char text[TOKEN_TEXT_MAX * 2];
	struct token t;
	(void)state;

	memset(text, 'A', sizeof(text));
	memcpy(text, TOKEN_PREFIX, strlen(TOKEN_PREFIX));
	assert_non_null(token_decode(text, sizeof(text), &t));
	memset(text, ' ', sizeof(text)); /* white space does not count */
	memcpy(text + TOKEN_TEXT_MAX, golden_text, strlen(golden_text));
	assert_null(token_decode(text, sizeof(text), &t));
}

static void is_one(void **state)
{
	(void)state;
	assert_true(token_is_one("leon1.abc"));
	assert_true(token_is_one("leon2."));
	assert_false(token_is_one("leon1"));
	assert_false(token_is_one("leon.token"));
	assert_false(token_is_one("-"));
	assert_false(token_is_one("dir/leon1.token"));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_one_of_the_document),
		cmocka_unit_test(the_largest),
		cmocka_unit_test(out_of_range),
		cmocka_unit_test(with_an_expiry),
		cmocka_unit_test(one_time),
		cmocka_unit_test(one_time_p256),
		cmocka_unit_test(white_space),
		cmocka_unit_test(any_damage),
		cmocka_unit_test(one_clear_sentence),
		cmocka_unit_test(whole_and_wrong),
		cmocka_unit_test(too_long),
		cmocka_unit_test(is_one),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
