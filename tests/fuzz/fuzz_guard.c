// SPDX-License-Identifier: GPL-2.0-or-later
/* wire/guard: whatever decodes encodes to the same bytes, padding aside. */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "wire/guard.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len)
{
	uint8_t again[GUARD_FRAME_LEN];
	struct guard_frame g;

	if (guard_decode(data, len, &g))
		return 0;
	guard_encode(&g, again);
	if (len < GUARD_SIGNED_LEN + GUARD_AUTH_LEN ||
	    memcmp(data, again, GUARD_SIGNED_LEN + GUARD_AUTH_LEN))
		abort();
	return 0;
}
