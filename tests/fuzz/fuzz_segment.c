// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * wire/datagram/segment: a frame is unchanged after its segment is read and written, and after
 * conversion to a VLAN and back. Only the tag changes.
 */
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "base/vlan_set.h"
#include "wire/datagram/segment.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len)
{
	uint8_t *frame;
	bool replaced;
	uint32_t id;

	if (len < 1)
		return 0;
	replaced = data[0] & 1;
	data++;
	len--;
	frame = malloc(len ? len : 1);
	if (!frame)
		abort();
	memcpy(frame, data, len);
	if (segment_get(frame, len, replaced, &id) == 0 && (replaced || segment_is_tagged(frame))) {
		if (id > SEGMENT_ID_MAX || replaced != (id >= VLAN_IDS))
			abort();
		segment_restore(frame, replaced, 77);
		if (!segment_is_tagged(frame) || segment_put(frame, id) != replaced ||
		    memcmp(frame, data, len))
			abort();
	} else if (memcmp(frame, data, len)) {
		abort();
	}
	free(frame);
	return 0;
}
