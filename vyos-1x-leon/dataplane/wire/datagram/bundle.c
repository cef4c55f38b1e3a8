// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Length fields of a bundle. Called by the workers when they build a bundle and for every received
 * LEON_BUNDLE. Pure.
 */
#include "wire/datagram/bundle.h"

#include <errno.h>

#include "wire/bytes.h"
#include "wire/datagram/leon.h"

#define PARTIAL 0x8000u
#define SEGMENT 0x4000u

int bundle_next(const void *data, size_t len, size_t *at, struct bundle_frame *f)
{
	const uint8_t *p = data;
	uint16_t v;

	if (*at == len)
		return len ? 0 : -EBADMSG;
	if (len - *at < BUNDLE_HDR_LEN)
		return -EBADMSG;
	v = get_u16(p + *at);
	f->at = *at + BUNDLE_HDR_LEN;
	f->len = v & BUNDLE_FRAME_MAX;
	f->flags = (uint8_t)((v & PARTIAL ? LEON_F_CSUM_PARTIAL : 0) |
			     (v & SEGMENT ? LEON_F_SEGMENT : 0));
	if (f->len < BUNDLE_FRAME_MIN || f->len > len - f->at)
		return -EBADMSG;
	*at = f->at + f->len;
	return 1;
}

void bundle_encode(size_t frame_len, uint8_t flags, void *out)
{
	put_u16(out, (uint16_t)(frame_len | (flags & LEON_F_CSUM_PARTIAL ? PARTIAL : 0) |
				(flags & LEON_F_SEGMENT ? SEGMENT : 0)));
}
