// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Frames that wait for a connection. The queue is bounded in bytes and in time, and drops its
 * oldest frame, as an interface with a short buffer does. A frame that waits for a retransmission
 * of TCP is worth less than the next frame. Allocates at creation only.
 */
#pragma once

#include <stddef.h>
#include <stdint.h>

#include "base/mono.h"

#define QUEUE_BYTES  (1u << 20)
#define QUEUE_AGE_MS 10 /* longest wait of the oldest frame */

struct send_queue;

struct send_queue *send_queue_new(void);
void send_queue_free(struct send_queue *q); /* NULL ok */
/* Adds a datagram. Returns the number of displaced older frames. */
unsigned send_queue_push(struct send_queue *q, const uint8_t *data, size_t len, uint8_t class,
			 mono_t now);
/* Drops frames after the longest wait, but not the newest. Returns the number. */
unsigned send_queue_expire(struct send_queue *q, mono_t now);
/* Moves whole frames with headers to `out`: at most `room` bytes, or one frame of any length.
 * Returns the number of bytes, and adds the number of frames to *n. */
size_t send_queue_pull(struct send_queue *q, uint8_t *out, size_t room, uint64_t *n);
