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

#include <poll.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
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

#define STAMPS_WITHIN_S 20

static void send_one(void)
{
	struct sockaddr_storage to;
	socklen_t to_len = endpoint_to_sockaddr(&fx.ep[0], &to);

	assert_int_equal(sendto(fx.node_fd[1], "x", 1, 0, (struct sockaddr *)&to, to_len), 1);
}

static int64_t real_ns(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_REALTIME, &ts);
	return (int64_t)ts.tv_sec * NS_PER_S + ts.tv_nsec;
}

/* Reads one; whether its stamp is older than the read. */
static bool was_stamped_before(void)
{
	union {
		struct cmsghdr align;
		uint8_t room[CMSG_SPACE(sizeof(struct timespec))];
	} control;
	uint8_t byte;
	struct iovec iov = { &byte, sizeof(byte) };
	struct msghdr mh = { .msg_iov = &iov,
			     .msg_iovlen = 1,
			     .msg_control = &control,
			     .msg_controllen = sizeof(control) };
	struct pollfd arrived = { .fd = fx.udp, .events = POLLIN };
	struct timespec ts;
	int64_t before;

	assert_int_equal(poll(&arrived, 1, STAMPS_WITHIN_S * 1000), 1);
	before = real_ns();
	assert_int_equal(recvmsg(fx.udp, &mh, 0), 1);
	assert_non_null(CMSG_FIRSTHDR(&mh));
	assert_int_equal(CMSG_FIRSTHDR(&mh)->cmsg_type, SCM_TIMESTAMPNS);
	memcpy(&ts, CMSG_DATA(CMSG_FIRSTHDR(&mh)), sizeof(ts));
	return (int64_t)ts.tv_sec * NS_PER_S + ts.tv_nsec < before;
}

/* The kernel begins to stamp what arrives a while after the first socket has asked for it, by a
 * thread of its own; what came before that it stamps when it is read. */
static void stamp_arrivals(void)
{
	struct timespec nap = { .tv_nsec = NS_PER_MS };
	int64_t end = real_ns() + STAMPS_WITHIN_S * NS_PER_S;
	int one = 1;

	assert_int_equal(setsockopt(fx.udp, SOL_SOCKET, SO_TIMESTAMPNS, &one, sizeof(one)), 0);
	for (send_one(); !was_stamped_before(); send_one()) {
		assert_true(real_ns() < end);
		nanosleep(&nap, NULL);
	}
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
	stamp_arrivals();
	send_one();
	nanosleep(&nap, NULL);
	send_one();
	assert_int_equal(batch(&more), 2);
	assert_int_equal(socket_waits(0, FWD_WAITS), 1);
	/* The first waited for 4 ms and more. */
	assert_int_equal(socket_waits(12, FWD_WAITS), 1);
}

/* It may come between the begin of a batch and the read. */
static void what_has_just_come_waited_for_nothing(void **state)
{
	(void)state;
	stamp_arrivals();
	worker_begin(fx.w);
	fx.w->now = mono_add_ms(fx.w->now, -100);
	send_one();
	from_net(fx.w, fx.udp);
	worker_end(fx.w);
	assert_int_equal(socket_waits(0, 1), 1);
	assert_int_equal(socket_waits(0, FWD_WAITS), 1);
}

static void without_a_time_of_arrival(void **state)
{
	bool more;

	(void)state;
	send_one();
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
