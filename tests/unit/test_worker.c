// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Whose turn it is in a worker's loop: no source waits for all that another one has (the sources
 * are stand-ins, each notes which turn it had); how much is read from a socket in one, and how
 * long it stood there.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <cmocka.h>

#include <sys/eventfd.h>
#include <time.h>
#include <unistd.h>

#include "fwd_one.h"

static int late_fd;
static unsigned n_busy, n_busy_before_late;

static void ring_late(void)
{
	uint64_t one = 1;

	assert_int_equal(write(late_fd, &one, sizeof(one)), sizeof(one));
}

/* Has more for ever, as the TAP beside bulk. */
static bool take_busy(struct worker *w, int fd)
{
	(void)w;
	(void)fd;
	if (++n_busy == 1)
		ring_late();
	return true;
}

static bool take_late(struct worker *w, int fd)
{
	uint64_t n;

	assert_int_equal(read(fd, &n, sizeof(n)), sizeof(n));
	n_busy_before_late = n_busy;
	w->stopping = true;
	return false;
}

static void set_sources(struct source one, struct source other)
{
	n_busy = n_busy_before_late = 0;
	fx.w->source[0] = one;
	fx.w->source[1] = other;
	fx.w->n_sources = 2;
}

static void one_batch_and_then_others(void **state)
{
	int busy_fd = eventfd(1, EFD_NONBLOCK);

	(void)state;
	late_fd = eventfd(0, EFD_NONBLOCK);
	set_sources((struct source){ busy_fd, take_busy, NULL, NULL },
		    (struct source){ late_fd, take_late, NULL, NULL });
	worker_run(fx.w);
	assert_in_range(n_busy_before_late, 1, 2);
	close(busy_fd);
	close(late_fd);
}

/* What said that it has more has its turn though its descriptor says nothing. */
static bool take_twice(struct worker *w, int fd)
{
	uint64_t n;

	(void)w;
	if (++n_busy == 1)
		assert_int_equal(read(fd, &n, sizeof(n)), sizeof(n));
	if (n_busy == 2)
		ring_late();
	return n_busy == 1;
}

static void who_has_more_is_not_forgotten(void **state)
{
	int fd = eventfd(1, EFD_NONBLOCK);

	(void)state;
	late_fd = eventfd(0, EFD_NONBLOCK);
	set_sources((struct source){ fd, take_twice, NULL, NULL },
		    (struct source){ late_fd, take_late, NULL, NULL });
	worker_run(fx.w);
	assert_int_equal(n_busy_before_late, 2);
	close(fd);
	close(late_fd);
}

/* --- how much is read from the underlay in a turn --- */

static void messages_by_their_size(void **state)
{
	(void)state;
	/* None yet, none, and of no length. */
	assert_int_equal(fx.w->rx_messages, NET_BATCH);
	assert_int_equal(from_net_messages(NET_BATCH, 0, 0), 1);
	assert_int_equal(from_net_messages(NET_BATCH, NET_BATCH, 0), NET_BATCH);
	/* Small ones: a whole batch; a flood after GRO too. */
	assert_int_equal(from_net_messages(NET_BATCH, 1, 100), NET_BATCH);
	assert_int_equal(from_net_messages(NET_BATCH, NET_BATCH, NET_BATCH * 4000), NET_BATCH);
	/* Large ones: as many as are the bytes of a turn, one at least. */
	assert_int_equal(from_net_messages(NET_BATCH, NET_BATCH, NET_BATCH * 65536), 2);
	assert_int_equal(from_net_messages(2, 2, 2 * 65536), 2);
	assert_int_equal(from_net_messages(1, 1, 10 * NET_TURN_BYTES), 1);
	/* Then small ones again: not at once a whole batch, which may be of large ones. */
	assert_int_equal(from_net_messages(2, 1, 100), 4);
	assert_int_equal(from_net_messages(4, 4, 400), 8);
	assert_int_equal(from_net_messages(NET_BATCH - 1, 1, 100), NET_BATCH);
}

#define LARGE 60000

