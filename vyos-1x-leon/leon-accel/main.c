// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * leon-accel: options, the socket of leond, signals. leon-accel runs in a separate network
 * namespace, which the systemd unit makes. Exit codes: 0 ended on request, 1 a resource is missing,
 * 2 wrong usage.
 */
#include <errno.h>
#include <getopt.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include "base/defs.h"
#include "base/log.h"
#include "base/loop.h"
#include "base/version.h"
#include "conn/conn.h"
#include "control.h"
#include "engine.h"
#include "io/ctlsock.h"
#include "peer/peer.h"

#define BATCH	 64 /* messages of leond before the next descriptor */
#define RETRY_MS 1000
#define IDLE_MS	 50
/* Each attempt is two events of leond. */
#define NO_FILES_MS 10000

enum { EXIT_FAILED = 1, EXIT_USAGE = 2, OPT_VERSION = 256 };

struct accel {
	const char *path, *control_path, *intercepted_path;
	struct ctl_server *control;
	struct loop *loop;
	struct engine engine;
	struct timer *retry, *idle;
	int fd; /* Socket to leond. -1: not connected. */
};

static void lost(struct accel *a, mono_t now)
{
	if (a->fd >= 0) {
		loop_fd_del(a->loop, a->fd);
		close(a->fd);
		log_notice("accel", "leond is gone; connections wait for it");
	}
	a->fd = -1;
	timer_set(a->retry, mono_add_ms(now, RETRY_MS));
}

/* Acceleration is off. leond waits until all connections are released. */
static void on_idle(void *arg, mono_t now)
{
	struct accel *a = arg;

	if (a->fd < 0 || a->engine.settings.mode != ACCEL_OFF)
		return;
	if (engine_is_idle(&a->engine))
		lost(a, now);
	else
		timer_set(a->idle, mono_add_ms(now, IDLE_MS));
}

static unsigned descriptors(struct msghdr *m, int out[ACCEL_QUEUES_MAX])
{
	struct cmsghdr *c = CMSG_FIRSTHDR(m);
	size_t n = 0;

	if (c && c->cmsg_level == SOL_SOCKET && c->cmsg_type == SCM_RIGHTS) {
		n = (c->cmsg_len - CMSG_LEN(0)) / sizeof(int);
		memcpy(out, CMSG_DATA(c), n * sizeof(int));
	}
	return (unsigned)n;
}

static void receive(struct accel *a, const struct accel_notify_frame *f)
{
	if (f->what == ACCEL_NOTIFY_NODE)
		peer_learn(&a->engine, f, loop_now(a->loop));
	else if (f->what == ACCEL_NOTIFY_SETTINGS)
		engine_set(&a->engine, &f->settings);
	else if (f->what == ACCEL_NOTIFY_MOVED)
		engine_moved(&a->engine, f);
	else if (f->what == ACCEL_NOTIFY_RELEASE)
		conns_release_all(&a->engine, loop_now(a->loop));
	if (a->engine.settings.mode == ACCEL_OFF && !timer_is_set(a->idle))
		timer_set(a->idle, mono_add_ms(loop_now(a->loop), IDLE_MS));
}

/* The process or the system has no descriptor for each queue. leond would divert frames to queues
 * without a reader until the end of this connection. */
static void refuse_queues(struct accel *a, unsigned n, unsigned wanted)
{
	mono_t now = loop_now(a->loop);

	log_error("accel", "no file descriptor is left for the queues of leond: got %u of %u", n,
		  wanted);
	lost(a, now);
	timer_set(a->retry, mono_add_ms(now, NO_FILES_MS));
}

static void take(struct accel *a, const void *data, size_t len, const int *fd, unsigned n)
{
	struct accel_notify_frame f;
	int rc = accel_notify_decode(data, len, &f);

	engine_leond_seen(&a->engine);
	if (rc == 0 && f.what == ACCEL_NOTIFY_SETUP && n == f.setup.n_queues) {
		rc = engine_setup(&a->engine, &f, fd, n);
		if (rc < 0) {
			log_error("accel", "the network namespace cannot be set up: %s",
				  rc == -ESTALE ? "leond has another node-id, which needs a restart"
						: strerror(-rc));
			loop_quit(a->loop, EXIT_FAILED);
		}
		return;
	}
	for (unsigned i = 0; i < n; i++)
		close(fd[i]);
	if (rc == 0 && f.what == ACCEL_NOTIFY_SETUP)
		refuse_queues(a, n, f.setup.n_queues);
	else if (rc == 0)
		receive(a, &f);
}

/* Returns false without a message. */
static bool take_one(struct accel *a, int fd)
{
	uint8_t buf[ACCEL_NOTIFY_MAX];
	union {
		struct cmsghdr header;
		uint8_t bytes[CMSG_SPACE(ACCEL_QUEUES_MAX * sizeof(int))];
	} control;
	struct iovec iov = { buf, sizeof(buf) };
	struct msghdr m = { .msg_iov = &iov,
			    .msg_iovlen = 1,
			    .msg_control = &control,
			    .msg_controllen = sizeof(control) };
	int passed[ACCEL_QUEUES_MAX];
	ssize_t n = recvmsg(fd, &m, MSG_DONTWAIT | MSG_CMSG_CLOEXEC);

	if (n < 0 && (errno == EAGAIN || errno == EINTR))
		return false;
	if (n <= 0) {
		lost(a, loop_now(a->loop));
		return false;
	}
	take(a, buf, (size_t)n, passed, descriptors(&m, passed));
	return a->fd == fd;
}

