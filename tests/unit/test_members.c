// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * The member cache reads all that it has written, and refuses any other file as a whole.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <stdlib.h>
#include <string.h>

#include "base/defs.h"
#include "daemon/underlay/underlay.h"

#define VNI 7

static int parse(const char *text, size_t len, struct member_list *l)
{
	char err[256] = "";
	int r = members_parse(text, len, VNI, l, err, sizeof(err));

	assert_int_equal(r < 0, err[0] != '\0');
	return r;
}

static struct jsonw *sample(void)
{
	struct member_list l = { .n = 2 };
	struct jsonw *w = jsonw_new();

	l.member[0].node = 0x0a000001;
	l.member[0].n = 2;
	endpoint_parse("192.0.2.1:5366", 0, &l.member[0].ep[0]);
	endpoint_parse("[2001:db8::1]:5366", 0, &l.member[0].ep[1]);
	l.member[1].node = 0x0a000002;
	l.member[1].n = 1;
	endpoint_parse("192.0.2.2:40000", 0, &l.member[1].ep[0]);
	members_write(&l, VNI, w);
	return w;
}

static void round_trip(void **state)
{
	struct jsonw *w = sample();
	struct member_list l;
	char buf[ENDPOINT_STRLEN];
	size_t len;
	const char *text = jsonw_text(w, &len);
	(void)state;

	assert_int_equal(parse(text, len, &l), 0);
	assert_int_equal(l.n, 2);
	assert_int_equal(l.member[0].node, 0x0a000001);
	assert_int_equal(l.member[0].n, 2);
	assert_string_equal(endpoint_format(&l.member[0].ep[1], buf, sizeof(buf)),
			    "[2001:db8::1]:5366");
	assert_string_equal(endpoint_format(&l.member[1].ep[0], buf, sizeof(buf)),
			    "192.0.2.2:40000");
	jsonw_free(w);
}

static void half_written_is_refused(void **state)
{
	struct jsonw *w = sample();
	struct member_list l;
	size_t len;
	const char *text = jsonw_text(w, &len);
	(void)state;

	for (size_t cut = 0; cut < len; cut++) {
		assert_int_not_equal(parse(text, cut, &l), 0);
		assert_int_equal(l.n, 0);
	}
	jsonw_free(w);
}

static void nonsense_is_refused(void **state)
{
	static const char *const bad[] = {
		"[]",
		"{\"version\":2,\"vni\":7,\"members\":[]}",
		"{\"version\":1,\"vni\":8,\"members\":[]}",
		"{\"version\":1,\"members\":[]}",
		"{\"version\":1,\"vni\":7,\"members\":[{\"node_id\":\"x\",\"endpoints\":[]}]}",
		"{\"version\":1,\"vni\":7,\"members\":[{\"node_id\":\"10.0.0.1\","
		"\"endpoints\":[\"224.0.0.1:5\"]}]}",
		"{\"version\":1,\"vni\":7,\"members\":[{\"node_id\":\"10.0.0.1\","
		"\"endpoints\":[7]}]}",
	};
	struct member_list l;
	(void)state;

	for (size_t i = 0; i < array_size(bad); i++) {
		assert_int_not_equal(parse(bad[i], strlen(bad[i]), &l), 0);
		assert_int_equal(l.n, 0);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(round_trip),
		cmocka_unit_test(half_written_is_refused),
		cmocka_unit_test(nonsense_is_refused),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
