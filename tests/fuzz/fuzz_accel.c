// SPDX-License-Identifier: GPL-2.0-or-later
/* wire/accel, ipc/accel_queue: all decoded data encodes to its input, and nothing beyond the end
 * is read. ipc/accel_report: any JSON is read. */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "wire/accel.h"
#include "ipc/accel_queue.h"
#include "ipc/accel_report.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len);

static void check_say(const uint8_t *data, size_t len)
{
	uint8_t again[ACCEL_NOTIFY_MAX];
	struct accel_notify_frame f;

	if (accel_notify_decode(data, len, &f))
		return;
	if (accel_notify_encode(&f, again) != len || memcmp(data, again, len))
		abort();
}

static void check_report(const uint8_t *data, size_t len)
{
	struct jsonr *doc = jsonr_parse((const char *)data, len, JSONR_USUAL_MAX);
	struct jsonr_node *root = jsonr_root(doc);
	struct accel_totals t;
	struct accel_node n;
	struct accel_conn c;

	if (root) {
		accel_totals_read(root, &t);
		accel_node_read(root, &n);
		if (accel_conn_read(root, &c) && !c.state)
			abort();
	}
	jsonr_free(doc);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len)
{
	uint8_t again[ACCEL_SMALL_MAX];
	struct accel_frame f;
	size_t used;

	check_say(data, len);
	check_report(data, len);
	while (accel_decode(data, len, &f, &used) == ACCEL_OK) {
		bool has_data = accel_has_data(f.type);
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
