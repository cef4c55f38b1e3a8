// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * leon-accel/peer/pack: the zstd stream of an inter-proxy connection. The input is {control (8)}
 * and parts {length (8), bytes}. control & 1: the parts go to the unpacker unchanged, as from a
 * hostile member. Otherwise the parts are packed first, and the unpacked data equals the original.
 * control & 2: a window of 8 MiB, more than libzstd allocates without a limit.
 */
#include <stdlib.h>
#include <string.h>

#include "peer/pack.h"
#include "wire/accel.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len);

#define REPEAT 32 /* makes parts long enough for a match in the window */

static uint8_t unpacked[ACCEL_DATA_MAX + 1];

/* Returns false if the stream has failed: leon-accel then closes the connection. */
static bool feed_raw(struct unpacker *u, const uint8_t *part, size_t n)
{
	size_t got = unpacker_run(u, part, n, unpacked, sizeof(unpacked));

	if (got >= sizeof(unpacked))
		abort();
	return got > 0;
}

static void feed_packed(struct packer *p, struct unpacker *u, const uint8_t *part, size_t n)
{
	static uint8_t plain[256 * REPEAT], packed[PACK_BOUND(256 * REPEAT)];
	size_t plain_len = 0, len;

	for (unsigned i = 0; i < REPEAT; i++, plain_len += n)
		memcpy(plain + plain_len, part, n);
	len = packer_run(p, plain, plain_len, packed, PACK_BOUND(plain_len));
	if (!len || len > PACK_BOUND(plain_len))
		abort();
	if (unpacker_run(u, packed, len, unpacked, sizeof(unpacked)) != plain_len ||
	    memcmp(plain, unpacked, plain_len))
		abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len)
{
	unsigned window_log;
	struct packer *p = NULL;
	struct unpacker *u;
	bool raw;

	if (len < 1)
		return 0;
	raw = data[0] & 1;
	window_log = data[0] & 2 ? 23 : PACK_WINDOW_MIN;
	u = unpacker_new(window_log);
	if (!raw)
		p = packer_new(window_log, 1);
	if (!u || (!raw && !p))
		abort();
	data++;
	len--;
	while (len >= 2) {
		size_t n = data[0] < len - 1 ? data[0] : len - 1;

		if (raw && !feed_raw(u, data + 1, n))
			break;
		if (!raw && n)
			feed_packed(p, u, data + 1, n);
		data += 1 + n;
		len -= 1 + n;
	}
	packer_free(p);
	unpacker_free(u);
	return 0;
}
