// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * daemon/lan/vlans: the links of a host that cannot be listed for a while, VLANs without hosts, and
 * a VLAN with another segment. The linker replaces netlink, the protocol, the workers and the guard
 * (meson.build).
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <errno.h>
#include <stdlib.h>

#include "base/log.h"
#include "base/loop.h"
#include "daemon/guard/loop_guard.h"
#include "daemon/lan/local_lan.h"
#include "daemon/leond.h"
#include "daemon/report/report.h"
#include "daemon/states.h"
#include "io/tap.h"
#include "state/conf/conf.h"
#include "state/tables/fdb.h"
#include "state/tables/neigh.h"
#include "wire/bytes.h"
#include "wire/frame/eth.h"
#include "wire/frame/mcast.h"

#define BURST_MS 500  /* longer than the wait for further changes */
#define RETRY_MS 1500 /* longer than the wait for a retry */

static struct tap tap = { .ifindex = 7 };
static struct vlans vlans;
static struct leond d;
static struct states states;

/* --- replaced functions --- */

static int result;	 /* of a dump */
static uint16_t last;	 /* VLAN of the last interface on leon0 */
static unsigned changes; /* events */
static unsigned n_used;	 /* VLANs with hosts */
static unsigned n_logged;
static unsigned n_forgets, n_answered; /* walks of the hosts, and neighbors at that time */

#define REPLACED(type, name, ...)                                                                  \
	extern type __wrap_##name(__VA_ARGS__);                                                    \
	type __wrap_##name(__VA_ARGS__)

REPLACED(int, nl_links, struct nl *nl, nl_link_fn fn, void *arg)
{
	(void)nl;
	for (uint16_t vlan = 10; vlan <= last; vlan += 10)
		fn(arg, &(struct nl_link){ .index = vlan, .lower = 7, .vlan_id = vlan });
	return result;
}

REPLACED(int, nl_link_by_index, struct nl *nl, int index, struct nl_link *out)
{
	(void)nl;
	*out = (struct nl_link){ .index = index, .vlan_filtering = true, .vlan_protocol = 0x8100 };
	return 0;
}

REPLACED(int, nl_port_vlans, struct nl *nl, int index, struct vlan_set *out)
{
	(void)nl;
	(void)index;
	for (uint16_t vlan = 10; vlan <= last; vlan += 10)
		vlan_set_add(out, vlan);
	return result;
}

REPLACED(void, overlay_set_segments, struct overlay *o, const struct id_range *range, unsigned n)
{
	(void)o;
	(void)range;
	(void)n;
}

REPLACED(void, report_event, struct leond *to, const struct overlay_event *n, const char *fmt, ...)
{
	(void)to;
	(void)n;
	(void)fmt;
	changes++;
}

REPLACED(void, guard_vlans_changed, struct leond *to)
{
	(void)to;
}

REPLACED(void, guard_apply_conf, struct leond *to)
{
	(void)to;
}

REPLACED(void, guard_hosts_moved, struct leond *to, uint64_t classes)
{
	(void)to;
	(void)classes;
}

REPLACED(struct nodedb *, overlay_nodes, struct overlay *o)
{
	(void)o;
	return NULL;
}

REPLACED(uint16_t, nodedb_slots, const struct nodedb *db)
{
	(void)db;
	return 2;
}

REPLACED(void, fwd_reclaim, struct fwd *f)
{
	(void)f;
}

REPLACED(void, guard_vlan_used, struct leond *to, uint16_t vlan, bool used)
{
	(void)to;
	(void)vlan;
	n_used += used;
}

extern uint32_t __real_fdb_forget_slots(struct fdb *f, const struct slot_set *gone,
					const struct vlan_set *in, uint32_t now_s);
REPLACED(uint32_t, fdb_forget_slots, struct fdb *f, const struct slot_set *gone,
	 const struct vlan_set *in, uint32_t now_s)
{
	n_forgets++;
	n_answered += neigh_count(d.neigh);
	return __real_fdb_forget_slots(f, gone, in, now_s);
}

static void count(void *arg, enum log_level level, const char *token, const char *text)
{
	(void)arg;
	(void)level;
	(void)token;
	(void)text;
	n_logged++;
}

/* --- one node --- */

static int setup(void **state)
{
	(void)state;
	vlans = (struct vlans){ 0 };
	states = (struct states){ 0 };
	d = (struct leond){ .loop = loop_sim_new(),
			    .conf = calloc(1, sizeof(struct conf)),
			    .states = &states,
			    .vlans = &vlans,
			    .tap = &tap };
	result = 0;
	last = 20;
	changes = n_logged = 0;
	log_set_sink(count, NULL);
	return 0;
}

static int teardown(void **state)
{
	(void)state;
	leond_release(&d);
	loop_free(d.loop);
	free(d.conf);
	log_set_sink(NULL, NULL);
	return 0;
}

static void pass(int64_t ms)
{
	loop_sim_run_until(d.loop, mono_add_ms(loop_now(d.loop), ms));
}

static void change(int of_dump)
{
	const struct nl_event ev = { .change = NL_LINK_CHANGED, .link = { .index = 7 } };

	result = of_dump;
	vlans_changed(&d, &ev);
	pass(BURST_MS);
}

static void served(enum vlans_source source, const char *want)
{
	char text[128];

	assert_int_equal(vlans.source, source);
	vlan_set_format(&vlans.set, text, sizeof(text));
	assert_string_equal(text, want);
}

