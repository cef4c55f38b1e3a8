// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * wire/datagram/parity and fwd/in/recovery: decoded headers encode to their input. Any frames and
 * parities of a member leave restored symbols inside the memory of their block. The input is a
 * sequence of payloads, each behind its length in one byte.
 */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "fwd/in/received_tables.h"
#include "wire/datagram/leon.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len);

#define SOURCE 7u

/* Writes the symbols as a delivery may, so that the sanitizer sees their bounds. */
static void deliver(struct recovery_block *b)
{
	struct recovery_symbol s;
	unsigned at = 0, n = 0;

	while (recovery_next(b, &at, &s)) {
		if (s.len > PARITY_PAYLOAD_MAX || s.h.index >= PARITY_FRAMES || ++n > PARITY_FRAMES)
			abort();
		if (s.len && (s.h.first > s.h.index || s.flags & ~LEON_FLAGS_FRAME))
			abort();
		memset(s.payload, 0x55, s.len);
	}
	recovery_end(b);
}

static void take(struct recovery *r, const uint8_t *data, size_t len)
{
	uint8_t again[PARITY_HDR_LEN];
	struct recovery_result res;
	struct parity_hdr h;
	int n = parity_decode(data, len, &h);

	if (n < 0)
		return;
	if (h.worker >= COPY_WORKERS_MAX || h.index >= PARITY_FRAMES || (size_t)n >= len)
		abort();
	parity_encode(&h, again);
	if (memcmp(data, again, (size_t)n) != 0)
		abort();
	res = h.kind ? recovery_add(r, SOURCE, &h, data[n] & LEON_FLAGS_FRAME, data + n,
				    len - (size_t)n)
		     : recovery_add_parity(r, SOURCE, &h, data + n, len - (size_t)n);
	if (res.verdict == RECOVERY_BUSY || res.unrecoverable > PARITY_FRAMES)
		abort();
	if (res.restored)
		deliver(res.restored);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len)
{
	struct recovery *r = recovery_new();

	for (size_t at = 0; at < len;) {
		size_t n = data[at++];

		n = n < len - at ? n : len - at;
		take(r, data + at, n);
		at += n;
	}
	recovery_free(r);
	return 0;
}
