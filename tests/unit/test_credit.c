// SPDX-License-Identifier: GPL-2.0-or-later
/* leon-accel/flow/credit: bounds of the acknowledged and undelivered bytes. */
#include "conns_lab.h"
#include "flow/proxy_sock.h"

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

/* The node that offered sends data with its TAKE, so the credit follows the ACCEPT. */
static void credit_follows_an_accept(void **state)
{
	const struct accel_frame accept = { .type = ACCEL_ACCEPT, .stream = 7 };
	uint8_t buf[8 * ACCEL_SMALL_MAX];
	struct accel_frame f;
	struct conns_lab l;
	struct accel_peer *p;
	struct conn *c;
	int far = conns_lab_connected(&l, &p);
	size_t used, len;

	(void)state;
	l.e.settings.undelivered = 4 * MIB;
	c = conns_lab_track(&l);
	assert_true(recv(far, buf, sizeof(buf), 0) > 0); /* HELLO */
	c->flow.stream = accept.stream;
	conn_ops.notify(&c->flow, &accept);
	len = (size_t)recv(far, buf, sizeof(buf), 0);
	assert_int_equal(accel_decode(buf, len, &f, &used), ACCEL_OK);
	assert_int_equal(f.type, ACCEL_ACCEPT);
	assert_int_equal(accel_decode(buf + used, len - used, &f, &used), ACCEL_OK);
	assert_int_equal(f.type, ACCEL_CREDIT);
	assert_int_equal(f.stream, accept.stream);
	assert_int_equal(f.credit.bytes, 3 * MIB);
	assert_int_equal(credit_due(c), 0);
	/* REFUSE returns the credit. */
	assert_int_equal(l.e.promised, 3 * MIB);
	conn_detach(c);
	assert_int_equal(l.e.promised, 0);
	close(far);
	conns_lab_close(&l);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(parts_sum_up_to_the_maximum),
		cmocka_unit_test(credit_is_granted_early),
		cmocka_unit_test(the_least_is_always_granted),
		cmocka_unit_test(credit_follows_an_accept),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
