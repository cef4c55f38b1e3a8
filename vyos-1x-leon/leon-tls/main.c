// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * leon-tls: carries the datagrams of leond in TLS connections, where a network passes no UDP. leond
 * starts this program, if `transport tls` is configured, and passes it connected and listening
 * sockets. Strangers talk to this program: it has neither rights nor secrets, and its end costs
 * leond only these connections. It ends with leond. Exit codes: 0 leond ended, 1 a failure, 2 not
 * started by leond.
 */
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <linux/capability.h>
#include <sys/epoll.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/defs.h"
#include "base/log.h"
#include "hub.h"

/* Set in the environment of the second exec. */
#define AGAIN "LEON_TLS_AGAIN"

enum { EXIT_FAILED = 1, EXIT_USAGE = 2 };

static bool has_rights(void)
{
	struct __user_cap_header_struct h = { .version = _LINUX_CAPABILITY_VERSION_3 };
	struct __user_cap_data_struct now[2] = { 0 };

	return syscall(SYS_capget, &h, now) < 0 || now[0].permitted || now[1].permitted;
}

/* The filter of the unit forbids capset(). Without ambient capabilities, an exec of a user other
 * than root leaves none. */
static bool give_up_rights(char **argv)
{
	struct __user_cap_header_struct h = { .version = _LINUX_CAPABILITY_VERSION_3 };
	struct __user_cap_data_struct none[2] = { 0 };

	prctl(PR_CAP_AMBIENT, PR_CAP_AMBIENT_CLEAR_ALL, 0, 0, 0);
	if (!has_rights() || syscall(SYS_capset, &h, none) == 0)
		return true;
	if (getuid() != 0 && !getenv(AGAIN) && setenv(AGAIN, "1", 1) == 0)
		execv("/proc/self/exe", argv);
	return false;
}

/* Gives up the rights of leond: the sockets are open already. */
static bool confine(char **argv)
{
	struct rlimit core = { 0, 0 };

	if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) < 0 || !give_up_rights(argv))
		return false;
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	prctl(PR_SET_DUMPABLE, 0);
	prctl(PR_SET_NAME, "leon-tls"); /* "exe" after the second exec */
	setrlimit(RLIMIT_CORE, &core);
	return true;
}

static void setup(struct hub *r, const struct stream_command *c)
{
	struct stream_report p = { .news = STREAM_DOWN };

	if (hub_setup(r, c, p.reason, sizeof(p.reason)))
		return;
	/* Connection 0 is the program itself. */
	hub_report(r, &p);
	loop_quit(r->loop, EXIT_FAILED);
}

static void take(struct hub *r, const struct stream_command *c, int fd)
{
	struct tls_link *s = hub_find(r, c->id);

	switch (c->order) {
	case STREAM_SETUP:
		setup(r, c);
		break;
	case STREAM_LISTEN:
		hub_listen(r, fd);
		return;
	case STREAM_DIAL:
		if (fd >= 0)
			hub_add(r, tls_link_dialed(r, fd, c));
		return;
	case STREAM_KEEP:
		if (s)
			s->kept = true;
		break;
	case STREAM_CLOSE:
		if (s)
			tls_link_end(s, "closed by this node");
		break;
	}
	if (fd >= 0)
		close(fd);
}

static void on_control(void *arg, int control, uint32_t events)
{
	struct hub *r = arg;
	struct stream_command c;
	int fd, rc;

	(void)events;
	while ((rc = stream_receive(control, &c, sizeof(c), &fd)) == 0) {
		if (c.protocol != STREAM_PROTOCOL) {
			rc = -EPROTO;
			break;
		}
		take(r, &c, fd);
	}
	hub_reap(r);
	if (rc == -EAGAIN)
		return;
	/* leond ended. */
	loop_fd_del(r->loop, control);
	loop_quit(r->loop, rc == -EPIPE ? 0 : EXIT_FAILED);
}

static void end(struct hub *r)
{
	for (struct tls_link *s = r->streams; s; s = s->next)
		tls_link_end(s, "leond ended");
	hub_reap(r);
	for (unsigned i = 0; i < array_size(r->listener); i++)
		if (r->listener[i] >= 0)
			close(r->listener[i]);
	timer_free(r->accepting);
	timer_free(r->tick);
	udp_rx_free(r->rx);
	udp_tx_free(r->tx);
	tls_context_free(r->client);
	tls_context_free(r->server);
	loop_free(r->loop);
	free(r);
}

int main(int argc, char **argv)
{
	struct hub *r;
	int type = 0, code;
	socklen_t len = sizeof(type);

	if (argc != 1 || getsockopt(STREAM_CONTROL_FD, SOL_SOCKET, SO_TYPE, &type, &len) < 0 ||
	    type != SOCK_SEQPACKET) {
		fputs("leon-tls is started by leond, see leond(8)\n", stderr);
		return EXIT_USAGE;
	}
	if (!confine(argv)) {
		log_error("tls", "rights cannot be given up: %s", strerror(errno));
		return EXIT_FAILED;
	}
	/* systemd sends SIGTERM to both; leond says leave through this program first. */
	signal(SIGTERM, SIG_IGN);
	signal(SIGINT, SIG_IGN);
	signal(SIGHUP, SIG_IGN);
	signal(SIGPIPE, SIG_IGN);
	r = calloc(1, sizeof(*r));
	if (!r || !(r->loop = loop_sd_new())) {
		log_error("tls", "event loop cannot be made: %s", strerror(errno));
		free(r);
		return EXIT_FAILED;
	}
	r->control = STREAM_CONTROL_FD;
	r->listener[0] = r->listener[1] = -1;
	loop_fd_add(r->loop, r->control, EPOLLIN, on_control, r);
	code = loop_run(r->loop);
	end(r);
	return code < 0 ? EXIT_FAILED : code;
}
