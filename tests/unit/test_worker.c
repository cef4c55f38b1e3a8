// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * The order of sources in the loop of a worker: no source waits for the whole backlog of another.
 * The sources are replaced and note their turns. Also the number of messages in one read, the
 * waiting time in the socket, and the length of the sleep.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <cmocka.h>

#include <dirent.h>
#include <fcntl.h>
#include <poll.h>
#include <stdio.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#include "fwd_one.h"
#include "io/clock.h"

static int late_fd;
static unsigned n_busy, n_busy_before_late;

static void ring_late(void)
{
	uint64_t one = 1;

	assert_int_equal(write(late_fd, &one, sizeof(one)), sizeof(one));
}

/* Has a permanent backlog, as the TAP has during bulk traffic. */
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
	set_sources((struct source){ busy_fd, take_busy, NULL, NULL, 0 },
		    (struct source){ late_fd, take_late, NULL, NULL, 0 });
	worker_run(fx.w);
	assert_in_range(n_busy_before_late, 1, 2);
	close(busy_fd);
	close(late_fd);
}

/* A source that reported more data has a turn without an event of its descriptor. */
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
	set_sources((struct source){ fd, take_twice, NULL, NULL, 0 },
		    (struct source){ late_fd, take_late, NULL, NULL, 0 });
	worker_run(fx.w);
	assert_int_equal(n_busy_before_late, 2);
	close(fd);
	close(late_fd);
}

/* --- messages of the underlay in one turn --- */

static void messages_by_their_size(void **state)
{
	(void)state;
	/* No message yet, no message, and a message of length 0. */
	assert_int_equal(fx.w->rx_messages, NET_BATCH);
	assert_int_equal(from_net_messages(NET_BATCH, 0, 0), 1);
	assert_int_equal(from_net_messages(NET_BATCH, NET_BATCH, 0), NET_BATCH);
	/* Small messages: a whole batch, also for a flood after GRO. */
	assert_int_equal(from_net_messages(NET_BATCH, 1, 100), NET_BATCH);
	assert_int_equal(from_net_messages(NET_BATCH, NET_BATCH, NET_BATCH * 4000), NET_BATCH);
	/* Large messages: the number that fits the bytes of a turn, and at least one. */
	assert_int_equal(from_net_messages(NET_BATCH, NET_BATCH, NET_BATCH * 65536), 2);
	assert_int_equal(from_net_messages(2, 2, 2 * 65536), 2);
	assert_int_equal(from_net_messages(1, 1, 10 * NET_TURN_BYTES), 1);
	/* Small messages follow: the number doubles, because the next messages may be large. */
	assert_int_equal(from_net_messages(2, 1, 100), 4);
	assert_int_equal(from_net_messages(4, 4, 400), 8);
	assert_int_equal(from_net_messages(NET_BATCH - 1, 1, 100), NET_BATCH);
}

#define LARGE 60000

/* Reads one batch from the socket. Returns its number of datagrams. */
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
	/* The default buffer of a socket holds three of these messages. */
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

/* --- waiting time in the socket --- */

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

/* Reads one datagram. Returns whether its stamp is older than the read. */
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

/* The kernel enables time stamps in a thread, some time after the first socket requests them.
 * Earlier datagrams get the time of the read. */
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

/* Each batch counts its oldest datagram. A batch without datagrams or without stamps counts
 * nothing. */
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
	/* The first datagram waited for 4 ms or more. */
	assert_int_equal(socket_waits(12, FWD_WAITS), 1);
}

/* The datagram may arrive between the begin of a batch and the read. */
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

/* --- a socket that is replaced --- */

#define ARRIVES_WITHIN_S 20

/* Waits for a number of received datagrams. Returns false if some are missing. */
static bool received(uint64_t n)
{
	struct timespec nap = { .tv_nsec = NS_PER_MS };
	int64_t end = real_ns() + ARRIVES_WITHIN_S * NS_PER_S;

	while (fx_count(&fx, CNT_net_rx_datagrams) < n && real_ns() < end)
		nanosleep(&nap, NULL);
	return fx_count(&fx, CNT_net_rx_datagrams) == n;
}

