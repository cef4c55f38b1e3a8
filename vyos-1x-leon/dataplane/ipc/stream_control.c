// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Messages between leond and leon-tls, see stream_control.h.
 */
#include "ipc/stream_control.h"

#include <errno.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

union passed {
	struct cmsghdr header;
	uint8_t bytes[CMSG_SPACE(STREAM_FDS_MAX * sizeof(int))];
};

int stream_send_fds(int socket, const void *message, size_t len, const int *fd, unsigned n)
{
	union passed control = { 0 };
	/* sendmsg() does not write to the buffer. */
	struct iovec iov = { (void *)(uintptr_t)message, len };
	struct msghdr m = { .msg_iov = &iov, .msg_iovlen = 1 };

	if (n) {
		m.msg_control = &control;
		m.msg_controllen = CMSG_SPACE(n * sizeof(int));
		control.header = (struct cmsghdr){ .cmsg_len = CMSG_LEN(n * sizeof(int)),
						   .cmsg_level = SOL_SOCKET,
						   .cmsg_type = SCM_RIGHTS };
		memcpy(CMSG_DATA(&control.header), fd, n * sizeof(int));
	}
	return sendmsg(socket, &m, MSG_DONTWAIT | MSG_NOSIGNAL) < 0 ? -errno : 0;
}

int stream_send(int socket, const void *message, size_t len, int fd)
{
	return stream_send_fds(socket, message, len, &fd, fd >= 0);
}

int stream_receive(int socket, void *message, size_t len, int *fd)
{
	union passed control = { 0 };
	struct iovec iov = { message, len };
	struct msghdr m = { .msg_iov = &iov,
			    .msg_iovlen = 1,
			    .msg_control = &control,
			    /* CMSG_SPACE() would have room for a second descriptor. */
			    .msg_controllen = CMSG_LEN(sizeof(int)) };
	struct cmsghdr *c;
	ssize_t n = recvmsg(socket, &m, MSG_DONTWAIT | MSG_CMSG_CLOEXEC);
	int rc = 0, got = -1;

	if (n < 0)
		return errno == EAGAIN || errno == EINTR ? -EAGAIN : -EPIPE;
	c = CMSG_FIRSTHDR(&m);
	if (c && c->cmsg_level == SOL_SOCKET && c->cmsg_type == SCM_RIGHTS)
		memcpy(&got, CMSG_DATA(c), sizeof(got));
	if (n == 0)
		rc = -EPIPE;
	else if ((size_t)n != len || (m.msg_flags & MSG_TRUNC))
		rc = -EPROTO;
	if (got >= 0 && (rc || !fd)) {
		close(got);
		got = -1;
	}
	if (fd)
		*fd = got;
	return rc;
}
