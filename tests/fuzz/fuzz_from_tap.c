// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * The whole step from the TAP, against a fixed snapshot. The input is what one read gives: vnet
 * header and frame. What leaves is checked: each datagram is no longer than the path allows.
 */
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "fwd_null.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len)
{
	struct null_path *n = null_path();
	struct frame f;
	uint8_t *copy;

	if (len > TAP_RX_FRAME_MAX)
		return 0;
	/* The room in front that tap_rx leaves for the LEON header. */
	copy = malloc(SNAP_HDR_LEN_MAX + len + 1);
	memcpy(copy + SNAP_HDR_LEN_MAX, data, len);
	worker_begin(n->w);
	if (tap_rx_decode(copy + SNAP_HDR_LEN_MAX, len, &f)) {
		from_tap_frame(n->w, &f);
		for (unsigned i = 0; i < 2; i++) {
			struct tx_family *fam = &n->w->tx.family[i];

			if (fam->open && fam->segment > NULL_MTU)
				abort();
			if (fam->bytes > fam->datagrams * NULL_MTU)
				abort();
		}
	}
	worker_end(n->w);
	null_drain(n);
	free(copy);
	return 0;
}
