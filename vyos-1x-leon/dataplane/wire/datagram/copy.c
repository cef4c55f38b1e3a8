// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Header of a duplicated frame. Called by the workers for every LEON_COPY that they send or
 * receive. fwd/ eliminates the second copy. Pure.
 */
#include "wire/datagram/copy.h"

#include <errno.h>

#include "wire/bytes.h"
#include "wire/datagram/leon.h"

#define WORKER_SHIFT 56

int copy_decode(const void *data, size_t len, struct copy_hdr *h)
{
	const uint8_t *p = data;
	uint64_t sequence;

	if (len <= COPY_HDR_LEN)
		return -EBADMSG;
	sequence = get_u64(p);
	h->worker = (uint8_t)(sequence >> WORKER_SHIFT);
	h->counter = sequence & COPY_COUNTER_MASK;
	h->kind = p[8];
	if (h->worker >= COPY_WORKERS_MAX)
		return -EBADMSG;
	return h->kind == LEON_FRAME || h->kind == LEON_FRAGMENT ? 0 : -EBADMSG;
}

void copy_encode(const struct copy_hdr *h, void *out)
{
	uint8_t *p = out;

	put_u64(p, (uint64_t)h->worker << WORKER_SHIFT | (h->counter & COPY_COUNTER_MASK));
	p[8] = h->kind;
}
