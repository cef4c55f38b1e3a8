// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Receive batches, see udp.h. One batch belongs to one worker. All memory is allocated at creation,
 * so reading allocates nothing.
 */
#include "io/udp.h"

#include <errno.h>
#include <netinet/in.h>
#include <netinet/udp.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/defs.h"
#include "base/mem.h"

/* Control-message buffer for a timestamp, a GRO segment size and a traffic class. */
#define CONTROL_LEN (CMSG_SPACE(sizeof(struct timespec)) + 2 * CMSG_SPACE(sizeof(int)))

struct rx_slot {
	struct sockaddr_storage from;
	struct iovec iov;
	_Alignas(struct cmsghdr) uint8_t control[CONTROL_LEN];
};

struct udp_rx {
	unsigned n;
	size_t buffer_bytes;
	uint8_t *buffers;
	struct mmsghdr *mm;
	struct rx_slot *slot;
	struct udp_rx_msg *msg;
};

struct udp_rx *udp_rx_new(unsigned n_messages, size_t buffer_bytes)
{
	struct udp_rx *rx = x_new(struct udp_rx);

	rx->n = n_messages;
	rx->buffer_bytes = buffer_bytes;
	rx->buffers = x_buffer(n_messages, buffer_bytes);
	rx->mm = x_calloc(n_messages, sizeof(*rx->mm));
	rx->slot = x_calloc(n_messages, sizeof(*rx->slot));
	rx->msg = x_calloc(n_messages, sizeof(*rx->msg));
	for (unsigned i = 0; i < n_messages; i++) {
		struct rx_slot *s = &rx->slot[i];

		s->iov = (struct iovec){ rx->buffers + i * buffer_bytes, buffer_bytes };
		rx->mm[i].msg_hdr = (struct msghdr){ .msg_name = &s->from,
						     .msg_iov = &s->iov,
						     .msg_iovlen = 1,
						     .msg_control = s->control };
		rx->msg[i].data = s->iov.iov_base;
		rx->msg[i].from = &s->from;
	}
	return rx;
}

void udp_rx_free(struct udp_rx *rx)
{
	if (!rx)
		return;
	free(rx->buffers);
	free(rx->mm);
	free(rx->slot);
	free(rx->msg);
	free(rx);
}

/* Extracts segment size, arrival time and traffic class from the control messages. */
static void read_control(struct msghdr *mh, struct udp_rx_msg *m)
{
	for (struct cmsghdr *c = CMSG_FIRSTHDR(mh); c; c = CMSG_NXTHDR(mh, c)) {
		if (c->cmsg_level == IPPROTO_UDP && c->cmsg_type == UDP_GRO) {
			int segment;

			memcpy(&segment, CMSG_DATA(c), sizeof(segment));
			if (segment > 0 && (size_t)segment < m->len)
				m->segment = (size_t)segment;
		} else if (c->cmsg_level == SOL_SOCKET && c->cmsg_type == SCM_TIMESTAMPNS) {
			struct timespec ts;

			memcpy(&ts, CMSG_DATA(c), sizeof(ts));
			m->rx_real_ns = (int64_t)ts.tv_sec * 1000000000 + ts.tv_nsec;
		} else if (c->cmsg_level == IPPROTO_IP && c->cmsg_type == IP_TOS) {
			m->class = *CMSG_DATA(c);
		} else if (c->cmsg_level == IPPROTO_IPV6 && c->cmsg_type == IPV6_TCLASS) {
			int class;

			memcpy(&class, CMSG_DATA(c), sizeof(class));
			m->class = (uint8_t) class;
		}
	}
}

int udp_rx_read(struct udp_rx *rx, int fd, unsigned most)
{
	int n;

	most = min_of(most, rx->n);
	for (unsigned i = 0; i < most; i++) {
		struct msghdr *mh = &rx->mm[i].msg_hdr;

		mh->msg_namelen = sizeof(rx->slot[i].from);
		mh->msg_controllen = CONTROL_LEN;
	}
	n = recvmmsg(fd, rx->mm, most, MSG_DONTWAIT, NULL);
	if (n < 0)
		return errno == EAGAIN ? 0 : -errno;
	for (int i = 0; i < n; i++) {
		struct udp_rx_msg *m = &rx->msg[i];

		m->len = rx->mm[i].msg_len;
		/* An empty datagram counts as one segment. */
		m->segment = m->len ? m->len : 1;
		m->truncated = rx->mm[i].msg_hdr.msg_flags & MSG_TRUNC;
		m->rx_real_ns = 0;
		m->class = 0;
		read_control(&rx->mm[i].msg_hdr, m);
	}
	return n;
}

const struct udp_rx_msg *udp_rx_get(const struct udp_rx *rx, unsigned i)
{
	return &rx->msg[i];
}
