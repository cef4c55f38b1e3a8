// SPDX-License-Identifier: GPL-2.0-or-later
/* wire/datagram/leon, fragments: each decoded fragment lies inside a frame of permitted size. */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "wire/datagram/leon.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len)
{
	uint8_t again[FRAGMENT_HDR_LEN];
	struct fragment_hdr h;

	if (fragment_decode(data, len, &h))
		return 0;
	if (len <= FRAGMENT_HDR_LEN || h.total > FRAGMENT_FRAME_MAX)
		abort();
	if (h.offset + (len - FRAGMENT_HDR_LEN) > h.total)
		abort();
	fragment_encode(&h, again);
	if (memcmp(data, again, sizeof(again)))
		abort();
	return 0;
}
