// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * leon-accel as leond sees it, see accelerator.h. Control thread.
 */
#include "daemon/host/accelerator.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include "base/defs.h"
#include "base/log.h"
#include "base/mem.h"
#include "daemon/host/accel_queues.h"
#include "daemon/host/accel_reports.h"
#include "daemon/leond.h"
#include "daemon/life/snapshot.h"
#include "wire/accel_queue.h"
#include "wire/accel_report.h"

struct accelerator {
	char path[CONF_CONTROL_SOCKET_MAX + 8];
	int listener, fd; /* -1: none */
};

static void gone(struct leond *d)
{
	struct accelerator *a = d->accelerator;

	if (a->fd < 0)
		return;
	loop_fd_del(d->loop, a->fd);
	close(a->fd);
	a->fd = -1;
	if (!accel_queues_are_ready(d))
		return;
	accel_queues_set_ready(d, false);
	accel_reports_gone(d);
	snapshot_publish(d);
	accel_queues_drain(d);
}

static void say(struct leond *d, const struct accel_say_frame *f)
{
	uint8_t buf[ACCEL_SAY_MAX];
	size_t len = accel_say_encode(f, buf);

	if (send(d->accelerator->fd, buf, len, MSG_DONTWAIT | MSG_NOSIGNAL) < 0 && errno != EAGAIN)
		gone(d);
}

static int hand_queues(struct leond *d)
{
	unsigned n = accel_queues_count(d);
	struct accel_say_frame f = { .what = ACCEL_SAY_SETUP,
				     .setup = { .self = d->self,
						.n_queues = (uint8_t)n,
						.threshold_us = d->conf->accel_threshold_us,
						.segments = d->conf->accel_segments } };
	uint8_t buf[ACCEL_SAY_MAX];
	union {
		struct cmsghdr header;
		uint8_t bytes[CMSG_SPACE(ACCEL_QUEUES_MAX * sizeof(int))];
	} control = { 0 };
	struct iovec iov = { buf, accel_say_encode(&f, buf) };
	struct msghdr m = { .msg_iov = &iov,
			    .msg_iovlen = 1,
			    .msg_control = &control,
			    .msg_controllen = CMSG_SPACE(n * sizeof(int)) };
	struct cmsghdr *c = CMSG_FIRSTHDR(&m);

	c->cmsg_level = SOL_SOCKET;
	c->cmsg_type = SCM_RIGHTS;
	c->cmsg_len = CMSG_LEN(n * sizeof(int));
	memcpy(CMSG_DATA(c), accel_queues_theirs(d), n * sizeof(int));
	return sendmsg(d->accelerator->fd, &m, MSG_DONTWAIT | MSG_NOSIGNAL) < 0 ? -errno : 0;
}

static bool take_here(struct leond *d, const void *data, size_t len)
{
	struct accel_say_frame f;

	if (accel_say_decode(data, len, &f) < 0 || f.what != ACCEL_SAY_HERE ||
	    f.version != ACCEL_SAY_VERSION || hand_queues(d) < 0)
		return false;
	accel_queues_set_ready(d, true);
	accel_reports_here(d, d->accelerator->fd);
	accelerator_second(d);
	snapshot_publish(d);
	return true;
}

static void on_say(void *arg, int fd, uint32_t events)
{
	static uint8_t buf[ACCEL_REPORT_MAX]; /* large; one thread */
	struct leond *d = arg;
	ssize_t n = recv(fd, buf, sizeof(buf), MSG_DONTWAIT);
	bool ok;

	(void)events;
	if (n < 0 && (errno == EAGAIN || errno == EINTR))
		return;
	ok = n > 0 && (accel_queues_are_ready(d) ? accel_reports_take(d, buf, (size_t)n)
						 : take_here(d, buf, (size_t)n));
	if (!ok)
		gone(d);
}

