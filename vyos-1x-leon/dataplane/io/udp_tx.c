// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Send batches, see udp.h. One batch belongs to one worker. All memory is allocated at creation, so
 * sending allocates nothing.
 */
#include "io/udp.h"

#include <errno.h>
#include <netinet/in.h>
#include <netinet/udp.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>

#include "base/defs.h"
#include "base/log.h"
#include "base/mem.h"

struct tx_slot {
	/* Control messages: a traffic class, then a segment size; only the used part is passed. */
	_Alignas(struct cmsghdr)
		uint8_t control[CMSG_SPACE(sizeof(int)) + CMSG_SPACE(sizeof(uint16_t))];
	uint8_t class_len; /* length of the traffic-class message */
	uint32_t tag;
	uint16_t segment; /* segment size; 0: a single datagram */
	size_t len;
};

struct udp_tx {
	unsigned n_messages, n_pieces; /* capacity */
	unsigned messages, pieces;     /* in use */
	struct mmsghdr *mm;
	struct tx_slot *slot;
	struct iovec *iov;
};

/* State of one flush. */
struct udp_flush {
	struct udp_tx *tx;
	int fd;
	bool waited;
	const struct udp_tx_ops *ops;
	void *arg;
	struct udp_tx_result result;
};

struct udp_tx *udp_tx_new(unsigned n_messages, unsigned n_pieces)
{
	struct udp_tx *tx = x_new(struct udp_tx);

	tx->n_messages = n_messages;
	tx->n_pieces = n_pieces;
	tx->mm = x_calloc(n_messages, sizeof(*tx->mm));
	tx->slot = x_calloc(n_messages, sizeof(*tx->slot));
	tx->iov = x_calloc(n_pieces, sizeof(*tx->iov));
	return tx;
}

void udp_tx_free(struct udp_tx *tx)
{
	if (!tx)
		return;
	free(tx->mm);
	free(tx->slot);
	free(tx->iov);
	free(tx);
}

bool udp_tx_has_room(const struct udp_tx *tx, unsigned pieces)
{
	return tx->messages < tx->n_messages && tx->n_pieces - tx->pieces >= pieces;
}

unsigned udp_tx_messages(const struct udp_tx *tx)
{
	return tx->messages;
}

void udp_tx_begin(struct udp_tx *tx, const void *sa, unsigned sa_len, uint32_t tag)
{
	struct msghdr *mh;

	if (tx->messages == tx->n_messages)
		bug("no room for a message");
	mh = &tx->mm[tx->messages].msg_hdr;
	/* sendmsg() does not write to msg_name; its type is not const because recvmsg() shares the
	 * structure. */
	*mh = (struct msghdr){ .msg_name = (void *)(uintptr_t)sa,
			       .msg_namelen = sa_len,
			       .msg_iov = &tx->iov[tx->pieces] };
	tx->slot[tx->messages].tag = tag;
	tx->slot[tx->messages].segment = 0;
	tx->slot[tx->messages].class_len = 0;
	tx->slot[tx->messages].len = 0;
	tx->messages++;
}

void udp_tx_add(struct udp_tx *tx, const void *data, size_t len)
{
	struct msghdr *mh = &tx->mm[tx->messages - 1].msg_hdr;
	struct iovec *last = mh->msg_iovlen ? &mh->msg_iov[mh->msg_iovlen - 1] : NULL;

	tx->slot[tx->messages - 1].len += len;
	if (last && (const uint8_t *)last->iov_base + last->iov_len == data) {
		last->iov_len += len;
		return;
	}
	if (tx->pieces == tx->n_pieces)
		bug("no room for a piece");
	tx->iov[tx->pieces++] = (struct iovec){ (void *)(uintptr_t)data, len };
	mh->msg_iovlen++;
}

void udp_tx_set_segment(struct udp_tx *tx, uint16_t segment)
{
	struct tx_slot *s = &tx->slot[tx->messages - 1];
	struct msghdr *mh = &tx->mm[tx->messages - 1].msg_hdr;
	struct cmsghdr *c = (struct cmsghdr *)(s->control + s->class_len);

	s->segment = segment;
	mh->msg_controllen = s->class_len + (segment ? CMSG_SPACE(sizeof(segment)) : 0);
	mh->msg_control = mh->msg_controllen ? s->control : NULL;
	if (!segment)
		return;
	c->cmsg_level = IPPROTO_UDP;
	c->cmsg_type = UDP_SEGMENT;
	c->cmsg_len = CMSG_LEN(sizeof(segment));
	memcpy(CMSG_DATA(c), &segment, sizeof(segment));
}

