// SPDX-License-Identifier: GPL-2.0-or-later
/* leon-accel/credit: bounds of the acknowledged and undelivered bytes. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "conn_state.h"
#include "credit.h"
#include "engine.h"

#define MIB (1u << 20)

struct lab {
	struct engine e;
	struct conn c;
};

static void begin(struct lab *l)
{
	*l = (struct lab){ .e.settings.undelivered = 4 * MIB, .e.n_intercepted = 1 };
	l->c.e = &l->e;
}

/* The proxy sockets of both ends and the bytes in transit have parts of the maximum. */
static void parts_sum_up_to_the_maximum(void **state)
{
	struct lab l;

	(void)state;
	begin(&l);
	assert_int_equal(credit_due(&l.c), 3 * MIB);
	assert_int_equal(credit_receive_window(&l.c), MIB / 4);
	assert_int_equal(credit_send_buffer(&l.c), MIB / 4);
}

/* A sender that sends all the time has at least 15 of 16 portions of the share in transit. */
static void credit_is_granted_early(void **state)
{
	struct lab l;

	(void)state;
	begin(&l);
	l.c.window.given = 3 * MIB - 3 * MIB / 16 + 1;
	assert_int_equal(credit_due(&l.c), 0);
	l.c.window.given--;
	assert_int_equal(credit_due(&l.c), 3 * MIB / 16);
}

/* A connection without a share of the budget still gets the least credit. */
static void the_least_is_always_granted(void **state)
{
	struct lab l;

	(void)state;
	begin(&l);
	l.e.promised = CREDIT_ALL;
	assert_int_equal(credit_due(&l.c), CREDIT_MIN);
	l.c.window.given = CREDIT_MIN - CREDIT_MIN / 4 + 1;
	assert_int_equal(credit_due(&l.c), 0);
	l.c.window.given--;
	assert_int_equal(credit_due(&l.c), CREDIT_MIN / 4);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(parts_sum_up_to_the_maximum),
		cmocka_unit_test(credit_is_granted_early),
		cmocka_unit_test(the_least_is_always_granted),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
