// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * leon-portmap: maps the UDP port of leond at a gateway with NAT. leond starts the program, if
 * `port-mapping` is configured. The program reads datagrams, HTTP and XML of a gateway that may be
 * hostile. The program has no rights and opens no file, and leond checks each report. The program
 * ends with leond. Exit codes: 0 leond ended, 1 a failure, 2 not started by leond.
 */
#include <errno.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

#include "base/defs.h"
#include "base/log.h"
#include "io/clock.h"
#include "io/confine.h"
#include "ipc/stream_control.h"
#include "mapper.h"

enum { EXIT_FAILED = 1, EXIT_USAGE = 2 };

/* The libraries wait for each part of an answer, without a limit for the whole. SIGALRM ends the
 * program, and leond starts it again. */
#define ATTEMPT_S 20
/* An answer of a gateway has no limit in miniupnpc. */
#define MEMORY_MAX (64u << 20)

static const struct mapping_method *const methods[] = { &natpmp_method, &upnp_method, NULL };

static void limit_memory(void)
{
#if !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)
	struct rlimit data = { MEMORY_MAX, MEMORY_MAX };

	setrlimit(RLIMIT_DATA, &data);
#endif
}

struct program {
	struct mapper mapper;
	int natpmp; /* or -1 */
};

static void setup(struct program *g, const struct portmap_command *c, int fd)
{
	const struct mapping_request q = { .natpmp = fd, .c = *c };

	if (g->natpmp >= 0)
		close(g->natpmp);
	g->natpmp = fd;
	mapper_request(&g->mapper, &q, mono_now());
}

/* Returns true if the program goes on. */
static bool take(struct program *g, const struct portmap_command *c, int fd)
{
	if (c->protocol == PORTMAP_PROTOCOL && c->order == PORTMAP_SETUP && fd >= 0) {
		setup(g, c, fd);
		return true;
	}
	if (fd >= 0)
		close(fd);
	alarm(ATTEMPT_S);
	mapper_remove(&g->mapper);
	return false;
}

/* Returns true if the program goes on. */
static bool read_control(struct program *g, int *code)
{
	struct portmap_command c;
	int fd, rc;

	while ((rc = stream_receive(CONFINE_CONTROL_FD, &c, sizeof(c), &fd)) == 0)
		if (!take(g, &c, fd))
			return false;
	if (rc == -EAGAIN)
		return true;
	*code = rc == -EPIPE ? 0 : EXIT_FAILED;
	return false;
}

static int wait_ms(const struct program *g)
{
	int64_t ms = mono_sub_ms(g->mapper.next_at, mono_now()) + 1;

	if (mono_is_never(g->mapper.next_at))
		return -1;
	return (int)max_of(ms, (int64_t)0);
}

static int run(struct program *g)
{
	struct pollfd f = { .fd = CONFINE_CONTROL_FD, .events = POLLIN };
	struct portmap_report p;
	int code = 0;

	while (read_control(g, &code)) {
		alarm(ATTEMPT_S);
		if (mapper_run(&g->mapper, mono_now(), &p)) {
			p.number = g->mapper.request.c.number;
			stream_send(CONFINE_CONTROL_FD, &p, sizeof(p), -1);
		}
		alarm(0);
		poll(&f, 1, wait_ms(g));
	}
	return code;
}

int main(int argc, char **argv)
{
	struct program g = { .mapper.methods = methods, .natpmp = -1 };

	if (argc != 1 || !confine_has_control()) {
		fputs("leon-portmap is started by leond, see leond(8)\n", stderr);
		return EXIT_USAGE;
	}
	if (!confine("leon-portmap", argv)) {
		log_error("portmap", "rights cannot be given up: %s", strerror(errno));
		return EXIT_FAILED;
	}
	limit_memory();
	confine_files();
	return run(&g);
}
