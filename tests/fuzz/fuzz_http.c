// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Fuzz target of leonctl/live/http: any bytes of a client, at once and in pieces. A verdict stays
 * as more bytes arrive, except for a header that becomes too long.
 */
#include <stdint.h>
#include <stdlib.h>

#include "live/live.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len)
{
	enum http_verdict now, before = HTTP_MORE;

	if (len > HTTP_HEAD_MAX)
		len = HTTP_HEAD_MAX;
	for (size_t n = 0; n <= len; n++) {
		now = http_request((const char *)data, n);
		if (now >= N_HTTP_VERDICTS || (before != HTTP_MORE && now != before))
			abort();
		before = now;
	}
	return 0;
}
