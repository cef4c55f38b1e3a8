// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * The production loop: timers, descriptors, signals, sd_notify and the watchdog. Every test ends
 * the loop from a callback. The timeout of the test runner is the deadline, so the speed of the
 * machine has no effect.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <sys/un.h>

#include "base/loop.h"
#include "expect_bug.h"

struct ctx {
	struct loop *loop;
	struct timer *timer;
	struct timer *other;
	unsigned n;
	mono_t wanted;
	int fds[2];
	int got;
};

static struct ctx begin(void)
{
	struct ctx c = { .loop = loop_sd_new() };

	assert_non_null(c.loop);
	return c;
}

static void timer_quits(void *arg, mono_t now)
{
	struct ctx *c = arg;

	assert_false(mono_before(now, c->wanted));
	assert_false(timer_is_set(c->timer));
	c->n++;
	loop_quit(c->loop, 42);
}

static void timer_is_never_early(void **state)
{
	struct ctx c = begin();

	(void)state;
	assert_true(loop_now(c.loop).ns > 0);
	c.timer = timer_new(c.loop, timer_quits, &c);
	assert_false(timer_is_set(c.timer));
	/* An odd number of nanoseconds is rounded up, and the loop can run again. */
	for (unsigned i = 1; i <= 5; i++) {
		c.wanted = mono_add_ns(loop_now(c.loop), 1234567);
		timer_set(c.timer, c.wanted);
		assert_true(timer_is_set(c.timer));
		assert_int_equal(loop_run(c.loop), 42);
		assert_int_equal(c.n, i);
	}
	timer_free(c.timer);
	loop_free(c.loop);
}

static void forbidden(void *arg, mono_t now)
{
	(void)now;
	((struct ctx *)arg)->n += 100;
}

static void stopped_and_moved(void **state)
{
	struct ctx c = begin();
	struct timer *never = timer_new(c.loop, forbidden, &c);

	(void)state;
	c.timer = timer_new(c.loop, timer_quits, &c);
	c.other = timer_new(c.loop, forbidden, &c);
	timer_set(c.other, loop_now(c.loop));
	timer_stop(c.other);
	assert_false(timer_is_set(c.other));
	timer_set(never, loop_now(c.loop));
	timer_set(never, MONO_NEVER);
	/* The timer moves from one hour to now. Otherwise the test would not end. */
	timer_set(c.timer, mono_add_ms(loop_now(c.loop), 3600 * 1000));
	timer_set(c.timer, mono_add_ms(loop_now(c.loop), 2));
	assert_int_equal(loop_run(c.loop), 42);
	assert_int_equal(c.n, 1);
	timer_free(never);
	timer_free(c.other);
	timer_free(c.timer);
	loop_free(c.loop);
}

static void free_self_and_continue(void *arg, mono_t now)
{
	struct ctx *c = arg;

	timer_free(c->other);
	c->other = NULL;
	timer_set(c->timer, now);
}

static void free_in_callback(void **state)
{
	struct ctx c = begin();

	(void)state;
	c.timer = timer_new(c.loop, timer_quits, &c);
	c.other = timer_new(c.loop, free_self_and_continue, &c);
	timer_set(c.other, loop_now(c.loop));
	assert_int_equal(loop_run(c.loop), 42);
	assert_null(c.other);
	timer_free(c.timer);
	loop_free(c.loop);
}

static void readable(void *arg, int fd, uint32_t events)
{
	struct ctx *c = arg;
	char byte;

	assert_int_equal(fd, c->fds[0]);
	assert_true(events & EPOLLIN);
	assert_int_equal(read(fd, &byte, 1), 1);
	c->n++;
	if (byte == 'q') {
		loop_fd_del(c->loop, fd);
		loop_quit(c->loop, 0);
	} else {
		assert_int_equal(write(c->fds[1], "q", 1), 1);
	}
}

static void descriptor(void **state)
{
	struct ctx c = begin();

	(void)state;
	assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM, 0, c.fds), 0);
	assert_int_equal(loop_fd_add(c.loop, c.fds[0], EPOLLIN, readable, &c), 0);
	assert_int_equal(loop_fd_add(c.loop, c.fds[0], EPOLLIN, readable, &c), -EEXIST);
	assert_int_equal(loop_fd_add(c.loop, -1, EPOLLIN, readable, &c), -EBADF);
	assert_int_equal(loop_fd_mod(c.loop, c.fds[1], EPOLLIN), -ENOENT);
	assert_int_equal(write(c.fds[1], "x", 1), 1);
	assert_int_equal(loop_run(c.loop), 0);
	assert_int_equal(c.n, 2);
	loop_fd_del(c.loop, c.fds[0]);
	close(c.fds[0]);
	close(c.fds[1]);
	loop_free(c.loop);
}