void udp_put_class(struct cmsghdr *c, bool v6, uint8_t class)
{
	int value = class;

	c->cmsg_level = v6 ? IPPROTO_IPV6 : IPPROTO_IP;
	c->cmsg_type = v6 ? IPV6_TCLASS : IP_TOS;
	c->cmsg_len = CMSG_LEN(sizeof(value));
	memcpy(CMSG_DATA(c), &value, sizeof(value));
}

void udp_tx_set_class(struct udp_tx *tx, bool v6, uint8_t class)
{
	struct tx_slot *s = &tx->slot[tx->messages - 1];

	udp_put_class((struct cmsghdr *)s->control, v6, class);
	s->class_len = CMSG_SPACE(sizeof(int));
	udp_tx_set_segment(tx, s->segment);
}

/* Waits for room in the socket buffer, once per flush. Returns false if there is still none. */
static bool wait_for_room(struct udp_flush *f)
{
	struct pollfd pfd = { .fd = f->fd, .events = POLLOUT };

	if (f->waited)
		return false;
	f->waited = true;
	return poll(&pfd, 1, UDP_TX_WAIT_MS) == 1 && (pfd.revents & POLLOUT);
}

/* Sends one message. Returns 0 or errno. Retries after the pending error of an earlier datagram. */
static int send_one(struct udp_flush *f, const struct msghdr *mh)
{
	int err = 0;

	for (int i = 0; i < 4; i++) {
		f->result.calls++;
		if (sendmsg(f->fd, mh, MSG_DONTWAIT | MSG_NOSIGNAL) >= 0) {
			f->result.messages++;
			return 0;
		}
		err = errno;
		if (err == EAGAIN && !wait_for_room(f))
			break;
	}
	return err;
}

/* Removes the next `want` bytes from the pieces of a message, as at most `max` pieces. */
static unsigned slice(const struct msghdr *mh, size_t *piece, size_t *offset, size_t want,
		      struct iovec *out, unsigned max)
{
	unsigned n = 0;

	while (want && *piece < mh->msg_iovlen && n < max) {
		struct iovec *v = &mh->msg_iov[*piece];
		size_t take = min_of(want, v->iov_len - *offset);

		out[n++] = (struct iovec){ (uint8_t *)v->iov_base + *offset, take };
		*offset += take;
		want -= take;
		if (*offset == v->iov_len) {
			(*piece)++;
			*offset = 0;
		}
	}
	return n;
}

/* Sends the segments of a GSO message that the route refused as single datagrams. */
static void send_segments(struct udp_flush *f, unsigned i)
{
	const struct msghdr *mh = &f->tx->mm[i].msg_hdr;
	const struct tx_slot *s = &f->tx->slot[i];
	size_t piece = 0, offset = 0, left = s->len;

	while (left) {
		struct iovec iov[16];
		size_t len = min_of(left, (size_t)s->segment);
		struct msghdr one = { .msg_name = mh->msg_name,
				      .msg_namelen = mh->msg_namelen,
				      .msg_iov = iov,
				      .msg_control = s->class_len ? mh->msg_control : NULL,
				      .msg_controllen = s->class_len };
		int err;

		one.msg_iovlen = slice(mh, &piece, &offset, len, iov, array_size(iov));
		err = send_one(f, &one);
		if (err && f->ops)
			f->ops->failed(f->arg, s->tag, err, 1, len);
		left -= len;
	}
}

static unsigned n_datagrams(const struct tx_slot *s)
{
	return s->segment ? (unsigned)((s->len + s->segment - 1) / s->segment) : 1;
}

/* Handles the message at which sendmmsg() stopped: sends it by another method, or drops and reports
 * it. */
static void send_stubborn(struct udp_flush *f, unsigned i)
{
	const struct tx_slot *s = &f->tx->slot[i];
	int err = send_one(f, &f->tx->mm[i].msg_hdr);

	if (!err)
		return;
	if (s->segment && (err == EIO || err == EINVAL)) {
		if (f->ops)
			f->ops->gso_refused(f->arg, s->tag);
		send_segments(f, i);
		return;
	}
	if (f->ops)
		f->ops->failed(f->arg, s->tag, err, n_datagrams(s), s->len);
}

struct udp_tx_result udp_tx_flush(struct udp_tx *tx, int fd, const struct udp_tx_ops *ops,
				  void *arg)
{
	struct udp_flush f = { .tx = tx, .fd = fd, .ops = ops, .arg = arg };
	unsigned i = 0;

	while (i < tx->messages) {
		int n = sendmmsg(fd, &tx->mm[i], tx->messages - i, MSG_DONTWAIT | MSG_NOSIGNAL);

		f.result.calls++;
		if (n > 0) {
			i += (unsigned)n;
			f.result.messages += (unsigned)n;
		} else {
			send_stubborn(&f, i++);
		}
	}
	tx->messages = tx->pieces = 0;
	return f.result;
}