/* A batch from the socket; datagrams in it. */
static uint64_t batch(bool *more)
{
	uint64_t before = fx_count(&fx, CNT_net_rx_datagrams);

	worker_begin(fx.w);
	*more = from_net(fx.w, fx.udp);
	worker_end(fx.w);
	return fx_count(&fx, CNT_net_rx_datagrams) - before;
}

static void a_turn_is_so_many_bytes(void **state)
{
	static uint8_t buf[LARGE];
	struct sockaddr_storage to;
	socklen_t to_len = endpoint_to_sockaddr(&fx.ep[0], &to);
	uint64_t n, sum = 0, longest = 0;
	bool more;

	(void)state;
	/* What the kernel gives a socket without being asked takes three of them. */
	for (unsigned round = 0; round < 4; round++) {
		for (unsigned i = 0; i < 3; i++)
			assert_int_equal(sendto(fx.node_fd[1], buf, sizeof(buf), 0,
						(struct sockaddr *)&to, to_len),
					 sizeof(buf));
		do {
			n = batch(&more);
			sum += n;
			longest = round && n > longest ? n : longest;
		} while (more);
	}
	assert_int_equal(sum, 12);
	assert_int_equal(longest, NET_TURN_BYTES / LARGE);
}

/* --- how long it stood in the socket --- */

static void stamped(void)
{
	struct sockaddr_storage to;
	socklen_t to_len = endpoint_to_sockaddr(&fx.ep[0], &to);
	int one = 1;

	assert_int_equal(setsockopt(fx.udp, SOL_SOCKET, SO_TIMESTAMPNS, &one, sizeof(one)), 0);
	assert_int_equal(sendto(fx.node_fd[1], "x", 1, 0, (struct sockaddr *)&to, to_len), 1);
}

static uint64_t socket_waits(unsigned from, unsigned to)
{
	struct fwd_waits f = { 0 };
	uint64_t n = 0;

	fwd_add_socket_waits(fx.f, 0, &f);
	for (unsigned i = from; i < to; i++)
		n += f.waits[i];
	return n;
}

/* Of each batch the oldest; nothing of none, and where the kernel tells no time. */
static void waits_in_the_socket(void **state)
{
	struct timespec nap = { .tv_nsec = 4 * NS_PER_MS };
	bool more;

	(void)state;
	batch(&more);
	assert_int_equal(socket_waits(0, FWD_WAITS), 0);
	stamped();
	nanosleep(&nap, NULL);
	stamped();
	assert_int_equal(batch(&more), 2);
	assert_int_equal(socket_waits(0, FWD_WAITS), 1);
	/* The first waited for 4 ms and more. */
	assert_int_equal(socket_waits(12, FWD_WAITS), 1);
}

/* It may come between the begin of a batch and the read. */
static void what_has_just_come_waited_for_nothing(void **state)
{
	(void)state;
	worker_begin(fx.w);
	fx.w->now = mono_add_ms(fx.w->now, -100);
	stamped();
	from_net(fx.w, fx.udp);
	worker_end(fx.w);
	assert_int_equal(socket_waits(0, 1), 1);
	assert_int_equal(socket_waits(0, FWD_WAITS), 1);
}

static void without_a_time_of_arrival(void **state)
{
	struct sockaddr_storage to;
	socklen_t to_len = endpoint_to_sockaddr(&fx.ep[0], &to);
	bool more;

	(void)state;
	assert_int_equal(sendto(fx.node_fd[1], "x", 1, 0, (struct sockaddr *)&to, to_len), 1);
	assert_int_equal(batch(&more), 1);
	assert_int_equal(socket_waits(0, FWD_WAITS), 0);
}

int main(void)
{
#define T(name) cmocka_unit_test_setup_teardown(name, fx_setup, fx_teardown)
	const struct CMUnitTest tests[] = {
		T(one_batch_and_then_others), T(who_has_more_is_not_forgotten),
		T(messages_by_their_size),    T(a_turn_is_so_many_bytes),
		T(waits_in_the_socket),	      T(what_has_just_come_waited_for_nothing),
		T(without_a_time_of_arrival),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