/* Returns the state of the thread of the worker, as in proc(5). */
static char worker_state(void)
{
	char line[128], state = '?';
	DIR *tasks = opendir("/proc/self/task");
	struct dirent *e;

	assert_non_null(tasks);
	while ((e = readdir(tasks)) != NULL) {
		char path[sizeof("/proc/self/task//stat") + sizeof(e->d_name)];
		FILE *f;

		snprintf(path, sizeof(path), "/proc/self/task/%s/stat", e->d_name);
		f = fopen(path, "re");
		if (f && fgets(line, sizeof(line), f))
			sscanf(line, "%*d (leon-worker-0) %c", &state);
		if (f)
			fclose(f);
	}
	closedir(tasks);
	return state;
}

static void wait_for_sleep(void)
{
	struct timespec nap = { .tv_nsec = NS_PER_MS };
	int64_t end = real_ns() + ARRIVES_WITHIN_S * NS_PER_S;

	while (worker_state() != 'S') {
		assert_true(real_ns() < end);
		nanosleep(&nap, NULL);
	}
}

/* The sleep began with the socket before. No frame of a host ends it. */
static void a_sleeping_worker_sees_a_new_socket(void **state)
{
	int fresh;

	(void)state;
	assert_int_equal(fwd_start(fx.f), 0);
	send_one();
	assert_true(received(1));
	for (unsigned i = 2; i < 5; i++) {
		wait_for_sleep();
		fresh = fx_socket(&fx.ep[0]);
		assert_int_equal(dup3(fresh, fx.udp, O_CLOEXEC), fx.udp);
		close(fresh);
		fwd_wake(fx.f);
		send_one();
		assert_true(received(i));
	}
	fwd_stop(fx.f);
	/* The workers run again after a stop. */
	assert_int_equal(fwd_start(fx.f), 0);
	send_one();
	assert_true(received(5));
}

/* --- the length of the sleep --- */

static mono_t due_at_the_second_look(const struct worker *w)
{
	(void)w;
	return ++n_busy > 1 ? (mono_t){ 1 } : MONO_NEVER;
}

static bool take_end(struct worker *w, int fd)
{
	(void)fd;
	w->stopping = true;
	return false;
}

/* Counter 2 is missing, and counter 3 waits for 1 ms. */
static void keep_a_datagram(void)
{
	static const uint8_t payload[1];
	struct hold_datagram d = { .h = { .source = N(9) },
				   .counter = 1,
				   .marked = true,
				   .payload = payload,
				   .len = sizeof(payload) };

	assert_int_equal(hold_take(fx.f->hold, 0, &d, 1000, mono_now()), HOLD_NOW);
	d.counter = 3;
	assert_int_equal(hold_take(fx.f->hold, 0, &d, 1000, mono_now()), HOLD_KEPT);
	assert_true(hold_end(fx.f->hold, 0, mono_now()));
}

/* The block ends after half a minute. */
static void an_open_block_delays_no_held_datagram(void **state)
{
	int fd = eventfd(0, EFD_NONBLOCK);
	struct source end = { fd, take_end, due_at_the_second_look, NULL, 0 };
	int64_t begin = real_ns();

	(void)state;
	set_sources(end, end);
	fx.w->n_sources = 1;
	coding_open(&fx.w->coding, &fx.w->coding.block[0], 0, mono_add_ms(mono_now(), 30000));
	keep_a_datagram();
	worker_run(fx.w);
	assert_true(real_ns() - begin < 15 * NS_PER_S);
	assert_int_equal(fx_drops(&fx, DROP_unknown_sender), 1);
	close(fd);
}

/* Five frames arrive before each turn. */
static bool take_five(struct worker *w, int fd)
{
	(void)fd;
	w->inputs += 5;
	w->stopping = ++n_busy == 4000;
	return false;
}