static void a_failed_dump_keeps_the_interfaces(void **state)
{
	(void)state;
	vlans_start(&d);
	served(VLANS_DEVICES, "VLAN 0, 10, 20");
	last = 10;
	change(-EINTR);
	served(VLANS_DEVICES, "VLAN 0, 10, 20");
	last = 30;
	pass(RETRY_MS);
	change(-EINTR);
	served(VLANS_DEVICES, "VLAN 0, 10, 20");
	assert_int_equal(changes, 1);
	assert_int_equal(n_logged, 1);
	result = 0;
	pass(RETRY_MS);
	served(VLANS_DEVICES, "VLAN 0, 10, 20, 30");
	assert_int_equal(changes, 2);
	change(-EINTR);
	assert_int_equal(n_logged, 2);
}

/* The tag protects from a host on an untagged port. */
static void a_failed_dump_keeps_the_tag(void **state)
{
	(void)state;
	d.device.is_port = d.device.bridge_port = true;
	vlans_start(&d);
	served(VLANS_BRIDGE, "VLAN 10, 20");
	change(-EINTR);
	served(VLANS_BRIDGE, "VLAN 10, 20");
	assert_int_equal(vlans.tag, 0x8100);
	assert_int_equal(changes, 1);
	/* The next change does not wait for the retry. */
	last = 10;
	change(0);
	served(VLANS_BRIDGE, "VLAN 10");
}

static void own_frames_have_the_tag_of_the_bridge(void **state)
{
	uint8_t frame[MCAST_QUERY_MAX];

	(void)state;
	for (uint16_t vlan = 0; vlan < 20; vlan += 10) {
		mcast_build_query(vlan, (struct mac){ 0 }, 4, NULL, 1000, frame);
		vlans_set_tag(&vlans, frame);
		assert_int_equal(get_u16(frame + 12), vlan ? 0x8100 : ETHERTYPE_V4);
		vlans.tag = ETHERTYPE_DOT1AD;
		vlans_set_tag(&vlans, frame);
		assert_int_equal(get_u16(frame + 12), vlan ? 0x88a8 : ETHERTYPE_V4);
		vlans.tag = 0;
	}
}

static void configured_vlans_need_no_dump(void **state)
{
	(void)state;
	d.conf->has_vlans = true;
	vlan_set_add(&d.conf->vlans, 5);
	result = -EINTR;
	vlans_start(&d);
	served(VLANS_CONFIGURED, "VLAN 5");
}

static unsigned used_vlans(void)
{
	n_used = 0;
	vlans_second(&d, loop_now(d.loop));
	return n_used;
}

/* A full table learns no host of VLAN 20. */
static void a_full_table_ends_no_vlan(void **state)
{
	static struct guard_vlan vlan;
	static struct guard guard = { .vlan = { [10] = &vlan, [20] = &vlan } };

	(void)state;
	d.guard = &guard;
	d.fdb = fdb_new(16);
	assert_int_equal(used_vlans(), 0);
	for (uint8_t i = 0; i < 15; i++)
		fdb_learn(d.fdb, 10, (struct mac){ { 2, i } }, SLOT_SELF, 1);
	assert_int_equal(used_vlans(), 1);
	fdb_learn(d.fdb, 10, (struct mac){ { 2, 15 } }, SLOT_SELF, 1);
	assert_int_equal(used_vlans(), 2);
	fdb_free(d.fdb);
}

static unsigned n_known; /* hosts of VLAN 5 at the last snapshot */

static void publish(struct leond *to)
{
	n_known = fdb_count_in(to->fdb, 5);
}

/* Until the snapshot, workers report an unknown host in the former segment of its VLAN. After the
 * snapshot, they answer with the former neighbors. */
static void hosts_of_a_former_segment_are_known_until_the_snapshot(void **state)
{
	static const struct leond_ops ops = { .publish = publish };
	const struct ip_addr ip = { 4, { 192, 0, 2, 1 } };
	struct segment moved = { .id = 200, .vlan = 5 };

	(void)state;
	vlans_start(&d);
	d.ops = &ops;
	d.fdb = fdb_new(16);
	d.neigh = neigh_new(16);
	fdb_learn(d.fdb, 5, (struct mac){ { 2, 1 } }, 1, 1);
	fdb_learn(d.fdb, 10, (struct mac){ { 2, 1 } }, 1, 1);
	neigh_learn(d.neigh, 5, &ip, (struct mac){ { 2, 1 } }, 1, NEIGH_HOST, 1);
	d.conf->segment = &moved;
	d.conf->n_segments = 1;
	vlans_apply_conf(&d);
	assert_int_equal(n_known, 1);
	assert_int_equal(n_forgets, 1);
	assert_int_equal(n_answered, 0);
	assert_int_equal(fdb_count_in(d.fdb, 5), 0);
	assert_int_equal(fdb_count_in(d.fdb, 10), 1);
	segments_free(vlans.map);
	fdb_free(d.fdb);
	neigh_free(d.neigh);
}

int main(void)
{
#define T(name) cmocka_unit_test_setup_teardown(name, setup, teardown)
	const struct CMUnitTest tests[] = {
		T(a_failed_dump_keeps_the_interfaces),
		T(a_failed_dump_keeps_the_tag),
		T(own_frames_have_the_tag_of_the_bridge),
		T(configured_vlans_need_no_dump),
		T(a_full_table_ends_no_vlan),
		T(hosts_of_a_former_segment_are_known_until_the_snapshot),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
