// SPDX-License-Identifier: GPL-2.0-or-later
/* wire/accel: whatever decodes encodes to what it was read from; nothing is read beyond the end. */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "wire/accel.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len)
{
	uint8_t again[ACCEL_SMALL_MAX];
	struct accel_frame f;
	size_t used;

	while (accel_decode(data, len, &f, &used) == ACCEL_OK) {
		bool has_data = f.type == ACCEL_DATA || f.type == ACCEL_PACKED;
		size_t n = accel_encode(&f, again);

		if (used > len || n > sizeof(again) || memcmp(data, again, n))
			abort();
		if (n + (has_data ? f.data.len : 0) != used)
			abort();
		data += used;
		len -= used;
	}
	return 0;
}
