// SPDX-License-Identifier: GPL-2.0-or-later
/* wire/leon: whatever decodes has a payload inside the datagram and encodes to the same bytes. */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "wire/leon.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len)
{
	uint8_t again[LEON_HDR_LEN_MAX];
	struct leon_hdr h;
	size_t hdr_len;

	if (leon_decode(data, len, &h, &hdr_len) != LEON_OK)
		return 0;
	if (hdr_len > len || h.at >= h.n_hops || leon_encode(&h, again) != hdr_len)
		abort();
	if (memcmp(data, again, hdr_len))
		abort();
	return 0;
}
