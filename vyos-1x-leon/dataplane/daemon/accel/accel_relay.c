// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Requests to the control socket of leon-accel, see leon_accel.h. Control thread.
 */
#include "daemon/accel/leon_accel.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include "base/defs.h"
#include "base/json/jsonw.h"
#include "base/loop.h"
#include "base/mem.h"
#include "daemon/states.h"
#include "io/file.h"
#include "state/conf/conf.h"

#define RUN_DIR	     "/run/leon/"
#define JSON_VERSION 1
#define CHUNK	     (64u << 10)

struct accel_relay {
	struct leond *d;
	struct accel_relay *next;
	int fd;
	struct timer *timer;
	bool is_report;
	accel_relay_fn fn;
	void *arg;
	size_t len, room;
	char *answer; /* `room` bytes, grown by CHUNK up to ACCEL_RELAY_ANSWER_MAX. */
};

/* The socket for RUN_DIR/leon0.sock is ACCEL_DIR/leon0 and `there`. leon-accel runs as another
 * user, and has access to no other file of leond there. A control socket in another directory has
 * the socket beside it. */
bool accel_path(const struct leond *d, const char *there, const char *beside, char *out,
		size_t room)
{
	const char *control = d->conf->control_socket;
	bool moves = strncmp(control, RUN_DIR, strlen(RUN_DIR)) == 0;
	char path[FILE_BESIDE_LEN];

	file_beside(control, ".sock", moves ? there : beside, path);
	return (size_t)snprintf(out, room, "%s%s", moves ? ACCEL_DIR : "",
				path + (moves ? strlen(RUN_DIR) : 0)) < room;
}

/* The place of the request is free before the next request of fn. */
static void finish(struct accel_relay *r, const char *answer, size_t len)
{
	struct accel_relay **link = &r->d->states->accel_relays;

	while (*link != r)
		link = &(*link)->next;
	*link = r->next;
	loop_fd_del(r->d->loop, r->fd);
	close(r->fd);
	timer_free(r->timer);
	r->fn(r->arg, answer, len);
	free(r->answer);
	free(r);
}

static void on_timeout(void *arg, mono_t now attr_unused)
{
	finish(arg, NULL, 0);
}

static void on_readable(void *arg, int fd, uint32_t events attr_unused)
{
	struct accel_relay *r = arg;
	char *at, *end;
	ssize_t n;

	if (r->len == r->room) {
		r->room += CHUNK;
		r->answer = x_realloc(r->answer, r->room, 1);
	}
	at = r->answer + r->len;
	n = recv(fd, at, r->room - r->len, MSG_DONTWAIT);
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
	} else if (r->len == ACCEL_RELAY_ANSWER_MAX) {
		finish(r, NULL, 0);
	}
}

/* The request is smaller than the buffer of the socket, so one call takes all of it. */
static int connect_and_send(struct leond *d, const char *request, size_t len)
{
	struct iovec iov[] = { { (void *)(uintptr_t)request, len }, { (char[]){ '\n' }, 1 } };
	const struct msghdr m = { .msg_iov = iov, .msg_iovlen = array_size(iov) };
	struct sockaddr_un at = { .sun_family = AF_UNIX };
	int fd, rc = 0;

	if (!accel_path(d, ".sock", ".accel.sock", at.sun_path, sizeof(at.sun_path)))
		return -ENAMETOOLONG;
	fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	if (fd < 0)
		return -errno;
	if (connect(fd, (struct sockaddr *)&at, sizeof(at)) < 0)
		rc = -errno;
	else if (sendmsg(fd, &m, MSG_DONTWAIT | MSG_NOSIGNAL) != (ssize_t)len + 1)
		rc = -EAGAIN;
	if (rc == 0)
		return fd;
	close(fd);
	return rc;
}

struct jsonw *accel_request(const char *command)
{
	struct jsonw *w = jsonw_new();

	jsonw_object(w, NULL);
	jsonw_u64(w, "version", JSON_VERSION);
	jsonw_str(w, "command", command);
	return w;
}

static int start(struct leond *d, struct jsonw *request, accel_relay_fn fn, void *arg)
{
	struct accel_relay *r;
	const char *text;
	size_t len;
	int fd, rc;

	jsonw_end(request);
	text = jsonw_text(request, &len);
	fd = connect_and_send(d, text, len);
	jsonw_free(request);
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
	r->next = d->states->accel_relays;
	d->states->accel_relays = r;
	return 0;
}

int accel_relay(struct leond *d, struct jsonw *request, accel_relay_fn fn, void *arg)
{
	unsigned n = 0;

	for (const struct accel_relay *r = d->states->accel_relays; r; r = r->next)
		n += !r->is_report;
	if (n < ACCEL_RELAYS_MAX)
		return start(d, request, fn, arg);
	jsonw_free(request);
	return -EBUSY;
}

int accel_relay_report(struct leond *d, accel_relay_fn fn, void *arg)
{
	int rc = start(d, accel_request("show acceleration"), fn, arg);

	if (rc == 0)
		d->states->accel_relays->is_report = true;
	return rc;
}

void accel_relays_free(struct leond *d)
{
	while (d->states->accel_relays)
		finish(d->states->accel_relays, NULL, 0);
}
