// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * A faulty network card for tests/netns/test_segmentation.py, loaded with LD_PRELOAD. While the
 * file $LEON_DAMAGE exists, the last byte of each datagram of a train (UDP_SEGMENT) is wrong.
 */
#include <dlfcn.h>
#include <netinet/in.h>
#include <netinet/udp.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

typedef int (*sendmmsg_fn)(int, struct mmsghdr *, unsigned, int);

/* Returns the length of a segment; 0: no train. */
static size_t segment_of(struct msghdr *m)
{
	for (struct cmsghdr *c = CMSG_FIRSTHDR(m); c; c = CMSG_NXTHDR(m, c)) {
		uint16_t segment;

		if (c->cmsg_level != IPPROTO_UDP || c->cmsg_type != UDP_SEGMENT)
			continue;
		memcpy(&segment, CMSG_DATA(c), sizeof(segment));
		return segment;
	}
	return 0;
}

/* Inverts the last byte of each segment; a second call restores it. */
static void invert(struct msghdr *m, size_t segment)
{
	size_t total = 0, at = 0;

	for (size_t i = 0; i < m->msg_iovlen; i++)
		total += m->msg_iov[i].iov_len;
	for (size_t i = 0; i < m->msg_iovlen; i++) {
		uint8_t *p = m->msg_iov[i].iov_base;

		for (size_t k = 0; k < m->msg_iov[i].iov_len; k++, at++)
			if ((at + 1) % segment == 0 || at + 1 == total)
				p[k] ^= 0xff;
	}
}

int sendmmsg(int fd, struct mmsghdr *messages, unsigned n, int flags)
{
	sendmmsg_fn next = (sendmmsg_fn)dlsym(RTLD_NEXT, "sendmmsg");
	const char *damage = getenv("LEON_DAMAGE");

	if (!damage || access(damage, F_OK) != 0)
		return next(fd, messages, n, flags);
	for (unsigned i = 0; i < n; i++) {
		struct msghdr *m = &messages[i].msg_hdr;
		size_t segment = segment_of(m);
		int sent;

		if (segment)
			invert(m, segment);
		sent = next(fd, &messages[i], 1, flags);
		if (segment)
			invert(m, segment);
		if (sent != 1)
			return i ? (int)i : sent;
	}
	return (int)n;
}
