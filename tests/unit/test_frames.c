// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * daemon/life/frames: walks of the neighbor table after moves of hosts. The linker replaces the
 * workers, the protocol and the guard (meson.build).
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/loop.h"
#include "daemon/accel/leon_accel.h"
#include "daemon/lan/local_lan.h"
#include "daemon/life/life.h"
#include "daemon/report/report.h"
#include "daemon/states.h"
#include "fwd/fwd.h"
#include "proto/view.h"
#include "state/tables/fdb.h"
#include "state/tables/neigh.h"

#define HOSTS 1000
#define SELF  1

static struct states states;
static struct nodedb *nodes;
static struct leond d;

/* --- replaced functions --- */

static unsigned n_walks, n_moves;
static uint64_t walked; /* bits of the last walk */
static loop_fd_fn on_reports;
static struct fwd_report report;
static bool is_waiting; /* the report */

#define REPLACED(type, name, ...)                                                                  \
	extern type __wrap_##name(__VA_ARGS__);                                                    \
	type __wrap_##name(__VA_ARGS__)

REPLACED(int, loop_fd_add, struct loop *l, int fd, uint32_t events, loop_fd_fn fn, void *arg)
{
	(void)l;
	(void)fd;
	(void)events;
	(void)arg;
	on_reports = fn;
	return 0;
}

REPLACED(int, fwd_report_fd, const struct fwd *f)
{
	(void)f;
	return -1;
}

REPLACED(void, fwd_report_ack, struct fwd *f)
{
	(void)f;
}

REPLACED(bool, fwd_next_report, struct fwd *f, struct fwd_report *out)
{
	(void)f;
	if (!is_waiting)
		return false;
	*out = report;
	is_waiting = false;
	return true;
}

REPLACED(struct nodedb *, overlay_nodes, struct overlay *o)
{
	(void)o;
	return nodes;
}

REPLACED(char *, node_label, struct leond *at, node_id_t id, char *buf, size_t len)
{
	(void)at;
	(void)id;
	(void)len;
	buf[0] = '\0';
	return buf;
}

REPLACED(void, report_event, struct leond *at, const struct overlay_event *n, const char *fmt, ...)
{
	(void)at;
	(void)fmt;
	n_moves += n->kind == EV_MAC_MOVED;
}

REPLACED(void, guard_probe_vlan, struct leond *at, uint16_t vlan)
{
	(void)at;
	(void)vlan;
}

REPLACED(void, accelerator_moved, struct leond *at, uint16_t vlan, struct mac mac,
	 const struct node *n)
{
	(void)at;
	(void)vlan;
	(void)mac;
	(void)n;
}

REPLACED(void, accelerator_appeared, struct leond *at, const struct node *n)
{
	(void)at;
	(void)n;
}

REPLACED(void, neigh_forget_moved, struct neigh *n, const struct fdb *fdb, uint64_t moved)
{
	(void)n;
	(void)fdb;
	n_walks++;
	walked = moved;
}

/* --- one node with two others --- */

static uint16_t slot[2];

static void learn(uint64_t mac, uint16_t at)
{
	report = (struct fwd_report){ .type = FWD_LEARN };
	report.learn.mac = mac_from_u64(mac);
	report.learn.slot = at;
	is_waiting = true;
	on_reports(&d, -1, 0);
}

static void pass(int64_t ms)
{
	loop_sim_run_until(d.loop, mono_add_ms(loop_now(d.loop), ms));
}

static void setup(void)
{
	nodes = nodedb_new(SELF, 8);
	for (unsigned i = 0; i < 2; i++)
		slot[i] = nodedb_add(nodes, 2 + i, (mono_t){ 1 })->slot;
	d = (struct leond){ .loop = loop_sim_new(), .states = &states, .fdb = fdb_new(2 * HOSTS) };
	pass(100000);
	assert_int_equal(frames_start(&d), 0);
}

static void teardown(void)
{
	timer_free(states.drain_timer);
	fdb_free(d.fdb);
	nodedb_free(nodes);
	loop_free(d.loop);
}

/* Each move has a wake-up of its own. The moves after the last walk have a later walk. */
static void moves_in_turn_share_a_walk(void **state)
{
	(void)state;
	setup();
	for (uint64_t mac = 1; mac <= HOSTS; mac++)
		learn(mac << 8, slot[0]);
	assert_int_equal(n_walks, 0);
	for (uint64_t mac = 1; mac < HOSTS; mac++) {
		learn(mac << 8, slot[1]);
		pass(1);
	}
	assert_int_equal(n_walks, 1);
	assert_int_equal(walked, neigh_moved_bit(0));
	learn((uint64_t)HOSTS << 8 | 5, slot[0]);
	learn((uint64_t)HOSTS << 8 | 5, slot[1]);
	assert_int_equal(n_moves, HOSTS);
	pass(5000);
	assert_int_equal(n_walks, 2);
	assert_int_equal(walked, neigh_moved_bit(0) | neigh_moved_bit(5));
	learn((uint64_t)HOSTS << 8 | 5, slot[0]);
	assert_int_equal(n_walks, 3);
	teardown();
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(moves_in_turn_share_a_walk),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
