// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * `show latency` and `show fdb` in a large overlay: leonctl can read each answer.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <string.h>

#include "base/json/jsonr.h"
#include "base/loop.h"
#include "daemon/answer/answer.h"
#include "daemon/leond.h"
#include "io/ctlsock.h"
#include "proto/overlay.h"
#include "proto/overlay_ops.h"
#include "proto/view.h"
#include "state/conf/conf.h"
#include "state/tables/fdb.h"

#define SELF	  0xc6336401u /* 198.51.100.1 */
#define NODES	  600	      /* documented limit */
#define ENTRY_LEN 175	      /* of a measured link, in bytes */
#define MACS	  65536	      /* documented limit */

static void nothing_snapshot(void *arg)
{
	(void)arg;
}

static void nothing_send(void *arg, const struct endpoint *to, const void *data, size_t len)
{
	(void)arg;
	(void)to;
	(void)data;
	(void)len;
}

static enum command_result show(struct leond *d, struct command *c, command_fn fn)
{
	enum command_result r;

	*c = (struct command){ .d = d,
			       .overlay = d->overlay,
			       .self = d->self,
			       .w = jsonw_new(),
			       .now = loop_now(d->loop) };
	jsonw_object(c->w, NULL);
	r = fn(c);
	jsonw_end(c->w);
	return r;
}

static struct conf *lab_conf(void)
{
	static const char document[] = "{ \"version\": 1, \"interface\": \"leon0\", "
				       "\"authentication\": { \"disable\": true } }";
	char err[256];

	return conf_parse(document, sizeof(document) - 1, err, sizeof(err));
}

static struct leond new_leond(void)
{
	static const struct overlay_ops ops = { .send = nothing_send,
						.snapshot_changed = nothing_snapshot };
	struct leond d = { .loop = loop_sim_new(), .conf = lab_conf(), .self = SELF };

	d.overlay = overlay_new(d.loop, d.conf, SELF, &ops, NULL, 1);
	return d;
}

static void free_leond(struct leond *d)
{
	overlay_free(d->overlay);
	loop_free(d->loop);
	conf_free(d->conf);
}

static void a_large_latency_database_is_refused(void **state)
{
	struct leond d = new_leond();
	struct nodedb *db = overlay_nodes(d.overlay);
	struct command c;
	size_t len;

	(void)state;
	while (nodedb_members(db) < NODES)
		assert_non_null(nodedb_add(db, SELF + nodedb_members(db), loop_now(d.loop)));
	assert_int_equal(show(&d, &c, show_latency), CMD_DONE);
	jsonw_text(c.w, &len);
	assert_true(len < CTL_ANSWER_MAX && NODES * NODES * ENTRY_LEN < CTL_ANSWER_MAX);
	jsonw_free(c.w);
	nodedb_add(db, SELF + NODES, loop_now(d.loop));
	assert_int_equal(show(&d, &c, show_latency), CMD_FAILED);
	assert_string_equal(c.error, "the latency database has 601 nodes, and at most 600 fit in "
				     "an answer: use show paths");
	jsonw_free(c.w);
	free_leond(&d);
}

static void a_large_fdb_is_not_listed_completely(void **state)
{
	struct leond d = new_leond();
	struct command c;
	struct jsonr *doc;
	const char *text;
	uint64_t count;
	size_t len;

	(void)state;
	d.fdb = fdb_new(MACS + 1);
	for (uint32_t i = 0; i < MACS + 1; i++)
		fdb_learn(d.fdb, 1, mac_from_u64(0x020000000000 + i), SLOT_SELF, 1);
	assert_int_equal(show(&d, &c, show_fdb), CMD_DONE);
	text = jsonw_text(c.w, &len);
	doc = jsonr_parse(text, len, CTL_ANSWER_MAX);
	assert_int_equal(jsonr_len(jsonr_array(jsonr_root(doc), "entries")), MACS);
	assert_true(jsonr_u64(jsonr_root(doc), "count", 0, UINT32_MAX, &count));
	assert_int_equal(count, MACS + 1);
	jsonr_free(doc);
	jsonw_free(c.w);
	fdb_free(d.fdb);
	free_leond(&d);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_large_latency_database_is_refused),
		cmocka_unit_test(a_large_fdb_is_not_listed_completely),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