static void on_leond(void *arg, int fd, uint32_t events attr_unused)
{
	for (unsigned i = 0; i < BATCH && take_one(arg, fd); i++)
		continue;
}

static void connect_leond(void *arg, mono_t now)
{
	struct accel *a = arg;
	struct accel_notify_frame local_pair = { .what = ACCEL_NOTIFY_HERE,
						 .version = ACCEL_NOTIFY_VERSION };
	struct sockaddr_un to = { .sun_family = AF_UNIX };
	uint8_t buf[ACCEL_NOTIFY_MAX];

	snprintf(to.sun_path, sizeof(to.sun_path), "%s", a->path);
	a->fd = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
	if (a->fd >= 0 && connect(a->fd, (struct sockaddr *)&to, sizeof(to)) == 0 &&
	    send(a->fd, buf, accel_notify_encode(&local_pair, buf), MSG_NOSIGNAL) > 0) {
		loop_fd_add(a->loop, a->fd, EPOLLIN, on_leond, a);
		log_notice("accel", "connected to leond");
		return;
	}
	if (a->fd >= 0)
		close(a->fd);
	a->fd = -1;
	timer_set(a->retry, mono_add_ms(now, RETRY_MS));
}

static void on_terminate(void *arg, int signo)
{
	struct accel *a = arg;

	log_notice("accel", "stopping signal=%d", signo);
	engine_stop(&a->engine);
}

static int run(struct accel *a, struct nl *nl)
{
	struct intercepted_file *intercepted;
	int rc = intercepted_open(&intercepted, a->intercepted_path);

	if (rc < 0) {
		log_error("accel", "the file of intercepted connections cannot be used: %s path=%s",
			  strerror(-rc), a->intercepted_path ? a->intercepted_path : "none");
		return rc;
	}
	engine_init(&a->engine, a->loop, nl, intercepted);
	a->retry = timer_new(a->loop, connect_leond, a);
	a->idle = timer_new(a->loop, on_idle, a);
	signal(SIGPIPE, SIG_IGN);
	loop_signal_add(a->loop, SIGTERM, on_terminate, a);
	loop_signal_add(a->loop, SIGINT, on_terminate, a);
	/* leond requests a report at once. */
	rc = control_start(&a->control, &a->engine, a->control_path);
	if (rc == 0) {
		connect_leond(a, loop_now(a->loop));
		loop_notify(a->loop, "READY=1");
		rc = loop_run(a->loop);
	}
	ctl_server_free(a->control);
	if (a->fd >= 0) {
		loop_fd_del(a->loop, a->fd);
		close(a->fd);
	}
	timer_free(a->retry);
	timer_free(a->idle);
	engine_fini(&a->engine);
	return rc;
}

static void usage(FILE *f)
{
	fputs("usage: leon-accel --socket PATH --control PATH [--intercepted FILE]\n"
	      "Intercepts TCP connections for the leond that listens at the first PATH, which requests\n"
	      "reports at the second. It must run in a network namespace of its own, with CAP_NET_ADMIN\n"
	      "there. FILE lists the intercepted connections. The next process resets the connections\n"
	      "of a killed process.\n",
	      f);
}

/* -1: continue. Otherwise the exit code. */
static int parse_options(int argc, char **argv, struct accel *a)
{
	const char **const value[] = { &a->path, &a->control_path, &a->intercepted_path };
	static const struct option options[] = { { "socket", required_argument, NULL, 0 },
						 { "control", required_argument, NULL, 1 },
						 { "intercepted", required_argument, NULL, 2 },
						 { "version", no_argument, NULL, OPT_VERSION },
						 { "help", no_argument, NULL, 'h' },
						 { NULL, 0, NULL, 0 } };
	int c;

	while ((c = getopt_long(argc, argv, "h", options, NULL)) != -1) {
		if (c == '?')
			return EXIT_USAGE;
		if (c < (int)array_size(value)) {
			*value[c] = optarg;
			continue;
		}
		if (c == 'h')
			usage(stdout);
		else
			printf("leon-accel %s\n", leon_version);
		return 0;
	}
	if (a->path && a->control_path && optind == argc)
		return -1;
	if (a->path && a->control_path)
		fprintf(stderr, "leon-accel: unexpected argument \"%s\"; see leon-accel --help\n",
			argv[optind]);
	else
		fputs("leon-accel: --socket or --control is missing; see leon-accel --help\n",
		      stderr);
	return EXIT_USAGE;
}

int main(int argc, char **argv)
{
	static struct accel a = { .fd = -1 };
	int status = parse_options(argc, argv, &a), rc;
	struct nl *nl;

	if (status >= 0)
		return status;
	log_set_level(LOG_LVL_INFO);
	a.loop = loop_sd_new();
	rc = a.loop ? nl_open(&nl) : -errno;
	if (rc < 0) {
		log_error("accel", "cannot start: %s", strerror(-rc));
		return EXIT_FAILED;
	}
	rc = run(&a, nl);
	nl_close(nl);
	loop_free(a.loop);
	return rc < 0 ? EXIT_FAILED : rc;
}
