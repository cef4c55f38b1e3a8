// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * The whole step from the TAP, against a fixed snapshot. The input is what one read gives: vnet
 * header and frame. It comes twice in one batch, so that small frames share a datagram. What leaves
 * is checked: each datagram is no longer than the path allows.
 */
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "fwd/from_tap.h"
#include "fwd_null.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len);

static void check_sizes(const struct null_path *n)
{
	for (unsigned i = 0; i < 2; i++) {
		const struct tx_family *fam = &n->w->tx.family[i];

		if (fam->open && fam->segment > NULL_MTU)
			abort();
		if (fam->bytes > fam->datagrams * NULL_MTU)
			abort();
	}
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len)
{
	struct null_path *n = null_path();
	uint8_t *copy[2];
	struct frame f;

	if (len > TAP_RX_FRAME_MAX)
		return 0;
	worker_begin(n->w);
	for (unsigned i = 0; i < 2; i++) {
		/* The room in front that tap_rx leaves for the LEON header. */
		copy[i] = malloc(SNAP_HDR_LEN_MAX + len + 1);
		memcpy(copy[i] + SNAP_HDR_LEN_MAX, data, len);
		if (tap_rx_decode(copy[i] + SNAP_HDR_LEN_MAX, len, &f)) {
			from_tap_frame(n->w, &f);
			check_sizes(n);
		}
	}
	worker_end(n->w);
	null_drain(n);
	free(copy[0]);
	free(copy[1]);
	return 0;
}
