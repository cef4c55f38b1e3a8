// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * wire/datagram/leon: the payload of each decoded header lies inside the datagram, and the header
 * encodes to equal bytes. Adding and removing a link value restores the datagram.
 */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "wire/datagram/leon.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len);

static void check_link(const uint8_t *data, size_t len, const struct leon_hdr *h)
{
	uint8_t *copy = malloc(len + LEON_LINK_LEN), *back;
	struct leon_hdr again;
	size_t hdr_len;

	if (!copy)
		abort();
	memcpy(copy, data, len);
	if (h->flags & LEON_F_LINK_VALUE) {
		back = leon_remove_link(copy, h->n_hops);
		if (leon_decode(back, len - LEON_LINK_LEN, &again, &hdr_len) != LEON_OK ||
		    hdr_len != LEON_HDR_LEN(h->n_hops) || (again.flags & LEON_F_LINK_VALUE))
			abort();
	} else {
		if (leon_insert_link(copy, len, h->n_hops, UINT64_MAX) != len + LEON_LINK_LEN ||
		    leon_decode(copy, len + LEON_LINK_LEN, &again, &hdr_len) != LEON_OK ||
		    hdr_len != LEON_HDR_LEN(h->n_hops) + LEON_LINK_LEN)
			abort();
		back = leon_remove_link(copy, h->n_hops);
		if (memcmp(back, data, len))
			abort();
	}
	free(copy);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len)
{
	uint8_t again[LEON_HDR_LEN_MAX];
	size_t hdr_len, fixed_len;
	struct leon_hdr h;

	if (leon_decode(data, len, &h, &hdr_len) != LEON_OK)
		return 0;
	fixed_len = hdr_len - (h.flags & LEON_F_LINK_VALUE ? LEON_LINK_LEN : 0);
	if (hdr_len > len || h.at >= h.n_hops || leon_encode(&h, again) != fixed_len)
		abort();
	if (memcmp(data, again, fixed_len))
		abort();
	check_link(data, len, &h);
	return 0;
}
