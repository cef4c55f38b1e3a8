// SPDX-License-Identifier: GPL-2.0-or-later
/* wire/datagram/leon: decoded frames lie inside the bundle in order, and encode to the bundle. */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "wire/datagram/leon.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len)
{
	struct bundle_frame f;
	size_t at = 0, before = 0;

	while (bundle_next(data, len, &at, &f) > 0) {
		uint8_t again[BUNDLE_HDR_LEN];

		bundle_encode(f.len, f.flags, again);
		if (f.at != before + BUNDLE_HDR_LEN || f.at + f.len != at || at > len ||
		    memcmp(again, data + before, sizeof(again)) != 0)
			abort();
		before = at;
	}
	return 0;
}