static uint64_t moderated_with(bool realtime)
{
	int fd = eventfd(1, EFD_NONBLOCK);
	struct source always = { fd, take_five, NULL, NULL, 0 };

	set_sources(always, always);
	fx.w->n_sources = 1;
	/* Without statistics of the kernel, a worker keeps its priority. */
	fx.w->priority = (struct priority){ .fd = -1, .realtime = realtime };
	atomic_store(&fx.w->fwd->realtime, realtime);
	worker_run(fx.w);
	close(fd);
	return fx_count(&fx, CNT_moderated);
}

static void only_realtime_workers_are_moderated(void **state)
{
	(void)state;
	assert_int_equal(moderated_with(false), 0);
	assert_true(moderated_with(true) > 2000);
}

/* Sleeps of a worker to which `frames` arrive before each sleep, and with a pause `gathered`.
 * Returns its pauses. */
static unsigned pauses(struct moderation *m, uint64_t *read, unsigned sleeps, unsigned frames,
		       unsigned gathered)
{
	unsigned n = 0;

	for (unsigned i = 0; i < sleeps; i++) {
		bool paused = moderation_pauses(m, *read);

		n += paused;
		*read += paused ? gathered : frames;
	}
	return n;
}

static void flood_is_moderated(void **state)
{
	struct moderation m = { 0 };
	uint64_t read = 0;

	(void)state;
	assert_in_range(pauses(&m, &read, 10000, 1, 25), 8900, 9000);
	/* It ends with the flood. */
	assert_in_range(pauses(&m, &read, 10000, 1, 1), 2, 11);
}

static void host_that_waits_for_an_answer_is_not_delayed(void **state)
{
	struct moderation m = { 0 };
	uint64_t read = 0;

	(void)state;
	assert_in_range(pauses(&m, &read, 102400, 2, 2), 1, 100);
}

/* Turns of a real-time worker with `inputs` and `bytes` each. Returns its yields. */
static unsigned yields(unsigned turns, unsigned inputs, uint64_t bytes)
{
	struct moderation m = { 0 };
	unsigned n = 0;

	for (unsigned i = 1; i <= turns; i++)
		n += moderation_yields(&m, (uint64_t)i * inputs, i * bytes);
	return n;
}

static void yields_follow_work(void **state)
{
	(void)state;
	assert_in_range(yields(800, 1, 100), 90, 110);
	/* Bulk data and floods. */
	assert_int_equal(yields(800, 1, 65536), 800);
	assert_int_equal(yields(800, 64, 4096), 800);
	assert_int_equal(yields(800, 0, 0), 0);
}

/* --- real-time priority --- */

/* Looks once a millisecond for `ms`; the worker waits for `waits_us` before each look. Returns the
 * looks with real-time priority. */
static unsigned urgent_looks(struct priority *p, unsigned ms, unsigned waits_us)
{
	static uint64_t waited_ns;
	static mono_t now;
	unsigned n = 0;

	for (unsigned i = 0; i < ms; i++) {
		now = mono_add_ns(now, PRIORITY_LOOK_NS);
		waited_ns += waits_us * 1000;
		p->realtime = priority_is_needed(p, waited_ns, now);
		n += p->realtime;
	}
	return n;
}

static void a_wait_for_a_processor_gives_priority(void **state)
{
	struct priority p = { 0 };
	unsigned least_ms = PRIORITY_HOLD_MIN_NS / PRIORITY_LOOK_NS;
	unsigned most_ms = PRIORITY_HOLD_MAX_NS / PRIORITY_LOOK_NS;

	(void)state;
	/* An idle pair on one processor waits for a third of the time. */
	assert_int_equal(urgent_looks(&p, 1000, 330), 0);
	assert_int_equal(urgent_looks(&p, 1, 600), 1);
	/* A wait with priority does not prolong it. */
	assert_int_equal(urgent_looks(&p, 2 * least_ms, 10), least_ms - 1);
	/* A wait after a long time without one begins with the least duration again. */
	assert_int_equal(urgent_looks(&p, 1, 600), 1);
	assert_int_equal(urgent_looks(&p, least_ms, 10), least_ms - 1);
	/* While the other program runs, the duration doubles, and one look in the duration is
	 * without priority. */
	assert_int_equal(urgent_looks(&p, 2 * most_ms, 600), 2 * most_ms - 5);
	assert_in_range(urgent_looks(&p, 10 * most_ms, 600), 10 * most_ms - 10, 10 * most_ms - 9);
}

