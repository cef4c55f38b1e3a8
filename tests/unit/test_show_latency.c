// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * `show latency` in a large overlay: leonctl reads the whole answer, or receives a refusal.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <string.h>

#include "base/loop.h"
#include "daemon/answer/command.h"
#include "daemon/leond.h"
#include "io/ctlsock.h"
#include "proto/overlay.h"
#include "proto/overlay_ops.h"
#include "proto/view.h"
#include "state/conf/conf.h"

#define SELF	  0xc6336401u /* 198.51.100.1 */
#define NODES	  600	      /* documented limit */
#define ENTRY_LEN 175	      /* of a measured link, in bytes */

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

static enum command_result show(struct leond *d, struct command *c, size_t *len)
{
	enum command_result r;

	*c = (struct command){ .d = d, .w = jsonw_new(), .now = loop_now(d->loop) };
	jsonw_object(c->w, NULL);
	r = show_latency(c);
	jsonw_end(c->w);
	jsonw_text(c->w, len);
	jsonw_free(c->w);
	return r;
}

static void a_large_overlay_is_refused(void **state)
{
	static const struct overlay_ops ops = { .send = nothing_send,
						.snapshot_changed = nothing_snapshot };
	static const char document[] = "{ \"version\": 1, \"interface\": \"leon0\", "
				       "\"authentication\": { \"disable\": true } }";
	char err[256];
	struct conf *conf = conf_parse(document, sizeof(document) - 1, err, sizeof(err));
	struct leond d = { .loop = loop_sim_new(), .conf = conf, .self = SELF };
	struct nodedb *db;
	struct command c;
	size_t len;

	(void)state;
	d.overlay = overlay_new(d.loop, conf, SELF, &ops, &d, 1);
	db = overlay_nodes(d.overlay);
	while (nodedb_members(db) < NODES)
		assert_non_null(nodedb_add(db, SELF + nodedb_members(db), loop_now(d.loop)));
	assert_int_equal(show(&d, &c, &len), CMD_DONE);
	assert_true(len < CTL_ANSWER_MAX && NODES * NODES * ENTRY_LEN < CTL_ANSWER_MAX);
	nodedb_add(db, SELF + NODES, loop_now(d.loop));
	assert_int_equal(show(&d, &c, &len), CMD_FAILED);
	assert_string_equal(c.error, "the latency database has 601 nodes, and at most 600 fit in "
				     "an answer: use show paths");
	overlay_free(d.overlay);
	loop_free(d.loop);
	conf_free(conf);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_large_overlay_is_refused),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
