// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * state/invitations: uses, the end, a full list, and the file. A damaged file gives an empty
 * list and one sentence.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <errno.h>
#include <string.h>

#include "state/invitations.h"

#define NOW 1800000000
#define VNI 7

static const struct endpoint from = { .ip = { .family = 4, .b = { 198, 18, 0, 3 } }, .port = 5366 };

static struct invitation *add(struct invitations *l, uint8_t n, uint32_t expires, unsigned uses)
{
	const uint8_t value[TOKEN_VALUE_LEN] = { n };

	return invitations_add(l, value, expires, uses);
}

static enum claim claim(struct invitation *i, uint8_t n, int64_t now_s)
{
	const uint8_t key[DH_KEY_LEN] = { n };

	return invitation_claim(i, key, &from, now_s);
}

static void uses(void **state)
{
	struct invitations *l = invitations_new();
	struct invitation *i = add(l, 1, 0, 2);
	(void)state;

	assert_int_equal(claim(i, 1, NOW), CLAIM_NEW);
	assert_int_equal(claim(i, 1, NOW), CLAIM_REPEATED);
	assert_int_equal(claim(i, 2, NOW), CLAIM_NEW);
	assert_int_equal(claim(i, 3, NOW), CLAIM_USED_UP);
	assert_int_equal(claim(i, 1, NOW), CLAIM_REPEATED);
	invitation_unclaim(i);
	assert_int_equal(claim(i, 3, NOW), CLAIM_NEW);
	invitations_free(l);
}

static void the_end(void **state)
{
	struct invitations *l = invitations_new();
	struct invitation *ends = add(l, 1, NOW, 1), *stays = add(l, 2, 0, 1);
	(void)state;

	assert_ptr_equal(invitations_find(l, ends->id, NOW), ends);
	assert_null(invitations_find(l, ends->id, NOW + 1));
	assert_ptr_equal(invitations_find(l, stays->id, INT64_MAX), stays);
	assert_null(invitations_expired(l, 0, NOW));
	assert_null(invitations_expired(l, NOW + 1, NOW + 1));
	assert_ptr_equal(invitations_expired(l, NOW, NOW + 1), ends);
	invitations_remove(l, ends);
	assert_null(invitations_expired(l, 0, INT64_MAX));
	assert_ptr_equal(invitations_next(l, NULL), stays);
	assert_null(invitations_next(l, stays));
	invitations_free(l);
}

/* Open invitations are never replaced, and the oldest used-up one is. */
static void a_full_list(void **state)
{
	struct invitations *l = invitations_new();
	struct invitation *late = NULL, *early = NULL;
	uint8_t id[INVITATION_ID_LEN];
	(void)state;

	for (uint8_t n = 1; n <= INVITATIONS_MAX; n++) {
		struct invitation *i = add(l, n, 0, 1);

		late = n == 5 ? i : late;
		early = n == 9 ? i : early;
	}
	assert_null(add(l, 100, 0, 1));
	claim(late, 1, NOW + 1);
	claim(early, 1, NOW);
	memcpy(id, early->id, sizeof(id));
	assert_non_null(add(l, 100, 0, 1));
	assert_null(invitations_find(l, id, NOW));
	assert_ptr_equal(invitations_find(l, late->id, NOW), late);
	assert_non_null(add(l, 101, 0, 1));
	assert_null(add(l, 102, 0, 1));
	invitations_free(l);
}

/* --- the file --- */

static struct jsonw *written(const struct invitations *l)
{
	struct jsonw *w = jsonw_new();

	invitations_write(l, VNI, w);
	return w;
}

static void the_file(void **state)
{
	struct invitations *l = invitations_new(), *back = invitations_new();
	struct invitation *i = add(l, 1, NOW, 3);
	struct jsonw *w, *again;
	const char *text;
	char err[160];
	size_t len;
	(void)state;

	claim(i, 1, NOW - 5);
	claim(i, 2, NOW - 4);
	add(l, 2, 0, 1);
	w = written(l);
	text = jsonw_text(w, &len);
	assert_int_equal(invitations_parse(back, text, len, VNI, err, sizeof(err)), 0);
	again = written(back);
	assert_string_equal(jsonw_text(again, &len), text);
	i = invitations_find(back, i->id, NOW);
	assert_int_equal(claim(i, 2, NOW), CLAIM_REPEATED);
	assert_int_equal(i->use[0].at_s, NOW - 5);
	assert_true(endpoint_equal(&i->use[0].from, &from));
	jsonw_free(w);
	jsonw_free(again);
	invitations_free(l);
	invitations_free(back);
}

/* A file that was written only in part, at each length. */
static void half_a_file(void **state)
{
	struct invitations *l = invitations_new(), *back = invitations_new();
	struct jsonw *w;
	const char *text;
	char err[160];
	size_t len;
	(void)state;

	claim(add(l, 1, NOW, 2), 1, NOW);
	w = written(l);
	text = jsonw_text(w, &len);
	for (size_t n = 0; n < len; n++) {
		assert_int_equal(invitations_parse(back, text, n, VNI, err, sizeof(err)), -EINVAL);
		assert_null(invitations_next(back, NULL));
		assert_non_null(err[0] ? err : NULL);
	}
	assert_int_equal(invitations_parse(back, text, len, VNI + 1, err, sizeof(err)), -EINVAL);
	assert_non_null(strstr(err, "another overlay"));
	jsonw_free(w);
	invitations_free(l);
	invitations_free(back);
}

static void a_wrong_file(void **state)
{
#define HEAD "{\"version\":1,\"vni\":7,\"invitations\":["
#define V32  "0000000000000000000000000000000000000000000000000000000000000000"
	static const struct {
		const char *text, *say;
	} cases[] = {
		{ "{\"version\":2,\"vni\":7,\"invitations\":[]}", "version 1" },
		{ HEAD "{\"value\":\"00\",\"expires\":0,\"uses\":1,\"used\":[]}]}",
		  "64 hexadecimal" },
		{ HEAD "{\"value\":\"" V32 "\",\"expires\":0,\"uses\":0,\"used\":[]}]}", "uses" },
		{ HEAD "{\"value\":\"" V32 "\",\"expires\":0,\"uses\":33,\"used\":[]}]}", "uses" },
		{ HEAD "{\"value\":\"" V32 "\",\"uses\":1,\"used\":[]}]}", "missing" },
		{ HEAD "{\"value\":\"" V32 "\",\"expires\":0,\"uses\":1,\"used\":[{\"key\":\"" V32
		       "\",\"from\":\"me\",\"at\":1}]}]}",
		  "an address" },
		{ HEAD "{\"value\":\"" V32 "\",\"expires\":0,\"uses\":1,\"used\":[{\"key\":\"" V32
		       "\",\"from\":\"192.0.2.1:1\",\"at\":1},{\"key\":\"" V32
		       "\",\"from\":\"192.0.2.1:1\",\"at\":1}]}]}",
		  "more uses" },
	};
	struct invitations *l = invitations_new();
	char err[160];
	(void)state;

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		const char *text = cases[i].text;

		assert_int_equal(invitations_parse(l, text, strlen(text), VNI, err, sizeof(err)),
				 -EINVAL);
		if (!strstr(err, cases[i].say))
			fail_msg("%s: \"%s\"", text, err);
		assert_null(invitations_next(l, NULL));
	}
	invitations_free(l);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(uses),	       cmocka_unit_test(the_end),
		cmocka_unit_test(a_full_list), cmocka_unit_test(the_file),
		cmocka_unit_test(half_a_file), cmocka_unit_test(a_wrong_file),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