/* --- busy polling --- */

static void idle(struct polling *p, unsigned times, int64_t us)
{
	for (unsigned i = 0; i < times; i++)
		polling_learn(p, us);
}

static void window_grows_to_the_limit(void **state)
{
	static const uint32_t expected[] = { 10, 20, 40, 50 };
	struct polling p = { .limit_us = 50 };

	(void)state;
	for (size_t i = 0; i < array_size(expected); i++) {
		idle(&p, 1, 45);
		assert_int_equal(p.window_us, expected[i]);
	}
	/* It covers the idle time. */
	idle(&p, 1000, 50);
	assert_int_equal(p.window_us, 50);
}

static void window_is_no_longer_than_needed(void **state)
{
	struct polling p = { .limit_us = 1000 };

	(void)state;
	idle(&p, 1000, 30);
	assert_int_equal(p.window_us, 40);
}

static void long_idle_times_close_the_window(void **state)
{
	static const uint32_t expected[] = { 25, 12, 0, 0 };
	struct polling p = { .limit_us = 50 };

	(void)state;
	idle(&p, 10, 45);
	for (size_t i = 0; i < array_size(expected); i++) {
		idle(&p, 1, 51);
		assert_int_equal(p.window_us, expected[i]);
	}
	/* It grows again at once. */
	idle(&p, 1, 45);
	assert_int_equal(p.window_us, 10);
}

static void windows_without_success_suspend_polling(void **state)
{
	struct polling p = { .limit_us = 50 };
	unsigned windows = 0;

	(void)state;
	/* Each window delays the next frame beyond the window. */
	for (unsigned i = 0; i < 10 * POLLING_REST; i++) {
		windows += p.window_us > 0;
		idle(&p, 1, p.window_us + 5);
	}
	assert_in_range(windows, POLLING_MISSES, 10 * POLLING_MISSES);
}

static void no_limit_no_window(void **state)
{
	struct polling p = { .limit_us = 50 };

	(void)state;
	idle(&p, 10, 5);
	p.limit_us = 0;
	idle(&p, 10, 5);
	assert_int_equal(p.window_us, 0);
	idle(&p, 3000, 0);
	assert_int_equal(p.window_us, 0);
}

int main(void)
{
#define T(name) cmocka_unit_test_setup_teardown(name, fx_setup, fx_teardown)
	const struct CMUnitTest tests[] = {
		T(one_batch_and_then_others),
		T(who_has_more_is_not_forgotten),
		T(messages_by_their_size),
		T(a_turn_is_so_many_bytes),
		T(waits_in_the_socket),
		T(what_has_just_come_waited_for_nothing),
		T(without_a_time_of_arrival),
		T(a_sleeping_worker_sees_a_new_socket),
		T(an_open_block_delays_no_held_datagram),
		T(only_realtime_workers_are_moderated),
		cmocka_unit_test(a_wait_for_a_processor_gives_priority),
		cmocka_unit_test(flood_is_moderated),
		cmocka_unit_test(host_that_waits_for_an_answer_is_not_delayed),
		cmocka_unit_test(yields_follow_work),
		cmocka_unit_test(window_grows_to_the_limit),
		cmocka_unit_test(window_is_no_longer_than_needed),
		cmocka_unit_test(long_idle_times_close_the_window),
		cmocka_unit_test(windows_without_success_suspend_polling),
		cmocka_unit_test(no_limit_no_window),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
