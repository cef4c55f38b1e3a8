// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * daemon/lan/snooping: the memory of replaced announcements of other nodes, and the pace of the
 * querier. The linker replaces the workers, the overlay and the TAP (meson.build).
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/loop.h"
#include "daemon/lan/local_lan.h"
#include "daemon/leond.h"
#include "fwd/fwd.h"
#include "state/conf/conf.h"
#include "state/tables/listeners.h"
#include "wire/bytes.h"
#include "wire/frame/eth.h"

/* --- replaced functions --- */

static struct listener_set *retired;
static unsigned n_reclaimed;

extern void __wrap_fwd_retire(struct fwd *f, void *p, void (*fn)(void *));
void __wrap_fwd_retire(struct fwd *f, void *p, void (*fn)(void *))
{
	(void)f;
	(void)fn;
	assert_null(retired);
	retired = p;
}

extern void __wrap_fwd_reclaim(struct fwd *f);
void __wrap_fwd_reclaim(struct fwd *f)
{
	(void)f;
	listener_set_free(retired);
	retired = NULL;
	n_reclaimed++;
}

extern void __wrap_fwd_stats(const struct fwd *f, uint64_t counter[N_COUNTERS],
			     uint64_t drop[N_DROPS]);
void __wrap_fwd_stats(const struct fwd *f, uint64_t counter[N_COUNTERS], uint64_t drop[N_DROPS])
{
	(void)f;
	memset(counter, 0, N_COUNTERS * sizeof(*counter));
	memset(drop, 0, N_DROPS * sizeof(*drop));
}

extern void __wrap_overlay_set_groups(struct overlay *o, const uint64_t *entry, unsigned n);
void __wrap_overlay_set_groups(struct overlay *o, const uint64_t *entry, unsigned n)
{
	(void)o;
	(void)entry;
	(void)n;
}

static unsigned n_queries, n_queries_in[VLAN_IDS];

extern int __wrap_tap_send(int fd, const void *frame, size_t len);
int __wrap_tap_send(int fd, const void *frame, size_t len)
{
	(void)fd;
	n_queries++;
	n_queries_in[get_u16((const uint8_t *)frame + 2 * MAC_LEN + 2) % VLAN_IDS]++;
	return (int)len;
}

static void a_replaced_announcement_is_freed_at_once(void **state)
{
	uint64_t entry = listener_entry(10, 4, 1);
	struct leond d = { .listeners = listeners_new(2), .fwd = (struct fwd *)&entry };

	(void)state;
	for (unsigned i = 0; i < 100; i++)
		snooping_announced(&d, 1, &entry, 1);
	assert_int_equal(n_reclaimed, 99);
	snooping_announced(&d, 1, NULL, 0);
	assert_int_equal(n_reclaimed, 100);
	listeners_free(d.listeners);
}

static struct leond *querier_of(uint16_t n_vlans)
{
	struct leond *d = leond_new();

	d->loop = loop_sim_new();
	d->listeners = listeners_new(2);
	d->conf = calloc(1, sizeof(*d->conf));
	assert_non_null(d->conf);
	d->conf->multicast_snooping = d->conf->multicast_querier = true;
	d->vlans->source = VLANS_CONFIGURED;
	for (uint16_t vlan = 1; vlan <= n_vlans; vlan++)
		vlan_set_add(&d->vlans->set, vlan);
	snooping_start(d);
	n_queries = 0;
	memset(n_queries_in, 0, sizeof(n_queries_in));
	return d;
}

static void free_querier(struct leond *d)
{
	snooping_stop(d);
	leond_release(d);
	listeners_free(d->listeners);
	loop_free(d->loop);
	free(d->conf);
	free(d);
}

/* Returns the largest number of queries in a second. */
static unsigned seconds(struct leond *d, unsigned n)
{
	unsigned most = 0;

	for (unsigned i = 0; i < n; i++) {
		unsigned before = n_queries;
		mono_t now = mono_add_ms(loop_now(d->loop), 1000);

		loop_sim_run_until(d->loop, now);
		snooping_second(d, now);
		most = max_of(most, n_queries - before);
	}
	return most;
}

static void queries_of_many_vlans_are_spread(void **state)
{
	struct leond *d = querier_of(VLAN_IDS - 2);

	(void)state;
	assert_true(seconds(d, 15) <= 2 * VLAN_IDS / 8);
	for (unsigned vlan = 1; vlan < VLAN_IDS - 1; vlan++)
		assert_int_equal(n_queries_in[vlan], 2);
	assert_true(seconds(d, 400) <= 2 * VLAN_IDS / 8);
	for (unsigned vlan = 1; vlan < VLAN_IDS - 1; vlan++)
		assert_in_range(n_queries_in[vlan], 8, 10);
	free_querier(d);
}

static void queries_of_few_vlans_leave_at_once(void **state)
{
	struct leond *d = querier_of(100);

	(void)state;
	assert_int_equal(seconds(d, 1), 200);
	free_querier(d);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_replaced_announcement_is_freed_at_once),
		cmocka_unit_test(queries_of_many_vlans_are_spread),
		cmocka_unit_test(queries_of_few_vlans_leave_at_once),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
