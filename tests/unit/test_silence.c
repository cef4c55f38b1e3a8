// SPDX-License-Identifier: GPL-2.0-or-later
/* leon-accel/peer/peers: the silence of another node is measured while this process runs. */
#include "conns_lab.h"

#define LIMIT_S 10 /* seconds of silence after which an inter-proxy connection ends */

static void tick_after_ms(struct conns_lab *l, int64_t ms)
{
	l->now = mono_add_ms(l->now, ms);
	loop_sim_run_until(l->loop, l->now);
	peers_second(&l->e, l->now);
}

/* The bytes of the other node wait in the socket while this process gets no processor time. */
static void test_own_stall_is_no_silence_of_the_peer(void **state)
{
	struct conns_lab l;
	struct accel_peer *p;
	int far = conns_lab_connected(&l, &p);

	(void)state;
	tick_after_ms(&l, 1000);
	tick_after_ms(&l, 60000);
	assert_true(p->state == PEER_UP);
	/* Starved: each tick is late. */
	for (unsigned i = 0; i < LIMIT_S - 2; i++)
		tick_after_ms(&l, 4000);
	assert_true(p->state == PEER_UP);
	tick_after_ms(&l, 1000);
	assert_true(p->state != PEER_UP);
	close(far);
	conns_lab_close(&l);
}

static void test_silent_peer_is_given_up(void **state)
{
	struct conns_lab l;
	struct accel_peer *p;
	int far = conns_lab_connected(&l, &p);

	(void)state;
	for (unsigned i = 0; i < LIMIT_S; i++)
		tick_after_ms(&l, 1000);
	assert_true(p->state == PEER_UP);
	tick_after_ms(&l, 1000);
	assert_true(p->state != PEER_UP);
	close(far);
	conns_lab_close(&l);
}

/* While leon-accel ends, its ticks are shorter than a second. */
static void test_short_ticks_of_an_end_do_not_count(void **state)
{
	struct conns_lab l;
	struct accel_peer *p;
	int far = conns_lab_connected(&l, &p);

	(void)state;
	l.e.stopping = true;
	for (unsigned i = 0; i < 3 * LIMIT_S; i++)
		tick_after_ms(&l, 50);
	assert_true(p->state == PEER_UP);
	close(far);
	conns_lab_close(&l);
}

/* The sender of an ACCEPT is bound until the answer, also if the stream has ended here. */
static void test_accept_of_an_ended_stream_is_answered(void **state)
{
	const struct accel_frame accept = { .type = ACCEL_ACCEPT, .stream = 7 };
	struct conns_lab l;
	struct accel_peer *p;
	int far = conns_lab_connected(&l, &p);
	uint8_t buf[ACCEL_SMALL_MAX];
	struct accel_frame f;
	size_t used;
	ssize_t n;

	(void)state;
	assert_true(recv(far, buf, sizeof(buf), 0) > 0); /* HELLO */
	assert_true(l.e.peer_ops->take(p, &accept, l.now));
	n = recv(far, buf, sizeof(buf), 0);
	assert_true(n > 0);
	assert_int_equal(accel_decode(buf, (size_t)n, &f, &used), ACCEL_OK);
	assert_int_equal(f.type, ACCEL_REFUSE);
	assert_int_equal(f.stream, 7);
	close(far);
	conns_lab_close(&l);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_own_stall_is_no_silence_of_the_peer),
		cmocka_unit_test(test_silent_peer_is_given_up),
		cmocka_unit_test(test_short_ticks_of_an_end_do_not_count),
		cmocka_unit_test(test_accept_of_an_ended_stream_is_answered),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
