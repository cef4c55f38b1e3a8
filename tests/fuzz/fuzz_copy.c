// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * wire/datagram/leon and fwd/in/copies: decoded headers of copies encode to their input, and the
 * window accepts each copy once. The input is several payloads of COPY_HDR_LEN + 1 bytes.
 */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "fwd/in/received_tables.h"
#include "wire/datagram/leon.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len);

static void check(struct copies *c, const uint8_t *data, size_t len)
{
	uint8_t again[COPY_HDR_LEN];
	enum copy_verdict before, v;
	unsigned lost_one;
	struct copy_hdr h;

	if (copy_decode(data, len, &h))
		return;
	if (h.worker >= COPY_WORKERS_MAX || (h.kind != LEON_FRAME && h.kind != LEON_FRAGMENT))
		abort();
	copy_encode(&h, again);
	if (memcmp(data, again, sizeof(again)))
		abort();
	before = copies_look(c, 0, &h);
	v = copies_take(c, 0, &h, &lost_one);
	if (v != before || lost_one > 16)
		abort();
	if (v == COPY_FIRST && copies_take(c, 0, &h, &lost_one) != COPY_SECOND)
		abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len)
{
	static struct copies *c;

	if (!c)
		c = copies_new(1);
	copies_forget(c, 0);
	for (size_t at = 0; at < len; at += COPY_HDR_LEN + 1) {
		size_t left = len - at;

		check(c, data + at, left < COPY_HDR_LEN + 1 ? left : COPY_HDR_LEN + 1);
	}
	return 0;
}
