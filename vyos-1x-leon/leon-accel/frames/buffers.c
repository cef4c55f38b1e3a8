// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Kernel buffers of inter-proxy connections, see buffers.h.
 */
#include "frames/buffers.h"

#include <linux/sock_diag.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/socket.h>

#include "base/defs.h"

uint32_t buffers_of_one(unsigned n)
{
	return min_of(BUFFERS_MAX, BUFFERS_ALL / 2 / max_of(n, 1u));
}

static void set(int fd, uint32_t each)
{
	int half = (int)(each / 2);

	/* The kernel doubles the first two, for overhead. The window does not follow a larger
	 * buffer automatically. */
	setsockopt(fd, SOL_SOCKET, SO_RCVBUFFORCE, &half, sizeof(half));
	setsockopt(fd, SOL_SOCKET, SO_SNDBUFFORCE, &half, sizeof(half));
	setsockopt(fd, IPPROTO_TCP, TCP_WINDOW_CLAMP, &half, sizeof(half));
}

static bool is_within(int fd, uint32_t each)
{
	uint32_t info[SK_MEMINFO_VARS] = { 0 };
	socklen_t len = sizeof(info);

	if (getsockopt(fd, SOL_SOCKET, SO_MEMINFO, info, &len) < 0)
		return true;
	return info[SK_MEMINFO_RMEM_ALLOC] <= each && info[SK_MEMINFO_WMEM_QUEUED] <= each;
}

bool buffers_fit(struct buffers *b, int fd, unsigned n, mono_t now)
{
	uint32_t each = buffers_of_one(n);

	/* The kernel itself exceeds a limit by a segment or two. */
	if (!b->each || is_within(fd, each + each / 8))
		b->fitted = now;
	if (each != b->each)
		set(fd, each);
	b->each = each;
	return mono_sub_ms(now, b->fitted) <= BUFFERS_MS;
}
