// SPDX-License-Identifier: GPL-2.0-or-later
/* leon-accel/conn/migrated limits the time for which a connection waits for a migrated host. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <stdlib.h>

#include "conn/conn_state.h"
#include "base/loop.h"
#include "peer/peer.h"

#define SELF  1
#define THERE 3

static const mono_t began = { 100 * NS_PER_S };

static void learn(struct engine *e, uint16_t room, mono_t now)
{
	struct accel_notify_frame f = { .what = ACCEL_NOTIFY_NODE,
					.node = { THERE, 0, room, false } };

	peer_learn(e, &f, now);
}

/* leond reports the node each second, and the host does not return. */
static bool lost_after(struct engine *e, const struct conn *c, unsigned s, uint16_t room)
{
	mono_t now = mono_add_ms(began, 1000 * (int64_t)s);

	learn(e, room, now);
	return migrated_is_lost(c, now);
}

static void test_waits(void **state)
{
	struct loop *loop = loop_sim_new();
	struct engine e = { .loop = loop, .self = SELF };
	struct conn c = { .e = &e, .away.met = began };

	(void)state;
	assert_false(lost_after(&e, &c, 60, 0)); /* the host has not moved */
	c.away.far_at = THERE;
	/* A node without an accelerator ends the wait early. */
	assert_false(lost_after(&e, &c, 15, 0));
	assert_true(lost_after(&e, &c, 16, 0));
	/* With an accelerator the wait has no limit, even while the node has no path. */
	assert_false(lost_after(&e, &c, 60, 1400));
	assert_false(lost_after(&e, &c, 61, 1));
	peers_free(&e);
	loop_free(loop);
}

/* leond reports the place of the host first, and the node some seconds later. */
static void test_node_is_not_known_yet(void **state)
{
	struct loop *loop = loop_sim_new();
	struct engine e = { .loop = loop, .self = SELF };
	struct conn c = { .e = &e, .away.far_at = THERE, .away.met = began };

	(void)state;
	assert_false(migrated_is_lost(&c, began));
	assert_false(migrated_is_lost(&c, mono_add_ms(began, 5000)));
	assert_true(migrated_is_lost(&c, mono_add_ms(began, 5001)));
	/* A report from one hour ago counts as no report. */
	learn(&e, 0, mono_add_ms(began, -90000));
	assert_false(migrated_is_lost(&c, mono_add_ms(began, 5000)));
	assert_true(migrated_is_lost(&c, mono_add_ms(began, 5001)));
	peers_free(&e);
	loop_free(loop);
}

/* The near host is at another node, and its frames arrive in FOUND of the peer. */
static void test_near_host_is_migrated(void **state)
{
	struct loop *loop = loop_sim_new();
	struct engine e = { .loop = loop, .self = SELF };
	struct conn c = { .e = &e, .away.near_seen = began };

	(void)state;
	assert_false(lost_after(&e, &c, 30, 1400));
	assert_true(lost_after(&e, &c, 31, 1400));
	/* The peer still knows the connection. */
	c.away.near_seen = mono_add_ms(began, 20000);
	assert_false(lost_after(&e, &c, 50, 1400));
	assert_true(lost_after(&e, &c, 51, 1400));
	c.away.near_seen = (mono_t){ 0 };
	assert_false(lost_after(&e, &c, 600, 1400));
	peers_free(&e);
	loop_free(loop);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_waits),
		cmocka_unit_test(test_node_is_not_known_yet),
		cmocka_unit_test(test_near_host_is_migrated),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