static void on_connect(void *arg, int fd, uint32_t events)
{
	struct leond *d = arg;
	int s = accept4(fd, NULL, NULL, SOCK_CLOEXEC | SOCK_NONBLOCK);

	(void)events;
	if (s < 0)
		return;
	/* A second one takes the place of the first, which hears of it. */
	gone(d);
	d->accelerator->fd = s;
	loop_fd_add(d->loop, s, EPOLLIN, on_say, d);
}

/* leon0.sock has leon0.accel beside it. */
static void name_path(const char *control, char *out, size_t room)
{
	size_t len = strlen(control), tail = strlen(".sock");

	if (len > tail && strcmp(control + len - tail, ".sock") == 0)
		len -= tail;
	snprintf(out, room, "%.*s.accel", (int)len, control);
}

static int listen_at(const char *path)
{
	struct sockaddr_un at = { .sun_family = AF_UNIX };
	int fd = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC | SOCK_NONBLOCK, 0), rc;

	if (fd < 0)
		return -errno;
	if (strlen(path) >= sizeof(at.sun_path)) {
		close(fd);
		return -ENAMETOOLONG;
	}
	memcpy(at.sun_path, path, strlen(path) + 1);
	/* The control socket is this daemon's alone, and so is what lies beside it. */
	unlink(path);
	if (bind(fd, (struct sockaddr *)&at, sizeof(at)) == 0 && chmod(path, 0600) == 0 &&
	    listen(fd, 4) == 0)
		return fd;
	rc = -errno;
	close(fd);
	return rc;
}

int accelerator_start(struct leond *d)
{
	struct accelerator *a;
	int fd;

	if (!d->conf->acceleration)
		return 0;
	a = x_new(struct accelerator);
	a->listener = a->fd = -1;
	d->accelerator = a;
	name_path(d->conf->control_socket, a->path, sizeof(a->path));
	fd = listen_at(a->path);
	if (fd < 0) {
		log_error("accel", "no socket for leon-accel: %s path=%s", strerror(-fd), a->path);
		return fd;
	}
	a->listener = fd;
	return loop_fd_add(d->loop, fd, EPOLLIN, on_connect, d);
}

static uint32_t rtt_of(const struct leond *d, uint16_t slot)
{
	const struct choice *ch = overlay_choice(d->overlay, slot);

	if (!ch || !ch->path.n_hops || ch->path.cost_us == COST_INFINITE)
		return 0;
	return max_of(ch->path.rtt_us, 1u);
}

/* Whoever got an accelerator, or has none any more, since the last snapshot. */
static bool is_stale(const struct leond *d, const struct snap *s)
{
	for (uint16_t slot = 0; slot < s->n_slots; slot++)
		if (s->node[slot].accelerated != accel_queues_reach(d, slot))
			return true;
	return false;
}

void accelerator_second(struct leond *d)
{
	const struct snap *s = fwd_snap(d->fwd);

	if (!accel_queues_are_ready(d))
		return;
	if (is_stale(d, s)) {
		snapshot_publish(d);
		s = fwd_snap(d->fwd);
	}
	for (uint16_t slot = 0; slot < s->n_slots; slot++) {
		struct accel_say_frame f = { .what = ACCEL_SAY_NODE };

		if (!s->node[slot].accelerated || d->accelerator->fd < 0)
			continue;
		f.node.id = s->node[slot].id;
		f.node.rtt_us = rtt_of(d, slot);
		f.node.room = s->node[slot].room;
		say(d, &f);
	}
}

void accelerator_free(struct leond *d)
{
	struct accelerator *a = d->accelerator;

	if (!a)
		return;
	if (a->fd >= 0) {
		loop_fd_del(d->loop, a->fd);
		close(a->fd);
	}
	if (a->listener >= 0) {
		loop_fd_del(d->loop, a->listener);
		close(a->listener);
		unlink(a->path);
	}
	free(a);
	d->accelerator = NULL;
}
