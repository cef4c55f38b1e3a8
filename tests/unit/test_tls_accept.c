// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * leon-tls: the limit of accepted connections. The linker replaces accept4() and the registration
 * of the listening socket (meson.build).
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <fcntl.h>
#include <sys/epoll.h>
#include <sys/socket.h>

#include "hub.h"

#define SECONDS 5

static struct hub r;

/* --- replaced functions --- */

static loop_fd_fn on_connection;
static bool is_listening;
static unsigned accepted;

#define REPLACED(type, name, ...)                                                                  \
	extern type __wrap_##name(__VA_ARGS__);                                                    \
	type __wrap_##name(__VA_ARGS__)

REPLACED(int, loop_fd_add, struct loop *l, int fd, uint32_t events, loop_fd_fn fn, void *arg)
{
	(void)l;
	(void)fd;
	(void)events;
	(void)arg;
	on_connection = fn;
	is_listening = true;
	return 0;
}

REPLACED(int, loop_fd_mod, struct loop *l, int fd, uint32_t events)
{
	(void)l;
	(void)fd;
	is_listening = events != 0;
	return 0;
}

/* leon-tls closes a connection of this family at once. */
REPLACED(int, accept4, int fd, struct sockaddr *addr, socklen_t *len, int flags)
{
	(void)fd;
	(void)len;
	(void)flags;
	addr->sa_family = AF_UNIX;
	accepted++;
	return open("/dev/null", O_RDONLY | O_CLOEXEC);
}

/* --- a flood --- */

static void the_rate_has_a_limit(void **state)
{
	static const struct stream_command c;
	char err[STREAM_REASON_LEN];

	(void)state;
	r.loop = loop_sim_new();
	r.control = r.listener[0] = r.listener[1] = -1;
	assert_true(hub_setup(&r, &c, err, sizeof(err)));
	hub_listen(&r, 1000);
	for (unsigned ms = 0; ms < SECONDS * 1000; ms++) {
		for (unsigned i = 0; is_listening && i < 10; i++)
			on_connection(&r, r.listener[0], EPOLLIN);
		loop_sim_run_until(r.loop, mono_add_ms(loop_now(r.loop), 1));
	}
	/* The first second permits a burst. */
	assert_in_range(accepted, SECONDS * ACCEPTS_PER_S, (SECONDS + 1) * ACCEPTS_PER_S);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_rate_has_a_limit),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
