// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * daemon/lan/loop_guard_io: the number of urgent frames in a turn of the loop. The linker replaces
 * the overlay, the workers and the TAP (meson.build).
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/loop.h"
#include "crypto/keys.h"
#include "daemon/guard/loop_guard.h"
#include "daemon/lan/local_lan.h"
#include "daemon/leond.h"
#include "fwd/fwd.h"
#include "state/conf/conf.h"
#include "state/tables/nodedb.h"

#define VLANS (VLAN_IDS - 2)

/* --- replaced functions --- */

static unsigned n_sent, most_in_turn, before_turn;

extern int __wrap_tap_send(int fd, const void *frame, size_t len);
int __wrap_tap_send(int fd, const void *frame, size_t len)
{
	(void)fd;
	(void)frame;
	n_sent++;
	return (int)len;
}

/* Called in each turn after the frames. */
extern void __wrap_fwd_lan_until(struct fwd *f, mono_t until);
void __wrap_fwd_lan_until(struct fwd *f, mono_t until)
{
	(void)f;
	(void)until;
	most_in_turn = max_of(most_in_turn, n_sent - before_turn);
	before_turn = n_sent;
}

extern bool __wrap_fwd_input_is_current(struct fwd *f);
bool __wrap_fwd_input_is_current(struct fwd *f)
{
	(void)f;
	return true;
}

extern struct nodedb *__wrap_overlay_nodes(struct overlay *o);
struct nodedb *__wrap_overlay_nodes(struct overlay *o)
{
	return (struct nodedb *)o;
}

extern void __wrap_overlay_set_guard_number(struct overlay *o, uint64_t number);
void __wrap_overlay_set_guard_number(struct overlay *o, uint64_t number)
{
	(void)o;
	(void)number;
}

extern const struct keyring *__wrap_overlay_keyring(const struct overlay *o);
const struct keyring *__wrap_overlay_keyring(const struct overlay *o)
{
	(void)o;
	return NULL;
}

extern void __wrap_keyring_guard_auth(const struct keyring *k, const void *data, size_t len,
				      uint8_t out[16]);
void __wrap_keyring_guard_auth(const struct keyring *k, const void *data, size_t len,
			       uint8_t out[16])
{
	(void)k;
	(void)data;
	(void)len;
	memset(out, 0, 16);
}

extern void __wrap_failover_announce(struct leond *d, const struct vlan_set *vlans);
void __wrap_failover_announce(struct leond *d, const struct vlan_set *vlans)
{
	(void)d;
	(void)vlans;
}

extern void __wrap_guard_report_states(struct leond *d, const struct vlan_set *vlans);
void __wrap_guard_report_states(struct leond *d, const struct vlan_set *vlans)
{
	(void)d;
	(void)vlans;
}

extern void __wrap_routes_soon(struct leond *d);
void __wrap_routes_soon(struct leond *d)
{
	(void)d;
}

extern void __wrap_overlay_set_lan(struct overlay *o, uint16_t flags, const struct record_lan *lan);
void __wrap_overlay_set_lan(struct overlay *o, uint16_t flags, const struct record_lan *lan)
{
	(void)o;
	(void)flags;
	(void)lan;
}

static void publish(struct leond *d)
{
	(void)d;
}

/* --- tests --- */

static void run_ms(struct leond *d, int64_t ms)
{
	loop_sim_run_until(d->loop, mono_add_ms(loop_now(d->loop), ms));
}

static struct leond *on_a_lan(void)
{
	static const struct leond_ops ops = { .publish = publish };
	struct leond *d = leond_new();

	d->loop = loop_sim_new();
	d->ops = &ops;
	d->self = 0x0a000005;
	d->overlay = (struct overlay *)nodedb_new(d->self, 16);
	d->conf = calloc(1, sizeof(*d->conf));
	assert_non_null(d->conf);
	d->conf->guard = true;
	d->conf->guard_preference = 128;
	d->conf->guard_interval_ms = 1000;
	d->device.up = d->device.is_port = true;
	guard_open(d);
	guard_start(d);
	for (uint16_t vlan = 1; vlan <= VLANS; vlan++)
		guard_vlan_used(d, vlan, true);
	run_ms(d, 10000);
	n_sent = most_in_turn = before_turn = 0;
	return d;
}

static void free_all(struct leond *d)
{
	guard_close(d);
	nodedb_free((struct nodedb *)d->overlay);
	leond_release(d);
	loop_free(d->loop);
	free(d->conf);
	free(d);
}

static void a_turn_has_a_part_of_the_frames(void **state)
{
	struct leond *d = on_a_lan();

	(void)state;
	guard_port_up(d);
	run_ms(d, 1);
	assert_true(n_sent >= VLANS);
	assert_true(most_in_turn <= VLAN_IDS / 8);
	free_all(d);
}

static void a_leaving_node_sends_all_frames(void **state)
{
	struct leond *d = on_a_lan();

	(void)state;
	guard_leave(d);
	assert_true(n_sent >= VLANS);
	free_all(d);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_turn_has_a_part_of_the_frames),
		cmocka_unit_test(a_leaving_node_sends_all_frames),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
