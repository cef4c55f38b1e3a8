// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Fragment header. Called by the workers when they split a frame and for every received
 * LEON_FRAGMENT. fwd/ reassembles. Pure.
 */
#include "wire/datagram/fragment.h"

#include <errno.h>

#include "wire/bytes.h"

int fragment_decode(const void *data, size_t len, struct fragment_hdr *h)
{
	const uint8_t *p = data;

	if (len <= FRAGMENT_HDR_LEN)
		return -EBADMSG;
	h->id = get_u32(p);
	h->offset = get_u16(p + 4);
	h->total = get_u16(p + 6);
	if (h->total == 0 || h->total > FRAGMENT_FRAME_MAX)
		return -EBADMSG;
	if (h->offset + (len - FRAGMENT_HDR_LEN) > h->total)
		return -EBADMSG;
	return 0;
}

void fragment_encode(const struct fragment_hdr *h, void *out)
{
	uint8_t *p = out;

	put_u32(p, h->id);
	put_u16(p + 4, h->offset);
	put_u16(p + 6, h->total);
}
