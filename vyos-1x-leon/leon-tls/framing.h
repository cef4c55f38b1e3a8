// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Datagrams in a stream: a length of 16 bits, the TOS or traffic class of the datagram, a byte 0,
 * then the datagram. doc/protocol.md section 1.2. Pure.
 */
#pragma once

#include <stddef.h>
#include <stdint.h>

#define FRAME_HDR_LEN  4
#define FRAME_DATA_MAX 9216 /* above the largest datagram of path MTU discovery */
#define FRAME_LEN_MAX  (FRAME_HDR_LEN + FRAME_DATA_MAX)

struct framed {
	const uint8_t *data;
	size_t len;
	uint8_t class;
};

void frame_header(uint8_t out[FRAME_HDR_LEN], size_t len, uint8_t class);
/*
 * Takes the frame at the start of `data`. Returns the number of bytes taken; 0: incomplete; -1: no
 * frame, the stream is unusable.
 */
long frame_next(const uint8_t *data, size_t len, struct framed *out);