static void writable(void *arg, int fd, uint32_t events)
{
	struct ctx *c = arg;

	(void)fd;
	assert_true(events & EPOLLOUT);
	c->n++;
	loop_quit(c->loop, 0);
}

static void events_can_be_changed(void **state)
{
	struct ctx c = begin();

	(void)state;
	assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM, 0, c.fds), 0);
	assert_int_equal(loop_fd_add(c.loop, c.fds[0], EPOLLIN, writable, &c), 0);
	assert_int_equal(loop_fd_mod(c.loop, c.fds[0], EPOLLOUT), 0);
	assert_int_equal(loop_run(c.loop), 0);
	assert_int_equal(c.n, 1);
	/* The test frees nothing, because loop_free() frees all watches. */
	loop_free(c.loop);
	close(c.fds[0]);
	close(c.fds[1]);
}

static void on_signal(void *arg, int signo)
{
	struct ctx *c = arg;

	c->got = signo;
	loop_quit(c->loop, 0);
}

static void signals(void **state)
{
	struct ctx c = begin();

	(void)state;
	assert_int_equal(loop_signal_add(c.loop, SIGUSR1, on_signal, &c), 0);
	assert_int_equal(loop_signal_add(c.loop, SIGHUP, on_signal, &c), 0);
	assert_true(loop_signal_add(c.loop, 9999, on_signal, &c) < 0);
	assert_int_equal(kill(getpid(), SIGUSR1), 0);
	assert_int_equal(loop_run(c.loop), 0);
	assert_int_equal(c.got, SIGUSR1);
	assert_int_equal(kill(getpid(), SIGHUP), 0);
	assert_int_equal(loop_run(c.loop), 0);
	assert_int_equal(c.got, SIGHUP);
	loop_free(c.loop);
}

/* An own socket in the abstract name space replaces systemd. */
static int listen_as_systemd(void)
{
	struct sockaddr_un sun = { .sun_family = AF_UNIX };
	char name[64];
	int fd = socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0);

	assert_true(fd >= 0);
	snprintf(name, sizeof(name), "@leon-test-%d", (int)getpid());
	memcpy(sun.sun_path + 1, name + 1, strlen(name) - 1);
	assert_int_equal(bind(fd, (struct sockaddr *)&sun,
			      (socklen_t)(offsetof(struct sockaddr_un, sun_path) + strlen(name))),
			 0);
	setenv("NOTIFY_SOCKET", name, 1);
	return fd;
}

static void on_notify(void *arg, int fd, uint32_t events)
{
	struct ctx *c = arg;
	char text[128];
	ssize_t len = recv(fd, text, sizeof(text) - 1, 0);

	(void)events;
	assert_true(len > 0);
	text[len] = '\0';
	/* READY is first, because systemd expects watchdog messages after the first one. */
	if (c->n == 0)
		assert_string_equal(text, "READY=1\nSTATUS=up");
	else
		assert_string_equal(text, "WATCHDOG=1");
	/* The message is repeated. */
	if (++c->n == 4)
		loop_quit(c->loop, 0);
}

static void notify_and_watchdog(void **state)
{
	struct ctx c;
	char pid[16];
	int fd = listen_as_systemd();

	(void)state;
	snprintf(pid, sizeof(pid), "%d", (int)getpid());
	setenv("WATCHDOG_USEC", "100000", 1);
	setenv("WATCHDOG_PID", pid, 1);
	c = begin();
	loop_notify(c.loop, "READY=1\nSTATUS=up");
	assert_int_equal(loop_fd_add(c.loop, fd, EPOLLIN, on_notify, &c), 0);
	assert_int_equal(loop_run(c.loop), 0);
	assert_int_equal(c.n, 4);
	loop_free(c.loop);
	close(fd);
	unsetenv("WATCHDOG_USEC");
	unsetenv("WATCHDOG_PID");
	unsetenv("NOTIFY_SOCKET");
}

static void run_until_on_production_loop(void *arg)
{
	(void)arg;
	loop_sim_run_until(loop_sd_new(), (mono_t){ 1 });
}

static void misuse_aborts(void **state)
{
	(void)state;
	assert_true(ends_in_bug(run_until_on_production_loop, NULL));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(timer_is_never_early),	 cmocka_unit_test(stopped_and_moved),
		cmocka_unit_test(free_in_callback),	 cmocka_unit_test(descriptor),
		cmocka_unit_test(events_can_be_changed), cmocka_unit_test(signals),
		cmocka_unit_test(notify_and_watchdog),	 cmocka_unit_test(misuse_aborts),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
