// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * leon-tls: carries the datagrams of leond in TLS connections, where a network passes no UDP. leond
 * starts the program, if `transport tls` is configured, and passes connected and listening sockets.
 * Strangers talk to this program, so leon-tls has neither rights nor secrets. leond loses only the
 * TLS connections with the program, and the program ends with leond. Exit codes: 0 leond ended, 1 a
 * failure, 2 not started by leond.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <unistd.h>

#include "base/defs.h"
#include "base/log.h"
#include "hub.h"
#include "io/confine.h"

static void setup(struct hub *r, const struct stream_command *c)
{
	struct stream_report p = { .news = STREAM_DOWN };

	if (hub_setup(r, c, p.reason, sizeof(p.reason)))
		return;
	/* Connection 0 is the program itself. */
	hub_report(r, &p);
	loop_quit(r->loop, EXIT_FAILED);
}

/* No descriptor is left for a listening socket of leond. Only the next program gets it again. */
static void end_without_listener(struct hub *r)
{
	log_error("tls", "no file descriptor is left for a listening socket");
	loop_quit(r->loop, EXIT_FAILED);
}

/* No descriptor is left for a connecting socket of leond. */
static void refuse_dialed(struct hub *r, uint32_t id)
{
	struct stream_report p = { .news = STREAM_DOWN, .id = id };

	snprintf(p.reason, sizeof(p.reason), "no file descriptor is left");
	hub_report(r, &p);
}

static void take(struct hub *r, const struct stream_command *c, int fd)
{
	struct tls_link *s = hub_find(r, c->id);

	switch (c->order) {
	case STREAM_SETUP:
		if (r->server)
			hub_renew(r, c);
		else
			setup(r, c);
		break;
	case STREAM_LISTEN:
		if (fd >= 0)
			hub_listen(r, fd);
		else
			end_without_listener(r);
		return;
	case STREAM_DIAL:
		if (fd >= 0)
			hub_add(r, tls_link_dialed(r, fd, c));
		else
			refuse_dialed(r, c->id);
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

static void on_control(void *arg, int control, uint32_t events attr_unused)
{
	struct hub *r = arg;
	struct stream_command c;
	int fd, rc;

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
	int code;

	if (argc != 1 || !confine_has_control()) {
		fputs("leon-tls is started by leond, see leond(8)\n", stderr);
		return EXIT_USAGE;
	}
	if (!confine("leon-tls", argv)) {
		log_error("tls", "rights cannot be given up: %s", strerror(errno));
		return EXIT_FAILED;
	}
	r = calloc(1, sizeof(*r));
	if (!r || !(r->loop = loop_sd_new())) {
		log_error("tls", "event loop cannot be made: %s", strerror(errno));
		free(r);
		return EXIT_FAILED;
	}
	r->control = CONFINE_CONTROL_FD;
	r->listener[0] = r->listener[1] = -1;
	loop_fd_add(r->loop, r->control, EPOLLIN, on_control, r);
	code = loop_run(r->loop);
	end(r);
	return code < 0 ? EXIT_FAILED : code;
}
