// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * The rule for the interface MTU: the configured value, the bridge port, or the smallest path MTU.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "daemon/device/device.h"
#include "wire/datagram/leon.h"
#include "wire/frame/eth.h"

#define HEADER ((uint32_t)LEON_HDR_LEN(1))

static mono_t at_ms(int64_t ms)
{
	return (mono_t){ NS_PER_S + ms * NS_PER_MS };
}

static struct mtu_input path(uint32_t mtu)
{
	return (struct mtu_input){ .smallest_path_mtu = mtu, .header_len = HEADER };
}

static void configured_wins(void **state)
{
	struct mtu_rule r = { 0 };
	struct mtu_input in = path(1472);
	(void)state;

	in.configured = 9000;
	in.bridge_port = true;
	assert_true(mtu_rule_run(&r, &in, at_ms(0)));
	assert_int_equal(r.mtu, 9000);
	assert_int_equal(r.source, MTU_CONFIGURED);
	assert_false(mtu_rule_run(&r, &in, at_ms(1)));
}

static void bridge_port_keeps_1500(void **state)
{
	struct mtu_rule r = { 0 };
	struct mtu_input in = path(1400);
	(void)state;

	in.bridge_port = true;
	mtu_rule_run(&r, &in, at_ms(0));
	assert_int_equal(r.mtu, 1500);
}

static void starts_with_1500_alone(void **state)
{
	struct mtu_rule r = { 0 };
	struct mtu_input in = path(0);
	(void)state;

	assert_true(mtu_rule_run(&r, &in, at_ms(0)));
	assert_int_equal(r.mtu, 1500);
}

static void lowers_when_stable(void **state)
{
	struct mtu_rule r = { 0 };
	struct mtu_input none = path(0), in = path(1472);
	(void)state;

	mtu_rule_run(&r, &none, at_ms(0));
	assert_false(mtu_rule_run(&r, &in, at_ms(100)));
	assert_false(mtu_rule_run(&r, &in, at_ms(100 + MTU_LOWER_AFTER_MS - 1)));
	assert_true(mtu_rule_run(&r, &in, at_ms(100 + MTU_LOWER_AFTER_MS)));
	assert_int_equal(r.mtu, 1472 - HEADER - ETH_HDR_LEN);
	assert_int_equal(r.source, MTU_PATH);

	/* The loss of the last other node changes nothing. */
	assert_false(mtu_rule_run(&r, &none, at_ms(60000)));
	assert_int_equal(r.mtu, 1472 - HEADER - ETH_HDR_LEN);
}

/* A value that appears only for a moment does not take effect. */
static void does_not_flap(void **state)
{
	struct mtu_rule r = { 0 };
	struct mtu_input low = path(1400), high = path(1472);
	(void)state;

	mtu_rule_run(&r, &low, at_ms(0));
	assert_int_equal(r.mtu, 1400 - HEADER - ETH_HDR_LEN);
	for (int64_t ms = 0; ms < 10 * MTU_RAISE_AFTER_MS; ms += 1000)
		assert_false(mtu_rule_run(&r, ms / 1000 % 10 ? &high : &low, at_ms(ms)));
	assert_int_equal(r.mtu, 1400 - HEADER - ETH_HDR_LEN);
	for (int64_t ms = 0; ms <= MTU_RAISE_AFTER_MS; ms += 1000)
		mtu_rule_run(&r, &high, at_ms(1000000 + ms));
	assert_int_equal(r.mtu, 1472 - HEADER - ETH_HDR_LEN);
}

static void stays_in_bounds(void **state)
{
	struct mtu_rule small = { 0 }, jumbo = { 0 };
	struct mtu_input in = path(600);
	(void)state;

	mtu_rule_run(&small, &in, at_ms(0));
	assert_int_equal(small.mtu, MTU_MIN);
	in = path(8972);
	mtu_rule_run(&jumbo, &in, at_ms(0));
	assert_int_equal(jumbo.mtu, 1500);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(configured_wins),	  cmocka_unit_test(bridge_port_keeps_1500),
		cmocka_unit_test(starts_with_1500_alone), cmocka_unit_test(lowers_when_stable),
		cmocka_unit_test(does_not_flap),	  cmocka_unit_test(stays_in_bounds),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
