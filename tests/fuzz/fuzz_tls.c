// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Fuzz target of leon-tls: bytes of a stranger as frames, whole and cut at any place, and as the
 * answer of a proxy.
 */
#include <stdint.h>
#include <stdlib.h>

#include "stream.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len);

static void frames(const uint8_t *data, size_t len)
{
	struct framed f, again;
	long n;

	while ((n = frame_next(data, len, &f)) > 0) {
		if ((size_t)n > len || f.len == 0 || f.len > FRAME_DATA_MAX ||
		    f.data + f.len != data + n)
			abort();
		/* A cut frame is incomplete. */
		if (frame_next(data, (size_t)n - 1, &again) != 0)
			abort();
		data += n;
		len -= (size_t)n;
	}
	if (n == 0 && len >= FRAME_LEN_MAX)
		abort();
}

static void answer(const char *text, size_t len)
{
	int status = 0;
	long n = proxy_answer(text, len, &status);

	if (n > (long)len || (n > 0 && (status < 0 || status > 999)))
		abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len)
{
	frames(data, len);
	answer((const char *)data, len);
	return 0;
}
