// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * The raw socket of leon-sclp. The kernel delivers the IP header with IPv4 and removes it with
 * IPv6.
 */
#include "tunnel.h"

#include <errno.h>
#include <netinet/in.h>
#include <netinet/ip.h>
#include <netinet/ip6.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/defs.h"
#include "base/mem.h"
#include "io/tcp_socket.h"

#define BUFFER_BYTES (4 << 20)
#define MTU_DEFAULT  1500
#define MTU_MIN	     68 /* RFC 791 */

struct raw {
	int fd;
	bool v4;
	struct ip_addr peer;
	uint32_t mtu;	  /* configured; 0: use the kernel's */
	uint32_t mtu_now; /* last value from the kernel */
	uint8_t buffer[RAW_BATCH][RAW_PACKET_MAX];
};

static int connect_to(int fd, const struct ip_addr *peer)
{
	struct endpoint p = { .ip = *peer };
	struct sockaddr_storage ss;
	socklen_t len = endpoint_to_sockaddr(&p, &ss);

	/* A connected socket receives packets of its peer only. */
	return connect(fd, (const struct sockaddr *)&ss, len) < 0 ? -errno : 0;
}

/* Returns 0 if the socket has no route. */
static uint32_t kernel_mtu(const struct raw *r)
{
	int mtu = 0;
	socklen_t len = sizeof(mtu);
	int rc = r->v4 ? getsockopt(r->fd, IPPROTO_IP, IP_MTU, &mtu, &len)
		       : getsockopt(r->fd, IPPROTO_IPV6, IPV6_MTU, &mtu, &len);

	return rc == 0 && mtu >= MTU_MIN ? (uint32_t)mtu : 0;
}

void raw_ask_mtu(struct raw *r)
{
	uint32_t mtu = kernel_mtu(r);

	/* An IPv4 socket that finds no route once never searches again. Before Linux 6.7, the
	 * request for the MTU itself searches. */
	if (!mtu && connect_to(r->fd, &r->peer) == 0)
		mtu = kernel_mtu(r);
	r->mtu_now = mtu ? mtu : MTU_DEFAULT;
}

int raw_open(struct raw **out, const struct ip_addr *local, const struct ip_addr *peer,
	     uint32_t mtu)
{
	bool v4 = peer->family == 4;
	int fd = socket(v4 ? AF_INET : AF_INET6, SOCK_RAW | SOCK_CLOEXEC | SOCK_NONBLOCK,
			SCLP_PROTOCOL);
	struct raw *r;
	int rc;

	if (fd < 0)
		return -errno;
	rc = socket_bind(fd, local, local->family, 0);
	if (rc == 0)
		rc = connect_to(fd, peer);
	if (rc < 0) {
		close(fd);
		return rc;
	}
	/* Each option is optional: without it the socket works with less performance. */
	if (v4)
		socket_set_int(fd, IPPROTO_IP, IP_MTU_DISCOVER, IP_PMTUDISC_DO);
	else
		socket_set_int(fd, IPPROTO_IPV6, IPV6_MTU_DISCOVER, IPV6_PMTUDISC_DO);
	socket_set_int(fd, SOL_SOCKET, SO_SNDBUF, BUFFER_BYTES);
	socket_set_int(fd, SOL_SOCKET, SO_RCVBUF, BUFFER_BYTES);
	r = x_buffer(1, sizeof(*r));
	r->fd = fd;
	r->v4 = v4;
	r->peer = *peer;
	r->mtu = mtu;
	raw_ask_mtu(r);
	*out = r;
	return fd;
}

void raw_close(struct raw *r)
{
	if (!r)
		return;
	close(r->fd);
	free(r);
}

size_t raw_mss(struct raw *r)
{
	uint32_t mtu = r->mtu ? r->mtu : r->mtu_now;

	mtu = min_of(mtu, (uint32_t)RAW_PACKET_MAX);
	return mtu - (r->v4 ? sizeof(struct ip) : sizeof(struct ip6_hdr)) - SCLP_HDR_LEN;
}

unsigned raw_send(struct raw *r, const struct raw_out *seg, unsigned n)
{
	struct mmsghdr m[RAW_BATCH];
	struct iovec iov[RAW_BATCH][2];
	unsigned sent = 0;

	for (unsigned i = 0; i < n; i++) {
		iov[i][0] = (struct iovec){ (void *)(uintptr_t)seg[i].hdr, SCLP_HDR_LEN };
		iov[i][1] = (struct iovec){ (void *)(uintptr_t)seg[i].data, seg[i].len };
		m[i] = (struct mmsghdr){ .msg_hdr = { .msg_iov = iov[i], .msg_iovlen = 2 } };
	}
	while (sent < n) {
		int rc = sendmmsg(r->fd, m + sent, n - sent, 0);

		if (rc <= 0)
			break;
		sent += (unsigned)rc;
	}
	/* The path MTU may have decreased. Any call on the socket returns a pending error once. */
	if (sent < n)
		raw_ask_mtu(r);
	return sent;
}

static bool segment_in(struct raw *r, const struct mmsghdr *m, const uint8_t *packet,
		       struct sclp_segment *out)
{
	if (m->msg_hdr.msg_flags & MSG_TRUNC)
		return false;
	out->data = packet;
	out->len = m->msg_len;
	if (r->v4)
		out->data = sclp_in_ipv4(packet, m->msg_len, &out->len);
	return out->data;
}

unsigned raw_receive(struct raw *r, struct sclp_segment *seg, unsigned *n_bad)
{
	struct mmsghdr m[RAW_BATCH];
	struct iovec iov[RAW_BATCH];
	unsigned n = 0;
	int rc;

	for (unsigned i = 0; i < RAW_BATCH; i++) {
		iov[i] = (struct iovec){ r->buffer[i], RAW_PACKET_MAX };
		m[i] = (struct mmsghdr){ .msg_hdr = { .msg_iov = &iov[i], .msg_iovlen = 1 } };
	}
	*n_bad = 0;
	rc = recvmmsg(r->fd, m, RAW_BATCH, 0, NULL);
	for (int i = 0; i < rc; i++) {
		if (segment_in(r, &m[i], r->buffer[i], &seg[n]))
			n++;
		else
			(*n_bad)++;
	}
	return n;
}
