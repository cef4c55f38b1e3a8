// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Datagrams in a stream, see framing.h.
 */
#include "framing.h"

void frame_header(uint8_t out[FRAME_HDR_LEN], size_t len, uint8_t class)
{
	out[0] = (uint8_t)(len >> 8);
	out[1] = (uint8_t)len;
	out[2] = class;
	out[3] = 0;
}

long frame_next(const uint8_t *data, size_t len, struct framed *out)
{
	size_t n;

	if (len < FRAME_HDR_LEN)
		return 0;
	n = (size_t)data[0] << 8 | data[1];
	if (n == 0 || n > FRAME_DATA_MAX || data[3] != 0)
		return -1;
	if (len < FRAME_HDR_LEN + n)
		return 0;
	*out = (struct framed){ data + FRAME_HDR_LEN, n, data[2] };
	return (long)(FRAME_HDR_LEN + n);
}
