// SPDX-License-Identifier: GPL-2.0-or-later
/* UDP between a connection and leond. Called by tls_link.c; main thread. */
#include "hub.h"

#include <errno.h>
#include <netinet/in.h>
#include <netinet/udp.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/defs.h"
#include "io/tcp_socket.h"
#include "stream.h"

/* Binds to an address without another stream for a long time, so that leond confuses no streams.
 * 127.76.0.x are the sockets of leond. */
static bool bind_own(struct hub *r, int fd, bool accepted)
{
	struct endpoint ep = { .ip = { IP_STREAM, { IP_STREAM_NET } } };
	struct sockaddr_storage ss;
	unsigned len;

	r->next_number = (uint16_t)((r->next_number + 1u) % (IP_STREAM_ACCEPTED << 8));
	if (r->next_number < 256)
		r->next_number = 256;
	ep.ip.b[2] = (uint8_t)(r->next_number >> 8 | (accepted ? IP_STREAM_ACCEPTED : 0));
	ep.ip.b[3] = (uint8_t)r->next_number;
	len = endpoint_to_sockaddr(&ep, &ss);
	return bind(fd, (struct sockaddr *)&ss, len) == 0;
}

int leond_udp_open(struct hub *r, bool accepted, struct endpoint *local)
{
	struct sockaddr_storage ss;
	socklen_t len = endpoint_to_sockaddr(&r->sockets, &ss);
	int fd = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);

	if (fd < 0)
		return -errno;
	if (!bind_own(r, fd, accepted) || connect(fd, (struct sockaddr *)&ss, len) < 0 ||
	    socket_local(fd, local) < 0) {
		close(fd);
		return -EADDRNOTAVAIL;
	}
	socket_set_int(fd, IPPROTO_IP, IP_RECVTOS, 1);
	socket_set_int(fd, IPPROTO_UDP, UDP_GRO, 1);
	socket_set_int(fd, SOL_SOCKET, SO_RCVBUF, QUEUE_BYTES);
	return fd;
}

/* --- datagrams from leond --- */

static void push(struct hub *r, struct send_queue *q, const struct udp_rx_msg *m)
{
	mono_t now = loop_now(r->loop);

	for (size_t at = 0; at < m->len; at += m->segment)
		r->counts.tx_dropped += send_queue_push(
			q, m->data + at, min_of(m->segment, m->len - at), m->class, now);
}

int leond_udp_take(struct hub *r, int fd, struct send_queue *q)
{
	int n = udp_rx_read(r->rx, fd, RX_MESSAGES);

	for (int i = 0; i < n; i++)
		if (!udp_rx_get(r->rx, (unsigned)i)->truncated)
			push(r, q, udp_rx_get(r->rx, (unsigned)i));
	return n;
}

/* --- datagrams to leond --- */

/* The message under construction: datagrams of equal length and class. */
struct train {
	size_t segment, len;
	unsigned n;
	uint8_t class;
	bool open;
};

static void add(struct hub *r, int fd, struct train *t, const struct framed *f)
{
	struct udp_tx *tx = r->tx;

	if (!udp_tx_has_room(tx, 1)) {
		udp_tx_flush(tx, fd, NULL, NULL);
		t->open = false;
	}
	if (t->open && t->class == f->class && f->len <= t->segment && t->n < UDP_GSO_SEGMENTS &&
	    t->len + f->len <= UDP_GSO_BYTES) {
		udp_tx_set_segment(tx, (uint16_t)t->segment);
		t->open = f->len == t->segment;
		t->len += f->len;
		t->n++;
	} else {
		udp_tx_begin(tx, NULL, 0, 0);
		if (f->class)
			udp_tx_set_class(tx, false, f->class);
		*t = (struct train){ f->len, f->len, 1, f->class, true };
	}
	udp_tx_add(tx, f->data, f->len);
	r->counts.rx_datagrams++;
	r->counts.rx_bytes += f->len;
}

long leond_udp_deliver(struct hub *r, int fd, const uint8_t *data, size_t len)
{
	struct train t = { 0 };
	struct framed f;
	size_t at = 0;
	long n;

	while ((n = frame_next(data + at, len - at, &f)) > 0) {
		add(r, fd, &t, &f);
		at += (size_t)n;
	}
	udp_tx_flush(r->tx, fd, NULL, NULL);
	return n < 0 ? -1 : (long)at;
}
