// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Requests to the control socket of leon-accel, see accel_relay.h. Control thread.
 */
#include "daemon/control/accel_relay.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include "base/mem.h"
#include "daemon/accel/accelerator.h"
#include "daemon/leond.h"

struct accel_relay {
	struct leond *d;
	struct accel_relay *next;
	int fd;
	struct timer *timer;
	accel_relay_fn fn;
	void *arg;
	size_t len;
	char answer[ACCEL_RELAY_ANSWER_MAX];
};

static void relay_free(struct accel_relay *r)
{
	struct accel_relay **link = &r->d->accel_relays;

	while (*link != r)
		link = &(*link)->next;
	*link = r->next;
	loop_fd_del(r->d->loop, r->fd);
	close(r->fd);
	timer_free(r->timer);
	free(r);
}

static void finish(struct accel_relay *r, const char *answer, size_t len)
{
	r->fn(r->arg, answer, len);
	relay_free(r);
}

static void on_timeout(void *arg, mono_t now)
{
	(void)now;
	finish(arg, NULL, 0);
}

static void on_readable(void *arg, int fd, uint32_t events)
{
	struct accel_relay *r = arg;
	char *at = r->answer + r->len;
	ssize_t n = recv(fd, at, sizeof(r->answer) - r->len, MSG_DONTWAIT);
	char *end;

	(void)events;
	if (n < 0 && (errno == EAGAIN || errno == EINTR))
		return;
	if (n <= 0) {
		finish(r, NULL, 0);
		return;
	}
	end = memchr(at, '\n', (size_t)n);
	r->len += (size_t)n;
	if (end) {
		*end = '\0';
		finish(r, r->answer, (size_t)(end - r->answer));
	} else if (r->len == sizeof(r->answer)) {
		finish(r, NULL, 0);
	}
}

/* The request is smaller than the buffer of the socket, so one send() takes all of it. */
static int connect_and_send(struct leond *d, const char *request, size_t len)
{
	struct sockaddr_un at = { .sun_family = AF_UNIX };
	int fd, rc = 0;

	if (!accelerator_control_path(d, at.sun_path, sizeof(at.sun_path)))
		return -ENAMETOOLONG;
	fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	if (fd < 0)
		return -errno;
	if (connect(fd, (struct sockaddr *)&at, sizeof(at)) < 0)
		rc = -errno;
	else if (send(fd, request, len, MSG_DONTWAIT | MSG_NOSIGNAL) != (ssize_t)len)
		rc = -EAGAIN;
	if (rc == 0)
		return fd;
	close(fd);
	return rc;
}

static unsigned n_relays(const struct leond *d)
{
	unsigned n = 0;

	for (const struct accel_relay *r = d->accel_relays; r; r = r->next)
		n++;
	return n;
}

int accel_relay(struct leond *d, const char *request, size_t len, accel_relay_fn fn, void *arg)
{
	struct accel_relay *r;
	int fd, rc;

	if (n_relays(d) >= ACCEL_RELAYS_MAX)
		return -EBUSY;
	fd = connect_and_send(d, request, len);
	if (fd < 0)
		return fd;
	r = x_new(struct accel_relay);
	r->d = d;
	r->fd = fd;
	r->fn = fn;
	r->arg = arg;
	rc = loop_fd_add(d->loop, fd, EPOLLIN, on_readable, r);
	if (rc < 0) {
		close(fd);
		free(r);
		return rc;
	}
	r->timer = timer_new(d->loop, on_timeout, r);
	timer_set(r->timer, mono_add_ms(loop_now(d->loop), ACCEL_RELAY_MS));
	r->next = d->accel_relays;
	d->accel_relays = r;
	return 0;
}

void accel_relays_free(struct leond *d)
{
	while (d->accel_relays)
		finish(d->accel_relays, NULL, 0);
}
