// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * daemon/underlay/locators: the addresses of a host that cannot be listed for a while. The linker
 * replaces netlink and the protocol (meson.build).
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <errno.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>

#include "base/defs.h"
#include "base/loop.h"
#include "daemon/states.h"
#include "daemon/underlay/underlay.h"
#include "io/netlink/netlink.h"
#include "io/tap.h"
#include "io/udp.h"
#include "state/conf/conf.h"
#include "wire/message/msg.h"

#define MAIN_TABLE 254
#define BURST_MS   500	/* longer than the wait for further changes */
#define RETRY_MS   1500 /* longer than the wait for a retry */

static struct states states;
static struct tap tap = { .ifindex = 7 };
static struct udp udp = { .port = 4000 };
static struct leond d;

/* --- replaced functions --- */

static int n_addrs;	     /* of the host, or -errno */
static unsigned dumps;	     /* so far */
static int first_v6;	     /* number of the first IPv6 address */
static unsigned n_announced; /* addresses of the record */
static unsigned n_v6;	     /* IPv6 addresses among the first that a record contains */
static unsigned announced;   /* changes of the record */

#define REPLACED(type, name, ...)                                                                  \
	extern type __wrap_##name(__VA_ARGS__);                                                    \
	type __wrap_##name(__VA_ARGS__)

REPLACED(int, nl_addrs, struct nl *nl, int index, struct nl_addr *out, size_t max)
{
	(void)nl;
	(void)index;
	dumps++;
	for (int i = 0; i < n_addrs && (size_t)i < max; i++) {
		out[i] = (struct nl_addr){ .index = 2,
					   .ip = { 4, { 198, 51, 100, (uint8_t)(i + 1) } } };
		if (i >= first_v6)
			out[i].ip = (struct ip_addr){ 6, { 0x20, 1, 0xd, 0xb8, (uint8_t)i } };
	}
	return n_addrs;
}

REPLACED(int, nl_link_by_index, struct nl *nl, int index, struct nl_link *out)
{
	(void)nl;
	*out = (struct nl_link){ .index = index, .name = "eth0", .up = true };
	return 0;
}

REPLACED(uint32_t, nl_link_table, struct nl *nl, const struct nl_link *link)
{
	(void)nl;
	(void)link;
	return MAIN_TABLE;
}

REPLACED(void, overlay_set_locators, struct overlay *o, const struct endpoint *ep, unsigned n)
{
	(void)o;
	n_announced = n;
	announced++;
	n_v6 = 0;
	for (unsigned i = 0; i < min_of(n, (unsigned)MSG_LOCATORS_MAX); i++)
		n_v6 += ep[i].ip.family == 6;
}

REPLACED(void, routes_addresses_changed, struct leond *to)
{
	(void)to;
}

/* --- one node --- */

static int setup(void **state)
{
	(void)state;
	states = (struct states){ 0 };
	d = (struct leond){ .loop = loop_sim_new(),
			    .conf = calloc(1, sizeof(struct conf)),
			    .states = &states,
			    .tap = &tap,
			    .udp = &udp };
	n_addrs = 2;
	first_v6 = INT_MAX;
	dumps = n_announced = announced = 0;
	return 0;
}

static int teardown(void **state)
{
	(void)state;
	leond_release(&d);
	loop_free(d.loop);
	free(d.conf);
	return 0;
}

static void pass(int64_t ms)
{
	loop_sim_run_until(d.loop, mono_add_ms(loop_now(d.loop), ms));
}

static void change(int n)
{
	const struct nl_event ev = { .change = NL_ADDR_ADDED };

	n_addrs = n;
	locators_changed(&d, &ev);
	pass(BURST_MS);
}

static void addresses_follow_the_host(void **state)
{
	(void)state;
	locators_start(&d);
	assert_int_equal(n_announced, 2);
	change(3);
	assert_int_equal(n_announced, 3);
	change(0);
	assert_int_equal(n_announced, 0);
	assert_int_equal(announced, 3);
	/* No change, no dump. */
	assert_int_equal(dumps, 3);
	pass(10 * RETRY_MS);
	assert_int_equal(dumps, 3);
}

/* The kernel lists all IPv4 addresses first. */
static void neither_family_hides_the_other(void **state)
{
	(void)state;
	first_v6 = 20;
	n_addrs = 21;
	locators_start(&d);
	assert_int_equal(n_announced, 21);
	assert_int_equal(n_v6, 1);
	first_v6 = 1;
	change(20);
	assert_int_equal(n_v6, MSG_LOCATORS_MAX - 1);
	first_v6 = 10;
	change(21);
	assert_int_equal(n_v6, MSG_LOCATORS_MAX / 2);
}

static void a_failed_dump_keeps_the_addresses(void **state)
{
	(void)state;
	locators_start(&d);
	change(-EINTR);
	assert_int_equal(n_announced, 2);
	assert_int_equal(announced, 1);
	pass(RETRY_MS);
	assert_int_equal(n_announced, 2);
	n_addrs = 3;
	pass(RETRY_MS);
	assert_int_equal(n_announced, 3);
	assert_int_equal(announced, 2);
	/* No retry after a success. */
	dumps = 0;
	pass(10 * RETRY_MS);
	assert_int_equal(dumps, 0);
}

static void a_failed_dump_at_the_start_is_repeated(void **state)
{
	(void)state;
	n_addrs = -EBUSY;
	locators_start(&d);
	assert_int_equal(n_announced, 0);
	n_addrs = 2;
	pass(RETRY_MS);
	assert_int_equal(n_announced, 2);
}

/* A reload neither delays the retry nor ends it. */
static void a_reload_during_the_retry(void **state)
{
	(void)state;
	locators_start(&d);
	change(-EINTR);
	locators_update(&d);
	n_addrs = 1;
	pass(RETRY_MS);
	assert_int_equal(n_announced, 1);
}

int main(void)
{
#define T(name) cmocka_unit_test_setup_teardown(name, setup, teardown)
	const struct CMUnitTest tests[] = {
		T(addresses_follow_the_host),	      T(neither_family_hides_the_other),
		T(a_failed_dump_keeps_the_addresses), T(a_failed_dump_at_the_start_is_repeated),
		T(a_reload_during_the_retry),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
