// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * daemon/underlay/bottleneck: super-frames of the TAP and events, by the limits of the access link.
 * The linker replaces the measurement, the workers and the kernel (meson.build).
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <linux/if_tun.h>
#include <stdlib.h>
#include <sys/ioctl.h>

#include "base/loop.h"
#include "daemon/report/report.h"
#include "daemon/states.h"
#include "daemon/underlay/underlay.h"
#include "fwd/fwd.h"
#include "io/tap.h"
#include "state/conf/conf.h"
#include "state/tables/nodedb.h"

static struct conf *conf;
static struct states states;
static struct tap tap;
static struct nodedb *nodes;
static struct leond d;

/* --- replaced functions --- */

static uint32_t first_kbits, second_kbits; /* measured rates of both lines */
static uint32_t worker_kbits;
static bool super_frames;
static unsigned offload_calls, events;

#define REPLACED(type, name, ...)                                                                  \
	extern type __wrap_##name(__VA_ARGS__);                                                    \
	type __wrap_##name(__VA_ARGS__)

REPLACED(int, ioctl, int fd, unsigned long request, unsigned long flags)
{
	(void)fd;
	assert_int_equal(request, TUNSETOFFLOAD);
	super_frames = flags & TUN_F_TSO4;
	offload_calls++;
	return 0;
}

REPLACED(uint32_t, autorate_step, struct autorate *a, const struct site_load *in, mono_t now)
{
	(void)a;
	(void)in;
	(void)now;
	return first_kbits;
}

REPLACED(uint32_t, overlay_second_kbits, const struct overlay *o)
{
	(void)o;
	return second_kbits;
}

REPLACED(struct nodedb *, overlay_nodes, struct overlay *o)
{
	(void)o;
	return nodes;
}

REPLACED(void, overlay_limit_line, struct overlay *o, uint32_t kbits, bool full)
{
	(void)o;
	(void)kbits;
	(void)full;
}

REPLACED(uint64_t, fwd_held_frames, struct fwd *f)
{
	(void)f;
	return 0;
}

REPLACED(void, fwd_set_bottleneck, struct fwd *f, uint32_t kbits)
{
	(void)f;
	worker_kbits = kbits;
}

REPLACED(void, report_event, struct leond *to, const struct overlay_event *n, const char *fmt, ...)
{
	(void)to;
	(void)n;
	(void)fmt;
	events++;
}

/* --- one node --- */

static int setup(void **state)
{
	(void)state;
	conf = calloc(1, sizeof(*conf));
	conf->shaper_automatic = true;
	nodes = nodedb_new(1, 10);
	states = (struct states){ 0 };
	tap = (struct tap){ .granted = { true, true, true },
			    .used = { true, true, true },
			    .super = true };
	d = (struct leond){ .loop = loop_sim_new(), .conf = conf, .states = &states, .tap = &tap };
	first_kbits = second_kbits = worker_kbits = 0;
	super_frames = true;
	offload_calls = events = 0;
	bottleneck_start(&d);
	return 0;
}

static int teardown(void **state)
{
	(void)state;
	leond_release(&d);
	loop_free(d.loop);
	nodedb_free(nodes);
	free(conf);
	return 0;
}

/* The next step measures these rates. */
static void measure(uint32_t first, uint32_t second)
{
	first_kbits = first;
	second_kbits = second;
	loop_sim_run_until(d.loop, mono_add_ms(loop_now(d.loop), AUTORATE_STEP_MS));
	assert_int_equal(worker_kbits, first ? first + second : 0);
}

static void a_slow_link_has_no_super_frames(void **state)
{
	(void)state;
	measure(0, 0);
	assert_true(super_frames);
	measure(600000, 0);
	assert_false(super_frames);
	assert_int_equal(events, 1);
	measure(0, 0);
	assert_true(super_frames);
	assert_int_equal(events, 2);
}

/* The second line adds its rate, and may leave. The limit is the same one, so no event follows. */
static void a_limit_crosses_the_rate_of_super_frames(void **state)
{
	(void)state;
	measure(600000, 0);
	assert_false(super_frames);
	measure(600000, 700000);
	assert_true(super_frames);
	measure(600000, 300000);
	assert_false(super_frames);
	measure(1300000, 0);
	assert_true(super_frames);
	measure(0, 0);
	assert_true(super_frames);
	assert_int_equal(events, 2);
}

/* The limit changes up to 20 times a second. */
static void the_kernel_is_asked_only_for_a_change(void **state)
{
	(void)state;
	assert_int_equal(offload_calls, 0);
	measure(600000, 0);
	assert_int_equal(offload_calls, 1);
	for (uint32_t kbits = 1000; kbits < 100000; kbits += 1000)
		measure(kbits, 0);
	assert_int_equal(offload_calls, 1);
	/* Bandwidth probes at 1 Gbit/s. */
	for (unsigned i = 0; i < 10; i++) {
		measure(970000, 0);
		measure(1160000, 0);
	}
	assert_int_equal(offload_calls, 1);
}

static void the_lower_limit_counts(void **state)
{
	(void)state;
	conf->shaper_egress_kbits = 700000;
	bottleneck_apply_conf(&d);
	assert_false(super_frames);
	measure(1300000, 0);
	assert_false(super_frames);
	measure(600000, 0);
	conf->shaper_egress_kbits = 2000000;
	bottleneck_apply_conf(&d);
	assert_false(super_frames);
	conf->shaper_automatic = false;
	bottleneck_apply_conf(&d);
	assert_true(super_frames);
	assert_int_equal(worker_kbits, 0);
}

int main(void)
{
#define T(name) cmocka_unit_test_setup_teardown(name, setup, teardown)
	const struct CMUnitTest tests[] = {
		T(a_slow_link_has_no_super_frames),
		T(a_limit_crosses_the_rate_of_super_frames),
		T(the_kernel_is_asked_only_for_a_change),
		T(the_lower_limit_counts),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
