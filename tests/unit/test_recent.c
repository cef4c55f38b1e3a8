// SPDX-License-Identifier: GPL-2.0-or-later
/* fwd/lan/recent, fwd/lan/reports: a report of one host never suppresses the report of another. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "fwd/lan/lan_steps.h"
#include "fwd_one.h"

/* The inverse of hash_mix64(). The factors have inverses modulo 2^64. */
static uint64_t unmix(uint64_t x)
{
	x ^= x >> 33;
	x *= 0x9cb4b2f8129337dbULL;
	x ^= x >> 33;
	x *= 0x4f74430c22a54005ULL;
	x ^= x >> 33;
	return x;
}

/* Finds a host and a VLAN with the unkeyed hash of `mac` without VLAN. Returns false if there is
 * none. */
static bool find_other(uint64_t mac, uint16_t *vlan, struct mac *other)
{
	for (*vlan = 1; *vlan < 4095; ++*vlan) {
		uint64_t found = unmix(hash_mix64(mac << 16 | 1) ^ *vlan);

		*other = mac_from_u64(found >> 16);
		if ((found & 0xffff) == 1)
			return true;
	}
	return false;
}

static void no_host_hides_another(void **state)
{
	unsigned n = 0;

	(void)state;
	for (uint64_t mac = 0x020000000001; n < 4; mac++) {
		struct mac other;
		uint16_t vlan;

		if (!find_other(mac, &vlan, &other))
			continue;
		n++;
		worker_begin(fx.w);
		report_learn(fx.w, vlan, other, 1);
		report_learn(fx.w, 0, mac_from_u64(mac), 1);
		worker_end(fx.w);
		assert_int_equal(fx_reports(FWD_LEARN, NULL), 2);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(no_host_hides_another, fx_setup, fx_teardown),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
