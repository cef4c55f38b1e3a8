// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * daemon/underlay/lines: a line whose interface is created during the start, or while another
 * program has its port. The linker replaces netlink, the sockets, and the modules that a line
 * concerns (meson.build).
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/loop.h"
#include "daemon/report/report.h"
#include "daemon/states.h"
#include "daemon/underlay/underlay.h"
#include "io/netlink/netlink.h"
#include "io/tap.h"
#include "state/conf/conf.h"

#define INDEX 5

static struct tap tap = { .ifindex = 7, .n_queues = 1 };
static struct udp udp = { .port = 4000 };
static struct line_states lines;
static struct states states = { .lines = &lines };
static struct leond d;

/* --- replaced functions --- */

static bool is_missing;	   /* the interface */
static int nl_error;	   /* of requests about links */
static bool is_tentative;  /* its address */
static int result;	   /* of a bind to the interface */
static unsigned binds;	   /* attempts */
static unsigned announced; /* requests to announce the addresses of this node */

#define REPLACED(type, name, ...)                                                                  \
	extern type __wrap_##name(__VA_ARGS__);                                                    \
	type __wrap_##name(__VA_ARGS__)

REPLACED(int, nl_link_by_name, struct nl *nl, const char *name, struct nl_link *out)
{
	(void)nl;
	(void)name;
	if (nl_error)
		return nl_error;
	if (is_missing)
		return -ENODEV;
	*out = (struct nl_link){ .index = INDEX, .up = true, .running = true };
	return 0;
}

REPLACED(int, nl_link_by_index, struct nl *nl, int index, struct nl_link *out)
{
	(void)index;
	return __wrap_nl_link_by_name(nl, "", out);
}

REPLACED(int, nl_addrs, struct nl *nl, int index, struct nl_addr *out, size_t max)
{
	(void)nl;
	(void)max;
	*out = (struct nl_addr){ .index = index,
				 .ip = { 6, { 0x20, 1, 0xd, 0xb8 } },
				 .tentative = is_tentative };
	return 1;
}

/* The interface appears immediately after. */
REPLACED(int, udp_open, struct udp *u, const struct udp_config *c)
{
	(void)u;
	(void)c;
	is_missing = false;
	return 0;
}

REPLACED(int, udp_reopen, struct udp *u, const struct udp_config *c)
{
	(void)u;
	(void)c;
	binds++;
	return result;
}

REPLACED(void, udp_use_gro, struct udp *u, bool on)
{
	(void)u;
	(void)on;
}

REPLACED(void, locators_changed, struct leond *to, const struct nl_event *ev)
{
	(void)to;
	(void)ev;
	announced++;
}

REPLACED(void, overlay_line_changed, struct overlay *o, uint8_t line, bool lost)
{
	(void)o;
	(void)line;
	(void)lost;
}

REPLACED(void, report_event, struct leond *to, const struct overlay_event *n, const char *fmt, ...)
{
	(void)to;
	(void)n;
	(void)fmt;
}

/* --- one node --- */

static int setup(void **state)
{
	(void)state;
	lines = (struct line_states){ 0 };
	d = (struct leond){ .loop = loop_sim_new(),
			    .conf = calloc(1, sizeof(struct conf)),
			    .states = &states,
			    .tap = &tap,
			    .udp = &udp };
	d.conf->n_lines = 1;
	snprintf(d.conf->line[0].interface, sizeof(d.conf->line[0].interface), "up1");
	is_missing = is_tentative = false;
	result = nl_error = 0;
	binds = announced = 0;
	return 0;
}

static int teardown(void **state)
{
	(void)state;
	loop_free(d.loop);
	free(d.conf);
	return 0;
}

/* The interface has no event for the release of the port. */
static void a_repeated_bind_announces_the_addresses(void **state)
{
	const struct nl_event ev = { .change = NL_LINK_CHANGED, .link = { .name = "up1" } };

	(void)state;
	result = -EADDRINUSE;
	lines_changed(&d, &ev);
	lines_second(&d, loop_now(d.loop));
	assert_int_equal(binds, 2);
	assert_string_equal(lines.line[0].lost, "the interface cannot be used");
	assert_int_equal(announced, 0);
	result = 0;
	lines_second(&d, loop_now(d.loop));
	assert_int_equal(binds, 3);
	assert_null(lines.line[0].lost);
	assert_int_equal(lines.line[0].index, INDEX);
	assert_int_equal(announced, 1);
	lines_second(&d, loop_now(d.loop));
	assert_int_equal(binds, 3);
	assert_int_equal(announced, 1);
}

/* The open sockets are bound to no interface. */
static void an_interface_that_appears_during_the_start(void **state)
{
	const struct nl_event ev = { .change = NL_LINK_CHANGED, .link = { .name = "up1" } };

	(void)state;
	is_missing = true;
	assert_int_equal(lines_open(&d, true), 0);
	lines_changed(&d, &ev);
	assert_int_equal(binds, 1);
	assert_int_equal(lines.line[0].index, INDEX);
}

static void a_failed_request_is_no_missing_interface(void **state)
{
	const struct nl_event ev = { .change = NL_LINK_CHANGED, .link = { .name = "up1" } };

	(void)state;
	lines_changed(&d, &ev);
	assert_null(lines.line[0].lost);
	nl_error = -ENOBUFS;
	lines_changed(&d, &ev);
	assert_null(lines.line[0].lost);
	nl_error = 0;
	is_missing = true;
	lines_changed(&d, &ev);
	assert_string_equal(lines.line[0].lost, "the interface is missing");
	is_missing = false;
	nl_error = -ENOBUFS;
	lines_changed(&d, &ev);
	assert_string_equal(lines.line[0].lost, "the interface is missing");
	/* No further event follows. */
	nl_error = 0;
	lines_second(&d, loop_now(d.loop));
	assert_null(lines.line[0].lost);
	assert_int_equal(lines.line[0].bind_error, 0);
}

static void an_address_during_duplicate_address_detection(void **state)
{
	const struct nl_event ev = { .change = NL_LINK_CHANGED, .link = { .name = "up1" } };

	(void)state;
	is_tentative = true;
	lines_changed(&d, &ev);
	assert_string_equal(lines.line[0].lost, "the address is missing");
	is_tentative = false;
	lines_changed(&d, &ev);
	assert_null(lines.line[0].lost);
}

int main(void)
{
#define T(name) cmocka_unit_test_setup_teardown(name, setup, teardown)
	const struct CMUnitTest tests[] = {
		T(a_repeated_bind_announces_the_addresses),
		T(an_interface_that_appears_during_the_start),
		T(a_failed_request_is_no_missing_interface),
		T(an_address_during_duplicate_address_detection),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
