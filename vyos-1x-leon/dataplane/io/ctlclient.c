// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * The client side of the control socket, see ctlsock.h. Any thread; blocks up to the deadline.
 */
#include "io/ctlsock.h"

#include <errno.h>
#include <poll.h>
#include <stdlib.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include "base/defs.h"
#include "base/mem.h"
#include "io/clock.h"

/* Returns 0, -ETIMEDOUT or -errno. */
static int wait_for(int fd, short events, int64_t deadline)
{
	struct pollfd pfd = { .fd = fd, .events = events };
	int64_t left = deadline - mono_now_ms();
	int rc;

	if (left <= 0)
		return -ETIMEDOUT;
	rc = poll(&pfd, 1, (int)min_of(left, (int64_t)INT32_MAX));
	if (rc < 0)
		return errno == EINTR ? 0 : -errno;
	return rc ? 0 : -ETIMEDOUT;
}

static int connect_to(const char *path, int64_t deadline)
{
	struct sockaddr_un sun = { .sun_family = AF_UNIX };
	int fd, rc;

	if (strlen(path) >= sizeof(sun.sun_path))
		return -ENAMETOOLONG;
	snprintf(sun.sun_path, sizeof(sun.sun_path), "%s", path);
	fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	if (fd < 0)
		return -errno;
	/* EAGAIN means that the server's backlog is full. poll() cannot report room in it, so the
	 * client retries. */
	while (connect(fd, (const struct sockaddr *)&sun, sizeof(sun)) < 0) {
		rc = -errno;
		if (rc == -EAGAIN && mono_now_ms() < deadline) {
			poll(NULL, 0, 10);
			continue;
		}
		close(fd);
		return rc == -EAGAIN ? -ETIMEDOUT : rc;
	}
	return fd;
}

static int send_all(int fd, const char *data, size_t len, int64_t deadline)
{
	while (len) {
		ssize_t n = send(fd, data, len, MSG_NOSIGNAL);
		int rc;

		if (n < 0 && errno != EAGAIN && errno != EINTR)
			return -errno;
		if (n > 0) {
			data += n;
			len -= (size_t)n;
			continue;
		}
		rc = wait_for(fd, POLLOUT, deadline);
		if (rc < 0)
			return rc;
	}
	return 0;
}

static int receive_line(int fd, int64_t deadline, char **answer, size_t *answer_len)
{
	size_t size = 65536, len = 0;
	char *buf = x_calloc(size, 1);
	int rc = 0;

	while (rc == 0) {
		ssize_t n = recv(fd, buf + len, size - len, 0);

		if (n > 0)
			len += (size_t)n;
		if (len && buf[len - 1] == '\n') {
			buf[len - 1] = 0;
			*answer = buf;
			*answer_len = len - 1;
			return 0;
		}
		if (n == 0)
			rc = -EPROTO;
		else if (n < 0 && errno == EAGAIN)
			rc = wait_for(fd, POLLIN, deadline);
		else if (n < 0 && errno != EINTR)
			rc = -errno;
		if (len == size && size >= CTL_ANSWER_MAX)
			rc = -EMSGSIZE;
		else if (len == size)
			buf = x_realloc(buf, size *= 2, 1);
	}
	free(buf);
	return rc;
}

int ctl_request(const char *path, const char *request, size_t len, int timeout_ms, char **answer,
		size_t *answer_len)
{
	int64_t deadline = mono_now_ms() + timeout_ms;
	int fd = connect_to(path, deadline);
	int rc;

	if (fd < 0)
		return fd;
	rc = send_all(fd, request, len, deadline);
	if (rc == 0)
		rc = send_all(fd, "\n", 1, deadline);
	/* The server may refuse a request before the end of the request; the read then sees the
	 * close. */
	if (rc == -EPIPE || rc == -ECONNRESET)
		rc = -EPROTO;
	if (rc == 0)
		rc = receive_line(fd, deadline, answer, answer_len);
	close(fd);
	return rc == -ECONNRESET ? -EPROTO : rc;
}
