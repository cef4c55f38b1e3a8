// SPDX-License-Identifier: GPL-2.0-or-later
/* wire/capture: a stream of records, and a filter in front of a frame. Each record lies inside the
 * stream and is encoded again to the same bytes. */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "wire/bytes.h"
#include "wire/flow_capture.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len);

static void read_stream(const uint8_t *data, size_t len)
{
	uint8_t again[CAPTURE_RECORD_MAX + CAPTURE_SNAP_MAX];
	struct capture_record r;
	const uint8_t *bytes;
	int n;

	while ((n = capture_record_read(data, len, &r, &bytes)) > 0) {
		if ((size_t)n > len || bytes + r.n != data + n)
			abort();
		if (capture_record_write(&r, bytes, again, sizeof(again)) != (size_t)n ||
		    memcmp(data, again, (size_t)n) != 0)
			abort();
		data += n;
		len -= (size_t)n;
	}
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len)
{
	struct rbuf b = rbuf_of(data, len);
	struct capture_filter f = { 0 };
	char text[200], err[200];

	read_stream(data, len);
	capture_filter_code(&(struct codec){ .in = &b }, &f);
	if (b.ok && capture_filter_valid(&f))
		capture_filter_match(&f, b.p, rbuf_left(&b));
	if (len < sizeof(text)) {
		memcpy(text, data, len);
		text[len] = '\0';
		if (capture_filter_parse(text, &f, err, sizeof(err)) && !capture_filter_valid(&f))
			abort();
	}
	return 0;
}
